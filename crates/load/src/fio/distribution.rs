//! Distributions of random accesses: those of fio 3.33, and how each draws a block.
//!
//! A distribution draws one of *n* blocks. Zipf and Pareto draw a rank, of which the first is the most frequent. fio
//! scatters the ranks over the blocks by multiplying them with 2⁶⁴/φ, and so does this module (`lib/zipf.c`, `hash.h`):
//! hot blocks lie apart. `normal` sums twelve uniform draws and is scattered in the same way.
//!
//! The streams are not fio's: each draw uses 53 random bits where fio uses 32, and the rotation (`center`, or a random
//! one) is a draw of its own. `tests/fio_judge.rs` compares the distributions with those of fio.

use lanetwin_kernel::Stream;

/// fio's constant for scattering ranks: 2⁶⁴ divided by the golden ratio (`hash.h`).
const GOLDEN: u64 = 0x61C8_8646_80B5_83EB;
/// Maximum number of terms in sums of Zipf's law (`lib/zipf.c`).
const MOST_TERMS: u64 = 10_000_000;
/// Number of uniform draws whose mean is a draw of `normal` (`lib/gauss.c`).
const DRAWS: u64 = 12;
/// The θ of `zipf` where none is given (`options.c`).
pub(super) const ZIPF_THETA: f64 = 1.1;
/// The h of `pareto` where none is given.
pub(super) const PARETO_H: f64 = 0.2;
const WHOLE: u64 = 100;

/// `random_distribution`.
#[derive(Clone, PartialEq, Debug, Default)]
pub enum Distribution {
    /// All blocks are equally likely.
    #[default]
    Random,
    /// Frequency falls with the rank to the power of −θ.
    Zipf {
        /// θ, not 1.
        theta: f64,
        /// Position of the most frequent block, from 0 to 1, before scattering; random if `None`.
        center: Option<f64>,
    },
    /// Pareto's: h of 0.2 gives a fifth of the blocks four fifths of the accesses.
    Pareto {
        /// h, between 0 and 1.
        h: f64,
        /// As for `Zipf`.
        center: Option<f64>,
    },
    /// A normal distribution.
    Normal {
        /// Width of a uniform spread that is added \[% of the blocks\].
        deviation: f64,
        /// As for `Zipf`, but no rotation if `None`.
        center: Option<f64>,
    },
    /// Zones, each with its share of the accesses and of the blocks.
    Zoned(Vec<Zone>),
    /// Zones with sizes.
    ZonedAbs(Vec<Zone>),
}

/// A zone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Zone {
    /// Its share of the accesses \[%\].
    pub access: u32,
    /// Its share of the file \[%\], or its size \[B\].
    pub size: u64,
}

impl Distribution {
    /// Its name in a job file.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Random => "random",
            Self::Zipf { .. } => "zipf",
            Self::Pareto { .. } => "pareto",
            Self::Normal { .. } => "normal",
            Self::Zoned(_) => "zoned",
            Self::ZonedAbs(_) => "zoned_abs",
        }
    }
}

/// Draws blocks.
#[derive(Clone, Debug)]
pub(super) struct Draws {
    blocks: u64,
    kind: Kind,
    stream: Stream,
    /// Offset that is added to each block, modulo the number of blocks.
    rotation: u64,
}

#[derive(Clone, Debug)]
enum Kind {
    Even,
    Zipf(Zipf),
    Pareto {
        power: f64,
    },
    Normal {
        spread: u64,
    },
    /// First and last block of each zone, and the cumulative percentage of accesses up to it.
    Zones(Vec<(u64, u64, u64)>, Stream),
}

impl Draws {
    /// Draws of one of `blocks` blocks of this size; the streams derive from `seed` and `path`.
    pub(super) fn new(
        distribution: &Distribution,
        blocks: u64,
        block_bytes: u64,
        seed: u64,
        path: &str,
    ) -> Self {
        let stream = |purpose: &str| Stream::new(seed, path, purpose);
        let blocks = blocks.max(1);
        let rotated = |center: Option<f64>| match center {
            Some(center) => libm::floor(blocks as f64 * center) as u64,
            None => stream("rotation").below(blocks),
        };
        let zones = |of: &dyn Fn(u64) -> u64, list: &[Zone]| {
            let (mut begin, mut share) = (0, 0);
            let zones = list.iter().map(|zone| {
                let end = of(begin_of(&mut begin, zone.size)).min(blocks);
                share += u64::from(zone.access);
                (of(begin - zone.size).min(blocks), end, share)
            });
            Kind::Zones(zones.collect(), stream("zones"))
        };
        let (kind, rotation) = match distribution {
            Distribution::Random => (Kind::Even, 0),
            Distribution::Zipf { theta, center } => (Kind::Zipf(Zipf::new(*theta, blocks)), rotated(*center)),
            Distribution::Pareto { h, center } => {
                (Kind::Pareto { power: libm::log(*h) / libm::log(1.0 - h) }, rotated(*center))
            }
            Distribution::Normal { deviation, center } => {
                let spread = libm::ceil(blocks as f64 * deviation / WHOLE as f64) as u64;
                // without a centre there is no rotation; with one, the middle is moved there
                let turn = center.map_or(0.0, |center| blocks as f64 * (center - 0.5));
                let rotation = (turn as i64).rem_euclid(blocks as i64) as u64;
                (Kind::Normal { spread: spread.min(blocks / 2) }, rotation)
            }
            Distribution::Zoned(list) => {
                (zones(&|percent| (u128::from(percent) * u128::from(blocks) / 100) as u64, list), 0)
            }
            Distribution::ZonedAbs(list) => (zones(&|bytes| bytes / block_bytes.max(1), list), 0),
        };
        Self { blocks, kind, stream: stream("addresses"), rotation }
    }

    /// The next block.
    pub(super) fn next(&mut self) -> u64 {
        let rank = match &mut self.kind {
            Kind::Even => return self.stream.below(self.blocks),
            Kind::Zones(zones, of) => {
                let drawn = of.below(WHOLE);
                let zone = zones.iter().find(|(_, _, share)| drawn < *share).or(zones.last());
                let (begin, end, _) = zone.copied().unwrap_or((0, self.blocks, WHOLE));
                return begin.min(self.blocks - 1) + self.stream.below(end.saturating_sub(begin).max(1));
            }
            Kind::Zipf(zipf) => zipf.rank(&mut self.stream),
            Kind::Pareto { power } => {
                ((self.blocks - 1) as f64 * libm::pow(self.stream.unit(), *power)) as u64
            }
            Kind::Normal { spread } => normal(self.blocks, *spread, &mut self.stream),
        };
        rank.wrapping_mul(GOLDEN).wrapping_add(self.rotation) % self.blocks
    }
}

/// Advances `begin` by the size of a zone.
fn begin_of(begin: &mut u64, size: u64) -> u64 {
    *begin = begin.saturating_add(size);
    *begin
}

/// The sum of n^−θ from 1 to `terms`: the first term by term, the others by the Euler–Maclaurin formula, whose error is
/// below 10⁻¹² here.
fn zeta(terms: u64, theta: f64) -> f64 {
    const FIRST: u64 = 1000;
    let power = |n: u64, exponent: f64| libm::pow(n as f64, -exponent);
    let sum = |last: u64| (1..=last).map(|n| power(n, theta)).sum::<f64>();
    if terms <= FIRST {
        return sum(terms);
    }
    let integral = (power(FIRST, theta - 1.0) - power(terms, theta - 1.0)) / (theta - 1.0);
    let ends = f64::midpoint(power(terms, theta), -power(FIRST, theta));
    let slopes = theta / 12.0 * (power(FIRST, theta + 1.0) - power(terms, theta + 1.0));
    sum(FIRST) + integral + ends + slopes
}

/// Draws ranks from 0, of which the first is the most frequent (Gray et al., "Quickly generating billion-record
/// synthetic databases", SIGMOD 1994, as in `lib/zipf.c`).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Zipf {
    ranks: u64,
    theta: f64,
    zeta_n: f64,
    eta: f64,
}

impl Zipf {
    /// With `ranks` ranks; θ must not be 1.
    pub(crate) fn new(theta: f64, ranks: u64) -> Self {
        let (zeta_n, zeta_2) = (zeta(ranks.min(MOST_TERMS), theta), 1.0 + libm::pow(0.5, theta));
        let eta = (1.0 - libm::pow(2.0 / ranks as f64, 1.0 - theta)) / (1.0 - zeta_2 / zeta_n);
        Self { ranks, theta, zeta_n, eta }
    }
    /// The next rank.
    pub(crate) fn rank(&self, stream: &mut Stream) -> u64 {
        let Self { ranks, theta, zeta_n, eta } = *self;
        let uniform = stream.unit();
        let z = uniform * zeta_n;
        if z < 1.0 {
            0
        } else if z < 1.0 + libm::pow(0.5, theta) {
            1
        } else {
            let power = libm::pow(eta * uniform - eta + 1.0, 1.0 / (1.0 - theta));
            (ranks as f64 * power) as u64
        }
    }
}

/// The mean of twelve uniform draws, moved by up to half of `spread`, but not past the end.
fn normal(blocks: u64, spread: u64, stream: &mut Stream) -> u64 {
    let sum: u64 = (0..DRAWS).map(|_| stream.below(blocks + 1)).sum();
    let mean = sum.div_ceil(DRAWS) as i64;
    if spread == 0 {
        return mean as u64;
    }
    let mut moved = stream.below(spread) as i64 - (spread / 2) as i64;
    // a value below the first block is past the end as well
    while mean + moved < 0 || mean + moved >= blocks as i64 {
        if moved == 0 {
            break;
        }
        moved /= 2;
    }
    (mean + moved) as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn counts(distribution: &Distribution, blocks: u64, draws: u32) -> Vec<u32> {
        let mut counts = vec![0; blocks as usize];
        let mut stream = Draws::new(distribution, blocks, 4096, 1, "load");
        (0..draws).for_each(|_| counts[stream.next() as usize] += 1);
        counts
    }

    /// Ranks are compared, not blocks, since several ranks can fall on the same block.
    #[test]
    fn a_fifth_of_the_ranks_has_four_fifths_of_the_accesses() {
        const BLOCKS: u64 = 100_000;
        let counts = counts(&Distribution::Pareto { h: 0.2, center: Some(0.0) }, BLOCKS, 100_000);
        let first: BTreeSet<u64> = (0..BLOCKS / 5).map(|rank| rank.wrapping_mul(GOLDEN) % BLOCKS).collect();
        let share: u32 = first.iter().map(|block| counts[*block as usize]).sum();
        assert!((80_000..85_000).contains(&share), "{share}");
    }

    #[test]
    fn the_frequencies_of_zipf_fall_with_the_rank() {
        let mut counts = counts(&Distribution::Zipf { theta: 1.1, center: None }, 1000, 200_000);
        counts.sort_unstable_by(|a, b| b.cmp(a));
        let ratio = f64::from(counts[0]) / f64::from(counts[1]);
        assert!((ratio - libm::pow(2.0, 1.1)).abs() < 0.1, "{ratio}");
    }

    #[test]
    fn long_sums_are_as_exact_as_short_ones() {
        for theta in [0.0, 0.5, 0.99, 1.2, 3.0] {
            let terms = 200_000;
            let direct: f64 = (1..=terms).rev().map(|n| libm::pow(n as f64, -theta)).sum();
            assert!((zeta(terms, theta) - direct).abs() < 1e-9 * direct, "{theta}");
        }
    }

    #[test]
    fn zones_have_their_shares() {
        let zones =
            vec![Zone { access: 60, size: 10 }, Zone { access: 30, size: 20 }, Zone { access: 10, size: 70 }];
        let counts = counts(&Distribution::Zoned(zones), 1000, 100_000);
        let share = |range: std::ops::Range<usize>| counts[range].iter().sum::<u32>();
        assert!(share(0..100).abs_diff(60_000) < 600 && share(100..300).abs_diff(30_000) < 600);
        let zones = vec![Zone { access: 50, size: 4096 * 10 }, Zone { access: 50, size: 4096 * 90 }];
        let counts = self::counts(&Distribution::ZonedAbs(zones), 1000, 10_000);
        assert_eq!(counts[100..].iter().sum::<u32>(), 0);
        assert!(counts[..10].iter().sum::<u32>().abs_diff(5000) < 200);
    }

    #[test]
    fn one_block_is_all_there_is() {
        for distribution in [
            Distribution::Random,
            Distribution::Zipf { theta: 0.9, center: Some(1.0) },
            Distribution::Pareto { h: 0.9, center: Some(0.0) },
            Distribution::Normal { deviation: 20.0, center: Some(0.0) },
        ] {
            assert_eq!(counts(&distribution, 1, 10), [10], "{distribution:?}");
        }
    }
}
