//! A pointer chase on the host of the claim: the parts, the machine, one run.

use crate::experiment;
use lanetwin_cxl::hdm::Decoder;
use lanetwin_kernel::Port;
use lanetwin_load::memory::{Chase, ChaseOrder, ChaseSpec, Placement, Policy};
use lanetwin_models::roles::memory::RunsPrograms;
use lanetwin_plan::{ComponentPlan, Plan, check};
use lanetwin_ports::{Builder, Site};
use lanetwin_units::{Bytes, Instant};
use std::path::Path;

pub(super) const HOST: &str = "lmbench-spr-host";
pub(super) const DEVICE: &str = "lmbench-cxl-asic";
pub(super) const BAR_PCT: f64 = 8.0;
pub(super) const SEED: u64 = 1;
/// What is measured, once caches hold what they will always hold.
pub(super) const LOADS: u64 = 30_000;
/// Arrays of more than so many times the last level find nothing there worth the time of a whole cycle: under random
/// replacement exp(-4).
pub(super) const LARGE: u64 = 4;

/// Both parts with changes; none if they make no machine.
pub(super) fn plan(sets: &[String]) -> Option<Plan> {
    let text = format!(
        "about: LMBench.\nmachine:\n  host: {{part: {HOST}}}\n  device: {{part: {DEVICE}}}\nlinks:\n  slot: {{from: host, to: device}}\n\
         workloads:\n  chase: {{memory: {{pattern: chase, working-set: 1MiB, lines: 1000}}, on: host}}\n"
    );
    check(Path::new("lmbench.yaml"), &text, sets, experiment::catalogue()).plan
}

/// Host and device of a plan.
pub(super) fn parts(plan: &Plan) -> [&ComponentPlan; 2] {
    ["host", "device"].map(|name| {
        let is_it = |component: &&ComponentPlan| component.name == name;
        plan.variants[0].machine.iter().find(is_it).expect("the plan has both")
    })
}

/// How much is measured, and with which random numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    pub(super) loads: u64,
    pub(super) seed: u64,
    /// Loads before anything is counted; what the caches take if none.
    pub(super) warm: Option<u64>,
}

pub(super) const FULL: Effort = Effort { loads: LOADS, seed: SEED, warm: None };

/// The mean latency \[ns\] of a chase through so many MB of a node, and the digest of its run.
pub(super) fn chase([host, device]: [&ComponentPlan; 2], mb: f64, node: u16, effort: Effort) -> (f64, u64) {
    let (host_params, device_params) = (&host.params, &device.params);
    let window = Decoder::new(1 << 40, device_params.size("capacity").0, 256, vec![0])
        .expect("a window of one target");
    let site = |path: &str, decoders| Site { decoders, ..Site::alone(path, effort.seed) };
    let mut builder = Builder::new();
    let mut add = |path, part: &ComponentPlan, decoders| {
        builder.add(path, part.model.component(&part.params, &site(path, decoders)).expect("a component"))
    };
    let id = add("host", host, vec![window]);
    let device = add("device", device, Vec::new());
    builder.join((id, Port(0)), (device, Port(0)));
    let mut kernel = builder.seal();
    let bytes = (mb * 1048576.0).round() as u64 / 64 * 64;
    let spec = ChaseSpec { bytes, stride: 64, order: ChaseOrder::AcrossPages, count: Some(effort.loads) };
    let program = Chase::new(spec, effort.seed, "lmbench").expect("an array of lines");
    let Bytes(llc) = host_params.size("llc.size");
    let (lines, cache) = (bytes / 64, llc / 64);
    // a whole cycle, so that there is something to be found, and as much again as replaces all that was there before
    let settled = if lines > LARGE * cache { 2 * cache } else { lines + (lines.min(cache) * 3 / 2) };
    let warm = effort.warm.unwrap_or(settled);
    let placement = Placement::new("lmbench", Policy::Bind(vec![node])).warmed_by(warm);
    let host = kernel.role::<dyn RunsPrograms>(id).expect("the host is one");
    host.run(Box::new(program), placement).expect("there is room");
    kernel.run_until(Instant::NEVER);
    let (now, digest) = (kernel.now(), kernel.digest());
    let results = kernel.role::<dyn RunsPrograms>(id).expect("the host is one").results(now);
    (results[0].loads.mean_ps().expect("loads were counted") / 1000.0, digest)
}
