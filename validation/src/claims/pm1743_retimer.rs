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
mod predictor;
mod random_writes;

pub use random_writes::CLAIM as RANDOM_WRITES;

use crate::accuracy;
use crate::claim::Role;
use crate::claim::{Cell, Claim, Outcome};
use crate::sensitivity;
use crate::watch::Watch;
use drive::{Asked, ONE, ONE_WRITE, RANDOM, SEQUENTIAL, SEQUENTIAL_WRITE, iops, latency, throughput};
use lanetwin_stats::results::Results;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "pm1743-retimer",
    about: "A Samsung PM1743: sequential reads from the link, in one slot, on Gen4 and over both of its ports, Little's law, and what calibrates it.",
    cpu_seconds: 27,
    bar: "128 KiB sequential read at MPS 256 B within 3 %, with fewer numbers that matter and are assumed or calibrated than rows",
    run,
};

const SOURCE: &str = "Samsung and Montage, white paper on the PM1743 and the M88RT51632, table 1";
const LITTLE: &str = "Little's law: what is outstanding by the rate that is published";
const BAR_PCT: f64 = 3.0;

/// What is asked of the drive, and what is published of it.
struct Experiment {
    case: &'static str,
    quantity: &'static str,
    unit: &'static str,
    published: f64,
    role: Role,
    baseline: Option<f64>,
    source: &'static str,
    /// What of the results it is.
    of: fn(&Results) -> Option<f64>,
    asked: Asked,
}

/// What a Gen5 x4 link leaves for 128 KiB reads at MPS 256 B: 24 B of framing and header for each TLP \[GB/s\].
const LINK_CAP: f64 = 32.0 * 4.0 / 8.0 * 128.0 / 130.0 * 256.0 / 280.0;

const THROUGHPUT: (&str, &str) = ("throughput", "GB/s");
const IOPS: (&str, &str) = ("IOPS", "k/s");
const LATENCY: (&str, &str) = ("latency", "us");
const RANDOM_READ: &str = "random read of 4 KiB, 16 jobs with 64 each";

/// What the white paper says.
fn published(
    case: &'static str,
    (quantity, unit): (&'static str, &'static str),
    published: f64,
    of: fn(&Results) -> Option<f64>,
    asked: Asked,
) -> Experiment {
    let role = Role::Predicted;
    Experiment { case, quantity, unit, published, role, baseline: None, source: SOURCE, of, asked }
}

/// What the drive was calibrated to.
fn calibrations() -> [Experiment; 4] {
    let calibrated = |experiment| Experiment { role: Role::Calibrated, ..experiment };
    [
        published(RANDOM_READ, IOPS, 2500.0, iops, RANDOM),
        published("random read of 4 KiB, one at a time", LATENCY, 60.0, latency, ONE),
        published("random write of 4 KiB, one at a time", LATENCY, 20.0, latency, ONE_WRITE),
        published("sequential write of 128 KiB, 64 in flight", THROUGHPUT, 6.0, throughput, SEQUENTIAL_WRITE),
    ]
    .map(calibrated)
}

/// Sequential reads on one link, which it limits.
fn sequential_reads() -> [Experiment; 3] {
    let read = |case, rate, baseline, asked| Experiment {
        baseline: Some(baseline),
        ..published(case, THROUGHPUT, rate, throughput, asked)
    };
    let gen4: &[&str] = &["links.slot.mps=256B", "links.slot.gen=4", "machine.ssd.ftl.initial=sequential"];
    let mps512: &[&str] = &["links.slot.mps=512B", "machine.ssd.ftl.initial=sequential"];
    let of_512 = LINK_CAP * 512.0 / 536.0 * 280.0 / 256.0;
    let at = |set| Asked { set, ..SEQUENTIAL };
    [
        read("sequential read of 128 KiB, MPS 256 B", 14.0, LINK_CAP, SEQUENTIAL),
        read("sequential read of 128 KiB, MPS 512 B", 14.0, of_512, at(mps512)),
        read("sequential read of 128 KiB, MPS 256 B, Gen4: half", 7.0, LINK_CAP / 2.0, at(gen4)),
    ]
}

/// Latencies that follow from rates by Little's law.
fn latencies() -> [Experiment; 2] {
    let read = published("sequential read of 128 KiB, 64 in flight", LATENCY, 599.2, latency, SEQUENTIAL);
    let random = published(RANDOM_READ, LATENCY, 409.6, latency, RANDOM);
    let baseline = Some(64.0 * 131_072.0 / LINK_CAP / 1e3);
    [Experiment { source: LITTLE, baseline, ..read }, Experiment { source: LITTLE, ..random }]
}

/// The same over both ports, of two lanes each, and over one of them.
fn two_ports() -> [Experiment; 3] {
    let one_port: &[&str] =
        &["links.slot.mps=256B", "links.slot.width=x2", "machine.ssd.ftl.initial=sequential"];
    let both = |asked| Asked { dual_port: true, ..asked };
    let read = |case, rate, baseline, asked| Experiment {
        baseline: Some(baseline),
        ..published(case, THROUGHPUT, rate, throughput, asked)
    };
    let random = "random read of 4 KiB, 16 jobs with 64 each, both ports x2";
    let one = Asked { set: one_port, ..SEQUENTIAL };
    [
        published(random, IOPS, 2500.0, iops, both(RANDOM)),
        read("sequential read of 128 KiB, MPS 256 B, both ports x2", 14.0, LINK_CAP, both(SEQUENTIAL)),
        read("sequential read of 128 KiB, MPS 256 B, one of the ports x2: half", 7.0, LINK_CAP / 2.0, one),
    ]
}

fn experiments() -> Vec<Experiment> {
    let all = calibrations().into_iter().chain(sequential_reads());
    all.chain(latencies()).chain(two_ports()).collect()
}

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
