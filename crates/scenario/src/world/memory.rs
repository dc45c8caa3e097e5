//! Programs on a memory host: they are the load, and the host counts what they do.

mod rows;

pub(super) use rows::metrics;
pub use rows::MemoryUse;

use super::wire::{Ids, Wiring, World};
use crate::plan::{Load, MemoryCase, MemoryProgram, TrafficCase};
use lanetwin_kernel::ComponentId;
use lanetwin_load::memory::{Chase, ChaseOrder, ChaseSpec, Placement, Program, Traffic, TrafficSpec};
use lanetwin_load::{Little, Results, Side};
use lanetwin_models::memory_host::{MemoryHost, MemoryResults};
use lanetwin_stats::Histogram;
use lanetwin_units::{Bytes, Instant};

/// The line of a cache \[B\].
const LINE: u64 = 64;
/// What the programs are called: random streams derive from it.
pub(super) const TRAFFIC: &str = "traffic";
pub(super) const CHASE: &str = "chase";

/// The host whose cores are the load.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WorldMemory {
    /// What it is in the kernel.
    pub host: ComponentId,
    /// Its name.
    pub name: String,
    /// The names of its nodes, in the order of their numbers.
    pub nodes: Vec<String>,
}

impl Wiring<'_> {
    /// The host whose cores are the load, if they are.
    pub(super) fn memory(&self, ids: &Ids) -> Option<WorldMemory> {
        let Load::Memory(_) = self.case.load else { return None };
        let on = self.workload.pairs.first()?.on;
        let nodes = self.variant.nodes.iter().filter(|node| node.host == on);
        let nodes = nodes.map(|node| node.name.clone()).collect();
        Some(WorldMemory { host: ids.of(on), name: self.variant.machine[on].name.clone(), nodes })
    }

    /// Gives the host what its cores run.
    pub(super) fn run_programs(&self, world: &mut World) {
        let Load::Memory(case) = &self.case.load else { return };
        let host = world.memory_host().expect("a load of memory has a host");
        for (name, program) in programs(case, self.seed) {
            let placement = Placement::new(name, case.policy.clone());
            host.run(program, placement).expect("a checked plan places pages where there is room");
        }
    }
}

/// The programs of a case, the one whose latency is told last.
fn programs(case: &MemoryCase, seed: u64) -> Vec<(&'static str, Box<dyn Program>)> {
    let chase = |bytes, order| {
        let spec = ChaseSpec { bytes, stride: LINE, order, count: None };
        let chase = Chase::new(spec, seed, CHASE).expect("a checked plan leaves a line to chase");
        (CHASE, Box::new(chase) as Box<dyn Program>)
    };
    match case.program {
        MemoryProgram::Chase { working_set: Bytes(bytes), order } => vec![chase(bytes, order)],
        MemoryProgram::Traffic(traffic) => {
            let TrafficCase { mix, order, threads, working_set, delay, chaser } = traffic;
            let buffer = working_set.0 / u64::from(threads);
            let spec = TrafficSpec { threads, buffer, mix, order, think: delay, count: None };
            let traffic = Traffic::new(spec, seed, TRAFFIC).expect("a checked plan leaves a line for each thread");
            let traffic = (TRAFFIC, Box::new(traffic) as Box<dyn Program>);
            let chaser = chaser.then(|| chase(buffer, ChaseOrder::Random));
            std::iter::once(traffic).chain(chaser).collect()
        }
    }
}

impl World {
    /// The host whose cores are the load, if they are.
    pub fn memory_host(&mut self) -> Option<&mut MemoryHost> {
        let id = self.memory.as_ref()?.host;
        Some(self.kernel.component::<MemoryHost>(id).expect("cores that load and store are those of a memory host"))
    }
    /// What all programs have shown up to `at`, the present; nothing if the load is no load of memory.
    pub(super) fn memory_use(&mut self, at: Instant) -> Option<MemoryUse> {
        let WorldMemory { name, nodes, .. } = self.memory.clone()?;
        Some(MemoryUse { host: name, programs: self.memory_results(at), nodes })
    }
    /// What each program has counted up to `at`, the present; nothing if the load is no load of memory.
    pub fn memory_results(&mut self, at: Instant) -> Vec<MemoryResults> {
        self.memory_host().map(|host| host.results(at)).unwrap_or_default()
    }
}

/// What a program has counted, as other loads tell it: loads with their latency, lines that were written without.
pub(super) fn as_results(program: &MemoryResults) -> Results {
    let lines = |of: fn(&lanetwin_models::memory_host::NodeTraffic) -> u64| program.nodes.iter().map(of).sum::<u64>();
    let side = |lines: u64, corrupt: u64, latency: Histogram| Side {
        completed: lines,
        bytes: lines * LINE,
        latency,
        corrupt,
        aborted: 0,
    };
    let Little { area_ps, residence_ps } = program.little;
    Results {
        since: program.since,
        until: program.until,
        reads: side(lines(|n| n.lines_read), lines(|n| n.corrupt), program.loads.clone()),
        writes: side(lines(|n| n.lines_written), 0, Histogram::new()),
        little: Little { area_ps, residence_ps },
        outstanding: program.outstanding,
        intervals: None,
    }
}
