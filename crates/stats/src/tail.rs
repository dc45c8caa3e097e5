//! Intervals of percentiles over repeats, which allow for latencies of one run that share queues.
//!
//! ```text
//!  repeats ─► pooled ─► p-th percentile q ─► share of each repeat up to q ───┐
//!  parts of each ─► share of each part up to q ─► for how many one counts ───┴─► p ± δ ─► percentiles p − δ, p + δ
//! ```
//!
//! Woodruff ("Confidence intervals for medians and other position measures", J. Am. Stat. Assoc. 47, 1952): the share
//! of latencies up to the percentile is a mean with a known error, and the percentiles at both ends of the share's
//! interval are the ends of the percentile's interval. No density has to be estimated, and if the tail has a step, the
//! interval spans it.

use crate::confidence::{Confidence, Interval};
use crate::{Histogram, quantile, sample};

/// Upper limit of the correlation of neighbouring parts: a correlation estimated from ten parts is itself uncertain.
const MOST_ALIKE: f64 = 0.8;
/// A percentile is settled if its 95 % interval reaches no farther than this to either side, as a share of it.
pub const SETTLED: f64 = 0.1;

/// The interval of a percentile (0 < `percent` < 100) of all repeats together \[ps\].
///
/// The share has the wider of two intervals: Student's over the repeats, and that of independent latencies if one of
/// every `each` latencies (at least 1) is independent. `None` if nothing was recorded, or if the interval reaches
/// beyond the longest latency, which means too few latencies for that percentile.
#[must_use]
pub fn interval(repeats: &[&Histogram], percent: f64, each: f64, confidence: Confidence) -> Option<Interval> {
    let mut all = Histogram::new();
    repeats.iter().for_each(|one| all.merge(one));
    let at = all.percentile(percent)?;
    let counted: Vec<&&Histogram> = repeats.iter().filter(|one| !one.is_empty()).collect();
    let shares: Vec<f64> = counted.iter().map(|one| one.up_to(at) as f64 / one.count() as f64).collect();
    let between = crate::interval::mean(&shares, confidence).map_or(0.0, |range| range.width() / 2.0);
    let z = quantile::normal_quantile(1.0 - confidence.outside() / 2.0);
    let share = percent / 100.0;
    let within = z * libm::sqrt(share * (1.0 - share) * each.max(1.0) / all.count() as f64);
    let half = 100.0 * between.max(within);
    if percent + half >= 100.0 {
        return None;
    }
    let [low, high] = [percent - half, percent + half].map(|percent| all.percentile(percent));
    Interval::new(low?.as_ps() as f64, high?.as_ps() as f64)
}

/// Whether a percentile is settled; one without an interval is not.
#[must_use]
pub fn is_settled(percentile: f64, interval: Option<(f64, f64)>) -> bool {
    interval.is_some_and(|(low, high)| (high - percentile).max(percentile - low) <= SETTLED * percentile)
}

/// Number of parts, each correlated by `alike` with the next, that count as one independent part.
#[must_use]
pub fn neighbours(alike: f64) -> f64 {
    let alike = alike.clamp(0.0, MOST_ALIKE);
    (1.0 + alike) / (1.0 - alike)
}

/// Number of values that count as one independent value: the variance between means of equal, consecutive parts, over
/// the variance that they would have if all values were independent. At least 1.
///
/// `parts` are the means of the parts of `count` values with this `variance`.
#[must_use]
pub fn values_for_one(parts: &[f64], count: u64, variance: f64) -> f64 {
    let of_parts = sample::variance(parts).unwrap_or(0.0);
    let independent = variance * parts.len() as f64 / count as f64;
    if independent > 0.0 { (of_parts / independent).max(1.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_units::Span;

    fn of(values: impl Iterator<Item = u64>) -> Histogram {
        let mut histogram = Histogram::new();
        values.for_each(|value| histogram.record(Span::from_ps(value)));
        histogram
    }
    /// Numbers that look random, below 100 000 (Knuth's MMIX).
    fn noise(seed: u64) -> impl Iterator<Item = u64> {
        let next =
            |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
        std::iter::successors(Some(seed), next).skip(5).map(|x| (x >> 33) % 100_000)
    }

    #[test]
    fn independent_values_have_the_interval_of_order_statistics() {
        let one = of(noise(1).take(10_000));
        let found = interval(&[&one], 99.0, 1.0, Confidence::P95).expect("there are enough");
        let exact = one.percentile_interval(99.0, Confidence::P95).expect("there are enough").interval;
        assert!((found.low() / exact.low() - 1.0).abs() < 0.003, "{found:?} {exact:?}");
        assert!((found.high() / exact.high() - 1.0).abs() < 0.003, "{found:?} {exact:?}");
    }

    #[test]
    fn it_covers_the_truth_in_nineteen_of_twenty_experiments() {
        let covers = |seed: u64| {
            let repeats: Vec<Histogram> =
                (0..5).map(|nth| of(noise(1000 * seed + nth).take(2_000))).collect();
            let repeats: Vec<&Histogram> = repeats.iter().collect();
            let found = interval(&repeats, 99.0, 1.0, Confidence::P95).expect("there are enough");
            found.low() <= 99_000.0 && 99_000.0 <= found.high() * 1.001
        };
        let covered = (1..=400).filter(|seed| covers(*seed)).count();
        assert!((376..=400).contains(&covered), "{covered} of 400");
    }

    #[test]
    fn repeats_that_differ_are_less_sure_and_so_are_values_that_resemble_their_neighbours() {
        let [low, high] = [(0, 1_000), (0, 1_300)].map(|(from, to)| of(from..to));
        let alike = interval(&[&low, &low, &low], 90.0, 1.0, Confidence::P95).expect("there are enough");
        let differ = interval(&[&low, &high, &low], 90.0, 1.0, Confidence::P95);
        assert!(differ.is_none_or(|range| range.width() > 2.0 * alike.width()), "{differ:?} {alike:?}");
        let clumped = interval(&[&low, &low, &low], 90.0, 9.0, Confidence::P95).expect("there are enough");
        assert!((clumped.width() / alike.width() - 3.0).abs() < 0.1, "{clumped:?} {alike:?}");
    }

    #[test]
    fn too_few_have_none() {
        assert!(interval(&[&of(0..300)], 99.0, 1.0, Confidence::P95).is_none());
        assert!(interval(&[&of(0..500)], 99.0, 1.0, Confidence::P95).is_some());
        assert!(interval(&[&of(0..500)], 99.0, 2.0, Confidence::P95).is_none());
        assert!(interval(&[&Histogram::new()], 50.0, 1.0, Confidence::P95).is_none());
    }

    #[test]
    fn a_percentile_is_settled_to_a_tenth_of_it_on_either_side() {
        assert!(is_settled(100.0, Some((90.0, 110.0))) && is_settled(0.0, Some((0.0, 0.0))));
        assert!(!is_settled(100.0, Some((89.0, 101.0))) && !is_settled(100.0, Some((99.0, 111.0))));
        assert!(!is_settled(100.0, None));
    }

    #[test]
    fn one_of_a_hundred_equal_neighbours_counts() {
        let values: Vec<f64> = noise(3).take(1000).map(|x| x as f64).collect();
        let variance = sample::variance(&values).expect("there are many");
        let parts = |repeated: usize| -> Vec<f64> {
            let all: Vec<f64> = values.iter().flat_map(|x| std::iter::repeat_n(*x, repeated)).collect();
            all.chunks(all.len() / 50).map(|part| sample::mean(part).expect("it has some")).collect()
        };
        let independent = values_for_one(&parts(1), 1_000, variance);
        assert!((1.0..1.6).contains(&independent), "{independent}");
        let clumped = values_for_one(&parts(100), 100_000, variance);
        assert!((60.0..160.0).contains(&clumped), "{clumped}");
    }
}
