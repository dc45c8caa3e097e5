//! Times that vary uniformly around their mean, each drawn by its number.

use crate::{Span, mix, stream_seed};

/// Times that differ from their mean by up to a share of it in both directions, uniformly distributed.
///
/// A time depends on the key and on its number, not on the order of the draws. So variants of a machine that do the
/// same work in another way get the same times for it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Spread {
    /// In units of 2⁻³².
    share: u32,
    key: u64,
}

impl Spread {
    /// Every time is its mean.
    pub const NONE: Self = Self { share: 0, key: 0 };

    /// A spread by `share`, a number from 0 to 1, for `purpose` in the component at `path`.
    #[must_use]
    pub fn new(share: f64, seed: u64, path: &str, purpose: &str) -> Self {
        Self { share: (share * f64::from(u32::MAX)) as u32, key: stream_seed(seed, path, purpose) }
    }
    /// The spread of part `number` of the same component.
    #[must_use]
    pub const fn of_part(self, number: u64) -> Self {
        Self { share: self.share, key: mix(self.key ^ mix(number)) }
    }
    /// Whether every time is its mean.
    #[must_use]
    pub const fn is_none(self) -> bool {
        self.share == 0
    }
    /// The time number `number` with the mean `mean` \[ps\].
    #[must_use]
    #[inline]
    pub const fn ps(self, mean: u64, number: u64) -> u64 {
        if self.share == 0 {
            return mean;
        }
        let off = self.most_off(mean);
        let drawn = mix(self.key ^ number) as u128 * (2 * off as u128 + 1);
        mean - off + (drawn >> 64) as u64
    }
    /// The same as a span.
    #[must_use]
    #[inline]
    pub const fn span(self, mean: Span, number: u64) -> Span {
        Span::from_ps(self.ps(mean.as_ps(), number))
    }
    /// The shortest time with this mean \[ps\].
    #[must_use]
    pub const fn least_ps(self, mean: u64) -> u64 {
        mean - self.most_off(mean)
    }
    const fn most_off(self, mean: u64) -> u64 {
        ((mean as u128 * self.share as u128) >> 32) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_stays_and_nothing_is_beyond_the_share() {
        let spread = Spread::new(0.01, 7, "ssd", "array");
        let (mean, n) = (45_000_000, 100_000);
        let times: Vec<u64> = (0..n).map(|number| spread.ps(mean, number)).collect();
        let (least, most) = (spread.least_ps(mean), 2 * mean - spread.least_ps(mean));
        assert!(times.iter().all(|time| (least..=most).contains(time)));
        assert!(least.abs_diff(44_550_000) < 2 && times.iter().min().unwrap() - least < 100);
        // evenly over ±1 %: the mean of so many is known to 1 % / √3 / √n of 45 µs, 0.8 ns; this is three times that
        assert!((times.iter().sum::<u64>() / n).abs_diff(mean) < 2_500);
    }

    #[test]
    fn a_time_depends_on_key_and_number_alone() {
        let of = |path, number| Spread::new(0.05, 7, path, "array").ps(1_000_000, number);
        assert_eq!(of("a", 1), of("a", 1));
        assert_ne!(of("a", 1), of("a", 2));
        assert_ne!(of("a", 1), of("b", 1));
        let part = |number| Spread::new(0.05, 7, "a", "array").of_part(number).ps(1_000_000, 1);
        assert!(part(0) != part(1) && part(0) != of("a", 1));
    }

    #[test]
    fn without_a_share_every_time_is_its_mean() {
        assert_eq!((Spread::NONE.ps(123, 4), Spread::NONE.least_ps(123)), (123, 123));
        assert_eq!(Spread::new(0.0, 1, "a", "b").span(Span::from_ns(5), 9), Span::from_ns(5));
        assert_eq!(Spread::new(1.0, 1, "a", "b").least_ps(1_000), 1);
    }
}
