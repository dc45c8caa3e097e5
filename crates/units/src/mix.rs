//! Hashes of names: the seed of a random stream depends on nothing but the run's seed and the stream's name.

/// A 64-bit hash of a name (FNV-1a).
#[must_use]
pub const fn hash_name(name: &str) -> u64 {
    let bytes = name.as_bytes();
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut i = 0;
    while i < bytes.len() {
        hash = (hash ^ bytes[i] as u64).wrapping_mul(0x0100_0000_01b3);
        i += 1;
    }
    hash
}

/// Mixes 64 bits so that each input bit changes about half of the output bits (the finaliser of SplitMix64).
#[must_use]
pub const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Mixes two numbers into one: the halves of their product, combined. A factor of zero hides the other one, so one of
/// the two should be the result of [`mix`] or of this function. It takes a third of the time of [`mix`], for values
/// that are mixed millions of times a second.
#[must_use]
pub const fn mix_product(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    (product >> 64) as u64 ^ product as u64
}

/// The seed of the stream for `purpose` in the component at `path`.
#[must_use]
pub const fn stream_seed(seed: u64, path: &str, purpose: &str) -> u64 {
    let name = mix(hash_name(path)).wrapping_add(hash_name(purpose));
    mix(seed ^ mix(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_seeds_are_told_apart() {
        assert_eq!(hash_name(""), 0xcbf2_9ce4_8422_2325); // the offset basis of FNV-1a
        assert_eq!(hash_name("a"), 0xaf63_dc4c_8601_ec8c); // its test vector
        assert_ne!(stream_seed(1, "a", "bx"), stream_seed(1, "ab", "x"));
        assert_ne!(stream_seed(1, "a", "x"), stream_seed(2, "a", "x"));
    }

    #[test]
    fn a_bit_of_a_factor_moves_half_of_the_bits() {
        let [a, b] = [mix(1), mix(2)];
        for bit in 0..64 {
            let product = mix_product(a, b);
            for other in [mix_product(a ^ 1 << bit, b), mix_product(a, b ^ 1 << bit)] {
                let moved = (product ^ other).count_ones();
                assert!((12..=52).contains(&moved), "bit {bit} moves {moved}");
            }
        }
    }

    #[test]
    fn a_bit_moves_half_of_the_bits() {
        for bit in 0..64 {
            let moved = (mix(0x1234_5678) ^ mix(0x1234_5678 ^ 1 << bit)).count_ones();
            assert!((16..=48).contains(&moved), "bit {bit} moves {moved}");
        }
    }
}
