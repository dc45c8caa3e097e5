//! What is declared before links are wired: endpoints, switches, links, and what is said of pairs of ports, ports and
//! times.

use super::spec::{Attach, CLASSES, Direction, EndpointId, EndpointSpec, LinkId, SwitchId, SwitchSpec};
use lanetwin_units::{Instant, LinkRate, Span};

/// The most ports a switch can have: the inputs of an egress are bits of a 128-bit word.
pub const SWITCH_PORTS_MAX: usize = 128 / CLASSES;

/// The most phases that the table of a weighted arbitration can have.
pub const PHASES_MAX: u32 = 256;

/// The most paces that a link can have besides the one that it was declared with.
pub const PACES_MAX: usize = u8::MAX as usize;

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
    /// The two directions of a link differ in their Recoveries: a link goes through Recovery as a whole.
    Recoveries(LinkId),
    /// The core of a switch has a speed-up of 0, or an output buffer that a TLP does not fit into.
    Core(SwitchId),
    /// A weight is 0, or the weights of a switch come to more than [`PHASES_MAX`].
    Weights(SwitchId),
    /// A latency or a weight is said of a link that the switch does not have.
    NotThere(SwitchId, LinkId),
    /// The outages of a link overlap, or are not in the order of time.
    Outages(LinkId),
    /// A link comes back faster than it was declared; or with another pace from an outage that is shorter than two
    /// periods of its SKP; or with more than [`PACES_MAX`] paces.
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
    /// How it runs from then on, if not as it was declared.
    pub then: Option<Pace>,
}

/// How fast both directions of a link run from an outage on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Pace {
    /// Bytes on the wire; no more than the link was declared with.
    pub rate: LinkRate,
    /// The time of a SKP ordered set on the wire \[ticks\]; zero if SKP is off. Its period is that of the declaration.
    pub skp: u64,
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
    /// Ports may send messages of their own ([`Fabric::send_message`](super::Fabric::send_message)), each eligible no
    /// sooner than `delay` after the instant at which it is handed in.
    pub fn messages(&mut self, delay: Span) {
        self.messages = Some(delay);
    }
    /// Promises that no completion will have relaxed ordering: then nothing passes posted writes that wait, and the
    /// links can look much further ahead of them. The results are the same without.
    pub fn strictly_ordered(&mut self) {
        self.strictly_ordered = true;
    }
}
