//! The rows over the fabric. The deck does not say which of its targets has three drives: both ways are a variant.

use super::direct::{DATA_SHEET, IO_BYTES};
use crate::accuracy;
use crate::claim::{Cell, Role};
use crate::table::{self, Compared, Published};
use lanetwin_plan::Plan;
use lanetwin_stats::results::Results;
use std::sync::LazyLock;

static ROWS: LazyLock<Vec<Published>> =
    LazyLock::new(|| table::published(include_str!("../../../data/h3-nvmeof/fabric.csv")));
/// The bar of the latencies of node 2, in the mean of an assignment \[%\]: that of adding what node 1 adds.
const LATENCY_BAR_PCT: f64 = 4.4;
/// What 100 Gb/s carry in packets of 1024 B \[B/s\] (docs/roce.md), and what a drive's data sheet says of a
/// sequential write.
const LINE: f64 = 11.573e9;
const WRITES: f64 = 4.3e9;

pub(super) fn plan() -> Plan {
    table::plan("h3-nvmeof.yaml", include_str!("../../../../scenarios/long/h3-nvmeof.yaml"))
}

pub(super) fn compared(results: &Results) -> Vec<Compared<'static>> {
    table::compared(results, &ROWS)
}

pub(super) fn cells(results: &Results) -> impl Iterator<Item = Cell> {
    let cells = table::cells(results, &ROWS).into_iter().zip(ROWS.iter());
    cells.map(|(cell, row)| Cell { baseline: closed_form(row), ..cell })
}

/// The row of a 4K read or write of a node, in one of the assignments of targets; or directly.
///
/// # Panics
/// If the table has no such row.
pub(super) fn latency_row(variant: &str, workload: &str, node: usize) -> &'static Published {
    let of_node = |row: &&Published| row.case.contains(["_1", "_2"][node]);
    let mut rows =
        ROWS.iter().filter(|row| row.variant == variant && row.workload == workload).filter(of_node);
    rows.next().unwrap_or_else(|| panic!("the table has {workload} of {variant}"))
}

fn is_of_node_2(row: &Published) -> bool {
    row.case.contains("Initiator_2")
}

/// Node 2 alone is held to a bar: what holds the node with three drives below its line nobody publishes.
pub(super) fn is_met(rows: &[Compared<'_>]) -> bool {
    let of_node_2 = || rows.iter().filter(|row| is_of_node_2(row.published));
    let rates = of_node_2().filter(|row| row.published.metric == "IOPS").all(Compared::is_met);
    rates && means(rows).into_iter().all(|(_, mean)| mean <= LATENCY_BAR_PCT)
}

/// The mean error of the latencies of node 2 in each assignment \[%\].
fn means<'a>(rows: &[Compared<'a>]) -> Vec<(&'a str, f64)> {
    let of = |variant: &'a str| {
        let latencies = rows.iter().map(|row| (row.published, row.error_pct));
        let of_node_2 = latencies
            .filter(|(row, _)| row.variant == variant && row.metric == "latency" && is_of_node_2(row));
        (variant, accuracy::mape(of_node_2.map(|(_, error)| error)).unwrap_or(f64::NAN))
    };
    ["lc922-has-three", "stingray-has-three"].map(of).into()
}

/// What a row would be by its closed form: drives or line, whichever is less; a latency by what node 1 adds to that of
/// its drive.
fn closed_form(row: &Published) -> Option<f64> {
    let reads = row.workload.starts_with("read");
    match &*row.metric {
        "IOPS" => {
            let drives = if is_of_node_2(row) { 2.0 } else { 3.0 };
            let each = if reads { DATA_SHEET } else { WRITES };
            Some((drives * each).min(LINE) / IO_BYTES / 1e3)
        }
        _ if is_of_node_2(row) => {
            let published = |variant: &str, node| latency_row(variant, &row.workload, node).published;
            Some(published("direct", 1) + published(&row.variant, 0) - published("direct", 0))
        }
        _ => None,
    }
}

pub(super) fn told(rows: &[Compared<'_>]) -> String {
    let shown: Vec<String> =
        rows.iter().filter(|row| row.published.role == Role::Predicted).map(Compared::told).collect();
    let means: Vec<String> = means(rows).iter().map(|(name, mean)| format!("{mean:.1} % ({name})")).collect();
    format!(
        "Over the fabric: {}. The deck does not say which target is the LC922: both ways are tried, and differ by little. Latencies of node 2 are off by {} in the mean, of {LATENCY_BAR_PCT} %.",
        shown.join("; "),
        means.join(" and "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_asks_what_the_scenario_has() {
        let plan = plan();
        for row in ROWS.iter() {
            let variant = plan.variants.iter().find(|variant| variant.name == row.variant);
            let workloads = &variant.unwrap_or_else(|| panic!("{row:?}")).workloads;
            assert!(workloads.iter().any(|workload| workload.name == row.workload), "{row:?}");
        }
    }

    #[test]
    fn closed_forms_are_of_drives_and_line_and_of_what_node_1_adds() {
        let all: Vec<f64> = ROWS.iter().filter_map(closed_form).collect();
        assert_eq!(all.len(), 12, "four rates and two latencies of each assignment");
        let latency = |workload| closed_form(latency_row("lc922-has-three", workload, 1)).unwrap();
        assert_eq!((latency("read-4k"), latency("write-4k")), (40_800.0, 34_800.0));
        assert!((all[0] - 88.295).abs() < 0.001, "the line holds three drives: {}", all[0]);
        assert!((all[3] - 65.613).abs() < 0.001, "writes of two drives: {}", all[3]);
    }
}
