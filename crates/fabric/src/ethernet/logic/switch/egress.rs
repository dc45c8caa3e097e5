//! A way out of a switch: what waits for its wire, and what its peer has paused.

use super::super::pause::{Gate, Pause};
use super::super::train::Train;
use super::buffer::PRIORITIES;
use super::queue::{Queue, Waiting};
use super::watchdog::Watchdog;
use crate::ethernet::spec::{Rate, body_bytes, wire_bytes};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// A way out.
#[derive(Debug)]
pub(super) struct Egress {
    pub(super) rate: Rate,
    /// When the wire can take the next frame.
    pub(super) free: u64,
    queues: [Queue; PRIORITIES],
    /// Which of them are not empty: a bit for each priority.
    filled: u8,
    /// Pause frames that wait, each with the time from which it can leave.
    pub(super) pauses: VecDeque<(u64, Pause)>,
    /// What its peer has paused.
    pub(super) gate: Gate,
    /// Whether it does so for ever; none if nobody looks.
    pub(super) watchdog: Option<Box<Watchdog>>,
    /// When the next frame starts, if nothing else comes; never if there is none.
    pub(super) next: u64,
}

pub(super) const NEVER: u64 = u64::MAX;

impl Egress {
    pub(super) fn new(rate: Rate) -> Self {
        let (queues, pauses) = (Default::default(), VecDeque::new());
        let gate = Gate::new(rate);
        Self { rate, free: 0, queues, filled: 0, pauses, gate, watchdog: None, next: NEVER }
    }
    /// Puts a frame into the queue of its priority.
    pub(super) fn put(&mut self, frame: Waiting) {
        let priority = frame.train.class.priority();
        self.queues[usize::from(priority)].put(frame);
        self.filled |= 1 << priority;
    }
    /// Finds out when the next frame starts.
    pub(super) fn plan(&mut self, port: u16, starts: &mut BinaryHeap<Reverse<(u64, u16)>>) {
        let Self { free, gate, queues, .. } = self;
        let head = |priority: u8| queues[usize::from(priority)].head();
        let opens = |priority: u8| Some(gate.opens(priority, head(priority)?.max(*free)));
        let frame = set_bits(self.filled).filter_map(opens).min();
        let pause = self.pauses.front().map(|(from, _)| *from.max(free));
        let next = frame.into_iter().chain(pause).min().unwrap_or(NEVER);
        if next != self.next {
            self.next = next;
            starts.extend((next != NEVER).then_some(Reverse((next, port))));
        }
    }
    /// Takes the frame out that starts at `start`.
    pub(super) fn take(&mut self, start: u64) -> Option<Waiting> {
        let ready = |priority: &u8| {
            let head = self.queues[usize::from(*priority)].head();
            head.is_some_and(|head| head <= start) && self.gate.opens(*priority, start) == start
        };
        let priority = set_bits(self.filled).filter(ready).last()?;
        let queue = &mut self.queues[usize::from(priority)];
        let taken = queue.take();
        if queue.head().is_none() {
            self.filled &= !(1 << priority);
        }
        taken
    }
    /// Takes a frame of a priority out, in whatever state it is.
    pub(super) fn discard(&mut self, priority: u8) -> Option<Waiting> {
        let taken = self.queues[usize::from(priority)].take();
        if taken.is_none() {
            self.filled &= !(1 << priority);
        }
        taken
    }
    /// Takes a pause frame out that can start at `start`.
    pub(super) fn take_pause(&mut self, start: u64) -> Option<Pause> {
        self.pauses.front().filter(|(from, _)| *from <= start)?;
        self.pauses.pop_front().map(|(_, pause)| pause)
    }
}

/// The numbers of the bits that are set, from the lowest on.
fn set_bits(mut bits: u8) -> impl Iterator<Item = u8> {
    std::iter::from_fn(move || {
        let first = (bits != 0).then(|| bits.trailing_zeros() as u8)?;
        bits &= bits - 1;
        Some(first)
    })
}

/// From the first bit of a frame to the first of the next that follows as closely as it may \[ps\].
pub(super) fn wire_ps(rate: Rate, train: &Train) -> u64 {
    rate.time_for(wire_bytes(train.bytes.into())).as_ps()
}

/// From the first bit of a frame to its last \[ps\].
pub(super) fn body_ps(rate: Rate, train: &Train) -> u64 {
    rate.time_for(body_bytes(train.bytes.into())).as_ps()
}
