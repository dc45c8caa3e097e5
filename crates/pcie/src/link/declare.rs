//! Declarations before links are wired: endpoints, switches and links; latencies of pairs of ports, weights of ports,
//! and outages.

use super::spec::{Attach, CLASSES, Direction, EndpointId, EndpointSpec, LinkId, SwitchId, SwitchSpec};
use lanetwin_units::{Instant, LinkRate, Span};

/// Largest number of ports of a switch: the inputs of an egress are bits of a 128-bit word.
pub const SWITCH_PORTS_MAX: usize = 128 / CLASSES;

/// Largest number of phases of a weighted arbitration table.
pub const PHASES_MAX: u32 = 256;

/// Largest number of paces of a link besides the declared one.
pub const PACES_MAX: usize = u8::MAX as usize;

/// Why links cannot be built.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BuildError {
    /// An endpoint has no link, or more than one.
    EndpointLinks(EndpointId),
    /// A switch has more than [`SWITCH_PORTS_MAX`] ports.
    SwitchPorts(SwitchId),
    /// The two directions of a link differ in rate: a link has one generation and one width.
    Rates(LinkId),
    /// The two directions of a link differ in SKP period, or DLLPs are lumped but there is no period.
    SkpPeriod(LinkId),
    /// The two directions of a link differ in their Recoveries: a link enters Recovery as a whole.
    Recoveries(LinkId),
    /// The core of a switch has a speed-up of 0, or an output buffer smaller than a TLP.
    Core(SwitchId),
    /// A weight is 0, or the sum of the weights of a switch exceeds [`PHASES_MAX`].
    Weights(SwitchId),
    /// A latency or a weight names a link that is not at the switch.
    NotThere(SwitchId, LinkId),
    /// The outages of a link overlap, or are not in the order of time.
    Outages(LinkId),
    /// A link comes back faster than it was declared; or an outage shorter than two SKP periods changes its pace; or
    /// it has more than [`PACES_MAX`] paces.
    Pace(LinkId),
}

/// Collects endpoints, switches and links.
#[derive(Clone, Default, Debug)]
pub struct FabricBuilder {
    pub(super) endpoints: Vec<EndpointSpec>,
    pub(super) switches: Vec<SwitchSpec>,
    pub(super) links: Vec<(Attach, Attach, Direction, Direction)>,
    pub(super) latencies: Vec<PairLatency>,
    pub(super) weights: Vec<PortWeight>,
    pub(super) outages: Vec<Outage>,
    pub(super) strictly_ordered: bool,
    pub(super) messages: Option<Span>,
}

/// The latency of a switch between two of its ports, identified by their links.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PairLatency {
    /// The switch.
    pub switch: SwitchId,
    /// The link through which a TLP comes in.
    pub from: LinkId,
    /// The link through which it leaves.
    pub to: LinkId,
    /// As [`SwitchSpec::latency`].
    pub latency: Span,
}

/// The weight of an ingress port of a switch in weighted arbitration; 1 by default.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortWeight {
    /// The switch.
    pub switch: SwitchId,
    /// The link of the port.
    pub link: LinkId,
    /// The weight, at least 1.
    pub weight: u32,
}

/// An outage of a link, during which no TLP starts on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Outage {
    /// The link.
    pub link: LinkId,
    /// Begin.
    pub from: Instant,
    /// End: the first instant at which it is up again.
    pub until: Instant,
    /// The pace of the link afterwards, if not the declared one.
    pub then: Option<Pace>,
}

/// The pace of both directions of a link after an outage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Rate of bytes on the wire; at most the declared one.
    pub rate: LinkRate,
    /// Time of a SKP ordered set on the wire \[ticks\]; 0 if SKP is off. Its period remains the declared one.
    pub skp: u64,
}

impl FabricBuilder {
    /// An empty builder.
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
    /// Joins two endpoints or switches. `there` is the direction from `a` to `b`, `back` that from `b` to `a`.
    pub fn link(&mut self, a: Attach, b: Attach, there: Direction, back: Direction) -> LinkId {
        self.links.push((a, b, there, back));
        LinkId((self.links.len() - 1) as u16)
    }
    /// Sets the latency of a switch between two of its ports.
    pub fn latency(&mut self, latency: PairLatency) {
        self.latencies.push(latency);
    }
    /// Sets the weight of an ingress port of a switch.
    pub fn weight(&mut self, weight: PortWeight) {
        self.weights.push(weight);
    }
    /// Adds an outage of a link; outages of a link must be added in the order of time.
    pub fn outage(&mut self, outage: Outage) {
        self.outages.push(outage);
    }
    /// Allows ports to send messages ([`Fabric::send_message`](super::Fabric::send_message)), each eligible at least
    /// `delay` after it is handed in.
    pub fn messages(&mut self, delay: Span) {
        self.messages = Some(delay);
    }
    /// Promises that no completion has relaxed ordering. Then no TLP passes waiting posted writes, so that links can
    /// decide much further ahead. The results are the same without.
    pub fn strictly_ordered(&mut self) {
        self.strictly_ordered = true;
    }
}
