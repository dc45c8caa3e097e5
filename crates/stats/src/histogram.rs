//! Latencies \[ps\] in a histogram: integer in, integer out, a percentile at most 0.1 % too high.
//!
//! ```text
//!                 ┌────────── exact ──────────┐ ┌───────────── within 0.1 % ─────────────┐
//!  record(Span) ─►│ count · sum · min · max   │ │ 1,024 buckets for each doubling (HDR)  │─► percentile(99.9)
//!                 └───────────────────────────┘ └────────────────────────────────────────┘
//! ```
//!
//! **The error.** Three digits mean 2,048 buckets up to 2,047 ps, each 1 ps wide, and 1,024 for every doubling above. A
//! bucket is 2ᵏ wide where values are at least 1,024 · 2ᵏ, so the largest value of a bucket exceeds the smallest by
//! less than 1 part in 1,024. A percentile is the largest value of its bucket, but never more than the exact maximum:
//! it is never too low, and too high by at most [`RELATIVE_ERROR`]. Below 2,048 ps it is exact.
//!
//! Merging is exact, and its order does not matter. Everything is an integer but the mean and the percentiles that a
//! caller asks for. Not here: time series, histograms of anything but time, the `.hlog` file format.
//!
//! ```
//! use lanetwin_stats::Histogram;
//! use lanetwin_units::Span;
//! let mut latency = Histogram::new();
//! for ns in 1..=1_000 {
//!     latency.record(Span::from_ns(ns));
//! }
//! assert_eq!((latency.count(), latency.sum_ps()), (1_000, 500_500_000));
//! let p99 = latency.percentile(99.0).unwrap().as_ps();
//! assert!((990_000..=990_990).contains(&p99));
//! assert_eq!(latency.percentile(100.0), Some(Span::from_ns(1_000)));
//! ```

use hdrhistogram::Histogram as Buckets;
use lanetwin_units::Span;

use crate::confidence::{Confidence, Interval};
use crate::interval::{OrderInterval, order_ranks};

/// Largest relative error of a percentile, which is never too low: 1/1,024, below the promised 0.1 %.
pub const RELATIVE_ERROR: f64 = 1.0 / 1024.0;

/// Significant decimal digits kept by the buckets.
const DIGITS: u8 = 3;

/// Resolution of a requested percentile, as parts of a percent: 99.9999 % is distinguished from 100 %, 99.999_999_9 %
/// is not.
const PARTS_PER_PERCENT: f64 = 1e6;

/// Counts of latencies by size, with exact count, sum, minimum and maximum.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Counts,
    count: u64,
    sum_ps: u128,
    min_ps: u64,
    max_ps: u64,
}

/// The counts of all ranges.
#[derive(Clone, Debug)]
enum Counts {
    /// For counting: a counter for every range up to the longest, some 200 KB.
    Open(Buckets<u64>),
    /// For keeping: the ranges with at least one latency, from short to long.
    Packed(Vec<Bucket>),
}

/// A range of latencies, and the number of latencies in it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucket {
    /// Shortest latency of this range.
    pub low: Span,
    /// Longest latency of this range.
    pub high: Span,
    /// Number of latencies in the range.
    pub count: u64,
}

impl Histogram {
    /// An empty histogram; it grows to the largest value that it records (at most 450 KB).
    #[must_use]
    pub fn new() -> Self {
        Self { counts: Counts::Open(open()), count: 0, sum_ps: 0, min_ps: u64::MAX, max_ps: 0 }
    }

    /// The same histogram in as little memory as possible: 24 B for each range with a latency. Recording into it later
    /// unpacks it again.
    #[must_use]
    pub fn packed(mut self) -> Self {
        let mut met: Vec<Bucket> = self.buckets().collect();
        met.shrink_to_fit();
        self.counts = Counts::Packed(met);
        self
    }

    /// The counters, unpacked if necessary.
    #[inline]
    fn opened(&mut self) -> &mut Buckets<u64> {
        if let Counts::Packed(_) = &self.counts {
            self.open_again();
        }
        match &mut self.counts {
            Counts::Open(buckets) => buckets,
            Counts::Packed(_) => unreachable!("it has just been opened"),
        }
    }
    #[cold]
    fn open_again(&mut self) {
        let mut buckets = open();
        for bucket in self.buckets() {
            let again = buckets.record_n(bucket.high.as_ps(), bucket.count);
            again.expect("an automatic histogram grows up to u64::MAX");
        }
        self.counts = Counts::Open(buckets);
    }

    /// Records one latency.
    pub fn record(&mut self, latency: Span) {
        self.record_n(latency, 1);
    }

    /// Records the same latency `n` times.
    pub fn record_n(&mut self, latency: Span, n: u64) {
        if n == 0 {
            return;
        }
        let ps = latency.as_ps();
        self.opened().record_n(ps, n).expect("an automatic histogram grows up to u64::MAX");
        self.count += n;
        self.sum_ps += u128::from(ps) * u128::from(n);
        self.min_ps = self.min_ps.min(ps);
        self.max_ps = self.max_ps.max(ps);
    }

    /// Adds everything that `other` has recorded; the result is the histogram of the union.
    pub fn merge(&mut self, other: &Self) {
        let grown = "an automatic histogram grows up to u64::MAX";
        match &other.counts {
            Counts::Open(others) => self.opened().add(others).expect(grown),
            Counts::Packed(met) => {
                let buckets = self.opened();
                met.iter()
                    .for_each(|bucket| buckets.record_n(bucket.high.as_ps(), bucket.count).expect(grown));
            }
        }
        self.count += other.count;
        self.sum_ps += other.sum_ps;
        self.min_ps = self.min_ps.min(other.min_ps);
        self.max_ps = self.max_ps.max(other.max_ps);
    }

    /// Number of latencies recorded.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }
    /// Whether no latency was recorded.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }
    /// The exact sum of the latencies \[ps\].
    #[must_use]
    pub const fn sum_ps(&self) -> u128 {
        self.sum_ps
    }
    /// The exact minimum; `None` if the histogram is empty.
    #[must_use]
    pub fn min(&self) -> Option<Span> {
        (!self.is_empty()).then_some(Span::from_ps(self.min_ps))
    }
    /// The exact maximum; `None` if the histogram is empty.
    #[must_use]
    pub fn max(&self) -> Option<Span> {
        (!self.is_empty()).then_some(Span::from_ps(self.max_ps))
    }
    /// The mean \[ps\], from the exact sum; `None` if the histogram is empty.
    #[must_use]
    pub fn mean_ps(&self) -> Option<f64> {
        (!self.is_empty()).then(|| self.sum_ps as f64 / self.count as f64)
    }

    /// The shortest span that at least `percent` % of the latencies do not exceed. It is too high by at most
    /// [`RELATIVE_ERROR`].
    ///
    /// `percent` is rounded to a millionth of a percent and clamped to 0 (the minimum) … 100 (the maximum). `None` if
    /// the histogram is empty.
    #[must_use]
    pub fn percentile(&self, percent: f64) -> Option<Span> {
        self.at_rank(self.rank(percent))
    }

    /// Several percentiles as pairs of percent and latency, for a results row; empty if the histogram is empty.
    #[must_use]
    pub fn percentiles(&self, percents: &[f64]) -> Vec<(f64, Span)> {
        percents.iter().filter_map(|&percent| Some((percent, self.percentile(percent)?))).collect()
    }

    /// Distribution-free interval of a percentile \[ps\], widened by the error of the buckets.
    ///
    /// `None` if there are too few latencies. It holds for *independent* latencies; those of one run share queues and
    /// are not independent, so publish an interval over repeats (`interval`) instead.
    #[must_use]
    pub fn percentile_interval(&self, percent: f64, confidence: Confidence) -> Option<OrderInterval> {
        let ranks = order_ranks(self.count, percent, confidence)?;
        let low = self.at_rank(ranks.low)?;
        let low = self.buckets().find(|bucket| bucket.high >= low)?.low.as_ps().max(self.min_ps);
        let high = self.at_rank(ranks.high)?.as_ps();
        Some(OrderInterval { interval: Interval::new(low as f64, high as f64)?, achieved: ranks.achieved })
    }

    /// Number of latencies that are not longer than `at`, to the resolution of the buckets.
    #[must_use]
    pub fn up_to(&self, at: Span) -> u64 {
        self.buckets().take_while(|bucket| bucket.low <= at).map(|bucket| bucket.count).sum()
    }

    /// Variance of the latencies \[ps²\], each taken as the middle of its bucket; `None` for fewer than two.
    #[must_use]
    pub fn variance_ps(&self) -> Option<f64> {
        let mean = self.mean_ps().filter(|_| self.count > 1)?;
        let away = |bucket: &Bucket| (bucket.low.as_ps() as f64).midpoint(bucket.high.as_ps() as f64) - mean;
        let squares: f64 =
            self.buckets().map(|bucket| bucket.count as f64 * away(&bucket) * away(&bucket)).sum();
        Some(squares / (self.count - 1) as f64)
    }

    /// The ranges with at least one latency, from short to long, for plots of the distribution.
    pub fn buckets(&self) -> impl Iterator<Item = Bucket> + '_ {
        let (open, packed) = match &self.counts {
            Counts::Open(buckets) => (Some(buckets), &[][..]),
            Counts::Packed(met) => (None, &met[..]),
        };
        let counted = open.into_iter().flat_map(|buckets| {
            buckets.iter_recorded().map(|step| Bucket {
                low: Span::from_ps(buckets.lowest_equivalent(step.value_iterated_to())),
                high: Span::from_ps(buckets.highest_equivalent(step.value_iterated_to())),
                count: step.count_at_value(),
            })
        });
        counted.chain(packed.iter().copied())
    }

    /// The rank (1 is the smallest) of a percentile, in integers: 99.9 % of 1,000 is rank 999, not 1,000.
    fn rank(&self, percent: f64) -> u64 {
        let parts = (percent.clamp(0.0, 100.0) * PARTS_PER_PERCENT + 0.5) as u128;
        let whole = (100.0 * PARTS_PER_PERCENT) as u128;
        let rank = (u128::from(self.count) * parts).div_ceil(whole);
        u64::try_from(rank).expect("a rank is at most the count").max(1)
    }

    fn at_rank(&self, rank: u64) -> Option<Span> {
        if rank <= 1 {
            return self.min();
        }
        let mut below = 0;
        for bucket in self.buckets() {
            below += bucket.count;
            if below == self.count {
                return self.max();
            }
            if below >= rank {
                return Some(bucket.high);
            }
        }
        None
    }
}

fn open() -> Buckets<u64> {
    let mut buckets = Buckets::new(DIGITS).expect("three digits are within 0..=5");
    buckets.auto(true);
    buckets
}

impl Default for Histogram {
    fn default() -> Self {
        Self::new()
    }
}

/// Two histograms are equal if they have recorded the same latencies, to the resolution of the buckets.
impl PartialEq for Histogram {
    fn eq(&self, other: &Self) -> bool {
        (self.count, self.sum_ps, self.min_ps, self.max_ps)
            == (other.count, other.sum_ps, other.min_ps, other.max_ps)
            && self.buckets().eq(other.buckets())
    }
}

#[cfg(test)]
mod test {
    use super::*;

    fn of(values_ps: &[u64]) -> Histogram {
        let mut histogram = Histogram::new();
        values_ps.iter().for_each(|&ps| histogram.record(Span::from_ps(ps)));
        histogram
    }

    #[test]
    fn empty_knows_nothing() {
        let empty = Histogram::new();
        assert_eq!(
            (empty.min(), empty.max(), empty.percentile(50.0), empty.mean_ps()),
            (None, None, None, None)
        );
        assert_eq!(empty.percentiles(&[50.0]), []);
        assert_eq!(empty.percentile_interval(50.0, Confidence::P95), None);
    }

    #[test]
    fn packed_it_says_the_same_and_goes_on_counting() {
        let values: Vec<u64> = (1..200).map(|n| n * n * 977).chain([0, u64::MAX]).collect();
        let (open, packed) = (of(&values), of(&values).packed());
        assert_eq!(open, packed);
        for percent in [0.0, 50.0, 99.9, 100.0] {
            assert_eq!(open.percentile(percent), packed.percentile(percent));
            let intervals = [&open, &packed].map(|h| h.percentile_interval(percent, Confidence::P95));
            assert_eq!(intervals[0], intervals[1], "{percent}");
        }
        let Counts::Packed(met) = &packed.counts else { panic!("it is packed") };
        assert!(met.capacity() <= values.len());
        let (mut one, mut other, mut third) = (open.clone(), packed.clone(), Histogram::new());
        one.merge(&packed);
        other.merge(&open);
        third.merge(&packed);
        third.merge(&packed);
        assert_eq!((&one, &one), (&other, &third));
        other.record(Span::from_ps(5));
        assert_eq!((other.count(), one.count()), (403, 402));
        assert_eq!(Histogram::new().packed(), Histogram::new());
    }

    #[test]
    fn extremes_are_exact_however_large() {
        let extremes = of(&[0, u64::MAX, 123_456_789_012_345]);
        assert_eq!(extremes.min(), Some(Span::ZERO));
        assert_eq!(extremes.max(), Some(Span::from_ps(u64::MAX)));
        assert_eq!(extremes.percentile(100.0), Some(Span::from_ps(u64::MAX)));
        assert_eq!(extremes.sum_ps(), u128::from(u64::MAX) + 123_456_789_012_345);
    }

    #[test]
    fn one_value_is_every_percentile() {
        let one = of(&[546_123]);
        for percent in [0.0, 50.0, 99.999, 100.0] {
            assert_eq!(one.percentile(percent), Some(Span::from_ps(546_123)));
        }
    }

    #[test]
    fn ranks_do_not_slip_by_a_rounding() {
        // 0.999 · 1000 is 999.0000000000001 in floats on the way through a fraction
        let thousand = of(&(1..=1_000).collect::<Vec<_>>());
        for (percent, ps) in
            [(0.0, 1), (0.1, 1), (0.2, 2), (50.0, 500), (99.9, 999), (99.91, 1_000), (100.0, 1_000)]
        {
            assert_eq!(thousand.percentile(percent), Some(Span::from_ps(ps)), "{percent}");
        }
    }

    #[test]
    fn interval_of_the_median_of_a_thousand() {
        // ranks 469 and 532 of n = 1000 by the binomial (1, 1/2); values below 2048 ps are exact
        let thousand = of(&(1..=1_000).collect::<Vec<_>>());
        let median = thousand.percentile_interval(50.0, Confidence::P95).unwrap();
        assert_eq!(median.interval, Interval::new(469.0, 532.0).unwrap());
        assert!(median.achieved >= 0.95 && median.achieved < 0.96);
        assert_eq!(of(&[1, 2, 3]).percentile_interval(50.0, Confidence::P95), None);
    }

    #[test]
    fn a_percent_is_rounded_not_cut() {
        // 4.1 · 10⁶ falls just short of 4100000 in floats
        let mut hundred_million = Histogram::new();
        hundred_million.record_n(Span::from_ps(1), 4100000 - 1);
        hundred_million.record_n(Span::from_ps(2), 100_000_001 - 4100000);
        assert_eq!(hundred_million.percentile(4.1), Some(Span::from_ps(2)));
    }

    #[test]
    fn an_interval_never_reaches_beyond_what_was_met() {
        let range = of(&[546_123; 6]).percentile_interval(50.0, Confidence::P95).unwrap().interval;
        assert_eq!(range, Interval::new(546_123.0, 546_123.0).unwrap());
    }

    #[test]
    fn repeated_recording_is_recording_n() {
        let mut many = Histogram::new();
        many.record_n(Span::from_ps(70_000), 3);
        many.record_n(Span::from_ps(1), 0);
        assert_eq!(many, of(&[70_000; 3]));
        assert_ne!(many, of(&[70_000; 4]));
        assert_ne!(many, of(&[70_000, 70_001, 69_999]));
    }
}
