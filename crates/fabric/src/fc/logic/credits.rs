//! Buffer-to-buffer credits (BB_Credit): a frame takes one, the R_RDY that its receiver sends gives it back.
//!
//! A credit is known by the time from which it can be used. That can lie ahead: the receiver of a frame often knows
//! when it will have sent R_RDY before the frame is there.
//!
//! ```
//! use lanetwin_fabric::fc::logic::credits::Credits;
//! use lanetwin_units::Ticks;
//! let mut credits = Credits::new(1);
//! assert_eq!(credits.earliest(), Some(Ticks(0)));
//! credits.take(Ticks(10));
//! assert_eq!(credits.earliest(), None);
//! credits.give(Ticks(25));
//! assert_eq!(credits.earliest(), Some(Ticks(25)));
//! ```

use core::cmp::Reverse;
use lanetwin_units::Ticks;
use std::collections::{BinaryHeap, VecDeque};

/// The credits that a transmitter has.
#[derive(Clone, Debug)]
pub struct Credits {
    total: u32,
    /// Times from which the credits that are free, or known to come back, can be used.
    known: BinaryHeap<Reverse<Ticks>>,
    /// How long the credits taken so far had been unused before: an integral \[credits · ticks\].
    unused: u128,
    /// Credits taken at a time that may still lie ahead, not counted yet: from when to when each was unused.
    ahead: VecDeque<(Ticks, Ticks)>,
}

impl Credits {
    /// `total` credits, all in hand.
    #[must_use]
    pub fn new(total: u32) -> Self {
        Self {
            total,
            known: (0..total).map(|_| Reverse(Ticks(0))).collect(),
            unused: 0,
            ahead: VecDeque::new(),
        }
    }
    /// Number of credits.
    #[must_use]
    pub const fn total(&self) -> u32 {
        self.total
    }
    /// The time from which a frame can have a credit; `None` if that is not known.
    #[must_use]
    pub fn earliest(&self) -> Option<Ticks> {
        self.known.peek().map(|&Reverse(at)| at)
    }
    /// A frame that starts at `at` takes the earliest credit.
    ///
    /// # Panics
    /// If no credit can be used then.
    pub fn take(&mut self, at: Ticks) {
        let Reverse(from) = self.known.pop().expect("a frame that starts has a credit");
        assert!(from <= at, "a frame takes a credit that can be used");
        self.ahead.push_back((from, at));
    }
    /// Counts the credits taken up to `now`, the present.
    pub fn settle(&mut self, now: Ticks) {
        while let Some(&(from, at)) = self.ahead.front()
            && at <= now
        {
            self.unused += u128::from(at.0 - from.0);
            self.ahead.pop_front();
        }
    }
    /// A credit can be used again from `at`.
    ///
    /// # Panics
    /// If none was taken.
    pub fn give(&mut self, at: Ticks) {
        assert!(self.known.len() < self.total as usize, "what comes back was taken");
        self.known.push(Reverse(at));
    }
    /// How many credits were in use, integrated up to `now`, which must not be before any earlier `now`
    /// \[credits · ticks\].
    #[must_use]
    pub fn used(&self, now: Ticks) -> u128 {
        let past = |from: Ticks, to: Ticks| u128::from(to.0.min(now.0).saturating_sub(from.0));
        let known = self.known.iter().map(|&Reverse(from)| past(from, now)).sum::<u128>();
        let ahead = self.ahead.iter().map(|&(from, at)| past(from, at)).sum::<u128>();
        u128::from(self.total) * u128::from(now.0) - self.unused - ahead - known
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Against a list of all uses: never more out than there are, and the integral is their sum, cut at every
        /// instant.
        #[test]
        fn credits_are_conserved(
            total in 1_u32..5,
            steps in prop::collection::vec((0_u64..20, 1_u64..30, 0_u64..40), 1..60),
        ) {
            let mut credits = Credits::new(total);
            let (mut last, mut present, mut uses) = (0, 0, Vec::new());
            for (gap, use_for, lead) in steps {
                let at = (last + gap).max(credits.earliest().unwrap().0);
                // the present is up to `lead` before the use that is already decided
                present = at.saturating_sub(lead).max(present);
                credits.settle(Ticks(present));
                credits.take(Ticks(at));
                credits.give(Ticks(at + use_for));
                uses.push((at, at + use_for));
                last = at;
                for now in present..=at + gap {
                    let out = uses.iter().filter(|(from, to)| *from <= now && now < *to).count();
                    prop_assert!(out <= total as usize);
                    let sum: u64 = uses.iter().map(|(from, to)| (*to).min(now).saturating_sub(*from)).sum();
                    prop_assert_eq!(credits.used(Ticks(now)), u128::from(sum));
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "what comes back was taken")]
    fn a_credit_from_nowhere_is_refused() {
        Credits::new(3).give(Ticks(0));
    }
}
