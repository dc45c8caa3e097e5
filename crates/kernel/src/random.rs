//! Seeded randomness: one stream for each (seed, component path, purpose).
//!
//! Variants of a machine share the streams of their common components, so that an A/B comparison compares machines and
//! not random numbers. Transcendental functions come from `libm` and are the same on every machine.

use lanetwin_units::{Span, stream_seed};
pub use lanetwin_units::{hash_name, mix, mix_product};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A stream of random numbers that belongs to one component and one purpose.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// The stream of `purpose` in the component at `path`.
    #[must_use]
    pub fn new(seed: u64, path: &str, purpose: &str) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(stream_seed(seed, path, purpose)))
    }
    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }
    /// A whole number below `n`, each equally likely to within 2⁻⁶⁴·n; 0 if `n` is 0.
    pub fn below(&mut self, n: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(n)) >> 64) as u64
    }
    /// A number in (0, 1].
    pub fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
    /// True with this probability.
    pub fn chance(&mut self, probability: f64) -> bool {
        self.unit() <= probability
    }
    /// An exponentially distributed span with this mean.
    pub fn exponential(&mut self, mean: Span) -> Span {
        Span::from_ps((-libm::log(self.unit()) * mean.as_ps() as f64) as u64)
    }
    /// The number of failures before the first success, with success probability `p` in (0, 1]; `u64::MAX` if `p` is 0.
    pub fn geometric(&mut self, p: f64) -> u64 {
        if p <= 0.0 {
            return u64::MAX;
        }
        if p >= 1.0 {
            return 0;
        }
        (libm::log(self.unit()) / libm::log1p(-p)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_path_and_purpose_alone() {
        let first = |seed, path, purpose| Stream::new(seed, path, purpose).bits();
        assert_eq!(first(1, "a", "x"), first(1, "a", "x"));
        assert_ne!(first(1, "a", "x"), first(2, "a", "x"));
        assert_ne!(first(1, "a", "x"), first(1, "b", "x"));
        assert_ne!(first(1, "a", "x"), first(1, "a", "y"));
        assert_ne!(first(1, "a", "bx"), first(1, "ab", "x"));
    }

    #[test]
    fn the_means_are_the_means() {
        let mut stream = Stream::new(7, "test", "mean");
        let n = 200_000;
        let exponential: u64 = (0..n).map(|_| stream.exponential(Span::from_ns(1)).as_ps()).sum();
        assert!((exponential as f64 / f64::from(n) - 1000.0).abs() < 10.0);
        let geometric: u64 = (0..n).map(|_| stream.geometric(0.01)).sum();
        assert!((geometric as f64 / f64::from(n) - 99.0).abs() < 1.5);
        assert!((0..n).filter(|_| stream.chance(0.25)).count().abs_diff(50_000) < 1_000);
        assert!((0..1000).all(|_| stream.below(7) < 7));
    }
}
