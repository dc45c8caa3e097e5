//! Looking ahead at a turn of the bus: rows for the direction that is served next.
//!
//! Close to a turn, a bank that nobody wants who is being served is prepared for the oldest request of the other direction: its row is closed and
//! the other opened. Such commands come behind all that the direction being served can have. How close is what a precharge and an activate
//! take, counted in bursts: with more, banks would be taken from reads that still come; with less, the bus would wait.

use super::{Channel, NEVER};
use crate::dram::bank::{CLOSED, READ, WRITE};

impl Channel {
    /// Whether the direction is about to change.
    #[inline]
    pub(super) const fn is_near(&self) -> bool {
        let ahead = self.rules.ahead;
        if ahead == 0 {
            return false;
        }
        let [reads, writes] = [self.queues[READ].len, self.queues[WRITE].len];
        if self.mode == READ {
            writes > 0 && writes + ahead >= self.rules.high
        } else {
            reads > 0 && writes <= self.leave.saturating_add(ahead)
        }
    }

    /// The direction is about to change now, or no longer.
    #[cold]
    pub(super) fn near_changes(&mut self) {
        self.near = !self.near;
        let mut left = self.queues[1 - self.mode].pending & !self.queues[self.mode].pending;
        while left != 0 {
            self.classify(left.trailing_zeros() as u8);
            left &= left - 1;
        }
    }

    /// These banks need not be prepared.
    #[inline]
    pub(super) fn not_ahead(&mut self, banks: u64) {
        self.ahead &= !banks;
        if self.ahead == 0 {
            self.ahead_bound = NEVER;
        }
    }

    /// What a bank wants that only the other direction has requests for.
    pub(super) fn want_ahead(&mut self, at_bank: u8) {
        let n = usize::from(at_bank) % 64;
        let (bank, queue) = (&self.banks[n], &self.queues[1 - self.mode]);
        let at = if bank.row == CLOSED {
            bank.act
        } else {
            let hit = queue.find(at_bank, bank.row);
            if hit.is_some() && (hit == queue.first(at_bank) || bank.passed < self.rules.passes) {
                return;
            }
            bank.pre
        };
        self.ready[n] = at;
        self.ahead |= 1 << at_bank;
        self.ahead_bound = self.ahead_bound.min(at);
    }

    /// Prepares a bank, for the oldest request of the other direction that it can be done for; whether a command was issued.
    pub(super) fn try_ahead(&mut self, now: u64) -> bool {
        let (short, long) = (self.last + 1, self.last + self.t.command);
        let (mut left, mut soonest, mut oldest) = (self.ahead, NEVER, None);
        while left != 0 {
            let at_bank = left.trailing_zeros() as u8;
            let n = usize::from(at_bank) % 64;
            let rank = &self.ranks[n >> self.to_rank & 3];
            let at = self.ready[n].max(if self.banks[n].row == CLOSED {
                self.groups[n >> self.to_group & 31].act.max(rank.act).max(long)
            } else {
                rank.pre.max(short)
            });
            if at > now {
                soonest = soonest.min(at);
            } else if let Some(slot) = self.queues[1 - self.mode].first(at_bank)
                && oldest.is_none_or(|(older, _)| slot < older)
            {
                oldest = Some((slot, at_bank));
            }
            left &= left - 1;
        }
        let Some((slot, at_bank)) = oldest else {
            self.ahead_bound = soonest;
            return false;
        };
        self.not_ahead(1 << at_bank);
        if self.banks[usize::from(at_bank) % 64].row == CLOSED {
            let row = self.queues[1 - self.mode].get(slot).row;
            self.open_row(now, at_bank, row);
        } else {
            self.close_for_another(now, at_bank);
        }
        self.want(at_bank);
        true
    }
}
