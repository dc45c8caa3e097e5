//! Rates: what a port carries, and the line under it.

use core::fmt;
use lanetwin_units::{LinkRate, Span};

/// The rate of a port: bits of frames a second, which is what the standards name their ports by.
///
/// A byte lasts a whole number of picoseconds at every rate, so that no time of a frame is rounded.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rate {
    /// 1 Gb/s: one lane, 8b/10b (1000BASE-X).
    G1 = 1,
    /// 10 Gb/s: one lane, 64b/66b.
    G10 = 10,
    /// 25 Gb/s: one lane, 64b/66b.
    G25 = 25,
    /// 40 Gb/s: four lanes of 10 Gb/s.
    G40 = 40,
    /// 50 Gb/s: one lane, PAM4.
    G50 = 50,
    /// 100 Gb/s: four lanes of 25 Gb/s, or PAM4.
    G100 = 100,
    /// 200 Gb/s: four lanes of 50 Gb/s, PAM4.
    G200 = 200,
    /// 400 Gb/s: eight lanes of 50 Gb/s or four of 100 Gb/s, PAM4.
    G400 = 400,
}

const PS_PER_BYTE_AT_1G: u64 = 8_000;

impl Rate {
    /// Every rate, slowest first.
    pub const ALL: [Self; 8] =
        [Self::G1, Self::G10, Self::G25, Self::G40, Self::G50, Self::G100, Self::G200, Self::G400];

    /// The rate of this many Gb/s, if a port can have it.
    #[must_use]
    pub fn from_gbps(gbps: u64) -> Option<Self> {
        Self::ALL.into_iter().find(|rate| rate.gbps() == gbps)
    }
    /// Gb/s.
    #[must_use]
    pub const fn gbps(self) -> u64 {
        self as u64
    }
    /// Bytes per second, counting frames and the gaps and preambles between them \[B/s\].
    #[must_use]
    pub const fn bytes_per_second(self) -> u64 {
        self.gbps() * 125_000_000
    }
    /// The time of one byte \[ps\]: a whole number at every rate.
    #[must_use]
    pub const fn byte_ps(self) -> u64 {
        PS_PER_BYTE_AT_1G / self.gbps()
    }
    /// The time that `bytes` bytes take, exactly.
    #[must_use]
    pub const fn time_for(self, bytes: u32) -> Span {
        Span::from_ps(bytes as u64 * self.byte_ps())
    }
    /// The rate as the exact fraction that other links have.
    #[must_use]
    pub const fn line(self) -> LinkRate {
        LinkRate::bytes_per_second(self.bytes_per_second())
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}G", self.gbps())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_is_a_whole_number_of_picoseconds_at_every_rate() {
        for rate in Rate::ALL {
            assert_eq!(rate.byte_ps() * rate.gbps(), PS_PER_BYTE_AT_1G, "{rate}");
            assert_eq!(
                rate.line().ticks_for(9000).as_ps_ceil().as_ps(),
                rate.time_for(9000).as_ps(),
                "{rate}"
            );
            assert_eq!(Rate::from_gbps(rate.gbps()), Some(rate));
        }
        assert_eq!([0, 2, 800].map(Rate::from_gbps), [None; 3]);
    }
}
