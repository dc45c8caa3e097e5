//! The request for a run of cycles, and the plan that follows from it.

use crate::cycle::{CyclePlan, Test};
use crate::problem::{Finding, Problem};
use lanetwin_units::Span;
use serde::Deserialize;
use std::path::PathBuf;

/// A request.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The tests by name; `all` stands for the eleven of a full run.
    pub tests: Vec<String>,
    /// Cycles of each test.
    pub count: u64,
    /// Cycles of the power test; by default a tenth of the others.
    pub power_count: Option<u64>,
    /// Time for which errors are observed in each cycle \[ms\].
    pub dwell_ms: u64,
    /// Maximum number of correctable errors at one end during the dwell.
    pub max_correctable: u64,
    /// Number of failures after which a test ends.
    pub max_failures: Option<u64>,
    /// Whether the reference is the initial state of the link instead of the best that both ends support.
    pub as_found: bool,
    /// Whether the margins of the lanes are measured at the end.
    pub margins: bool,
    /// The device that the user has confirmed to be reset.
    pub i_know: Option<String>,
    /// The serial number that the user gives for it.
    pub serial: Option<String>,
    /// The highest temperature at which a test begins \[°C\].
    pub max_celsius: i64,
    /// A program that power cycles the device.
    pub hook: Option<String>,
    /// The path of the journal.
    pub journal: Option<PathBuf>,
}

impl Default for Request {
    /// The eleven tests, 10 000 cycles each (1 000 power cycles), at 70 °C at most: the upper end of the normal range
    /// of many drives (assumed: their data sheets differ).
    fn default() -> Self {
        Self {
            tests: vec!["all".into()],
            count: 10_000,
            power_count: None,
            dwell_ms: 10,
            max_correctable: 0,
            max_failures: None,
            as_found: false,
            margins: false,
            i_know: None,
            serial: None,
            max_celsius: 70,
            hook: None,
            journal: None,
        }
    }
}

/// Maximum number of cycles of a test in a request.
const MOST: u64 = 100_000_000;

impl Request {
    /// The plan of this request.
    ///
    /// # Errors
    /// `LC013`, `LC021`.
    pub fn wish(&self) -> Result<CyclePlan, Vec<Finding>> {
        let mut found = Vec::new();
        let mut tests = Vec::new();
        for name in &self.tests {
            match Test::named(name) {
                Some(test) => tests.push(test),
                None if name == "all" => tests.extend(Test::full()),
                None => {
                    let known = Test::ALL.iter().map(|test| test.name()).collect::<Vec<_>>().join(", ");
                    found.push(Problem::UnknownTest { name: name.clone(), known }.at("--test"));
                }
            }
        }
        let power_count = self.power_count.unwrap_or((self.count / 10).max(1));
        for count in [self.count, power_count] {
            if !(1..=MOST).contains(&count) {
                found.push(Problem::Count { count }.at("--count"));
            }
        }
        if !found.is_empty() {
            return Err(found);
        }
        Ok(CyclePlan {
            tests,
            count: self.count,
            power_count,
            dwell: Span::from_us(self.dwell_ms.saturating_mul(1000)),
            max_correctable: self.max_correctable,
            max_failures: self.max_failures.unwrap_or(u64::MAX),
            as_found: self.as_found,
            margins: self.margins,
        })
    }
}
