//! What a count of failures says about the rate of failures: the exact bound of Clopper and Pearson, and what a margin in
//! sigmas leaves of a series.
//!
//! Source: C. J. Clopper, E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the binomial",
//! Biometrika 26 (1934), 404–413.

use crate::{Confidence, quantile};

/// The highest rate of failures that `failures` in `trials` leave possible: above it so few would be seen with less than
/// 1 − confidence. `1.0` if nothing was tried.
///
/// ```
/// use lanetwin_stats::{Confidence, proportion};
/// let bound = proportion::upper_bound(0, 10_000, Confidence::P95);
/// assert!((bound - 2.995e-4).abs() < 1e-7);
/// ```
///
/// # Panics
/// If there are more failures than trials.
#[must_use]
pub fn upper_bound(failures: u64, trials: u64, confidence: Confidence) -> f64 {
    assert!(failures <= trials, "{failures} failures in {trials} trials");
    if failures == trials {
        return 1.0;
    }
    let missed = 1.0 - confidence.level();
    let (mut low, mut high) = (0.0, 1.0);
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return high;
        }
        // P(X ≤ k) falls as the rate rises
        let so_few = 1.0 - quantile::binomial_at_least(failures + 1, trials, middle);
        if so_few > missed { low = middle } else { high = middle }
    }
}

/// The probability that a series of `trials` has no failure when each passes with `sigmas` of normal margin, one-sided.
///
/// ```
/// let seen = lanetwin_stats::proportion::pass_all(4.0, 10_000);
/// assert!((seen - 0.73).abs() < 0.005);
/// ```
#[must_use]
pub fn pass_all(sigmas: f64, trials: u64) -> f64 {
    libm::exp(trials as f64 * libm::log1p(-quantile::normal_upper(sigmas)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_failure_gives_the_rule_of_three() {
        for (trials, rule) in [(100, 2.951e-2), (1_000, 2.991e-3), (10_000, 2.995e-4)] {
            let bound = upper_bound(0, trials, Confidence::P95);
            assert!((bound / rule - 1.0).abs() < 1e-3, "{trials}: {bound}");
            // 1 − 0.05^(1/n), the closed form
            let closed = -libm::expm1(libm::log(0.05) / trials as f64);
            assert!((bound / closed - 1.0).abs() < 1e-9, "{trials}: {bound} {closed}");
        }
    }

    /// Hahn and Meeker, Statistical Intervals, table A.23: 95 % upper bounds.
    #[test]
    fn failures_widen_the_bound_as_the_tables_have_it() {
        for (failures, trials, published) in [(1, 10, 0.394), (2, 20, 0.283), (5, 50, 0.200)] {
            let bound = upper_bound(failures, trials, Confidence::P95);
            assert!((bound - published).abs() < 1e-3, "{failures}/{trials}: {bound}");
        }
        assert_eq!(upper_bound(0, 0, Confidence::P95), 1.0);
        assert_eq!(upper_bound(7, 7, Confidence::P95), 1.0);
    }

    #[test]
    fn a_series_cannot_tell_four_sigma_from_six() {
        assert!((pass_all(4.0, 10_000) - 0.7285).abs() < 1e-3);
        assert!(pass_all(6.0, 10_000) > 0.9999);
        assert!(pass_all(3.0, 10_000) < 1e-5);
    }
}
