//! A permutation of n numbers that is computed and not stored: an order in which each of n items occurs once.
//!
//! A balanced Feistel network of four rounds permutes the numbers below a power of four (Luby and Rackoff 1988: with
//! four rounds, the permutation looks random even to someone who can apply it in both directions). Results
//! of n and above are passed through the network again until they are below n (cycle walking: Black and Rogaway 2002,
//! section 4). That takes fewer than four passes on average for any n.

use lanetwin_kernel::Stream;
use lanetwin_units::mix;

const ROUNDS: usize = 4;

/// A permutation of the numbers below n.
#[derive(Clone, Debug)]
pub(crate) struct Permutation {
    n: u64,
    /// Half the number of bits of the network.
    half: u32,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// A permutation of the numbers below `n`, drawn from the stream.
    pub(crate) fn new(n: u64, stream: &mut Stream) -> Self {
        let bits = u64::BITS - n.saturating_sub(1).leading_zeros();
        Self { n, half: bits.div_ceil(2).max(1), keys: std::array::from_fn(|_| stream.bits()) }
    }
    /// The image of `i`, which must be below n.
    pub(crate) fn of(&self, i: u64) -> u64 {
        debug_assert!(i < self.n);
        let mut x = self.pass(i);
        while x >= self.n {
            x = self.pass(x);
        }
        x
    }
    fn pass(&self, x: u64) -> u64 {
        let low = (1 << self.half) - 1;
        let (mut left, mut right) = (x >> self.half, x & low);
        for key in self.keys {
            (left, right) = (right, left ^ (mix(right ^ key) & low));
        }
        left << self.half | right
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_comes_once() {
        for n in [1, 2, 3, 4, 5, 63, 64, 65, 1000, 4097] {
            let permutation = Permutation::new(n, &mut Stream::new(1, "test", "order"));
            let mut seen: Vec<u64> = (0..n).map(|i| permutation.of(i)).collect();
            seen.sort_unstable();
            assert!(seen.iter().copied().eq(0..n), "{n}");
        }
    }

    /// Neighbours in a random order of n numbers differ by about n / 3 on average; those in a stride or a short cycle
    /// do not.
    #[test]
    fn neighbours_are_as_far_apart_as_chance_has_it() {
        const N: u64 = 100_000;
        let permutation = Permutation::new(N, &mut Stream::new(7, "test", "order"));
        let apart: u64 = (1..N).map(|i| permutation.of(i).abs_diff(permutation.of(i - 1))).sum();
        let mean = apart as f64 / (N - 1) as f64 / N as f64;
        assert!((mean - 1.0 / 3.0).abs() < 0.01, "{mean}");
    }
}
