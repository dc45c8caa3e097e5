//! `pm1743-retimer`: what the link makes of a Gen5 drive, from what its controller and its flash were calibrated to.
//!
//! ```text
//!   white paper: random read and sequential write, latencies one at a time ──► parts/samsung-pm1743.yaml (calibrated)
//!   white paper: sequential read, "2x" over Gen4 ───────────────────────────────────────────────┐
//!   identities: Little's law ───────────────────────────────────────────────────────────────────┴─► errors of predictions
//! ```
//!
//! Nothing in the drive is near 14 GB/s: what a sequential read comes to follows from the link and its MPS. Random
//! writes follow from sequential ones and the write amplification that the over-provisioning gives, which is assumed:
//! they are a claim of their own ([`RANDOM_WRITES`]).
//!
//! Not here: the retimer itself (`retimer-ab`, `retimer-ab-pm1743`), link stability.

mod drive;
mod experiments;
mod predictor;
mod random_writes;

pub use random_writes::CLAIM as RANDOM_WRITES;

use crate::accuracy;
use crate::claim::{Cell, Claim, Outcome};
use crate::sensitivity;
use crate::watch::Watch;
use drive::{Asked, SEQUENTIAL};
use experiments::{BAR_PCT, Experiment, experiments};
use lanetwin_stats::results::Results;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "pm1743-retimer",
    about: "A Samsung PM1743: sequential reads from the link, in one slot, on Gen4 and over both of its ports, Little's law, and what calibrates it.",
    cpu_seconds: 27,
    bar: "128 KiB sequential read at MPS 256 B within 3 %, with fewer numbers that matter and are assumed or calibrated than rows",
    run,
};

/// Whether the bar is about this row.
fn is_barred(experiment: &Experiment) -> bool {
    experiment.asked == SEQUENTIAL && experiment.unit == "GB/s"
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let experiments = experiments();
    let (numbers, predictor) = (predictor::numbers(), predictor::Predictor::new());
    let total = experiments.len() + sensitivity::steps(numbers.len());
    let (mut cells, mut met) = (Vec::new(), true);
    let mut known: Vec<(Asked, Results)> = Vec::new();
    for experiment in &experiments {
        let seen = known.iter().position(|(asked, _)| *asked == experiment.asked);
        let place = seen.unwrap_or_else(|| {
            let results = experiment.asked.results(&[]).expect("the drive of the claim is one");
            known.push((experiment.asked, results));
            known.len() - 1
        });
        let results = &known[place].1;
        let predicted = (experiment.of)(results).expect("a load has this metric");
        if is_barred(experiment) {
            met &= accuracy::error_pct(predicted, experiment.published).abs() <= BAR_PCT;
        }
        cells.push(Cell {
            case: experiment.case.into(),
            quantity: experiment.quantity.into(),
            unit: experiment.unit,
            published: experiment.published,
            predicted,
            interval: (predicted, predicted),
            role: experiment.role,
            baseline: experiment.baseline,
            source: experiment.source,
            digest: results.digest.expect("a simulation has a digest"),
        });
        watch.step(total)?;
    }
    let sensitivity_found = sensitivity::analyse(&numbers, &predictor.bars(), &predictor, watch);
    let text = format!(
        "The sequential read rests on the link: no number of the drive is near it. MPS is not published; 256 B and 512 B are both shown. Two ports of two lanes \
         are shown without reading ahead, which takes requests of one sequence that come over two ports for several sequences. Random writes are a claim of their own, pm1743-random-write. {}",
        sensitivity_found.told(),
    );
    let effects = sensitivity_found.effects();
    Some(Outcome { cells, free_parameters: sensitivity_found.free, met, text, effects })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_load_is_a_plan_and_the_bar_has_a_row() {
        let experiments = experiments();
        experiments.iter().for_each(|experiment| assert!(experiment.asked.plan(&[]).is_some()));
        assert_eq!(experiments.iter().filter(|row| is_barred(row)).count(), 1);
    }
}
