//! A hash table with chaining that is not stored: an invertible hash gives the keys of each bucket.
//!
//! Keys are numbered in the order of their insertion. The hash of a key is a permutation of 2ᵐ numbers, 16 of them for
//! each bucket; the members of a bucket are those of its 16 preimages that are keys. The number of members has a
//! binomial distribution with 16 trials, while that of an ideal hash has a Poisson distribution; with one key per
//! bucket, its variance is 15/16 of the ideal one.

use super::super::scramble::Scramble;

/// Binary logarithm of the number of possible keys of a bucket.
const PREIMAGES: u32 = 4;

/// The buckets.
#[derive(Clone, Copy, Debug)]
pub(super) struct Table {
    keys: u64,
    /// Binary logarithm of the number of buckets.
    power: u32,
    hash: Scramble,
}

impl Table {
    /// A table for this number of keys. The number of buckets is the next power of two, as in Redis (`dict.c`).
    pub(super) fn new(keys: u64, seed: u64) -> Self {
        let power = keys.next_power_of_two().trailing_zeros();
        Self { keys, power, hash: Scramble::new(power + PREIMAGES, seed) }
    }
    /// Number of buckets.
    pub(super) const fn buckets(&self) -> u64 {
        1 << self.power
    }
    /// The bucket of a key.
    pub(super) fn bucket(&self, key: u64) -> u64 {
        self.hash.apply(key) & (self.buckets() - 1)
    }
    /// The keys that a search for `key` finds before it, in the order of the chain. A new key becomes the first of its
    /// chain, so these are the keys that were inserted later.
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

    /// Compared with a table with real chains.
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

    /// A successful search examines 1 + (N − 1) / 2B keys on average (Knuth, The Art of Computer Programming 3, §6.4).
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
            // with 16 preimages there are a sixteenth fewer neighbours than with an ideal hash
            assert!((mean - expected).abs() < 0.05, "{mean} {expected}");
            assert!((mean - 1.0 - (expected - 1.0) * 15.0 / 16.0).abs() < 0.01, "{mean} {expected}");
        }
    }
}
