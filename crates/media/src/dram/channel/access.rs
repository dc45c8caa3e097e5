//! Reads and writes of open rows.

use super::Channel;
use super::decision::{only, several};
use crate::dram::bank::{CLOSED, READ};
use crate::dram::clock::NEVER;
use crate::dram::queue::NONE;
use crate::dram::{Before, CommandKind, Done};

impl Channel {
    /// Reads or writes an open row, for the oldest request that may.
    #[inline(always)]
    pub(super) fn try_access<const RANKS: usize>(
        &mut self,
        mode: usize,
        now: u64,
        out: &mut Vec<Done>,
    ) -> bool {
        let (mut cas, rank) = (self.cas, only::<RANKS>(self.ranks[0].cas[mode]));
        let found = cas.oldest(now, rank, |slot| self.access_at::<RANKS>(mode, slot));
        self.cas = cas;
        let Some(slot) = found else { return false };
        let at_bank = self.queues[mode].get(slot).bank;
        self.transfer::<RANKS>(now, mode, slot, out);
        let mut cas = self.cas;
        cas.slots &= !(1 << slot);
        let rank = only::<RANKS>(self.ranks[0].cas[mode]);
        cas.hold(rank.max(now + self.t.burst), |slot| self.access_at::<RANKS>(mode, slot));
        self.cas = cas;
        self.banks[usize::from(at_bank) % 64].pick = NONE;
        if self.queues[mode].pending >> at_bank & 1 == 1 || self.rules.patience.is_some() {
            self.want(at_bank);
        }
        self.fill(now, mode, out);
        true
    }

    /// Clock at which the request in a slot can access the open row of its bank.
    #[inline(always)]
    fn access_at<const RANKS: usize>(&self, mode: usize, slot: u8) -> u64 {
        let entry = self.queues[mode].get(slot);
        let (_, group, rank) = entry.indices::<RANKS>();
        entry.ready.max(self.groups[group].cas[mode]).max(several::<RANKS>(self.ranks[rank].cas[mode]))
    }

    /// Reads or writes the open row of a bank.
    #[inline(always)]
    pub(super) fn transfer<const RANKS: usize>(
        &mut self,
        now: u64,
        direction: usize,
        slot: u8,
        out: &mut Vec<Done>,
    ) {
        let first = now + self.gates.data[direction] - self.t.burst;
        if self.bursts.is_gap(first) {
            self.bursts.lose(self.due(direction), first);
        }
        let t = &self.t;
        let queue = &mut self.queues[direction];
        let (entry, passes) = queue.take(slot);
        let at_bank = entry.bank;
        let (n, group, rank) = entry.indices::<RANKS>();
        let bank = &mut self.banks[n];
        bank.passed += u32::from(passes);
        self.counters.rows[usize::from(bank.why)] += 1;
        bank.why = 0;
        bank.used = now;
        // `bank.cas`, the first clock of an access to the row, is tRCD after its activate
        let before = Before::a_read(now, bank.cas - t.rcd, bank.closed);
        bank.pre = bank.pre.max(now + self.gates.precharge[direction]);
        let close = self.rules.closed && queue.find(at_bank, bank.row).is_none();
        if close {
            bank.act = bank.act.max(bank.pre + t.rp);
            bank.row = CLOSED;
            bank.why = 1;
            self.counters.precharges += 1;
        }
        let ranks = &mut self.ranks[..if RANKS == 1 { 1 } else { self.rank_count }];
        self.gates.accessed(ranks, &mut self.groups[group], rank, direction, now);
        self.counters.accesses[direction] += 1;
        let end = now + self.gates.data[direction];
        self.bursts.begin(&self.t, first, self.floor.saturating_sub(self.keep_history));
        let kind = || match (direction, close) {
            (READ, false) => CommandKind::Read,
            (READ, true) => CommandKind::ReadClose,
            (_, false) => CommandKind::Write,
            (_, true) => CommandKind::WriteClose,
        };
        self.issued(now, || (kind(), 1 << at_bank, entry.row));
        if direction == READ {
            out.push(Done { token: entry.token, at: self.t.clock.instant(end), before });
            if self.queues[READ].len == 0 {
                self.reads_ended = now;
            }
        } else if !self.rules.queued {
            self.answer(entry.token, end, out);
        }
    }

    /// The first clock at which data of a waiting request could be on the bus if nothing had held it up, even if a row
    /// is closed for it and another opened. Writes wait on purpose until the bus turns to them; reads never do.
    #[inline(never)]
    fn due(&self, direction: usize) -> u64 {
        let t = &self.t;
        let open = t.command + t.rp + t.rcd;
        let read = self.queues[READ].oldest().map_or(NEVER, |at| at + open + t.cl);
        if direction == READ {
            return read;
        }
        let since = |at: u64| at.max(self.turned).saturating_add(open + t.cwl);
        self.queues[direction].oldest().map_or(read, |at| read.min(since(at)))
    }

    /// Moves waiting requests into queue places that have become free; their answers can be known one clock later.
    #[inline(always)]
    pub(super) fn fill(&mut self, now: u64, direction: usize, out: &mut Vec<Done>) {
        if !self.overflow[direction].is_empty() {
            self.let_in(now, direction, out);
        }
        self.turn = self.turning(now);
    }

    /// Moves waiting requests into the queue while it has places.
    #[inline(never)]
    fn let_in(&mut self, now: u64, direction: usize, out: &mut Vec<Done>) {
        while self.queues[direction].len < self.rules.places[direction]
            && let Some(next) = self.overflow[direction].pop_front()
        {
            self.enter(now, direction, next, Some(now + 1), out);
        }
    }
}
