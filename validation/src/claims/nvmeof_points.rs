//! `nvmeof-points`: pieces of a storage network alone, beside what is published of them.
//!
//! ```text
//!  scenarios/long/nvmeof-points.yaml ──► rows, their sums, differences and ratios ──► beside validation/data/nvmeof-points
//! ```
//!
//! Points that no scenario can have yet stand in the table with the reason, and enter no mean.

use crate::accuracy;
use crate::claim::{Cell, Claim, Outcome, Role};
use crate::table::{self, Bound};
use crate::watch::Watch;
use lanetwin_stats::results::{Results, Row};
use serde::Deserialize;
use std::sync::LazyLock;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "nvmeof-points",
    about: "Pieces of a storage network alone: 4GFC adapters, SPDK initiators and targets over RDMA, and what software of Linux adds to them.",
    cpu_seconds: 5,
    bar: "mean error of the values below 10 %, upper bounds kept",
    run,
};

const SCENARIO: &str = include_str!("../../../scenarios/long/nvmeof-points.yaml");
static POINTS: LazyLock<Vec<Point>> = LazyLock::new(|| {
    let rows = csv::Reader::from_reader(include_str!("../../data/nvmeof-points/points.csv").as_bytes());
    rows.into_deserialize().map(|row| row.expect("a published table is right")).collect()
});
const BAR_PCT: f64 = 10.0;

/// A published point, and what of the results stands beside it.
#[derive(Debug, Deserialize)]
struct Point {
    case: String,
    how: How,
    variant: String,
    workload: String,
    metric: String,
    /// The other metric of a sum; the other variant of a difference or a ratio.
    against: String,
    published: f64,
    unit: String,
    bound: Bound,
    role: Role,
    source: String,
    note: String,
}

/// How a value follows from rows of the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum How {
    Value,
    /// Of two metrics.
    Sum,
    /// How much less the other variant has.
    Less,
    /// To the other variant.
    Ratio,
    NotCompared,
}

impl Point {
    /// What the results say; none if nothing can.
    fn predicted(&self, results: &Results) -> Option<f64> {
        let Self { variant, workload, metric, against, .. } = self;
        let of = |variant: &str, metric: &str| row(results, (variant, workload, metric)).value;
        let value = || of(variant, metric);
        match self.how {
            How::Value => Some(value()),
            How::Sum => Some(value() + of(variant, against)),
            How::Less => Some(value() - of(against, metric)),
            How::Ratio => Some(value() / of(against, metric)),
            How::NotCompared => None,
        }
    }
    fn is_kept(&self, predicted: f64) -> bool {
        self.bound == Bound::Value || predicted <= self.published
    }
    fn told(&self, predicted: f64) -> String {
        let Self { case, published, unit, note, .. } = self;
        format!("{case}: {predicted:.0} {unit}, {published} in the source ({note})")
    }
}

/// The row of all devices of a workload together.
///
/// # Panics
/// If there is none.
fn row<'a>(results: &'a Results, (variant, workload, metric): (&str, &str, &str)) -> &'a Row {
    let is_it = |row: &&Row| {
        row.device.is_none() && (&*row.variant, &*row.workload, &*row.metric) == (variant, workload, metric)
    };
    results.rows.iter().find(is_it).unwrap_or_else(|| panic!("{variant} has {metric} of {workload}"))
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let (results, free_parameters) = table::ran(&table::plan("nvmeof-points.yaml", SCENARIO));
    watch.step(1)?;
    let beside: Vec<(&'static Point, f64)> =
        POINTS.iter().filter_map(|point| Some((point, point.predicted(&results)?))).collect();
    let cells: Vec<Cell> = beside
        .iter()
        .filter(|(point, _)| point.bound == Bound::Value)
        .map(|(point, predicted)| cell(point, *predicted, &results))
        .collect();
    let mean = accuracy::mape(cells.iter().map(|cell| accuracy::error_pct(cell.predicted, cell.published)));
    let met = mean.is_some_and(|mean| mean < BAR_PCT)
        && beside.iter().all(|(point, predicted)| point.is_kept(*predicted));
    Some(Outcome { cells, free_parameters, met, text: told(&beside, mean), effects: Vec::new() })
}

fn cell(point: &'static Point, predicted: f64, results: &Results) -> Cell {
    Cell {
        case: point.case.clone(),
        quantity: point.metric.clone(),
        unit: &point.unit,
        published: point.published,
        predicted,
        interval: (predicted, predicted),
        role: point.role,
        baseline: None,
        source: &point.source,
        digest: results.digest.expect("a simulation has a digest"),
    }
}

fn told(beside: &[(&Point, f64)], mean: Option<f64>) -> String {
    let bounds: Vec<&(&Point, f64)> =
        beside.iter().filter(|(point, _)| point.bound == Bound::AtMost).collect();
    let of = |kept: bool| {
        let those = bounds.iter().filter(|(point, predicted)| point.is_kept(*predicted) == kept);
        let told: Vec<String> = those.map(|(point, predicted)| point.told(*predicted)).collect();
        if told.is_empty() { "none".to_string() } else { told.join("; ") }
    };
    let mut reasons: Vec<&str> =
        POINTS.iter().filter(|point| point.how == How::NotCompared).map(|point| &*point.note).collect();
    let left = reasons.len();
    reasons.sort_unstable();
    reasons.dedup();
    format!(
        "The mean error of the values is {:.1} %, of {BAR_PCT} %: rates that a line limits follow from frames alone; the ratio of both targets rests on assumed costs. Upper bounds that are kept: {}. \
         Not kept: {}. Not compared are {left} points: {}.",
        mean.unwrap_or(f64::NAN),
        of(true),
        of(false),
        reasons.join("; "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_asks_what_the_scenario_has_or_says_why_not() {
        let plan = table::plan("nvmeof-points.yaml", SCENARIO);
        let has = |name: &str, workload: &str| {
            let variant = plan.variants.iter().find(|variant| variant.name == name);
            variant.is_some_and(|variant| variant.workloads.iter().any(|one| one.name == workload))
        };
        for point in POINTS.iter() {
            if point.how == How::NotCompared {
                assert!(!point.note.is_empty() && point.role == Role::Input, "{point:?}");
                continue;
            }
            assert!(has(&point.variant, &point.workload), "{point:?}");
            let differs = matches!(point.how, How::Less | How::Ratio);
            assert!(!differs || has(&point.against, &point.workload), "{point:?}");
        }
        assert_eq!(POINTS.len(), 35, "every point of the collection");
    }
}
