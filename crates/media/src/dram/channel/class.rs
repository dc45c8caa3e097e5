//! Requests whose banks need the same next command.

use crate::dram::clock::NEVER;

/// Requests whose banks need the same command, as slots of the queue being served, and a clock before which none of
/// them can have it; [`NEVER`] if there are none.
#[derive(Clone, Copy, Debug)]
pub(super) struct Class {
    pub slots: u64,
    pub bound: u64,
}

impl Class {
    pub const NONE: Self = Self { slots: 0, bound: NEVER };

    #[inline]
    pub fn add(&mut self, slot: u8, at: u64) {
        self.bound = self.bound.min(at);
        self.slots |= 1 << slot;
    }
    /// Removes slots, if they are in the class.
    #[inline]
    pub fn remove(&mut self, slots: u64) {
        self.slots &= !slots;
        if self.slots == 0 {
            self.bound = NEVER;
        }
    }
    /// Sets the bound: none can go before this clock. If there are few, `when` gives the clock of each.
    #[inline(always)]
    pub fn hold(&mut self, until: u64, when: impl Fn(u8) -> u64) {
        let slots = self.slots;
        if slots == 0 {
            self.bound = NEVER;
            return;
        }
        // usually there are one or two; their exact clocks save fruitless searches
        let (first, last) = (slots.trailing_zeros(), 63 - slots.leading_zeros());
        let others = slots & !(1 << first | 1 << last);
        self.bound = if others == 0 { when(first as u8).min(when(last as u8)).max(until) } else { until };
    }
    /// Earliest clock, if the command bus is free from `slot` on.
    #[inline]
    pub fn due(&self, slot: u64) -> u64 {
        self.bound.max(slot)
    }
    /// The oldest request that can go at `now`. If none can, sets the bound to the clock at which one can. None can
    /// before `shared`.
    #[inline]
    pub fn oldest(&mut self, now: u64, shared: u64, when: impl Fn(u8) -> u64) -> Option<u8> {
        let (mut left, mut soonest) = (self.slots, NEVER);
        while left != 0 {
            let slot = left.trailing_zeros() as u8;
            let at = when(slot);
            if (at <= now) & (shared <= now) {
                return Some(slot);
            }
            soonest = soonest.min(at);
            left &= left - 1;
        }
        self.bound = soonest.max(shared);
        None
    }
}
