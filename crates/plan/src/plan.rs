//! The plan: a scenario, checked and complete. Every default is filled in, and it is known who set what.

mod actions;
mod blocks;
mod cxl;
mod document;
mod end;
mod link;
mod load;
mod network;
mod offered;
mod pts;
mod steady;
mod transfers;

pub use actions::ActionPlan;
pub use blocks::{Blocks, Demand, LeftOut, Thread, Timing};
pub use cxl::{CxlLinkPlan, CxlRole, Decoding, MemoryNode};
pub use end::End;
pub use link::{Absence, ChannelPlan, Down, LinkPlan, Via};
pub use load::{
    DeviceCache, FioCase, FioJob, HintsCase, IometerCase, IometerFile, KernelCase, Load, MemoryCase,
    MemoryProgram, TrafficCase,
};
pub use network::{AssociationPlan, CablePlan, Network, RemotePlan, SubsystemPlan, Wires};
pub use offered::{Arrivals, Offered};
pub use pts::{PtsCell, PtsPlan, PtsTest};
pub use steady::{SteadyRule, Tracked};
pub use transfers::{BlockCase, Cache, DmaCase, DmaOperation, Pattern};

use crate::catalogue::Part;
use lanetwin_document::node::{Node, Origin};
use lanetwin_document::problem::Diagnostic;
use lanetwin_ports::{HOST_SOFTWARE, Model, Params, Protocol, Value};
use lanetwin_units::Span;
use std::collections::BTreeMap;
use std::fmt;

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
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// Independent repetitions of every case.
    pub repeats: u32,
    /// What comes before measuring starts.
    pub warm_up: WarmUp,
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
    /// Block ports that ask a drive on PCIe, by way of a driver on the host above it.
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

/// A component: a model with all its parameters.
#[derive(Clone)]
pub struct ComponentPlan {
    /// Its name.
    pub name: String,
    /// The part it is, unless the scenario names a model.
    pub part: Option<String>,
    /// Its model.
    pub model: &'static Model,
    /// Its parameters, complete.
    pub params: Params,
    /// Who set each of them.
    pub origins: BTreeMap<&'static str, Origin>,
    /// Its ports; the place in the list is the kernel's port number.
    pub ports: Vec<PortPlan>,
}

/// A port of a component.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortPlan {
    /// Its name (`pcie`, `slot1`).
    pub name: String,
    /// The name in the model's declaration (`slot`).
    pub group: &'static str,
    /// What it speaks.
    pub speaks: Protocol,
    /// Whether it is one of several that are alike.
    pub many: bool,
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
    /// The host above the drive, on which the driver runs.
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
    /// How long each case goes on, if it goes in rounds until it is steady.
    pub steady: Option<SteadyRule>,
    /// If there are several hosts: how long after one has lost a drive another asks in its place; none if its requests
    /// wait.
    pub takeover: Option<Span>,
    /// What is asked of the drives beside the load, in the order of writing.
    pub actions: Vec<ActionPlan>,
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

impl ComponentPlan {
    /// Whether it is a host: it has root ports, and a driver can talk to it.
    #[must_use]
    pub fn is_host(&self) -> bool {
        self.has(Protocol::Pcie) && self.has(Protocol::Cpu)
    }
    /// Whether it is a switch of the links.
    #[must_use]
    pub const fn is_switch(&self) -> bool {
        self.model.is_switch()
    }
    /// Whether it is a switch of Ethernet: nothing but Ethernet goes into it.
    #[must_use]
    pub fn is_ethernet_switch(&self) -> bool {
        !self.ports.is_empty() && self.ports.iter().all(|port| port.speaks == Protocol::Ethernet)
    }
    /// Whether it has a port that speaks `protocol`.
    #[must_use]
    pub fn has(&self, protocol: Protocol) -> bool {
        self.ports.iter().any(|port| port.speaks == protocol)
    }
    /// A parameter of the software that a host has for this device, and who said it: the device's own, if somebody said
    /// it for the device, else the host's. None if neither has such a parameter.
    #[must_use]
    pub fn software(&self, name: &str, host: &Self) -> Option<(Value, Origin)> {
        let of = |component: &Self| {
            let origin = component.origins.get(name).copied().unwrap_or(Origin::Default);
            Some((*component.params.0.get(name)?, origin))
        };
        let own = of(self);
        let said = own.filter(|(_, origin)| *origin != Origin::Default);
        said.or_else(|| of(host).filter(|_| name.starts_with(HOST_SOFTWARE))).or(own)
    }
    /// The number of its first port that speaks `protocol`.
    #[must_use]
    pub fn port(&self, protocol: Protocol) -> Option<usize> {
        self.ports.iter().position(|port| port.speaks == protocol)
    }
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

impl PartialEq for ComponentPlan {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.part == other.part
            && std::ptr::eq(self.model, other.model)
            && self.params == other.params
    }
}

impl fmt::Debug for ComponentPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let model = self.model.name;
        f.debug_struct("ComponentPlan")
            .field("name", &self.name)
            .field("model", &model)
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}
