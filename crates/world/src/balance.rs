//! Whether reads and writes of a mix find their balance during the measurement, seen over all repeats.
//!
//! In a closed loop the rate and the number in flight determine the mean latency of all I/Os, but not that of reads and
//! that of writes: while a growing part of those in flight is of the slower kind, one rises, the other falls, and the
//! rate stays. One repeat varies too much to show a slow change, and repeats that change alike agree with one another.

use super::batch::{Batch, mean_latencies};
use super::pace::ERRORS;
use lanetwin_load::{Answered, Tally};
use lanetwin_stats::results::Steadiness;
use lanetwin_stats::steady::{Trend, trend};

/// Means have to be right within this share.
const CLOSE: f64 = 0.03;

/// Judges the parts of all repeats, by the best lines through them: not steady if one mean rises and the other falls,
/// which is not chance, and one of them ends farther from the mean of all than that may be off.
pub(super) fn still_found(repeats: &[&[Batch]]) -> Option<Steadiness> {
    let [reads, writes]: [Vec<f64>; 2] = SIDES.map(|side| mean_latencies(repeats, side));
    if reads.is_empty() || writes.is_empty() {
        return None;
    }
    let ratios: Vec<f64> = writes.iter().zip(&reads).map(|(write, read)| write / read).collect();
    let Trend { rise, error } = trend(&ratios)?;
    let most = [&reads, &writes].into_iter().filter_map(|means| share_of_rise(means)).reduce(f64::max)?;
    // of values that change in opposite ways the ratio changes more than either
    let apart = share_of_rise(&ratios)? > most;
    let counts = apart && rise.abs() > ERRORS * error && most / 2.0 > CLOSE;
    counts.then(|| Steadiness::unsteady("balance of reads and writes", None, Some(most)))
}

const SIDES: [fn(&Tally) -> &Answered; 2] = [|tally| &tally.reads, |tally| &tally.writes];

/// How much the best line through these means rises or falls, as a share of their mean.
fn share_of_rise(means: &[f64]) -> Option<f64> {
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    Some(trend(means)?.rise.abs() / mean)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_units::Span;

    /// Ten parts with as many reads as writes, with these mean latencies \[ns\].
    fn parts(of: impl Fn(u64) -> [u64; 2]) -> Vec<Batch> {
        let side =
            |ns: u64| Answered { timed: 100, latency_ps: u128::from(ns) * 100_000, ..Answered::default() };
        let tally = |[reads, writes]: [u64; 2]| Tally {
            reads: side(reads),
            writes: side(writes),
            ..Tally::default()
        };
        (0..10).map(|nth| Batch { elapsed: Span::from_us(1), tally: tally(of(nth)) }).collect()
    }
    fn is_told(of: impl Fn(u64) -> [u64; 2]) -> bool {
        let parts = parts(of);
        still_found(&[&parts, &parts]).is_some()
    }

    #[test]
    fn a_mean_that_rises_while_the_other_falls_is_told() {
        let chance = |nth: u64| nth * 7 % 5 * 50;
        assert!(is_told(|nth| [50_000 - 100 * nth + chance(nth), 44_000 + 450 * nth + chance(nth + 1)]));
        assert!(
            !is_told(|nth| [50_000 - 20 * nth + chance(nth), 44_000 + 90 * nth + chance(nth + 1)]),
            "2 %"
        );
        assert!(!is_told(|nth| [50_000 + 450 * nth, 44_000 + 396 * nth]), "both, by the same share");
        assert!(!is_told(|nth| [50_000, 44_000 + nth * 7 % 5 * 1_500]), "chance");
    }
}
