//! Selection of the next command: classes of requests, order of commands, direction of the bus.

use super::class::Class;
use super::{Channel, MOST_RANKS};
use crate::dram::Done;
use crate::dram::bank::{READ, WRITE};
use crate::dram::clock::NEVER;
use crate::dram::queue::NONE;

/// The gate of a rank, if it is the only one and so applies to all requests.
#[inline(always)]
pub(super) const fn only<const RANKS: usize>(gate: u64) -> u64 {
    if RANKS == 1 { gate } else { 0 }
}
/// The gate of a rank, if there are several and it applies to its own requests only.
#[inline(always)]
pub(super) const fn several<const RANKS: usize>(gate: u64) -> u64 {
    if RANKS == 1 { 0 } else { gate }
}

impl Channel {
    /// Finds the next clock at which a decision is possible.
    #[inline(always)]
    pub(super) fn schedule(&mut self) {
        let banks = self.banks_next();
        let next = if self.turn.min(self.rare) <= banks { self.before(banks) } else { banks };
        self.next = next.max(self.floor).max(self.resume);
    }

    /// The next clock at which a bank with requests can have its next command.
    #[inline(always)]
    fn banks_next(&self) -> u64 {
        let (short, long) = (self.last + 1, self.last + self.t.command);
        self.cas.bound.min(self.act.bound).max(long).min(self.pre.due(short))
    }

    /// The next clock at which a decision is possible, if it is before `banks`, the clock of a bank's next command.
    #[inline(never)]
    fn before(&mut self, banks: u64) -> u64 {
        let (short, long) = (self.last + 1, self.last + self.t.command);
        self.rare = self.rarely();
        self.turn
            .min(self.refresher.at.max(short))
            .min(banks)
            .min(self.idle_bound.max(short))
            .min(self.trail_bound.max(long).min(self.trail_end))
    }

    /// Before this clock only commands for banks with requests, and turns of the bus, have to be decided.
    #[inline]
    fn rarely(&self) -> u64 {
        self.refresher.at.min(self.idle_bound).min(self.trail_bound).min(self.trail_end)
    }

    /// Decides commands before clock `end`: all of them, or those up to a decision that is not for a bank with
    /// requests.
    pub(super) fn run_on(&mut self, end: u64, out: &mut Vec<Done>) {
        match (self.mode, self.rank_count) {
            (READ, 1) => self.run_in::<READ, 1>(end, out),
            (READ, _) => self.run_in::<READ, MOST_RANKS>(end, out),
            (_, 1) => self.run_in::<WRITE, 1>(end, out),
            (_, _) => self.run_in::<WRITE, MOST_RANKS>(end, out),
        }
    }

    /// The same, with the direction and the case of a single rank known at compile time.
    #[inline(never)]
    fn run_in<const MODE: usize, const RANKS: usize>(&mut self, end: u64, out: &mut Vec<Done>) {
        let mut now = self.next;
        if self.turn.min(self.rare) <= now {
            self.decide_any(now, out);
            self.rare = self.rarely();
            return self.schedule();
        }
        while now < end {
            // only a precharge is possible earlier
            let long = self.last + self.t.command <= now;
            if !(long && self.cas.bound <= now && self.try_access::<RANKS>(MODE, now, out)) {
                let (activate, precharge) = (long && self.act.bound <= now, self.pre.bound <= now);
                if activate || precharge {
                    self.try_row::<RANKS>(MODE, now, activate, precharge);
                }
            }
            now = self.banks_next();
            if self.turn.min(self.rare) <= now {
                now = self.before(now).max(self.floor);
                break;
            }
        }
        self.next = now;
    }

    /// The same, if there may be other decisions than those for banks with requests.
    #[inline(never)]
    fn decide_any(&mut self, now: u64, out: &mut Vec<Done>) {
        if self.turn <= now {
            // a clock has one command, and can have one turn before it and one after it
            let behind = self.last == now || self.turned == now;
            self.turned = now;
            self.turn_round(now);
            if behind {
                self.resume = now + 1;
                return;
            }
        }
        if self.trail_end <= now {
            self.end_trail();
        }
        let (short, long) = (self.last + 1, self.last + self.t.command);
        if self.refresher.at.max(short) <= now && self.refresh(now) {
            return;
        }
        let mode = self.mode;
        if self.cas.due(long) <= now && self.try_access::<MOST_RANKS>(mode, now, out) {
            return;
        }
        if self.trail_bound.max(long) <= now && self.try_trail(now, out) {
            return;
        }
        let activate = self.act.due(long) <= now;
        let precharge = self.pre.due(short) <= now;
        if (activate || precharge) && self.try_row::<MOST_RANKS>(mode, now, activate, precharge) {
            return;
        }
        if self.idle_bound.max(short) <= now {
            self.try_close(now);
        }
    }

    /// Clock at which the direction changes, in the state at `clock`.
    #[inline]
    pub(super) fn turning(&self, clock: u64) -> u64 {
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

    /// Changes the direction.
    #[cold]
    fn turn_round(&mut self, now: u64) {
        let banks = self.queues[READ].pending | self.queues[WRITE].pending;
        let open = self.banks_of(self.cas.slots);
        if self.mode == READ {
            let [reads, writes] = [self.queues[READ].len, self.queues[WRITE].len];
            self.leave = match () {
                () if writes >= self.rules.high => self.rules.low,
                // the oldest has waited long enough: all are written
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
        self.trail = if self.rules.prepared { open } else { 0 };
        self.classify_all(banks, now);
        self.begin_trail(now);
    }

    /// Classifies these banks again; they include all banks with requests.
    fn classify_all(&mut self, banks: u64, now: u64) {
        (self.cas, self.act, self.pre) = (Class::NONE, Class::NONE, Class::NONE);
        let mut left = banks;
        while left != 0 {
            let bank = left.trailing_zeros() as u8;
            self.banks[usize::from(bank) % 64].pick = NONE;
            self.not_idle(1 << bank);
            self.want(bank);
            left &= left - 1;
        }
        self.turn = self.turning(now);
    }
}
