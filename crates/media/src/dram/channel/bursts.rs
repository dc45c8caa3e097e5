//! Time that a data bus has carried data, and time that it could not, exact at every instant that can still be queried.

use crate::dram::BusUse;
use crate::dram::clock::Clock;
use crate::dram::spec::Timings;
use lanetwin_units::Instant;

/// Number of bursts kept before those that can no longer be queried are summed up.
const ENOUGH: usize = 128;

/// The bursts of a data bus.
#[derive(Clone, Default, Debug)]
pub(super) struct Bursts {
    /// First clocks of the bursts that can still be queried, and of some before.
    starts: Vec<u64>,
    /// The first clock after the last burst.
    end: u64,
    /// First clocks, and the first clocks after them, of the times lost before these bursts.
    lost: Vec<(u64, u64)>,
    /// Sum of all earlier times.
    settled: BusUse,
    /// Number of bursts at which summing up is tried.
    most: usize,
}

impl Bursts {
    /// Whether the bus is idle before a burst that begins at clock `first`.
    #[inline]
    pub const fn is_gap(&self, first: u64) -> bool {
        first > self.end
    }

    /// Notes a burst that begins at clock `first`; times before clock `asked` will not be queried.
    #[inline]
    pub fn begin(&mut self, t: &Timings, first: u64, asked: u64) {
        if self.starts.len() >= self.most {
            self.settle(t, asked);
        }
        self.starts.push(first);
        self.end = first + t.burst;
    }

    /// Notes that data which could have been on the bus from clock `due` on are not there before the burst at clock
    /// `first`, which is noted next.
    #[inline]
    pub fn lose(&mut self, due: u64, first: u64) {
        let from = due.max(self.end);
        if from < first {
            self.lost.push((from, first));
        }
    }

    #[inline(never)]
    fn settle(&mut self, t: &Timings, asked: u64) {
        let past = self.starts.partition_point(|first| first + t.burst < asked);
        self.settled.busy_ps += self.starts.drain(..past).map(t.clock.lasting(t.burst)).sum::<u64>();
        let past = self.lost.partition_point(|(_, end)| *end < asked);
        let lost = self.lost.drain(..past).map(|stretch| time_of(t.clock, stretch, Instant::NEVER));
        self.settled.lost_ps += lost.sum::<u64>();
        self.most = ENOUGH.max(2 * self.starts.len());
    }

    /// Use of the data bus up to `now`.
    pub fn bus_use(&self, t: &Timings, now: Instant) -> BusUse {
        let busy = self.starts.iter().map(|first| time_of(t.clock, (*first, first + t.burst), now));
        let lost = self.lost.iter().map(|stretch| time_of(t.clock, *stretch, now));
        self.settled.and(BusUse { busy_ps: busy.sum(), lost_ps: lost.sum() })
    }
}

/// The part of a stretch of clocks before `now` \[ps\].
fn time_of(clock: Clock, (first, after): (u64, u64), now: Instant) -> u64 {
    let [start, end] = [first, after].map(|edge| clock.instant(edge));
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
        let starts: Vec<u64> = (0..1000).map(|n| 50 + 13 * n + n % 2).collect();
        // data are due three clocks before each burst, or long before it: then the whole gap is lost
        let due = |first: u64| if first.is_multiple_of(5) { 0 } else { first - 3 };
        for first in &starts {
            bursts.lose(due(*first), *first);
            bursts.begin(&t, *first, first.saturating_sub(100));
        }
        assert!(bursts.starts.len() <= ENOUGH && bursts.lost.len() <= ENOUGH);
        assert!(bursts.settled.busy_ps > 0 && bursts.settled.lost_ps > 0);
        let ends = [0].into_iter().chain(starts.iter().map(|first| first + t.burst));
        let gaps: Vec<_> =
            starts.iter().zip(ends).map(|(first, end)| (due(*first).max(end), *first)).collect();
        for now in [13_000, 13_046, 13_050, 30_000].map(|clock| t.clock.instant(clock)) {
            let all = |stretches: &mut dyn Iterator<Item = (u64, u64)>| {
                stretches.map(|stretch| time_of(t.clock, stretch, now)).sum::<u64>()
            };
            let busy_ps = all(&mut starts.iter().map(|first| (*first, first + t.burst)));
            let lost_ps = all(&mut gaps.iter().copied());
            assert_eq!(bursts.bus_use(&t, now), BusUse { busy_ps, lost_ps });
        }
    }
}
