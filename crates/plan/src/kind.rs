//! Kinds of workload, as they are declared.
//!
//! ```text
//!  kinds/<kind>.rs   KIND: Kind     keys, who asks, files that it names; read: a section ─► cases
//!                                                                                             │
//!  scenario checking, schema, plan  ◄─ the list in `kinds.rs`          Load: by DMA, of blocks, of memory
//!  run, rows, waterfalls, warnings  ◄──────────────────────────────────────┘ (`plan::Blocks`)
//! ```

use crate::files::{Configurations, FileOf};
use crate::plan::{Case, ComponentPlan, MemoryNode, SteadyRule};
use lanetwin_document::declaration::Field;
use lanetwin_document::fields::Fields;
use lanetwin_document::problem::Reports;
use lanetwin_units::Bytes;

/// Maximum number of cases; more are taken for a typing error.
pub(crate) const MOST_CASES: usize = 10_000;

/// A kind of workload.
pub(crate) struct Kind {
    /// The key of its section in a workload.
    pub name: &'static str,
    /// A description of half a sentence.
    pub about: &'static str,
    /// The keys of its section.
    pub keys: &'static [Field],
    /// Initiators and targets.
    pub who: Who,
    /// Whether it can run in rounds until it is steady, by `steady-state`.
    pub rounds: bool,
    /// The file that its section names, if it names one; its content is in [`Configurations::content`].
    pub file: Option<FileOf>,
    /// Reads its section, whose keys have been checked. Returns `None` after an error, which is reported.
    pub read: fn(&mut Fields<'_>, Place<'_>, &mut Reports) -> Option<Asked>,
}

/// Initiators and targets of a kind of workload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// Cards access a host's memory by DMA.
    Cards,
    /// Hosts read and write blocks of drives.
    Hosts,
    /// Programs of hosts send to programs of other hosts.
    Peers,
    /// The same over queue pairs.
    QueuePairs,
    /// Hosts read and write blocks of drives; or, if the target is a host, send to its programs.
    HostsOrPeers,
    /// A host reads and writes blocks of a single NVMe drive.
    OneDrive,
    /// The cores of a host load and store.
    Cores,
}

/// The result of reading a section.
pub(crate) struct Asked {
    /// The cases, which are measured one after the other.
    pub cases: Vec<Case>,
    /// The rule for its rounds, if the kind itself sets one.
    pub rounds: Option<SteadyRule>,
}

impl Asked {
    /// Cases without rounds of their own.
    pub(crate) const fn of(cases: Vec<Case>) -> Self {
        Self { cases, rounds: None }
    }
}

/// The context in which a section is read.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The components of the machine.
    pub machine: &'a dyn Components,
    /// The memory of hosts with CXL ports.
    pub nodes: &'a [MemoryNode],
    /// The content of the files that workloads name.
    pub configurations: &'a Configurations,
    /// The host whose cores load and store, for loads of cores.
    pub cores_of: Option<usize>,
    /// Whether the targets are hosts, to whose programs the load sends.
    pub peers: bool,
    /// Size of each target that a block load can reach, by the smallest target; `None` if it is unknown.
    pub room: Option<Bytes>,
}

/// The components of a machine, some of which may have errors.
pub(crate) trait Components {
    /// The component, if it has no errors.
    fn plan(&self, component: usize) -> Option<&ComponentPlan>;
    /// The component's name in the scenario.
    fn label(&self, component: usize) -> String;
    /// The host that is in the same assembly as a component, if there is one.
    fn host_beside(&self, component: usize) -> Option<usize>;
    /// Whether a component of this name had errors.
    fn is_unclear(&self, name: &str) -> bool;
}
