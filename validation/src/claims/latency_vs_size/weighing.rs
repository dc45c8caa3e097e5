//! What the assumed and calibrated numbers of host and device do to sizes between the plateaus, when the plateaus are calibrated anew with each.
//!
//! A latency is fitted by one line of arithmetic: what its plateau has moved by is taken off. A calibrated number that is itself moved stays where it was moved to.

use super::{BAR_PCT, chase, parts, plan};
use crate::sensitivity::{self, Effort, Range, Seen, Weighed};
use lanetwin_stats::results::Digest;

/// The memories and sizes \[MB\] that are weighed: some on each side of every step, and the knee in both memories.
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
        part: super::HOST,
        name: "l1.size",
        ends: ["l1.size=32KiB, l1.ways=8", "l1.size=64KiB, l1.ways=16"],
        reason: "what first levels of these years have; published of this core are 48 KiB",
    },
    Range {
        part: super::HOST,
        name: "l2.size",
        ends: ["l2.size=1MiB", "l2.size=4MiB"],
        reason: "half and double, in as many ways",
    },
    Range {
        part: super::HOST,
        name: "llc.size",
        ends: ["llc.size=52500KiB, llc.ways=15", "llc.size=210MiB, llc.ways=15"],
        reason: "half and double, in as many ways",
    },
];

fn loads(effort: Effort) -> u64 {
    match effort {
        Effort::Short => 500,
        Effort::Full => 3_000,
        Effort::Long => 8_000,
    }
}

/// What a size comes to with changes \[ns\]; none if they make no machine.
fn latency(sets: &[String], effort: Effort, (memory, mb): (usize, f64)) -> Option<(f64, u64)> {
    let seed = sensitivity::seed(sets);
    let without: Vec<String> = sets.iter().filter(|set| !set.starts_with("run.")).cloned().collect();
    let plan = plan(&without)?;
    Some(chase(parts(&plan), mb, memory as u16, super::Effort { loads: loads(effort), seed }))
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
        let moved = latency(&all, effort, (memory, mb))?.0 - plateau;
        let ps = of.params.time(name).as_ps() as f64 - moved * 1e3;
        all.push(format!("{key}{}ps", ps.max(0.0).round() as u64));
    }
    Some(all)
}

/// What the rows come to with something moved.
fn moved(sets: &[String], effort: Effort, plateaus: &[f64]) -> Option<Vec<Seen>> {
    // only the events matter: a calibration moves none that was not moved
    let sets = if effort == Effort::Short { sets.to_vec() } else { calibrated(sets, effort, plateaus)? };
    let small = |row: &&(usize, f64)| effort != Effort::Short || row.1 < 20.0;
    let seen = |row: &(usize, f64)| {
        let (value, digest) = latency(&sets, effort, *row)?;
        Some(Seen { value, digest: Digest(digest) })
    };
    ROWS.iter().filter(small).map(seen).collect()
}

/// What every assumed and calibrated number does.
pub(super) fn weigh() -> Weighed {
    let as_it_is = plan(&[]).expect("the parts come with the program");
    let numbers = sensitivity::numbers(&as_it_is, &RANGES);
    let plateaus = FITS.map(|(_, _, memory, mb)| {
        latency(&[], Effort::Long, (memory, mb)).expect("the machine of the claim is one").0
    });
    let bars = [BAR_PCT; ROWS.len()];
    sensitivity::weigh(numbers, &bars, &|sets, effort| moved(sets, effort, &plateaus))
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
        let at = |sets: &[String]| latency(sets, Effort::Full, (0, 0.09375)).expect("a machine").0;
        let plateaus: Vec<f64> = FITS[..2]
            .iter()
            .map(|(_, _, memory, mb)| latency(&[], Effort::Full, (*memory, *mb)).expect("a machine").0)
            .collect();
        let moved = ["machine.host.tlb.first.entries=16".to_owned()];
        let all = calibrated(&moved, Effort::Full, &plateaus).expect("a machine");
        assert!((at(&moved) / at(&[]) - 1.0).abs() > 0.02, "the plateau moves");
        assert!((at(&all) / at(&[]) - 1.0).abs() < 0.01, "{} {}", at(&all), at(&[]));
    }
}
