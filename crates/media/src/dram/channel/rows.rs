//! Rows: classification of banks by their next command, activates and precharges.

use super::Channel;
use super::decision::{only, several};
use crate::dram::CommandKind;
use crate::dram::bank::CLOSED;
use crate::dram::clock::NEVER;
use crate::dram::queue::{Entry, NONE};

impl Channel {
    /// Classifies a bank again.
    pub(super) fn classify(&mut self, at_bank: u8) {
        let bank = &mut self.banks[usize::from(at_bank) % 64];
        let old = u64::from(bank.pick != NONE) << (bank.pick & 63);
        bank.pick = NONE;
        self.cas.remove(old);
        self.act.remove(old);
        self.pre.remove(old);
        self.not_idle(1 << at_bank);
        self.want(at_bank);
    }

    /// Removes banks from those with an unused open row.
    #[inline]
    pub(super) fn not_idle(&mut self, banks: u64) {
        self.idle &= !banks;
        if self.idle == 0 {
            self.idle_bound = NEVER;
        }
    }

    /// Classifies a bank that is in no class.
    #[inline(always)]
    pub(super) fn want(&mut self, at_bank: u8) {
        let n = usize::from(at_bank) % 64;
        let bank = &mut self.banks[n];
        if (self.refresher.blocked | self.trail) >> at_bank & 1 == 1 {
            return;
        }
        let queue = &mut self.queues[self.mode];
        let Some(head) = queue.first(at_bank) else {
            if bank.row != CLOSED && self.rules.patience.is_some() {
                self.idle |= 1 << at_bank;
                self.idle_bound = self.idle_bound.min(bank.unused());
                self.rare = self.rare.min(self.idle_bound);
            }
            return;
        };
        let group = &self.groups[n >> self.to_group & 31];
        let rank = &self.ranks[n >> self.to_rank & 3];
        if bank.row == CLOSED {
            bank.pick = head;
            queue.set_ready(head, bank.act);
            self.act.add(head, bank.act.max(group.act).max(rank.act));
            return;
        }
        let hit = queue.find(at_bank, bank.row);
        match hit.filter(|hit| *hit == head || bank.passed < self.rules.passes) {
            Some(hit) => {
                bank.pick = hit;
                queue.set_ready(hit, bank.cas);
                self.cas.add(hit, bank.cas.max(group.cas[self.mode]).max(rank.cas[self.mode]));
            }
            None => {
                bank.pick = head;
                queue.set_ready(head, bank.pre);
                self.pre.add(head, bank.pre.max(rank.pre));
            }
        }
    }

    /// Activates or precharges, for the oldest request that can go.
    #[inline(always)]
    pub(super) fn try_row<const RANKS: usize>(
        &mut self,
        mode: usize,
        now: u64,
        activate: bool,
        precharge: bool,
    ) -> bool {
        let (mut open, mut shut) = (None, None);
        if activate {
            let mut act = self.act;
            open = act
                .oldest(now, only::<RANKS>(self.ranks[0].act), |slot| self.activate_at::<RANKS>(mode, slot));
            self.act = act;
        }
        if precharge {
            let mut pre = self.pre;
            shut = pre
                .oldest(now, only::<RANKS>(self.ranks[0].pre), |slot| self.precharge_at::<RANKS>(mode, slot));
            self.pre = pre;
        }
        // slots are in the order of arrival
        match (open, shut) {
            (Some(slot), None) => self.activate::<RANKS>(mode, now, slot),
            (Some(slot), Some(other)) if slot < other => self.activate::<RANKS>(mode, now, slot),
            (_, Some(slot)) => {
                let entry = self.queues[mode].get(slot);
                let (at_bank, (n, group, rank)) = (entry.bank, entry.indices::<RANKS>());
                let bank = &mut self.banks[n];
                bank.why = 2;
                if let Some(first) = self.rules.patience {
                    bank.patience = (bank.patience / 2).max(first / 8);
                }
                self.close(now, at_bank, rank);
                // it was the oldest request of its bank, for which the row is opened
                let mut pre = self.pre;
                pre.slots &= !(1 << slot);
                let gate = only::<RANKS>(self.ranks[0].pre);
                pre.hold(gate.max(now + 1), |slot| self.precharge_at::<RANKS>(mode, slot));
                self.pre = pre;
                let ready = self.banks[n].act;
                self.queues[mode].set_ready(slot, ready);
                self.act.add(slot, ready.max(self.groups[group].act).max(self.ranks[rank].act));
            }
            (None, None) => return false,
        }
        true
    }

    /// Clock at which the bank of the request in a slot can be activated.
    #[inline(always)]
    fn activate_at<const RANKS: usize>(&self, mode: usize, slot: u8) -> u64 {
        let entry = self.queues[mode].get(slot);
        let (_, group, rank) = entry.indices::<RANKS>();
        entry.ready.max(self.groups[group].act).max(several::<RANKS>(self.ranks[rank].act))
    }

    /// Clock at which the bank of the request in a slot can be precharged.
    #[inline(always)]
    fn precharge_at<const RANKS: usize>(&self, mode: usize, slot: u8) -> u64 {
        let entry = self.queues[mode].get(slot);
        let (_, _, rank) = entry.indices::<RANKS>();
        entry.ready.max(several::<RANKS>(self.ranks[rank].pre))
    }

    #[inline(always)]
    fn activate<const RANKS: usize>(&mut self, mode: usize, now: u64, slot: u8) {
        let entry = self.queues[mode].get(slot);
        let (Entry { bank: at_bank, row, .. }, (n, group, rank)) = (*entry, entry.indices::<RANKS>());
        let t = &self.t;
        let bank = &mut self.banks[n];
        if bank.left == row {
            let first = self.rules.patience.unwrap_or(NEVER);
            bank.patience = bank.patience.saturating_mul(2).min(first.saturating_mul(8));
        }
        (bank.left, bank.row, bank.passed) = (CLOSED, row, 0);
        (bank.cas, bank.pre, bank.act) = (now + t.rcd, now + t.ras, now + t.rc);
        bank.used = now;
        let group = &mut self.groups[group];
        group.act = group.act.max(now + t.rrd_l);
        let rank = &mut self.ranks[rank];
        rank.activated(t, now);
        // the row is that of the bank's oldest request, which is read or written next
        let until = if RANKS == 1 || self.rank_count == 1 { rank.act } else { now + t.command };
        self.queues[mode].set_ready(slot, bank.cas);
        self.cas.add(slot, bank.cas.max(group.cas[mode]).max(rank.cas[mode]));
        let mut act = self.act;
        act.slots &= !(1 << slot);
        act.hold(until, |slot| self.activate_at::<RANKS>(mode, slot));
        self.act = act;
        self.counters.activates += 1;
        self.issued(now, || (CommandKind::Activate, 1 << at_bank, row));
    }

    /// Closes the row of a bank of a rank.
    #[inline(always)]
    fn close(&mut self, now: u64, at_bank: u8, rank: usize) {
        let n = usize::from(at_bank) % 64;
        let bank = &mut self.banks[n];
        bank.act = bank.act.max(now + self.t.rp);
        (bank.row, bank.closed) = (CLOSED, now);
        self.ranks[rank].pre = now + self.t.ppd;
        self.counters.precharges += 1;
        self.issued(now, || (CommandKind::Precharge, 1 << at_bank, 0));
    }

    /// Closes a row that has been unused for long enough.
    #[cold]
    pub(super) fn try_close(&mut self, now: u64) {
        let (mut left, mut soonest, mut first) = (self.idle, NEVER, None);
        while left != 0 {
            let n = left.trailing_zeros() as usize;
            let at = self.banks[n].unused().max(self.ranks[n >> self.to_rank & 3].pre);
            if at <= now && first.is_none() {
                first = Some(n);
            } else {
                soonest = soonest.min(at);
            }
            left &= left - 1;
        }
        self.idle_bound = soonest;
        if let Some(n) = first {
            self.not_idle(1 << n);
            let bank = &mut self.banks[n];
            bank.left = bank.row;
            bank.why = 1;
            self.close(now, n as u8, n >> self.to_rank & 3);
        }
    }
}
