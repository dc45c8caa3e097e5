//! The choice: which input goes next at a tick, what keeps the others from going, and how far ahead an egress may look.

use super::class_masks::{EVERY_CLASS, class_mask};
use super::egress::Egress;
use super::sentinels::NEVER;
use super::spec::CLASSES;

/// What an egress can do at a tick.
pub(super) enum Choice {
    /// Send from this input. Another one is waiting (`contended`), or will be at `until`, or when the TLPs that were
    /// eligible up to `behind` have left.
    Send { input: usize, contended: bool, until: u64, behind: u64 },
    /// Nothing before this tick.
    Wait(u64),
}

/// What keeps a TLP from going.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Obstacle {
    None,
    /// A posted TLP that came before it.
    Order,
    /// Credits or room, the next of which are known to come back at a tick, or at no known tick ([`NEVER`]).
    Until(u64),
}

impl Egress {
    /// The tick before which nothing that is still unknown can turn up, if nothing unknown happens anywhere before
    /// `soonest` and what happens is at least `distance` away.
    #[inline]
    pub(super) fn horizon(&self, soonest: u64, distance: u64, step: u64) -> u64 {
        let mut horizon = soonest.saturating_add(distance);
        if self.starved != 0 {
            let credits = soonest.saturating_add(self.credit_lookahead);
            if credits < horizon {
                horizon = horizon.min(credits.max(self.returns_known()));
            }
        }
        horizon.max(step)
    }

    #[inline]
    pub(super) fn earliest(&self) -> u64 {
        let mut rest = self.occupied;
        let mut least = NEVER;
        while rest != 0 {
            least = least.min(self.head[rest.trailing_zeros() as usize]);
            rest &= rest - 1;
        }
        least
    }

    /// Whether all posted TLPs that come next were eligible at `t` or before.
    #[inline]
    pub(super) fn posted_behind(&self, t: u64) -> bool {
        if self.occupied <= EVERY_CLASS {
            return self.occupied & 1 == 0 || self.head[0] <= t;
        }
        let mut rest = self.occupied & class_mask(0);
        while rest != 0 {
            if self.head[rest.trailing_zeros() as usize] > t {
                return false;
            }
            rest &= rest - 1;
        }
        true
    }

    /// Round robin at `t`, or the turns of weighted arbitration, over the inputs whose first TLP may go.
    #[inline(always)]
    pub(super) fn choose(&mut self, t: u64) -> Choice {
        if self.filled == 1 {
            return self.choose_only(self.occupied.trailing_zeros() as usize, t, NEVER);
        }
        let behind = self.all_behind();
        if behind != 0 { self.choose_only(0, t, behind) } else { self.choose_among(t) }
    }

    /// If all that waits here is one ingress' posted TLPs and what has to let them go first: when the first of the
    /// others was eligible; else 0.
    #[inline]
    fn all_behind(&self) -> u64 {
        if self.occupied > EVERY_CLASS || self.occupied & 1 == 0 {
            return 0;
        }
        let other = self.head[1].min(self.head[2]);
        let relaxed = self.inputs[2].front().is_some_and(|segment| segment.relaxed);
        if self.head[0] > other || relaxed { 0 } else { other }
    }

    /// The same with several inputs that hold anything.
    #[inline]
    fn choose_among(&mut self, t: u64) -> Choice {
        if self.turns.is_some() {
            return self.choose_weighted(t);
        }
        let ahead = self.occupied & (u128::MAX << self.pointer);
        let mut winner = None;
        let (mut contended, mut until) = (false, NEVER);
        for mut part in [ahead, self.occupied & !ahead] {
            while part != 0 {
                let input = part.trailing_zeros() as usize;
                part &= part - 1;
                let head = self.head[input];
                if self.is_kept_back(input) {
                    // the posted TLPs that keep it back compete instead
                } else if head > t {
                    until = until.min(head);
                } else if winner.is_some() {
                    contended = true;
                } else {
                    match self.obstacle(input, t) {
                        Obstacle::None => winner = Some(input),
                        Obstacle::Order => contended = true,
                        Obstacle::Until(known) => {
                            contended = true;
                            until = until.min(known);
                        }
                    }
                }
            }
        }
        match winner {
            Some(input) => Choice::Send { input, contended, until, behind: self.kept_back_until(input) },
            None => Choice::Wait(until),
        }
    }

    /// Whether the first TLP of an input has to let a posted one of its ingress go first, now and when it is eligible.
    #[inline]
    fn is_kept_back(&self, input: usize) -> bool {
        let class = input % CLASSES;
        class != 0
            && self.head[input - class] <= self.head[input]
            && self.inputs[input].front().is_some_and(|segment| !segment.relaxed)
    }

    /// When the first TLP became eligible that waits only for the posted ones of an input, which came before it: those
    /// that came later compete with it.
    #[inline]
    fn kept_back_until(&self, input: usize) -> u64 {
        let kept_back = |other: &usize| self.is_kept_back(*other);
        if input.is_multiple_of(CLASSES) {
            (input + 1..input + CLASSES)
                .filter(kept_back)
                .map(|other| self.head[other])
                .min()
                .unwrap_or(NEVER)
        } else {
            NEVER
        }
    }

    /// The same with one input that can go, until the TLPs that were eligible up to `behind` have left.
    #[inline]
    fn choose_only(&mut self, input: usize, t: u64, behind: u64) -> Choice {
        let head = self.head[input];
        if head > t {
            return Choice::Wait(head);
        }
        match self.obstacle(input, t) {
            Obstacle::None => Choice::Send { input, contended: false, until: NEVER, behind },
            Obstacle::Order => Choice::Wait(NEVER),
            Obstacle::Until(known) => Choice::Wait(known),
        }
    }

    /// When the wire is free again: if only one input holds anything, and its next TLP has no credits in hand, nothing
    /// can go before the tick at which the next are known to come back.
    #[inline]
    pub(super) fn without_credits_until(&mut self) -> Option<u64> {
        if self.filled != 1 {
            return None;
        }
        let input = self.occupied.trailing_zeros() as usize;
        let (class, t) = (input % CLASSES, self.link_free.max(self.head[input]));
        let units = self.inputs[input].front().map_or(0, |segment| i64::from(segment.units));
        if !self.finite[class] || (self.header_credits[class] >= 1 && self.data_credits[class] >= units) {
            return None;
        }
        let known = self.next_credit(class);
        if known <= t {
            return None;
        }
        self.starved |= 1 << class;
        Some(known)
    }

    /// What keeps the first TLP of `input` from going at `t`.
    #[inline]
    pub(super) fn obstacle(&mut self, input: usize, t: u64) -> Obstacle {
        let class = input % CLASSES;
        let Some(&super::egress::Segment { bytes, units, relaxed, .. }) = self.inputs[input].front() else {
            return Obstacle::Order;
        };
        if class != 0 && !relaxed && self.head[input - class] <= self.head[input] {
            return Obstacle::Order;
        }
        if self.finite[class] && !self.has_credits(class, units, t) {
            self.starved |= 1 << class;
            return Obstacle::Until(self.next_credit(class));
        }
        if self.replay_finite && !self.has_room(bytes, t) {
            return Obstacle::Until(self.replay_returns.next());
        }
        Obstacle::None
    }
}
