//! The controller of one data bus: which command is next, and when.
//!
//! Nothing happens between commands. Each bank with requests has one next command: read or write the open row, activate, precharge.
//! Three masks say which requests want which, and for each mask a clock is kept before which none of them can have it. A look at a mask
//! either finds the oldest that can go, which is the lowest of its bits that can, or the clock at which the next one can.

use super::bank::{Bank, CLOSED, Group, READ, Rank, WRITE, accessed};
use super::config::{Config, PagePolicy, WriteAnswer};
use super::map::Place;
use super::queue::{Entry, NONE, Queue};
use super::refresh::Refresher;
use super::spec::Timings;
use super::{Command, CommandKind, Counters, Done};
use lanetwin_units::Instant;
use std::collections::VecDeque;

/// Later than any clock.
pub(super) const NEVER: u64 = u64::MAX;

/// Requests whose banks want the same, as slots of the queue that is being served, and a clock before which none can have it.
#[derive(Clone, Copy, Debug)]
struct Class {
    slots: u64,
    bound: u64,
}

impl Class {
    const NONE: Self = Self { slots: 0, bound: NEVER };

    #[inline]
    fn add(&mut self, slot: u8, at: u64) {
        self.bound = if self.slots == 0 { at } else { self.bound.min(at) };
        self.slots |= 1 << slot;
    }
    /// Not before this clock, if the command bus is free for it from `slot` on.
    #[inline]
    const fn due(&self, slot: u64) -> u64 {
        if self.slots == 0 {
            NEVER
        } else if self.bound > slot {
            self.bound
        } else {
            slot
        }
    }
    /// The oldest that can go at `now`; if none can, the bound becomes the clock at which one can.
    #[inline]
    fn oldest(&mut self, now: u64, when: impl Fn(u8) -> u64) -> Option<u8> {
        let (mut left, mut soonest) = (self.slots, NEVER);
        while left != 0 {
            let slot = left.trailing_zeros() as u8;
            let at = when(slot);
            if at <= now {
                return Some(slot);
            }
            soonest = soonest.min(at);
            left &= left - 1;
        }
        self.bound = soonest;
        None
    }
}

/// A request before the queues.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    token: u32,
    place: Place,
}

/// Marks, times and policies of a controller \[clocks\].
#[derive(Clone, Copy, Debug)]
struct Rules {
    places: [u32; 2],
    high: u32,
    low: u32,
    idle: u64,
    age: u64,
    passes: u32,
    waiting: usize,
    closed: bool,
    /// None if rows are not closed after a time.
    patience: Option<u64>,
    queued: bool,
}

impl Rules {
    fn new(config: &Config, t: &Timings) -> Self {
        let q = &config.queues;
        Self {
            places: [q.reads, q.writes],
            high: q.high,
            low: q.low,
            idle: t.clock.at_least(q.idle.as_ps()),
            age: t.clock.at_least(q.age.as_ps()),
            passes: q.passes,
            waiting: q.waiting as usize,
            closed: config.page == PagePolicy::Closed,
            patience: match config.page {
                PagePolicy::Adaptive(time) => Some(t.clock.at_least(time.as_ps()).max(8)),
                PagePolicy::Open | PagePolicy::Closed => None,
            },
            queued: config.answer == WriteAnswer::Queued,
        }
    }
}

/// The controller of one data bus.
#[derive(Clone, Debug)]
pub(super) struct Channel {
    bus: u32,
    t: Timings,
    rules: Rules,
    /// Shifts from a bank to its group (of all ranks) and its rank.
    to_group: u32,
    to_rank: u32,
    banks: [Bank; 64],
    groups: [Group; 32],
    ranks: [Rank; 4],
    rank_count: usize,
    queues: [Queue; 2],
    overflow: [VecDeque<Waiting>; 2],
    /// What is being served: reads or writes.
    mode: usize,
    /// With so many writes left, waiting reads have their turn.
    leave: u32,
    /// When the direction changes, as things stand.
    turn: u64,
    reads_ended: u64,
    oldest_write: u64,
    cas: Class,
    act: Class,
    pre: Class,
    /// Banks with an open row that nobody wants, and a clock before which no time of theirs runs out.
    idle: u64,
    idle_bound: u64,
    /// When the next command of a bank can be, as far as its bank goes.
    ready: [u64; 64],
    open: u64,
    /// The last clock of the last command.
    last: u64,
    /// The clock of the last request from outside: nothing that is not decided yet is decided for an earlier one.
    floor: u64,
    /// Before this clock nothing is decided.
    next: u64,
    refresher: Refresher,
    counters: Counters,
    /// The first clocks of bursts on the data bus that somebody may still ask about, and the time of all before \[ps\].
    bursts: VecDeque<u64>,
    settled_ps: u64,
    /// How far back before the last request somebody may ask.
    look_back: u64,
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
            rules,
            to_group,
            to_rank: to_group + g.groups(config.speed).trailing_zeros(),
            banks: [Bank::new(rules.patience.unwrap_or(NEVER)); 64],
            groups: [Group::default(); 32],
            ranks: [Rank::default(); 4],
            rank_count: g.ranks as usize,
            queues: [Queue::new(), Queue::new()],
            overflow: [VecDeque::new(), VecDeque::new()],
            mode: READ,
            leave: 0,
            turn: NEVER,
            reads_ended: 0,
            oldest_write: NEVER,
            cas: Class::NONE,
            act: Class::NONE,
            pre: Class::NONE,
            idle: 0,
            idle_bound: NEVER,
            ready: [0; 64],
            open: 0,
            last: 0,
            floor: 0,
            next: NEVER,
            refresher: Refresher::new(config, &t, bus),
            counters: Counters::default(),
            bursts: VecDeque::new(),
            settled_ps: 0,
            look_back: 0,
            record: None,
        };
        channel.schedule();
        channel
    }

    pub const fn counters(&self) -> &Counters {
        &self.counters
    }
    pub fn record(&mut self, on: bool) {
        self.record = on.then(Vec::new);
    }
    /// From a read command to its first beat, and from there behind its last \[clocks\].
    pub const fn read_clocks(&self) -> (u64, u64) {
        (self.t.cl, self.t.burst)
    }
    pub fn take_record(&mut self) -> Vec<Command> {
        self.record.as_mut().map(core::mem::take).unwrap_or_default()
    }
    /// Keeps what has to be known of the data bus for [`Channel::busy_ps`] up to `clocks` before the last request.
    pub fn look_back(&mut self, clocks: u64) {
        self.look_back = clocks;
    }
    /// For how long the data bus has carried data up to `now` \[ps\].
    pub fn busy_ps(&self, now: Instant) -> u64 {
        let carried = |first: &u64| self.time_of(*first, now);
        self.settled_ps + self.bursts.iter().map(carried).sum::<u64>()
    }
    /// The part of a burst before `now` \[ps\].
    fn time_of(&self, first: u64, now: Instant) -> u64 {
        let [start, end] = [first, first + self.t.burst].map(|edge| self.t.clock.instant(edge));
        end.min(now).since(start).as_ps()
    }
    /// Requests that have not been read or written.
    pub fn waiting(&self) -> u64 {
        let queued: u32 = self.queues.iter().map(|queue| queue.len).sum();
        let before: usize = self.overflow.iter().map(VecDeque::len).sum();
        u64::from(queued) + before as u64
    }

    /// Takes a request at a clock before which everything has been decided; false if there is no room for it.
    #[inline]
    pub fn offer(
        &mut self,
        clock: u64,
        direction: usize,
        token: u32,
        place: Place,
        out: &mut Vec<Done>,
    ) -> bool {
        self.floor = clock;
        let has_place = self.queues[direction].len < self.rules.places[direction];
        if has_place && self.overflow[direction].is_empty() {
            self.enter(clock, direction, Waiting { token, place }, clock, out);
            self.schedule();
            return true;
        }
        let room = self.overflow[direction].len() < self.rules.waiting;
        if room {
            self.overflow[direction].push_back(Waiting { token, place });
        }
        room
    }

    /// A request gets its place in the queues; what is answered with that is answered at clock `answer`.
    fn enter(&mut self, clock: u64, direction: usize, new: Waiting, answer: u64, out: &mut Vec<Done>) {
        let Waiting { token, place: Place { bank, row, line, .. } } = new;
        if self.queues[WRITE].pending >> bank & 1 == 1 && self.queues[WRITE].has(bank, row, line) {
            // the data are in the write queue, or go there in place of older ones; it takes as long as an access that need not wait
            let takes = match direction {
                READ => self.t.read(),
                _ if self.rules.queued => 0,
                _ => self.t.write(),
            };
            *(if direction == READ { &mut self.counters.forwarded } else { &mut self.counters.merged }) += 1;
            self.answer(token, answer + takes, out);
            return;
        }
        if self.queues[direction].is_spread() {
            self.put_together(direction);
        }
        let queue = &mut self.queues[direction];
        queue.put(Entry { token, row, line, bank, at: clock });
        if direction == WRITE {
            if queue.len == 1 {
                self.oldest_write = clock;
            }
            if queue.len >= self.rules.high {
                self.leave = self.rules.low;
            }
            if self.rules.queued {
                self.answer(token, answer, out);
            }
        }
        if direction == self.mode {
            // behind others that want the row opened, or are reading it, nothing changes
            let pick = self.banks[usize::from(bank) % 64].pick;
            if pick == NONE || (self.cas.slots | self.act.slots) >> pick & 1 == 0 {
                self.classify(bank);
            }
        }
        self.turn = self.turning(clock);
    }

    /// Gives requests the lowest slots again: what banks want keeps its order.
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

    /// Finds anew what these banks want, of which all that have requests are among.
    fn classify_all(&mut self, banks: u64, now: u64) {
        (self.cas, self.act, self.pre) = (Class::NONE, Class::NONE, Class::NONE);
        let mut left = banks;
        while left != 0 {
            let bank = left.trailing_zeros() as u8;
            self.banks[usize::from(bank) % 64].pick = NONE;
            self.classify(bank);
            left &= left - 1;
        }
        self.turn = self.turning(now);
    }

    #[inline]
    fn answer(&self, token: u32, clock: u64, out: &mut Vec<Done>) {
        out.push(Done { token, at: self.t.clock.instant(clock) });
    }

    /// What a bank wants next.
    #[inline]
    fn classify(&mut self, at_bank: u8) {
        let n = usize::from(at_bank) % 64;
        let bank = &mut self.banks[n];
        let old = !(u64::from(bank.pick != NONE) << (bank.pick & 63));
        self.cas.slots &= old;
        self.act.slots &= old;
        self.pre.slots &= old;
        self.idle &= !(1 << at_bank);
        bank.pick = NONE;
        if self.refresher.blocked >> at_bank & 1 == 1 {
            return;
        }
        let queue = &self.queues[self.mode];
        let Some(head) = queue.first(at_bank) else {
            if bank.row != CLOSED && self.rules.patience.is_some() {
                self.ready[n] = bank.pre.max(bank.used + bank.patience);
                self.idle |= 1 << at_bank;
                self.idle_bound = self.idle_bound.min(self.ready[n]);
            }
            return;
        };
        let group = &self.groups[n >> self.to_group & 31];
        let rank = &self.ranks[n >> self.to_rank & 3];
        if bank.row == CLOSED {
            bank.pick = head;
            self.ready[n] = bank.act;
            self.act.add(head, bank.act.max(group.act).max(rank.act));
            return;
        }
        let hit = queue.find(at_bank, bank.row);
        match hit.filter(|hit| *hit == head || bank.passed < self.rules.passes) {
            Some(hit) => {
                bank.pick = hit;
                self.ready[n] = bank.cas;
                self.cas.add(hit, bank.cas.max(group.cas[self.mode]).max(rank.cas[self.mode]));
            }
            None => {
                bank.pick = head;
                self.ready[n] = bank.pre;
                self.pre.add(head, bank.pre.max(rank.pre));
            }
        }
    }

    /// When the direction changes, as things stand at `clock`.
    #[inline]
    fn turning(&self, clock: u64) -> u64 {
        let [reads, writes] = [self.queues[READ].len, self.queues[WRITE].len];
        if self.mode == WRITE {
            return if writes == 0 || reads > 0 && writes <= self.leave { clock } else { NEVER };
        }
        if writes == 0 {
            return NEVER;
        }
        if writes >= self.rules.high {
            return clock;
        }
        let aged = self.oldest_write.saturating_add(self.rules.age);
        let idle = if reads == 0 { self.reads_ended.saturating_add(self.rules.idle) } else { NEVER };
        aged.min(idle).max(clock)
    }

    /// The direction changes.
    #[cold]
    fn turn_round(&mut self, now: u64) {
        let banks = self.queues[READ].pending | self.queues[WRITE].pending;
        if self.mode == READ {
            let [reads, writes] = [self.queues[READ].len, self.queues[WRITE].len];
            self.leave = match () {
                () if writes >= self.rules.high => self.rules.low,
                // the oldest has waited long enough: all go
                () if self.oldest_write.saturating_add(self.rules.age) <= now => 0,
                () => u32::MAX,
            };
            debug_assert!(writes > 0 && (reads == 0 || self.leave != u32::MAX));
            self.mode = WRITE;
        } else {
            self.mode = READ;
            self.oldest_write = self.queues[WRITE].oldest().unwrap_or(NEVER);
        }
        self.counters.turnarounds += 1;
        self.classify_all(banks, now);
    }

    /// Decides every command before clock `end`.
    #[inline]
    pub fn run_before(&mut self, end: u64, out: &mut Vec<Done>) {
        while self.next < end {
            self.decide(self.next, out);
            self.schedule();
        }
    }

    /// Finds the next clock at which something can be decided.
    #[inline]
    fn schedule(&mut self) {
        let (short, long) = (self.last + 1, self.last + self.t.command);
        self.next = self
            .turn
            .min(self.refresher.at.max(short))
            .min(self.cas.due(long))
            .min(self.act.due(long))
            .min(self.pre.due(short))
            .min(self.idle_due(short))
            .max(self.floor);
    }

    /// When a row can be closed because its time has run out, if the command bus is free from `slot` on.
    #[inline]
    const fn idle_due(&self, slot: u64) -> u64 {
        if self.idle == 0 {
            NEVER
        } else if self.idle_bound > slot {
            self.idle_bound
        } else {
            slot
        }
    }

    /// At most one command, at clock `now`.
    fn decide(&mut self, now: u64, out: &mut Vec<Done>) {
        if self.turn <= now {
            self.turn_round(now);
        }
        let (short, long) = (self.last + 1, self.last + self.t.command);
        if self.refresher.at.max(short) <= now && self.refresh(now) {
            return;
        }
        if self.cas.due(long) <= now && self.try_access(now, out) {
            return;
        }
        let activate = self.act.due(long) <= now;
        let precharge = self.pre.due(short) <= now;
        if (activate || precharge) && self.try_row(now, activate, precharge) {
            return;
        }
        if self.idle_due(short) <= now {
            self.try_close(now);
        }
    }

    /// Reads or writes an open row, for the oldest request that can go.
    #[inline]
    fn try_access(&mut self, now: u64, out: &mut Vec<Done>) -> bool {
        let mode = self.mode;
        let found = self.cas.oldest(now, |slot| {
            let n = usize::from(self.queues[mode].get(slot).bank) % 64;
            let group = self.groups[n >> self.to_group & 31].cas[mode];
            let rank = self.ranks[n >> self.to_rank & 3].cas[mode];
            self.ready[n].max(group).max(rank)
        });
        let Some(slot) = found else { return false };
        self.cas.bound = now + self.t.burst;
        self.access(now, slot, out);
        true
    }

    fn access(&mut self, now: u64, slot: u8, out: &mut Vec<Done>) {
        let (mode, t) = (self.mode, self.t);
        let queue = &mut self.queues[mode];
        let at_bank = queue.get(slot).bank;
        let n = usize::from(at_bank) % 64;
        let bank = &mut self.banks[n];
        let passes = queue.first(at_bank) != Some(slot);
        let entry = queue.take(slot);
        bank.passed += u32::from(passes);
        self.counters.rows[usize::from(bank.why)] += 1;
        bank.why = 0;
        bank.used = now;
        bank.pre = bank.pre.max(now + if mode == READ { t.rtp } else { t.write() + t.wr });
        let close = self.rules.closed && queue.find(at_bank, bank.row).is_none();
        if close {
            bank.act = bank.act.max(bank.pre + t.rp);
            bank.row = CLOSED;
            bank.why = 1;
            self.open &= !(1 << at_bank);
            self.counters.precharges += 1;
        }
        let (group, rank) = (n >> self.to_group & 31, n >> self.to_rank & 3);
        accessed(&t, &mut self.ranks[..self.rank_count], &mut self.groups[group], rank, mode, now);
        self.counters.accesses[mode] += 1;
        self.carries(now + if mode == READ { t.cl } else { t.cwl });
        let kind = match (mode, close) {
            (READ, false) => CommandKind::Read,
            (READ, true) => CommandKind::ReadClose,
            (_, false) => CommandKind::Write,
            (_, true) => CommandKind::WriteClose,
        };
        self.issued(now, kind, 1 << at_bank, entry.row);
        if mode == READ {
            self.answer(entry.token, now + t.read(), out);
            if self.queues[READ].len == 0 {
                self.reads_ended = now;
            }
        } else if !self.rules.queued {
            self.answer(entry.token, now + t.write(), out);
        }
        self.classify(at_bank);
        // the next that waits takes the place; what it is answered with can be known one clock later
        while self.queues[mode].len < self.rules.places[mode]
            && let Some(next) = self.overflow[mode].pop_front()
        {
            self.enter(now, mode, next, now + 1, out);
        }
        self.turn = self.turning(now);
    }

    /// A burst begins at this clock.
    #[inline]
    fn carries(&mut self, first: u64) {
        self.bursts.push_back(first);
        while let Some(&past) = self.bursts.front()
            && past + self.t.burst + self.look_back < self.floor
        {
            self.bursts.pop_front();
            self.settled_ps += self.time_of(past, Instant::NEVER);
        }
    }

    /// Activates or precharges, for the oldest request that can go.
    #[inline]
    fn try_row(&mut self, now: u64, activate: bool, precharge: bool) -> bool {
        let entries = &self.queues[self.mode];
        let (mut open, mut shut) = (None, None);
        if activate {
            open = self.act.oldest(now, |slot| {
                let n = usize::from(entries.get(slot).bank) % 64;
                let group = self.groups[n >> self.to_group & 31].act;
                self.ready[n].max(group).max(self.ranks[n >> self.to_rank & 3].act)
            });
        }
        if precharge {
            shut = self.pre.oldest(now, |slot| {
                let n = usize::from(entries.get(slot).bank) % 64;
                self.ready[n].max(self.ranks[n >> self.to_rank & 3].pre)
            });
        }
        // slots are in the order of arrival
        match (open, shut) {
            (Some(slot), None) => self.activate(now, slot),
            (Some(slot), Some(other)) if slot < other => self.activate(now, slot),
            (_, Some(slot)) => {
                let at_bank = entries.get(slot).bank;
                let bank = &mut self.banks[usize::from(at_bank) % 64];
                bank.why = 2;
                bank.patience = (bank.patience / 2).max(self.rules.patience.unwrap_or(NEVER) / 8);
                self.close(now, at_bank);
            }
            (None, None) => return false,
        }
        true
    }

    fn activate(&mut self, now: u64, slot: u8) {
        let Entry { bank: at_bank, row, .. } = *self.queues[self.mode].get(slot);
        let n = usize::from(at_bank) % 64;
        let t = &self.t;
        let bank = &mut self.banks[n];
        if bank.left == row {
            let first = self.rules.patience.unwrap_or(NEVER);
            bank.patience = bank.patience.saturating_mul(2).min(first.saturating_mul(8));
        }
        (bank.left, bank.row, bank.passed) = (CLOSED, row, 0);
        (bank.cas, bank.pre, bank.act) = (now + t.rcd, now + t.ras, now + t.rc);
        bank.used = now;
        let group = &mut self.groups[n >> self.to_group & 31];
        group.act = group.act.max(now + t.rrd_l);
        let rank = &mut self.ranks[n >> self.to_rank & 3];
        rank.activated(t, now);
        self.act.bound = if self.rank_count == 1 { rank.act } else { now + t.command };
        self.open |= 1 << at_bank;
        self.counters.activates += 1;
        self.issued(now, CommandKind::Activate, 1 << at_bank, row);
        self.classify(at_bank);
    }

    /// Closes the row of a bank.
    fn close(&mut self, now: u64, at_bank: u8) {
        let n = usize::from(at_bank) % 64;
        let bank = &mut self.banks[n];
        bank.act = bank.act.max(now + self.t.rp);
        bank.row = CLOSED;
        self.ranks[n >> self.to_rank & 3].pre = now + self.t.ppd;
        self.open &= !(1 << at_bank);
        self.counters.precharges += 1;
        self.issued(now, CommandKind::Precharge, 1 << at_bank, 0);
        self.classify(at_bank);
    }

    /// Closes a row that nobody has used for long enough.
    #[cold]
    fn try_close(&mut self, now: u64) {
        let (mut left, mut soonest, mut first) = (self.idle, NEVER, None);
        while left != 0 {
            let n = left.trailing_zeros() as usize;
            let at = self.ready[n].max(self.ranks[n >> self.to_rank & 3].pre);
            if at <= now && first.is_none() {
                first = Some(n);
            } else {
                soonest = soonest.min(at);
            }
            left &= left - 1;
        }
        self.idle_bound = soonest;
        if let Some(n) = first {
            let bank = &mut self.banks[n];
            bank.left = bank.row;
            bank.why = 1;
            self.close(now, n as u8);
        }
    }

    /// What refreshes need; whether a command was issued.
    #[cold]
    fn refresh(&mut self, now: u64) -> bool {
        while let Some(rank) = self.refresher.due(now) {
            if self.refresh_rank(now, rank) {
                return true;
            }
        }
        false
    }

    /// What the refresh of a rank needs; whether a command was issued. If none was, nothing can be done for it now.
    fn refresh_rank(&mut self, now: u64, rank: usize) -> bool {
        let banks = self.refresher.begin(rank);
        let mut taken = banks & self.queues[self.mode].pending;
        self.idle &= !banks;
        while taken != 0 {
            self.classify(taken.trailing_zeros() as u8);
            taken &= taken - 1;
        }
        let latest = |mask: u64, of: fn(&Bank) -> u64| {
            (0..64).filter(|n| mask >> n & 1 == 1).map(|n| of(&self.banks[n])).max().unwrap_or(0)
        };
        let open = banks & self.open;
        if open != 0 {
            // the command is for all of them, also for those that are about to be closed by themselves
            let ready = latest(banks, |bank| bank.pre).max(self.ranks[rank].pre);
            if ready > now {
                self.refresher.wait(rank, ready);
                return false;
            }
            for n in (0..64).filter(|n| open >> n & 1 == 1) {
                let bank = &mut self.banks[n];
                bank.act = bank.act.max(now + self.t.rp);
                bank.row = CLOSED;
                bank.why = 1;
            }
            self.open &= !open;
            self.ranks[rank].pre = now + self.t.ppd;
            self.counters.precharges += 1;
            self.issued(now, CommandKind::PrechargeAll, banks, 0);
            return true;
        }
        let mut ready = latest(banks, |bank| bank.act);
        if self.refresher.same_bank {
            ready = ready.max(self.ranks[rank].act);
        }
        if ready > now {
            self.refresher.wait(rank, ready);
            return false;
        }
        let busy = if self.refresher.same_bank { self.t.rfc_sb } else { self.t.rfc };
        for n in (0..64).filter(|n| banks >> n & 1 == 1) {
            let bank = &mut self.banks[n];
            bank.act = bank.act.max(now + busy);
        }
        if self.refresher.same_bank {
            let rank = &mut self.ranks[rank];
            rank.activated(&self.t, now);
            rank.act = rank.act.max(now + self.t.refsb_rd);
        }
        self.counters.refreshes += 1;
        self.issued(now, CommandKind::Refresh, banks, 0);
        self.refresher.end(rank);
        let mut left = banks & self.queues[self.mode].pending;
        while left != 0 {
            self.classify(left.trailing_zeros() as u8);
            left &= left - 1;
        }
        true
    }

    #[inline]
    fn issued(&mut self, now: u64, kind: CommandKind, banks: u64, row: u32) {
        debug_assert!(now > self.last, "one command at a time");
        self.last = now;
        if let Some(record) = &mut self.record {
            record.push(Command { clock: now, bus: self.bus, kind, banks, row });
        }
    }

    /// No answer that has not been given can be earlier than this clock; [`NEVER`] if none will come without further requests.
    #[inline]
    pub fn next_answer(&self) -> u64 {
        let t = &self.t;
        let [reads, writes] = [self.queues[READ].len, self.queues[WRITE].len];
        let mut soonest = NEVER;
        if reads > 0 {
            let access = if self.mode == READ {
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
