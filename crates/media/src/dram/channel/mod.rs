//! The controller of one data bus: selects the next command and its clock.
//!
//! The state changes only at commands. Each bank with requests has one next command: read or write the open row,
//! activate, or precharge. For each kind of command there is a mask of the requests that need it and a clock before
//! which none of them can have it. A search of a mask finds either the oldest request that can go, which is its
//! lowest bit that can, or the clock at which the next one can.
//!
//! Requests are taken in late: they are stored in the order of arrival until a state after them is needed. So one
//! data bus handles several requests in a row before the next bus, and its data stay in the CPU's cache.

mod access;
mod bursts;
mod class;
mod decision;
mod refresh;
mod rows;
mod rules;
mod trail;

use super::bank::{Bank, Gates, Group, READ, Rank, WRITE};
use super::clock::NEVER;
use super::command::{Before, BusUse, Command, CommandKind, Counters, Done};
use super::config::Config;
use super::map::Place;
use super::queue::{Entry, NONE, Queue};
use super::refresh::Refresher;
use super::spec::Timings;
use bursts::Bursts;
use class::Class;
use lanetwin_units::Instant;
use rules::Rules;
use std::collections::VecDeque;

/// Largest number of ranks of a data bus.
const MOST_RANKS: usize = 4;

/// A request that waits for a place in the queues.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    token: u32,
    place: Place,
}

/// A request that has arrived and has not been taken in.
#[derive(Clone, Copy, Debug)]
struct Coming {
    clock: u64,
    direction: usize,
    new: Waiting,
    /// Whether it has been answered: true for a write that certainly finds a place in the queue and is answered then.
    answered: bool,
}

/// The controller of one data bus.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    bus: u32,
    t: Timings,
    gates: Gates,
    rules: Rules,
    /// Shifts from a bank to its group (of all ranks) and its rank.
    to_group: u32,
    to_rank: u32,
    banks: [Bank; 64],
    groups: [Group; 32],
    ranks: [Rank; MOST_RANKS],
    rank_count: usize,
    /// In the order of arrival.
    coming: Vec<Coming>,
    queues: [Queue; 2],
    overflow: [VecDeque<Waiting>; 2],
    /// Direction being served: reads or writes.
    mode: usize,
    /// Number of writes left at which waiting reads are served.
    leave: u32,
    /// Clock at which the direction changes, in the present state.
    turn: u64,
    /// Clock at which it last changed.
    turned: u64,
    /// Earliest clock of a decision after the direction has changed at the end of the clock before.
    resume: u64,
    reads_ended: u64,
    oldest_write: u64,
    cas: Class,
    act: Class,
    pre: Class,
    /// Banks with an open row for which there is no request, and a clock before which none of these rows is closed
    /// for lack of use; [`NEVER`] if there are none.
    idle: u64,
    idle_bound: u64,
    /// Banks whose open rows are still used in the previous direction, a clock before which none of them can be used,
    /// and the clock at which this ends; [`NEVER`] if there are none.
    trail: u64,
    trail_bound: u64,
    trail_end: u64,
    /// Before this clock there is no decision about refreshes, unused rows or open rows of the previous direction.
    rare: u64,
    /// The last clock of the last command.
    last: u64,
    /// Clock of the last request; all later decisions are for this clock or later.
    floor: u64,
    /// Earliest clock of the next decision.
    next: u64,
    refresher: Refresher,
    counters: Counters,
    bursts: Bursts,
    /// How far back before the last request the data bus may be queried.
    keep_history: u64,
    record: Option<Vec<Command>>,
}

impl Channel {
    pub fn new(config: &Config, bus: u32) -> Self {
        let t = config.timings();
        let g = &config.geometry;
        let rules = Rules::new(config, &t);
        let to_group = g.banks(config.speed).trailing_zeros();
        let mut channel = Self {
            bus,
            t,
            gates: Gates::new(&t),
            rules,
            to_group,
            to_rank: to_group + g.groups(config.speed).trailing_zeros(),
            banks: [Bank::new(rules.patience.unwrap_or(NEVER)); 64],
            groups: [Group::default(); 32],
            ranks: [Rank::default(); MOST_RANKS],
            rank_count: g.ranks as usize,
            coming: Vec::new(),
            queues: [Queue::new(), Queue::new()],
            overflow: [VecDeque::new(), VecDeque::new()],
            mode: READ,
            leave: 0,
            turn: NEVER,
            turned: NEVER,
            resume: 0,
            reads_ended: 0,
            oldest_write: NEVER,
            cas: Class::NONE,
            act: Class::NONE,
            pre: Class::NONE,
            idle: 0,
            idle_bound: NEVER,
            trail: 0,
            trail_bound: NEVER,
            trail_end: NEVER,
            rare: 0,
            last: 0,
            floor: 0,
            next: NEVER,
            refresher: Refresher::new(config, &t, bus),
            counters: Counters::default(),
            bursts: Bursts::default(),
            keep_history: 0,
            record: None,
        };
        channel.schedule();
        channel
    }

    /// Counters up to the last command that has been decided.
    pub const fn counters(&self) -> Counters {
        self.counters
    }
    pub fn record(&mut self, on: bool) {
        self.record = on.then(Vec::new);
    }
    /// Clocks from a read command to its first beat, and from there to the end of its last.
    pub const fn read_clocks(&self) -> (u64, u64) {
        (self.t.cl, self.t.burst)
    }
    pub fn take_record(&mut self) -> Vec<Command> {
        self.record.as_mut().map(core::mem::take).unwrap_or_default()
    }
    /// Keeps the history that [`Channel::bus_use`] needs up to `clocks` before the last request.
    pub fn keep_history(&mut self, clocks: u64) {
        self.keep_history = clocks;
    }
    /// Use of the data bus up to `now`.
    pub fn bus_use(&self, now: Instant) -> BusUse {
        self.bursts.bus_use(&self.t, now)
    }
    /// Least number of clocks from a request to its last beat.
    pub fn least_clocks(&self) -> u64 {
        self.t.read().min(self.t.write())
    }
    /// Whether writes wait for room in the queue, or could once all requests have been taken in.
    #[inline]
    pub fn is_overfull(&self) -> bool {
        self.is_full(0)
    }
    /// Number of requests that have not been read or written.
    pub fn waiting(&self) -> u64 {
        let queued: u32 = self.queues.iter().map(|queue| queue.len).sum();
        let before: usize = self.overflow.iter().map(VecDeque::len).sum();
        u64::from(queued) + (before + self.coming.len()) as u64
    }

    /// Takes a request, at a clock not before that of any other. Returns a clock before which it is not answered, or
    /// `None` if there is no room for it.
    #[inline]
    pub fn offer(
        &mut self,
        clock: u64,
        direction: usize,
        token: u32,
        place: Place,
        out: &mut Vec<Done>,
    ) -> Option<u64> {
        if self.coming.len() + self.overflow[direction].len() >= self.rules.waiting
            && !self.has_room(clock, direction, out)
        {
            return None;
        }
        let answered = direction == WRITE && self.rules.queued && !self.is_full(1);
        if answered {
            self.answer(token, clock, out);
        }
        self.coming.push(Coming { clock, direction, new: Waiting { token, place }, answered });
        Some(match direction {
            _ if answered => NEVER,
            READ => clock + self.t.read(),
            _ if self.rules.queued => clock,
            _ => clock + self.t.write(),
        })
    }
    /// Whether `more` further writes might not find a place in the queue once all requests have been taken in.
    #[inline]
    fn is_full(&self, more: usize) -> bool {
        let taken = self.queues[WRITE].len as usize + self.coming.len() + more;
        !self.overflow[WRITE].is_empty() || taken > self.rules.places[WRITE] as usize
    }
    /// Whether there certainly is room for another request at `clock`.
    #[cold]
    #[inline(never)]
    fn has_room(&mut self, clock: u64, direction: usize, out: &mut Vec<Done>) -> bool {
        self.run_before(clock, out);
        self.has_place(direction) || self.overflow[direction].len() < self.rules.waiting
    }
    #[inline]
    fn has_place(&self, direction: usize) -> bool {
        self.queues[direction].len < self.rules.places[direction] && self.overflow[direction].is_empty()
    }
    /// Takes in the requests that have arrived, each at its clock.
    #[inline]
    fn take_in(&mut self, out: &mut Vec<Done>) {
        for n in 0..self.coming.len() {
            let Coming { clock, direction, new, answered } = self.coming[n];
            while self.next < clock {
                self.run_on(clock, out);
            }
            self.floor = clock;
            if self.has_place(direction) {
                self.enter(clock, direction, new, (!answered).then_some(clock), out);
                self.schedule();
            } else {
                debug_assert!(!answered, "who was answered had a place for certain");
                self.overflow[direction].push_back(new);
            }
        }
        self.coming.clear();
    }

    /// Enters a request into the queues. An answer that this allows has clock `answer`, unless it has been given.
    #[inline]
    fn enter(
        &mut self,
        clock: u64,
        direction: usize,
        new: Waiting,
        answer: Option<u64>,
        out: &mut Vec<Done>,
    ) {
        let Waiting { token, place: Place { bank, row, line, .. } } = new;
        if self.queues[WRITE].pending >> bank & 1 == 1 && self.queues[WRITE].has(bank, row, line) {
            // the data are in the write queue, or replace older ones in it; this takes as long as an access without
            // waiting
            let takes = match direction {
                READ => self.t.read(),
                _ if self.rules.queued => 0,
                _ => self.t.write(),
            };
            *(if direction == READ { &mut self.counters.forwarded } else { &mut self.counters.merged }) += 1;
            if let Some(answer) = answer {
                self.answer(token, answer + takes, out);
            }
            return;
        }
        if self.queues[direction].is_spread() {
            self.put_together(direction);
        }
        let queue = &mut self.queues[direction];
        let (group, rank) = (bank >> self.to_group, bank >> self.to_rank);
        queue.put(Entry { token, row, line, bank, group, rank, at: clock, ready: 0 });
        if direction == WRITE {
            if queue.len == 1 {
                self.oldest_write = clock;
            }
            if queue.len >= self.rules.high {
                self.leave = self.rules.low;
            }
            if let Some(answer) = answer.filter(|_| self.rules.queued) {
                self.answer(token, answer, out);
            }
        }
        if direction == self.mode {
            // nothing changes if older requests already need the row opened, or are reading it
            let pick = self.banks[usize::from(bank) % 64].pick;
            if pick == NONE {
                self.not_idle(1 << bank);
                self.want(bank);
            } else if self.pre.slots >> pick & 1 == 1 {
                self.classify(bank);
            }
        }
        self.turn = self.turning(clock);
    }

    /// Compacts the slots of requests; their order within each class is kept.
    fn put_together(&mut self, direction: usize) {
        let (banks, serves) = (&mut self.banks, direction == self.mode);
        let mut classes = [&mut self.cas, &mut self.act, &mut self.pre];
        let mut slots = [0; 3];
        self.queues[direction].put_together(|bank, from, to| {
            let bank = &mut banks[usize::from(bank) % 64];
            if serves && bank.pick == from {
                bank.pick = to;
                for (class, slots) in classes.iter().zip(&mut slots) {
                    *slots |= (class.slots >> from & 1) << to;
                }
            }
        });
        if serves {
            classes.iter_mut().zip(slots).for_each(|(class, slots)| class.slots = slots);
        }
    }

    #[inline]
    fn answer(&self, token: u32, clock: u64, out: &mut Vec<Done>) {
        out.push(Done { token, at: self.t.clock.instant(clock), before: Before::NO_READ });
    }

    /// The state after every command before clock `end` has been decided, if no further request comes.
    pub fn up_to(&self, end: u64) -> Self {
        let mut channel = self.clone();
        channel.run_before(end, &mut Vec::new());
        channel
    }

    /// Takes in the requests that have arrived, and decides every command before clock `end`.
    #[inline]
    pub fn run_before(&mut self, end: u64, out: &mut Vec<Done>) {
        self.take_in(out);
        while self.next < end {
            self.run_on(end, out);
        }
    }

    /// Notes an issued command; `what` gives its kind, banks and row if commands are recorded.
    #[inline]
    fn issued(&mut self, now: u64, what: impl Fn() -> (CommandKind, u64, u32)) {
        debug_assert!(now > self.last, "one command at a time");
        self.last = now;
        if self.record.is_some() {
            let (kind, banks, row) = what();
            self.write_down(Command { clock: now, bus: self.bus, kind, banks, row });
        }
    }

    #[cold]
    fn write_down(&mut self, command: Command) {
        self.record.iter_mut().for_each(|record| record.push(command));
    }

    /// A clock before which no outstanding answer can come, if all requests have been taken in; [`NEVER`] if none
    /// will come without further requests.
    #[inline]
    pub fn next_answer(&self) -> u64 {
        debug_assert!(self.coming.is_empty(), "nobody knows what it is about to want");
        let t = &self.t;
        let [reads, writes] = [self.queues[READ].len, self.queues[WRITE].len];
        let mut soonest = NEVER;
        if reads > 0 {
            let access = if self.mode == READ && self.trail == 0 {
                let blocked = self.refresher.blocked & self.queues[READ].pending != 0;
                let refreshed = if blocked { self.refresher.at } else { NEVER };
                self.cas
                    .due(0)
                    .min(self.act.due(0).saturating_add(t.rcd))
                    .min(self.pre.due(0).saturating_add(t.rp + t.rcd))
                    .min(refreshed)
            } else {
                self.next
            };
            soonest = access.max(self.next).saturating_add(t.read());
        }
        if writes > 0 && !self.rules.queued {
            soonest = soonest.min(self.next.saturating_add(t.write()));
        }
        if self.rules.queued && !self.overflow[WRITE].is_empty() {
            soonest = soonest.min(self.next.saturating_add(1));
        }
        soonest
    }
}
