//! Random numbers that depend on a seed alone, and a keyed permutation of a range.

use lanetwin_units::mix;

/// A stream of random numbers.
#[derive(Clone, Debug)]
pub struct Draws(u64);

impl Draws {
    /// The stream of a seed.
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }
    /// 64 random bits.
    pub const fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mix(self.0)
    }
    /// Skips a number whose value does not matter.
    pub const fn skip(&mut self) {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
    }
    /// A number below `n`, which must not be 0.
    pub const fn below(&mut self, n: u64) -> u64 {
        ((self.bits() as u128 * n as u128) >> 64) as u64
    }
    /// A number in (0, 1].
    pub const fn unit(&mut self) -> f64 {
        ((self.bits() >> 11) + 1) as f64 * (1.0 / (1_u64 << 53) as f64)
    }
}

/// A permutation of 0 to n−1: a Feistel network of four rounds over the next even number of bits; results out of
/// range are passed through it again (Black and Rogaway 2002, cycle walking), on average less than four times.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    n: u64,
    half: u32,
    keys: [u64; 4],
}

impl Permutation {
    /// The permutation of `n` numbers with this key.
    pub const fn new(n: u64, key: u64) -> Self {
        let bits = 64 - n.saturating_sub(1).leading_zeros();
        let half = if bits < 2 { 1 } else { bits.div_ceil(2) };
        let keys = [mix(key), mix(key ^ 1), mix(key ^ 2), mix(key ^ 3)];
        Self { n, half, keys }
    }
    /// The image of `x`.
    #[inline]
    pub fn forward(&self, mut x: u64) -> u64 {
        debug_assert!(x < self.n);
        loop {
            let (mut left, mut right) = self.split(x);
            for key in self.keys {
                (left, right) = (right, left ^ self.round(right, key));
            }
            x = left << self.half | right;
            if x < self.n {
                return x;
            }
        }
    }
    /// The preimage of `x`.
    #[inline]
    pub fn back(&self, mut x: u64) -> u64 {
        debug_assert!(x < self.n);
        loop {
            let (mut left, mut right) = self.split(x);
            for key in [self.keys[3], self.keys[2], self.keys[1], self.keys[0]] {
                (left, right) = (right ^ self.round(left, key), left);
            }
            x = left << self.half | right;
            if x < self.n {
                return x;
            }
        }
    }
    #[inline]
    const fn split(&self, x: u64) -> (u64, u64) {
        (x >> self.half, x & ((1 << self.half) - 1))
    }
    #[inline]
    const fn round(&self, x: u64, key: u64) -> u64 {
        let x = (x ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (x ^ (x >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> (64 - self.half)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_permutation_has_an_inverse(n in 1_u64..5_000_000_000, key: u64, x: u64) {
            let permutation = Permutation::new(n, key);
            let there = permutation.forward(x % n);
            prop_assert!(there < n);
            prop_assert_eq!(permutation.back(there), x % n);
        }
    }

    #[test]
    fn a_draw_that_is_passed_over_is_drawn_all_the_same() {
        let (mut all, mut some) = (Draws::new(5), Draws::new(5));
        all.bits();
        some.skip();
        assert_eq!(all.bits(), some.bits());
    }

    #[test]
    fn neighbours_are_torn_apart() {
        // 64 bins, 64 000 neighbours: each bin has 1000 ± 32
        let permutation = Permutation::new(1_000_000, 7);
        let mut bins = [0_u32; 64];
        for x in 500_000..564_000 {
            bins[(permutation.forward(x) * 64 / 1_000_000) as usize] += 1;
        }
        assert!(bins.iter().all(|bin| bin.abs_diff(1000) < 160), "{bins:?}");
    }
}
