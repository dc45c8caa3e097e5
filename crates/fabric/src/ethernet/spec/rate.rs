//! Rates: what a port carries, and the line under it.

use super::fec::Fec;
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

/// How many bits a symbol on a lane is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Modulation {
    /// Two levels: one bit.
    Nrz,
    /// Four levels: two bits.
    Pam4,
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
    /// Bytes a second, frames and what stands between them together \[B/s\].
    #[must_use]
    pub const fn bytes_per_second(self) -> u64 {
        self.gbps() * 125_000_000
    }
    /// The time of one byte \[ps\]: a whole number at every rate.
    #[must_use]
    pub const fn byte_ps(self) -> u64 {
        PS_PER_BYTE_AT_1G / self.gbps()
    }
    /// The time of so many bytes, exactly.
    #[must_use]
    pub const fn time_for(self, bytes: u32) -> Span {
        Span::from_ps(bytes as u64 * self.byte_ps())
    }
    /// The rate as the exact fraction that other links have.
    #[must_use]
    pub const fn line(self) -> LinkRate {
        LinkRate::bytes_per_second(self.bytes_per_second())
    }
    /// What the lanes of the line signal together, in Mb/s: the rate after line coding and error correction (IEEE
    /// 802.3: 10.3125 Gb/s under 10 Gb/s, 4 × 25.78125 Gb/s under 100 Gb/s, 8 × 53.125 Gb/s under 400 Gb/s).
    ///
    /// Coding takes 10/8 at 1 Gb/s, 66/64 with 64b/66b, and with RS(528,514) over 256b/257b the same 66/64: 257/256 ×
    /// 528/514. RS(544,514) takes 257/256 × 544/514, which is 17/16.
    #[must_use]
    pub const fn signalled_mbps_x64(self, fec: Fec) -> u64 {
        let mbps = self.gbps() * 1_000;
        match (self, fec) {
            (Self::G1, _) => mbps * 80,
            (_, Fec::None | Fec::Rs528) => mbps * 66,
            (_, Fec::Rs544) => mbps * 68,
        }
    }
    /// How lanes are modulated with this error correction: RS(544,514) came with PAM4.
    #[must_use]
    pub const fn modulation(fec: Fec) -> Modulation {
        match fec {
            Fec::None | Fec::Rs528 => Modulation::Nrz,
            Fec::Rs544 => Modulation::Pam4,
        }
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

    /// IEEE 802.3: the signalling rates of 1000BASE-X, 10GBASE-R, 25GBASE-R, 100GBASE-SR4, 50GBASE-R, 400GBASE-R.
    #[test]
    fn lines_signal_what_the_standard_says() {
        let line = |rate: Rate, fec| rate.signalled_mbps_x64(fec) as f64 / 64.0;
        assert_eq!(line(Rate::G1, Fec::None), 1_250.0);
        assert_eq!(line(Rate::G10, Fec::None), 10_312.5);
        assert_eq!(line(Rate::G25, Fec::Rs528), 25_781.25);
        assert_eq!(line(Rate::G100, Fec::Rs528), 4.0 * 25_781.25);
        assert_eq!(line(Rate::G50, Fec::Rs544), 53_125.0);
        assert_eq!(line(Rate::G400, Fec::Rs544), 8.0 * 53_125.0);
        assert_eq!((257 * 528 * 64, 257 * 544 * 16), (66 * 256 * 514, 17 * 256 * 514));
    }
}
