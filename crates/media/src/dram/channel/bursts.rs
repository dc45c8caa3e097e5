//! Time that a data bus has carried data, exact at every instant that can still be queried.

use crate::dram::spec::Timings;
use lanetwin_units::Instant;

/// Number of bursts kept before those that can no longer be queried are summed up.
const ENOUGH: usize = 128;

/// The bursts of a data bus.
#[derive(Clone, Default, Debug)]
pub(super) struct Bursts {
    /// First clocks of the bursts that can still be queried, and of some before.
    starts: Vec<u64>,
    /// Sum of the times of all earlier ones \[ps\].
    settled_ps: u64,
    /// Number of bursts at which summing up is tried.
    most: usize,
}

impl Bursts {
    /// Notes a burst that begins at clock `first`; times before clock `asked` will not be queried.
    #[inline]
    pub fn begin(&mut self, t: &Timings, first: u64, asked: u64) {
        if self.starts.len() >= self.most {
            self.settle(t, asked);
        }
        self.starts.push(first);
    }

    #[inline(never)]
    fn settle(&mut self, t: &Timings, asked: u64) {
        let past = self.starts.partition_point(|first| first + t.burst < asked);
        self.settled_ps += self.starts.drain(..past).map(t.clock.lasting(t.burst)).sum::<u64>();
        self.most = ENOUGH.max(2 * self.starts.len());
    }

    /// Time that the data bus has carried data up to `now` \[ps\].
    pub fn busy_ps(&self, t: &Timings, now: Instant) -> u64 {
        self.settled_ps + self.starts.iter().map(|first| time_of(t, *first, now)).sum::<u64>()
    }
}

/// The part of a burst before `now` \[ps\].
fn time_of(t: &Timings, first: u64, now: Instant) -> u64 {
    let [start, end] = [first, first + t.burst].map(|edge| t.clock.instant(edge));
    end.min(now).since(start).as_ps()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dram::spec::{Density, Speed, Width};

    #[test]
    fn what_is_settled_and_what_is_not_is_the_same_time() {
        let t = Timings::of(Speed::Ddr5_4800, Width::X8, Density::Gb16, 4);
        let mut bursts = Bursts::default();
        let starts: Vec<u64> = (0..1000).map(|n| 50 + 9 * n + n % 2).collect();
        starts.iter().for_each(|first| bursts.begin(&t, *first, first.saturating_sub(100)));
        assert!(bursts.starts.len() <= ENOUGH && bursts.settled_ps > 0);
        for now in [9_000, 9_050, 9_051, 20_000].map(|clock| t.clock.instant(clock)) {
            let expected: u64 = starts.iter().map(|first| time_of(&t, *first, now)).sum();
            assert_eq!(bursts.busy_ps(&t, now), expected);
        }
    }
}
