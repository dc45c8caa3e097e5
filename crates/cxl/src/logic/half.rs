//! One direction of a link: what waits at its transmitter, and what is on its way.

use super::activity::Activity;
use super::clock::{Grid, Place};
use super::packer::{Age, Class, Waiting};
use super::queue::Queue;
use super::retry::{Control, Retry};
use std::collections::VecDeque;

/// Later than anything that can happen \[ticks\].
pub const NEVER: u64 = u64::MAX;
/// A class without flow control.
const INFINITE: u32 = u32::MAX;

/// A credit on its way to the transmitter.
#[derive(Clone, Copy, Debug)]
pub struct Returning {
    /// When it is there \[ticks\].
    pub at: u64,
    pub class: Class,
    pub credits: u32,
}

/// One direction.
pub struct Half<U> {
    /// By class.
    pub queues: [Queue<U>; 2],
    /// Messages that go over CXL.io.
    pub io: Queue<U>,
    /// The steady load of CXL.io: when the next flit of it is there, and its period \[ticks\].
    pub background: [u64; 2],
    /// Whether it is CXL.io's turn, if both want a flit.
    pub io_turn: bool,
    /// The next flit that nobody has taken.
    pub next: Place,
    /// Chunks of data that must follow.
    pub rollover: u8,
    /// Whose data they are, with the number of chunks that are missing.
    pub transfers: VecDeque<(U, u8)>,
    /// What the transmitter may still send, by class.
    pub credits: [u32; 2],
    /// When the credits of a class ran out \[ticks\].
    pub exhausted: [u64; 2],
    pub returning: VecDeque<Returning>,
    /// Credits of the other direction that this one has to return: when each became free \[ticks\], by class.
    pub owed: [VecDeque<u64>; 2],
    /// Bits until the next error.
    pub clean_bits: u64,
    /// Control sequences that must be sent.
    pub controls: VecDeque<Control>,
    /// While flits are sent again.
    pub retry: Option<Box<Retry<U>>>,
    pub activity: Activity,
}

impl<U: Copy> Half<U> {
    pub fn new(grid: Grid, credits: [u32; 2], io_period: u64) -> Self {
        let credits = credits.map(|n| if n == 0 { INFINITE } else { n });
        Self {
            queues: [Queue::default(), Queue::default()],
            io: Queue::default(),
            background: if io_period == 0 { [NEVER, 0] } else { [io_period, io_period] },
            io_turn: false,
            next: grid.first(),
            rollover: 0,
            transfers: VecDeque::new(),
            credits,
            exhausted: [0; 2],
            returning: VecDeque::new(),
            owed: [VecDeque::new(), VecDeque::new()],
            clean_bits: NEVER,
            controls: VecDeque::new(),
            retry: None,
            activity: Activity::default(),
        }
    }
    /// From when on the oldest message of a class can be sent, as far as is known now \[ticks\].
    #[inline]
    fn message_wanted(&self, class: Class) -> u64 {
        let Some(head) = self.queues[class.index()].front() else { return NEVER };
        if self.credits[class.index()] > 0 {
            return head.at;
        }
        let credit = self.returning.iter().find(|credit| credit.class == class);
        credit.map_or(NEVER, |credit| head.at.max(credit.at))
    }
    /// From when on a flit of CXL.mem is wanted \[ticks\].
    #[inline]
    pub fn memory_wanted(&self) -> u64 {
        if self.rollover > 0 || self.retry.as_ref().is_some_and(|retry| retry.replaying()) {
            return 0;
        }
        self.message_wanted(Class::NoData).min(self.message_wanted(Class::Data))
    }
    /// From when on a flit is wanted that somebody waits for \[ticks\].
    #[inline]
    pub fn wanted(&self) -> u64 {
        let control = self.controls.front().map_or(NEVER, |control| control.at);
        let io = self.io.front().map_or(NEVER, |entry| entry.at);
        self.memory_wanted().min(control).min(io)
    }
    /// From when on any flit is wanted: also those that nobody waits for \[ticks\].
    #[inline]
    pub fn wanted_at_all(&self, flush: u64) -> u64 {
        let owed = |class: usize| self.owed[class].front().map_or(NEVER, |at| at + flush);
        self.wanted().min(self.background[0]).min(owed(0)).min(owed(1))
    }
    /// Whether a message waits for a credit of which nothing is known.
    #[inline]
    pub fn starves(&self) -> bool {
        Class::ALL.into_iter().any(|class| {
            let i = class.index();
            self.credits[i] == 0
                && self.queues[i].front().is_some()
                && self.returning.iter().all(|credit| credit.class != class)
        })
    }
    /// Takes in the credits that have arrived.
    #[inline]
    pub fn take_credits(&mut self, now: u64) {
        while let Some(&credit) = self.returning.front().filter(|credit| credit.at <= now) {
            self.returning.pop_front();
            let i = credit.class.index();
            if self.credits[i] == 0
                && let Some(head) = self.queues[i].front()
            {
                self.activity.stalled_ticks += credit.at.saturating_sub(head.at.max(self.exhausted[i]));
            }
            if self.credits[i] != INFINITE {
                self.credits[i] += credit.credits;
            }
        }
    }
    /// Takes a credit for a message that leaves at `now`.
    #[inline]
    pub fn spend(&mut self, class: Class, now: u64) {
        let credits = &mut self.credits[class.index()];
        if *credits != INFINITE {
            *credits -= 1;
            if *credits == 0 {
                self.exhausted[class.index()] = now;
            }
        }
    }
    /// Takes out as many credits that are owed at `now` as a header field can say: a power of two.
    #[inline]
    pub fn give_back(&mut self, class: Class, now: u64, most: u32) -> u32 {
        let owed = &mut self.owed[class.index()];
        let due = owed.iter().take(most as usize).take_while(|at| **at <= now).count() as u32;
        if due == 0 {
            return 0;
        }
        let given = 1 << due.ilog2();
        owed.drain(..given as usize);
        given
    }
    /// Puts a control sequence in its place.
    pub fn must_send(&mut self, control: Control) {
        let place = self.controls.partition_point(|other| other.at <= control.at);
        self.controls.insert(place, control);
    }
    /// Notes that a credit of the other direction is free from `at` on.
    #[inline]
    pub fn owe(&mut self, class: Class, at: u64) {
        let owed = &mut self.owed[class.index()];
        if owed.back().is_none_or(|last| *last <= at) {
            owed.push_back(at);
        } else {
            let place = owed.partition_point(|other| *other <= at);
            owed.insert(place, at);
        }
    }
}

/// A direction at a moment.
pub struct At<'a, U> {
    pub half: &'a Half<U>,
    pub now: u64,
}

impl<U: Copy> Waiting for At<'_, U> {
    #[inline]
    fn age(&self, class: Class, n: u8) -> Option<Age> {
        if u32::from(n) >= self.half.credits[class.index()] {
            return None;
        }
        let entry = self.half.queues[class.index()].get(n.into())?;
        (entry.at <= self.now).then(|| entry.age())
    }
}
