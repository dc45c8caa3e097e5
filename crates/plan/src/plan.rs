//! The plan: a scenario, checked and complete. Every default is filled in, and the origin of each value is recorded.

mod actions;
mod blocks;
mod component;
mod cxl;
mod document;
mod end;
mod length;
mod link;
mod load;
mod network;
mod offered;
mod peers;
mod pts;
mod steady;
mod transfers;
mod written;

pub use actions::ActionPlan;
pub use blocks::{AllowedCores, Blocks, Demand, LeftOut, Programs, Step, Thread, Timing};
pub use component::{ComponentPlan, PortPlan};
pub use cxl::{CxlLinkPlan, CxlRole, Decoding, MemoryNode};
pub use end::End;
pub use length::{Budget, RunLength, Until};
pub use link::{Absence, ChannelPlan, Down, LinkPlan, Via};
pub use load::{
    DeviceCache, FioCase, FioJob, HintsCase, IometerCase, IometerFile, IometerWorker, KernelCase, Load,
    MemoryCase, MemoryProgram, RecordedCase, TrafficCase,
};
pub use network::{
    AccessPlan, AssociationPlan, CablePlan, ConnectionPlan, Digests, LeavePlan, Network, PortOffer,
    RemotePlan, SubsystemPlan, TransportPlan, Wires,
};
pub use offered::{Arrivals, Offered};
pub use peers::{PeerPath, Peers};
pub use pts::{PtsCell, PtsPlan, PtsTest};
pub use steady::{SteadyRule, Tracked};
pub use transfers::{BlockCase, Cache, DmaCase, DmaOperation, Pattern};
pub use written::AccessShape;

use crate::catalogue::Part;
use lanetwin_document::node::Node;
use lanetwin_document::problem::Diagnostic;
use lanetwin_units::Span;
use std::collections::BTreeMap;

/// The machines and loads to simulate, and the settings of the run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's name: that of its file, without the extension.
    pub name: String,
    /// The scenario's question, in a sentence.
    pub about: String,
    /// The path that the scenario was read from.
    pub path: String,
    /// The scenario as it was written.
    pub text: String,
    /// The texts of the files that its workloads name, by those names.
    pub files: BTreeMap<String, String>,
    /// The variants, in the order of the scenario; at least one.
    pub variants: Vec<Variant>,
    /// How the variants are compared.
    pub compare: Compare,
    /// Repeats, warm-up and budget of the run.
    pub run: Run,
    /// The parts of the components, by name.
    pub parts: BTreeMap<String, Part>,
    /// Warnings: what may not be as the author meant it.
    pub warnings: Vec<Diagnostic>,
}

/// How the variants are compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Compare {
    /// Index in [`Plan::variants`] of the variant with which the others are compared.
    pub baseline: usize,
    /// The relative difference below which two results are equivalent.
    pub equivalent_within: f64,
}

/// Repeats, warm-up and budget of a run.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Independent repetitions of every case.
    pub repeats: u32,
    /// The warm-up before each measurement.
    pub warm_up: WarmUp,
    /// Required precision of compared metrics; `None` if the number of repeats is fixed.
    pub until: Option<Until>,
    /// Maximum cost of a case until it is steady and precise enough.
    pub budget: Budget,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// The warm-up before a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarmUp {
    /// Until a steady state is reached.
    Auto,
    /// This many transfers.
    Transfers(u64),
}

/// One machine with its workloads.
#[derive(Clone, PartialEq, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The components, in the order of the scenario.
    pub machine: Vec<ComponentPlan>,
    /// The PCIe links, in the order of the scenario.
    pub links: Vec<LinkPlan>,
    /// Times at which hosts lack drives that move between partitions.
    pub absences: Vec<Absence>,
    /// The CXL links, in the order of the scenario.
    pub cxl: Vec<CxlLinkPlan>,
    /// The memory nodes of hosts with CXL ports, in the order of addresses; the first of each host is its own memory.
    pub nodes: Vec<MemoryNode>,
    /// The decoders of those hosts and of the switches below them.
    pub decoding: Vec<Decoding>,
    /// Its Ethernet network.
    pub network: Network,
    /// Block ports that are connected directly.
    pub joins: Vec<Join>,
    /// Block ports that use a drive on PCIe through a driver on a host.
    pub driven: Vec<Driven>,
    /// The workloads, in the order of the scenario.
    pub workloads: Vec<WorkloadPlan>,
    /// `machine`, `links`, `partitions`, `interleave` and `workloads` as a document, with every default filled in; each
    /// node records its origin.
    pub document: Node,
}

impl Variant {
    /// The link at a port; `None` if the port has none.
    #[must_use]
    pub fn link_of(&self, end: End) -> Option<&LinkPlan> {
        self.links.iter().find(|link| link.from == end || link.to == end)
    }
}

/// A connection of block ports: `from` sends requests, `to` answers them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Join {
    /// Its name in `links:`.
    pub name: String,
    /// The first end in the scenario.
    pub from: End,
    /// The other end.
    pub to: End,
}

/// A block port that uses a drive on PCIe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Driven {
    /// Its name in `links:`.
    pub name: String,
    /// The block port.
    pub from: End,
    /// Index of the drive in [`Variant::machine`].
    pub drive: usize,
    /// The host that runs the driver: the one above the drive, or one that accesses it over the network.
    pub host: usize,
}

/// A workload: one load, or the same load on several devices at once, in one or more cases.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkloadPlan {
    /// Its name.
    pub name: String,
    /// Initiators and targets, in the order of the scenario, with a load each; at least one, and no device twice.
    pub pairs: Vec<Pair>,
    /// The cases, which are measured one after the other, in the order of the lists; at least one.
    pub cases: Vec<Case>,
    /// Whether the length of each case is given, if it does not run in rounds.
    pub length: RunLength,
    /// The rule for the length of a case that runs in rounds until it is steady.
    pub steady: Option<SteadyRule>,
    /// With several hosts: the time after which another host takes over when one has lost a drive; `None` if its
    /// requests wait.
    pub takeover: Option<Span>,
    /// Programs on the cores of the initiating host, besides the load; `None` if there are none.
    pub programs: Option<ProgramsPlan>,
    /// Commands to the drives, besides the load, in the order of the scenario.
    pub actions: Vec<ActionPlan>,
}

/// Programs that load and store on the cores of the initiating host, besides the load.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramsPlan {
    /// Index in [`Variant::machine`] of the memory host with the caches and the memory of that host.
    pub on: usize,
    /// Their loads and stores, without an end.
    pub case: Box<MemoryCase>,
}

/// An initiator and its target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// Index of the initiator in [`Variant::machine`].
    pub on: usize,
    /// Index of the target.
    pub target: usize,
    /// The logical unit of the target; 0 is the first.
    pub unit: u16,
    /// The name of the device of the two: the card (DMA), the drive (`ssd`) or its logical unit (`hba.lun1`).
    pub device: String,
}

/// One point of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// Its label: `64 B`, `64 B, 8 in flight`.
    pub label: String,
    /// Its position on the axis of the sweep, if there is one.
    pub axis: Option<Axis>,
    /// The load.
    pub load: Load,
}

/// A position on an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// Name of the axis: `size`, `outstanding`, `depth`, `rate`.
    pub name: &'static str,
    /// Value on the axis.
    pub value: f64,
    /// Unit of the axis: `B`, `Gb/s`, `MB/s`, or empty.
    pub unit: &'static str,
    /// The curve that it belongs to, if several share the axis; otherwise empty.
    pub curve: String,
}

impl WorkloadPlan {
    /// The plan of the SNIA PTS test, if the workload is one: its only case.
    #[must_use]
    pub fn pts(&self) -> Option<&PtsPlan> {
        self.cases.first()?.load.blocks()
    }
    /// Whether this component is an initiator or a target.
    #[must_use]
    pub fn uses(&self, component: usize) -> bool {
        self.pairs.iter().any(|pair| pair.on == component || pair.target == component)
            || self.programs.as_ref().is_some_and(|programs| programs.on == component)
    }
}

impl Variant {
    /// The component with this name.
    #[must_use]
    pub fn component(&self, name: &str) -> Option<&ComponentPlan> {
        self.machine.iter().find(|component| component.name == name)
    }
    /// `card.pcie`
    #[must_use]
    pub fn port_name(&self, end: End) -> String {
        let component = &self.machine[end.component];
        format!("{}.{}", component.name, component.ports[end.port].name)
    }
}
