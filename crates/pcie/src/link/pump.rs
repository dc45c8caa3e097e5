//! The pump: commits, at one wake of an egress, every start that is safe before a horizon, in runs where it can.
//!
//! ```text
//!   now          start  start+per  …                     horizon
//!   ─┼─────────────█████─█████─█████─█████─────────────────┼────────► ticks
//!                  └───── one run: one segment, ──────┘    nothing that is still unknown
//!                         one commit, O(1)                  can matter before here
//! ```
//!
//! The decision at a tick depends only on what carries a time ≤ that tick (docs/link-model.md, section 4), and nothing with a time
//! before the horizon can still turn up. So the schedule does not depend on how far the horizon is, and `granularity: tlp` is
//! this code with the horizon one picosecond away and runs of one.

use super::Fabric;
use super::bus::NO_BUS;
use super::choice::Choice;
use super::egress::{Egress, NEVER, NO_EGRESS, Sink};
use super::run::Bounds;
use super::spec::{CLASSES, EgressId, Environment};
use lanetwin_units::{Instant, TICKS_PER_PS, Ticks};

/// One bit for each class.
pub(super) const EVERY_CLASS: u128 = (1 << CLASSES) - 1;
/// The bit of posted TLPs.
const POSTED: u128 = 1;

/// The least delays from anything that happens anywhere to something new in an empty input of an egress.
#[derive(Clone, Copy)]
struct Distances {
    /// For inputs that no posted TLP keeps back.
    free: u64,
    /// For inputs of other classes beside posted TLPs that wait.
    held: u64,
}

impl Distances {
    /// The least that counts, if nothing happens before `soonest`. What turns up beside posted TLPs that became eligible before it has
    /// to let them go first.
    #[inline]
    fn at(self, soonest: u64, egress: &Egress) -> u64 {
        let held = soonest.saturating_add(self.held);
        if egress.posted_behind(held) { self.free } else { self.free.min(self.held) }
    }
}

impl<U: Copy> Fabric<U> {
    /// Lets an egress decide, at the wake it asked for.
    pub fn pump(&mut self, egress: EgressId, now: Instant, env: &mut impl Environment<U>) {
        let e = egress.index();
        if self.egresses[e].bus != NO_BUS {
            return self.pump_bus(usize::from(self.egresses[e].bus), now, env);
        }
        let wake = self.egresses[e].wake;
        if Ticks(wake).as_ps_floor() != now {
            return; // an earlier wake has done this one's work
        }
        self.egresses[e].wake = NEVER;
        self.egresses[e].starved = 0;
        let now = Ticks::from(now).0;
        let step = now + TICKS_PER_PS;
        let (known, end) = self.view(step, env);
        self.soonest = known;
        let mut t = wake.max(self.egresses[e].link_free);
        let (mut occupied, mut distances) = (0, Distances { free: 0, held: 0 });
        loop {
            if self.egresses[e].filled == 0 {
                return;
            }
            if self.egresses[e].occupied != occupied && !self.tlp_by_tlp {
                (occupied, distances) = (self.egresses[e].occupied, self.distances(e));
            }
            let egress = &mut self.egresses[e];
            if egress.filled == 1 {
                t = t.max(egress.head[egress.occupied.trailing_zeros() as usize]);
            }
            let distance = distances.at(self.soonest, egress);
            let mut horizon = egress.horizon(self.soonest, distance, step).min(end);
            if t >= horizon {
                let t = t.max(egress.earliest());
                self.ask_wake(e, t, env);
                return;
            }
            if self.pay_overhead(e, t, env) {
                t = self.egresses[e].link_free;
                continue;
            }
            if self.foresee_want(e, t, step) {
                horizon = self.egresses[e].horizon(self.soonest, distance, step).min(end);
                if t >= horizon {
                    self.ask_wake(e, t, env);
                    return;
                }
            }
            if !self.tlp_by_tlp && self.egresses[e].merges() && self.send_merged(e, t, horizon, env) {
                t = self.egresses[e].link_free;
                continue;
            }
            match self.egresses[e].choose(t) {
                Choice::Wait(NEVER) => return,
                Choice::Wait(later) => t = later,
                Choice::Send { input, contended, until, behind } => {
                    let echo = self.echo(e, input, t);
                    let until =
                        if contended { t } else { until.min(horizon).min(echo.saturating_add(distance)) };
                    let keeps_back = input.is_multiple_of(CLASSES) && distance > distances.held;
                    let held = echo.min(self.soonest).saturating_add(distances.held);
                    let behind = if keeps_back { behind.min(held) } else { behind };
                    self.send(e, input, t, Bounds { until: until.max(t + 1), behind }, env);
                    t = match self.egresses[e].dry_until() {
                        None => self.egresses[e].link_free,
                        Some(NEVER) => return,
                        Some(credit) => credit,
                    };
                }
            }
        }
    }

    /// Notes which classes will want credits at `t`, if a credit that is not known yet may be there before `t`; true if some do. Nothing is taken: it
    /// may turn out that `t` cannot be decided yet.
    #[inline]
    pub(super) fn foresee_want(&mut self, e: usize, t: u64, step: u64) -> bool {
        let egress = &mut self.egresses[e];
        if t < self.soonest.saturating_add(egress.credit_lookahead).max(step) {
            return false;
        }
        let want = egress.want_of_credits(t);
        egress.starved |= want;
        want != 0
    }

    /// The least delay from anything that happens anywhere to something new in front of this egress. A TLP that joins those
    /// that wait in an input changes nothing before it is the first, so only inputs that are empty count.
    #[inline]
    pub(super) fn distance(&self, e: usize) -> u64 {
        let Distances { free, held } = self.distances(e);
        free.min(held)
    }

    /// The same in two parts: of what may go before posted TLPs that wait, and of what may not.
    #[inline]
    fn distances(&self, e: usize) -> Distances {
        let egress = &self.egresses[e];
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

    /// The tick at which a TLP that starts at `t`, and does not end its train, can make something happen.
    #[inline(always)]
    pub(super) fn echo(&self, e: usize, input: usize, t: u64) -> u64 {
        let egress = &self.egresses[e];
        let singly = egress.inputs[input].front().is_some_and(|segment| segment.singly);
        let mut reach =
            if singly || !matches!(egress.sink, Sink::Line { .. }) { egress.reach } else { NEVER };
        let lender = egress.ingress[input / CLASSES].lender;
        if lender != NO_EGRESS && self.egresses[usize::from(lender)].starved != 0 {
            reach = reach.min(self.egresses[usize::from(lender)].credit_latency);
        }
        t.saturating_add(reach)
    }

    /// The earliest tick at which anything unknown can happen, and the tick at which decisions must end.
    pub(super) fn view(&self, step: u64, env: &mut impl Environment<U>) -> (u64, u64) {
        if self.tlp_by_tlp {
            return (0, step);
        }
        let end = env.limit().as_ps().saturating_add(1).saturating_mul(TICKS_PER_PS);
        (env.next_unknown().as_ps().saturating_mul(TICKS_PER_PS), end.max(step))
    }

    /// Asks for a wake of `e` at tick `t`, unless an earlier one is pending.
    #[inline]
    pub(super) fn ask_wake(&mut self, e: usize, t: u64, env: &mut impl Environment<U>) {
        let bus = self.egresses[e].bus;
        let e = if bus == NO_BUS { e } else { self.buses[usize::from(bus)].columns.start };
        let egress = &mut self.egresses[e];
        if t < egress.wake {
            let (at, pending) = (Ticks(t).as_ps_floor(), Ticks(egress.wake).as_ps_floor());
            egress.wake = t;
            self.soonest = self.soonest.min(Ticks::from(at).0);
            if at < pending {
                env.wake(EgressId(e as u16), at);
            }
        }
    }
}
