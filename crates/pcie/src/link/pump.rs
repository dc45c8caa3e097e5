//! The pump: at one wake of an egress, commits every start before a horizon up to which decisions are safe, in runs
//! if possible.
//!
//! ```text
//!   now          start  start+per  …                     horizon
//!   ─┼─────────────█████─█████─█████─█████─────────────────┼────────► ticks
//!                  └───── one run: one segment, ──────┘    nothing that is still unknown
//!                         one commit, O(1)                  can matter before here
//! ```
//!
//! The decision at a tick depends only on events with a time ≤ that tick (docs/link-model.md, section 4), and no
//! event before the horizon is still unknown. So the schedule does not depend on how far the horizon is, and
//! `granularity: tlp` is the same code with a horizon one picosecond away and runs of one TLP.

use super::choice::Choice;
use super::class_masks::EVERY_CLASS;
use super::egress::{Egress, Sink};
use super::fabric::{Domain, Fabric};
use super::run::Bounds;
use super::sentinels::{NEVER, NO_BUS, NO_EGRESS};
use super::spec::{CLASSES, EgressId, Environment};
use lanetwin_units::{Instant, TICKS_PER_PS, Ticks};

/// The bit of posted TLPs.
const POSTED: u128 = 1;

/// The least delays from any event to a new TLP in an empty input of an egress.
#[derive(Clone, Copy)]
struct Distances {
    /// For inputs without earlier posted TLPs to wait for.
    free: u64,
    /// For inputs of other classes of an ingress with waiting posted TLPs.
    held: u64,
}

impl Distances {
    /// The least delay that matters, if nothing happens before `soonest`. A new TLP has to wait for posted TLPs of
    /// its ingress that became eligible earlier.
    #[inline]
    fn at(self, soonest: u64, egress: &Egress) -> u64 {
        let held = soonest.saturating_add(self.held);
        if egress.posted_behind(held) { self.free } else { self.free.min(self.held) }
    }
}

/// Knowledge about the future when an egress decides.
#[derive(Clone, Copy)]
pub(super) struct View {
    /// The earliest tick of an unknown event.
    pub soonest: u64,
    /// All events before this tick have happened.
    pub step: u64,
    /// Decisions must end at this tick.
    pub end: u64,
}

impl<U: Copy> Fabric<U> {
    /// Lets an egress decide, at a wake that it asked for.
    pub fn pump(&mut self, egress: EgressId, now: Instant, env: &mut impl Environment<U>) {
        let e = egress.index();
        let Self { domain, current, .. } = self;
        let own = &mut domain.egresses[e];
        if own.bus != NO_BUS {
            let bus = usize::from(own.bus);
            return domain.pump_bus(bus, current, now, env);
        }
        if Ticks(own.wake).as_ps_floor() != now {
            return; // an earlier wake has done this one's work
        }
        let step = Ticks::from(now).0 + TICKS_PER_PS;
        std::mem::swap(own, current);
        let view = domain.view(step, env);
        domain.pump(current, current.wake, view, env);
        std::mem::swap(&mut domain.egresses[e], current);
    }

    /// Lets an egress that is on no bus decide at `now`, before its wake at tick `t`, as far as the horizon allows.
    /// Other events may still happen at `now`.
    #[inline]
    pub(super) fn decide_early(&mut self, e: usize, t: u64, now: Instant, env: &mut impl Environment<U>) {
        let Self { domain, current, .. } = self;
        let view = domain.view(Ticks::from(now).0, env);
        let own = &mut domain.egresses[e];
        if domain.tlp_by_tlp || !own.is_near(t, view.soonest, domain.strictly_ordered) {
            return domain.ask_wake(e, t, env);
        }
        std::mem::swap(own, current);
        domain.pump(current, t, view, env);
        std::mem::swap(&mut domain.egresses[e], current);
    }
}

impl<U: Copy> Domain<U> {
    /// Lets the egress in `current` decide from tick `wake` on.
    pub(super) fn pump(&mut self, own: &mut Egress, wake: u64, view: View, env: &mut impl Environment<U>) {
        let View { soonest, step, end } = view;
        (own.wake, own.starved, self.soonest) = (NEVER, 0, soonest);
        let mut t = wake.max(own.link_free);
        let (mut occupied, mut distances) = (0, Distances { free: 0, held: 0 });
        loop {
            if own.direct && own.filled == 1 && !self.tlp_by_tlp {
                let Some(later) = self.pump_direct(own, t, (step, end), env) else { return };
                t = later;
            }
            if own.filled == 0 {
                return;
            }
            if own.occupied != occupied && !self.tlp_by_tlp {
                (occupied, distances) = (own.occupied, self.distances(own));
            }
            if own.filled == 1 {
                t = t.max(own.head[own.occupied.trailing_zeros() as usize]);
            }
            let distance = distances.at(self.soonest, own);
            let mut horizon = own.horizon(self.soonest, distance, step).min(end);
            if t >= horizon {
                own.ask_wake(t.max(own.earliest()), &mut self.soonest, env);
                return;
            }
            if self.pay_overhead(own, t, env) {
                t = own.link_free;
                continue;
            }
            if own.note_credit_demand(t, self.soonest, step) {
                horizon = own.horizon(self.soonest, distance, step).min(end);
                if t >= horizon {
                    own.ask_wake(t, &mut self.soonest, env);
                    return;
                }
            }
            if !self.tlp_by_tlp && own.merges() && self.send_merged(own, t, horizon, env) {
                t = own.link_free;
                continue;
            }
            match own.choose(t) {
                Choice::Wait(NEVER) => return,
                Choice::Wait(later) => t = later,
                Choice::Send { input, contended, until, behind } => {
                    let echo = self.echo(own, input, t);
                    let until =
                        if contended { t } else { until.min(horizon).min(echo.saturating_add(distance)) };
                    let held = echo.min(self.soonest).saturating_add(distances.held);
                    let keeps_back = input.is_multiple_of(CLASSES) && distance > distances.held;
                    let behind = if keeps_back { behind.min(held) } else { behind };
                    self.send_chosen(own, input, t, Bounds { until: until.max(t + 1), behind }, env);
                    t = match own.without_credits_until() {
                        None => own.link_free,
                        Some(NEVER) => return,
                        Some(credit) => credit,
                    };
                }
            }
        }
    }

    /// Sends from the chosen input.
    #[inline]
    fn send_chosen(
        &mut self,
        own: &mut Egress,
        input: usize,
        t: u64,
        bounds: Bounds,
        env: &mut impl Environment<U>,
    ) {
        match own.inputs[input].front() {
            Some(&segment) if own.direct && !self.tlp_by_tlp => {
                self.send_direct(own, input, segment, t, bounds, env);
            }
            _ => self.send(own, input, t, bounds, env),
        }
    }

    /// The least delay from any event to a new competitor at this egress. A TLP added behind others in an input
    /// changes nothing until it is the first, so that only empty inputs count.
    #[inline]
    pub(super) fn distance(&self, egress: &Egress) -> u64 {
        let Distances { free, held } = self.distances(egress);
        free.min(held)
    }

    /// The same in two parts: for TLPs that may precede waiting posted TLPs, and for those that may not.
    #[inline]
    fn distances(&self, egress: &Egress) -> Distances {
        let mut least = Distances { free: egress.overhead_lookahead, held: NEVER };
        for (i, ingress) in egress.ingress.iter().enumerate() {
            let empty = !(egress.occupied >> (CLASSES * i)) & EVERY_CLASS;
            if empty == 0 {
                continue;
            }
            let near = ingress.upstream != NO_EGRESS
                && self.egresses[usize::from(ingress.upstream)].holds() & empty != 0;
            let distance = if near { ingress.near } else { ingress.far };
            let held = self.strictly_ordered && empty & POSTED == 0;
            let part = if held { &mut least.held } else { &mut least.free };
            *part = distance.min(*part);
        }
        least
    }

    /// The earliest tick of an effect of a TLP that starts at `t` and does not end its train.
    #[inline(always)]
    pub(super) fn echo(&self, own: &Egress, input: usize, t: u64) -> u64 {
        let singly = own.inputs[input].front().is_some_and(|segment| segment.singly);
        let mut reach = if singly || !matches!(own.sink, Sink::Line { .. }) { own.reach } else { NEVER };
        let lender = own.ingress[input / CLASSES].lender;
        if lender != NO_EGRESS && self.egresses[usize::from(lender)].starved != 0 {
            reach = reach.min(self.egresses[usize::from(lender)].credit_latency);
        }
        t.saturating_add(reach)
    }

    /// The knowledge when all events before tick `step` have happened.
    #[inline]
    pub(super) fn view(&self, step: u64, env: &mut impl Environment<U>) -> View {
        if self.tlp_by_tlp {
            return View { soonest: 0, step, end: step };
        }
        let end = env.limit().as_ps().saturating_add(1).saturating_mul(TICKS_PER_PS);
        let soonest = env.next_unknown().as_ps().saturating_mul(TICKS_PER_PS);
        View { soonest, step, end: end.max(step) }
    }

    /// Asks for a wake of `e`, which is not in `current`, at tick `t`, unless an earlier one is pending.
    #[inline]
    pub(super) fn ask_wake(&mut self, e: usize, t: u64, env: &mut impl Environment<U>) {
        let bus = self.egresses[e].bus;
        let e = if bus == NO_BUS { e } else { self.buses[usize::from(bus)].columns.start };
        self.egresses[e].ask_wake(t, &mut self.soonest, env);
    }
}

impl Egress {
    /// Whether tick `t` may lie before the horizon of an egress with new TLPs. Posted TLPs may have a horizon of
    /// their own.
    #[inline]
    fn is_near(&self, t: u64, soonest: u64, strictly_ordered: bool) -> bool {
        if self.starved != 0 {
            return false; // what waits for credits has to be looked at when they come
        }
        let posted = strictly_ordered && self.occupied & POSTED != 0;
        let lookahead = if posted { self.overhead_lookahead } else { self.lookahead };
        t < soonest.saturating_add(lookahead)
    }

    /// Asks for a wake of this egress at tick `t`, unless an earlier one is pending. The egress is on no bus, or
    /// holds the wake of its bus.
    #[inline]
    pub(super) fn ask_wake<U>(&mut self, t: u64, soonest: &mut u64, env: &mut impl Environment<U>) {
        if t < self.wake {
            let (at, pending) = (Ticks(t).as_ps_floor(), Ticks(self.wake).as_ps_floor());
            self.wake = t;
            *soonest = (*soonest).min(Ticks::from(at).0);
            if at < pending {
                env.wake(EgressId(self.number), at);
            }
        }
    }

    /// Notes which classes will need credits at `t`, if a credit that is still unknown may return before `t`. Returns
    /// true if some do. Takes no credits, since `t` may turn out not to be decidable yet.
    #[inline]
    pub(super) fn note_credit_demand(&mut self, t: u64, soonest: u64, step: u64) -> bool {
        if t < soonest.saturating_add(self.credit_lookahead).max(step) {
            return false;
        }
        let want = self.want_of_credits(t);
        self.starved |= want;
        want != 0
    }
}
