//! `h3-nvmeof`: the drives of a JBOF, attached directly to two servers that share its switch.
//!
//! ```text
//!  data sheet of the drive: 5.0 GB/s ──► parts/phison-e16.yaml (calibrated)
//!  drives × 5.0 GB/s ◄── scenarios/long/h3-direct.yaml: partitions, both servers at once ──► beside I/Os × 128 KiB of the deck
//! ```
//!
//! Not here: the rows of the deck that go over a fabric.

use crate::accuracy;
use crate::claim::{Cell, Claim, Outcome};
use crate::table::{self, Compared, Published};
use crate::watch::Watch;
use std::sync::LazyLock;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "h3-nvmeof",
    about: "Five drives behind a switch that two servers share, attached directly: sequential reads of 128 KiB, both at once.",
    cpu_seconds: 5,
    bar: "mean error of the I/O rates within 1.2 %, from the data sheet of the drive alone",
    run,
};

const SCENARIO: &str = include_str!("../../../scenarios/long/h3-direct.yaml");
static ROWS: LazyLock<Vec<Published>> =
    LazyLock::new(|| table::published(include_str!("../../data/h3-nvmeof/direct.csv")));
const BAR_PCT: f64 = 1.2;
/// What the data sheet says of a sequential read \[B/s\], and what one I/O moves \[B\].
const DATA_SHEET: f64 = 5.0e9;
const IO_BYTES: f64 = 131_072.0;

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let (results, free_parameters) = table::ran(&table::plan("h3-direct.yaml", SCENARIO));
    watch.step(1)?;
    let compared = table::compared(&results, &ROWS);
    let mean = accuracy::mape(compared.iter().map(|row| row.error_pct));
    let cells = table::cells(&results, &ROWS).into_iter().zip(ROWS.iter());
    let cells = cells.map(|(cell, row)| Cell { baseline: drives(row).map(by_data_sheet), ..cell }).collect();
    let met = mean.is_some_and(|mean| mean <= BAR_PCT);
    Some(Outcome { cells, free_parameters, met, text: told(&compared, met), effects: Vec::new() })
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

fn told(compared: &[Compared<'_>], met: bool) -> String {
    let rows: Vec<String> = compared.iter().map(Compared::told).collect();
    format!(
        "{}. The rates are {}within {BAR_PCT} % in the mean. The unit of the deck's MB/s is open: 9,664 are 75.5 × 128, and 14,108 are 113 thousand I/Os of 131,072 B in MiB/s, so that \
         rates of I/Os are compared, which are counted. What binds is the drive: its one number for sequential reads comes from its data sheet, and the many others of machine and drive \
         that nobody confirms are why this is not called predicted. Each server alone is as fast as beside the other.",
        rows.join("; "),
        if met { "" } else { "not " },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_asks_what_the_scenario_has_and_has_a_closed_form() {
        let plan = table::plan("h3-direct.yaml", SCENARIO);
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
