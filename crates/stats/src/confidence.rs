//! Confidence levels and intervals.

use crate::quantile;

/// The probability with which an interval covers the true value, strictly between 0 and 1.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Confidence(f64);

impl Confidence {
    /// 95 %, the level of every published interval unless it says otherwise.
    pub const P95: Self = Self(0.95);
    /// 99 %.
    pub const P99: Self = Self(0.99);

    /// A level as a fraction (0.95); `None` unless strictly between 0 and 1.
    #[must_use]
    pub fn new(level: f64) -> Option<Self> {
        (level > 0.0 && level < 1.0).then_some(Self(level))
    }
    /// The level as a fraction.
    #[must_use]
    pub const fn level(self) -> f64 {
        self.0
    }
    /// The probability that the true value lies outside, on both sides together.
    pub(crate) fn outside(self) -> f64 {
        1.0 - self.0
    }
    /// Two-sided quantile of Student's t with `freedom` degrees of freedom.
    pub(crate) fn student(self, freedom: f64) -> f64 {
        quantile::student_two_sided(self.outside(), freedom)
    }
}

impl Default for Confidence {
    fn default() -> Self {
        Self::P95
    }
}

/// A closed range of a quantity, in the quantity's own unit; never NaN, never reversed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Interval {
    low: f64,
    high: f64,
}

impl Interval {
    /// From `low` to `high`; `None` if either is NaN or they are reversed.
    #[must_use]
    pub fn new(low: f64, high: f64) -> Option<Self> {
        (low <= high).then_some(Self { low, high })
    }
    /// The interval from `centre - half` to `centre + half`; `None` if that is not a range of finite numbers.
    #[must_use]
    pub fn around(centre: f64, half: f64) -> Option<Self> {
        Self::new(centre - half, centre + half)
            .filter(|range| range.low.is_finite() && range.high.is_finite())
    }
    /// The part of the interval in which a mean of these samples can lie: not below zero, if no sample is negative.
    #[must_use]
    pub fn of_what(self, samples: &[f64]) -> Self {
        if self.high < 0.0 || samples.iter().any(|sample| *sample < 0.0) {
            return self;
        }
        Self { low: self.low.max(0.0), ..self }
    }
    /// The lower end.
    #[must_use]
    pub const fn low(self) -> f64 {
        self.low
    }
    /// The upper end.
    #[must_use]
    pub const fn high(self) -> f64 {
        self.high
    }
    /// `high - low`.
    #[must_use]
    pub fn width(self) -> f64 {
        self.high - self.low
    }
    /// Whether `value` lies in the range, ends included.
    #[must_use]
    pub fn contains(self, value: f64) -> bool {
        self.low <= value && value <= self.high
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn impossible_levels_and_ranges_are_refused() {
        assert_eq!([0.0, 1.0, -0.1, 95.0, f64::NAN].map(Confidence::new), [None; 5]);
        assert_eq!(Interval::new(1.0, 0.0), None);
        assert_eq!(Interval::new(f64::NAN, 0.0), None);
        assert_eq!(Interval::around(0.0, f64::INFINITY), None);
    }

    #[test]
    fn what_is_never_negative_has_no_negative_mean() {
        let wide = Interval::new(-3.0, 5.0).unwrap();
        assert_eq!(wide.of_what(&[0.0, 2.0]), Interval::new(0.0, 5.0).unwrap());
        assert_eq!(wide.of_what(&[-1.0, 2.0]), wide);
    }

    #[test]
    fn a_point_is_a_range_of_no_width() {
        let point = Interval::new(2.0, 2.0).unwrap();
        assert!(point.contains(2.0) && point.width() == 0.0);
    }
}
