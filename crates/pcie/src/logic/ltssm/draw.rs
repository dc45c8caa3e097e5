//! Chance: numbers that depend on a seed, the name of the link, and what they are for. The nth of a purpose is the nth,
//! no matter what else was drawn, so that a retimer more or less changes nobody else's.

use lanetwin_units::{mix, stream_seed};

/// The golden ratio of 64 bits, by which SplitMix64 steps.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A number in (0, 1) from 64 bits.
fn unit(bits: u64) -> f64 {
    ((bits >> 11) as f64 + 0.5) * (1.0 / (1_u64 << 53) as f64)
}

/// A standard normal number from 64 bits (Box & Muller 1958).
fn normal(bits: u64) -> f64 {
    let radius = libm::sqrt(-2.0 * libm::log(unit(mix(bits))));
    radius * libm::cos(core::f64::consts::TAU * unit(mix(bits ^ STEP)))
}

/// Numbers that are addressed, not drawn in turn.
#[derive(Clone, Copy, Debug)]
pub struct Table(u64);

impl Table {
    /// The table of a purpose.
    #[must_use]
    pub const fn new(seed: u64, name: &str, purpose: &str) -> Self {
        Self(stream_seed(seed, name, purpose))
    }
    /// The standard normal number at an address.
    #[must_use]
    pub fn normal(&self, address: [u64; 3]) -> f64 {
        let key = address.iter().fold(self.0, |key, part| mix(key ^ part.wrapping_mul(STEP)));
        normal(key)
    }
}

/// Numbers that are drawn in turn (SplitMix64).
#[derive(Clone, Debug)]
pub struct Sequence(u64);

impl Sequence {
    /// The sequence of a purpose.
    #[must_use]
    pub const fn new(seed: u64, name: &str, purpose: &str) -> Self {
        Self(stream_seed(seed, name, purpose))
    }
    fn bits(&mut self) -> u64 {
        let bits = mix(self.0);
        self.0 = self.0.wrapping_add(STEP);
        bits
    }
    /// A number in (0, 1).
    pub fn unit(&mut self) -> f64 {
        unit(self.bits())
    }
    /// An exponentially distributed number with mean 1.
    pub fn exponential(&mut self) -> f64 {
        -libm::log(self.unit())
    }
    /// How many events there are when `mean` are expected.
    ///
    /// Above 1000 a rounded normal number stands for it: its distribution is within 1 % of Poisson's there.
    pub fn poisson(&mut self, mean: f64) -> u64 {
        if mean.is_nan() || mean < 1e-15 {
            return 0;
        }
        if mean > 1000.0 {
            return (mean + libm::sqrt(mean) * normal(self.bits())).round().max(0.0) as u64;
        }
        // the product of uniform numbers, in pieces that do not underflow
        let (mut count, mut left, mut product) = (0, mean, 1.0);
        loop {
            product *= self.unit();
            while product < 1.0 && left > 0.0 {
                let piece = left.min(500.0);
                product *= libm::exp(piece);
                left -= piece;
            }
            if product <= 1.0 {
                return count;
            }
            count += 1;
        }
    }
    /// The number of failures before the first success; `f64::INFINITY` if there is none.
    pub fn failures(&mut self, success: f64) -> f64 {
        if success <= 0.0 {
            return f64::INFINITY;
        }
        if success >= 1.0 {
            return 0.0;
        }
        libm::floor(libm::log(self.unit()) / libm::log1p(-success))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_depends_on_seed_name_purpose_and_address() {
        let at = |seed, name, purpose, address| Table::new(seed, name, purpose).normal(address);
        let first = at(1, "slot", "lock", [0, 0, 0]);
        assert_eq!(first, at(1, "slot", "lock", [0, 0, 0]));
        for other in [
            at(2, "slot", "lock", [0, 0, 0]),
            at(1, "slat", "lock", [0, 0, 0]),
            at(1, "slot", "look", [0, 0, 0]),
            at(1, "slot", "lock", [1, 0, 0]),
            at(1, "slot", "lock", [0, 1, 0]),
            at(1, "slot", "lock", [0, 0, 1]),
        ] {
            assert_ne!(first, other);
        }
    }

    #[test]
    fn moments_are_those_of_the_distributions() {
        let table = Table::new(7, "test", "normal");
        let n = 100_000;
        let normals: Vec<f64> = (0..n).map(|i| table.normal([i, i / 7, 3])).collect();
        let mean = normals.iter().sum::<f64>() / n as f64;
        let variance = normals.iter().map(|z| z * z).sum::<f64>() / n as f64;
        assert!(mean.abs() < 0.01 && (variance - 1.0).abs() < 0.02, "{mean} {variance}");
        let beyond = normals.iter().filter(|z| **z > 2.0).count() as f64 / n as f64;
        assert!((beyond - 0.022_75).abs() < 0.001_5, "{beyond}");

        let mut draws = Sequence::new(7, "test", "poisson");
        for expected in [0.01, 3.0, 400.0, 5_000.0] {
            let counts: Vec<f64> = (0..4000).map(|_| draws.poisson(expected) as f64).collect();
            let mean = counts.iter().sum::<f64>() / 4000.0;
            let variance = counts.iter().map(|count| (count - mean) * (count - mean)).sum::<f64>() / 4000.0;
            let error = libm::sqrt(expected / 4000.0);
            assert!((mean - expected).abs() < 4.0 * error, "{expected}: {mean}");
            assert!((variance / expected - 1.0).abs() < 0.4, "{expected}: {variance}");
        }
        let failures: f64 = (0..20_000).map(|_| draws.failures(0.1)).sum::<f64>() / 20_000.0;
        assert!((failures - 9.0).abs() < 0.3, "{failures}");
        assert_eq!(draws.poisson(0.0), 0);
        assert_eq!((draws.failures(1.0), draws.failures(0.0)), (0.0, f64::INFINITY));
    }
}
