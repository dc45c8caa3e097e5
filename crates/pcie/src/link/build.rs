//! From declarations to wired egresses: routes, inputs, return rings, lookaheads.

use super::Fabric;
use super::egress::{
    Egress, HEADER_BYTES, Hop, Ingress, NEVER, NO_EGRESS, OVERHEAD_BYTES_MAX, SMALLEST_TLP_BYTES, Sink,
};
use super::spec::{
    Attach, CLASSES, Direction, DllpMode, Drain, EndpointId, EndpointSpec, Forwarding, LinkId, SwitchId,
    SwitchSpec,
};
use lanetwin_units::{Instant, Span, Ticks};
use std::collections::VecDeque;

/// The most ports a switch can have: the inputs of an egress are bits of a 128-bit word.
pub const SWITCH_PORTS_MAX: usize = 128 / CLASSES;

/// The most phases that the table of a weighted arbitration can have.
pub const PHASES_MAX: u32 = 256;

/// Why a set of links cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// An endpoint has no link, or more than one.
    EndpointLinks(EndpointId),
    /// A switch has more than [`SWITCH_PORTS_MAX`] ports.
    SwitchPorts(SwitchId),
    /// The two directions of a link differ in their rate: a link has one generation and one width.
    Rates(LinkId),
    /// The two directions of a link differ in the period of their SKP, or DLLPs come in lumps without a period.
    SkpPeriod(LinkId),
    /// The core of a switch has a speed-up of 0, or an output buffer that a TLP does not fit into.
    Core(SwitchId),
    /// A weight is 0, or the weights of a switch come to more than [`PHASES_MAX`].
    Weights(SwitchId),
    /// A latency or a weight is said of a link that the switch does not have.
    NotThere(SwitchId, LinkId),
    /// The outages of a link overlap, or are not in the order of time.
    Outages(LinkId),
}

/// Collects endpoints, switches and links.
#[derive(Clone, Default, Debug)]
pub struct FabricBuilder {
    endpoints: Vec<EndpointSpec>,
    switches: Vec<SwitchSpec>,
    links: Vec<(Attach, Attach, Direction, Direction)>,
    latencies: Vec<PairLatency>,
    weights: Vec<PortWeight>,
    outages: Vec<Outage>,
}

/// The latency of a switch between two of its ports, named by their links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PairLatency {
    /// The switch.
    pub switch: SwitchId,
    /// Where a TLP comes in.
    pub from: LinkId,
    /// Where it leaves.
    pub to: LinkId,
    /// As [`SwitchSpec::latency`].
    pub latency: Span,
}

/// The weight of what comes in through a port of a switch, in weighted arbitration; 1 unless it is said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortWeight {
    /// The switch.
    pub switch: SwitchId,
    /// The link of the port.
    pub link: LinkId,
    /// The weight, at least 1.
    pub weight: u32,
}

/// A link is down for a while: nothing starts on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// The link.
    pub link: LinkId,
    /// The first instant.
    pub from: Instant,
    /// The first instant at which it is up again.
    pub until: Instant,
}

impl FabricBuilder {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a port of a device.
    pub fn endpoint(&mut self, spec: EndpointSpec) -> EndpointId {
        self.endpoints.push(spec);
        EndpointId((self.endpoints.len() - 1) as u16)
    }
    /// Adds a switch.
    pub fn switch(&mut self, spec: SwitchSpec) -> SwitchId {
        self.switches.push(spec);
        SwitchId((self.switches.len() - 1) as u16)
    }
    /// Joins two of them. `there` is the direction from `a` to `b`, `back` the one from `b` to `a`.
    pub fn link(&mut self, a: Attach, b: Attach, there: Direction, back: Direction) -> LinkId {
        self.links.push((a, b, there, back));
        LinkId((self.links.len() - 1) as u16)
    }
    /// Says the latency of a switch between two of its ports.
    pub fn latency(&mut self, latency: PairLatency) {
        self.latencies.push(latency);
    }
    /// Says the weight of what comes in through a port of a switch.
    pub fn weight(&mut self, weight: PortWeight) {
        self.weights.push(weight);
    }
    /// Takes a link down for a while; outages of a link are said in the order of time.
    pub fn outage(&mut self, outage: Outage) {
        self.outages.push(outage);
    }
    /// Wires it all.
    ///
    /// # Errors
    /// If an endpoint does not have exactly one link, a switch has too many ports, or the two directions of a link differ in rate or SKP period.
    pub fn build<U: Copy>(self) -> Result<Fabric<U>, BuildError> {
        Wiring::new(self)?.finish()
    }
}

/// An egress seen from outside: where it comes from and goes to.
#[derive(Clone, Copy)]
struct Ends {
    from: Attach,
    to: Attach,
}

struct Wiring {
    parts: FabricBuilder,
    ends: Vec<Ends>,
    egresses: Vec<Egress>,
    /// For each endpoint the egress that its device hands in to.
    out: Vec<u16>,
}

impl Wiring {
    fn new(parts: FabricBuilder) -> Result<Self, BuildError> {
        let mut ends = Vec::new();
        let mut egresses = Vec::new();
        for (i, &(a, b, there, back)) in parts.links.iter().enumerate() {
            if there.rate != back.rate {
                return Err(BuildError::Rates(LinkId(i as u16)));
            }
            let lump_without_period = there.dllps.mode == DllpMode::Lump && there.skp.is_none();
            if there.skp.map(|s| s.period) != back.skp.map(|s| s.period)
                || there.dllps.mode != back.dllps.mode
                || lump_without_period
            {
                return Err(BuildError::SkpPeriod(LinkId(i as u16)));
            }
            ends.extend([Ends { from: a, to: b }, Ends { from: b, to: a }]);
            egresses.extend([Egress::new(&there), Egress::new(&back)]);
        }
        let mut out = Vec::new();
        for i in 0..parts.endpoints.len() {
            let id = EndpointId(i as u16);
            let mut own = (0..ends.len()).filter(|&e| ends[e].from == Attach::Endpoint(id));
            match (own.next(), own.next()) {
                (Some(e), None) => out.push(e as u16),
                _ => return Err(BuildError::EndpointLinks(id)),
            }
        }
        for i in 0..parts.switches.len() {
            let id = SwitchId(i as u16);
            if ends.iter().filter(|e| e.from == Attach::Switch(id)).count() > SWITCH_PORTS_MAX {
                return Err(BuildError::SwitchPorts(id));
            }
        }
        Ok(Self { parts, ends, egresses, out })
    }

    fn finish<U: Copy>(mut self) -> Result<Fabric<U>, BuildError> {
        for e in 0..self.egresses.len() {
            self.egresses[e].opposite = (e ^ 1) as u16;
        }
        self.join_inputs();
        self.receive();
        self.route();
        for e in 0..self.egresses.len() {
            self.forget_what_cannot_run_out(e);
        }
        for e in 0..self.egresses.len() {
            self.egresses[e].lookahead = self.lookahead(e);
            self.egresses[e].overhead_lookahead = self.overhead_lookahead(e);
            self.egresses[e].reach = match self.ends[e].to {
                Attach::Switch(_) => self.forward(e),
                Attach::Endpoint(_) => self.smallest(e) + self.egresses[e].propagation,
            };
            self.egresses[e].credit_lookahead = self.credit_lookahead(e);
        }
        for e in 0..self.egresses.len() {
            for i in 0..self.egresses[e].ingress.len() {
                let upstream = self.egresses[e].ingress[i].upstream;
                let (near, far) = if upstream == NO_EGRESS {
                    (self.egresses[e].lookahead, self.egresses[e].lookahead)
                } else {
                    let near = self.forward(usize::from(upstream));
                    (near, near.saturating_add(self.egresses[usize::from(upstream)].lookahead))
                };
                (self.egresses[e].ingress[i].near, self.egresses[e].ingress[i].far) = (near, far);
            }
        }
        Ok(Fabric::new(self.egresses, self.out))
    }

    /// The egresses that leave this switch, in the order of its ports.
    fn leaving(&self, switch: SwitchId) -> Vec<usize> {
        (0..self.ends.len()).filter(|&e| self.ends[e].from == Attach::Switch(switch)).collect()
    }

    /// Gives every egress its inputs, and every upstream egress the rings for the credits that come back.
    fn join_inputs(&mut self) {
        for e in 0..self.egresses.len() {
            match self.ends[e].from {
                Attach::Endpoint(_) => {
                    self.egresses[e].add_ingress(Ingress { upstream: NO_EGRESS, ring: 0, near: 0, far: 0 });
                }
                Attach::Switch(switch) => {
                    for port in self.leaving(switch) {
                        let upstream = port ^ 1;
                        let ring = self.egresses[upstream].add_releaser();
                        self.egresses[e].add_ingress(Ingress {
                            upstream: upstream as u16,
                            ring,
                            near: 0,
                            far: 0,
                        });
                    }
                }
            }
        }
    }

    /// Says how each receiver empties its buffer.
    fn receive(&mut self) {
        for e in 0..self.egresses.len() {
            let egress = &mut self.egresses[e];
            match self.ends[e].to {
                Attach::Switch(switch) => {
                    let spec = self.parts.switches[switch.index()];
                    egress.sink = Sink::Switch;
                    egress.transit = egress.propagation + spec.latency.as_ticks().0;
                    egress.cut_through = spec.forwarding == Forwarding::CutThrough;
                }
                Attach::Endpoint(endpoint) => {
                    egress.add_releaser();
                    egress.sink = match self.parts.endpoints[endpoint.index()].drain {
                        Drain::ByDevice => Sink::Device,
                        Drain::ByLink { latency, per_tlp, payload_rate } => Sink::Line {
                            latency: latency.as_ticks().0,
                            per_tlp: per_tlp.as_ticks().0,
                            payload: payload_rate,
                            free: 0,
                        },
                    };
                }
            }
        }
    }

    /// For every destination, breadth first from there: which egress comes next.
    fn route(&mut self) {
        for endpoint in 0..self.parts.endpoints.len() {
            let target = Attach::Endpoint(EndpointId(endpoint as u16));
            let mut next = vec![NO_EGRESS; self.parts.switches.len()];
            let mut queue = VecDeque::from([target]);
            while let Some(node) = queue.pop_front() {
                for e in 0..self.ends.len() {
                    if self.ends[e].to != node {
                        continue;
                    }
                    if let Attach::Switch(switch) = self.ends[e].from
                        && next[switch.index()] == NO_EGRESS
                    {
                        next[switch.index()] = e as u16;
                        queue.push_back(self.ends[e].from);
                    }
                }
            }
            for e in 0..self.egresses.len() {
                let hop = match self.ends[e].to {
                    Attach::Endpoint(_) => Hop { egress: NO_EGRESS, input: 0, ring: 0 },
                    Attach::Switch(switch) => self.hop(e, next[switch.index()]),
                };
                self.egresses[e].hops.push(hop);
            }
        }
    }

    /// From egress `e` into egress `next`: the inputs there that belong to the port `e` comes in through.
    fn hop(&self, e: usize, next: u16) -> Hop {
        if next == NO_EGRESS {
            return Hop { egress: NO_EGRESS, input: 0, ring: 0 };
        }
        let ingress = &self.egresses[usize::from(next)].ingress;
        let place =
            ingress.iter().position(|i| usize::from(i.upstream) == e).expect("a switch joins all its ports");
        Hop { egress: next, input: (place * CLASSES) as u16, ring: ingress[place].ring }
    }

    fn smallest(&self, e: usize) -> u64 {
        let mut serialiser = self.egresses[e].serialiser;
        serialiser.ticks(u64::from(SMALLEST_TLP_BYTES))
    }

    /// The least time from a start on `e` to its TLP being eligible at the next egress.
    fn forward(&self, e: usize) -> u64 {
        let mut serialiser = self.egresses[e].serialiser;
        let header = serialiser.ticks(u64::from(HEADER_BYTES)).min(self.smallest(e));
        self.egresses[e].transit + if self.egresses[e].cut_through { header } else { self.smallest(e) }
    }

    /// A replay buffer that is larger than everything that can be sent before its first ACK is back never fills, and an endpoint
    /// that drains at once never makes its transmitter wait if it has credits for a round trip: neither needs watching.
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

    fn lookahead(&self, e: usize) -> u64 {
        let mut least = NEVER;
        match self.ends[e].from {
            Attach::Endpoint(id) => least = least.min(ticks(self.parts.endpoints[id.index()].lookahead)),
            Attach::Switch(switch) => {
                for port in self.leaving(switch) {
                    least = least.min(self.forward(port ^ 1));
                }
            }
        }
        least
    }

    fn overhead_lookahead(&self, e: usize) -> u64 {
        let opposite = e ^ 1;
        match self.egresses[e].overhead.mode {
            DllpMode::Off => NEVER,
            // An epoch's DLLPs are paid one period after its end; all its starts must be known by then.
            DllpMode::Lump => self.egresses[e].overhead.period,
            DllpMode::Each => {
                let theirs = &self.egresses[opposite];
                self.smallest(opposite) + theirs.propagation + theirs.overhead.delay
            }
        }
    }

    fn credit_lookahead(&self, e: usize) -> u64 {
        let egress = &self.egresses[e];
        match self.ends[e].to {
            Attach::Switch(switch) => {
                let soonest = self.leaving(switch).into_iter().map(|next| self.smallest(next)).min();
                soonest.unwrap_or(0) + egress.credit_latency
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

fn ticks(span: Span) -> u64 {
    span.as_ticks().0
}
