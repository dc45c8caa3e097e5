//! Commands for refreshes.

use super::Channel;
use crate::dram::CommandKind;
use crate::dram::bank::{Bank, CLOSED};

impl Channel {
    /// Does the next step of due refreshes. Returns whether a command was issued.
    #[cold]
    pub(super) fn refresh(&mut self, now: u64) -> bool {
        while let Some(rank) = self.refresher.due(now) {
            if self.refresh_rank(now, rank) {
                return true;
            }
        }
        false
    }

    /// Does the next step of the refresh of a rank. Returns whether a command was issued; if not, nothing can be done
    /// now.
    fn refresh_rank(&mut self, now: u64, rank: usize) -> bool {
        let banks = self.refresher.begin(rank);
        let mut taken = banks & self.queues[self.mode].pending;
        self.not_idle(banks);
        self.not_trailing(banks);
        while taken != 0 {
            self.classify(taken.trailing_zeros() as u8);
            taken &= taken - 1;
        }
        let latest = |mask: u64, of: fn(&Bank) -> u64| {
            (0..64).filter(|n| mask >> n & 1 == 1).map(|n| of(&self.banks[n])).max().unwrap_or(0)
        };
        let is_open = |n: &u64| banks >> n & 1 == 1 && self.banks[*n as usize].row != CLOSED;
        let open: u64 = (0..64).filter(is_open).fold(0, |open, n| open | 1 << n);
        if open != 0 {
            // the command applies to all of them, also to banks that are about to be closed automatically
            let ready = latest(banks, |bank| bank.pre).max(self.ranks[rank].pre);
            if ready > now {
                self.refresher.wait(rank, ready);
                return false;
            }
            for n in (0..64).filter(|n| open >> n & 1 == 1) {
                let bank = &mut self.banks[n];
                bank.act = bank.act.max(now + self.t.rp);
                (bank.row, bank.closed, bank.why) = (CLOSED, now, 1);
            }
            self.ranks[rank].pre = now + self.t.ppd;
            self.counters.precharges += 1;
            self.issued(now, || (CommandKind::PrechargeAll, banks, 0));
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
        self.issued(now, || (CommandKind::Refresh, banks, 0));
        self.refresher.end(rank);
        let mut left = banks & self.queues[self.mode].pending;
        while left != 0 {
            self.classify(left.trailing_zeros() as u8);
            left &= left - 1;
        }
        true
    }
}
