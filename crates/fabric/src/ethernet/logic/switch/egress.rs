//! An egress port of a switch: its queues, its wire, and pauses by its peer.

use super::super::pause::{Gate, Pause};
use super::super::train::Train;
use super::buffer::PRIORITIES;
use super::queue::{Queue, Waiting};
use super::watchdog::Watchdog;
use crate::ethernet::spec::{Rate, body_bytes, wire_bytes};
use std::cmp::Reverse;
use std::collections::binary_heap::PeekMut;
use std::collections::{BinaryHeap, VecDeque};

/// A way out.
#[derive(Debug)]
pub(super) struct Egress {
    pub(super) rate: Rate,
    /// When the wire can take the next frame.
    pub(super) free: u64,
    queues: [Queue; PRIORITIES],
    /// Queues that are not empty: one bit for each priority.
    filled: u8,
    /// Pause frames that wait, each with the time from which it can leave.
    pub(super) pauses: VecDeque<(u64, Pause)>,
    /// Pauses by its peer.
    pub(super) gate: Gate,
    /// Watchdog for pause storms, if there is one.
    pub(super) watchdog: Option<Box<Watchdog>>,
    /// Start of the next frame, if nothing else arrives; never if there is none.
    pub(super) next: u64,
}

pub(super) const NEVER: u64 = u64::MAX;

/// Due time of a port: the time in the bits above the port, so that entries compare as numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Start(u128);

impl Start {
    pub(super) const fn new(at: u64, port: u16) -> Self {
        Self((at as u128) << 16 | port as u128)
    }
    pub(super) const fn at(self) -> u64 {
        (self.0 >> 16) as u64
    }
    pub(super) const fn port(self) -> u16 {
        self.0 as u16
    }
}

/// Due times of the ports, earliest first.
pub(super) type Starts = BinaryHeap<Reverse<Start>>;

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
    /// Start of the next frame, if nothing else arrives.
    fn next_start(&self) -> u64 {
        let pause = self.pauses.front().map_or(NEVER, |(from, _)| self.free.max(*from));
        let (mut next, mut rest) = (pause, self.filled);
        while rest != 0 {
            let priority = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            if let Some(head) = self.queues[usize::from(priority)].head() {
                next = next.min(self.gate.opens(priority, head.max(self.free)));
            }
        }
        next
    }
    /// Finds out when the next frame starts.
    pub(super) fn plan(&mut self, port: u16, starts: &mut Starts) {
        let next = self.next_start();
        if next != self.next {
            self.next = next;
            if next != NEVER {
                starts.push(Reverse(Start::new(next, port)));
            }
        }
    }
    /// The same where a frame of this port has just started, before all others.
    pub(super) fn go_on(&mut self, port: u16, starts: &mut Starts) {
        self.next = self.next_start();
        replace_first(starts, self.next, port);
    }
    /// Takes the frame out that starts at `start`: of those that can the one of the highest priority.
    pub(super) fn take(&mut self, start: u64) -> Option<Waiting> {
        let mut rest = self.filled;
        while rest != 0 {
            let priority = 7 - rest.leading_zeros() as u8;
            let queue = &mut self.queues[usize::from(priority)];
            if queue.head().is_some_and(|head| head <= start) && self.gate.opens(priority, start) == start {
                let taken = queue.take();
                if queue.head().is_none() {
                    self.filled &= !(1 << priority);
                }
                return taken;
            }
            rest &= !(1 << priority);
        }
        None
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

/// Puts another in the place of the first: when something of this port is due next, or nothing if that is never.
pub(super) fn replace_first(first_of_all: &mut Starts, next: u64, port: u16) {
    let Some(mut first) = first_of_all.peek_mut() else { return };
    if next == NEVER {
        PeekMut::pop(first);
    } else {
        *first = Reverse(Start::new(next, port));
    }
}

/// Least time between the first bits of a frame and of the next one \[ps\].
pub(super) fn wire_ps(rate: Rate, train: &Train) -> u64 {
    rate.time_for(wire_bytes(train.bytes.into())).as_ps()
}

/// Time from the first bit of a frame to its last \[ps\].
pub(super) fn body_ps(rate: Rate, train: &Train) -> u64 {
    rate.time_for(body_bytes(train.bytes.into())).as_ps()
}
