//! Results of the cycles: one row per test, with an upper bound of the failure rate.

use super::bench::LinkState;
use super::errors::Tally;
use super::margin::LaneMargin;
use super::test::Test;
use lanetwin_pcie::logic::ltssm::failure::{FailureCodes, Outcome};
use lanetwin_stats::{Confidence, Histogram, proportion};
use lanetwin_units::Span;
use serde::Serialize;
use std::collections::BTreeMap;

/// A cycle that failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Failure {
    /// Its number, from 1.
    pub cycle: u64,
    /// Its outcome.
    pub outcome: String,
    /// Its failure codes.
    pub codes: Vec<&'static str>,
    /// What was observed.
    pub said: String,
}

impl Failure {
    /// The failure of cycle number `at`, counted from 0.
    pub(super) fn new(at: u64, cycle: &Cycle) -> Self {
        let codes = cycle.codes.iter().map(|code| code.text()).collect();
        Self { cycle: at + 1, outcome: cycle.outcome.to_string(), codes, said: cycle.said.clone() }
    }
}

/// Statistics of durations \[s\].
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Times {
    /// The mean.
    pub mean_s: f64,
    /// The median.
    pub median_s: f64,
    /// The 99th percentile.
    pub p99_s: f64,
    /// The longest.
    pub max_s: f64,
}

impl Times {
    /// The statistics of a histogram; zeros if it is empty.
    pub(super) fn of(histogram: &Histogram) -> Self {
        let seconds = |ps: f64| ps / 1e12;
        let at = |percent| histogram.percentile(percent).map_or(0.0, |span| seconds(span.as_ps() as f64));
        Self {
            mean_s: histogram.mean_ps().map_or(0.0, seconds),
            median_s: at(50.0),
            p99_s: at(99.0),
            max_s: histogram.max().map_or(0.0, |span| seconds(span.as_ps() as f64)),
        }
    }
}

/// A row: one test.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct TestReport {
    /// The test.
    pub test: Test,
    /// Its name in a report.
    pub title: &'static str,
    /// Description of the test.
    pub about: &'static str,
    /// Number of cycles requested.
    pub wanted: u64,
    /// Number of cycles started.
    pub cycles: u64,
    /// Number of cycles that passed.
    pub passed: u64,
    /// Number of cycles that failed.
    pub failed: u64,
    /// Number of cycles without proof of an effect, which are neither passes nor failures.
    pub not_performed: u64,
    /// `pass`, `fail`, `NOT PERFORMED` or `stopped`.
    pub verdict: &'static str,
    /// Why the first cycle without proof has none.
    pub reason: Option<String>,
    /// The first proof.
    pub proof: Option<String>,
    /// Number of cycles with each code.
    pub codes: BTreeMap<&'static str, u64>,
    /// The first failures.
    pub failures: Vec<Failure>,
    /// Why the series ended early, if the link could not be restored after a failure.
    pub stopped: Option<String>,
    /// Upper bound of the failure rate with 95 % confidence; `None` if no cycle was performed.
    pub bound: Option<f64>,
    /// Time from the trigger of a training to its end.
    pub link_time: Times,
    /// Time of a whole cycle, without the dwell.
    pub time: Times,
    /// Errors during the dwells: at the port, at the device.
    pub errors: [Tally; 2],
}

impl TestReport {
    /// The row of a test before its first cycle.
    pub(super) fn new(test: Test, wanted: u64) -> Self {
        Self {
            test,
            title: test.title(),
            about: test.about(),
            wanted,
            cycles: 0,
            passed: 0,
            failed: 0,
            not_performed: 0,
            verdict: "stopped",
            reason: None,
            proof: None,
            codes: BTreeMap::new(),
            failures: Vec::new(),
            stopped: None,
            bound: None,
            link_time: Times::default(),
            time: Times::default(),
            errors: [Tally::default(), Tally::default()],
        }
    }
    /// Counts a failure; lists it if it is one of the first `told`.
    pub(super) fn fail(&mut self, failure: Failure, told: usize) {
        self.failed += 1;
        for code in &failure.codes {
            *self.codes.entry(code).or_insert(0) += 1;
        }
        if self.failures.len() < told {
            self.failures.push(failure);
        }
    }
    /// Computes verdict and bound.
    pub(super) fn judge(&mut self) {
        let performed = self.passed + self.failed;
        self.bound = proportion::at_most(self.failed, performed, Confidence::P95);
        self.verdict = match self {
            Self { failed: 1.., .. } => "fail",
            Self { not_performed: 1.., .. } => "NOT PERFORMED",
            Self { passed, wanted, .. } if passed == wanted => "pass",
            _ => "stopped",
        };
    }
}

/// The statistical power of a series.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Power {
    /// Number of cycles.
    pub cycles: u64,
    /// Upper bound of the failure rate with 95 % confidence if no cycle fails.
    pub bound: f64,
    /// Margin of every cycle \[sigma\], and the probability that no cycle fails with it.
    pub pass_all: Vec<(f64, f64)>,
}

impl Power {
    /// The power of a series of this length.
    #[must_use]
    pub fn of(cycles: u64) -> Self {
        let pass_all = [3.0, 4.0, 5.0, 6.0].map(|sigmas| (sigmas, proportion::pass_all(sigmas, cycles)));
        let bound = proportion::at_most(0, cycles, Confidence::P95).unwrap_or(1.0);
        Self { cycles, bound, pass_all: pass_all.to_vec() }
    }
}

/// A link and its results.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Series {
    /// The variant of a channel, or the device's address.
    pub name: String,
    /// Name of the machine.
    pub host: String,
    /// The port above the link.
    pub port: String,
    /// The device below the link.
    pub device: String,
    /// The reference state of the link.
    pub link: Option<LinkState>,
    /// Each test.
    pub tests: Vec<TestReport>,
    /// The margins of the lanes, if they were read.
    pub lanes: Vec<LaneMargin>,
    /// Why the margins could not be measured, if they were requested.
    pub no_lanes: Option<String>,
    /// Registers and attributes that could not be restored.
    pub not_restored: Vec<crate::NotRestored>,
}

/// One cycle.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// Its outcome.
    pub outcome: Outcome,
    /// Failure codes.
    pub codes: FailureCodes,
    /// The proof of its effect, or the reason why it failed or was not performed.
    pub said: String,
    /// Time from the trigger of a training to its end.
    pub link_time: Span,
    /// Time of the whole cycle, without the dwell.
    pub time: Span,
}
