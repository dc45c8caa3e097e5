//! fio's histogram of latencies: 29 groups of 64 buckets (`stat.h`, `FIO_IO_U_PLAT_BITS` 6), each twice as wide as
//! those of the group before.

use lanetwin_stats::Histogram;
use std::collections::BTreeMap;

/// Bits of the bucket's index within a group.
const BITS: u32 = 6;
/// Buckets in a group.
const GROUP: u64 = 1 << BITS;
/// Groups.
const GROUPS: u64 = 29;
const PS_PER_NS: u64 = 1000;

/// The bucket of a latency \[ns\].
#[must_use]
pub fn bucket(ns: u64) -> u64 {
    if ns < GROUP << 1 {
        return ns;
    }
    let dropped = ns.ilog2() - BITS;
    let group = u64::from(dropped + 1) << BITS;
    (group + (ns >> dropped) % GROUP).min(GROUPS * GROUP - 1)
}

/// The value that latencies of a bucket count as \[ns\]: its middle.
///
/// # Panics
/// If there is no such bucket.
#[must_use]
pub fn middle(bucket: u64) -> u64 {
    assert!(bucket < GROUPS * GROUP, "there are {} buckets", GROUPS * GROUP);
    if bucket < GROUP << 1 {
        return bucket;
    }
    let dropped = (bucket >> BITS) - 1;
    (1 << (dropped + u64::from(BITS))) + (((2 * (bucket % GROUP) + 1) << dropped) >> 1)
}

/// Number of latencies in each bucket.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Plat {
    counts: BTreeMap<u64, u64>,
    total: u64,
}

impl Plat {
    /// The latencies of a histogram, each as the middle of its bucket there, with an error of at most 0.05 %.
    #[must_use]
    pub fn of(latency: &Histogram) -> Self {
        let mut plat = Self::default();
        for found in latency.buckets().filter(|found| found.count > 0) {
            let ns = u64::midpoint(found.low.as_ps(), found.high.as_ps()) / PS_PER_NS;
            *plat.counts.entry(bucket(ns)).or_insert(0) += found.count;
            plat.total += found.count;
        }
        plat
    }
    /// The buckets with latencies: their middles \[ns\], and the number of latencies.
    pub fn bins(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.counts.iter().map(|(bucket, count)| (middle(*bucket), *count))
    }
    /// The percentiles \[ns\], as fio computes them (`calc_clat_percentiles`): the middles of their buckets. `percents`
    /// must ascend.
    #[must_use]
    pub fn percentiles(&self, percents: &[f64]) -> Vec<u64> {
        let at = |percent: &f64| {
            let (wanted, mut sum) = (percent / 100.0 * self.total as f64, 0);
            let found = self.counts.iter().find(|(_, count)| {
                sum += **count;
                sum as f64 >= wanted
            });
            found.or(self.counts.iter().next_back()).map_or(0, |(bucket, _)| middle(*bucket))
        };
        percents.iter().map(at).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_units::Span;

    #[test]
    fn a_middle_lies_in_its_bucket_and_is_less_than_a_hundredth_off() {
        for ns in (0..5000).chain((12..60).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, (3 << bit) / 2])) {
            let found = bucket(ns);
            if found < GROUPS * GROUP - 1 {
                assert_eq!(bucket(middle(found)), found, "{ns}");
                assert!(
                    middle(found).abs_diff(ns) as f64 <= ns as f64 / 128.0 + 0.5,
                    "{ns}: {}",
                    middle(found)
                );
            }
        }
        // by hand, from the rule: 1000 ns drops 3 bits, is number 61 of its group, and 8 ns wide
        assert_eq!((bucket(1000), middle(bucket(1000))), (4 * 64 + 61, 1004));
    }

    #[test]
    fn percentiles_are_those_of_the_buckets() {
        let mut latency = Histogram::new();
        (1..=100).for_each(|us| latency.record(Span::from_us(us)));
        let plat = Plat::of(&latency);
        let found = plat.percentiles(&[50.0, 99.0, 100.0]);
        for (found, expected) in found.iter().zip([50_000.0, 99_000.0, 100_000.0]) {
            assert!((*found as f64 - expected).abs() < expected * 0.01, "{found}");
        }
        assert_eq!(plat.bins().map(|(_, count)| count).sum::<u64>(), 100);
    }
}
