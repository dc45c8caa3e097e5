//! Uncertainty of latency tails: of one world while it runs, and at the end from parts of the measurements.
//!
//! A pause of a drive is one event, however many I/Os wait for it, so that latencies close in time are not
//! independent. The measurement is divided into equal parts. The variation, from part to part, of the share of
//! latencies below a percentile, relative to that of independent latencies, gives the number of latencies that count
//! as one.

use crate::pace::{ERRORS, LASTS, Pace};
use lanetwin_ports::Operation;
use lanetwin_stats::steady::{Trend, batch_means, trend};
use lanetwin_stats::tail::{self, neighbours};
use lanetwin_stats::{Confidence, interval, normal_quantile};

/// The percentiles that are reported.
pub(super) const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, TAIL, 99.9];
/// The percentile that a case is measured until it is settled.
pub(super) const TAIL: f64 = 99.0;
/// Parts of a measurement: few enough to be all but independent (Schmeiser, Oper. Res. 30, 1982: 10 to 30).
const PARTS: usize = 10;
const OPERATIONS: [Operation; 2] = [Operation::Read, Operation::Write];

/// Latencies of equal parts of a measurement \[ps\]: each part, its first and its second half, and all, in order.
struct Parts {
    parts: Vec<Vec<u64>>,
    halves: [Vec<u64>; 2],
    all: Vec<u64>,
    /// Number of latencies for each that was kept.
    every: f64,
}

impl Parts {
    fn of(pace: &Pace, operation: Operation) -> Option<Self> {
        let (parts, every) = pace.latencies(operation, PARTS)?;
        Some(Self::new(parts, every))
    }
    fn new(mut parts: Vec<Vec<u64>>, every: f64) -> Self {
        parts.iter_mut().for_each(|part| part.sort_unstable());
        let sorted = |parts: &[Vec<u64>]| {
            let mut all = parts.concat();
            all.sort_unstable();
            all
        };
        let (early, late) = parts.split_at(parts.len() / 2);
        let (halves, all) = ([sorted(early), sorted(late)], sorted(&parts));
        Self { parts, halves, all, every }
    }
    /// The interval of a percentile over all latencies, if `each` of them count as one independent latency.
    fn interval(&self, percent: f64, each: f64) -> Option<(f64, f64)> {
        let share = percent / 100.0;
        let error = (share * (1.0 - share) * each / (self.all.len() as f64 * self.every)).sqrt();
        let half = 100.0 * error * normal_quantile(0.975);
        if percent + half >= 100.0 {
            return None;
        }
        Some((percentile(&self.all, percent - half)?, percentile(&self.all, percent + half)?))
    }
}

/// The smallest of the sorted values that at least `percent` % of them do not exceed. Returns `None` without values.
fn percentile(sorted: &[u64], percent: f64) -> Option<f64> {
    let rank = (sorted.len() as f64 * percent / 100.0 - 1e-6).ceil().max(1.0) as usize;
    sorted.get(rank.min(sorted.len()).checked_sub(1)?).map(|ps| *ps as f64)
}

/// Knowledge about a percentile of latencies from equal parts of measurements.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub(super) percent: f64,
    /// Sums over all parts of squared deviations, and of products of deviations of neighbouring parts; and the number
    /// of parts, less one for each repeat.
    squares: f64,
    products: f64,
    freedom: u32,
    every: f64,
    /// The percentile in each part \[ps\]; empty if a part has too few latencies.
    of_parts: Vec<f64>,
    /// The percentile in both halves of each repeat.
    halves: Vec<Halves>,
    /// The percentile with clones that start at different places, divided by that with clones in step. `None` unless
    /// it is lower by more than a settled percentile may be off.
    apart: Option<f64>,
    /// Time that operations would wait for power if every die of a drive began a program at once \[ps\], if that can
    /// come to happen.
    bunched: Option<f64>,
}

/// A percentile in the second half of a repeat, relative to that …
#[derive(Clone, Copy, Debug)]
struct Halves {
    /// … of the first half, as a natural logarithm, …
    change: f64,
    /// … and of the whole repeat.
    ratio: f64,
}

/// Knowledge from parts about reads and about writes, percentile by percentile.
pub(super) type Clumped = [Vec<Known>; 2];

impl Known {
    /// From the parts of one run. Returns `None` for a percentile without latencies beyond it.
    fn of(Parts { parts, halves, all, every }: &Parts, percent: f64) -> Option<Self> {
        let at = percentile(all, percent)?;
        let met = |sorted: &[u64]| sorted.partition_point(|ps| *ps as f64 <= at) as f64;
        let share = met(all) / all.len() as f64;
        if parts.len() < 2 || share >= 1.0 || parts.iter().any(Vec::is_empty) {
            return None;
        }
        let away = |part: &Vec<u64>| {
            let count = part.len() as f64;
            (met(part) - share * count) / (share * (1.0 - share) * count).sqrt()
        };
        let away: Vec<f64> = parts.iter().map(away).collect();
        let has_some = |part: &Vec<u64>| part.len() as f64 * (100.0 - percent) >= 100.0;
        let of_parts =
            parts.iter().filter(|part| has_some(part)).filter_map(|part| percentile(part, percent));
        let of_parts: Vec<f64> = of_parts.collect();
        Some(Self {
            percent,
            squares: away.iter().map(|x| x * x).sum(),
            products: away.windows(2).map(|pair| pair[0] * pair[1]).sum(),
            freedom: parts.len() as u32 - 1,
            every: *every,
            of_parts: if of_parts.len() == parts.len() { of_parts } else { Vec::new() },
            halves: vec![Halves::of(halves, percent, at)?],
            apart: None,
            bunched: None,
        })
    }
    /// Combines the knowledge from two sets of repeats.
    fn and(mut self, others: Self) -> Self {
        self.squares += others.squares;
        self.products += others.products;
        self.freedom += others.freedom;
        self.every = self.every.max(others.every);
        self.of_parts.extend(others.of_parts);
        self.halves.extend(others.halves);
        self.apart = self.apart.or(others.apart);
        self.bunched = self.bunched.or(others.bunched);
        self
    }
    /// Values that the percentile of all latencies, `at`, may move to later \[ps\]: according to its halves, its
    /// parts, clones that start at different places, and dies that begin programs at once.
    pub(super) fn goes_to(&self, at: f64) -> impl Iterator<Item = f64> {
        let ratios = [self.goes_on_at(), self.drifts_to(), self.apart].into_iter().flatten();
        ratios.map(move |ratio| ratio * at).chain(self.bunches_to(at))
    }
    /// Whether dies may come to begin their programs at once, later than any measurement lasts.
    pub(super) const fn may_bunch(&self) -> bool {
        self.bunched.is_some()
    }
    /// Wait of the slowest once all dies of a drive begin their programs at once. Returns `None` if they already do.
    ///
    /// While a power limit holds requests, a die that completes its program and finds no data to program begins its
    /// next one when the requests pass, together with the other dies in this state. Dies with equal program times
    /// stay together, so that the energy needed at once, for which requests are held, grows for seconds until it is
    /// that of a program on every die.
    fn bunches_to(&self, at: f64) -> Option<f64> {
        self.bunched.filter(|bunched| self.percent >= TAIL && *bunched > (1.0 + tail::SETTLED) * at)
    }
    /// Notes the percentile with clones that start at different places, and that with clones in step.
    pub(super) fn beside_apart(&mut self, apart: f64, together: f64) {
        self.apart = (apart < (1.0 - tail::SETTLED) * together).then(|| apart / together);
    }
    /// The percentile of the second halves relative to that of the whole, if they differ by more than a settled
    /// percentile may be off, and not by chance. Repeats that all begin in a state that they leave agree with one
    /// another, but the time after them would resemble their second halves.
    ///
    /// Chance is judged by how the two halves of each repeat differ. If nothing changes, the halves are two samples
    /// of the same distribution, so that the logarithm of their ratio is symmetric about zero. The ratio to the whole
    /// is not: a few long pauses in one half can double that half's percentile, but never halve it.
    fn goes_on_at(&self) -> Option<f64> {
        let changes: Vec<f64> = self.halves.iter().map(|halves| halves.change).collect();
        let by_chance = interval::mean(&changes, Confidence::P95).is_some_and(|range| range.contains(0.0));
        let ratio =
            self.halves.iter().map(|halves| halves.ratio.ln()).sum::<f64>() / self.halves.len() as f64;
        let ratio = ratio.exp();
        (!by_chance && (ratio - 1.0).abs() > tail::SETTLED).then_some(ratio)
    }
    /// The ratio by which the percentile would change over a run ten times as long as the measurement, the time that
    /// a reserve has to last, if it continued to change as it did from part to part. Returns `None` if the change may
    /// be chance.
    ///
    /// In a closed loop the rate and the number in flight determine the mean latency, but not the distribution about
    /// it: clients and dies that fall into an order, or out of one, change only the tail.
    fn drifts_to(&self) -> Option<f64> {
        let repeats: Vec<&[f64]> = self.of_parts.chunks_exact(PARTS).collect();
        if repeats.is_empty() {
            return None;
        }
        let mean = |part: usize| repeats.iter().map(|of| of[part].ln()).sum::<f64>() / repeats.len() as f64;
        let Trend { rise, error } = trend(&(0..PARTS).map(mean).collect::<Vec<_>>())?;
        (rise.abs() > ERRORS * error).then(|| (rise * LASTS / 2.0).exp())
    }
    /// Number of latencies that count as one independent latency, at least 1. Correlated neighbouring parts count for
    /// fewer (as in a first-order autoregressive process), and so do few parts (Student's t).
    pub(super) fn each(&self) -> f64 {
        let alike = if self.squares > 0.0 { self.products / self.squares } else { 0.0 };
        let few = beside_normal(self.freedom + 1);
        let each = self.squares / f64::from(self.freedom) * neighbours(alike) * few * few;
        each.max(1.0) * self.every
    }
    /// Half the interval of the percentile of all latencies, `at`, from its deviations in the parts \[ps\].
    pub(super) fn half_by_parts(&self, at: f64) -> Option<f64> {
        let means = batch_means(&self.of_parts, self.of_parts.len(), Confidence::P95)?;
        Some(sectioned(&self.of_parts, at)? * neighbours(means.lag1).sqrt())
    }
}

impl Halves {
    /// From the sorted halves of a repeat with this percentile \[ps\].
    fn of(halves: &[Vec<u64>; 2], percent: f64, at: f64) -> Option<Self> {
        let [first, second] = halves.each_ref().map(|half| percentile(half, percent).filter(|at| *at > 0.0));
        Some(Self { change: (second? / first?).ln(), ratio: second? / at })
    }
}

/// Student's t for this many values, relative to that of a normal distribution.
pub(super) fn beside_normal(values: u32) -> f64 {
    let all: Vec<f64> = (0..values).map(f64::from).collect();
    let error = ((f64::from(values) + 1.0) / 12.0).sqrt(); // of the mean of 0, 1, 2, …
    let half = interval::mean(&all, Confidence::P95).map(|range| range.width() / 2.0);
    half.map_or(1.0, |half| half / error / normal_quantile(0.975))
}

/// Half the interval of a percentile of a whole from those of its sections (Nakayama, ACM TOMACS 24(4), 2014):
/// Student's interval, with the percentile of the whole in place of the mean of the sections. If latencies swing
/// slowly, the longest of them occur at the same time, and the shares beyond a percentile do not show how long they
/// are.
pub(super) fn sectioned(sections: &[f64], whole: f64) -> Option<f64> {
    let about_mean = interval::mean(sections, Confidence::P95)?;
    let mean = sections.iter().sum::<f64>() / sections.len() as f64;
    let squares = |about: f64| sections.iter().map(|x| (x - about) * (x - about)).sum::<f64>();
    let (own, all) = (squares(mean), squares(whole));
    if own > 0.0 { Some(about_mean.width() / 2.0 * (all / own).sqrt()) } else { (all == 0.0).then_some(0.0) }
}

/// Knowledge about these percentiles from equal parts of a measurement; empty if it was too short.
pub(super) fn clumped(pace: &Pace, percents: &[f64]) -> Clumped {
    OPERATIONS.map(|operation| {
        let Some(parts) = Parts::of(pace, operation) else { return Vec::new() };
        let bunched = pace.bunched().map(|ps| ps as f64);
        let known = |percent: &f64| Some(Known { bunched, ..Known::of(&parts, *percent)? });
        percents.iter().filter_map(known).collect()
    })
}

/// Knowledge from all repeats of a case.
pub(super) fn pooled(repeats: &[&Clumped]) -> Clumped {
    OPERATIONS.map(|operation| {
        let of = |percent: f64| {
            let own = repeats.iter().flat_map(|clumped| &clumped[operation as usize]);
            own.filter(|known| known.percent == percent).cloned().reduce(Known::and)
        };
        PERCENTILES.into_iter().filter_map(of).collect()
    })
}

/// The least of the factors `times` by which a measurement has to be longer until the 99th percentiles of reads and
/// of writes are settled, if it is one of `repeats` similar repeats. Returns `None` if the largest factor is not
/// enough.
pub(super) fn times_until_settled(pace: &Pace, repeats: u32, times: &[f64]) -> Option<f64> {
    let of = |operation: Operation| {
        let parts = Parts::of(pace, operation)?;
        Some((Known::of(&parts, TAIL), parts))
    };
    let both: Vec<(Option<Known>, Parts)> = OPERATIONS.into_iter().filter_map(of).collect();
    let settle =
        |times: &f64| both.iter().all(|(known, parts)| settles(known.as_ref(), parts, repeats, *times));
    times.iter().copied().find(settle)
}

/// Share of the allowed width that an interval should reach, since the intervals of the other repeats are not known
/// yet.
const SURELY: f64 = 0.75;

/// Whether the 99th percentile over `repeats` repeats, each `times` as long as the whole of these parts, is settled;
/// true without latencies.
fn settles(known: Option<&Known>, parts: &Parts, repeats: u32, times: f64) -> bool {
    let Some(at) = percentile(&parts.all, TAIL) else { return true };
    // the wider of two intervals is reported, one of which rests on few repeats: as if half of them were missing
    let fewer = times * (f64::from(repeats) / 2.0).max(1.0);
    let each = known.map_or(1.0, Known::each);
    let ends = parts.interval(TAIL, each / fewer).or_else(|| {
        let half = known?.half_by_parts(at)? / fewer.sqrt();
        Some((at - half, at + half))
    });
    tail::is_settled(at, ends.map(|(low, high)| (at - (at - low) / SURELY, at + (high - at) / SURELY)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers that look random, below 100 000 (Knuth's MMIX).
    fn noise(seed: u64) -> impl Iterator<Item = u64> {
        let next =
            |x: &u64| Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407));
        std::iter::successors(Some(seed), next).skip(5).map(|x| (x >> 33) % 100_000)
    }
    fn known(parts: Vec<Vec<u64>>) -> Option<Known> {
        Known::of(&Parts::new(parts, 1.0), TAIL)
    }
    fn settled(parts: &[Vec<u64>], repeats: u32, times: f64) -> bool {
        let parts = Parts::new(parts.to_vec(), 1.0);
        settles(Known::of(&parts, TAIL).as_ref(), &parts, repeats, times)
    }

    /// Of 20 000 latencies in ten parts, a hundredth beyond the percentile: one by one, or twenty at a time.
    #[test]
    fn latencies_that_come_together_are_one_event() {
        let run = |seed: u64, together: usize| -> Vec<Vec<u64>> {
            let all: Vec<u64> =
                noise(seed).take(20_000 / together).flat_map(|x| std::iter::repeat_n(x, together)).collect();
            all.chunks(2_000).map(<[u64]>::to_vec).collect()
        };
        let each = |together| {
            let repeats = (1..=20).filter_map(|seed| known(run(seed, together)));
            repeats.reduce(Known::and).expect("they have some beyond").each()
        };
        assert!((1.0..1.4).contains(&each(1)), "{}", each(1));
        assert!((16.0..28.0).contains(&each(20)), "{}", each(20));
    }

    #[test]
    fn parts_that_resemble_their_neighbours_and_few_parts_say_less() {
        let part =
            |beyond: u64| -> Vec<u64> { (0..1_000).map(|x| if x < beyond { 2_000 } else { x }).collect() };
        let [by_turns, drift] = [[5, 15, 5, 15, 5, 15], [5, 5, 5, 15, 15, 15]]
            .map(|beyond| known(beyond.map(part).into()).expect("some are beyond"));
        assert!((by_turns.squares - drift.squares).abs() < 1e-9);
        assert!(drift.each() > 2.0 * by_turns.each());
        let many = (1..50).fold(by_turns.clone(), |sum, _| sum.and(by_turns.clone()));
        assert!(many.each() < 0.7 * by_turns.each());
        assert!(known(vec![part(0), Vec::new()]).is_none());
        // of each that is here there were three
        let thinned = Known::of(&Parts::new([5, 15, 5, 15, 5, 15].map(part).into(), 3.0), TAIL);
        assert!((thinned.expect("some are beyond").each() / by_turns.each() - 3.0).abs() < 1e-9);
    }

    /// Student's t of four degrees of freedom is 2.776.
    #[test]
    fn few_values_are_less_sure_by_students_t() {
        assert!((beside_normal(5) * 1.96 - 2.776).abs() < 1e-3 && beside_normal(1) == 1.0);
    }

    #[test]
    fn a_percentile_is_the_smallest_that_enough_do_not_exceed() {
        let hundred: Vec<u64> = (1..=100).collect();
        let at = [0.0, 1.0, 99.0, 99.1, 100.0].map(|percent| percentile(&hundred, percent));
        assert_eq!(at, [1.0, 1.0, 99.0, 100.0, 100.0].map(Some));
        assert_eq!(percentile(&[], 50.0), None);
    }

    /// A thousand latencies up to 100 ns, of which so many take ten times as long.
    fn part(slow: u64) -> Vec<u64> {
        (0..1_000).map(|n| if n < slow { 1_000_000 } else { 100 * n }).collect()
    }

    /// Where the percentile lies beside a step, more of the same settles it; where it lies on one, nothing does.
    #[test]
    fn what_is_beside_a_step_is_settled_by_more_of_it() {
        let few: Vec<Vec<u64>> = (0..10).map(|n| part(if n % 2 == 0 { 8 } else { 9 })).collect();
        assert!(!settled(&few, 1, 1.0) && settled(&few, 1, 6.0));
        let none: Vec<Vec<u64>> = (0..10).map(|_| part(0)).collect();
        assert!(settled(&none, 1, 1.0) && settled(&[], 1, 1.0));
        let on_it: Vec<Vec<u64>> = (0..10).map(|n| part(if n % 2 == 0 { 9 } else { 11 })).collect();
        assert!(!settled(&on_it, 5, 6.0));
    }

    /// Latencies that swing slowly by a tenth, all of those in flight alike: the longest are of one part.
    #[test]
    fn what_swings_slowly_is_known_by_the_percentiles_of_its_parts() {
        let swing = |n: u64| (0..1_000).map(|x| 1_000 * n + x).collect::<Vec<u64>>();
        let swings: Vec<Vec<u64>> = [100, 104, 108, 106, 102, 98, 94, 96, 99, 103].map(swing).into();
        let parts = Parts::new(swings.clone(), 1.0);
        let known = Known::of(&parts, TAIL).expect("some are beyond");
        assert!(parts.interval(TAIL, known.each()).is_none());
        let at = percentile(&parts.all, TAIL).expect("there are some");
        let half = known.half_by_parts(at).expect("each has some beyond") / at;
        assert!((0.03..0.15).contains(&half), "{half}");
        assert!(!settled(&swings, 5, 1.0) && settled(&swings, 5, 2.0));
    }

    /// Each repeat begins with slow ones and leaves that state; or has them by turns, or by chance in one half.
    #[test]
    fn a_state_that_every_repeat_leaves_is_seen_by_its_second_half() {
        // no two of the slow ones of a part are alike, so that some are beyond
        let part = |slow: u64| (0..1_000).map(|n| if n < slow { 1_000_000 + n } else { 100 * n }).collect();
        let repeats = |slow: [[u64; 4]; 3]| {
            let of = |slow: [u64; 4]| known(slow.map(part).into()).expect("some are beyond");
            slow.map(of).into_iter().reduce(Known::and).expect("three").goes_on_at()
        };
        let left = repeats([[60, 0, 0, 0], [80, 1, 0, 0], [70, 0, 1, 0]]).expect("they agree");
        assert!((0.098..0.1).contains(&left), "{left}");
        let reached = repeats([[0, 0, 5, 30], [0, 0, 5, 32], [1, 0, 5, 29]]).expect("they agree");
        assert!((10.0..10.5).contains(&reached), "{reached}");
        assert_eq!(repeats([[20, 19, 20, 20], [20, 21, 20, 20], [22, 19, 20, 21]]), None);
        assert_eq!(repeats([[60, 0, 0, 0], [0, 0, 0, 60], [60, 0, 0, 0]]), None);
        // twice as long where long pauses are in the second half, and hardly shorter where they are not: by chance
        let skewed = [[0, 0, 0, 60], [12, 13, 12, 13], [13, 12, 12, 12], [12, 13, 13, 12], [13, 12, 12, 13]];
        let skewed = skewed.map(|slow| known(slow.map(part).into()).expect("some are beyond"));
        assert_eq!(skewed.into_iter().reduce(Known::and).expect("five").goes_on_at(), None);
        // what has no chance in it says it once
        assert!(known([60, 0, 0, 0].map(part).into()).and_then(|once| once.goes_on_at()).is_some());
    }

    /// By hand: up by 1 % a part and 2 % to and fro, ln(1.0937) in all, is five times as much in ten times the time.
    #[test]
    fn a_tail_that_changes_from_part_to_part_is_told_as_it_goes_on() {
        let run = |a_part: f64| -> Vec<Vec<u64>> {
            let level = |n: i32| 100_000.0 * a_part.powi(n) * if n % 2 == 0 { 1.0 } else { 1.005 };
            (0..10).map(|n| (0..20_000).map(|x| (level(n) * f64::from(x % 1_000)) as u64).collect()).collect()
        };
        let drift = |a_part| known(run(a_part)).expect("some are beyond").drifts_to();
        let (up, down) = (drift(1.01).expect("it rises"), drift(0.99).expect("it falls"));
        assert!((1.5..1.6).contains(&up) && (0.6..0.7).contains(&down), "{up} {down}");
        assert_eq!(drift(1.0), None);
        let repeats = known(run(1.01)).expect("some").and(known(run(0.99)).expect("some"));
        assert_eq!(repeats.drifts_to(), None);
    }

    /// Student's t of eight degrees of freedom is beyond 5 once in a thousand times.
    #[test]
    fn a_tail_that_differs_from_part_to_part_by_chance_does_not_drift() {
        let parts = |seed: u64| -> Vec<Vec<u64>> {
            noise(seed).take(12_000).collect::<Vec<_>>().chunks(1_200).map(<[u64]>::to_vec).collect()
        };
        assert_eq!(known(parts(1)).expect("some are beyond").of_parts.len(), PARTS);
        let drifts = |seed: &u64| {
            let known = known(parts(*seed)).expect("some are beyond");
            known.drifts_to().is_some() || known.goes_on_at().is_some()
        };
        assert_eq!((1..=40).filter(drifts).count(), 0);
    }

    #[test]
    fn clones_that_wait_less_apart_leave_a_tail_open() {
        let mut one = known(vec![(0..10_000).collect(); 10]).expect("some are beyond");
        one.beside_apart(95.0, 100.0);
        assert_eq!(one.goes_to(200.0).count(), 0);
        one.beside_apart(80.0, 100.0);
        assert_eq!(one.goes_to(200.0).collect::<Vec<_>>(), [160.0]);
    }

    #[test]
    fn programs_that_may_come_to_begin_at_once_leave_a_tail_open() {
        let of = |percent, bunched| {
            let parts = Parts::new(vec![(0..10_000).collect(); 10], 1.0);
            let known = Known::of(&parts, percent).expect("some are beyond");
            Known { bunched, ..known }.goes_to(100.0).collect::<Vec<_>>()
        };
        assert_eq!(of(TAIL, Some(130.0)), [130.0]);
        assert!(of(TAIL, Some(109.0)).is_empty() && of(TAIL, None).is_empty());
        assert!(of(50.0, Some(130.0)).is_empty());
    }

    #[test]
    fn sections_that_are_all_alike_leave_nothing_open_and_one_says_nothing() {
        assert_eq!((sectioned(&[3.0; 4], 3.0), sectioned(&[1.0], 1.0)), (Some(0.0), None));
        // by hand: 1, 3 about 2 are 12.706 · √2 / √2 to a side; about 3 their squares are twice as many
        let half = sectioned(&[1.0, 3.0], 3.0).expect("two differ");
        assert!((half - 12.706 * 2.0_f64.sqrt()).abs() < 0.01, "{half}");
    }
}
