//! What a kind of workload is, as it is declared.
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

/// More cases than this are a slip of the pen.
pub(crate) const MOST_CASES: usize = 10_000;

/// A kind of workload.
pub(crate) struct Kind {
    /// The key of its section in a workload.
    pub name: &'static str,
    /// What it is, in half a sentence.
    pub about: &'static str,
    /// The keys of its section.
    pub keys: &'static [Field],
    /// Who asks whom.
    pub who: Who,
    /// Whether it can go in rounds until it is steady, as `steady-state` has it.
    pub rounds: bool,
    /// The file that its section names, if it names one: what it says is in [`Configurations::content`].
    pub file: Option<FileOf>,
    /// Reads its section, whose keys have been checked; none if something is wrong, which is reported.
    pub read: fn(&mut Fields<'_>, Place<'_>, &mut Reports) -> Option<Asked>,
}

/// Who asks whom.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Who {
    /// Cards ask a host, by DMA.
    Cards,
    /// Hosts ask drives, for blocks.
    Hosts,
    /// Programs of hosts send to those of other hosts.
    Peers,
    /// Hosts ask drives, for blocks; or, where the target is a host, its programs.
    HostsOrPeers,
    /// A host asks a single NVMe drive, for blocks.
    OneDrive,
    /// The cores of a host load and store.
    Cores,
}

/// What a section asks for.
pub(crate) struct Asked {
    /// What is measured one after the other.
    pub cases: Vec<Case>,
    /// The rounds in which it goes, if the kind itself says so.
    pub rounds: Option<SteadyRule>,
}

impl Asked {
    /// Cases without rounds of their own.
    pub(crate) const fn of(cases: Vec<Case>) -> Self {
        Self { cases, rounds: None }
    }
}

/// What a section is about.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The components of the machine.
    pub machine: &'a dyn Components,
    /// The memory of hosts with CXL ports.
    pub nodes: &'a [MemoryNode],
    /// What the files that workloads name say.
    pub configurations: &'a Configurations,
    /// The host whose cores ask, if cores do.
    pub cores_of: Option<usize>,
    /// Whether the targets are hosts, whose programs are sent to.
    pub peers: bool,
    /// How much of each target a load of blocks can reach, by the smallest; none if nothing says it.
    pub room: Option<Bytes>,
}

/// The components of a machine that may not have been understood.
pub(crate) trait Components {
    /// The component, if it was understood.
    fn plan(&self, component: usize) -> Option<&ComponentPlan>;
    /// What the author calls it.
    fn label(&self, component: usize) -> String;
    /// The host that is in the same assembly as a component, if there is one.
    fn host_beside(&self, component: usize) -> Option<usize>;
    /// Whether a component of this name was not understood.
    fn is_unclear(&self, name: &str) -> bool;
}
