//! An invertible permutation of the numbers with a given number of bits.

use lanetwin_kernel::mix;

const ROUNDS: usize = 3;

/// A permutation of 2ᵐ numbers: multiplications by odd numbers, each followed by an exclusive or of the lower half of
/// the bits with the upper half.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scramble {
    bits: u32,
    multipliers: [u64; ROUNDS],
    inverses: [u64; ROUNDS],
}

impl Scramble {
    /// A permutation of the numbers below 2^`bits`; `bits` is at least 1 and below 64.
    pub(super) fn new(bits: u32, seed: u64) -> Self {
        let multipliers = [1, 2, 3].map(|round| mix(seed ^ mix(round)) | 1);
        Self { bits, multipliers, inverses: multipliers.map(inverse) }
    }
    pub(super) fn apply(&self, number: u64) -> u64 {
        let round = |x: u64, multiplier: &u64| self.fold(x.wrapping_mul(*multiplier) & self.mask());
        self.multipliers.iter().fold(number, round)
    }
    pub(super) fn invert(&self, number: u64) -> u64 {
        let back = |x, inverse: &u64| self.fold(x).wrapping_mul(*inverse) & self.mask();
        self.inverses.iter().rev().fold(number, back)
    }
    const fn mask(&self) -> u64 {
        (1 << self.bits) - 1
    }
    /// Its own inverse.
    const fn fold(&self, x: u64) -> u64 {
        x ^ (x >> self.bits.div_ceil(2))
    }
}

/// The inverse of an odd number modulo 2⁶⁴, by Newton's iteration: each round doubles the number of correct bits.
fn inverse(odd: u64) -> u64 {
    (0..6).fold(odd, |x, _| x.wrapping_mul(2_u64.wrapping_sub(odd.wrapping_mul(x))))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_comes_once_and_goes_back() {
        for bits in [1, 2, 3, 8, 13] {
            let scramble = Scramble::new(bits, 4);
            let mut seen = vec![false; 1 << bits];
            for number in 0..1 << bits {
                let other = scramble.apply(number);
                assert!(!std::mem::replace(&mut seen[other as usize], true), "{bits} bits: {other} twice");
                assert_eq!(scramble.invert(other), number);
            }
        }
    }
}
