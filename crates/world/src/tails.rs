//! How well tails of latencies are known: of one world while it goes on, and what its parts say of it in the end.

use crate::measure::Measured;
use crate::pace::Pace;
use lanetwin_ports::Operation;
use lanetwin_stats::steady::batch_means;
use lanetwin_stats::tail::{self, Clumps, neighbours};
use lanetwin_stats::{Confidence, Histogram, interval};

/// The percentiles that are told.
pub(super) const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, TAIL, 99.9];
/// The percentile that a case is measured for.
const TAIL: f64 = 99.0;
/// Parts of a measurement: few enough to be all but independent (Schmeiser, Oper. Res. 30, 1982: 10 to 30).
const PARTS: usize = 10;
const OPERATIONS: [Operation; 2] = [Operation::Read, Operation::Write];

/// What equal parts of measurements say of a percentile of their latencies.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) percent: f64,
    /// How those beyond it lie together.
    clumps: Clumps,
    /// The percentile in each part \[ps\]; none if a part has too few to have one.
    of_parts: Vec<f64>,
}

/// What parts say of reads and of writes, percentile by percentile.
pub(super) type Clumped = [Vec<Known>; 2];

impl Known {
    /// What the parts of one run say; nothing of a percentile that has none beyond it.
    fn of(parts: &[Histogram], percent: f64) -> Option<Self> {
        let clumps = Clumps::of(parts, percent)?;
        let has_some = |part: &Histogram| part.count() as f64 * (100.0 - percent) >= 100.0;
        let at = |part: &Histogram| part.percentile(percent).map_or(0.0, |at| at.as_ps() as f64);
        let of_parts = if parts.iter().all(has_some) { parts.iter().map(at).collect() } else { Vec::new() };
        Some(Self { percent, clumps, of_parts })
    }
    /// What parts of these repeats and of those say.
    fn and(mut self, others: Self) -> Self {
        self.clumps = self.clumps.and(others.clumps);
        self.of_parts.extend(others.of_parts);
        self
    }
    /// For how many latencies one independent one would do.
    pub(super) fn each(&self) -> f64 {
        self.clumps.each(Confidence::P95)
    }
    /// Half the interval of the percentile of all, which is `at`, by what those of the parts are away from it \[ps\].
    pub(super) fn half_by_parts(&self, at: f64) -> Option<f64> {
        let means = batch_means(&self.of_parts, self.of_parts.len(), Confidence::P95)?;
        Some(sectioned(&self.of_parts, at)? * neighbours(means.lag1).sqrt())
    }
}

/// Half the interval of a percentile of a whole by those of its sections (Nakayama, ACM TOMACS 24(4), 2014): Student's,
/// with the percentile of the whole in the place of the mean of the others. Where latencies swing slowly, the longest
/// are of one time, and the shares beyond a percentile say nothing of how long they are.
pub(super) fn sectioned(sections: &[f64], whole: f64) -> Option<f64> {
    let about_mean = interval::mean(sections, Confidence::P95)?;
    let mean = sections.iter().sum::<f64>() / sections.len() as f64;
    let squares = |about: f64| sections.iter().map(|x| (x - about) * (x - about)).sum::<f64>();
    let (own, all) = (squares(mean), squares(whole));
    if own > 0.0 { Some(about_mean.width() / 2.0 * (all / own).sqrt()) } else { (all == 0.0).then_some(0.0) }
}

/// What equal parts of a measurement say of these percentiles; nothing if it was too short to tell.
pub(super) fn clumped(pace: &Pace, percents: &[f64]) -> Clumped {
    OPERATIONS.map(|operation| {
        let Some(parts) = pace.latencies(operation, PARTS) else { return Vec::new() };
        percents.iter().filter_map(|percent| Known::of(&parts, *percent)).collect()
    })
}

/// The same of all repeats of a case.
pub(super) fn pooled(repeats: &[Measured]) -> Clumped {
    OPERATIONS.map(|operation| {
        let of = |percent: f64| {
            let own = repeats.iter().flat_map(|measured| &measured.clumped[operation as usize]);
            own.filter(|known| known.percent == percent).cloned().reduce(Known::and)
        };
        PERCENTILES.into_iter().filter_map(of).collect()
    })
}

/// The least of these numbers of times as long that a measurement has to be before the 99th percentiles of reads and of
/// writes are settled, if it is one of so many repeats that are alike; none if the most of them are not enough.
pub(super) fn times_until_settled(pace: &Pace, repeats: u32, times: &[f64]) -> Option<f64> {
    let parts: Vec<Vec<Histogram>> =
        OPERATIONS.into_iter().filter_map(|operation| pace.latencies(operation, PARTS)).collect();
    times.iter().copied().find(|times| parts.iter().all(|parts| settles(parts, repeats, *times)))
}

/// Whether the 99th percentile of so many repeats, each so many times what these parts have together, is settled; that
/// of nothing is.
fn settles(parts: &[Histogram], repeats: u32, times: f64) -> bool {
    let mut all = Histogram::new();
    parts.iter().for_each(|part| all.merge(part));
    let Some(at) = all.percentile(TAIL) else { return true };
    let (at, known) = (at.as_ps() as f64, Known::of(parts, TAIL));
    // what is told is the wider of two intervals, one of which rests on few repeats: as if there were half of them
    let fewer = times * (f64::from(repeats) / 2.0).max(1.0);
    let each = known.as_ref().map_or(1.0, Known::each);
    let of_share = tail::interval_of_share(&all, TAIL, each / fewer, Confidence::P95);
    let ends = of_share.map(|range| (range.low(), range.high())).or_else(|| {
        let half = known?.half_by_parts(at)? / fewer.sqrt();
        Some((at - half, at + half))
    });
    tail::is_settled(at, ends)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_units::Span;

    /// A thousand latencies up to 100 ns, of which so many take ten times as long.
    fn part(slow: u64) -> Histogram {
        let of = |n: u64| Span::from_ps(if n < slow { 1_000_000 } else { 100 * n });
        Histogram::of_few((0..1_000).map(of).collect())
    }

    /// Where the percentile lies beside a step, more of the same settles it; where it lies on one, nothing does.
    #[test]
    fn what_is_beside_a_step_is_settled_by_more_of_it() {
        let few: Vec<Histogram> = (0..10).map(|n| part(if n % 2 == 0 { 8 } else { 9 })).collect();
        assert!(!settles(&few, 1, 1.0) && settles(&few, 1, 6.0));
        let none: Vec<Histogram> = (0..10).map(|_| part(0)).collect();
        assert!(settles(&none, 1, 1.0) && settles(&[], 1, 1.0));
        let on_it: Vec<Histogram> = (0..10).map(|n| part(if n % 2 == 0 { 9 } else { 11 })).collect();
        assert!(!settles(&on_it, 5, 6.0));
    }

    /// Latencies that swing slowly by a tenth, all of those in flight alike: the longest are of one part.
    #[test]
    fn what_swings_slowly_is_known_by_the_percentiles_of_its_parts() {
        let swing = |n: u64| Histogram::of_few((0..1_000).map(|x| Span::from_ps(1_000 * n + x)).collect());
        let parts: Vec<Histogram> = [100, 104, 108, 106, 102, 98, 94, 96, 99, 103].map(swing).into();
        let mut all = Histogram::new();
        parts.iter().for_each(|part| all.merge(part));
        let known = Known::of(&parts, TAIL).expect("some are beyond");
        assert!(tail::interval(&[&all], TAIL, known.each(), Confidence::P95).is_none());
        let at = all.percentile(TAIL).expect("there are some").as_ps() as f64;
        let half = known.half_by_parts(at).expect("each has some beyond") / at;
        assert!((0.03..0.15).contains(&half), "{half}");
        assert!(settles(&parts, 5, 1.0));
    }

    #[test]
    fn sections_that_are_all_alike_leave_nothing_open_and_one_says_nothing() {
        assert_eq!((sectioned(&[3.0; 4], 3.0), sectioned(&[1.0], 1.0)), (Some(0.0), None));
        // by hand: 1, 3 about 2 are 12.706 · √2 / √2 to a side; about 3 their squares are twice as many
        let half = sectioned(&[1.0, 3.0], 3.0).expect("two differ");
        assert!((half - 12.706 * 2.0_f64.sqrt()).abs() < 0.01, "{half}");
    }
}
