//! The controller of one data bus: which command is next, and when.
//!
//! Nothing happens between commands. Each bank with requests has one next command: read or write the open row, activate, precharge.
//! Three masks say which banks want which, and for each mask a clock is kept before which none of them can have it. A scan of a mask
//! either finds the oldest that can go, or the clock at which the next one can.

use super::bank::{Bank, CLOSED, Group, READ, Rank, WRITE, accessed};
use super::config::{Config, PagePolicy, WriteAnswer};
use super::map::Place;
use super::queue::{NONE, Store};
use super::refresh::Refresher;
use super::spec::Timings;
use super::{Command, CommandKind, Counters, Done};
use std::collections::VecDeque;

/// Later than any clock.
pub(super) const NEVER: u64 = u64::MAX;

/// What banks want, each class of them with a mask and a clock before which none can have it.
#[derive(Clone, Copy, Debug)]
struct Class {
    banks: u64,
    bound: u64,
}

impl Class {
    const NONE: Self = Self { banks: 0, bound: NEVER };

    #[inline]
    fn add(&mut self, bank: u8, at: u64) {
        self.banks |= 1 << bank;
        self.bound = self.bound.min(at);
    }
    #[inline]
    fn remove(&mut self, banks: u64) {
        self.banks &= !banks;
        if self.banks == 0 {
            self.bound = NEVER;
        }
    }
    /// Not before this clock, if the command bus is free for it from `slot` on.
    #[inline]
    fn due(&self, slot: u64) -> u64 {
        if self.banks == 0 { NEVER } else { self.bound.max(slot) }
    }
}

/// The oldest bank of a class that can go, and when the next of the others can.
struct Found {
    bank: u8,
    number: u64,
    others: u64,
}

/// Scans the banks of a class at clock `now`.
#[inline]
fn scan(banks: u64, now: u64, ages: &[u64; 64], when: impl Fn(usize) -> u64) -> Found {
    let mut found = Found { bank: NONE, number: NEVER, others: NEVER };
    let mut left = banks;
    let mut best_at = NEVER;
    while left != 0 {
        let bank = left.trailing_zeros() as usize;
        left &= left - 1;
        let at = when(bank);
        if at <= now && ages[bank] < found.number {
            found.others = found.others.min(best_at);
            best_at = at;
            found.bank = bank as u8;
            found.number = ages[bank];
        } else {
            found.others = found.others.min(at);
        }
    }
    found
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
    store: Store,
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
    /// Open rows that nobody wants, when their time runs out.
    idle: Class,
    /// When the next command of a bank can be, as far as its bank goes, and the number of its request.
    ready: [u64; 64],
    ages: [u64; 64],
    open: u64,
    /// The last clock of the last command.
    last: u64,
    /// The clock of the last request from outside: nothing that is not decided yet is decided for an earlier one.
    floor: u64,
    /// Before this clock nothing is decided.
    next: u64,
    refresher: Refresher,
    counters: Counters,
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
            store: Store::new(),
            overflow: [VecDeque::new(), VecDeque::new()],
            mode: READ,
            leave: 0,
            turn: NEVER,
            reads_ended: 0,
            oldest_write: NEVER,
            cas: Class::NONE,
            act: Class::NONE,
            pre: Class::NONE,
            idle: Class::NONE,
            ready: [0; 64],
            ages: [0; 64],
            open: 0,
            last: 0,
            floor: 0,
            next: NEVER,
            refresher: Refresher::new(config, &t, bus),
            counters: Counters::default(),
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
    pub fn take_record(&mut self) -> Vec<Command> {
        self.record.as_mut().map(core::mem::take).unwrap_or_default()
    }
    /// Requests that have not been read or written.
    pub fn waiting(&self) -> u64 {
        let queued: u32 = self.store.len.iter().sum();
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
        let has_place = self.store.len[direction] < self.rules.places[direction];
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
        let Waiting { token, place: Place { bank: at_bank, row, line, .. } } = new;
        let bank = &mut self.banks[usize::from(at_bank) % 64];
        let writes = bank.first[WRITE] != NONE && self.store.find(bank, WRITE, row, Some(line)) != NONE;
        if writes {
            // the data are in the write queue, or go there in place of older ones
            *(if direction == READ { &mut self.counters.forwarded } else { &mut self.counters.merged }) += 1;
            self.answer(token, answer, out);
            return;
        }
        let was_empty = self.store.len[direction] == 0;
        self.store.put(bank, at_bank, direction, (token, row, line, clock));
        if direction == WRITE {
            if was_empty {
                self.oldest_write = clock;
            }
            if self.store.len[WRITE] >= self.rules.high {
                self.leave = self.rules.low;
            }
            if self.rules.queued {
                self.answer(token, answer, out);
            }
        }
        // behind others that want the row opened, or are reading it, nothing changes
        if direction == self.mode && (self.cas.banks | self.act.banks) >> at_bank & 1 == 0 {
            self.classify(at_bank);
        }
        self.turn = self.turning(clock);
    }

    #[inline]
    fn answer(&self, token: u32, clock: u64, out: &mut Vec<Done>) {
        out.push(Done { token, at: self.t.clock.instant(clock) });
    }

    /// What a bank wants next.
    #[inline]
    fn classify(&mut self, at_bank: u8) {
        let one = 1 << at_bank;
        self.cas.remove(one);
        self.act.remove(one);
        self.pre.remove(one);
        self.idle.remove(one);
        if self.refresher.blocked & one != 0 {
            return;
        }
        let n = usize::from(at_bank) % 64;
        let bank = &mut self.banks[n];
        let head = bank.first[self.mode];
        let group = &self.groups[n >> self.to_group & 31];
        let rank = &self.ranks[n >> self.to_rank & 3];
        if head == NONE {
            if bank.row != CLOSED && self.rules.patience.is_some() {
                self.ready[n] = bank.pre.max(bank.used + bank.patience);
                self.ages[n] = 0;
                self.idle.add(at_bank, self.ready[n]);
            }
            return;
        }
        bank.pick = head;
        if bank.row == CLOSED {
            self.ready[n] = bank.act;
            self.act.add(at_bank, bank.act.max(group.act).max(rank.act));
        } else {
            let hit = self.store.find(bank, self.mode, bank.row, None);
            if hit != NONE && (hit == head || bank.passed < self.rules.passes) {
                bank.pick = hit;
                self.ready[n] = bank.cas;
                self.cas.add(at_bank, bank.cas.max(group.cas[self.mode]).max(rank.cas[self.mode]));
            } else {
                self.ready[n] = bank.pre;
                self.pre.add(at_bank, bank.pre.max(rank.pre));
            }
        }
        self.ages[n] = self.store.get(bank.pick).number;
    }

    /// When the direction changes, as things stand at `clock`.
    #[inline]
    fn turning(&self, clock: u64) -> u64 {
        let [reads, writes] = self.store.len;
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
        let banks = self.store.pending[READ] | self.store.pending[WRITE];
        if self.mode == READ {
            let [reads, writes] = self.store.len;
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
            self.oldest_write = self.store.oldest(&self.banks, WRITE).unwrap_or(NEVER);
        }
        self.counters.turnarounds += 1;
        (self.cas, self.act, self.pre) = (Class::NONE, Class::NONE, Class::NONE);
        let mut left = banks;
        while left != 0 {
            self.classify(left.trailing_zeros() as u8);
            left &= left - 1;
        }
        self.turn = self.turning(now);
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
            .min(self.idle.due(short))
            .max(self.floor);
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
        if self.idle.due(short) <= now {
            self.try_close(now);
        }
    }

    /// Reads or writes an open row, for the oldest request that can go.
    #[inline]
    fn try_access(&mut self, now: u64, out: &mut Vec<Done>) -> bool {
        let mode = self.mode;
        let found = scan(self.cas.banks, now, &self.ages, |n| {
            let group = self.groups[n >> self.to_group & 31].cas[mode];
            let rank = self.ranks[n >> self.to_rank & 3].cas[mode];
            self.ready[n].max(group).max(rank)
        });
        if found.bank == NONE {
            self.cas.bound = found.others;
            return false;
        }
        self.cas.bound = found.others.max(now + self.t.burst);
        self.access(now, found.bank, out);
        true
    }

    fn access(&mut self, now: u64, at_bank: u8, out: &mut Vec<Done>) {
        let n = usize::from(at_bank) % 64;
        let (mode, t) = (self.mode, self.t);
        let bank = &mut self.banks[n];
        let passes = bank.pick != bank.first[mode];
        let entry = self.store.take(bank, at_bank, mode, bank.pick);
        bank.passed += u32::from(passes);
        self.counters.rows[usize::from(bank.why)] += 1;
        bank.why = 0;
        bank.used = now;
        bank.pre = bank.pre.max(now + if mode == READ { t.rtp } else { t.write() + t.wr });
        let close = self.rules.closed && self.store.find(bank, mode, bank.row, None) == NONE;
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
        let kind = match (mode, close) {
            (READ, false) => CommandKind::Read,
            (READ, true) => CommandKind::ReadClose,
            (_, false) => CommandKind::Write,
            (_, true) => CommandKind::WriteClose,
        };
        self.issued(now, kind, 1 << at_bank, entry.row);
        if mode == READ {
            self.answer(entry.token, now + t.read(), out);
            if self.store.len[READ] == 0 {
                self.reads_ended = now;
            }
        } else if !self.rules.queued {
            self.answer(entry.token, now + t.write(), out);
        }
        self.classify(at_bank);
        // the next that waits takes the place; what it is answered with can be known one clock later
        while self.store.len[mode] < self.rules.places[mode]
            && let Some(next) = self.overflow[mode].pop_front()
        {
            self.enter(now, mode, next, now + 1, out);
        }
        self.turn = self.turning(now);
    }

    /// Activates or precharges, for the oldest request that can go.
    #[inline]
    fn try_row(&mut self, now: u64, activate: bool, precharge: bool) -> bool {
        let none = Found { bank: NONE, number: NEVER, others: NEVER };
        let mut open = none;
        if activate {
            open = scan(self.act.banks, now, &self.ages, |n| {
                let group = self.groups[n >> self.to_group & 31].act;
                self.ready[n].max(group).max(self.ranks[n >> self.to_rank & 3].act)
            });
            if open.bank == NONE {
                self.act.bound = open.others;
            }
        }
        let mut shut = Found { bank: NONE, number: NEVER, others: NEVER };
        if precharge {
            shut = scan(self.pre.banks, now, &self.ages, |n| {
                self.ready[n].max(self.ranks[n >> self.to_rank & 3].pre)
            });
            if shut.bank == NONE {
                self.pre.bound = shut.others;
            }
        }
        if open.number < shut.number {
            self.act.bound = open.others;
            self.activate(now, open.bank);
            true
        } else if shut.bank != NONE {
            self.pre.bound = shut.others;
            let bank = &mut self.banks[usize::from(shut.bank) % 64];
            bank.why = 2;
            bank.patience = (bank.patience / 2).max(self.rules.patience.unwrap_or(NEVER) / 8);
            self.close(now, shut.bank);
            true
        } else {
            false
        }
    }

    fn activate(&mut self, now: u64, at_bank: u8) {
        let n = usize::from(at_bank) % 64;
        let t = &self.t;
        let bank = &mut self.banks[n];
        let row = self.store.get(bank.pick).row;
        if bank.left == row {
            let first = self.rules.patience.unwrap_or(NEVER);
            bank.patience = bank.patience.saturating_mul(2).min(first.saturating_mul(8));
        }
        (bank.left, bank.row, bank.passed) = (CLOSED, row, 0);
        (bank.cas, bank.pre, bank.act) = (now + t.rcd, now + t.ras, now + t.rc);
        bank.used = now;
        let group = &mut self.groups[n >> self.to_group & 31];
        group.act = group.act.max(now + t.rrd_l);
        self.ranks[n >> self.to_rank & 3].activated(t, now);
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
        let found = scan(self.idle.banks, now, &self.ages, |n| {
            self.ready[n].max(self.ranks[n >> self.to_rank & 3].pre)
        });
        self.idle.bound = found.others;
        if found.bank != NONE {
            let bank = &mut self.banks[usize::from(found.bank) % 64];
            bank.left = bank.row;
            bank.why = 1;
            self.close(now, found.bank);
        }
    }

    /// What refreshes need; whether a command was issued.
    #[cold]
    fn refresh(&mut self, now: u64) -> bool {
        let Some(rank) = self.refresher.due(now) else { return false };
        let banks = self.refresher.begin(rank);
        for class in [&mut self.cas, &mut self.act, &mut self.pre, &mut self.idle] {
            class.remove(banks);
        }
        let latest = |mask: u64, of: fn(&Bank) -> u64| {
            (0..64).filter(|n| mask >> n & 1 == 1).map(|n| of(&self.banks[n])).max().unwrap_or(0)
        };
        let open = banks & self.open;
        if open != 0 {
            let ready = latest(open, |bank| bank.pre).max(self.ranks[rank].pre);
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
        let mut left = banks & self.store.pending[self.mode];
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
        let [reads, writes] = self.store.len;
        let mut soonest = NEVER;
        if reads > 0 {
            let access = if self.mode == READ {
                let blocked = self.refresher.blocked & self.store.pending[READ] != 0;
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
