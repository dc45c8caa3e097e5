//! CXL of the plan: links between CXL ports, and the memory behind them.

use super::component::ComponentPlan;
use super::end::End;
use super::link::{ChannelPlan, Via};
use lanetwin_cxl::hdm::Decoder;
use lanetwin_cxl::logic::FlitMode;
use lanetwin_pcie::spec::Clocking;
use lanetwin_ports::Protocol;
use lanetwin_units::{Bytes, Generation, Span, Width};

/// The role of a component in CXL, by its ports: a host has downstream ports, a device one upstream port, a switch
/// both.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CxlRole {
    /// Sends requests for lines of memory.
    Host,
    /// Forwards them.
    Switch,
    /// Has memory.
    Device,
}

/// A CXL link.
#[derive(Clone, PartialEq, Debug)]
pub struct CxlLinkPlan {
    /// Its name.
    pub name: String,
    /// The end towards the host.
    pub host: End,
    /// The end towards the device.
    pub device: End,
    /// The PCIe generation of its lanes.
    pub generation: Generation,
    /// Its lane count.
    pub width: Width,
    /// Reference clocks of its two ends.
    pub clocking: Clocking,
    /// Time of flight, one way, without the stages in the link.
    pub propagation: Span,
    /// Bit error ratio of each direction, end to end.
    pub bit_error_ratio: f64,
    /// Bit error ratio of each segment between retimers, from the host on; a single number is for the whole link.
    pub segments: Vec<f64>,
    /// The channel that the bit error ratios come from, if there is one.
    pub channel: Option<ChannelPlan>,
    /// The stages in it (retimers and others), in the order of the scenario.
    pub via: Vec<Via>,
    /// Whether SKP ordered sets are sent.
    pub skp: bool,
    /// Its flits.
    pub flits: FlitMode,
    /// CXL.io traffic besides memory, in each direction \[B/s\].
    pub io: u64,
}

/// Memory that a host sees as a NUMA node without processors.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MemoryNode {
    /// Index of the host in [`super::Variant::machine`].
    pub host: usize,
    /// Its name: that of its device, or of its `interleave`.
    pub name: String,
    /// The indices in the machine of the devices that it is interleaved over, in the order of the interleave.
    pub devices: Vec<usize>,
    /// Its first host physical address \[B\].
    pub base: u64,
    /// Its size.
    pub size: Bytes,
    /// Interleave granularity \[B\]; irrelevant for one device.
    pub granularity: u64,
}

/// The HDM decoders of a component with downstream CXL ports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoding {
    /// Index of the component in [`super::Variant::machine`].
    pub component: usize,
    /// Its decoders, in the order of addresses.
    pub decoders: Vec<Decoder>,
}

impl CxlLinkPlan {
    /// Time of flight, one way, with the stages in the link.
    #[must_use]
    pub fn flight(&self) -> Span {
        self.via.iter().fold(self.propagation, |sum, via| sum + via.latency)
    }
    /// Number of retimers in it.
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
    /// Its role in CXL; `None` if it has no CXL port.
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
    /// Whether one of its ports is downstream, towards memory.
    #[must_use]
    pub fn is_down(&self, port: usize) -> bool {
        self.ports[port].speaks == Protocol::Cxl && self.ports[port].many
    }
    /// Index of a port among the downstream CXL ports; decoders use this number.
    #[must_use]
    pub fn place_down(&self, port: usize) -> usize {
        (0..port).filter(|port| self.is_down(*port)).count()
    }
}
