//! One direction of a link: messages that wait at its transmitter, credits, and pending flits.

use super::activity::Activity;
use super::clock::{Grid, Place};
use super::effects::Unload;
use super::packer::Class;
use super::plan::{Case, Plans, Ready};
use super::queue::{Entry, Queue};
use super::retry::{Cargo, Control, Retry};
use super::ring::{NEVER, Ring, Timed};
use crate::spec::constants::{CREDITS_PER_FIELD, FLIT_BYTES, LINE_SLOTS};
use lanetwin_units::{Instant, Ticks};
use std::collections::VecDeque;

/// Credits of a class without flow control.
pub const INFINITE: u32 = u32::MAX;
/// Number of bits of a flit, each of which can be wrong.
pub const FLIT_BITS: u64 = FLIT_BYTES * 8;

/// Credits on their way to the transmitter, returned by one flit.
#[derive(Clone, Copy, Debug)]
pub struct Returning {
    /// When they arrive \[ticks\].
    pub at: u64,
    /// By class.
    pub credits: [u32; 2],
}

impl Timed for Returning {
    #[inline]
    fn at(&self) -> u64 {
        self.at
    }
}

/// A new flit.
#[derive(Clone, Copy, Debug)]
pub enum Flit {
    /// An all-data flit.
    AllData,
    /// A protocol flit with this content.
    Protocol(Case),
    /// Credits only.
    Credits,
}

/// Specification of a direction.
pub struct Wire {
    pub grid: Grid,
    /// Time from the start of a flit to the arrival of its messages \[ticks\].
    pub lag: u64,
    /// Maximum time that a credit waits for another flit \[ticks\].
    pub flush: u64,
    /// Time from the arrival of a message until its buffer is free, by class \[ticks\]; `NEVER` if its arrival does not
    /// lead to that.
    pub drain: [u64; 2],
    /// The protocol flits.
    pub plans: Plans,
}

/// One direction.
pub struct Half<U> {
    pub wire: Wire,
    /// By class.
    pub queues: [Queue<U>; 2],
    /// Waiting messages of CXL.io.
    pub io: Queue<U>,
    /// The constant load of CXL.io: time of its next flit, and its period \[ticks\].
    pub background: [u64; 2],
    /// Whether CXL.io has priority if CXL.mem also has something to send.
    pub io_turn: bool,
    /// The first flit that has not been decided.
    pub next: Place,
    /// Number of data chunks that must follow, of messages whose header has been sent.
    pub rollover: u8,
    /// Credits of the transmitter, by class.
    pub credits: [u32; 2],
    /// When the credits of a class ran out \[ticks\].
    pub exhausted: [u64; 2],
    pub returning: Ring<Returning>,
    /// Credits of the other direction that this one has to return: when each becomes free \[ticks\], by class.
    pub to_return: [Ring<u64>; 2],
    /// Bits until the next error; 0 if not drawn yet.
    pub clean_bits: u64,
    /// Whether `clean_bits` has been drawn.
    pub drawn: bool,
    /// Pending control sequences.
    pub controls: VecDeque<Control>,
    /// Retry in progress.
    pub retry: Option<Box<Retry<Cargo<U>>>>,
    /// Whether the link has a tap.
    pub watched: bool,
    /// Counters, except those that `wire.plans` keeps and the slots of all-data flits.
    pub activity: Activity,
    /// Earliest time at which a flit may not be plain, that is one of CXL.mem or of credits and no retry \[ticks\]. 0
    /// during a retry and with a tap.
    pub(super) exceptional_from: u64,
    /// Earliest time at which any flit is pending \[ticks\].
    wanted: u64,
}

impl<U: Copy> Half<U> {
    /// A direction at rest; `clean_bits` is 0 if there can be bit errors.
    pub fn new(wire: Wire, credits: [u32; 2], io_period: u64, clean_bits: u64) -> Self {
        let credits = credits.map(|n| if n == 0 { INFINITE } else { n });
        let background = if io_period == 0 { [NEVER, 0] } else { [io_period, io_period] };
        let mut half = Self {
            queues: [Queue::default(), Queue::default()],
            io: Queue::default(),
            background,
            io_turn: false,
            next: wire.grid.first(),
            rollover: 0,
            credits,
            exhausted: [0; 2],
            returning: Ring::default(),
            to_return: [Ring::default(), Ring::default()],
            clean_bits,
            drawn: clean_bits > 0,
            controls: VecDeque::new(),
            retry: None,
            watched: false,
            activity: Activity::default(),
            exceptional_from: background[0],
            wanted: NEVER,
            wire,
        };
        half.update_wanted();
        half
    }
    /// Counters of the direction.
    pub fn activity(&self) -> Activity {
        let mut activity = self.activity;
        activity.data_slots += activity.all_data_flits * u64::from(LINE_SLOTS);
        self.wire.plans.add_to(&mut activity);
        activity
    }
    /// Earliest time at which the oldest message of a class can be sent, as far as is known now \[ticks\].
    #[inline(always)]
    fn message_wanted(&self, class: Class) -> u64 {
        let i = class.index();
        let at = self.queues[i].at();
        if self.credits[i] > 0 || at == NEVER { at } else { self.credit_wanted(class).max(at) }
    }
    /// When the next known credit of a class arrives \[ticks\].
    #[cold]
    #[inline(never)]
    fn credit_wanted(&self, class: Class) -> u64 {
        let credit = self.returning.iter().find(|credit| credit.credits[class.index()] > 0);
        credit.map_or(NEVER, |credit| credit.at)
    }
    /// Whether the next flit is a resent one.
    #[inline(always)]
    pub fn replays(&self) -> bool {
        self.retry.as_ref().is_some_and(|retry| retry.replaying())
    }
    /// Earliest time at which a flit of CXL.mem is pending \[ticks\].
    #[inline(always)]
    pub fn memory_wanted(&self) -> u64 {
        if self.rollover > 0 || self.replays() {
            return 0;
        }
        self.messages_wanted()
    }
    /// Earliest time at which a message can be sent, as far as is known now \[ticks\].
    #[inline(always)]
    fn messages_wanted(&self) -> u64 {
        self.message_wanted(Class::NoData).min(self.message_wanted(Class::Data))
    }
    /// Earliest time at which a flit is pending, apart from credits and the constant load of CXL.io \[ticks\].
    #[inline]
    pub fn wanted(&self) -> u64 {
        let control = self.controls.front().map_or(NEVER, |control| control.at);
        self.memory_wanted().min(control).min(self.io.at())
    }
    /// The next flit that is not a NULL flit.
    #[inline(always)]
    pub fn start(&self) -> Place {
        self.first(self.wanted)
    }
    /// The first undecided flit that starts at `at` or later.
    #[inline(always)]
    pub fn first(&self, at: u64) -> Place {
        if at == NEVER { Place::NEVER } else { self.wire.grid.from(self.next, at) }
    }
    /// Notes that a flit is pending from `at` on.
    #[inline(always)]
    fn want(&mut self, at: u64) {
        self.wanted = self.wanted.min(at);
    }
    /// Recomputes `wanted` after a flit has been sent.
    pub fn update_wanted(&mut self) {
        self.update_wanted_of_plain();
        if self.replays() {
            self.wanted = 0;
        }
    }
    /// The same when no flit is being resent.
    #[inline(always)]
    pub(super) fn update_wanted_of_plain(&mut self) {
        self.wanted = if self.rollover > 0 { 0 } else { self.next_wanted() };
    }
    #[inline(always)]
    fn next_wanted(&self) -> u64 {
        let others = if self.exceptional_from == NEVER { NEVER } else { self.others_wanted() };
        let to_return = self.to_return[0].at().min(self.to_return[1].at());
        self.messages_wanted().min(others).min(to_return.saturating_add(self.wire.flush))
    }
    /// Earliest time at which a flit is pending that is neither of CXL.mem nor of credits \[ticks\].
    fn others_wanted(&self) -> u64 {
        let control = self.controls.front().map_or(NEVER, |control| control.at);
        self.background[0].min(control).min(self.io.at())
    }
    /// Recomputes `exceptional_from`.
    pub fn update_exceptional(&mut self) {
        self.exceptional_from = if self.retry.is_some() || self.watched { 0 } else { self.others_wanted() };
    }
    /// Whether a message waits for a credit and none is known to be on its way.
    #[inline]
    pub fn lacks_credits(&self) -> bool {
        [0, 1].into_iter().any(|i| {
            self.credits[i] == 0
                && self.queues[i].at() != NEVER
                && self.returning.iter().all(|credit| credit.credits[i] == 0)
        })
    }

    /// One picosecond before the first arrival of flits that start at `at` or later.
    #[inline(always)]
    pub fn bound(&self, at: u64) -> Instant {
        let start = at.max(self.next.start);
        Instant::from_ps(Ticks(start + self.wire.lag).as_ps_floor().as_ps() - 1)
    }

    /// Queues a message.
    #[inline(always)]
    pub fn submit(&mut self, class: Class, entry: Entry<U>) {
        self.queues[class.index()].insert(entry);
        self.want(self.message_wanted(class));
    }
    /// Queues a message for CXL.io.
    pub fn submit_io(&mut self, entry: Entry<U>) {
        self.io.insert(entry);
        self.exceptional_from = self.exceptional_from.min(entry.at);
        self.want(entry.at);
    }
    /// Queues a control sequence in the order of time.
    pub fn queue_control(&mut self, control: Control) {
        let place = self.controls.partition_point(|other| other.at <= control.at);
        self.controls.insert(place, control);
        self.exceptional_from = self.exceptional_from.min(control.at);
        self.want(control.at);
    }
    /// Notes that a credit of the other direction is free from `at` on.
    #[inline(always)]
    pub fn free_credit(&mut self, class: Class, at: u64) {
        self.to_return[class.index()].insert(at, 0);
        self.want(at + self.wire.flush);
    }
    /// Adds credits that are on their way to this transmitter.
    #[inline(always)]
    pub fn expect_credits(&mut self, returning: Returning) {
        self.returning.insert(returning, 0);
        if self.credits[0] == 0 || self.credits[1] == 0 {
            self.want(self.messages_wanted());
        }
    }
    /// Adds the credits that have arrived to those of the transmitter.
    #[inline(always)]
    pub fn take_credits(&mut self, now: u64) {
        while self.returning.at() <= now {
            self.take_first_credits();
        }
    }
    /// Adds the credits that the first returning flit carries.
    #[inline(always)]
    fn take_first_credits(&mut self) {
        let Some(Returning { at, credits }) = self.returning.pop() else { return };
        if self.credits[0] == 0 || self.credits[1] == 0 {
            self.end_stalls(at, credits);
        }
        // A class without flow control never receives credits.
        self.credits[0] += credits[0];
        self.credits[1] += credits[1];
    }
    /// Counts the time that messages have waited for the credits that arrive at `at`.
    #[cold]
    #[inline(never)]
    fn end_stalls(&mut self, at: u64, credits: [u32; 2]) {
        for (i, credits) in credits.into_iter().enumerate() {
            let head = self.queues[i].at();
            if credits > 0 && self.credits[i] == 0 && head != NEVER {
                self.activity.stalled_ticks += at.saturating_sub(head.max(self.exhausted[i]));
            }
        }
    }
    /// Takes credits for messages that leave at `now`.
    #[inline(always)]
    fn spend(&mut self, class: Class, messages: u8, now: u64) {
        let credits = &mut self.credits[class.index()];
        if *credits != INFINITE {
            *credits -= u32::from(messages);
            if *credits == 0 {
                self.exhausted[class.index()] = now;
            }
        }
    }
    /// Takes the credits that a header at `now` returns, by class.
    #[inline(always)]
    fn give_back(&mut self, now: u64) -> [u32; 2] {
        let mut given = [0; 2];
        for (given, to_return) in given.iter_mut().zip(&mut self.to_return) {
            if to_return.at() <= now {
                *given = give_back(to_return, now);
            }
        }
        given
    }
    /// Messages that may be sent at `now`: those submitted by then that have credits.
    #[inline(always)]
    pub fn ready(&self, now: u64) -> Ready {
        let [no_data, data] = &self.queues;
        let no_data = due(no_data, self.credits[0], self.wire.plans.most_no_data(), now);
        let data = due(data, self.credits[1], self.wire.plans.most_data(no_data), now);
        Ready::new([no_data, data], |class, n| self.queues[class.index()].age_of(n))
    }

    /// Sends a protocol flit, or one with credits only.
    #[inline(always)]
    pub(super) fn plain_flit(&mut self, now: u64, to: &mut impl Unload<U>) {
        let ready = self.ready(now);
        if self.rollover > 0 || !ready.is_nothing() {
            self.protocol_flit(ready.case(self.rollover), now, to);
        } else {
            self.credit_flit(now, to);
        }
    }
    /// Fills a flit that starts at `now`.
    pub fn fill(&mut self, flit: Flit, now: u64, to: &mut impl Unload<U>) {
        match flit {
            Flit::AllData => self.all_data_flit(to),
            Flit::Protocol(case) => self.protocol_flit(case, now, to),
            Flit::Credits => self.credit_flit(now, to),
        }
    }
    #[inline(always)]
    fn protocol_flit(&mut self, case: Case, now: u64, to: &mut impl Unload<U>) {
        let plan = self.wire.plans.send(case);
        to.credits(self.give_back(now));
        if plan.no_data_first > 0 {
            self.messages(plan.no_data_first, now, to);
        }
        if self.rollover > 0 {
            // The chunks from earlier flits complete a message: fewer than four are the rest of one.
            self.finish(to);
        }
        if plan.no_data_then > 0 {
            self.messages(plan.no_data_then, now, to);
        }
        if plan.data_headers > 0 {
            self.headers(plan.data_headers, now);
        }
        self.rollover = plan.rollover;
    }
    /// Sends an all-data flit. It completes one message: its first chunks are the rest of one, and the others too few
    /// for the next.
    #[inline(always)]
    pub(super) fn all_data_flit(&mut self, to: &mut impl Unload<U>) {
        self.activity.all_data_flits += 1;
        self.rollover -= LINE_SLOTS;
        self.finish(to);
    }
    #[inline(always)]
    fn credit_flit(&mut self, now: u64, to: &mut impl Unload<U>) {
        self.activity.credit_flits += 1;
        to.credits(self.give_back(now));
    }
    /// Sends the last chunk of a message.
    #[inline(always)]
    fn finish(&mut self, to: &mut impl Unload<U>) {
        let queue = &mut self.queues[Class::Data.index()];
        if let Some(user) = queue.begun() {
            to.done(Class::Data, user);
            queue.finish();
        }
    }
    /// Sends messages without data.
    #[inline(always)]
    fn messages(&mut self, count: u8, now: u64, to: &mut impl Unload<U>) {
        let mut waited = 0;
        for _ in 0..count {
            let queue = &mut self.queues[Class::NoData.index()];
            if let Some(entry) = queue.get(0) {
                waited += now - entry.at;
                to.done(Class::NoData, &entry.user);
                queue.leave();
            }
        }
        self.activity.waited_ticks += u128::from(waited);
        self.spend(Class::NoData, count, now);
    }
    /// Sends data headers.
    #[inline(always)]
    fn headers(&mut self, count: u8, now: u64) {
        let mut waited = 0;
        for _ in 0..count {
            waited += now - self.queues[Class::Data.index()].begin();
        }
        self.activity.waited_ticks += u128::from(waited);
        self.spend(Class::Data, count, now);
    }
}

/// Takes the credits to be returned at `now`, as many as a header field can encode: a power of two. There must be at
/// least one.
#[inline(always)]
fn give_back(to_return: &mut Ring<u64>, now: u64) -> u32 {
    let mut given = 1;
    while given < CREDITS_PER_FIELD && to_return.at_of(2 * given as usize - 1) <= now {
        given *= 2;
    }
    to_return.drop_first(given as usize);
    given
}

/// Number of waiting messages that may be sent at `now`, up to `most`, which is at most 3.
#[inline(always)]
fn due<U: Copy>(queue: &Queue<U>, credits: u32, most: u8, now: u64) -> u8 {
    let most = credits.min(most.into()) as u8;
    if most < 1 || queue.at() > now {
        0
    } else if most < 2 || queue.at_of(1) > now {
        1
    } else if most < 3 || queue.at_of(2) > now {
        2
    } else {
        3
    }
}
