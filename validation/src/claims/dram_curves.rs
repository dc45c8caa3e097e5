//! `dram-curves`: the bandwidth and the latency under load of the DDR5 of a Sapphire Rapids socket, from timing tables.
//!
//! ```text
//!   idle latency ──► what a load takes beside the memory (calibrated) ─┐
//!   top of the all-read curve, Little's law ──► lines under way ───────┤
//!   DDR5-4800, eight channels, x8, one rank: timing table ─────────────┴─► latency at every published bandwidth, peaks
//! ```
//!
//! Which of the assumed and calibrated numbers matter, [`predictor`] finds out. Published bandwidths are inputs: they
//! say where on its curve the model is read.
//!
//! The machine is [`world`]: the controllers of `media::dram` and threads that keep so many lines under way, without
//! caches. The latency at a published bandwidth is that of the model's curve there. Not here: prefetchers, the mesh
//! between cores and memory controllers, whatever else makes the latency of an idle machine.

mod curves;
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
use curves::{BAR_PCT, DELAYS_NS, SHARES, Setup, compare, published, simulate};
use lanetwin_units::Span;
use world::Threads;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "dram-curves",
    about: "Latency at every bandwidth of eight channels of DDR5-4800, from all reads to as many writes as reads.",
    cpu_seconds: 45,
    bar: "mean error of the predicted latencies below 10 %",
    run: Run::Own(run),
};

/// The mean error of predicted latencies whose case begins so \[%\].
fn mean_error(cells: &[Cell], part: &str) -> f64 {
    let is_meant = |cell: &&Cell| {
        cell.role == Role::Predicted && cell.quantity == "latency" && cell.case.starts_with(part)
    };
    let errors =
        cells.iter().filter(is_meant).map(|cell| accuracy::error_pct(cell.predicted, cell.published));
    accuracy::mape(errors).unwrap_or(f64::NAN)
}

fn is_met(cells: &[Cell]) -> bool {
    mean_error(cells, "") < BAR_PCT
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let published = published();
    // as many whatever is calibrated
    let numbers = predictor::numbers(Span::from_ns(1), 1).len();
    let total = 1 + SHARES.len() * DELAYS_NS.len() + sensitivity::steps(numbers);
    let ran = simulate(&Setup::full(), &published, &mut || watch.step(total))?;
    let cells = compare(&published, &ran);
    let predictor = predictor::Predictor { published: &published };
    let numbers = predictor::numbers(ran.fixed, ran.outstanding);
    let sensitivity_found = sensitivity::analyse(&numbers, &predictor.bars(), &predictor, watch);
    let by_share: Vec<String> = SHARES
        .iter()
        .map(|share| format!("{share} % reads {:.1} %", mean_error(&cells, &format!("{share} %"))))
        .collect();
    let text = format!(
        "Mean error of predicted latencies {:.1} %: {}. {} lines under way and {} beside the memory are calibrated. \
         The model's peaks are those of the DRAM alone: nothing between cores and controllers limits them. {}",
        mean_error(&cells, ""),
        by_share.join(", "),
        ran.outstanding,
        ran.fixed,
        sensitivity_found.told(),
    );
    let met = is_met(&cells);
    let effects = sensitivity_found.effects();
    Some(Outcome { cells, free_parameters: sensitivity_found.free, met, text, effects })
}
