//! Round-trip time, and retransmission timeout (RFC 6298). Times are in ps.

use crate::tcp::spec::{FIRST_TIMEOUT_PS, LEAST_TIMEOUT_PS, MOST_TIMEOUT_PS};

/// Estimate of the round-trip time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RoundTrips {
    /// The smoothed round trip and its variation; none before the first.
    known: Option<(u64, u64)>,
    /// Timeouts in a row.
    backoff: u32,
}

impl RoundTrips {
    /// Nothing is known.
    #[must_use]
    pub const fn new() -> Self {
        Self { known: None, backoff: 0 }
    }
    /// A round trip took so long (RFC 6298 §2.2, §2.3: alpha 1/8, beta 1/4).
    pub fn sample(&mut self, took: u64) {
        self.known = Some(match self.known {
            None => (took, took / 2),
            Some((smoothed, variation)) => {
                let variation = variation - variation / 4 + smoothed.abs_diff(took) / 4;
                (smoothed - smoothed / 8 + took / 8, variation)
            }
        });
        self.backoff = 0;
    }
    /// Notes progress: the timeout is that of the round-trip times again (RFC 6298 §5.7).
    pub fn progressed(&mut self) {
        self.backoff = 0;
    }
    /// The wait was over: the next is twice as long (RFC 6298 §5.5).
    pub fn timed_out(&mut self) {
        self.backoff = (self.backoff + 1).min(16);
    }
    /// The smoothed round trip.
    #[must_use]
    pub const fn smoothed(&self) -> Option<u64> {
        match self.known {
            Some((smoothed, _)) => Some(smoothed),
            None => None,
        }
    }
    /// The retransmission timeout.
    #[must_use]
    pub fn timeout(&self) -> u64 {
        let once = self.known.map_or(FIRST_TIMEOUT_PS, |(smoothed, variation)| {
            (smoothed + 4 * variation).max(LEAST_TIMEOUT_PS)
        });
        once.saturating_mul(1 << self.backoff).min(MOST_TIMEOUT_PS)
    }
}

impl Default for RoundTrips {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const US: u64 = 1_000_000;

    #[test]
    fn waits_are_those_of_the_standard_within_the_limits_of_linux() {
        let mut trips = RoundTrips::new();
        assert_eq!(trips.timeout(), FIRST_TIMEOUT_PS);
        trips.sample(100 * US);
        assert_eq!((trips.smoothed(), trips.timeout()), (Some(100 * US), LEAST_TIMEOUT_PS));
        trips.timed_out();
        trips.timed_out();
        assert_eq!(trips.timeout(), 4 * LEAST_TIMEOUT_PS, "twice as long each time");
        (0..40).for_each(|_| trips.timed_out());
        assert_eq!(trips.timeout(), MOST_TIMEOUT_PS);
        trips.sample(100_000_000 * US);
        assert!(trips.timeout() > 100_000_000 * US, "and no shorter than what it takes");
    }

    #[test]
    fn a_constant_round_trip_is_found() {
        let mut trips = RoundTrips::new();
        trips.sample(900 * US);
        (0..100).for_each(|_| trips.sample(300 * US));
        assert!(trips.smoothed().is_some_and(|smoothed| smoothed.abs_diff(300 * US) < US), "{trips:?}");
    }
}
