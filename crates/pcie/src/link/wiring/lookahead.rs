//! The least delays between wired egresses, from which horizons are computed, and limits that need not be tracked.

use super::super::egress::{HEADER_BYTES, OVERHEAD_BYTES_MAX, SMALLEST_TLP_BYTES, Sink};
use super::super::sentinels::{NEVER, NO_EGRESS};
use super::super::spec::{Attach, CLASSES, DllpMode, Drain};
use super::{Ends, Wiring, ticks};
use lanetwin_units::Ticks;

impl Wiring {
    /// Computes for every egress the least delays of effects on it, and removes limits that cannot be reached.
    pub(super) fn look_ahead(&mut self) {
        for e in 0..self.egresses.len() {
            self.forget_what_cannot_run_out(e);
        }
        for e in 0..self.egresses.len() {
            self.egresses[e].lookahead = self.lookahead(e);
            self.egresses[e].overhead_lookahead = self.overhead_lookahead(e);
            self.egresses[e].reach = self.reach(e);
            self.egresses[e].credit_lookahead = self.credit_lookahead(e);
        }
        for e in 0..self.egresses.len() {
            for i in 0..self.egresses[e].ingress.len() {
                let upstream = self.egresses[e].ingress[i].upstream;
                let near = self.near(e, i);
                let far = match upstream {
                    NO_EGRESS => near,
                    _ => near.saturating_add(self.egresses[usize::from(upstream)].lookahead),
                };
                (self.egresses[e].ingress[i].near, self.egresses[e].ingress[i].far) = (near, far);
            }
        }
    }

    fn smallest(&self, e: usize) -> u64 {
        let mut serialiser = self.egresses[e].serialiser;
        serialiser.ticks(u64::from(SMALLEST_TLP_BYTES))
    }

    /// The least time from any event until a TLP of ingress `i` is eligible at `e`: from a start upstream, or from a
    /// device's decision.
    fn near(&self, e: usize, i: usize) -> u64 {
        let ingress = self.egresses[e].ingress[i];
        if let (Some(delay), true) = (self.parts.messages, self.egresses[e].is_of_messages(i)) {
            return ticks(delay);
        }
        let upstream = usize::from(ingress.upstream);
        match (self.ends.get(e), ingress.upstream) {
            (Some(&Ends { from: Attach::Endpoint(id), .. }), NO_EGRESS) => {
                ticks(self.parts.endpoints[id.index()].lookahead)
            }
            _ if self.as_column(upstream).is_some() => self.egresses[upstream].ingress[i].onward,
            _ => {
                let egress = &self.egresses[upstream];
                let mut serialiser = egress.serialiser;
                let header = serialiser.ticks(u64::from(HEADER_BYTES)).min(self.smallest(upstream));
                let seen = if egress.cut_through { header } else { self.smallest(upstream) };
                egress.propagation + ingress.inward + seen
            }
        }
    }

    /// The least delay from a start on `e` to an effect elsewhere, other than by returned credits.
    fn reach(&self, e: usize) -> u64 {
        let fed = |next: usize| {
            let inputs = &self.egresses[next].ingress;
            let fed = (0..inputs.len()).filter(|&i| usize::from(inputs[i].upstream) == e);
            fed.map(|i| self.near(next, i)).min().unwrap_or(NEVER)
        };
        match self.egresses[e].sink {
            Sink::Switch { .. } | Sink::Output { .. } => {
                (0..self.egresses.len()).map(fed).min().unwrap_or(NEVER)
            }
            Sink::Line { .. } | Sink::Device => self.smallest(e) + self.egresses[e].propagation,
        }
    }

    fn lookahead(&self, e: usize) -> u64 {
        (0..self.egresses[e].ingress.len()).map(|i| self.near(e, i)).min().unwrap_or(NEVER)
    }

    /// A replay buffer larger than everything that can be sent before its first ACK returns never fills, and an
    /// endpoint that drains at once never delays its transmitter if it has credits for a round trip: neither is
    /// tracked.
    fn forget_what_cannot_run_out(&mut self, e: usize) {
        let egress = &mut self.egresses[e];
        let largest = egress.payload_max + OVERHEAD_BYTES_MAX;
        let longest = egress.serialiser.ticks(largest);
        let bytes_within = |time: u64| egress.serialiser.rate().bytes_in(Ticks(time + longest)) + 2 * largest;
        if egress.replay_finite && egress.replay_room as u64 >= bytes_within(egress.ack_round) {
            egress.replay_finite = false;
        }
        let Sink::Line { latency, per_tlp: 0, payload: None, .. } = egress.sink else { return };
        let bytes = bytes_within(egress.propagation + latency + egress.credit_latency);
        for class in 0..CLASSES {
            let headers = egress.header_credits[class] as u64 > bytes / u64::from(SMALLEST_TLP_BYTES);
            if headers && egress.data_credits[class] as u64 > bytes / 16 {
                egress.finite[class] = false;
            }
        }
    }

    fn overhead_lookahead(&self, e: usize) -> u64 {
        match self.egresses[e].overhead.mode {
            DllpMode::Off => NEVER,
            // DLLPs of an epoch are sent one period after its end; all its starts must be known by then.
            DllpMode::Lump => self.egresses[e].overhead.period,
            DllpMode::Each => {
                let theirs = &self.egresses[e ^ 1];
                self.smallest(e ^ 1) + theirs.propagation + theirs.overhead.delay
            }
        }
    }

    fn credit_lookahead(&self, e: usize) -> u64 {
        let egress = &self.egresses[e];
        if let Sink::Output { egress: port } = egress.sink {
            return self.smallest(usize::from(port));
        }
        match self.ends[e].to {
            Attach::Switch(switch) => {
                let giver = |&next: &usize| {
                    let column = self.column_of(next);
                    self.smallest(
                        column.filter(|&c| self.egresses[c].ingress[0].lender != NO_EGRESS).unwrap_or(next),
                    )
                };
                self.leaving(switch).iter().map(giver).min().unwrap_or(0) + egress.credit_latency
            }
            Attach::Endpoint(id) => {
                let spec = self.parts.endpoints[id.index()];
                if spec.drain == Drain::ByDevice {
                    ticks(spec.lookahead) + egress.credit_latency
                } else {
                    NEVER
                }
            }
        }
    }
}
