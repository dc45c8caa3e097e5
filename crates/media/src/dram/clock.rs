//! The command clock as an exact fraction, so that no data rate suffers from rounding.

use lanetwin_units::Instant;

/// Later than any clock.
pub(super) const NEVER: u64 = u64::MAX;

/// The period of a clock as a fraction of picoseconds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    num: u64,
    den: u64,
    /// 2^64 / num and 2^64 / den, rounded up: division by multiplication.
    by_num: u64,
    by_den: u64,
}

/// Below this, a product with a rounded reciprocal has the right integer part: the error, less than the divisor,
/// stays below 2^64.
const EXACT: u64 = 1 << 51;

impl Clock {
    /// A period of `num / den` picoseconds.
    ///
    /// # Panics
    /// If a part is 0 or above 8192.
    #[must_use]
    pub const fn new(num: u64, den: u64) -> Self {
        assert!(
            num > 0 && num <= 8192 && den > 0 && den <= 8192,
            "a clock of DRAM has a period of small numbers"
        );
        Self { num, den, by_num: reciprocal(num), by_den: reciprocal(den) }
    }
    /// The numerator of the period \[ps\].
    #[must_use]
    pub const fn num(&self) -> u64 {
        self.num
    }
    /// The denominator of the period.
    #[must_use]
    pub const fn den(&self) -> u64 {
        self.den
    }
    /// The least number of clocks that lasts at least `ps` picoseconds.
    #[must_use]
    pub const fn at_least(&self, ps: u64) -> u64 {
        (ps * self.den).div_ceil(self.num)
    }
    /// The largest number of clocks that lasts at most `ps` picoseconds.
    #[must_use]
    pub const fn at_most(&self, ps: u64) -> u64 {
        ps * self.den / self.num
    }
    /// The first edge whose picosecond ([`Clock::instant`]) is not before `at`.
    #[inline]
    #[must_use]
    pub const fn edge(&self, at: Instant) -> u64 {
        match at.as_ps() {
            0 => 0,
            ps => divide((ps - 1).saturating_mul(self.den), self.num, self.by_num) + 1,
        }
    }
    /// The first picosecond that is not before edge `clock`.
    #[inline]
    #[must_use]
    pub const fn instant(&self, clock: u64) -> Instant {
        Instant::from_ps(divide(
            clock.saturating_mul(self.num).saturating_add(self.den - 1),
            self.den,
            self.by_den,
        ))
    }
    /// Duration of `clocks` clocks, as a function of the edge at which they begin \[ps\].
    pub(super) fn lasting(self, clocks: u64) -> impl Fn(u64) -> u64 {
        let (whole, part) = (clocks * self.num / self.den, clocks * self.num % self.den);
        // delay of an edge by rounding up to a picosecond, in parts of a picosecond
        let late = move |edge| self.instant(edge).as_ps() * self.den - edge * self.num;
        move |first| whole + u64::from(part > late(first))
    }
}

const fn reciprocal(divisor: u64) -> u64 {
    if divisor == 1 { 0 } else { u64::MAX / divisor + 1 }
}

/// `x / divisor`.
#[inline]
const fn divide(x: u64, divisor: u64, reciprocal: u64) -> u64 {
    if divisor == 1 {
        x
    } else if x < EXACT {
        ((x as u128 * reciprocal as u128) >> 64) as u64
    } else {
        x / divisor
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn division_by_multiplication_divides(x in prop_oneof![0..EXACT + 5, any::<u64>()], divisor in 1_u64..=8192) {
            prop_assert_eq!(divide(x, divisor, reciprocal(divisor)), x / divisor);
        }

        #[test]
        fn an_edge_is_the_first_after_what_it_follows(num in 100_u64..=8192, den in 1_u64..8, ps in 0_u64..1 << 45) {
            let (clock, at) = (Clock::new(num, den), Instant::from_ps(ps));
            let edge = clock.edge(at);
            prop_assert!(clock.instant(edge) >= at);
            prop_assert!(edge == 0 || clock.instant(edge - 1) < at);
            prop_assert_eq!(clock.edge(clock.instant(edge)), edge);
            let end = clock.instant(edge + num % 9);
            prop_assert_eq!(clock.lasting(num % 9)(edge), end.since(clock.instant(edge)).as_ps());
        }
    }

    #[test]
    fn whole_edges_divide_exactly_at_the_ends() {
        for divisor in [1, 2, 3, 7, 625, 750, 1250, 2500, 8192] {
            for x in [0, 1, divisor - 1, divisor, EXACT - 1, EXACT - divisor, u64::MAX] {
                assert_eq!(divide(x, divisor, reciprocal(divisor)), x / divisor, "{x} / {divisor}");
            }
        }
    }
}
