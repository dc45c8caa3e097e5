//! What the assumed numbers of drive and host do to the predictions, when the drive is calibrated anew with each.
//!
//! The numbers that reads are calibrated with are fitted as docs/nvme-ssd.md has it, one line of arithmetic each, to
//! what short runs of their loads come to. A calibrated number that is itself moved is not fitted: it counts if a
//! prediction hangs on it. `nand.program` is not fitted: no read waits for a program here.

use super::drive::{Asked, ONE, ONE_WRITE, RANDOM, Scale, iops, latency};
use super::experiments::{self, Experiment, experiments};
use crate::claim::Role;
use crate::sensitivity::{self, Effort, Number, Predict, Range};
use lanetwin_stats::results::{Digest, Results};

/// What every predicted row is held to for this \[%\]: the bar of the one that has one.
const BAR_PCT: f64 = experiments::BAR_PCT;
const DRIVE: &str = "samsung-pm1743";

const fn of_drive(name: &'static str, ends: [&'static str; 2], reason: &'static str) -> Range {
    Range { part: DRIVE, name, ends, reason }
}

/// The ranges of what a factor of two does not suit.
const RANGES: [Range; 14] = [
    of_drive(
        "nand.channels",
        ["nand.channels=16", "nand.channels=32, nand.chips=2"],
        "8 channels of 1600 MT/s do not carry the random reads that the drive is calibrated to",
    ),
    of_drive(
        "nand.chips",
        ["nand.chips=2, nand.blocks=2632", "nand.chips=8, nand.pages=384"],
        "32 dies of 1 Tb to 128 of 256 Gb; the over-provisioning is a number of its own",
    ),
    of_drive(
        "nand.dies",
        ["nand.dies=1", "nand.dies=2, nand.chips=2"],
        "as many dies, behind fewer chip enables",
    ),
    of_drive(
        "nand.planes",
        ["nand.planes=2, nand.blocks=2632", "nand.planes=4"],
        "TLC of 128 layers and more has 2 or 4",
    ),
    of_drive(
        "nand.page",
        ["nand.page=8KiB, nand.blocks=2632", "nand.page=16KiB"],
        "no TLC has had larger ones",
    ),
    of_drive(
        "nand.pages",
        ["nand.pages=384, nand.blocks=2632", "nand.pages=1536, nand.chips=2"],
        "half and double, of the same over-provisioning",
    ),
    of_drive(
        "nand.blocks",
        ["nand.blocks=1276", "nand.blocks=1365"],
        "an over-provisioning of 7 %, the least that is sold, to all of 512 Gb, 14.5 %",
    ),
    of_drive("nand.read", ["nand.read=30us", "nand.read=42us"], "more does not leave 60 us for a read"),
    of_drive(
        "nand.read-step",
        ["nand.read-step=2500ns", "nand.read-step=7us"],
        "more does not leave 60 us for a read",
    ),
    of_drive("nand.bus", ["nand.bus=1200", "nand.bus=2400"], "what Toggle DDR 4.0 and ONFI 5 allow"),
    of_drive("issue", ["issue=200ns", "issue=600ns"], "more does not leave 60 us for a read"),
    of_drive("ftl.gc.urgent", ["ftl.gc.urgent=2", "ftl.gc.urgent=3"], "below the low watermark"),
    of_drive(
        "driver.libaio.submit",
        ["driver.libaio.submit=2us", "driver.libaio.submit=2600ns"],
        "the sum of both is measured; 16 cores are busy with 2.5 million a second as it is",
    ),
    of_drive(
        "driver.libaio.complete",
        ["driver.libaio.complete=1500ns", "driver.libaio.complete=2100ns"],
        "the sum of both is measured",
    ),
];

/// A number that is calibrated: its value in the part, and what it is fitted to.
struct Fitted {
    name: &'static str,
    ps: f64,
    load: Asked,
    fit: fn(f64, &Reached) -> f64,
}

/// What a calibration load came to, where it should be.
struct Reached {
    value: f64,
    target: f64,
    /// What the number before this in the list was changed by \[ps\].
    changed: f64,
}

const PS_PER_US: f64 = 1e6;

/// The loads that the drive is calibrated to.
const CALIBRATE: [Asked; 3] = [RANDOM, ONE, ONE_WRITE];

/// What a load comes to.
type Of = fn(&Results) -> Option<f64>;

/// The calibrated numbers, in the order in which they are fitted, each with what it is fitted to.
fn fitted() -> [(Fitted, Of, f64); 3] {
    let share = |ps: f64, reached: &Reached| ps * reached.value / reached.target;
    let left = |ps: f64, reached: &Reached| {
        (ps + (reached.target - reached.value) * PS_PER_US - reached.changed).max(0.0)
    };
    let fitted = |name, ps, load, fit| Fitted { name, ps, load, fit };
    [
        (fitted("firmware.read", 3.2e6, RANDOM.shorter(8), share), iops, 2500.0),
        (fitted("firmware.read-latency", 2.13e6, ONE.shorter(10), left), latency, 60.0),
        (fitted("firmware.write-latency", 8.61e6, ONE_WRITE.shorter(10), left), latency, 20.0),
    ]
}

/// The settings with the drive calibrated anew; none if they make no drive.
fn calibrated(sets: &[String]) -> Option<Vec<String>> {
    let mut all = sets.to_vec();
    let mut changed = 0.0;
    for (Fitted { name, ps, load, fit }, of, target) in fitted() {
        let key = format!("machine.ssd.{name}=");
        if sets.iter().any(|set| set.starts_with(&key)) {
            continue;
        }
        let value = of(&Asked { scale: Scale::Sixteenth, ..load }.results(sets)?)?;
        let new = fit(ps, &Reached { value, target, changed });
        // a longer engine is a longer read
        changed = if name == "firmware.read" { new - ps } else { 0.0 };
        all.push(format!("{key}{}ps", new.round() as u64));
    }
    Some(all)
}

/// How much shorter than the claim's the runs are.
const SHORT: u64 = 200;
const fn shorter(effort: Effort) -> u64 {
    match effort {
        Effort::Full => 12,
        Effort::Long => 4,
    }
}

/// The predicted rows and the loads that they are from: each load is a kind of run, and those that calibrate are, too.
pub(super) struct Predictor {
    predicted: Vec<Experiment>,
    loads: Vec<Asked>,
}

impl Predictor {
    pub(super) fn new() -> Self {
        let predicted: Vec<Experiment> =
            experiments().into_iter().filter(|row| row.role == Role::Predicted).collect();
        let mut loads = CALIBRATE.to_vec();
        for row in &predicted {
            if !loads.contains(&row.asked) {
                loads.push(row.asked);
            }
        }
        Self { predicted, loads }
    }
    pub(super) fn bars(&self) -> Vec<f64> {
        vec![BAR_PCT; self.predicted.len()]
    }
}

impl Predict for Predictor {
    fn kinds(&self) -> usize {
        self.loads.len()
    }
    fn trace(&self, sets: &[String], kind: usize) -> Option<Digest> {
        Asked { scale: Scale::Sixteenth, ..self.loads[kind].shorter(SHORT) }.results(sets)?.digest
    }
    fn rows(&self, asked: &sensitivity::Asked<'_>) -> Option<Vec<Option<f64>>> {
        // a calibration moves nothing where none of its loads moves
        let is_calibrated = !asked.is_as_it_is() && (0..CALIBRATE.len()).any(|kind| asked.touched.has(kind));
        let sets = if is_calibrated { calibrated(asked.sets)? } else { asked.sets.to_vec() };
        let mut known: Vec<Option<Results>> = self.loads.iter().map(|_| None).collect();
        let row = |(row, wanted): (&Experiment, &bool)| {
            let load = self.loads.iter().position(|load| *load == row.asked).expect("each row has a load");
            if !wanted || !is_calibrated && !asked.touched.has(load) {
                return Some(None);
            }
            if known[load].is_none() {
                let short = Asked { scale: Scale::Sixteenth, ..row.asked.shorter(shorter(asked.effort)) };
                known[load] = Some(short.results(&sets)?);
            }
            (row.of)(known[load].as_ref()?).map(Some)
        };
        self.predicted.iter().zip(asked.wanted).map(row).collect()
    }
}

/// Every assumed and calibrated number of the machine.
pub(super) fn numbers() -> Vec<Number> {
    let plan = RANDOM.plan(&[]).expect("the drive of the claim is one");
    sensitivity::numbers(&plan, &RANGES)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written here is what the part has: a fit starts from it.
    #[test]
    fn the_numbers_that_are_fitted_are_those_of_the_part() {
        let plan = RANDOM.plan(&[]).expect("the drive of the claim is one");
        let drive = plan.variants[0].machine.iter().find(|part| part.name == "ssd").expect("the drive");
        for (Fitted { name, ps, .. }, ..) in fitted() {
            assert_eq!(drive.params.time(name).as_ps() as f64, ps, "{name}");
        }
    }

    #[test]
    fn every_end_of_a_range_is_a_drive() {
        for range in RANGES {
            for end in range.ends {
                let sets: Vec<String> = end.split(", ").map(|set| format!("machine.ssd.{set}")).collect();
                let small = Asked { scale: Scale::Sixteenth, ..RANDOM };
                assert!(RANDOM.plan(&sets).is_some() && small.plan(&sets).is_some(), "{end}");
            }
            assert!(!range.reason.is_empty());
        }
    }
}
