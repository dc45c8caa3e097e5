//! `mqsim-xv2`: the flash of another simulator, MQSim, on a host that costs nothing: read latency at three queue
//! depths.
//!
//! ```text
//!   validation/data/mqsim/reads.csv: device files, and what MQSim says of each ──► a drive in the same words ──► mean latency
//! ```
//!
//! `xv2` is the configuration that gives the claim its name: 16 channels of 4 chips with 2 dies of 4 planes, pages of 4
//! KiB, 45 µs to read one, 2 B at 1000 MT/s. Five others were chosen to be unlike it, eight were drawn at random. By
//! MQSim's rules one die of a chip works at a time. Firmware, software and memory take no time; the link is Gen5 x4
//! with an MPS of 128 B, which carries what MQSim's four lanes of 3.938 GB/s carry.

mod table;

use crate::accuracy;
use crate::claim::Role;
use crate::claim::{Cell, Claim, Outcome};
use crate::experiment;
use crate::sensitivity::{self, Asked, Effort, Number, Predict, Range};
use crate::watch::Watch;
use lanetwin_plan::{Plan, check};
use lanetwin_stats::results::{Digest, Results};
use lanetwin_world::Options;
use rayon::prelude::*;
use std::path::Path;
use table::{Run, runs};

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "mqsim-xv2",
    about: "Read latency of drives as MQSim simulates them, at 1, 16 and 256 in flight: one known, five chosen, eight drawn at random.",
    cpu_seconds: 11,
    bar: "each row within 3 %, with fewer numbers that matter and are assumed than rows",
    run,
};

const SOURCE: &str = "MQSim at commit 7ec40e3, reads at random of half the drive, mean latency";
const BAR_PCT: f64 = 3.0;
/// The configuration that the bar is named after.
const KNOWN: &str = "xv2";
/// The runs that assumed numbers are moved in: the known configuration and one that was drawn, at each depth.
const WEIGHED: [&str; 2] = [KNOWN, "q4"];

/// The ranges of what a factor of two does not suit.
const RANGES: [Range; 1] = [Range {
    part: "nvme-ssd",
    name: "ftl.gc.urgent",
    ends: ["ftl.gc.urgent=2", "ftl.gc.urgent=4, ftl.gc.low=6"],
    reason: "the urgent watermark is below the low one, which is set",
}];

/// The scenario of a run, with some of the requests that it had.
fn plan(run: &Run, requests: u64, sets: &[String]) -> Option<Plan> {
    let Run { channels, chips, dies, planes, blocks, pages, page, width, megatransfers, depth, .. } = run;
    let (bytes, [first, step, last]) = (run.bytes(), run.read_ns());
    let capacity = run.capacity();
    let drive = format!(
        "model: nvme-ssd, medium: nand, namespaces: 1, namespaces.isolated: false, encryption: false, port.gen: 5, port.width: 4, port.mps: 128B, issue: 1ns, port.drain: 0ns, firmware.engines: 1024, firmware.read: 0ns, firmware.read-latency: 0ns, \
         chunk: all, capacity: {capacity}B, nand.cell: {cell}, nand.channels: {channels}, nand.chips: {chips}, nand.dies: {dies}, \
         nand.planes: {planes}, nand.blocks: {blocks}, nand.pages: {pages}, nand.page: {page}B, nand.spare: 0B, nand.read: {first}ns, \
         nand.read-step: {step}ns, nand.read-step.last: {last}ns, nand.program: 400us, nand.program-mode: by-page, nand.erase: 3800us, \
         nand.bus: {megatransfers}, nand.bus.width: {width}, nand.rules: mqsim, nand.same-page: true, nand.cache-read: false, \
         nand.suspend: false, ftl.initial: empty, ftl.lookup: 0ns, ftl.gc.low: 3, ftl.read-ahead.streams: 0, buffer.latency: 0ns, \
         driver.engine: spdk, driver.spdk.submit: 0ns, driver.spdk.complete: 0ns, driver.poll: 0ns",
        cell = run.cell,
    );
    let warm_up = (requests / 20).min(1000);
    let text = format!(
        "about: A drive as MQSim has it.\nmachine:\n  host: {{model: root-complex, port.gen: 5, port.mps: 128B, issue: 1ns, iommu: false, \
         memory.remote: false, memory.dram: 0ns, memory.llc-hit: 0ns, port.drain: 0ns}}\n  ssd: {{{drive}}}\nlinks:\n  slot: {{from: host, to: ssd}}\nworkloads:\n  load:\n    \
         block: {{size: {bytes}B, depth: {depth}, span: {capacity}B, requests: {requests}}}\n    on: host\n    target: ssd\n\
         run: {{repeats: 1, warm-up: {warm_up}}}\n"
    );
    check(Path::new("mqsim.yaml"), &text, sets, experiment::catalogue()).plan
}

/// The mean latency \[µs\].
fn latency(results: &Results) -> f64 {
    let row = results.rows.iter().find(|row| row.device.is_none() && row.metric == "latency");
    row.expect("a load has a latency").value / 1e3
}

fn cell(run: &Run) -> Cell {
    let plan = plan(run, run.requests, &[]).expect("MQSim's drive is one");
    let results = experiment::results(&plan, &Options::default());
    let predicted = latency(&results);
    Cell {
        case: format!("{}, {} in flight", run.case, run.depth),
        quantity: format!("latency of reads of {} KiB", run.bytes() / 1024),
        unit: "us",
        published: run.mean / 1e3,
        predicted,
        interval: (predicted, predicted),
        role: Role::Predicted,
        baseline: (run.depth == 1).then(|| run.alone_us()),
        source: SOURCE,
        digest: results.digest.expect("a simulation has a digest"),
    }
}

/// The runs that are analysed, each a kind of its own.
struct Predictor<'a>(Vec<&'a Run>);

impl<'a> Predictor<'a> {
    fn of(runs: &'a [Run]) -> Self {
        Self(runs.iter().filter(|run| WEIGHED.contains(&&*run.case)).collect())
    }
    fn bars(&self) -> Vec<f64> {
        vec![BAR_PCT; self.0.len()]
    }
}

impl Predict for Predictor<'_> {
    fn kinds(&self) -> usize {
        self.0.len()
    }
    fn trace(&self, sets: &[String], kind: usize) -> Option<Digest> {
        let run = self.0[kind];
        let plan = plan(run, 200 + u64::from(run.depth) * 4, sets)?;
        experiment::results(&plan, &Options::default()).digest
    }
    fn rows(&self, asked: &Asked<'_>) -> Option<Vec<Option<f64>>> {
        let one = |(kind, run): (usize, &&Run)| {
            if !asked.wanted[kind] || !asked.touched.has(kind) {
                return Some(None);
            }
            let requests = match (asked.effort, u64::from(run.depth)) {
                (Effort::Full, depth) => 1000 + depth * 40,
                (Effort::Long, depth) => 2000 + depth * 400,
            };
            let plan = plan(run, requests, asked.sets)?;
            Some(Some(latency(&experiment::results(&plan, &Options::default()))))
        };
        self.0.iter().enumerate().map(one).collect()
    }
}

/// The assumed numbers of the drive and its host.
fn numbers(runs: &[Run]) -> Vec<Number> {
    let known = runs.iter().find(|run| run.case == KNOWN).expect("the data have it");
    sensitivity::numbers(&plan(known, 1, &[]).expect("MQSim's drive is one"), &RANGES)
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let runs = runs();
    let (numbers, predictor) = (numbers(&runs), Predictor::of(&runs));
    let steps = runs.len() / 3 + sensitivity::steps(numbers.len());
    let mut cells: Vec<Cell> = Vec::new();
    // a few at a time, so that Ctrl-C is heard
    for some in runs.chunks(3) {
        cells.extend(some.par_iter().map(cell).collect::<Vec<_>>());
        watch.step(steps)?;
    }
    let sensitivity_found = sensitivity::analyse(&numbers, &predictor.bars(), &predictor, watch);
    let worst = |of: &dyn Fn(&&Cell) -> bool| {
        let cells = cells.iter().filter(of);
        accuracy::worst(cells.map(|cell| accuracy::error_pct(cell.predicted, cell.published)))
    };
    let of_known = |cell: &&Cell| cell.case.starts_with(KNOWN);
    let met = worst(&|_| true) <= BAR_PCT;
    let text = format!(
        "Nothing is fitted: what MQSim's device file says is set, what it does not have is nothing. The largest error is {:.2} % in {KNOWN}, {:.2} % in {} \
         configurations that were chosen or drawn. {}",
        worst(&of_known),
        worst(&|cell| !of_known(cell)),
        runs.len() / 3 - 1,
        sensitivity_found.told(),
    );
    let labels = runs.iter().map(|run| WEIGHED.contains(&&*run.case)).collect::<Vec<_>>();
    let effects = sensitivity_found.effects_among(&labels);
    Some(Outcome { cells, free_parameters: sensitivity_found.free, met, text, effects })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_a_plan() {
        let runs = runs();
        assert_eq!(runs.len(), 42);
        runs.iter().for_each(|run| assert!(plan(run, 100, &[]).is_some(), "{run:?}"));
    }

    #[test]
    fn one_known_and_one_drawn_configuration_are_within_the_bar() {
        // so few requests are no sample of 256 in flight, where some chips have long queues
        let few = |run: &&Run| WEIGHED.contains(&&*run.case) && run.depth < 256;
        for run in runs().iter().filter(few) {
            let plan = plan(run, 4000 + 40 * u64::from(run.depth), &[]).expect("a drive");
            let latency = latency(&experiment::results(&plan, &Options::default()));
            let error = accuracy::error_pct(latency, run.mean / 1e3);
            assert!(error.abs() < BAR_PCT, "{run:?}: {latency} us, {error} %");
        }
    }
}
