//! One direction of a link: what waits at its transmitter, and what is on its way.

use super::activity::Activity;
use super::clock::{Grid, Place};
use super::packer::{Age, Class, Waiting};
use super::plan::{Plan, Plans, Ready};
use super::queue::{Entry, Queue};
use super::retry::{Control, Retry};
use super::ring::Ring;
use crate::spec::constants::{CREDITS_PER_FIELD, LINE_SLOTS};
use std::collections::VecDeque;

/// Later than anything that can happen \[ticks\].
pub const NEVER: u64 = u64::MAX;
/// A class without flow control.
pub const INFINITE: u32 = u32::MAX;

/// Credits on their way to the transmitter: what one flit returns.
#[derive(Clone, Copy, Debug)]
pub struct Returning {
    /// When they are there \[ticks\].
    pub at: u64,
    /// By class.
    pub credits: [u32; 2],
}

/// Where what a flit brings goes: to its receiver, or into the retry buffer.
pub trait Unload<U> {
    /// Credits that it returns, by class.
    fn credits(&mut self, credits: [u32; 2]);
    /// A message that is complete with it.
    fn done(&mut self, class: Class, user: U);
}

/// A new flit.
#[derive(Clone, Copy, Debug)]
pub enum Flit {
    /// Four slots of data.
    AllData,
    /// A header, and what may go.
    Protocol(Ready),
    /// Credits only.
    Credits,
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
    /// When the last flit started \[ticks\].
    pub last: u64,
    /// Chunks of data that must follow: of the messages whose header has left.
    pub rollover: u8,
    /// What the transmitter may still send, by class.
    pub credits: [u32; 2],
    /// When the credits of a class ran out \[ticks\].
    pub exhausted: [u64; 2],
    pub returning: Ring<Returning>,
    /// Credits of the other direction that this one has to return: when each became free \[ticks\], by class.
    pub owed: [Ring<u64>; 2],
    /// Bits until the next error.
    pub clean_bits: u64,
    /// Control sequences that must be sent.
    pub controls: VecDeque<Control>,
    /// While flits are sent again.
    pub retry: Option<Box<Retry<U>>>,
    pub activity: Activity,
    /// How long a credit waits for a flit \[ticks\].
    flush: u64,
    /// From when on a flit is wanted that is neither of CXL.mem nor of credits \[ticks\].
    aside: u64,
    /// From when on any flit is wanted \[ticks\]: kept, since it is asked for far more often than it changes.
    wanted: u64,
}

impl<U: Copy> Half<U> {
    pub fn new(grid: Grid, credits: [u32; 2], io_period: u64, flush: u64) -> Self {
        let credits = credits.map(|n| if n == 0 { INFINITE } else { n });
        let background = if io_period == 0 { [NEVER, 0] } else { [io_period, io_period] };
        Self {
            queues: [Queue::default(), Queue::default()],
            io: Queue::default(),
            background,
            io_turn: false,
            next: grid.first(),
            last: 0,
            rollover: 0,
            credits,
            exhausted: [0; 2],
            returning: Ring::default(),
            owed: [Ring::default(), Ring::default()],
            clean_bits: NEVER,
            controls: VecDeque::new(),
            retry: None,
            activity: Activity::default(),
            flush,
            aside: background[0],
            wanted: background[0],
        }
    }
    /// From when on the oldest message of a class can be sent, as far as is known now \[ticks\].
    #[inline]
    fn message_wanted(&self, class: Class) -> u64 {
        let i = class.index();
        let Some(head) = self.queues[i].front() else { return NEVER };
        if self.credits[i] > 0 {
            return head.at;
        }
        let credit = self.returning.iter().find(|credit| credit.credits[i] > 0);
        credit.map_or(NEVER, |credit| head.at.max(credit.at))
    }
    /// Whether the next flit is one that was sent before.
    #[inline]
    fn replays(&self) -> bool {
        self.retry.as_ref().is_some_and(|retry| retry.replaying())
    }
    /// From when on a flit of CXL.mem is wanted \[ticks\].
    #[inline]
    pub fn memory_wanted(&self) -> u64 {
        if self.rollover > 0 || self.replays() {
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
    pub const fn wanted_at_all(&self) -> u64 {
        self.wanted
    }
    /// From when on a flit is wanted that is neither of CXL.mem nor of credits \[ticks\].
    #[inline]
    pub const fn aside(&self) -> u64 {
        self.aside
    }
    /// Works out anew when a flit is wanted: after one has been sent.
    #[inline]
    pub fn look_ahead(&mut self) {
        self.wanted = if self.rollover > 0 { 0 } else { self.look() };
    }
    #[inline]
    fn look(&self) -> u64 {
        let owed = |class: usize| self.owed[class].front().map_or(NEVER, |at| at + self.flush);
        self.memory_wanted().min(self.aside).min(owed(0)).min(owed(1))
    }
    /// After a flit that was not of CXL.mem or of credits.
    pub fn look_aside(&mut self) {
        let control = self.controls.front().map_or(NEVER, |control| control.at);
        let io = self.io.front().map_or(NEVER, |entry| entry.at);
        self.aside = self.background[0].min(control).min(io);
    }
    /// The next flit that is not idle.
    #[inline]
    pub fn start(&self, grid: &Grid) -> Place {
        if self.wanted <= self.next.start {
            self.next
        } else if self.wanted == NEVER {
            Place::NEVER
        } else {
            grid.from(self.next, self.wanted)
        }
    }
    /// Whether a message waits for a credit of which nothing is known.
    #[inline]
    pub fn starves(&self) -> bool {
        [0, 1].into_iter().any(|i| {
            self.credits[i] == 0
                && self.queues[i].front().is_some()
                && self.returning.iter().all(|credit| credit.credits[i] == 0)
        })
    }

    /// Takes in a message.
    #[inline]
    pub fn submit(&mut self, class: Class, entry: Entry<U>) {
        self.queues[class.index()].insert(entry);
        self.wanted = self.wanted.min(self.message_wanted(class));
    }
    /// Takes in a message for CXL.io.
    pub fn submit_io(&mut self, entry: Entry<U>) {
        self.aside = self.aside.min(entry.at);
        self.wanted = self.wanted.min(entry.at);
        self.io.insert(entry);
    }
    /// Puts a control sequence in its place.
    pub fn must_send(&mut self, control: Control) {
        let place = self.controls.partition_point(|other| other.at <= control.at);
        self.controls.insert(place, control);
        self.aside = self.aside.min(control.at);
        self.wanted = self.wanted.min(control.at);
    }
    /// Notes that a credit of the other direction is free from `at` on.
    #[inline]
    pub fn owe(&mut self, class: Class, at: u64) {
        self.owed[class.index()].insert(at, 0, |other, new| other <= new);
        self.wanted = self.wanted.min(at + self.flush);
    }
    /// Credits are on their way to this transmitter.
    #[inline]
    pub fn will_have(&mut self, returning: Returning) {
        self.returning.push(returning);
        for class in Class::ALL {
            if self.credits[class.index()] == 0 && returning.credits[class.index()] > 0 {
                self.wanted = self.wanted.min(self.message_wanted(class));
            }
        }
    }
    /// Takes in the credits that have arrived.
    #[inline]
    pub fn take_credits(&mut self, now: u64) {
        while let Some(&Returning { at, credits }) = self.returning.front().filter(|credit| credit.at <= now)
        {
            self.returning.drop_first(1);
            for (i, credits) in credits.into_iter().enumerate() {
                if credits > 0 {
                    self.take(i, credits, at);
                }
            }
        }
    }
    /// Takes in credits of a class that arrived at `at`. A class without flow control is never returned any.
    #[inline]
    fn take(&mut self, class: usize, credits: u32, at: u64) {
        if self.credits[class] == 0
            && let Some(head) = self.queues[class].front()
        {
            self.activity.stalled_ticks += at.saturating_sub(head.at.max(self.exhausted[class]));
        }
        self.credits[class] += credits;
    }
    /// Takes credits for messages that leave at `now`.
    #[inline]
    fn spend(&mut self, class: Class, messages: u8, now: u64) {
        let credits = &mut self.credits[class.index()];
        if messages > 0 && *credits != INFINITE {
            *credits -= u32::from(messages);
            if *credits == 0 {
                self.exhausted[class.index()] = now;
            }
        }
    }
    /// Takes out as many credits of a class that are owed at `now` as a header field can say: a power of two.
    #[inline]
    fn give_back(&mut self, class: usize, now: u64) -> u32 {
        let owed = &mut self.owed[class];
        let mut due = 0;
        while due < CREDITS_PER_FIELD && owed.get(due as usize).is_some_and(|at| *at <= now) {
            due += 1;
        }
        if due == 0 {
            return 0;
        }
        let given = 1 << due.ilog2();
        owed.drop_first(given as usize);
        given
    }

    /// What may go at `now`.
    #[inline]
    pub fn ready(&self, plans: &Plans, now: u64) -> Ready {
        plans.ready(&At { half: self, now })
    }
    /// Fills a flit that starts at `now`.
    #[inline]
    pub fn fill(&mut self, flit: Flit, plans: &Plans, now: u64, to: &mut impl Unload<U>) {
        match flit {
            Flit::AllData => self.all_data_flit(to),
            Flit::Protocol(ready) => self.protocol_flit(plans.find(self.rollover, ready), now, to),
            Flit::Credits => {
                self.activity.credit_flits += 1;
                to.credits([self.give_back(0, now), self.give_back(1, now)]);
            }
        }
    }
    #[inline]
    fn protocol_flit(&mut self, plan: &Plan, now: u64, to: &mut impl Unload<U>) {
        self.activity.protocol_flits += 1;
        self.activity.data_slots += u64::from(plan.data_slots);
        self.activity.message_slots += u64::from(plan.message_slots);
        self.activity.empty_slots += u64::from(plan.empty_slots);
        to.credits([self.give_back(0, now), self.give_back(1, now)]);
        self.messages(plan.no_data_first, now, to);
        if self.rollover > 0 {
            // The chunks from before end a message: fewer than four are the rest of one.
            self.finish(to);
        }
        self.messages(plan.no_data_then, now, to);
        self.headers(plan.data_headers, now);
        self.rollover = plan.packed.rollover;
    }
    /// It ends one message: of its four chunks the first ones are the rest of one, and the others too few for the next.
    #[inline]
    fn all_data_flit(&mut self, to: &mut impl Unload<U>) {
        self.activity.all_data_flits += 1;
        self.activity.data_slots += u64::from(LINE_SLOTS);
        self.rollover -= LINE_SLOTS;
        self.finish(to);
    }
    #[inline]
    fn finish(&mut self, to: &mut impl Unload<U>) {
        if let Some(user) = self.queues[Class::Data.index()].finish() {
            to.done(Class::Data, user);
        }
    }
    /// Sends messages without data.
    #[inline]
    fn messages(&mut self, count: u8, now: u64, to: &mut impl Unload<U>) {
        for _ in 0..count {
            if let Some(entry) = self.queues[Class::NoData.index()].pop() {
                self.activity.waited_ticks += u128::from(now - entry.at);
                to.done(Class::NoData, entry.user);
            }
        }
        self.activity.no_data_messages += u64::from(count);
        self.spend(Class::NoData, count, now);
    }
    /// Sends headers of data.
    #[inline]
    fn headers(&mut self, count: u8, now: u64) {
        for _ in 0..count {
            if let Some(at) = self.queues[Class::Data.index()].begin() {
                self.activity.waited_ticks += u128::from(now - at);
            }
        }
        self.activity.data_messages += u64::from(count);
        self.spend(Class::Data, count, now);
    }
}

/// A direction at a moment.
struct At<'a, U> {
    half: &'a Half<U>,
    now: u64,
}

impl<U: Copy> Waiting for At<'_, U> {
    #[inline]
    fn age(&self, class: Class, n: u8) -> Option<Age> {
        if self.half.credits[class.index()] <= n.into() {
            return None;
        }
        let entry = self.half.queues[class.index()].get(n.into())?;
        (entry.at <= self.now).then(|| entry.age())
    }
}
