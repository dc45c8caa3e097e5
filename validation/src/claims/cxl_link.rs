//! `cxl-link`: bandwidth and latency of an x8 CXL expander under load, as a detailed simulation of Micron has them.
//!
//! The link is as it is by default; what of it nobody confirms is moved like everything else ([`predictor`]).
//! **Saturation** at three shares of reads follows from the packing of flits alone. **Latency under load** needs the
//! memory behind the link too, of which the publication says nothing.
//!
//! | what | from |
//! |---|---|
//! | latency without load | calibrated: the lowest row of 100 % reads; it sets the expander's two latencies, the same for all rows |
//! | channels and ranks of DRAM | calibrated: one row of 100 % reads chooses among four arrangements |
//! | when writes are drained | calibrated: one row of 2 % reads chooses among three times |
//! | outstanding lines | input: 256, by Little's law from the saturated row of 100 % reads |
//! | the load | input: a line every n × 100 ps, as the bandwidths of the rows are |
//! | random lines, rows closed after use, DDR5-4800, and the rest of the memory | assumed: moved to the ends of their ranges, and counted as free where that moves a row by more than a tenth of its bar |
//!
//! Every other row is predicted, but which things are assumed and fitted was settled with all rows in view
//! (docs/validation.md). Latencies of saturated rows are what their outstanding lines make of them, and are inputs.

mod expander;
mod predictor;
#[cfg(test)]
mod tests;
mod world;

use crate::accuracy;
use crate::claim::Role;
use crate::claim::{Cell, Outcome};
use crate::declaration::{Claim, Run};
use crate::sensitivity;
use crate::watch::Watch;
use expander::{FULL, LATENCY_PCT, Row, SATURATION_PCT, fit, is_saturated, saturation, table, under_load};
use rayon::prelude::*;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "cxl-link",
    about: "Saturation of an x8 CXL expander at three shares of reads, and latency under load.",
    cpu_seconds: 11,
    bar: "saturation within 0.3 %; each latency under load within 10 %",
    run: Run::Own(run),
};

/// The largest errors of what is predicted \[%\]: of saturation, and of latencies.
fn worst(cells: &[Cell]) -> (f64, f64) {
    let of = |quantity: &str| {
        let meant = cells.iter().filter(|cell| cell.role == Role::Predicted && cell.quantity == quantity);
        accuracy::worst(meant.map(|cell| accuracy::error_pct(cell.predicted, cell.published)))
    };
    (of("saturation"), of("latency"))
}

fn is_met(cells: &[Cell]) -> bool {
    let (saturation, latency) = worst(cells);
    saturation <= SATURATION_PCT && latency <= LATENCY_PCT
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let rows = table();
    let fitted = fit(&rows);
    let numbers = predictor::numbers(&fitted);
    let steps = 3 + sensitivity::steps(numbers.len());
    watch.step(steps)?;
    let (full, loaded): (Vec<Row>, Vec<Row>) = rows.iter().partition(|row| is_saturated(&rows, row));
    let machine = &fitted.machine;
    let mut cells: Vec<Cell> = full.par_iter().map(|row| saturation(machine, row, FULL)).collect();
    watch.step(steps)?;
    cells.extend(loaded.par_iter().map(|row| under_load(machine, row, FULL)).collect::<Vec<_>>());
    watch.step(steps)?;
    let predictor = predictor::Predictor::new(&rows, &fitted);
    let sensitivity_found = sensitivity::analyse(&numbers, &predictor::Predictor::bars(), &predictor, watch);
    let (of_saturation, of_latency) = worst(&cells);
    let text = format!(
        "Saturation is off by {of_saturation:.2} % at most, and nothing was fitted to it; latency under load by {of_latency:.1} %. {} {} They were moved on \
         {} rows: saturation, and a low, a middle and a high load of each share.",
        fitted.text,
        sensitivity_found.told(),
        predictor::ROWS.len(),
    );
    let met = is_met(&cells);
    let of_rows = full.iter().chain(&loaded);
    let predicted = of_rows.zip(&cells).filter(|(_, cell)| cell.role == Role::Predicted);
    let were: Vec<bool> = predicted.map(|(row, _)| predictor::is_analysed(&rows, row)).collect();
    let effects = sensitivity_found.effects_among(&were);
    Some(Outcome { cells, free_parameters: sensitivity_found.free, met, text, effects })
}
