//! Arbitration at a tick: the input that sends next, obstacles of the others, and how far ahead an egress may decide.

use super::class_masks::{EVERY_CLASS, class_mask};
use super::egress::Egress;
use super::sentinels::NEVER;
use super::spec::CLASSES;

/// The decision of an egress at a tick.
pub(super) enum Choice {
    /// Send from this input. Another input competes now (`contended`), or will at `until`, or when the TLPs that were
    /// eligible up to `behind` have left.
    Send { input: usize, contended: bool, until: u64, behind: u64 },
    /// Nothing can be sent before this tick.
    Wait(u64),
}

/// What prevents a TLP from being sent.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Obstacle {
    None,
    /// An earlier posted TLP.
    Order,
    /// Missing credits or replay buffer room; the next of them are known to return at a tick, or at no known tick
    /// ([`NEVER`]).
    Until(u64),
}

impl Egress {
    /// The tick before which no unknown event can affect this egress, if unknown events happen no earlier than
    /// `soonest` and at least `distance` away.
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

    /// Whether the next posted TLPs of all inputs were eligible at `t` or before.
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

    /// Arbitrates at `t`, round robin or weighted, among the inputs whose first TLP may be sent.
    #[inline(always)]
    pub(super) fn choose(&mut self, t: u64) -> Choice {
        if self.filled == 1 {
            return self.choose_only(self.occupied.trailing_zeros() as usize, t, NEVER);
        }
        let behind = self.all_behind();
        if behind != 0 { self.choose_only(0, t, behind) } else { self.choose_among(t) }
    }

    /// If only one ingress has TLPs here, and its others wait for its posted ones: when the first of the others was
    /// eligible. Otherwise 0.
    #[inline]
    fn all_behind(&self) -> u64 {
        if self.occupied > EVERY_CLASS || self.occupied & 1 == 0 {
            return 0;
        }
        let other = self.head[1].min(self.head[2]);
        let relaxed = self.inputs[2].front().is_some_and(|segment| segment.relaxed);
        if self.head[0] > other || relaxed { 0 } else { other }
    }

    /// The same with TLPs in several inputs.
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
                    // the earlier posted TLPs compete in its place
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

    /// Whether the first TLP of an input has to wait for an earlier posted one of its ingress, when it is eligible.
    #[inline]
    fn is_kept_back(&self, input: usize) -> bool {
        let class = input % CLASSES;
        class != 0
            && self.head[input - class] <= self.head[input]
            && self.inputs[input].front().is_some_and(|segment| !segment.relaxed)
    }

    /// When the first of the TLPs became eligible that only wait for earlier posted ones of this input. Posted TLPs
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

    /// The same with one input that can send, until the TLPs that were eligible up to `behind` have left.
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

    /// After the wire has become free: if only one input holds TLPs and the next lacks credits, the tick at which the
    /// next credits are known to return.
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

    /// The obstacle of the first TLP of `input` at `t`.
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
