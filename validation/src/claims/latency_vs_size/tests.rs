//! Does a published number reach a prediction, and can the claim miss?

use super::chase::*;
use super::*;
use std::sync::LazyLock;

/// What a debug build has the time for: every size up to this \[MB\], which is every step but the last.
const QUICK: f64 = 12.0;

/// Quick rows of local DDR, as a machine with these changes has them.
fn ran(sets: &[&str]) -> Vec<Ran> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let plan = plan(&sets).expect("a machine");
    let one = |mb: f64| {
        let (predicted, digest) = chase(parts(&plan), mb, 0, Effort { loads: 2_000, seed: SEED, warm: None });
        Ran { memory: 0, mb, predicted, digest }
    };
    published(PUBLISHED).into_iter().map(|row| row.0).filter(|mb| *mb <= QUICK).map(one).collect()
}

static HONEST: LazyLock<Vec<Ran>> = LazyLock::new(|| ran(&[]));

#[test]
fn the_closed_form_is_a_fixed_point() {
    for times in [1.1, 1.5, 2.0, 4.0] {
        let h = hits(times);
        assert!((h - (-(1.0 - h) * times).exp()).abs() < 1e-3 && h < 1.0, "{times}: {h}");
    }
    assert_eq!(hits(0.9), 1.0);
}

#[test]
fn every_size_that_calibrates_is_in_the_table() {
    let rows = published(PUBLISHED);
    assert_eq!(rows.len(), 33);
    for mb in CALIBRATES.concat() {
        assert!(rows.iter().any(|row| row.0 == mb), "{mb}");
    }
}

/// Levels that are calibrated come out as calibrated: small arrays only, which are quick.
#[test]
fn plateaus_of_the_caches_are_what_they_were_calibrated_to() {
    for (mb, ns) in [(0.00049, 1.728), (0.09375, 5.529), (1.0, 7.95), (3.0, 36.633)] {
        let got = HONEST.iter().find(|ran| ran.mb == mb).expect("a quick row").predicted;
        assert!((got / ns - 1.0).abs() < 0.02, "{mb} MB: {got}");
    }
}

/// The law: a machine is made of its parts alone. A table in which every cell is wrong gives the same predictions to
/// the last bit; only its errors change, and the claim is missed.
#[test]
fn no_published_latency_reaches_a_prediction() {
    let right = published(PUBLISHED);
    let wrong: Vec<Row> = right.iter().map(|(mb, ns)| (*mb, ns.map(|ns| ns * 0.5 + 7.0))).collect();
    let told = |rows: &[Row]| {
        let cells = compare(rows, &HONEST).into_iter();
        cells.map(|cell| (cell.case, cell.predicted.to_bits(), cell.digest)).collect::<Vec<_>>()
    };
    assert_eq!(told(&wrong), told(&right));
    assert!(is_met(&compare(&right, &HONEST)), "{:?}", errors(&compare(&right, &HONEST)));
    assert!(!is_met(&compare(&wrong, &HONEST)), "{:?}", errors(&compare(&wrong, &HONEST)));
}

/// One wrong cell is seen where it is, in its own error.
#[test]
fn a_corrupted_cell_is_seen_and_missed() {
    let right = published(PUBLISHED);
    let mut wrong = right.clone();
    let at = wrong.iter().position(|row| row.0 == 1.5).expect("a predicted size");
    wrong[at].1[0] /= 4.0;
    let (honest, corrupted) = (compare(&right, &HONEST), compare(&wrong, &HONEST));
    let differs = |(a, b): &(&Cell, &Cell)| a.published != b.published;
    let changed: Vec<_> =
        honest.iter().zip(&corrupted).filter(differs).map(|(a, _)| a.case.clone()).collect();
    assert_eq!(changed, [case(0, 1.5)]);
    assert!(!is_met(&corrupted), "{:?}", errors(&corrupted));
}

/// Wrong machines are seen: a second level of half the size, TLBs that never miss, and one that always does.
#[test]
fn a_corrupted_model_is_missed() {
    let rows = published(PUBLISHED);
    for wrong in ["l2.size=512KiB", "tlb.first.miss=20ns", "l2.latency=11ns"] {
        let cells = compare(&rows, &ran(&[&format!("machine.host.{wrong}")]));
        assert!(!is_met(&cells), "{wrong}: {:?}", errors(&cells));
    }
}
