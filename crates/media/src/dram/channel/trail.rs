//! Use of open rows while the direction of the bus changes.
//!
//! When the direction changes, rows have to be opened for the new one, and the data bus would be idle until the first
//! is open. With `Turn::Prepared`, requests of the previous direction whose rows are open continue meanwhile: row
//! commands already serve the new direction, the data bus does not yet. This ends before it could delay the first
//! access of the new direction:
//!
//! ```text
//!   turn          end          first access
//!   ──┼── RD RD RD ┼─ gap of the bus ─┼ WR WR …     data
//!     ┼ ACT ACT ACT ...                              rows
//!     ├── tRCD, or tRP + tRCD ────────┤
//! ```

use super::{Channel, MOST_RANKS};
use crate::dram::Done;
use crate::dram::bank::WRITE;
use crate::dram::clock::NEVER;

impl Channel {
    /// The banks of requests in these slots, in the direction being served.
    pub(super) fn banks_of(&self, slots: u64) -> u64 {
        let queue = &self.queues[self.mode];
        (0..64).filter(|slot| slots >> slot & 1 == 1).fold(0, |banks, slot| banks | 1 << queue.get(slot).bank)
    }

    /// After a change of direction: decides how long rows that were open for the previous direction are used.
    pub(super) fn begin_trail(&mut self, now: u64) {
        self.trail &= !self.refresher.blocked;
        self.not_trailing(0);
        if self.trail == 0 {
            return;
        }
        let t = &self.t;
        let (short, long) = (now.max(self.last + 1), now.max(self.last + t.command));
        let first = (self.cas.due(long))
            .min(self.act.due(long).saturating_add(t.rcd))
            .min(self.pre.due(short).saturating_add(t.rp + t.rcd))
            .min(short + t.rp + t.rcd);
        self.trail_bound = now;
        // the last clock at which the bus can still turn in time
        self.trail_end = (first + 1).saturating_sub(self.gates.between(1 - self.mode));
        if self.trail_end <= now {
            self.end_trail();
        }
    }

    /// Releases all banks for the direction being served.
    pub(super) fn end_trail(&mut self) {
        let mut left = self.trail;
        self.not_trailing(left);
        while left != 0 {
            self.classify(left.trailing_zeros() as u8);
            left &= left - 1;
        }
    }

    /// Removes banks from those used in the previous direction.
    pub(super) fn not_trailing(&mut self, banks: u64) {
        self.trail &= !banks;
        if self.trail == 0 {
            (self.trail_bound, self.trail_end) = (NEVER, NEVER);
        }
    }

    /// The request of the previous direction for which a bank's open row is used.
    fn trailing(&self, at_bank: u8) -> Option<u8> {
        let (bank, queue) = (&self.banks[usize::from(at_bank) % 64], &self.queues[1 - self.mode]);
        let hit = queue.find(at_bank, bank.row)?;
        (Some(hit) == queue.first(at_bank) || bank.passed < self.rules.passes).then_some(hit)
    }

    /// Reads or writes an open row in the previous direction, for the oldest request that can go.
    pub(super) fn try_trail(&mut self, now: u64, out: &mut Vec<Done>) -> bool {
        let direction = 1 - self.mode;
        let (mut left, mut soonest, mut oldest) = (self.trail, NEVER, None);
        while left != 0 {
            let at_bank = left.trailing_zeros() as u8;
            let n = usize::from(at_bank) % 64;
            let gates = self.groups[n >> self.to_group & 31].cas[direction]
                .max(self.ranks[n >> self.to_rank & 3].cas[direction]);
            let at = self.banks[n].cas.max(gates);
            if at > now {
                soonest = soonest.min(at);
            } else if let Some(slot) = self.trailing(at_bank)
                && oldest.is_none_or(|(older, _)| slot < older)
            {
                oldest = Some((slot, at_bank));
            }
            left &= left - 1;
        }
        let Some((slot, at_bank)) = oldest else {
            self.trail_bound = soonest;
            return false;
        };
        self.transfer::<MOST_RANKS>(now, direction, slot, out);
        if direction == WRITE {
            self.oldest_write = self.queues[WRITE].oldest().unwrap_or(NEVER);
        }
        if self.trailing(at_bank).is_none() {
            self.not_trailing(1 << at_bank);
            self.classify(at_bank);
        }
        self.fill(now, direction, out);
        true
    }
}
