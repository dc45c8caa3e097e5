//! For how long a data bus has carried data, exact at every instant that somebody may still ask about.

use crate::dram::spec::Timings;
use lanetwin_units::Instant;

/// So many bursts are remembered before those that nobody can ask about are summed up.
const ENOUGH: usize = 128;

/// The bursts of a data bus.
#[derive(Clone, Default, Debug)]
pub(super) struct Bursts {
    /// The first clocks of those that somebody may still ask about, and some before.
    starts: Vec<u64>,
    /// The time of all before \[ps\].
    settled_ps: u64,
    /// With so many, a look is worth it.
    most: usize,
}

impl Bursts {
    /// A burst begins at clock `first`; nobody asks about times before clock `asked`.
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

    /// For how long the data bus has carried data up to `now` \[ps\].
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
