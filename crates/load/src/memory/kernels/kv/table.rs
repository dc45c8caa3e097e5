//! A hash table with chaining, without its memory: which keys share a bucket follows from a hash that can be turned
//! back.
//!
//! Keys are numbered in the order of their insertion. The hash of a key is a permutation of 2ᵐ numbers, 16 of them for
//! each bucket; the members of a bucket are those of its 16 preimages that are keys. The number of members is binomial
//! with 16 trials, where that of an ideal hash is Poisson's: with one key for each bucket its variance is 15/16 of
//! that.

use super::super::scramble::Scramble;

/// Possible keys of a bucket, as a power of two.
const PREIMAGES: u32 = 4;

/// The buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    keys: u64,
    /// The logarithm of the number of buckets.
    power: u32,
    hash: Scramble,
}

impl Table {
    /// Buckets for so many keys, a power of two not below their number, as Redis grows its table (`dict.c`).
    pub(super) fn new(keys: u64, seed: u64) -> Self {
        let power = keys.next_power_of_two().trailing_zeros();
        Self { keys, power, hash: Scramble::new(power + PREIMAGES, seed) }
    }
    /// How many buckets there are.
    pub(super) const fn buckets(&self) -> u64 {
        1 << self.power
    }
    /// The bucket of a key.
    pub(super) fn bucket(&self, key: u64) -> u64 {
        self.hash.apply(key) & (self.buckets() - 1)
    }
    /// The keys that a search for `key` comes to before it, in the order of the chain: a new key becomes the first of
    /// its chain, so those are the ones that were inserted later.
    pub(super) fn before(&self, key: u64, out: &mut Vec<u64>) {
        let bucket = self.bucket(key);
        out.clear();
        out.extend((0..1 << PREIMAGES).map(|preimage| self.hash.invert(bucket | preimage << self.power)));
        out.retain(|other| *other > key && *other < self.keys);
        out.sort_unstable_by(|a, b| b.cmp(a));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Beside a table with real chains.
    #[test]
    fn chains_are_those_of_a_real_table() {
        for keys in [1, 2, 100, 1000, 1024] {
            let table = Table::new(keys, 3);
            let mut chains = vec![Vec::new(); table.buckets() as usize];
            (0..keys).for_each(|key| chains[table.bucket(key) as usize].insert(0, key));
            let mut before = Vec::new();
            for chain in &chains {
                for (index, key) in chain.iter().enumerate() {
                    table.before(*key, &mut before);
                    assert_eq!(before, chain[..index], "{key} of {keys}");
                }
            }
        }
    }

    /// A search that succeeds looks at 1 + (N − 1) / 2B keys in the mean (Knuth, The Art of Computer Programming 3,
    /// §6.4).
    #[test]
    fn searches_are_as_long_as_with_an_ideal_hash() {
        for keys in [70_000_u64, 131_072] {
            let table = Table::new(keys, 9);
            let mut before = Vec::new();
            let mut looked_at = 0;
            for key in 0..keys {
                table.before(key, &mut before);
                looked_at += 1 + before.len();
            }
            let (mean, expected) =
                (looked_at as f64 / keys as f64, 1.0 + (keys - 1) as f64 / (2 * table.buckets()) as f64);
            // 16 preimages: a sixteenth fewer neighbours than an ideal hash has
            assert!((mean - expected).abs() < 0.05, "{mean} {expected}");
            assert!((mean - 1.0 - (expected - 1.0) * 15.0 / 16.0).abs() < 0.01, "{mean} {expected}");
        }
    }
}
