//! Intervals of percentiles of what repeats have recorded, although latencies of one run share their queues.
//!
//! ```text
//!  repeats ─► pooled ─► p-th percentile q ─► share of each repeat up to q ───┐
//!  parts of each ─► share of each part up to q ─► for how many one counts ───┴─► p ± δ ─► percentiles p − δ, p + δ
//! ```
//!
//! Woodruff ("Confidence intervals for medians and other position measures", J. Am. Stat. Assoc. 47, 1952): the
//! share of latencies up to the percentile is a mean, whose error is known; the percentiles of the shares at both
//! ends of its interval are the ends of the interval of the percentile. No density has to be guessed, and a tail
//! with a step in it has an interval that reaches over the step.

use crate::confidence::{Confidence, Interval};
use crate::{Histogram, quantile, sample};

/// Neighbours that resemble each other more are taken to resemble each other so much: what ten parts say of it is
/// uncertain itself.
const MOST_ALIKE: f64 = 0.8;
/// A percentile is settled if its 95 % interval reaches no farther to either side, as a share of it.
pub const SETTLED: f64 = 0.1;
/// With so many degrees of freedom Student's t is the normal distribution's.
const MANY: f64 = 1e4;

/// The interval of a percentile (0 < `percent` < 100) of all repeats together \[ps\].
///
/// The share has the wider of two intervals: Student's over what the repeats have, and that of independent
/// latencies if `each` of them (at least 1) counts for one. `None` if nothing was recorded, or if the interval
/// reaches beyond the longest: there are too few for that percentile then.
#[must_use]
pub fn interval(repeats: &[&Histogram], percent: f64, each: f64, confidence: Confidence) -> Option<Interval> {
    let mut all = Histogram::new();
    repeats.iter().for_each(|one| all.merge(one));
    let at = all.percentile(percent)?;
    let counted: Vec<&&Histogram> = repeats.iter().filter(|one| !one.is_empty()).collect();
    let shares: Vec<f64> = counted.iter().map(|one| one.up_to(at) as f64 / one.count() as f64).collect();
    let between = crate::interval::mean(&shares, confidence).map_or(0.0, |range| range.width() / 2.0);
    reaching(&all, percent, between.max(within(&all, percent, each.max(1.0), confidence)))
}

/// The interval of a percentile \[ps\] if `each` of the latencies, which may be less than 1, counts for one. `None` as
/// above.
#[must_use]
pub fn interval_of_share(
    all: &Histogram,
    percent: f64,
    each: f64,
    confidence: Confidence,
) -> Option<Interval> {
    reaching(all, percent, within(all, percent, each, confidence))
}

/// Half the interval of the share up to a percentile, of latencies that are independent but for `each`.
fn within(all: &Histogram, percent: f64, each: f64, confidence: Confidence) -> f64 {
    let share = percent / 100.0;
    let z = quantile::normal_quantile(1.0 - confidence.outside() / 2.0);
    z * libm::sqrt(share * (1.0 - share) * each / all.count() as f64)
}

/// From the percentile of the share less `half` to that of the share and `half`.
fn reaching(all: &Histogram, percent: f64, half: f64) -> Option<Interval> {
    let half = 100.0 * half;
    if all.is_empty() || percent + half >= 100.0 {
        return None;
    }
    let [low, high] = [percent - half, percent + half].map(|percent| all.percentile(percent));
    Interval::new(low?.as_ps() as f64, high?.as_ps() as f64)
}

/// Whether a percentile is known as well as it has to be: one without an interval is not.
#[must_use]
pub fn is_settled(percentile: f64, interval: Option<(f64, f64)>) -> bool {
    interval.is_some_and(|(low, high)| (high - percentile).max(percentile - low) <= SETTLED * percentile)
}

/// How latencies beyond a percentile lie together in time: a pause of a drive is one event, however many wait for it.
///
/// Of a run in equal, consecutive parts, it is how far the shares of the parts up to the percentile of all are from
/// each other, in deviations of independent latencies. Of several repeats these are summed.
#[derive(Clone, Copy, PartialEq, Default, Debug)]
pub struct Clumps {
    /// Of the deviations of all parts.
    squares: f64,
    /// Of each part's and the next one's.
    products: f64,
    /// Parts, less one for each repeat.
    freedom: f64,
}

impl Clumps {
    /// Of the parts of one run; none if that percentile has none beyond it, or a part is empty.
    #[must_use]
    pub fn of(parts: &[Histogram], percent: f64) -> Option<Self> {
        let mut all = Histogram::new();
        parts.iter().for_each(|part| all.merge(part));
        let at = all.percentile(percent)?;
        let share = all.up_to(at) as f64 / all.count() as f64;
        if parts.len() < 2 || share >= 1.0 || parts.iter().any(Histogram::is_empty) {
            return None;
        }
        let away = |part: &Histogram| {
            let (met, count) = (part.up_to(at) as f64, part.count() as f64);
            (met - share * count) / libm::sqrt(share * (1.0 - share) * count)
        };
        let away: Vec<f64> = parts.iter().map(away).collect();
        Some(Self {
            squares: away.iter().map(|x| x * x).sum(),
            products: away.windows(2).map(|pair| pair[0] * pair[1]).sum(),
            freedom: (parts.len() - 1) as f64,
        })
    }
    /// Of these repeats and those.
    #[must_use]
    pub fn and(self, others: Self) -> Self {
        Self {
            squares: self.squares + others.squares,
            products: self.products + others.products,
            freedom: self.freedom + others.freedom,
        }
    }
    /// For how many latencies one independent one would do, at least 1: parts that resemble their neighbours count for
    /// fewer (as of an autoregressive process of the first order), and so do few parts (Student's t).
    #[must_use]
    pub fn each(&self, confidence: Confidence) -> f64 {
        if self.freedom < 1.0 {
            return 1.0;
        }
        let alike = if self.squares > 0.0 { self.products / self.squares } else { 0.0 };
        let few = confidence.student(self.freedom) / confidence.student(MANY);
        (self.squares / self.freedom * neighbours(alike) * few * few).max(1.0)
    }
}

/// So many parts are as good as one independent of its neighbours, if they correlate so much with the next.
#[must_use]
pub fn neighbours(alike: f64) -> f64 {
    let alike = alike.clamp(0.0, MOST_ALIKE);
    (1.0 + alike) / (1.0 - alike)
}

/// For how many of them one independent value would do: what means of equal, consecutive parts differ by, beside what
/// they would differ by if their values were independent. At least 1.
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

    /// Of 20 000 latencies in ten parts, a hundredth beyond the percentile: one by one, or twenty at a time.
    #[test]
    fn latencies_that_come_together_are_one_event() {
        let run = |seed: u64, together: usize| -> Vec<Histogram> {
            let all: Vec<u64> =
                noise(seed).take(20_000 / together).flat_map(|x| std::iter::repeat_n(x, together)).collect();
            all.chunks(2_000).map(|part| of(part.iter().copied())).collect()
        };
        let each = |together| {
            let repeats = (1..=20).filter_map(|seed| Clumps::of(&run(seed, together), 99.0));
            repeats.reduce(Clumps::and).expect("they have some beyond").each(Confidence::P95)
        };
        assert!((1.0..1.4).contains(&each(1)), "{}", each(1));
        assert!((16.0..28.0).contains(&each(20)), "{}", each(20));
    }

    #[test]
    fn parts_that_resemble_their_neighbours_and_few_parts_say_less() {
        let part = |beyond: u64| of((0..1_000).map(|x| if x < beyond { 2_000 } else { x }));
        let [by_turns, drift] = [[5, 15, 5, 15, 5, 15], [5, 5, 5, 15, 15, 15]]
            .map(|beyond| Clumps::of(&beyond.map(part), 99.0).expect("some are beyond"));
        assert_eq!(by_turns.squares, drift.squares);
        assert!(drift.each(Confidence::P95) > 2.0 * by_turns.each(Confidence::P95));
        let many = (1..50).fold(by_turns, |sum, _| sum.and(by_turns));
        assert!(many.each(Confidence::P95) < 0.7 * by_turns.each(Confidence::P95));
        assert_eq!(Clumps::of(&[part(0), Histogram::new()], 99.0), None);
        assert_eq!(Clumps::default().each(Confidence::P95), 1.0);
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
