//! What is asked of a run of cycles, and the wish in it.

use crate::cycle::{CyclePlan, Test};
use crate::problem::{Finding, Problem};
use lanetwin_units::Span;
use serde::Deserialize;
use std::path::PathBuf;

/// What is asked for.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Request {
    /// The tests by name; `all` for the eleven.
    pub tests: Vec<String>,
    /// How often each.
    pub count: u64,
    /// How often the power cycle; a tenth of the others if it is not given.
    pub power_count: Option<u64>,
    /// How long the link is watched for errors in each cycle \[ms\].
    pub dwell_ms: u64,
    /// Correctable errors at one end that a cycle may have while it is watched.
    pub max_correctable: u64,
    /// Failures of a test after which it ends.
    pub max_failures: Option<u64>,
    /// Whether the link is held against how it is at first.
    pub as_found: bool,
    /// Whether the margins of the lanes are read at the end.
    pub margins: bool,
    /// The device that the user knows to be reset.
    pub i_know: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// The highest temperature at which a test begins \[°C\].
    pub max_celsius: i64,
    /// A program that cycles the power.
    pub hook: Option<String>,
    /// Where the journal goes.
    pub journal: Option<PathBuf>,
}

impl Default for Request {
    /// All eleven tests 10 000 times, below 70 °C, which is what many drives take for the end of their normal range
    /// (assumed: their data sheets differ).
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

/// The most cycles that are asked for at once.
const MOST: u64 = 100_000_000;

impl Request {
    /// The wish in it.
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
