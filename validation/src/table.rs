//! A claim that is a shipped scenario and a table of published values: `lanetwin run` on that scenario shows the same
//! numbers, to the last digit.
//!
//! A table is a CSV file whose columns are the fields of [`Published`]. Its rows are in the units of the results.

use crate::accuracy;
use crate::claim::{Cell, FreeParameter, Role};
use crate::experiment::{catalogue, free_parameters, results};
use lanetwin_plan::{Plan, check};
use lanetwin_stats::results::{Results, Row};
use lanetwin_world::Options;
use serde::Deserialize;
use std::path::Path;

/// A published value, and which row of the results it stands beside.
#[derive(Clone, PartialEq, Debug, Deserialize)]
pub(crate) struct Published {
    /// Which cell of the published table.
    pub(crate) case: String,
    /// The variant of the scenario.
    pub(crate) variant: String,
    /// The workload of the scenario, of one case.
    pub(crate) workload: String,
    /// Which device or host it is of; none if it is of all together.
    #[serde(default)]
    pub(crate) device: Option<String>,
    /// The metric.
    pub(crate) metric: String,
    /// Its unit, as in the results.
    pub(crate) unit: String,
    /// The value.
    pub(crate) published: f64,
    /// What the value is to the device.
    pub(crate) bound: Bound,
    /// What it was to the model.
    pub(crate) role: Role,
    /// How far the prediction may be from it, or beyond it if it is a bound \[%\].
    pub(crate) bar_pct: f64,
    /// Where it was published.
    pub(crate) source: String,
    /// Why it is missed, or what about its conditions was not published; empty if there is nothing to say.
    pub(crate) note: String,
}

/// What a published value is to the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bound {
    /// It was measured, or is stated of this device in this state.
    Value,
    /// It is the best of a family, or of the best state: no device does more.
    AtMost,
}

/// A published row beside what the scenario came to.
pub(crate) struct Compared<'a> {
    pub(crate) published: &'a Published,
    /// How far the prediction is above it \[%\].
    pub(crate) error_pct: f64,
}

impl Compared<'_> {
    /// Whether the prediction is within the bar of the row.
    pub(crate) fn is_met(&self) -> bool {
        match self.published.bound {
            Bound::Value => self.error_pct.abs() <= self.published.bar_pct,
            Bound::AtMost => self.error_pct <= self.published.bar_pct,
        }
    }
    /// `PM9A3, random read, 16 in flight: +61 % of 10 %`, and what is known of it.
    pub(crate) fn told(&self) -> String {
        let Published { case, bar_pct, note, .. } = self.published;
        let about = if note.is_empty() { String::new() } else { format!(" ({note})") };
        format!("{case}: {:+.1} % of {bar_pct} %{about}", self.error_pct)
    }
}

/// The rows of a table.
///
/// # Panics
/// If the text is no such table.
pub(crate) fn published(text: &str) -> Vec<Published> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    rows.map(|row| row.expect("a published table is right")).collect()
}

/// The plan of a shipped scenario, as `lanetwin run` makes it.
///
/// # Panics
/// If the scenario has a mistake.
pub(crate) fn plan(file: &str, text: &str) -> Plan {
    let checked = check(Path::new(file), text, &[], catalogue());
    let found = checked.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    checked.plan.unwrap_or_else(|| panic!("a shipped scenario is right:\n{found}"))
}

/// What a scenario came to, and the assumed and calibrated numbers that it rests on.
pub(crate) fn ran(plan: &Plan) -> (Results, Vec<FreeParameter>) {
    (results(plan, &Options::default()), free_parameters(plan).collect())
}

/// The row of the results that a published row stands beside.
///
/// # Panics
/// If there is none, or more than one.
fn row<'a>(results: &'a Results, published: &Published) -> &'a Row {
    let is_it = |row: &&Row| {
        row.device == published.device
            && (&*row.variant, &*row.workload, &*row.metric)
                == (&*published.variant, &*published.workload, &*published.metric)
    };
    let mut rows = results.rows.iter().filter(is_it);
    let row = rows.next().unwrap_or_else(|| panic!("no row of the results is that of {published:?}"));
    assert!(rows.next().is_none(), "a workload of a table has one case: {published:?}");
    assert_eq!(row.unit, published.unit, "the table is in the units of the results: {published:?}");
    row
}

/// What the scenario came to in the row that a published one stands beside.
pub(crate) fn value(results: &Results, published: &Published) -> f64 {
    row(results, published).value
}

/// Every published row beside what the scenario came to.
pub(crate) fn compared<'a>(results: &Results, published: &'a [Published]) -> Vec<Compared<'a>> {
    let beside = published.iter().map(|published| {
        let predicted = value(results, published);
        let error_pct = accuracy::error_pct(predicted, published.published);
        Compared { published, error_pct }
    });
    beside.collect()
}

/// The cells of the rows that are values; bounds are no numbers to be near to.
pub(crate) fn cells(results: &Results, published: &'static [Published]) -> Vec<Cell> {
    let values = published.iter().filter(|published| published.bound == Bound::Value);
    let cell = |published: &'static Published| {
        let row = row(results, published);
        Cell {
            case: published.case.clone(),
            quantity: published.metric.clone(),
            unit: &published.unit,
            published: published.published,
            predicted: row.value,
            interval: (row.low.unwrap_or(row.value), row.high.unwrap_or(row.value)),
            role: published.role,
            baseline: None,
            source: &published.source,
            digest: results.digest.expect("a simulation has a digest"),
        }
    };
    values.map(cell).collect()
}
