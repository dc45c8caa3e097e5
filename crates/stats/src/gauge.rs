//! A gauge: a number that changes over time, and its exact integral over time.

use lanetwin_units::Instant;

/// A number that changes, with its integral.
#[derive(Clone, Copy, Default, Debug)]
pub struct Gauge {
    number: u64,
    /// End of the integral so far.
    since: Instant,
    integral_ps: u128,
}

impl Gauge {
    /// The present number.
    #[must_use]
    pub const fn number(&self) -> u64 {
        self.number
    }
    /// Adds `n` to the number at `now`, the present.
    #[inline]
    pub fn add(&mut self, n: u64, now: Instant) {
        self.reach(now);
        self.number += n;
    }
    /// Subtracts `n`, at most the number, at `now`, the present.
    #[inline]
    pub fn remove(&mut self, n: u64, now: Instant) {
        self.reach(now);
        self.number -= n;
    }
    /// Sets the number to `n` from `now`, the present, on.
    #[inline]
    pub fn set(&mut self, n: u64, now: Instant) {
        if self.number != n {
            self.reach(now);
            self.number = n;
        }
    }
    /// The integral up to `now`, the present \[number · ps\].
    #[inline]
    #[must_use]
    pub fn integral_ps(&self, now: Instant) -> u128 {
        self.integral_ps + u128::from(self.number) * u128::from(now.since(self.since).as_ps())
    }
    #[inline]
    fn reach(&mut self, now: Instant) {
        self.integral_ps = self.integral_ps(now);
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_integral_is_exact_at_every_instant() {
        let (mut gauge, ps) = (Gauge::default(), Instant::from_ps);
        gauge.add(3, ps(10));
        gauge.add(2, ps(14));
        gauge.remove(4, ps(14));
        gauge.remove(1, ps(20));
        assert_eq!(gauge.number(), 0);
        assert_eq!(gauge.integral_ps(ps(99)), 3 * 4 + 6);
        gauge.set(0, ps(50));
        gauge.set(1, ps(99));
        assert_eq!((gauge.integral_ps(ps(99)), gauge.integral_ps(ps(100))), (18, 19));
    }
}
