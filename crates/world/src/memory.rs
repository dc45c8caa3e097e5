//! Programs on a memory host: they are the load, or run beside one. The host counts their accesses.

mod devices;
pub(super) mod rows;
mod start;
mod usage;

use usage::CHASE;
pub use usage::MemoryUse;

use super::blueprint::{Blueprint, Ids};
use super::world::{World, WorldMemory};
use lanetwin_kernel::ComponentId;
use lanetwin_load::memory::placement::PAGE;
use lanetwin_load::memory::{
    Chase, ChaseOrder, ChaseSpec, Placement, Program, RecordedProgram, Traffic, TrafficSpec,
};
use lanetwin_load::{Little, Results, Side, StageTimes, Tally};
use lanetwin_models::roles::memory::{Advised, MemoryResults, NodeTraffic, PageAdvice, RunsPrograms};
use lanetwin_plan::{
    HintsCase, KernelCase, Load, MemoryCase, MemoryProgram, ProgramsPlan, RecordedCase, TrafficCase,
};
use lanetwin_ports::Value;
use lanetwin_stats::Histogram;
use lanetwin_units::{Bytes, Instant, Span};
use std::sync::Arc;

/// Size of a cache line \[B\].
const LINE: u64 = 64;
/// Programs whose footprint is at most this many times the size of the caches start with warm caches.
const WARMED: u64 = 4;
/// Rounds of a program that comes back to each of its lines after all others, before it is measured: in the first the
/// caches fill, so that only in the next as many dirty lines leave them as ever after, …
const ROUNDS: u64 = 2;
/// … and under random replacement as many of those that would be hit in the one after that. A program that is larger
/// than the caches makes as many of them as go through [`WARMED`] times the lines of the caches.
const ROUNDS_AT_RANDOM: u64 = 3;
/// The end of a program is checked for after each 1/4096 of its time, …
const SLICES: u64 = 4096;
/// … but not more often than this.
const SHORTEST_SLICE: Span = Span::from_ns(100);
/// After this many steps of a thread, its dirty lines are written back as fast as it stores.
const STORED: u64 = 4096;
/// Names of the programs; random streams derive from them.
pub(super) const TRAFFIC: &str = "traffic";
const KERNEL: &str = "program";

impl Blueprint<'_> {
    /// The host whose cores are the load, if it is a memory load; and the host whose cores run programs beside a
    /// load.
    pub(super) fn memory(&self, ids: &Ids) -> (Option<WorldMemory>, Option<WorldMemory>) {
        let host = self.programs().map(|(on, case)| self.memory_host(on, case, ids));
        if self.workload.programs.is_some() { (None, host) } else { (host, None) }
    }

    /// The memory host and the programs that its cores run, as the load or beside it.
    pub(super) fn programs(&self) -> Option<(usize, &MemoryCase)> {
        match (self.load, &self.workload.programs) {
            (Some(Load::Memory(case)), _) => Some((self.workload.pairs.first()?.on, case)),
            (_, Some(ProgramsPlan { on, case })) => Some((*on, case)),
            _ => None,
        }
    }

    fn memory_host(&self, on: usize, case: &MemoryCase, ids: &Ids) -> WorldMemory {
        let nodes = self.variant.nodes.iter().filter(|node| node.host == on);
        let nodes = nodes.map(|node| node.name.clone()).collect();
        let chases = matches!(case.program, MemoryProgram::Traffic(traffic) if traffic.chaser);
        let name = self.variant.machine[on].name.clone();
        WorldMemory { host: ids.of(on), name, nodes, told: u32::from(chases) }
    }

    /// Gives the host its programs.
    pub(super) fn run_programs(&self, world: &mut World) {
        let Some((on, case)) = self.programs() else { return };
        let host = world.host_with_programs().expect("programs have a host");
        let caches = self.cache_lines(on);
        for (name, program) in programs(case, self.seed) {
            let steps = program.footprint() / LINE / u64::from(program.threads()).max(1);
            // a program far larger than the caches finds at most its page table in them, and the write-back of its
            // dirty lines has to have begun
            let warm = match program.footprint() / LINE {
                // a program that ends is measured as a whole, from its beginning
                _ if case.ends() => program.warm_up(),
                lines if lines <= WARMED * caches => {
                    self.rounds(on, program.as_ref(), (lines, caches)) * steps
                }
                _ => host.settles_after(program.as_ref()).unwrap_or(STORED).min(steps),
            };
            let placement =
                Placement::new(name, case.mapping.clone()).with_parts(case.parts.clone()).warmed_by(warm);
            host.run(program, placement).expect("a checked plan places pages where there is room");
        }
        if let (Some(HintsCase { prefetch, evict, status, temperature }), MemoryProgram::Traffic(traffic)) =
            (case.hints, &case.program)
        {
            let buffer = (traffic.working_set.0 / u64::from(traffic.threads)).div_ceil(PAGE);
            host.advise(0, PageAdvice { prefetch, evict, status, temperature, buffer });
        }
    }
}

impl Blueprint<'_> {
    /// Rounds through all `lines` of a program after which the caches of a host are as they are ever after.
    fn rounds(&self, host: usize, program: &dyn Program, (lines, caches): (u64, u64)) -> u64 {
        let replacement = self.variant.machine[host].params.0.get("llc.replacement");
        let most = match (program.reuse(), replacement) {
            (None, _) => 1,
            (Some(_), Some(Value::Choice("random"))) => ROUNDS_AT_RANDOM,
            (Some(_), _) => ROUNDS,
        };
        let lines = lines.max(1);
        ((WARMED * caches + lines / 2) / lines).clamp(1, most)
    }
    /// Number of lines that all caches of a host hold together.
    fn cache_lines(&self, host: usize) -> u64 {
        let params = &self.variant.machine[host].params.0;
        let size = |name| if let Some(Value::Size(Bytes(bytes))) = params.get(name) { *bytes } else { 0 };
        let count = |name| if let Some(Value::Count(count)) = params.get(name) { *count } else { 1 };
        let sockets = count("sockets");
        (size("llc.size") * sockets + (size("l1.size") + size("l2.size")) * sockets * count("cores")) / LINE
    }
}

/// The programs of a case; the one whose latency is reported comes last.
fn programs(case: &MemoryCase, seed: u64) -> Vec<(&'static str, Box<dyn Program>)> {
    let chase = |bytes, order| {
        let spec = ChaseSpec { bytes, stride: LINE, order, count: None };
        let chase = Chase::new(spec, seed, CHASE).expect("a checked plan leaves a line to chase");
        (CHASE, Box::new(chase) as Box<dyn Program>)
    };
    match &case.program {
        MemoryProgram::Chase { working_set: Bytes(bytes), order } => vec![chase(*bytes, *order)],
        MemoryProgram::Traffic(traffic) => {
            let TrafficCase { mix, order, threads, working_set, delay, chaser } = *traffic;
            let buffer = working_set.0 / u64::from(threads);
            let spec = TrafficSpec { threads, buffer, mix, order, think: delay, count: None };
            let traffic =
                Traffic::new(spec, seed, TRAFFIC).expect("a checked plan leaves a line for each thread");
            let traffic = (TRAFFIC, Box::new(traffic) as Box<dyn Program>);
            let chaser = chaser.then(|| chase(buffer, ChaseOrder::Random));
            std::iter::once(traffic).chain(chaser).collect()
        }
        MemoryProgram::Kernel(KernelCase { kernel, threads, window }) => {
            let program =
                kernel.program(*threads, *window, seed).expect("a checked plan has kernels without mistakes");
            vec![(KERNEL, program)]
        }
        MemoryProgram::Recorded(RecordedCase { trace, dependence, instruction, .. }) => {
            let program = RecordedProgram::new(Arc::clone(trace), *dependence, *instruction);
            vec![(KERNEL, Box::new(program))]
        }
    }
}

impl World {
    /// The host whose cores are the load, if it is a memory load.
    pub fn memory_host(&mut self) -> Option<&mut (dyn RunsPrograms + 'static)> {
        let id = self.memory.as_ref()?.host;
        Some(self.runs_programs(id))
    }
    /// The host whose cores run programs, as the load or beside it, if any do.
    pub(super) fn host_with_programs(&mut self) -> Option<&mut (dyn RunsPrograms + 'static)> {
        let id = self.memory.as_ref().or(self.programs.as_ref())?.host;
        Some(self.runs_programs(id))
    }
    fn runs_programs(&mut self, id: ComponentId) -> &mut (dyn RunsPrograms + 'static) {
        let host = self.kernel.role::<dyn RunsPrograms>(id);
        host.expect("cores that load and store are those of a memory host")
    }
    /// Results of all programs, as the load or beside it, up to `at`, the present. Returns `None` if there are none.
    pub(super) fn memory_use(&mut self, at: Instant) -> Option<MemoryUse> {
        let WorldMemory { name, nodes, .. } = self.memory.as_ref().or(self.programs.as_ref())?.clone();
        let host = self.host_with_programs()?;
        let (advised, programs) = (host.advised(), host.results(at));
        Some(MemoryUse { host: name, programs, nodes, ended: None, advised })
    }
    /// Runs until the programs, which end, have ended; returns when they did.
    pub(super) fn run_to_end(&mut self) -> Instant {
        loop {
            let slice = Span::from_ps(self.kernel.now().as_ps() / SLICES).max(SHORTEST_SLICE);
            self.kernel.run_until(self.kernel.now() + slice);
            if let Some(end) = self.memory_host().and_then(|host| host.ended()) {
                return end;
            }
        }
    }
    /// Hints about pages given to devices so far, and the devices' answers.
    pub(super) fn advised(&mut self) -> Advised {
        self.host_with_programs().map(|host| host.advised()).unwrap_or_default()
    }
    /// Sum of the counters of all programs, without distributions, with the latencies of the program that reports
    /// them. Returns `None` if the load is not a memory load.
    pub(super) fn memory_tally(&mut self) -> Option<Tally> {
        let told = self.memory.as_ref()?.told as usize;
        let tallies = self.memory_host()?.tallies();
        let mut sum = tallies.iter().fold(Tally::default(), |sum, one| sum.and(one));
        let own = tallies.get(told).or(tallies.first()).copied().unwrap_or_default();
        (sum.reads.timed, sum.reads.latency_ps) = (own.reads.timed, own.reads.latency_ps);
        Some(sum)
    }
    /// Results of each program up to `at`, the present; empty if the load is not a memory load.
    pub fn memory_results(&mut self, at: Instant) -> Vec<MemoryResults> {
        self.memory_host().map(|host| host.results(at)).unwrap_or_default()
    }
}

/// Results of a program in the form of other loads: reads with their latency, written lines without.
pub(super) fn as_results(program: &MemoryResults) -> Results {
    let lines = |of: fn(&NodeTraffic) -> u64| program.nodes.iter().map(of).sum::<u64>();
    let side = |lines: u64, corrupt: u64, latency: Histogram| Side {
        completed: lines,
        bytes: lines * LINE,
        latency,
        stages: StageTimes::default(),
        corrupt,
        ..Side::default()
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
        connections: None,
    }
}
