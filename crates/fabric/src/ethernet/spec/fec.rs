//! Forward error correction (FEC): a receiver has to have a whole codeword before it can correct it.

use super::rate::Rate;
use lanetwin_units::Span;

/// Number of bits per symbol of a lane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Modulation {
    /// Two levels: one bit.
    Nrz,
    /// Four levels: two bits.
    Pam4,
}

/// The error correction of a line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fec {
    /// None: 1, 10 and 40 Gb/s; at 25 and 100 Gb/s on short copper and on single-mode fibre that allows it.
    None,
    /// Reed-Solomon RS(528,514), "KR4": corrects 7 symbols of 10 bits (IEEE 802.3 clauses 91 and 108).
    Rs528,
    /// Reed-Solomon RS(544,514), "KP4": corrects 15 symbols of 10 bits (IEEE 802.3 clauses 91, 119 and 134).
    Rs544,
}

/// Bits of frames in a codeword: 514 symbols of 10 bits are 20 blocks of 257 bits, each 256 bits of data \[b\].
const CODEWORD_DATA_BITS: u64 = 20 * 256;

impl Fec {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::None, Self::Rs528, Self::Rs544];

    /// Whether it is used on lines of this rate.
    #[must_use]
    pub const fn is_on(self, rate: Rate) -> bool {
        match rate {
            Rate::G1 | Rate::G10 | Rate::G40 => matches!(self, Self::None),
            Rate::G25 => matches!(self, Self::None | Self::Rs528),
            Rate::G100 => true,
            Rate::G50 | Rate::G200 | Rate::G400 => matches!(self, Self::Rs544),
        }
    }
    /// The usual error correction of lines of this rate.
    #[must_use]
    pub const fn usual(rate: Rate) -> Self {
        match rate {
            Rate::G1 | Rate::G10 | Rate::G40 => Self::None,
            Rate::G25 | Rate::G100 => Self::Rs528,
            Rate::G50 | Rate::G200 | Rate::G400 => Self::Rs544,
        }
    }
    /// Number of interleaved codewords: at 200 and 400 Gb/s the lanes carry symbols of two codewords in turn (IEEE
    /// 802.3 clause 119), and both have to be received.
    #[must_use]
    pub const fn interleaved(rate: Rate) -> u64 {
        if matches!(rate, Rate::G200 | Rate::G400) { 2 } else { 1 }
    }
    /// Time that a receiver takes to collect a codeword before correction: 204.8 ns at 25 Gb/s, 51.2 ns at 100 and
    /// 200 Gb/s, 25.6 ns at 400 Gb/s. The time of the correction itself depends on the implementation and is not
    /// included.
    #[must_use]
    pub const fn store(self, rate: Rate) -> Span {
        match self {
            Self::None => Span::ZERO,
            Self::Rs528 | Self::Rs544 => {
                Span::from_ps(CODEWORD_DATA_BITS / 8 * Self::interleaved(rate) * rate.byte_ps())
            }
        }
    }
    /// Signalling rate of all lanes together, in 64ths of Mb/s, after line coding and error correction (IEEE 802.3:
    /// 10.3125 Gb/s for 10 Gb/s, 4 × 25.78125 Gb/s for 100 Gb/s, 8 × 53.125 Gb/s for 400 Gb/s).
    ///
    /// Coding takes 10/8 at 1 Gb/s, 66/64 with 64b/66b, and with RS(528,514) over 256b/257b the same 66/64: 257/256 ×
    /// 528/514. RS(544,514) takes 257/256 × 544/514, which is 17/16.
    #[must_use]
    pub const fn signalled_mbps_x64(self, rate: Rate) -> u64 {
        let mbps = rate.gbps() * 1_000;
        match (rate, self) {
            (Rate::G1, _) => mbps * 80,
            (_, Self::None | Self::Rs528) => mbps * 66,
            (_, Self::Rs544) => mbps * 68,
        }
    }
    /// Modulation of lanes with this error correction: RS(544,514) came with PAM4.
    #[must_use]
    pub const fn modulation(self) -> Modulation {
        match self {
            Self::None | Self::Rs528 => Modulation::Nrz,
            Self::Rs544 => Modulation::Pam4,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_codeword_is_stored_for_as_long_as_it_lasts() {
        let ns10 = |fec: Fec, rate| fec.store(rate).as_ps() / 100;
        assert_eq!([ns10(Fec::Rs528, Rate::G25), ns10(Fec::Rs528, Rate::G100)], [2048, 512]);
        assert_eq!([ns10(Fec::Rs544, Rate::G50), ns10(Fec::Rs544, Rate::G100)], [1024, 512]);
        assert_eq!([ns10(Fec::Rs544, Rate::G200), ns10(Fec::Rs544, Rate::G400)], [512, 256]);
        assert_eq!(Fec::None.store(Rate::G10), Span::ZERO);
    }

    #[test]
    fn what_is_usual_is_allowed() {
        for rate in Rate::ALL {
            assert!(Fec::usual(rate).is_on(rate), "{rate}");
        }
        assert!(
            !Fec::Rs528.is_on(Rate::G400) && !Fec::Rs544.is_on(Rate::G25) && Fec::Rs544.is_on(Rate::G100)
        );
    }

    /// IEEE 802.3: the signalling rates of 1000BASE-X, 10GBASE-R, 25GBASE-R, 100GBASE-SR4, 50GBASE-R, 400GBASE-R.
    #[test]
    fn lines_signal_what_the_standard_says() {
        let line = |rate, fec: Fec| fec.signalled_mbps_x64(rate) as f64 / 64.0;
        assert_eq!(line(Rate::G1, Fec::None), 1_250.0);
        assert_eq!(line(Rate::G10, Fec::None), 10_312.5);
        assert_eq!(line(Rate::G25, Fec::Rs528), 25_781.25);
        assert_eq!(line(Rate::G100, Fec::Rs528), 4.0 * 25_781.25);
        assert_eq!(line(Rate::G50, Fec::Rs544), 53_125.0);
        assert_eq!(line(Rate::G400, Fec::Rs544), 8.0 * 53_125.0);
        assert_eq!((257 * 528 * 64, 257 * 544 * 16), (66 * 256 * 514, 17 * 256 * 514));
    }
}
