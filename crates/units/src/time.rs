//! Time: integer picoseconds where it is published, 1/1024 ps inside a link.

use core::fmt;
use core::ops::{Add, AddAssign, Mul, Sub};

/// Number of [`Ticks`] in a picosecond.
///
/// A byte on a PCIe Gen1–Gen5 link of 1, 2, 4, 8, 16 or 32 lanes lasts a whole number of 1/1024 ps, so a power-of-two
/// width is modelled with no rounding at all; x12 is off by less than 1e-6.
pub const TICKS_PER_PS: u64 = 1024;

/// A point of virtual time \[ps since the start of the run\].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Instant(u64);

/// A length of virtual time \[ps\].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Span(u64);

/// A point or a length of time inside a link \[1/1024 ps\]; `u64` reaches five hours.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Ticks(pub u64);

impl Instant {
    /// The start of a run.
    pub const ZERO: Self = Self(0);
    /// Later than any event.
    pub const NEVER: Self = Self(u64::MAX);

    /// The instant `ps` picoseconds after the start.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }
    /// Picoseconds since the start.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// The length of time since `earlier`, zero if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl Span {
    /// A span of zero.
    pub const ZERO: Self = Self(0);

    /// `ps` picoseconds.
    #[must_use]
    pub const fn from_ps(ps: u64) -> Self {
        Self(ps)
    }
    /// `ns` nanoseconds.
    #[must_use]
    pub const fn from_ns(ns: u64) -> Self {
        Self(ns * 1_000)
    }
    /// `us` microseconds.
    #[must_use]
    pub const fn from_us(us: u64) -> Self {
        Self(us * 1_000_000)
    }
    /// The length in picoseconds.
    #[must_use]
    pub const fn as_ps(self) -> u64 {
        self.0
    }
    /// The length in link ticks.
    #[must_use]
    pub const fn as_ticks(self) -> Ticks {
        Ticks(self.0 * TICKS_PER_PS)
    }
}

impl Ticks {
    /// The first picosecond that is not before this point.
    #[must_use]
    pub const fn as_ps_ceil(self) -> Instant {
        Instant(self.0.div_ceil(TICKS_PER_PS))
    }
    /// The last picosecond that is not after this point.
    #[must_use]
    pub const fn as_ps_floor(self) -> Instant {
        Instant(self.0 / TICKS_PER_PS)
    }
}

impl From<Instant> for Ticks {
    /// # Panics
    /// If the time is beyond five hours, the range of a link's clock.
    fn from(at: Instant) -> Self {
        Self(at.0.checked_mul(TICKS_PER_PS).expect("a link's clock reaches five hours of virtual time"))
    }
}

impl Add<Span> for Instant {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0 + span.0)
    }
}
impl AddAssign<Span> for Instant {
    fn add_assign(&mut self, span: Span) {
        self.0 += span.0;
    }
}
impl Sub for Instant {
    type Output = Span;
    fn sub(self, earlier: Self) -> Span {
        Span(self.0 - earlier.0)
    }
}
impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}
impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}
impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, times: u64) -> Self {
        Self(self.0 * times)
    }
}
impl Add for Ticks {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps", self.0)
    }
}
impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ps", self.0)
    }
}
impl fmt::Display for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03} ns", self.0 / 1000, self.0 % 1000)
    }
}
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03} ns", self.0 / 1000, self.0 % 1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_round_outwards() {
        assert_eq!(Ticks(1024).as_ps_ceil(), Instant::from_ps(1));
        assert_eq!(Ticks(1025).as_ps_ceil(), Instant::from_ps(2));
        assert_eq!(Ticks(2047).as_ps_floor(), Instant::from_ps(1));
    }

    #[test]
    fn an_instant_prints_in_nanoseconds() {
        assert_eq!((Instant::ZERO + Span::from_ps(1_005)).to_string(), "1.005 ns");
    }
}
