//! CXL of the plan: links between CXL ports, and the memory that they lead to.

use super::component::ComponentPlan;
use super::end::End;
use super::link::{ChannelPlan, Via};
use lanetwin_cxl::hdm::Decoder;
use lanetwin_cxl::logic::FlitMode;
use lanetwin_pcie::spec::Clocking;
use lanetwin_ports::Protocol;
use lanetwin_units::{Bytes, Generation, Span, Width};

/// What a component is to CXL, by its ports: a host has ports down, a device one port up, a switch both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CxlRole {
    /// It asks for lines of memory.
    Host,
    /// It leads them on.
    Switch,
    /// It has memory.
    Device,
}

/// A CXL link.
#[derive(Clone, PartialEq, Debug)]
pub struct CxlLinkPlan {
    /// Its name.
    pub name: String,
    /// The end that is nearer to the host.
    pub host: End,
    /// The end that is farther away.
    pub device: End,
    /// The generation of PCIe whose lanes it runs on.
    pub generation: Generation,
    /// The number of its lanes.
    pub width: Width,
    /// The reference clocks of its two ends.
    pub clocking: Clocking,
    /// The time of flight, one way, without what lies between.
    pub propagation: Span,
    /// The bit error ratio of each direction, end to end.
    pub bit_error_ratio: f64,
    /// That of each segment between retimers, from the host on; of the whole link if there is one number.
    pub segments: Vec<f64>,
    /// The channel that these come from, if they do.
    pub channel: Option<ChannelPlan>,
    /// What stands in it, in the order of writing.
    pub via: Vec<Via>,
    /// Whether SKP ordered sets are sent.
    pub skp: bool,
    /// Its flits.
    pub flits: FlitMode,
    /// What CXL.io moves beside memory, in each direction \[B/s\].
    pub io: u64,
}

/// Memory that one host sees as a node of its own (a NUMA node without processors).
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryNode {
    /// The host: its place in [`super::Variant::machine`].
    pub host: usize,
    /// Its name: that of its device, or of the `interleave` that made it.
    pub name: String,
    /// The devices that it is spread over, in the order of the interleave: their places in the machine.
    pub devices: Vec<usize>,
    /// Its first host physical address \[B\].
    pub base: u64,
    /// Its size.
    pub size: Bytes,
    /// The bytes that go to one device before the next has its turn; of one device it does not matter.
    pub granularity: u64,
}

/// What a component with CXL ports downstream is told of the memory behind them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoding {
    /// The component: its place in [`super::Variant::machine`].
    pub component: usize,
    /// Its decoders, in the order of addresses.
    pub decoders: Vec<Decoder>,
}

impl CxlLinkPlan {
    /// The time of flight, one way, with what lies between.
    #[must_use]
    pub fn flight(&self) -> Span {
        self.via.iter().fold(self.propagation, |sum, via| sum + via.latency)
    }
    /// How many retimers stand in it.
    #[must_use]
    pub fn retimers(&self) -> usize {
        self.via.iter().filter(|via| via.is_retimer).count()
    }
    /// Whether this component is at one of its ends.
    #[must_use]
    pub const fn is_at(&self, component: usize) -> bool {
        self.host.component == component || self.device.component == component
    }
}

impl ComponentPlan {
    /// What it is to CXL; nothing if it has no CXL port.
    #[must_use]
    pub fn cxl_role(&self) -> Option<CxlRole> {
        let has = |many: bool| self.model.ports.iter().any(|p| p.speaks == Protocol::Cxl && p.many == many);
        match (has(false), has(true)) {
            (false, false) => None,
            (false, true) => Some(CxlRole::Host),
            (true, false) => Some(CxlRole::Device),
            (true, true) => Some(CxlRole::Switch),
        }
    }
    /// Whether a port of it leads down, to memory.
    #[must_use]
    pub fn is_down(&self, port: usize) -> bool {
        self.ports[port].speaks == Protocol::Cxl && self.ports[port].many
    }
    /// The place of a port among the CXL ports that lead down, which is what decoders call it.
    #[must_use]
    pub fn place_down(&self, port: usize) -> usize {
        (0..port).filter(|port| self.is_down(*port)).count()
    }
}
