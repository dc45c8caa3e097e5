//! Immediate sending: a train handed in at an idle direct link, if all of it can be sent, skips the queue, the record
//! of trains in progress, and a wake. The decision is that of `direct.rs`.
//!
//! ```text
//!   device ─ submit ─────────────────wire═► deliver ─► device
//!                 └─► [ input ] ─ settle ─►                       whatever cannot be decided yet, or only in part
//! ```

use super::egress::{Egress, Segment};
use super::fabric::{Domain, Fabric};
use super::run::Run;
use super::sentinels::NEVER;
use super::spec::{Delivery, Departures, DllpMode, EgressId, Environment, Starts, Train};
use super::trains::Origin;
use lanetwin_units::{Instant, Ticks};

impl<U: Copy> Fabric<U> {
    /// Sends a train, all of which is `segment`, if all of it can be decided now. Returns false if it has to be
    /// queued.
    #[inline(always)]
    pub(super) fn send_at_once(
        &mut self,
        e: usize,
        segment: &Segment,
        train: &Train<U>,
        origin: Origin,
        env: &mut impl Environment<U>,
    ) -> bool {
        let Self { domain, current, asking, .. } = self;
        let own = &mut domain.egresses[e];
        // Decisions of other egresses are not events as long as they have not asked for their wakes.
        let possible = own.direct && asking.is_none() && own.goes_before(segment.eligible);
        if !possible || domain.tlp_by_tlp || domain.journeys.is_some() {
            return false;
        }
        std::mem::swap(own, current);
        if current.filled != 0 {
            domain.send_before(current, segment.eligible, env);
        }
        let idle = current.filled == 0 && current.wake == NEVER;
        let run = if idle { domain.whole_run(current, segment, usize::from(train.class), env) } else { None };
        if let Some(run) = &run {
            domain.depart_and_arrive(current, segment, run, train, origin, env);
        }
        std::mem::swap(&mut domain.egresses[e], current);
        run.is_some()
    }
}

impl Egress {
    /// Whether waiting TLPs, if there are any, will be decided before tick `t`, and need no credits.
    #[inline]
    fn goes_before(&self, t: u64) -> bool {
        self.filled == 0 || (self.wake < t && self.starved == 0)
    }
}

impl<U: Copy> Domain<U> {
    /// Decides the TLPs waiting at a direct egress, as far as they are sent before tick `t`, at which the segment
    /// being handed in becomes eligible.
    #[inline(never)]
    fn send_before(&mut self, own: &mut Egress, t: u64, env: &mut impl Environment<U>) {
        let mut view = self.view(0, env);
        // The device hands in no earlier than `t` less its lookahead.
        view.soonest = view.soonest.min(t.saturating_sub(own.ingress[0].far));
        self.pump(own, own.wake, view, env);
    }

    /// The departures of a segment at an idle direct egress, if all of them are before the horizon and nothing blocks
    /// them.
    #[inline(always)]
    fn whole_run(
        &mut self,
        own: &mut Egress,
        segment: &Segment,
        class: usize,
        env: &mut impl Environment<U>,
    ) -> Option<Run> {
        let view = self.view(0, env);
        let mut t = segment.eligible.max(own.link_free);
        let (distance, held) =
            own.direct_distance(class, segment.eligible, view.soonest, self.strictly_ordered);
        let horizon = view.soonest.saturating_add(distance).min(view.end);
        // The end of a stall is handled by the ordinary path.
        if t >= horizon || (t > segment.eligible && t > own.idle_from) {
            return None;
        }
        if t >= own.overhead.next {
            // Overhead that was due while the wire was idle, except for outages.
            if own.overhead.down_next() != NEVER || own.overhead.recovery.is_some() {
                return None;
            }
            // Overhead due exactly at this tick meets a waiting TLP, and its DLLPs count as a stall: left to the
            // ordinary path.
            if own.overhead.next == t {
                return None;
            }
            self.pay_overhead(own, t - 1, env);
            t = t.max(own.link_free);
            if t >= horizon.min(own.overhead.next) {
                return None;
            }
        }
        let blocked = (own.finite[class] && !own.has_credits(class, segment.units, t))
            || (own.replay_finite && !own.has_room(segment.bytes, t));
        if blocked {
            return None;
        }
        let ser = own.serialiser.ticks(u64::from(segment.bytes));
        if segment.count == 1 {
            return Some(Run { start: t, spacing: ser, count: 1, duration: ser });
        }
        let bounds = own.direct_bounds(segment, t, (view.soonest, horizon), (distance, held));
        let run = own.run(segment, class, t, ser, bounds, false);
        (run.count == segment.count).then_some(run)
    }

    /// Lets all TLPs of a train depart and arrive.
    #[inline(always)]
    fn depart_and_arrive(
        &mut self,
        own: &mut Egress,
        segment: &Segment,
        run: &Run,
        train: &Train<U>,
        Origin { endpoint: from, sequence }: Origin,
        env: &mut impl Environment<U>,
    ) {
        let class = usize::from(train.class);
        own.starved = 0; // nobody waits
        own.occupy(class, class, segment, run);
        own.record_departures(segment, run, run.start);
        if train.notify {
            env.departed(from, Ticks(run.last() + run.duration).as_ps_ceil(), run.last(), train.user);
        }
        if let Some(tap) = &mut self.tap {
            let egress = EgressId(own.number);
            let (start, spacing) = (run.start, run.spacing);
            let count = run.count;
            tap(&Departures { egress, from, sequence, first: 0, count, start, spacing }, train);
        }
        if own.overhead.mode != DllpMode::Off {
            self.cause_dllps(own, *run);
        }
        own.drain(class, segment, run, || train.payload);
        let arrival = |start: u64| -> Instant { Ticks(start + run.duration + own.propagation).as_ps_ceil() };
        let mut deliver = |first: u16, count: u16, start: u64| {
            env.deliver(
                train.to,
                arrival(start),
                Delivery { from, sequence, first, count, user: train.user },
                Starts::All(&[start]),
            );
        };
        if segment.singly {
            (0..run.count).for_each(|i| deliver(i, 1, run.start + u64::from(i) * run.spacing));
        } else {
            deliver(0, segment.train_count, run.last());
        }
    }
}
