//! `drives`: every shipped drive beside every row of its sources.
//!
//! What is left of a row when latencies, rates of small commands and one sequential rate have calibrated a drive, its
//! host included: depths between, more threads, other directions. Rows that a manufacturer gives "up to" are upper
//! bounds, and are said to be kept or not; they enter no mean.

use crate::claim::{Claim, Outcome, Role};
use crate::table::{self, Compared, Published};
use crate::watch::Watch;
use std::sync::LazyLock;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "drives",
    about: "The shipped drives beside every row of their sources: PM9A3, PM1743, PS5016-E16, P5800X, 900P.",
    cpu_seconds: 60,
    bar: "90 % of all rows within 10 %, upper bounds kept",
    run,
};

const SCENARIO: &str = include_str!("../../../scenarios/long/drives.yaml");
static ROWS: LazyLock<Vec<Published>> =
    LazyLock::new(|| table::published(include_str!("../../data/drives/rows.csv")));
/// The share of rows that has to be met.
const BAR: f64 = 0.9;

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let (results, free_parameters) = table::ran(&table::plan("drives.yaml", SCENARIO));
    watch.step(1)?;
    let compared = table::compared(&results, &ROWS);
    let met = compared.iter().filter(|row| row.is_met()).count();
    Some(Outcome {
        cells: table::cells(&results, &ROWS),
        free_parameters,
        met: met as f64 >= BAR * compared.len() as f64,
        text: told(&compared, met),
        effects: Vec::new(),
    })
}

fn told(compared: &[Compared<'_>], met: usize) -> String {
    let predicted = |row: &&Compared<'_>| row.published.role == Role::Predicted;
    let of_predicted = compared.iter().filter(predicted).count();
    let met_predicted = compared.iter().filter(predicted).filter(|row| row.is_met()).count();
    let missed: Vec<String> = compared.iter().filter(|row| !row.is_met()).map(Compared::told).collect();
    format!(
        "{met} of {} rows are met, {met_predicted} of the {of_predicted} that calibrated nothing. Missed: {}. What each drive has that nobody confirms is in its part; \
         it is far more than the rows, so that none of this is called predicted.",
        compared.len(),
        if missed.is_empty() { "none".to_string() } else { missed.join("; ") },
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_asks_what_the_scenario_has() {
        let plan = table::plan("drives.yaml", SCENARIO);
        for row in ROWS.iter() {
            let variant = plan.variants.iter().find(|variant| variant.name == row.variant);
            let variant = variant.unwrap_or_else(|| panic!("{row:?}"));
            assert!(variant.workloads.iter().any(|workload| workload.name == row.workload), "{row:?}");
        }
    }
}
