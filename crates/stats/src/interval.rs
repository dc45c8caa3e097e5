//! Confidence intervals over independent repeats: of the mean, of the median, of any percentile.
//!
//! ```text
//!  repeats (one value per seed) ──┬─► mean()        Student's t: assumes the repeats are roughly normal
//!                                 ├─► median()      order statistics: assumes only that they are independent
//!                                 └─► percentile()  the same, anywhere in the distribution
//! ```
//!
//! The unit is the independent run, not the I/O: I/Os of one run wait in the same queues and are not independent. For
//! one long run see [`steady`](crate::steady). Outliers are never removed.
//!
//! Where no interval exists, the result is `None`, never a guess: for one repeat, or for the median of five repeats at
//! 95 % (the range of five covers the median only with probability 1 − 2·2⁻⁵ = 93.75 %).
//!
//! ```
//! use lanetwin_stats::{Confidence, interval};
//! let gbps = [31.8, 31.9, 31.9, 32.0, 31.9];
//! let mean = interval::mean(&gbps, Confidence::P95).unwrap();
//! assert!(mean.low() > 31.81 && mean.high() < 31.99 && mean.contains(31.9));
//! assert!(interval::median(&gbps, Confidence::P95).is_none()); // six repeats is the least
//! assert!(interval::mean(&gbps[..1], Confidence::P95).is_none());
//! ```

use crate::confidence::{Confidence, Interval};
use crate::{quantile, sample};

/// An interval between two order statistics, and its actual coverage.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct OrderInterval {
    /// The range; its ends are values that were observed.
    pub interval: Interval,
    /// The exact coverage for a continuous distribution. It is at least the one requested, since ranks are whole
    /// numbers.
    pub achieved: f64,
}

/// Interval of the mean by Student's t; `None` for fewer than two values or for values that are not finite.
///
/// Equal values give an interval of zero width.
#[must_use]
pub fn mean(values: &[f64], confidence: Confidence) -> Option<Interval> {
    let error = sample::standard_error(values)?;
    let half = if error == 0.0 { 0.0 } else { error * confidence.student((values.len() - 1) as f64) };
    Interval::around(sample::mean(values)?, half)
}

/// Distribution-free interval of the median; `None` if there are too few values (95 % needs six).
#[must_use]
pub fn median(values: &[f64], confidence: Confidence) -> Option<OrderInterval> {
    percentile(values, 50.0, confidence)
}

/// Distribution-free interval of a percentile (0 < `percent` < 100) of independent values.
///
/// `None` if there are too few values for that percentile (the 99th needs 368 at 95 %), or if a value is NaN.
#[must_use]
pub fn percentile(values: &[f64], percent: f64, confidence: Confidence) -> Option<OrderInterval> {
    if values.iter().any(|value| value.is_nan()) {
        return None;
    }
    let ranks = order_ranks(values.len() as u64, percent, confidence)?;
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |rank: u64| sorted[rank as usize - 1];
    Some(OrderInterval { interval: Interval::new(at(ranks.low), at(ranks.high))?, achieved: ranks.achieved })
}

/// The ranks (1 is the smallest value) between which a percentile lies, and the probability of that.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct OrderRanks {
    pub low: u64,
    pub high: u64,
    pub achieved: f64,
}

/// The narrowest pair of ranks with at most half of the outside probability on each side.
///
/// The number of values below the percentile is binomial (n, percent / 100), whatever the distribution
/// (David & Nagaraja, Order Statistics, 3rd ed., section 7.1).
pub(crate) fn order_ranks(n: u64, percent: f64, confidence: Confidence) -> Option<OrderRanks> {
    if !(percent > 0.0 && percent < 100.0) {
        return None;
    }
    let p = percent / 100.0;
    let tail = confidence.outside() / 2.0;
    let at_least = |k: u64| quantile::binomial_at_least(k, n, p);
    // the smallest rank whose value exceeds the percentile, except with the probability of the tail
    let high = first(1, n + 1, |rank| at_least(rank) <= tail);
    // the largest rank whose value is below it, except with the probability of the tail: P(X < rank) ≤ tail
    let low = first(1, n + 1, |rank| 1.0 - at_least(rank) > tail) - 1;
    if low < 1 || high > n {
        return None;
    }
    Some(OrderRanks { low, high, achieved: at_least(low) - at_least(high) })
}

/// The first number of `low..high` for which `holds` is true, given that it is true from there on; `high` if there is
/// none.
fn first(mut low: u64, mut high: u64, holds: impl Fn(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { high = middle } else { low = middle + 1 }
    }
    low
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn mean_of_a_textbook_sample() {
        // n = 5, mean 11, variance 93.5, t(4) = 2.776445: half width 12.006
        let range = mean(&[1.0, 4.0, 9.0, 16.0, 25.0], Confidence::P95).unwrap();
        assert!((range.low() + 1.006_2).abs() < 1e-3 && (range.high() - 23.006_2).abs() < 1e-3, "{range:?}");
    }

    #[test]
    fn one_value_has_no_interval_and_equal_values_no_width() {
        assert_eq!(mean(&[], Confidence::P95), None);
        assert_eq!(mean(&[7.0], Confidence::P95), None);
        assert_eq!(mean(&[0.1; 5], Confidence::P95), Interval::new(0.1, 0.1));
        assert_eq!(median(&[0.1; 6], Confidence::P95).unwrap().interval, Interval::new(0.1, 0.1).unwrap());
    }

    #[test]
    fn not_a_number_gives_no_interval() {
        assert_eq!(mean(&[1.0, f64::NAN], Confidence::P95), None);
        assert_eq!(mean(&[1.0, f64::INFINITY], Confidence::P95), None);
        assert_eq!(median(&[f64::NAN; 9], Confidence::P95), None);
    }

    #[test]
    fn the_median_needs_six_values_at_95_percent() {
        for n in 1..6u8 {
            let values: Vec<f64> = (0..n).map(f64::from).collect();
            assert_eq!(median(&values, Confidence::P95), None);
        }
        let six = median(&[3.0, 1.0, 2.0, 6.0, 5.0, 4.0], Confidence::P95).unwrap();
        assert_eq!(six.interval, Interval::new(1.0, 6.0).unwrap());
        assert!((six.achieved - (1.0 - 2.0 / 64.0)).abs() < 1e-12);
    }

    #[test]
    fn ranks_of_the_median_are_those_of_the_sign_test() {
        // two-sided 5 % points of the sign test: n = 10 → 2 and 9, n = 20 → 6 and 15, n = 25 → 8 and 18
        for (n, low, high) in [(10, 2, 9), (20, 6, 15), (25, 8, 18)] {
            let ranks = order_ranks(n, 50.0, Confidence::P95).unwrap();
            assert_eq!((ranks.low, ranks.high), (low, high), "{n}");
            assert!(ranks.achieved >= 0.95);
        }
    }

    #[test]
    fn the_99th_percentile_needs_368_values() {
        assert!(order_ranks(367, 99.0, Confidence::P95).is_none()); // 0.99^367 = 0.02501
        assert!(order_ranks(368, 99.0, Confidence::P95).is_some()); // 0.99^368 = 0.02476
        assert!(order_ranks(1_000, 0.0, Confidence::P95).is_none());
        assert!(order_ranks(1_000, 100.0, Confidence::P95).is_none());
    }

    #[test]
    fn ranks_mirror_about_the_median() {
        for n in [50, 400, 10_000] {
            let below = order_ranks(n, 25.0, Confidence::P95).unwrap();
            let above = order_ranks(n, 75.0, Confidence::P95).unwrap();
            assert_eq!((below.low, below.high), (n + 1 - above.high, n + 1 - above.low));
        }
    }
}
