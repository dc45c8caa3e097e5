//! Direct links: a special pump for an egress from one device to another, while only one of its inputs holds TLPs. It
//! decides like `pump.rs` and `commit.rs`, without the steps for a second input, a switch or errors.
//!
//! ```text
//!   device ─ submit ─► [ input ] ═wire═► deliver ─► device        nobody upstream, nobody behind, nobody beside
//! ```

use super::egress::{Egress, Segment, Sink};
use super::fabric::Domain;
use super::run::{Bounds, Run};
use super::sentinels::{NEVER, NO_EGRESS};
use super::spec::{DllpMode, Environment};

impl<U: Copy> Domain<U> {
    /// Lets a direct egress decide from `t` on, like [`Domain::pump`]. Returns the tick at which to continue when
    /// several inputs hold TLPs, or `None` if nothing is left to do.
    #[inline]
    pub(super) fn pump_direct(
        &mut self,
        own: &mut Egress,
        mut t: u64,
        (step, end): (u64, u64),
        env: &mut impl Environment<U>,
    ) -> Option<u64> {
        while own.filled == 1 {
            let class = (own.occupied as u64).trailing_zeros() as usize;
            let segment = *own.inputs[class].front()?;
            t = t.max(segment.eligible);
            let (distance, held) =
                own.direct_distance(class, segment.eligible, self.soonest, self.strictly_ordered);
            let horizon = self.soonest.saturating_add(distance).max(step).min(end);
            if t >= horizon {
                own.ask_wake(t, &mut self.soonest, env);
                return None;
            }
            if self.pay_overhead(own, t, env) {
                t = own.link_free;
                continue;
            }
            match own.blocked_until(class, &segment, t) {
                None => {}
                Some(NEVER) => return None,
                Some(later) => {
                    t = later;
                    continue;
                }
            }
            let bounds = own.direct_bounds(&segment, t, (self.soonest, horizon), (distance, held));
            self.send_direct(own, class, segment, t, bounds, env);
            t = own.link_free;
            if own.filled == 1 && own.finite[class] {
                match own.without_credits_until() {
                    None => {}
                    Some(NEVER) => return None,
                    Some(credit) => t = credit,
                }
            }
        }
        (own.filled != 0).then_some(t)
    }

    /// Sends a run of the first TLPs of a class on a direct egress, not TLP by TLP, like [`Domain::send`].
    #[inline(always)]
    pub(super) fn send_direct(
        &mut self,
        own: &mut Egress,
        class: usize,
        segment: Segment,
        t: u64,
        bounds: Bounds,
        env: &mut impl Environment<U>,
    ) {
        let ser = own.serialiser.ticks(u64::from(segment.bytes));
        let mut run = Run { start: t, spacing: ser, count: 1, duration: ser };
        if segment.count > 1 {
            run = own.run(&segment, class, t, ser, bounds, false);
            if run.count == 1 && own.finite[class] {
                run = own.follow_credits(segment, class, bounds, run);
            }
        }
        // A single TLP that is sent when it becomes eligible ends no stall.
        if t > segment.eligible || own.filled > 1 {
            own.end_stall(t);
        }
        own.occupy(class, class, &segment, &run);
        self.account_departures(own, class, t, &segment, &run, env);
        if own.overhead.mode != DllpMode::Off {
            self.cause_dllps(own, run);
        }
        own.drain(class, &segment, &run, || self.trains.get(segment.train).train.payload);
        let is_last = segment.index + run.count == segment.train_count;
        if is_last || segment.singly {
            self.arrive(own, &segment, &run, is_last, env);
        }
    }
}

impl Egress {
    /// Whether this egress is direct; valid once it is wired.
    pub(super) fn is_direct(&self) -> bool {
        let from_device = self.ingress.len() == 1 && self.ingress[0].upstream == NO_EGRESS;
        let alone = self.ingress.iter().all(|ingress| ingress.lender == NO_EGRESS) && self.turns.is_none();
        // The returns of credits are known when a TLP starts.
        let drained = matches!(self.sink, Sink::Line { .. }) && self.credit_lookahead == NEVER;
        from_device && alone && drained && self.bit_error_ratio == 0.0
    }

    /// The least delay from any event, not before `soonest`, to a competitor of the only input, whose first TLP was
    /// eligible at `head`; and how much later a posted TLP may become eligible and still precede it.
    #[inline]
    pub(super) fn direct_distance(
        &self,
        class: usize,
        head: u64,
        soonest: u64,
        strictly_ordered: bool,
    ) -> (u64, u64) {
        let device = self.ingress[0].far;
        if class != 0 || !strictly_ordered {
            return (self.overhead_lookahead.min(device), NEVER);
        }
        // Later TLPs of the device have to wait for these, if these were eligible earlier.
        if head > soonest.saturating_add(device) {
            return (self.overhead_lookahead.min(device), NEVER);
        }
        (self.overhead_lookahead, if self.overhead_lookahead > device { device } else { NEVER })
    }

    /// How far a run from `t` on may extend, if no unknown event happens before `soonest`: see
    /// [`Egress::direct_distance`].
    #[inline]
    pub(super) fn direct_bounds(
        &self,
        segment: &Segment,
        t: u64,
        (soonest, horizon): (u64, u64),
        (distance, held): (u64, u64),
    ) -> Bounds {
        let echo = t.saturating_add(if segment.singly { self.reach } else { NEVER });
        let until = horizon.min(echo.saturating_add(distance)).max(t + 1);
        Bounds { until, behind: echo.min(soonest).saturating_add(held) }
    }

    /// The tick until which missing credits or replay buffer room block the only possible TLP at `t`. Returns `None`
    /// if nothing does.
    #[inline]
    fn blocked_until(&mut self, class: usize, segment: &Segment, t: u64) -> Option<u64> {
        if self.finite[class] && !self.has_credits(class, segment.units, t) {
            self.starved |= 1 << class;
            return Some(self.next_credit(class));
        }
        if self.replay_finite && !self.has_room(segment.bytes, t) {
            return Some(self.replay_returns.next());
        }
        None
    }
}
