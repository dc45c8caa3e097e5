//! The way between a core and memory across its socket.

use lanetwin_units::{Span, mix};

/// Time of a line across its socket and back.
///
/// The last level and the mesh of a socket are divided into slices, and a hash of the address determines a line's
/// slice: path lengths differ between lines but are fixed for each line. With a uniform path length a chain of loads
/// would fall into step with anything periodic, such as the flits of a CXL link; additional latency would then only
/// show in whole periods.
#[derive(Clone, Copy, Debug)]
pub(super) struct Uncore {
    least: Span,
    /// By how much the longest way is longer than the shortest \[ps\].
    spread: u64,
}

impl Uncore {
    pub(super) fn new(mean: Span, spread: Span) -> Self {
        let spread = spread.as_ps().min(2 * mean.as_ps());
        Self { least: Span::from_ps(mean.as_ps() - spread / 2), spread }
    }
    /// Time of a line.
    #[inline]
    pub(super) const fn of(self, line: u64) -> Span {
        if self.spread == 0 {
            return self.least;
        }
        let share = (mix(!line) as u128 * (self.spread as u128 + 1)) >> 64;
        Span::from_ps(self.least.as_ps() + share as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_lie_evenly_around_their_mean_and_stay_what_they_are() {
        let uncore = Uncore::new(Span::from_ns(80), Span::from_ns(10));
        let ways: Vec<u64> = (0..10_000).map(|line| uncore.of(line).as_ps()).collect();
        assert!(ways.iter().all(|way| (75_000..=85_000).contains(way)));
        let mean = ways.iter().sum::<u64>() as f64 / 10_000.0;
        assert!((mean - 80_000.0).abs() < 100.0, "{mean}");
        let near = ways.iter().filter(|way| **way < 77_500).count();
        assert!((2350..2650).contains(&near), "a quarter of them is in the first quarter: {near}");
        assert_eq!(uncore.of(7), uncore.of(7));
    }

    #[test]
    fn without_a_spread_all_ways_are_the_mean_and_none_is_shorter_than_nothing() {
        let none = Uncore::new(Span::from_ns(80), Span::ZERO);
        assert!((0..100).all(|line| none.of(line) == Span::from_ns(80)));
        let wide = Uncore::new(Span::from_ns(5), Span::from_ns(100));
        assert!((0..100).all(|line| wide.of(line) <= Span::from_ns(10)));
    }
}
