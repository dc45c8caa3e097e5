//! The plan: a scenario, checked and complete. Every default is filled in, and it is known who set what.

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
pub use blocks::{AllowedCores, Blocks, Demand, LeftOut, Thread, Timing};
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

/// What is to be simulated, and how the run goes.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The scenario's name: its file's, without the ending.
    pub name: String,
    /// The question, in a sentence.
    pub about: String,
    /// Where the scenario was read from.
    pub path: String,
    /// The scenario as it was written.
    pub text: String,
    /// The texts of the files that its workloads name, by the names that they give them.
    pub files: BTreeMap<String, String>,
    /// The variants, in the order of writing; at least one.
    pub variants: Vec<Variant>,
    /// How the variants are compared.
    pub compare: Compare,
    /// How often and for how long.
    pub run: Run,
    /// The parts that the components are, by name.
    pub parts: BTreeMap<String, Part>,
    /// What may not be as it was meant.
    pub warnings: Vec<Diagnostic>,
}

/// How the variants are compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Compare {
    /// The variant that the others are held against: its place in [`Plan::variants`].
    pub baseline: usize,
    /// The relative difference below which two results are equivalent.
    pub equivalent_within: f64,
}

/// How often and for how long.
#[derive(Clone, PartialEq, Debug)]
pub struct Run {
    /// Independent repetitions of every case.
    pub repeats: u32,
    /// What comes before measuring starts.
    pub warm_up: WarmUp,
    /// How well what is compared shall be known; none if there are as many repeats as said.
    pub until: Option<Until>,
    /// What a case may cost until it is steady, and known as well as it shall be.
    pub budget: Budget,
    /// The seed of all random numbers.
    pub seed: u64,
}

/// What comes before measuring starts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum WarmUp {
    /// As long as it takes to reach a steady state.
    Auto,
    /// This many transfers.
    Transfers(u64),
}

/// One machine with its workloads.
#[derive(Clone, PartialEq, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// The components, in the order of writing.
    pub machine: Vec<ComponentPlan>,
    /// The PCIe links, in the order of writing.
    pub links: Vec<LinkPlan>,
    /// When hosts are without drives that move between partitions.
    pub absences: Vec<Absence>,
    /// The CXL links, in the order of writing.
    pub cxl: Vec<CxlLinkPlan>,
    /// The memory of each host with CXL ports, in the order of addresses; the first is its own.
    pub nodes: Vec<MemoryNode>,
    /// What those hosts and the switches below are told of it.
    pub decoding: Vec<Decoding>,
    /// Its network of Ethernet.
    pub network: Network,
    /// Ports joined by nothing but a connection (block ports).
    pub joins: Vec<Join>,
    /// Block ports that ask a drive on PCIe, by way of a driver on a host.
    pub driven: Vec<Driven>,
    /// The workloads, in the order of writing.
    pub workloads: Vec<WorkloadPlan>,
    /// `machine`, `links`, `partitions`, `interleave` and `workloads` as a document, with every default filled in; each
    /// node knows who said it.
    pub document: Node,
}

impl Variant {
    /// The link that ends at a port; none if it is not linked.
    #[must_use]
    pub fn link_of(&self, end: End) -> Option<&LinkPlan> {
        self.links.iter().find(|link| link.from == end || link.to == end)
    }
}

/// Block ports that are joined: `from` asks, `to` answers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Join {
    /// Its name in `links:`.
    pub name: String,
    /// The end that is written first.
    pub from: End,
    /// The other end.
    pub to: End,
}

/// A block port that asks a drive on PCIe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Driven {
    /// Its name in `links:`.
    pub name: String,
    /// The block port.
    pub from: End,
    /// The drive: its place in [`Variant::machine`].
    pub drive: usize,
    /// The host on which the driver runs: the one above the drive, or another that asks it over the network.
    pub host: usize,
}

/// A workload: one load, or the same for each of several devices at once; in one or more cases.
#[derive(Clone, PartialEq, Debug)]
pub struct WorkloadPlan {
    /// Its name.
    pub name: String,
    /// Who asks whom, in the order of writing: a load each; at least one, and no device twice.
    pub pairs: Vec<Pair>,
    /// What is measured one after the other, in the order of the lists; at least one.
    pub cases: Vec<Case>,
    /// Whether each case is measured as long as somebody says, if it does not go in rounds.
    pub length: RunLength,
    /// How long each case goes on, if it goes in rounds until it is steady.
    pub steady: Option<SteadyRule>,
    /// If there are several hosts: how long after one has lost a drive another asks in its place; none if its requests
    /// wait.
    pub takeover: Option<Span>,
    /// What runs on the cores of the host that asks, meanwhile; none if they have nothing else to do.
    pub programs: Option<ProgramsPlan>,
    /// What is asked of the drives beside the load, in the order of writing.
    pub actions: Vec<ActionPlan>,
}

/// Programs that load and store beside a load, on the cores of the host that asks.
#[derive(Clone, PartialEq, Debug)]
pub struct ProgramsPlan {
    /// The memory host that has the caches and the memory of that host: its place in [`Variant::machine`].
    pub on: usize,
    /// What they do; it has no end.
    pub case: Box<MemoryCase>,
}

/// Who asks whom.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The component that asks: its place in [`Variant::machine`].
    pub on: usize,
    /// The component that answers.
    pub target: usize,
    /// The logical unit of it that is asked; 0 is the first.
    pub unit: u16,
    /// The name of the device of the two: the card (DMA), the drive (`ssd`) or its unit (`hba.lun1`) that is asked for
    /// blocks.
    pub device: String,
}

/// One point of a sweep.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// What it is called: `64 B`, `64 B, 8 in flight`.
    pub label: String,
    /// Its place on the axis of the sweep, if there is one.
    pub axis: Option<Axis>,
    /// What is asked.
    pub load: Load,
}

/// A place on an axis.
#[derive(Clone, PartialEq, Debug)]
pub struct Axis {
    /// What the axis is: `size`, `outstanding`, `depth`, `rate`.
    pub name: &'static str,
    /// The place.
    pub value: f64,
    /// Its unit: `B`, `Gb/s`, `MB/s`, or none.
    pub unit: &'static str,
    /// Which of several curves over the axis it is on; empty if there is one.
    pub curve: String,
}

impl WorkloadPlan {
    /// The test of the SNIA PTS that it is, if it is one: its only case.
    #[must_use]
    pub fn pts(&self) -> Option<&PtsPlan> {
        self.cases.first()?.load.blocks()
    }
    /// Whether this component asks or answers.
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
