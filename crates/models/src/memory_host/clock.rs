//! The clock of a socket's uncore, which follows the load.
//!
//! Servers lower the clock of mesh and last level at low load and raise it with the traffic, between a minimum and a
//! maximum frequency (Linux, `Documentation/admin-guide/pm/intel_uncore_frequency_scaling.rst`). The firmware's
//! algorithm is not published; here the clock rises in proportion to the traffic, and is at its maximum from a given
//! rate on (assumed).

use lanetwin_ports::Params;
use lanetwin_units::{Instant, Span};

/// Parameters of the clock.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Following {
    /// The least clock, as a share of the greatest.
    slowest: f64,
    /// Time per line at the rate from which on the clock is at its maximum.
    line: Span,
    /// Time over which traffic is counted before the clock changes.
    period: Span,
}

impl Following {
    /// `None` if the clock is always at its maximum. `line` is the time per line at the rate from which on it is;
    /// zero if any rate is enough.
    pub(super) fn new(params: &Params, line: Span) -> Option<Self> {
        let (slowest, period) = (params.ratio("uncore.slowest"), params.time("uncore.period"));
        let follows = params.choice("uncore.clock") == "follows-load" && line > Span::ZERO;
        follows.then_some(Self { slowest, line, period })
    }
    /// The clock, as a share of its maximum, after `lines` lines in this time.
    fn clock(self, lines: u64, during: Span) -> f64 {
        let busy = lines as f64 * self.line.as_ps() as f64 / during.as_ps().max(1) as f64;
        self.slowest + (1.0 - self.slowest) * busy.min(1.0)
    }
}

/// A socket's clock: the least at first, as after a time without load.
#[derive(Debug)]
pub(super) struct UncoreClock {
    following: Option<Following>,
    /// Since when lines are counted, and how many there were.
    since: Instant,
    lines: u64,
    /// Relative lengthening of a path compared with the maximum clock.
    longer: f64,
}

impl UncoreClock {
    pub(super) fn new(following: Option<Following>) -> Self {
        let longer = following.map_or(0.0, |following| 1.0 / following.slowest - 1.0);
        Self { following, since: Instant::ZERO, lines: 0, longer }
    }
    /// Time of a line that crosses the path now; `way` is the time at the maximum clock.
    #[inline]
    pub(super) fn cross(&mut self, now: Instant, way: Span) -> Span {
        let Some(following) = self.following else { return way };
        self.lines += 1;
        let during = now.since(self.since);
        if during >= following.period {
            self.longer = 1.0 / following.clock(self.lines, during) - 1.0;
            (self.since, self.lines) = (now, 0);
        }
        way + self.added(way)
    }
    /// Additional time at the present clock for a path that takes `way` at the maximum clock.
    #[inline]
    pub(super) fn added(&self, way: Span) -> Span {
        if self.longer == 0.0 { Span::ZERO } else { Span::from_ps((way.as_ps() as f64 * self.longer) as u64) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> UncoreClock {
        // a line a nanosecond is full load
        let following = Following { slowest: 0.5, line: Span::from_ns(1), period: Span::from_ns(100) };
        UncoreClock::new(Some(following))
    }
    /// What a way of 40 ns takes after ten periods of a line every so often.
    fn way_at(every: Span) -> f64 {
        let (mut clock, mut now, mut way) = (clock(), Instant::ZERO, Span::ZERO);
        while now < Instant::from_ps(1_000_000) {
            way = clock.cross(now, Span::from_ns(40));
            now += every;
        }
        way.as_ps() as f64 / 1000.0
    }

    #[test]
    fn a_way_is_as_much_longer_as_the_clock_is_slower() {
        assert!((way_at(Span::from_ns(1000)) - 80.0).abs() < 0.2, "an idle one has the least clock");
        assert!((way_at(Span::from_ns(2)) - 40.0 / 0.75).abs() < 1.0, "half the load is half the way up");
        assert_eq!(way_at(Span::from_ps(500)), 40.0, "from full load on it is the greatest");
    }

    #[test]
    fn a_clock_that_does_not_follow_changes_nothing() {
        let mut fixed = UncoreClock::new(None);
        assert!(
            (0..100)
                .all(|at| fixed.cross(Instant::from_ps(at * 977), Span::from_ns(40)) == Span::from_ns(40))
        );
    }
}
