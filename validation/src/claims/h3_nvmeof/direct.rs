//! The rows of drives attached directly.

use crate::accuracy;
use crate::claim::Cell;
use crate::table::{self, Compared, Published};
use lanetwin_plan::Plan;
use lanetwin_stats::results::Results;
use std::sync::LazyLock;

static ROWS: LazyLock<Vec<Published>> =
    LazyLock::new(|| table::published(include_str!("../../../data/h3-nvmeof/direct.csv")));
/// The bar of the rates, in the mean \[%\].
const BAR_PCT: f64 = 1.2;
/// What the data sheet says of a sequential read \[B/s\].
pub(super) const DATA_SHEET: f64 = 5.0e9;
/// What one I/O moves \[B\].
pub(super) const IO_BYTES: f64 = 131_072.0;

pub(super) fn plan() -> Plan {
    table::plan("h3-direct.yaml", include_str!("../../../../scenarios/long/h3-direct.yaml"))
}

pub(super) fn compared(results: &Results) -> Vec<Compared<'static>> {
    table::compared(results, &ROWS)
}

pub(super) fn cells(results: &Results) -> impl Iterator<Item = Cell> {
    let cells = table::cells(results, &ROWS).into_iter().zip(ROWS.iter());
    cells.map(|(cell, row)| Cell { baseline: drives(row).map(by_data_sheet), ..cell })
}

/// How many drives the row is of.
fn drives(row: &Published) -> Option<f64> {
    match row.device.as_deref() {
        Some("server1") => Some(2.0),
        Some("server2") => Some(3.0),
        _ => None,
    }
}

/// The rate of I/Os of so many drives, if each does what its data sheet says \[k/s\].
fn by_data_sheet(drives: f64) -> f64 {
    drives * DATA_SHEET / IO_BYTES / 1e3
}

pub(super) fn is_met(compared: &[Compared<'_>]) -> bool {
    accuracy::mape(compared.iter().map(|row| row.error_pct)).is_some_and(|mean| mean <= BAR_PCT)
}

pub(super) fn told(compared: &[Compared<'_>]) -> String {
    let rows: Vec<String> = compared.iter().map(Compared::told).collect();
    format!(
        "{}. The rates are {}within {BAR_PCT} % in the mean. The unit of the deck's MB/s is open: 9,664 are 75.5 × 128, and 14,108 are 113 thousand I/Os of 131,072 B in MiB/s, so that \
         rates of I/Os are compared, which are counted. What binds is the drive: its one number for sequential reads comes from its data sheet, and the many others of machine and drive \
         that nobody confirms are why this is not called predicted. Each server alone is as fast as beside the other.",
        rows.join("; "),
        if is_met(compared) { "" } else { "not " },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_asks_what_the_scenario_has_and_has_a_closed_form() {
        let plan = plan();
        for row in ROWS.iter() {
            assert_eq!(row.variant, plan.variants[0].name);
            assert!(
                plan.variants[0].workloads.iter().any(|workload| workload.name == row.workload),
                "{row:?}"
            );
            assert!(drives(row).is_some(), "{row:?}");
        }
        assert!((by_data_sheet(2.0) - 76.294).abs() < 0.001);
    }
}
