//! What the assumed and calibrated numbers of host and device do to sizes between the plateaus, when the plateaus are
//! calibrated anew with each.
//!
//! A latency is fitted by one line of arithmetic: what its plateau has moved by is taken off. A calibrated number that
//! is itself moved stays where it was moved to.

use super::chase::{self, BAR_PCT, HOST, LOADS, chase, parts, plan};
use crate::sensitivity::{self, Asked, Effort, Number, Predict, Range};
use lanetwin_kernel::mix;
use lanetwin_plan::Plan;
use lanetwin_ports::Value;
use lanetwin_stats::results::Digest;
use lanetwin_units::Bytes;

/// The memories and sizes \[MB\] that are analysed: some on each side of every step, and the knee in both memories.
pub(super) const ROWS: [(usize, f64); 11] = [
    (0, 0.03125),
    (0, 0.1875),
    (0, 0.75),
    (0, 1.5),
    (0, 2.0),
    (0, 6.0),
    (0, 12.0),
    (0, 32.0),
    (0, 128.0),
    (1, 12.0),
    (1, 128.0),
];

/// What a plateau is fitted with, in the order of the fits: component, number, memory and size \[MB\].
const FITS: [(&str, &str, usize, f64); 7] = [
    ("host", "l1.latency", 0, 0.00049),
    ("host", "l2.latency", 0, 0.09375),
    ("host", "tlb.first.miss", 0, 1.0),
    ("host", "llc.latency", 0, 3.0),
    ("host", "tlb.walk", 0, 16.0),
    ("host", "uncore.latency", 0, 1024.0),
    ("device", "request-latency", 1, 1024.0),
];

/// The ranges of what a factor of two does not suit.
const RANGES: [Range; 3] = [
    Range {
        part: HOST,
        name: "l1.size",
        ends: ["l1.size=32KiB, l1.ways=8", "l1.size=64KiB, l1.ways=16"],
        reason: "what first levels of these years have; published of this core are 48 KiB",
    },
    Range {
        part: HOST,
        name: "l2.size",
        ends: ["l2.size=1MiB", "l2.size=4MiB"],
        reason: "half and double, in as many ways",
    },
    Range {
        part: HOST,
        name: "llc.size",
        ends: ["llc.size=52500KiB, llc.ways=15", "llc.size=210MiB, llc.ways=15"],
        reason: "half and double, in as many ways",
    },
];

/// Which memory, and how large an array \[MB\].
type At = (usize, f64);

/// What is measured. Caches that hold what they will always hold take far more loads than that.
const fn loads(effort: Effort) -> u64 {
    match effort {
        Effort::Full => 8_000,
        Effort::Long => LOADS,
    }
}

/// The machine with changes, without the seed; none if they make none.
fn changed(sets: &[String]) -> Option<Plan> {
    let without: Vec<String> = sets.iter().filter(|set| !set.starts_with("run.")).cloned().collect();
    plan(&without)
}

/// What a size comes to with changes \[ns\]; none if they make no machine.
fn latency(sets: &[String], effort: Effort, (memory, mb): At) -> Option<f64> {
    let amount = chase::Effort { loads: loads(effort), seed: sensitivity::seed(sets), warm: None };
    Some(chase(parts(&changed(sets)?), mb, memory as u16, amount).0)
}

/// A plateau of the machine as it is.
fn plateau(effort: Effort, at: At) -> f64 {
    latency(&[], effort, at).expect("the machine of the claim is one")
}

/// The settings with plateaus back where they are without them: all that are given, in the order of the fits.
fn calibrated(sets: &[String], effort: Effort, plateaus: &[f64]) -> Option<Vec<String>> {
    let as_it_is = plan(&[])?;
    let [host, device] = parts(&as_it_is);
    let mut all = sets.to_vec();
    for ((component, name, memory, mb), plateau) in FITS.into_iter().zip(plateaus) {
        let key = format!("machine.{component}.{name}=");
        if sets.iter().any(|set| set.starts_with(&key)) {
            continue;
        }
        let of = if component == "host" { host } else { device };
        let moved = latency(&all, effort, (memory, mb))? - plateau;
        let ps = of.params.time(name).as_ps() as f64 - moved * 1e3;
        all.push(format!("{key}{}ps", ps.max(0.0).round() as u64));
    }
    Some(all)
}

/// The rows: all of one kind of run, for a level that a number acts on is behind each of them or before the plateau
/// that they are calibrated with.
pub(super) struct Predictor {
    /// By effort.
    plateaus: [Vec<f64>; 2],
}

impl Predictor {
    pub(super) fn new() -> Self {
        let plateaus = [Effort::Full, Effort::Long]
            .map(|effort| FITS.iter().map(|(_, _, memory, mb)| plateau(effort, (*memory, *mb))).collect());
        Self { plateaus }
    }
    pub(super) const fn bars() -> [f64; ROWS.len()] {
        [BAR_PCT; ROWS.len()]
    }
}

/// Of a trace: the last level is so many times smaller, so that it is full soon.
const SMALLER: u64 = 32;
/// Arrays of traces \[MB\], each with its loads before anything is counted: one that leaves the TLBs and the second
/// level, one that leaves the last.
const TRACES: [(At, u64); 3] = [((0, 12.0), 60_000), ((0, 4.0), 100_000), ((1, 4.0), 100_000)];
const TRACED: u64 = 500;

/// The machine with its last level as it is in traces.
fn smaller(sets: &[String]) -> Option<Plan> {
    let mut plan = changed(sets)?;
    let host = plan.variants[0].machine.iter_mut().find(|component| component.name == "host")?;
    let llc = host.params.size("llc.size").0 / SMALLER;
    host.params.0.insert("llc.size", Value::Size(Bytes(llc)));
    Some(plan)
}

impl Predict for Predictor {
    fn kinds(&self) -> usize {
        1
    }
    fn trace(&self, sets: &[String], _: usize) -> Option<Digest> {
        let plan = smaller(sets)?;
        let seed = sensitivity::seed(sets);
        let of = |((memory, mb), warm): (At, u64)| {
            chase(parts(&plan), mb, memory as u16, chase::Effort { loads: TRACED, seed, warm: Some(warm) })
        };
        // the digest has when events came: not which levels gave what at the same time, as the mean has
        let traced = TRACES.into_iter().map(of);
        Some(Digest(traced.fold(0, |sum, (ns, digest)| mix(mix(sum ^ digest) ^ ns.to_bits()))))
    }
    fn rows(&self, asked: &Asked<'_>) -> Option<Vec<Option<f64>>> {
        let Asked { sets, effort, wanted, .. } = *asked;
        let sets = if asked.is_as_it_is() {
            sets.to_vec()
        } else {
            calibrated(sets, effort, &self.plateaus[effort as usize])?
        };
        let row = |(row, wanted): (&At, &bool)| {
            if *wanted { latency(&sets, effort, *row).map(Some) } else { Some(None) }
        };
        ROWS.iter().zip(wanted).map(row).collect()
    }
}

/// Every assumed and calibrated number of host and device.
pub(super) fn numbers() -> Vec<Number> {
    sensitivity::numbers(&plan(&[]).expect("the parts come with the program"), &RANGES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::latency_vs_size::{CALIBRATES, PUBLISHED, published};

    #[test]
    fn what_is_weighed_is_predicted_and_what_is_fitted_is_not() {
        let rows = published(PUBLISHED);
        for (memory, mb) in ROWS {
            assert!(rows.iter().any(|row| row.0 == mb) && !CALIBRATES[memory].contains(&mb), "{mb}");
        }
        for (_, _, memory, mb) in FITS {
            assert!(CALIBRATES[memory].contains(&mb), "{mb}");
        }
    }

    /// What acts only where the last level is too small for an array acts in a trace, too.
    #[test]
    fn a_trace_sees_the_last_level_and_the_device() {
        let predictor = Predictor { plateaus: [Vec::new(), Vec::new()] };
        let trace = |sets: &[&str]| {
            let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
            predictor.trace(&sets, 0).expect("a machine")
        };
        for set in RANGES[2].ends {
            let sets: Vec<String> = set.split(", ").map(|set| format!("machine.host.{set}")).collect();
            assert_ne!(predictor.trace(&sets, 0), Some(trace(&[])), "{set}");
        }
        for set in ["machine.host.llc.replacement=lru", "machine.device.request-latency=1ns"] {
            assert_ne!(trace(&[set]), trace(&[]), "{set}");
        }
        assert_eq!(trace(&["machine.host.core.misses=7"]), trace(&[]), "one load at a time");
    }

    #[test]
    fn every_end_of_a_range_is_a_machine() {
        for range in RANGES {
            for end in range.ends {
                let sets: Vec<String> = end.split(", ").map(|set| format!("machine.host.{set}")).collect();
                assert!(plan(&sets).is_some(), "{end}");
            }
            assert!(!range.reason.is_empty());
        }
    }

    /// A level that takes twice as long, with its plateau fitted again, is what it was: the fit works.
    #[test]
    fn a_plateau_that_is_fitted_again_is_where_it_was() {
        let at = |sets: &[String]| latency(sets, Effort::Full, (0, 0.09375)).expect("a machine");
        let plateaus: Vec<f64> =
            FITS[..2].iter().map(|(_, _, memory, mb)| plateau(Effort::Full, (*memory, *mb))).collect();
        let moved = ["machine.host.tlb.first.entries=16".to_owned()];
        let all = calibrated(&moved, Effort::Full, &plateaus).expect("a machine");
        assert!((at(&moved) / at(&[]) - 1.0).abs() > 0.02, "the plateau moves");
        assert!((at(&all) / at(&[]) - 1.0).abs() < 0.01, "{} {}", at(&all), at(&[]));
    }
}
