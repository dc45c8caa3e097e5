//! The machine of the paper, one socket of it, and what is asked of it.

use crate::experiment;
use lanetwin_plan::{Checked, Plan, check};
use lanetwin_stats::results::{Digest, Results, Row};
use lanetwin_world::Options;
use std::path::Path;

/// Threads have buffers of an odd number of pages: the turns of the interleave then begin at other places in each, as
/// they do where every thread has a turn of its own. Buffers of a round number of pages go through the nodes in step.
const THREAD_PAGES: u64 = 16_411;
const PAGE: u64 = 4096;

/// What stands in the way of a case.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Case {
    /// What is different in the host.
    pub(super) host: String,
    /// What the threads do (the section `memory` of a workload).
    pub(super) memory: String,
    /// Of the module: paths in the machine and values.
    pub(super) set: Vec<String>,
}

impl Case {
    /// Threads that stream over their buffers.
    pub(super) fn streams(mix: &str, placement: &str, (threads, lines): (u64, u64)) -> Self {
        let bytes = threads * THREAD_PAGES * PAGE;
        let memory = format!(
            "mix: {mix}, threads: {threads}, working-set: {bytes}B, placement: {placement}, lines: {lines}"
        );
        Self { host: String::new(), memory, set: Vec::new() }
    }
    pub(super) fn with(mut self, set: impl Into<String>) -> Self {
        self.set.push(set.into());
        self
    }

    /// The plan; none if this is no machine.
    pub(super) fn checked(&self) -> Option<Plan> {
        self.check().plan
    }
    pub(super) fn plan(&self) -> Plan {
        let checked = self.check();
        checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics))
    }
    fn check(&self) -> Checked {
        let text = format!(
            "about: A CMM-H.\nmachine:\n  host: {{part: intel-xeon-6710e{}}}\n  cmmh: {{part: samsung-cmm-h}}\nlinks:\n  slot: {{from: host, to: cmmh}}\n\
             workloads:\n  load:\n    memory: {{{}}}\n    on: host\nrun: {{repeats: 1}}\n",
            self.host, self.memory
        );
        check(Path::new("cmm-h.yaml"), &text, &self.set, experiment::catalogue())
    }
    pub(super) fn run(&self) -> Shown {
        Shown::of(&self.plan())
    }
}

/// What a case has shown.
pub(super) struct Shown {
    results: Results,
    pub(super) digest: Digest,
}

impl Shown {
    /// Runs a plan.
    pub(super) fn of(plan: &Plan) -> Self {
        let results = experiment::results(plan, &Options::default());
        let digest = results.digest.expect("a simulation has a digest");
        Self { results, digest }
    }
    /// A metric of all together.
    pub(super) fn of_all(&self, metric: &str) -> f64 {
        self.row(metric).value
    }
    /// Its 95 % interval over the repeats; the value itself of one.
    pub(super) fn interval(&self, metric: &str) -> (f64, f64) {
        let row = self.row(metric);
        (row.low.unwrap_or(row.value), row.high.unwrap_or(row.value))
    }
    /// Its value in each repeat.
    pub(super) fn each(&self, metric: &str) -> &[f64] {
        &self.row(metric).samples
    }
    fn row(&self, metric: &str) -> &Row {
        let row = self.results.rows.iter().find(|row| row.device.is_none() && row.metric == metric);
        row.unwrap_or_else(|| panic!("{metric} is told"))
    }
    /// A metric of a component, if it is told.
    pub(super) fn of_device(&self, metric: &str) -> Option<f64> {
        self.results.rows.iter().find(|row| row.device.is_some() && row.metric == metric).map(|row| row.value)
    }
    /// A percentile of the latency \[ns\].
    pub(super) fn percentile(&self, percent: f64) -> f64 {
        let row = self.results.rows.iter().find(|row| row.device.is_none() && row.metric == "latency");
        let of = row.and_then(|row| row.percentiles.iter().find(|(p, _)| *p == percent));
        of.expect("the percentile is told").1
    }
}
