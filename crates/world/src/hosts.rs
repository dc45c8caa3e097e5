//! Resources shared by the components and the software of a host: its memory, and its cores if their number is given.
//!
//! ```text
//!  loads of the host, in the order of the scenario    0  1  2  3  4
//!  cores: 2                                           0  1  0  1  0     a load's queue pairs on all paths are on its core
//!  cores: 0                                           each queue pair has one of its own
//! ```
//!
//! An adapter that is a target by itself has one engine, which is modelled as a core.
//!
//! The threads of a `memory-host` take turns on its cores. If they run beside a load, they use the cores of the host
//! that runs the load.

use lanetwin_plan::{ComponentPlan, CxlRole, Variant, WorkloadPlan};
use lanetwin_ports::{RunQueue, SharedMemory};
use std::collections::BTreeMap;

/// Resources shared by the components and the software of a host.
pub(super) struct Host {
    pub(super) memory: SharedMemory,
    pub(super) cores: Vec<RunQueue>,
}

/// The hosts, by their index in the machine.
pub(super) type Hosts = BTreeMap<usize, Host>;

impl Host {
    fn new(component: &ComponentPlan) -> Self {
        let cores = (component.model.cores)(&component.params);
        Self { memory: SharedMemory::new(), cores: (0..cores).map(|_| RunQueue::new(1)).collect() }
    }
    /// The core of the host's `thread`-th load: cores are assigned round robin. Returns `None` if the number of cores
    /// is not given.
    pub(super) fn core(&self, thread: usize) -> Option<RunQueue> {
        self.cores.get(thread.checked_rem(self.cores.len())?).cloned()
    }
    /// The `nth` of the allowed cores, round robin. Returns `None` if the host has none of them.
    pub(super) fn core_among(&self, allowed: &[u32], nth: usize) -> Option<RunQueue> {
        let there: Vec<&RunQueue> =
            allowed.iter().filter_map(|number| self.cores.get(*number as usize)).collect();
        there.get(nth.checked_rem(there.len())?).copied().cloned()
    }
}

/// The hosts of a machine.
pub(super) fn hosts(variant: &Variant, workload: &WorkloadPlan) -> Hosts {
    let mut hosts = apart(variant);
    if let (Some(programs), Some(pair)) = (&workload.programs, workload.pairs.first()) {
        let cores = hosts[&pair.on].cores.clone();
        hosts.get_mut(&programs.on).expect("programs run on a host").cores = cores;
    }
    hosts
}

/// The hosts, each with cores of its own.
fn apart(variant: &Variant) -> Hosts {
    let is_host =
        |component: &ComponentPlan| component.is_host() || component.cxl_role() == Some(CxlRole::Host);
    let hosts = variant.machine.iter().enumerate().filter(|(_, component)| is_host(component));
    let mut hosts: Hosts = hosts.map(|(place, component)| (place, Host::new(component))).collect();
    for subsystem in variant.network.subsystems.iter().filter(|subsystem| subsystem.offload) {
        for port in &subsystem.ports {
            hosts
                .entry(port.adapter)
                .or_insert_with(|| Host { memory: SharedMemory::new(), cores: vec![RunQueue::new(1)] });
        }
    }
    hosts
}
