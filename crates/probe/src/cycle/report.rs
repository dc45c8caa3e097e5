//! What came of the cycles: a row for each test, with the bound that it proves.

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
    /// How it ended.
    pub outcome: String,
    /// The codes.
    pub codes: Vec<&'static str>,
    /// What was seen.
    pub said: String,
}

impl Failure {
    /// Of a cycle, counted from 0.
    pub(super) fn new(at: u64, cycle: &Cycle) -> Self {
        let codes = cycle.codes.iter().map(|code| code.text()).collect();
        Self { cycle: at + 1, outcome: cycle.outcome.to_string(), codes, said: cycle.said.clone() }
    }
}

/// How long things took \[s\].
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
    /// Of what was recorded; zeros if nothing was.
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
    /// What happens in it.
    pub about: &'static str,
    /// How many cycles were asked for.
    pub wanted: u64,
    /// How many were begun.
    pub cycles: u64,
    /// How many ended as they should.
    pub passed: u64,
    /// How many did not.
    pub failed: u64,
    /// How many left no proof of an effect; they count as neither.
    pub not_performed: u64,
    /// `pass`, `fail`, `NOT PERFORMED` or `stopped`.
    pub verdict: &'static str,
    /// Why there was no proof, the first time.
    pub reason: Option<String>,
    /// What the proof was, the first time.
    pub proof: Option<String>,
    /// In how many cycles each code was.
    pub codes: BTreeMap<&'static str, u64>,
    /// The first failures.
    pub failures: Vec<Failure>,
    /// Why the series ended early, if the link was lost.
    pub stopped: Option<String>,
    /// The rate of failures that cannot be ruled out with 95 % confidence; none if nothing was performed.
    pub bound: Option<f64>,
    /// From what set off a training to its end.
    pub link_time: Times,
    /// A cycle from beginning to end, without the dwell.
    pub time: Times,
    /// Errors while the link was watched: at the port, at the device.
    pub errors: [Tally; 2],
}

impl TestReport {
    /// A row before the first cycle.
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
    /// Counts a failure; the first `told` are kept.
    pub(super) fn fail(&mut self, failure: Failure, told: usize) {
        self.failed += 1;
        for code in &failure.codes {
            *self.codes.entry(code).or_insert(0) += 1;
        }
        if self.failures.len() < told {
            self.failures.push(failure);
        }
    }
    /// Says what the row proves.
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

/// What a series can and cannot prove.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Power {
    /// How many cycles.
    pub cycles: u64,
    /// The bound if none fails.
    pub bound: f64,
    /// With how many sigmas of margin in each cycle, and the probability that none of them fails.
    pub pass_all: Vec<(f64, f64)>,
}

impl Power {
    /// Of a series of this length.
    #[must_use]
    pub fn of(cycles: u64) -> Self {
        let pass_all = [3.0, 4.0, 5.0, 6.0].map(|sigmas| (sigmas, proportion::pass_all(sigmas, cycles)));
        let bound = proportion::at_most(0, cycles, Confidence::P95).unwrap_or(1.0);
        Self { cycles, bound, pass_all: pass_all.to_vec() }
    }
}

/// A link and what came of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Series {
    /// The variant of a channel, or the device's address.
    pub name: String,
    /// What the machine is.
    pub host: String,
    /// The port above.
    pub port: String,
    /// The device below.
    pub device: String,
    /// What the link was held against.
    pub link: Option<LinkState>,
    /// Each test.
    pub tests: Vec<TestReport>,
    /// The margins of the lanes, if they were read.
    pub lanes: Vec<LaneMargin>,
    /// Why they were not, if they should have been.
    pub no_lanes: Option<String>,
    /// What could not be put back.
    pub not_restored: Vec<crate::NotRestored>,
}

/// What one cycle was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cycle {
    /// How it ended.
    pub outcome: Outcome,
    /// Why, if not well.
    pub codes: FailureCodes,
    /// The proof, or the reason.
    pub said: String,
    /// From what set off a training to its end.
    pub link_time: Span,
    /// From beginning to end, without the dwell.
    pub time: Span,
}
