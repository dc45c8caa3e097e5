//! What a tree is made of, before it has any numbers.

use super::pack::Space;
use crate::spec::config_words::{AcsControl, WINDOW_GRANULE};
use core::fmt;
use core::ops::RangeInclusive;

/// A switch or an endpoint.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub(super) u16);

/// A port that faces down: a root port, or a downstream port of a switch. It has at most one link, which it names too.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PortId(pub(super) u16);

impl NodeId {
    /// Its place in the order of declaration, among switches and endpoints.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

impl PortId {
    /// Its place in the order of declaration, among root ports and downstream ports.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How wide the address of a BAR is, and whether it is prefetchable.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BarKind {
    /// 32-bit.
    Bits32,
    /// 32-bit, prefetchable.
    Bits32Prefetchable,
    /// 64-bit. Not prefetchable, and so below 4 GiB all the same: the window of a bridge for such memory ends there.
    Bits64,
    /// 64-bit, prefetchable.
    Bits64Prefetchable,
}

impl BarKind {
    /// All kinds.
    pub const ALL: [Self; 4] =
        [Self::Bits32, Self::Bits32Prefetchable, Self::Bits64, Self::Bits64Prefetchable];

    /// Whether it takes two registers.
    #[must_use]
    pub const fn is_64_bit(self) -> bool {
        matches!(self, Self::Bits64 | Self::Bits64Prefetchable)
    }
    /// Whether reading it has no side effects.
    #[must_use]
    pub const fn is_prefetchable(self) -> bool {
        matches!(self, Self::Bits32Prefetchable | Self::Bits64Prefetchable)
    }
    /// Which window of a bridge it lies in.
    #[must_use]
    pub const fn space(self) -> Space {
        match self {
            Self::Bits64Prefetchable => Space::High,
            _ => Space::Low,
        }
    }
}

/// A memory BAR: how much a function wants, and where it may be.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Bar {
    size: u64,
    kind: BarKind,
}

impl Bar {
    /// A BAR of `size` \[B\]; none unless it is a power of two, at least 16 B (the register's lowest address bit is 4),
    /// and leaves an address bit to choose: at most 2 GiB in 32 bits, and 2^62 B in 64 bits.
    #[must_use]
    pub const fn new(size: u64, kind: BarKind) -> Option<Self> {
        let most = if kind.is_64_bit() { 1 << 62 } else { 1 << 31 };
        if size.is_power_of_two() && 16 <= size && size <= most { Some(Self { size, kind }) } else { None }
    }
    /// How large it is \[B\]; it lies at a multiple of this.
    #[must_use]
    pub const fn size(self) -> u64 {
        self.size
    }
    /// Where it may be.
    #[must_use]
    pub const fn kind(self) -> BarKind {
        self.kind
    }
}

/// The host: where its root complex lets devices be, and what it does with a TLP from one root port to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Host {
    /// Where the windows below 4 GiB are. What is in neither aperture is the host's own: memory, interrupts.
    pub low: RangeInclusive<u64>,
    /// Where the 64-bit prefetchable windows are.
    pub high: RangeInclusive<u64>,
    /// Whether TLPs pass from root port to root port; a root complex need not do that.
    pub peer_to_peer: bool,
}

impl Default for Host {
    /// `assumed`: from 2 GiB to the interrupt controllers below 4 GiB, as in many PCs; 256 GiB to 64 TiB; peer to peer.
    fn default() -> Self {
        Self { low: 0x8000_0000..=0xfebf_ffff, high: 0x40_0000_0000..=0x3fff_ffff_ffff, peer_to_peer: true }
    }
}

impl Host {
    pub(super) const fn aperture(&self, space: Space) -> &RangeInclusive<u64> {
        match space {
            Space::Low => &self.low,
            Space::High => &self.high,
        }
    }
    /// Whether an aperture begins and ends with a granule, in the half of the addresses that it is for.
    pub(super) fn is_sound(&self, space: Space) -> bool {
        let aperture = self.aperture(space);
        let (first, last) = (*aperture.start(), *aperture.end());
        let half = match space {
            Space::Low => last <= u64::from(u32::MAX),
            Space::High => first > u64::from(u32::MAX),
        };
        first < last && half && first % WINDOW_GRANULE == 0 && last % WINDOW_GRANULE == WINDOW_GRANULE - 1
    }
}

/// Why a tree cannot be enumerated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Error {
    /// A port has two links, the second to this device.
    PortTaken(String, String),
    /// A device has two links up.
    ReachedTwice(String),
    /// A switch lies below itself.
    Loop(String),
    /// No link leads up from a device.
    NotConnected(String),
    /// More than 31 root ports, or a switch with more than 32 ports that face down: the bus has no more devices.
    TooManyPorts(String),
    /// An endpoint has no function, or more than eight.
    Functions(String),
    /// A function has more than six BARs, of which a 64-bit one counts twice.
    TooManyBars(String),
    /// No bus number is left for the bus below this port.
    BusNumbers(String),
    /// The BARs do not fit into an aperture of the host.
    Addresses {
        /// Which.
        space: Space,
        /// What they need, with what alignment costs \[B\].
        needed: u128,
        /// How large the aperture is \[B\].
        available: u64,
    },
    /// An aperture of the host is empty, not made of whole MiB, or on the wrong side of 4 GiB.
    Aperture(Space),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::PortTaken(port, device) => {
                write!(f, "port `{port}` has a link already, and cannot have one to `{device}`")
            }
            Self::ReachedTwice(device) => write!(f, "`{device}` is below two ports"),
            Self::Loop(device) => write!(f, "`{device}` is below itself"),
            Self::NotConnected(device) => write!(f, "`{device}` is below no port"),
            Self::TooManyPorts(owner) => write!(f, "`{owner}` has more ports than a bus has devices"),
            Self::Functions(device) => write!(f, "`{device}` does not have 1 to 8 functions"),
            Self::TooManyBars(device) => {
                write!(f, "a function of `{device}` has more BARs than six registers hold")
            }
            Self::BusNumbers(port) => write!(f, "no bus number is left for what is below `{port}`"),
            Self::Addresses { space, needed, available } => {
                write!(f, "the devices need {needed} B of {space}, and there are {available} B")
            }
            Self::Aperture(space) => {
                write!(f, "the aperture for {space} is not made of whole MiB on its side of 4 GiB")
            }
        }
    }
}
impl core::error::Error for Error {}

/// A declared port that faces down.
#[derive(Clone, Debug)]
pub(super) struct Port {
    pub(super) name: String,
    /// The switch it belongs to; none for a root port.
    pub(super) owner: Option<NodeId>,
    pub(super) acs: AcsControl,
    /// What is linked to it.
    pub(super) below: Option<NodeId>,
}

/// A declared device.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) name: String,
    pub(super) kind: NodeKind,
    /// What it is linked to.
    pub(super) above: Option<PortId>,
}

#[derive(Clone, Debug)]
pub(super) enum NodeKind {
    /// Its ports that face down.
    Switch(Vec<PortId>),
    /// The BARs of each function.
    Endpoint(Vec<Vec<Bar>>),
}

/// Collects ports, devices and links.
#[derive(Clone, Default, Debug)]
pub struct TreeBuilder {
    pub(super) ports: Vec<Port>,
    pub(super) nodes: Vec<Node>,
    /// The first thing that went wrong with a link.
    pub(super) wrong: Option<Error>,
}

impl TreeBuilder {
    /// No ports, no devices.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Adds a port of the root complex.
    pub fn root_port(&mut self, name: &str) -> PortId {
        self.port(name, None)
    }
    /// Adds a switch. It has an upstream port, and the ports that [`downstream_port`](Self::downstream_port) gives it.
    pub fn switch(&mut self, name: &str) -> NodeId {
        self.node(name, NodeKind::Switch(Vec::new()))
    }
    /// Adds a port that faces down.
    ///
    /// # Panics
    /// If `switch` is an endpoint.
    pub fn downstream_port(&mut self, switch: NodeId, name: &str) -> PortId {
        let port = self.port(name, Some(switch));
        match &mut self.nodes[switch.index()].kind {
            NodeKind::Switch(ports) => ports.push(port),
            NodeKind::Endpoint(_) => panic!("`{name}`: an endpoint has no port that faces down"),
        }
        port
    }
    /// Adds an endpoint with the BARs of each of its functions.
    pub fn endpoint(
        &mut self,
        name: &str,
        functions: impl IntoIterator<Item = impl IntoIterator<Item = Bar>>,
    ) -> NodeId {
        let functions = functions.into_iter().map(|bars| bars.into_iter().collect()).collect();
        self.node(name, NodeKind::Endpoint(functions))
    }
    /// Sets Access Control Services of a port; all off unless it is said.
    pub fn acs(&mut self, port: PortId, control: AcsControl) {
        self.ports[port.index()].acs = control;
    }
    /// Links a port to the device below it. What is wrong with it, [`enumerate`](Self::enumerate) says.
    pub fn link(&mut self, above: PortId, below: NodeId) {
        let (port, node) = (&mut self.ports[above.index()], &mut self.nodes[below.index()]);
        let wrong = if port.below.is_some() {
            Some(Error::PortTaken(port.name.clone(), node.name.clone()))
        } else if node.above.is_some() {
            Some(Error::ReachedTwice(node.name.clone()))
        } else {
            (port.below, node.above) = (Some(below), Some(above));
            None
        };
        self.wrong = self.wrong.take().or(wrong);
    }
    fn port(&mut self, name: &str, owner: Option<NodeId>) -> PortId {
        self.ports.push(Port { name: name.to_owned(), owner, acs: AcsControl::ZERO, below: None });
        PortId((self.ports.len() - 1) as u16)
    }
    fn node(&mut self, name: &str, kind: NodeKind) -> NodeId {
        self.nodes.push(Node { name: name.to_owned(), kind, above: None });
        NodeId((self.nodes.len() - 1) as u16)
    }
    /// The root ports, in the order of their declaration.
    pub(super) fn root_ports(&self) -> impl Iterator<Item = PortId> {
        let root = |port: &Port| port.owner.is_none();
        let numbers = self.ports.iter().enumerate().filter(move |(_, port)| root(port));
        numbers.map(|(number, _)| PortId(number as u16))
    }
}
