//! The receiver of an egress: it drains TLPs from its buffer one after another, and returns their credits.

use super::egress::{Egress, Segment, Sink};
use super::returns::Returns;
use super::run::Run;
use super::spec::CLASSES;
use lanetwin_units::LinkRate;

impl Egress {
    /// Drains TLPs from the receive buffer one after another and returns their credits.
    #[inline(always)]
    pub(super) fn drain(
        &mut self,
        class: usize,
        segment: &Segment,
        run: &Run,
        payload_bytes: impl FnOnce() -> u16,
    ) {
        let Sink::Line { latency, per_tlp, payload, .. } = self.sink else { return };
        if per_tlp != 0 || payload.is_some() {
            return self.drain_slowly(class, *segment, payload_bytes(), *run);
        }
        // A receiver that takes no time never delays.
        if self.finite[class] {
            let t = run.start + run.duration + self.propagation + latency + self.credit_latency;
            let weight = u32::from(segment.units);
            self.put_return(
                class,
                Returns { at: t, spacing: run.spacing, count: u32::from(run.count), weight },
            );
        }
    }

    #[inline(never)]
    fn drain_slowly(&mut self, class: usize, segment: Segment, payload_bytes: u16, run: Run) {
        if self.finite == [false; CLASSES] {
            return; // nobody asks when it is free
        }
        let tail = run.start + run.duration + self.propagation;
        let Sink::Line { latency, per_tlp, payload, free } = &mut self.sink else { return };
        let per_payload = |rate: LinkRate| rate.ticks_for(u64::from(payload_bytes)).0;
        let cost = *per_tlp + payload.map_or(0, per_payload);
        let (ready, latency_back, weight) = (tail + *latency, self.credit_latency, u32::from(segment.units));
        let finite = self.finite[class];
        self.live |= 1 << class;
        let ring = &mut self.returns[class];
        let mut put = |t: u64, p: u64, n: u64| {
            if finite {
                ring.push(Returns { at: t + latency_back, spacing: p, count: n as u32, weight });
            }
        };
        let count = u64::from(run.count);
        let mut i = 0;
        while i < count {
            let (at, left) = (ready + i * run.spacing, count - i);
            if *free <= at {
                let spacing = run.spacing.max(cost);
                put(at + cost, spacing, left);
                *free = at + (left - 1) * spacing + cost;
                return;
            }
            // The receiver is behind: it drains at its own rate until it has caught up.
            let behind =
                if run.spacing <= cost { left } else { (*free - at).div_ceil(run.spacing - cost).min(left) };
            put(*free + cost, cost, behind);
            *free += behind * cost;
            i += behind;
        }
    }
}
