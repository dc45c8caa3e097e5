//! One direction: messages that wait at its transmitter, and its flits.

use super::super::activity::Activity;
use super::super::clock::{Grid, Place};
use super::super::effects::Environment;
use super::super::half::Returning;
use super::super::packer::{Age, Class, Slot, Waiting};
use super::super::queue::{Entry, Queue};
use super::super::retry::Retry;
use super::super::ring::NEVER;
use super::cargo::{Cargo, Open};
use super::credits::{Credits, Owed};
use super::packer::{Before, Rules, pack, slots_of};
use crate::spec::flit_256::{BYTES, GROUP_SLOTS, GROUPS, Part, SLOTS};
use lanetwin_units::{Instant, Ticks};

/// Number of bits of a flit, each of which can be wrong.
pub const FLIT_BITS: u64 = BYTES * 8;
/// Number of the last group of a flit, which holds the credits.
const LAST: usize = GROUPS - 1;
const LINE_SLOTS: u8 = crate::spec::constants::LINE_SLOTS;

/// Specification of a direction.
pub struct Wire {
    pub rules: Rules,
    /// Grid of groups.
    pub grid: Grid,
    /// Time from the end of a flit, or of its even half, to the arrival of its messages \[ticks\].
    pub lag: u64,
    /// Maximum time that a credit waits for another flit \[ticks\].
    pub flush: u64,
    /// Time from the arrival of a message until its buffer is free, by class \[ticks\]; `NEVER` if its arrival does not
    /// lead to that.
    pub drain: [u64; 2],
    /// Bit error ratio that, without error correction, makes as many flits fail as fail with it.
    pub error_ratio: f64,
}

impl Wire {
    /// Time from the start of a group of this number to the first effect of that or any later group \[ticks\].
    const fn reach(&self, group: usize) -> u64 {
        let end = match self.rules.layout.part(group * GROUP_SLOTS) {
            Part::EvenHalf => GROUPS / 2,
            Part::Whole => GROUPS,
        };
        (end - group) as u64 * self.grid.flit() + self.lag
    }
    /// When a part of the flit that started at `start` has arrived \[ticks\].
    const fn arrival(&self, start: u64, part: Part) -> u64 {
        let groups = match part {
            Part::EvenHalf => GROUPS / 2,
            Part::Whole => GROUPS,
        };
        start + groups as u64 * self.grid.flit() + self.lag
    }
}

/// The receiving end: its transmitter, and the environment that receives messages.
pub struct FarEnd<'a, U, E> {
    pub other: &'a mut Half<U>,
    pub env: &'a mut E,
}

/// One direction.
pub struct Half<U> {
    pub wire: Wire,
    /// Waiting messages, by class.
    pub queues: [Queue<U>; 2],
    /// Waiting messages of CXL.io.
    io: Queue<U>,
    /// The constant load of CXL.io: time of its next flit, and its period \[ticks\].
    background: [u64; 2],
    /// Whether CXL.io has priority if CXL.mem also has something to send.
    io_turn: bool,
    /// The first group that has not been decided.
    next: Place,
    before: Before,
    /// The flit that `next` belongs to, if it is not empty.
    open: Option<Open<U>>,
    pub credits: Credits,
    pub to_return: Owed,
    /// Bits until the next error; `None` if not drawn yet.
    clean_bits: Option<u64>,
    /// Retry in progress.
    retry: Option<Box<Retry<Cargo<U>>>>,
    /// Earliest time at which the flit missing at the receiver is sent again \[ticks\].
    resume: u64,
    activity: Activity,
    /// The next group to be sent, as far as is known now.
    start: Place,
}

/// The messages that may be sent at `now`.
struct Ready<'a, U> {
    queues: &'a [Queue<U>; 2],
    credits: [u32; 2],
    now: u64,
}

impl<U: Copy> Waiting for Ready<'_, U> {
    fn age(&self, class: Class, n: u8) -> Option<Age> {
        let i = class.index();
        let there = u32::from(n) < self.credits[i] && self.queues[i].at_of(n.into()) <= self.now;
        there.then(|| self.queues[i].age_of(n.into()))
    }
}

impl<U: Copy> Half<U> {
    /// A direction at rest.
    pub fn new(wire: Wire, credits: [u32; 2], io_period: u64) -> Self {
        let mut half = Self {
            queues: [Queue::default(), Queue::default()],
            io: Queue::default(),
            background: if io_period == 0 { [NEVER, 0] } else { [io_period, io_period] },
            io_turn: false,
            next: wire.grid.first(),
            before: Before::default(),
            open: None,
            credits: Credits::new(credits),
            to_return: Owed::default(),
            clean_bits: None,
            retry: None,
            resume: NEVER,
            activity: Activity::default(),
            start: Place::NEVER,
            wire,
        };
        half.start = half.next_wanted();
        half
    }
    /// Counters of the direction.
    pub const fn activity(&self) -> Activity {
        Activity { stalled_ticks: self.credits.stalled_ticks, ..self.activity }
    }
    /// The next group to be sent, as far as is known now.
    pub const fn start(&self) -> Place {
        self.start
    }

    /// Earliest time at which the oldest message of a class can be sent, as far as is known now \[ticks\].
    fn message_wanted(&self, class: Class) -> u64 {
        let at = self.queues[class.index()].at();
        let credit = self.credits.hand()[class.index()] > 0 || at == NEVER;
        if credit { at } else { self.credits.next(class).max(at) }
    }
    fn memory_wanted(&self) -> u64 {
        self.message_wanted(Class::NoData).min(self.message_wanted(Class::Data))
    }
    fn replays(&self) -> bool {
        self.retry.as_ref().is_some_and(|retry| retry.replaying())
    }
    fn first(&self, at: u64) -> Place {
        if at == NEVER { Place::NEVER } else { self.wire.grid.from(self.next, at) }
    }
    fn first_of(&self, group: usize, at: u64) -> Place {
        if at == NEVER { Place::NEVER } else { self.wire.grid.group_from(self.next, at, group) }
    }
    /// Computes the next group to be sent, including one for credits that have waited too long.
    fn next_wanted(&self) -> Place {
        let forced = self.first_of(LAST, self.to_return.first().saturating_add(self.wire.flush));
        earlier(self.needed(self.background[0]), forced)
    }
    /// The next group with messages, data or resent flits; `io` is the time of the next flit of CXL.io without a
    /// message \[ticks\].
    fn needed(&self, io: u64) -> Place {
        if self.open.is_some() || self.before.rollover > 0 || self.replays() {
            return self.next;
        }
        let whole = self.io.at().min(self.resume).min(io);
        earlier(self.first(self.memory_wanted()), self.first_of(0, whole))
    }
    /// Whether a message waits for a credit and none is known to be on its way.
    pub fn lacks_credits(&self) -> bool {
        Class::ALL.into_iter().any(|class| {
            let i = class.index();
            self.queues[i].at() != NEVER && self.credits.hand()[i] == 0 && self.credits.next(class) == NEVER
        })
    }
    /// One picosecond before the first effect of groups at `place` or later.
    fn bound_of(&self, place: Place) -> Instant {
        let reach = self.wire.reach(self.wire.grid.group(place));
        Instant::from_ps(Ticks(place.start + reach).as_ps_floor().as_ps() - 1)
    }
    /// The same for the first group at tick `at` or later.
    pub fn bound(&self, at: u64) -> Instant {
        self.bound_of(self.first(at))
    }
    /// When the direction must be pumped; also for credits to be returned, if `lacks_credits`.
    pub fn deadline(&self, lacks_credits: bool) -> Option<Instant> {
        let place = if lacks_credits { self.start } else { self.needed(NEVER) };
        (place != Place::NEVER).then(|| self.bound_of(place))
    }

    /// Queues a message.
    pub fn submit(&mut self, class: Class, entry: Entry<U>) {
        self.queues[class.index()].insert(entry);
        self.start = earlier(self.start, self.first(self.message_wanted(class)));
    }
    /// Queues a message for CXL.io.
    pub fn submit_io(&mut self, entry: Entry<U>) {
        self.io.insert(entry);
        self.start = earlier(self.start, self.first_of(0, entry.at));
    }
    /// Notes that a credit of the other direction is free from `at` on.
    pub fn free_credit(&mut self, class: Class, at: u64) {
        self.to_return.add(class, at);
        self.start = earlier(self.start, self.first_of(LAST, at + self.wire.flush));
    }
    /// Adds credits that are on their way to this transmitter.
    fn expect_credits(&mut self, returning: Returning) {
        self.credits.expect_credits(returning);
        self.start = earlier(self.start, self.first(self.memory_wanted()));
    }

    /// Sends the group at `place`, or a whole flit that begins there.
    pub fn step<E: Environment<U>>(&mut self, place: Place, far: &mut FarEnd<'_, U, E>) {
        self.credits.take(place.start, self.queues.each_ref().map(Queue::at));
        if place != self.next {
            self.before = self.before.rested();
        }
        let group = self.wire.grid.group(place);
        if group > 0 || !self.other_flit(place, far) {
            self.group(place, group, far);
        }
        self.start = self.next_wanted();
    }

    /// Sends a flit from the retry buffer or of CXL.io, if one is due. Returns whether it did.
    fn other_flit<E: Environment<U>>(&mut self, place: Place, far: &mut FarEnd<'_, U, E>) -> bool {
        if self.resume <= place.start
            && let Some(retry) = &mut self.retry
        {
            retry.begin_again();
            self.resume = NEVER;
        }
        let message = self.io.at() <= place.start;
        let io = message || self.background[0] <= place.start;
        let memory = self.before.rollover > 0 || self.memory_wanted() <= place.start;
        let again = self.replays();
        if !again && !(io && (self.io_turn || !memory)) {
            return false;
        }
        self.next = place;
        for _ in 0..GROUPS {
            self.next = self.wire.grid.after(self.next);
        }
        self.before = self.before.rested();
        if again {
            self.replay(place.start, far);
        } else {
            self.io_flit(message, place.start, far);
        }
        true
    }
    fn io_flit<E: Environment<U>>(&mut self, message: bool, start: u64, far: &mut FarEnd<'_, U, E>) {
        self.io_turn = false;
        self.activity.io_flits += 1;
        let mut cargo = Cargo::default();
        if !message {
            self.background[0] += self.background[1];
        } else if let Some(entry) = self.io.get(0) {
            self.activity.io_messages += 1;
            cargo.done.push((None, Part::Whole, entry.user));
            self.io.leave();
        }
        if self.arrives_intact(start, far) {
            self.unload(&cargo, start, far);
        } else {
            self.keep(cargo);
        }
    }
    fn replay<E: Environment<U>>(&mut self, start: u64, far: &mut FarEnd<'_, U, E>) {
        self.activity.replayed_flits += 1;
        let Some(retry) = &mut self.retry else { return };
        retry.send_again();
        if retry.is_dropping() {
            return;
        }
        if self.fails(far) {
            self.request_retry(start, far);
            if let Some(retry) = &mut self.retry {
                retry.fail();
            }
            return;
        }
        let Some(retry) = &mut self.retry else { return };
        let cargo = retry.arrive();
        if retry.is_over() {
            self.retry = None;
        }
        self.unload(&cargo, start, far);
    }

    /// Sends a group of a flit of CXL.mem.
    fn group<E: Environment<U>>(&mut self, place: Place, number: usize, far: &mut FarEnd<'_, U, E>) {
        let now = place.start;
        let start = now - number as u64 * self.wire.grid.flit();
        let ready = Ready { queues: &self.queues, credits: self.credits.hand(), now };
        let rollover = self.before.rollover;
        let (group, after) = pack(self.wire.rules, number, self.before, &ready);
        self.before = after;
        self.next = self.wire.grid.after(place);
        if !group.is_empty() {
            self.open(start, far);
            self.credits.spend(group.messages(), now);
            let mut chunks = rollover;
            for (n, slot) in group.slots[..slots_of(number)].iter().enumerate() {
                let part = self.wire.rules.layout.part(number * GROUP_SLOTS + n);
                if slot.data {
                    chunks -= 1;
                }
                self.slot(*slot, slot.data && chunks.is_multiple_of(LINE_SLOTS), now, |half, class, user| {
                    half.done((Some(class), part, user), start, far);
                });
                chunks += slot.data_headers * LINE_SLOTS;
            }
        }
        if number == LAST {
            self.close(now, start, far);
        }
    }
    /// Sends the content of a slot; `ends` says whether its data complete a message.
    fn slot(&mut self, slot: Slot, ends: bool, now: u64, mut done: impl FnMut(&mut Self, Class, U)) {
        let [no_data, data] = [slot.no_data, slot.data_headers].map(u64::from);
        self.activity.no_data_messages += no_data;
        self.activity.data_messages += data;
        if let Some(open) = &mut self.open {
            open.message_slots += u64::from(no_data + data > 0);
            open.data_slots += u64::from(slot.data);
        }
        for _ in 0..slot.no_data {
            if let Some(Entry { at, user, .. }) = self.queues[Class::NoData.index()].get(0).copied() {
                self.queues[Class::NoData.index()].leave();
                self.activity.waited_ticks += u128::from(now - at);
                done(self, Class::NoData, user);
            }
        }
        for _ in 0..slot.data_headers {
            let since = self.queues[Class::Data.index()].begin();
            self.activity.waited_ticks += u128::from(now - since);
        }
        if ends && let Some(user) = self.queues[Class::Data.index()].begun().copied() {
            self.queues[Class::Data.index()].finish();
            done(self, Class::Data, user);
        }
    }
    /// Opens the flit that started at `start`, if it was empty.
    fn open<E: Environment<U>>(&mut self, start: u64, far: &mut FarEnd<'_, U, E>) {
        if self.open.is_none() {
            self.io_turn = true;
            let well = self.arrives_intact(start, far);
            self.open = Some(Open::new(if well { None } else { Some(Cargo::default()) }));
        }
    }
    /// The flit that started at `start` completes a message.
    fn done<E: Environment<U>>(
        &mut self,
        done: (Option<Class>, Part, U),
        start: u64,
        far: &mut FarEnd<'_, U, E>,
    ) {
        match self.open.as_mut().and_then(|open| open.kept.as_mut()) {
            Some(cargo) => cargo.done.push(done),
            None => self.deliver(done, start, far),
        }
    }
    /// Ends a flit, whose last group starts at `now`: adds its credits, and counts or stores it.
    fn close<E: Environment<U>>(&mut self, now: u64, start: u64, far: &mut FarEnd<'_, U, E>) {
        if self.open.is_none() && self.to_return.first().saturating_add(self.wire.flush) <= now {
            self.open(start, far);
        }
        let Some(open) = self.open.take() else { return };
        let credits = self.to_return.give_back(now);
        let used = open.message_slots + open.data_slots;
        if used > 0 {
            self.activity.protocol_flits += 1;
            self.activity.message_slots += open.message_slots;
            self.activity.data_slots += open.data_slots;
            self.activity.empty_slots += SLOTS as u64 - used;
        } else {
            self.activity.credit_flits += 1;
        }
        match open.kept {
            Some(cargo) => self.keep(Cargo { credits, ..cargo }),
            None => self.return_credits(credits, start, far),
        }
    }

    /// Whether the flit that is now sent for the first time arrives intact. If not, requests a retry.
    fn arrives_intact<E: Environment<U>>(&mut self, start: u64, far: &mut FarEnd<'_, U, E>) -> bool {
        if self.retry.is_some() {
            return false;
        }
        let well = !self.fails(far);
        if !well {
            self.request_retry(start, far);
        }
        well
    }
    /// Whether the flit that is now sent has errors that cannot be corrected.
    fn fails<E: Environment<U>>(&mut self, far: &mut FarEnd<'_, U, E>) -> bool {
        if self.wire.error_ratio <= 0.0 {
            return false;
        }
        let draw = || far.env.clean_bits(self.wire.rules.direction, self.wire.error_ratio);
        let clean = self.clean_bits.unwrap_or_else(draw);
        self.clean_bits = clean.checked_sub(FLIT_BITS);
        self.activity.crc_errors += u64::from(self.clean_bits.is_none());
        self.clean_bits.is_none()
    }
    /// Sets when the flit that started at `start` is sent again: the other end requests it in the header of its next
    /// flit, and this end reads that when the flit has arrived.
    fn request_retry<E>(&mut self, start: u64, far: &mut FarEnd<'_, U, E>) {
        let back = &far.other.wire;
        let found = self.wire.arrival(start, Part::Whole);
        let answer = back.grid.group_from(back.grid.find(found), found, 0);
        self.resume = back.arrival(answer.start, Part::Whole);
    }
    /// Stores a flit that the receiver misses or drops in the retry buffer.
    fn keep(&mut self, cargo: Cargo<U>) {
        match &mut self.retry {
            Some(retry) => retry.store(cargo),
            None => self.retry = Some(Box::new(Retry::new(cargo))),
        }
    }

    fn unload<E: Environment<U>>(&self, cargo: &Cargo<U>, start: u64, far: &mut FarEnd<'_, U, E>) {
        cargo.done.iter().for_each(|done| self.deliver(*done, start, far));
        self.return_credits(cargo.credits, start, far);
    }
    fn deliver<E: Environment<U>>(
        &self,
        (class, part, user): (Option<Class>, Part, U),
        start: u64,
        far: &mut FarEnd<'_, U, E>,
    ) {
        let at = self.wire.arrival(start, part);
        far.env.deliver(self.wire.rules.direction, Ticks(at).as_ps_ceil(), &user);
        let Some(class) = class else { return };
        let drain = self.wire.drain[class.index()];
        if drain != NEVER {
            far.other.free_credit(class, at + drain);
        }
    }
    fn return_credits<E>(&self, credits: [u32; 2], start: u64, far: &mut FarEnd<'_, U, E>) {
        if credits != [0; 2] {
            let at = self.wire.arrival(start, Part::Whole);
            far.other.expect_credits(Returning { at, credits });
        }
    }
}

fn earlier(a: Place, b: Place) -> Place {
    if b.start < a.start { b } else { a }
}
