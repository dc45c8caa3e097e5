//! Exact intervals of a probability from counts of passes and failures (Clopper & Pearson 1934).
//!
//! Ten thousand passes in ten thousand trials do not prove that nothing fails. They bound the probability of a failure:
//! if it were more than 3.0e-4, that many passes would occur in fewer than one case of twenty.
//!
//! ```
//! use lanetwin_stats::{Confidence, proportion};
//! let bound = proportion::at_most(0, 10_000, Confidence::P95).unwrap();
//! assert!((bound - 3.0e-4).abs() < 1e-6); // the rule of three: 3 / n
//! ```

use crate::confidence::{Confidence, Interval};
use crate::quantile;

/// One-sided upper bound of the probability of a failure; `None` if there were no trials or more failures than trials.
#[must_use]
pub fn at_most(failures: u64, trials: u64, confidence: Confidence) -> Option<f64> {
    (trials > 0 && failures <= trials).then(|| upper(failures, trials, confidence.outside()))
}

/// Two-sided interval of the probability of a failure; `None` if there were no trials or more failures than trials.
#[must_use]
pub fn between(failures: u64, trials: u64, confidence: Confidence) -> Option<Interval> {
    if trials == 0 || failures > trials {
        return None;
    }
    let tail = confidence.outside() / 2.0;
    // the lower bound of failures is one minus the upper bound of passes
    let low = 1.0 - upper(trials - failures, trials, tail);
    Interval::new(low, upper(failures, trials, tail))
}

/// Probability that none of `trials` fails if each passes with a margin of `sigmas` of a normal distribution,
/// one-sided.
///
/// ```
/// let seen = lanetwin_stats::proportion::pass_all(4.0, 10_000);
/// assert!((seen - 0.73).abs() < 0.005);
/// ```
#[must_use]
pub fn pass_all(sigmas: f64, trials: u64) -> f64 {
    libm::exp(trials as f64 * libm::log1p(-quantile::normal_upper(sigmas)))
}

/// The p at which at most `failures` failures have this probability.
fn upper(failures: u64, trials: u64, tail: f64) -> f64 {
    if failures == trials {
        return 1.0;
    }
    if failures == 0 {
        // (1 - p)^n = tail
        return -libm::expm1(libm::log(tail) / trials as f64);
    }
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    // at most `failures` happen with probability 1 - P(X >= failures + 1), which falls as p rises
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        let at_most = 1.0 - quantile::binomial_at_least(failures + 1, trials, middle);
        if at_most > tail { low = middle } else { high = middle }
    }
    0.5 * (low + high)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 10 000 passes of 10 000 bound a failure at 3.0e-4, 1000 of 1000 at 3.0e-3.
    #[test]
    fn passes_prove_the_rule_of_three() {
        let bound = |n| at_most(0, n, Confidence::P95).unwrap();
        assert!((bound(10_000) - 2.995e-4).abs() < 1e-7, "{}", bound(10_000));
        assert!((bound(1_000) - 2.991e-3).abs() < 1e-6, "{}", bound(1_000));
        assert!((bound(1) - 0.95).abs() < 1e-12);
    }

    /// Clopper and Pearson's own cases: 0 of 10 and 5 of 10 at 95 %; and a mirror.
    #[test]
    fn intervals_are_those_of_the_tables() {
        let none = between(0, 10, Confidence::P95).unwrap();
        assert_eq!(none.low(), 0.0);
        assert!((none.high() - 0.3085).abs() < 1e-4, "{none:?}");
        let half = between(5, 10, Confidence::P95).unwrap();
        assert!((half.low() - 0.1871).abs() < 1e-4 && (half.high() - 0.8129).abs() < 1e-4, "{half:?}");
        let (few, many) =
            (between(3, 200, Confidence::P99).unwrap(), between(197, 200, Confidence::P99).unwrap());
        assert!(
            (few.low() - (1.0 - many.high())).abs() < 1e-9 && (few.high() - (1.0 - many.low())).abs() < 1e-9
        );
    }

    #[test]
    fn nonsense_has_no_bound() {
        assert_eq!(at_most(0, 0, Confidence::P95), None);
        assert_eq!(at_most(2, 1, Confidence::P95), None);
        assert_eq!(between(0, 0, Confidence::P95), None);
        assert_eq!(at_most(7, 7, Confidence::P95), Some(1.0));
    }

    #[test]
    fn a_series_cannot_tell_four_sigma_from_six() {
        assert!((pass_all(4.0, 10_000) - 0.7285).abs() < 1e-3);
        assert!(pass_all(6.0, 10_000) > 0.9999);
        assert!(pass_all(3.0, 10_000) < 1e-5);
    }
}
