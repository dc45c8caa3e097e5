//! Does a published number reach a prediction, and can the claim miss?

use super::curves::*;
use super::world::Length;
use super::*;
use lanetwin_media::dram::Speed;
use std::sync::LazyLock;

/// Fewer loads and a third of the time, for a debug build: two intervals of refreshes, which do not come at the same
/// time in each.
fn quick() -> Setup {
    let length = Length { seed: 1, warm_up: Span::from_us(1), measure: Span::from_us(8) };
    Setup { length, delays: &[2000, 45, 23, 0], ..Setup::full() }
}

fn ran(setup: &Setup, published: &[Curve]) -> Ran {
    simulate(setup, published, &mut || Some(())).expect("nobody stops it")
}

static HONEST: LazyLock<Ran> = LazyLock::new(|| ran(&quick(), &published()));

/// The law: no latency that is called predicted reaches a prediction. Bandwidths say where the model is read; idle
/// latencies and the top of all reads are what is fitted to.
#[test]
fn no_predicted_latency_reaches_a_prediction() {
    let honest = published();
    let mut wrong = honest.clone();
    for curve in &mut wrong {
        for n in 0..curve.points.len() {
            if !curve.calibrates(n) {
                curve.points[n].1 = curve.points[n].1 * 0.5 + 77.0;
            }
        }
    }
    let again = ran(&quick(), &wrong);
    assert_eq!(again, *HONEST);
    let predictions = |published: &[Curve], ran: &Ran| {
        let cells = compare(published, ran).into_iter();
        cells.map(|cell| (cell.case, cell.predicted.to_bits(), cell.digest)).collect::<Vec<_>>()
    };
    assert_eq!(predictions(&wrong, &again), predictions(&honest, &HONEST));
    assert!(!is_met(&compare(&wrong, &again)), "and a table in which every cell is wrong is not met");
}

#[test]
fn every_published_point_and_every_peak_is_a_row() {
    let cells = compare(&published(), &HONEST);
    let calibrated = cells.iter().filter(|cell| cell.role == Role::Calibrated).count();
    assert_eq!((cells.len(), calibrated), (43 + 4, 5));
}

/// What is fitted to does reach them, or it would be fitted to nothing.
#[test]
fn what_is_calibrated_to_reaches_the_predictions() {
    let mut other = published();
    for curve in &mut other {
        curve.points[0].1 += 20.0;
    }
    assert_eq!(ran(&quick(), &other).fixed, HONEST.fixed + Span::from_ns(20));
}

/// One wrong cell among the published ones is seen: a latency that is four times what was measured takes the mean over
/// the bar.
#[test]
fn a_corrupted_cell_is_missed_and_the_published_ones_are_met() {
    assert!(is_met(&compare(&published(), &HONEST)), "{}", mean_error(&compare(&published(), &HONEST), ""));
    let mut wrong = published();
    wrong[2].points[5].1 /= 4.0;
    let cells = compare(&wrong, &HONEST);
    assert!(!is_met(&cells), "{}", mean_error(&cells, ""));
}

/// A wrong model is seen: half the channels; chips of another generation; writes that cost nothing.
#[test]
fn a_corrupted_model_is_missed() {
    let published = published();
    let mut slow = quick();
    slow.config.speed = Speed::Ddr4_3200;
    let mut narrow = quick();
    narrow.config.geometry.channels = 4;
    let mut reads_alone = published.clone();
    reads_alone.iter_mut().for_each(|curve| curve.stores = 0.0);
    for (name, setup, asked) in
        [("DDR4", &slow, &published), ("half", &narrow, &published), ("no writes", &quick(), &reads_alone)]
    {
        let cells = compare(&published, &ran(setup, asked));
        assert!(!is_met(&cells), "{name}: {}", mean_error(&cells, ""));
    }
}
