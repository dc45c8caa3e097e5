//! Where operations spent their time: the sum of each stage over all operations, and a sample of operations for
//! percentiles.
//!
//! **Sums** are integers. Following an operation costs time, so long runs follow a share of them: the first
//! [`FOLLOWED`] operations of all loads together are all followed, of the next [`FOLLOWED`] every second one, of the
//! twice as many after those every fourth, and so on. A followed operation has a weight: the number of operations that
//! it represents. [`StageTimes::made_up_to`] then scales the stages so that they add up to the sum of all latencies,
//! which is known exactly.
//!
//! **Percentiles** come from a sample of whole operations. It keeps every n-th followed operation; when it is full,
//! every second one is dropped and n doubles, so that the sample stays evenly spread over the run. Only an operation's
//! number decides whether it is kept. When loads are merged, their samples are concatenated; beyond [`MERGED`] entries
//! a stratified sample by latency replaces them.

use lanetwin_ports::Context;
use lanetwin_stats::{Bucket, Histogram};
use lanetwin_units::{Instant, Span};
use std::ops::Range;

/// Number of operations, of all loads of a machine together, that are all followed.
const FOLLOWED: u64 = 1 << 12;
/// Maximum number of operations in a sample.
const SAMPLE: usize = 512;
/// Maximum number of operations in a merged sample: large enough that drawing from it hardly changes a percentile.
const MERGED: usize = 16 * SAMPLE;

/// The time that operations spent in each stage. Stages are numbered across the whole kernel.
#[derive(Clone, Default, Debug)]
pub struct StageTimes {
    sums: Vec<StageSum>,
    /// The stages that occurred, in the order in which operations pass them.
    order: Vec<u32>,
    operations: u64,
    followed: u64,
    sample: Vec<Sampled>,
    /// One of so many followed operations enters the sample; 0 means all of them.
    every: u64,
}

/// The time that operations spent in a stage.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct StageSum {
    /// The sum \[ps\].
    pub ps: u64,
    /// Number of times that an operation was in it.
    pub times: u64,
}

/// A sampled operation.
#[derive(Clone, Debug)]
struct Sampled {
    weight: u64,
    /// When it was submitted; `None` if only latencies are known.
    asked: Option<Instant>,
    /// Its stages, from the last to the first \[ps\].
    stages: Vec<(u32, u64)>,
}

impl StageTimes {
    /// Adds the current operation, which lasted from the start to the end of `within` and represents `weight`
    /// operations.
    pub fn take(&mut self, within: Range<Instant>, weight: u64, cx: &mut Context<'_>) {
        let every = self.every.max(1);
        let most = self.order.len().max(24);
        let mut sampled = self.followed.is_multiple_of(every).then(|| Vec::with_capacity(most));
        self.operations += weight;
        self.followed += 1;
        let mut later = None;
        let asked = Some(within.start);
        cx.account(within, |stage, ps| {
            let sum = match self.sums.get_mut(stage as usize) {
                Some(sum) if sum.times > 0 => sum,
                _ => meet(&mut self.sums, &mut self.order, stage, later),
            };
            sum.ps += ps * weight;
            sum.times += weight;
            later = Some(stage);
            if let Some(sampled) = &mut sampled {
                sampled.push((stage, ps));
            }
        });
        if let Some(stages) = sampled {
            self.sample.push(Sampled { weight: every * weight, asked, stages });
            self.thin();
        }
    }
    /// Adds operations that spent all their time in one stage, with all their latencies.
    pub fn take_all(&mut self, stage: u32, latencies: &Histogram) {
        if latencies.is_empty() {
            return;
        }
        let sum = match self.sums.get_mut(stage as usize) {
            Some(sum) if sum.times > 0 => sum,
            _ => meet(&mut self.sums, &mut self.order, stage, None),
        };
        sum.ps += latencies.sum_ps() as u64;
        sum.times += latencies.count();
        self.operations += latencies.count();
        self.followed += latencies.count();
        let of = |bucket: Bucket| (bucket.high, bucket.count);
        let each = latencies.buckets().map(of);
        let one = |(span, weight): (Span, u64)| Sampled {
            weight,
            asked: None,
            stages: vec![(stage, span.as_ps())],
        };
        self.sample.extend(each.map(one));
    }
    /// Drops every second operation until the sample fits.
    fn thin(&mut self) {
        while self.sample.len() >= SAMPLE {
            let mut place = 0;
            self.sample.retain(|_| {
                place += 1;
                place % 2 == 1
            });
            self.sample.iter_mut().for_each(|one| one.weight *= 2);
            self.every = self.every.max(1) * 2;
        }
    }
    /// Adds the times of another load of the same kernel.
    pub fn merge(&mut self, other: &Self) {
        let mut before: Option<u32> = None;
        for stage in other.order.iter().copied() {
            if !self.order.contains(&stage) {
                let place = before.and_then(|before| self.order.iter().position(|known| *known == before));
                self.order.insert(place.map_or(0, |place| place + 1), stage);
            }
            before = Some(stage);
        }
        self.sums.resize(self.sums.len().max(other.sums.len()), StageSum::default());
        for (sum, more) in self.sums.iter_mut().zip(&other.sums) {
            sum.ps += more.ps;
            sum.times += more.times;
        }
        self.operations += other.operations;
        self.followed += other.followed;
        self.sample.extend(other.sample.iter().cloned());
        if self.sample.len() > MERGED {
            self.sample = drawn(std::mem::take(&mut self.sample), MERGED / 2);
        }
    }

    /// Scales the followed operations to all operations with these latencies: afterwards the stages add up to the sum
    /// of the latencies, in unchanged proportions. Returns a copy if every operation was followed.
    #[must_use]
    pub fn made_up_to(&self, latencies: &Histogram) -> Self {
        let mut all = self.clone();
        let (followed, count) = (self.total_ps(), latencies.count());
        // the last followed operation may represent some that were not issued before the end
        let is_whole = self.followed == count && self.operations == count;
        if is_whole || followed == 0 {
            return all;
        }
        let share = |part: u128, of: u128, whole: u128| (part * whole / of) as u64;
        let (mut before, mut below) = (0, 0);
        for sum in self.order.iter().map(|stage| *stage as usize) {
            let StageSum { ps, times } = self.sums[sum];
            before += u128::from(ps);
            let up_to = share(before, followed, latencies.sum_ps());
            let times = share(times.into(), self.operations.into(), count.into());
            all.sums[sum] = StageSum { ps: up_to - std::mem::replace(&mut below, up_to), times };
        }
        all.operations = count;
        all
    }
    /// How many operations the sums represent.
    #[must_use]
    pub const fn operations(&self) -> u64 {
        self.operations
    }
    /// How many of them were followed; equal to [`Self::operations`] if none was left out.
    #[must_use]
    pub const fn followed(&self) -> u64 {
        self.followed
    }
    /// The sum over all stages \[ps\].
    #[must_use]
    pub fn total_ps(&self) -> u128 {
        self.sums.iter().map(|sum| u128::from(sum.ps)).sum()
    }
    /// The stages with their sums, in the order in which operations passed them.
    pub fn sums(&self) -> impl Iterator<Item = (u32, StageSum)> + '_ {
        self.order.iter().map(|stage| (*stage, self.sums[*stage as usize]))
    }
    /// How many operations are in the sample.
    #[must_use]
    pub const fn sampled(&self) -> usize {
        self.sample.len()
    }
    /// The sampled operations: when each was submitted, and its stages from the last to the first \[ps\].
    pub fn sample(&self) -> impl Iterator<Item = (Instant, &[(u32, u64)])> {
        self.sample.iter().filter_map(|one| Some((one.asked?, &*one.stages)))
    }
    /// The weighted percentile, over the sample, of the time spent in the stages that `is` selects; `None` if the
    /// sample is empty.
    #[must_use]
    pub fn percentile(&self, percent: f64, is: impl Fn(u32) -> bool) -> Option<Span> {
        let of = |one: &Sampled| one.stages.iter().filter(|(stage, _)| is(*stage)).map(|(_, ps)| *ps).sum();
        let mut spent: Vec<(u64, u64)> = self.sample.iter().map(|one| (of(one), one.weight)).collect();
        spent.sort_unstable();
        let all: u64 = spent.iter().map(|(_, weight)| weight).sum();
        let rank = all as f64 * percent / 100.0;
        let mut below = 0;
        let at = spent.iter().find(|(_, weight)| {
            below += weight;
            below as f64 >= rank
        });
        at.map(|(ps, _)| Span::from_ps(*ps))
    }
}

/// A stratified sample of `count` operations with the same total weight. The operations are sorted by latency and cut
/// into `count` strata of equal weight; one operation of each stratum is kept, so that percentiles hardly move.
fn drawn(mut of: Vec<Sampled>, count: usize) -> Vec<Sampled> {
    of.sort_by_cached_key(|one| one.stages.iter().map(|(_, ps)| *ps).sum::<u64>());
    let whole: u64 = of.iter().map(|one| one.weight).sum();
    let up_to = |part: usize| (u128::from(whole) * part as u128 / count as u128) as u64;
    let mut below = 0;
    let mut part = 0;
    of.retain_mut(|one| {
        below += one.weight;
        let first = part;
        // a stratum goes to the operation that covers its middle
        while part < count && up_to(part).midpoint(up_to(part + 1)) < below {
            part += 1;
        }
        one.weight = up_to(part) - up_to(first);
        one.weight > 0
    });
    of
}

/// The weight of the `number`-th operation of one of `loads` loads since counting began: how many operations it
/// represents; 0 if it is not followed.
pub(crate) fn weight(number: u64, loads: u64) -> u64 {
    let every = every(number, loads);
    if number.is_multiple_of(every) { every } else { 0 }
}

/// The interval of followed operations from the `number`-th on, a power of two: one out of this many is followed, if
/// there are `loads` loads.
#[inline]
#[must_use]
pub fn every(number: u64, loads: u64) -> u64 {
    let rounds = number / (FOLLOWED / loads).max(1);
    if rounds == 0 { 1 } else { 2 << rounds.ilog2() }
}

/// Makes room for a stage that occurs for the first time, before the stage `later` that follows it.
#[cold]
fn meet<'s>(
    sums: &'s mut Vec<StageSum>,
    order: &mut Vec<u32>,
    stage: u32,
    later: Option<u32>,
) -> &'s mut StageSum {
    let place = stage as usize;
    sums.resize(sums.len().max(place + 1), StageSum::default());
    let before = later.and_then(|later| order.iter().position(|known| *known == later));
    order.insert(before.unwrap_or(order.len()), stage);
    &mut sums[place]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 30 and 70 ps in the stages of two followed operations, out of four that took 201 ps together.
    #[test]
    fn what_some_stand_for_is_made_up_to_the_sum_of_all() {
        let sums = vec![StageSum { ps: 30, times: 2 }, StageSum::default(), StageSum { ps: 70, times: 4 }];
        let some =
            StageTimes { sums, order: vec![2, 0], operations: 4, followed: 2, ..StageTimes::default() };
        let mut latencies = Histogram::new();
        [50, 50, 50, 51].into_iter().for_each(|ps| latencies.record(Span::from_ps(ps)));
        let all = some.made_up_to(&latencies);
        let told: Vec<_> = all.sums().map(|(stage, sum)| (stage, sum.ps, sum.times)).collect();
        assert_eq!(told, [(2, 140, 4), (0, 61, 2)]);
        assert_eq!((all.total_ps(), all.operations(), all.followed()), (201, 4, 2));
        // the last followed operation represents more operations than there were
        let many = StageTimes { operations: 5, ..some };
        assert_eq!(
            (many.made_up_to(&latencies).operations(), many.made_up_to(&latencies).total_ps()),
            (4, 201)
        );
    }

    /// With 200 loads of 500 samples each; their latencies are 1 to 100 000 ps in a mixed order.
    #[test]
    fn samples_of_many_loads_keep_weights_and_percentiles() {
        let (loads, each) = (200, 500);
        let mut all = StageTimes::default();
        for load in 0..loads {
            let latency = |number: u64| 1 + (load * each + number) * 7_919 % (loads * each);
            let sample: Vec<_> = (0..each)
                .map(|number| Sampled { weight: 4, asked: None, stages: vec![(0, latency(number))] })
                .collect();
            let sums = vec![StageSum { ps: 1, times: 1 }];
            all.merge(&StageTimes { sums, order: vec![0], sample, ..StageTimes::default() });
        }
        assert!(all.sampled() <= MERGED);
        assert_eq!(all.sample.iter().map(|one| one.weight).sum::<u64>(), 4 * loads * each);
        for percent in [1.0, 50.0, 99.0] {
            let (is, expected) = (all.percentile(percent, |_| true).unwrap().as_ps() as f64, percent * 1e3);
            assert!((is - expected).abs() < 200.0, "p{percent} is {is}");
        }
    }

    /// The weights add up to the number of operations, except for at most the weight of the last one.
    #[test]
    fn those_that_are_followed_stand_for_all() {
        for loads in [1, 3, 16, 100_000] {
            let least = (FOLLOWED / loads).max(1);
            assert!((0..least).all(|number| weight(number, loads) == 1));
            let (mut sum, mut followed) = (0, 0);
            for number in 0..16 * least {
                sum += weight(number, loads);
                followed += u64::from(weight(number, loads) > 0);
                assert!(sum <= number + 16 && sum + 16 > number, "{number} of {loads} loads: {sum}");
            }
            assert!(followed <= 4 * least, "{followed}");
        }
    }
}
