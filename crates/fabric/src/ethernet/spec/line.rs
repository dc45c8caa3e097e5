//! A line between two ports: the delay of a bit.

use super::fec::Fec;
use super::rate::Rate;
use lanetwin_units::Span;

/// Propagation delay of light in a metre of fibre \[ps\]: 1.98 × 10⁸ m/s (sonic-net/sonic-swss,
/// `cfgmgr/buffer_headroom_mellanox.lua`, speed of light in the medium). In copper it is some 4.3 ns to 5 ns.
pub const PROPAGATION_PS_PER_METRE: u64 = 5_051;

/// A line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Line {
    /// Rate of its ports.
    pub rate: Rate,
    /// Its error correction.
    pub fec: Fec,
    /// Propagation delay of the cable.
    pub propagation: Span,
    /// Delay of MAC and PHY of both ends together, without the storing of codewords.
    pub phy: Span,
}

impl Line {
    /// A line of so many metres with the usual error correction.
    #[must_use]
    pub const fn of(rate: Rate, metres: u64, phy: Span) -> Self {
        let propagation = Span::from_ps(metres * PROPAGATION_PS_PER_METRE);
        Self { rate, fec: Fec::usual(rate), propagation, phy }
    }
    /// From the first bit of a frame leaving a port to its being at the other, corrected; at least a picosecond.
    #[must_use]
    pub const fn delay(&self) -> Span {
        let ps = self.propagation.as_ps() + self.phy.as_ps() + self.fec.store(self.rate).as_ps();
        Span::from_ps(if ps == 0 { 1 } else { ps })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 3 m at 100 Gb/s: 15.153 ns of cable, 51.2 ns of codeword.
    #[test]
    fn a_line_by_hand() {
        let line = Line::of(Rate::G100, 3, Span::from_ns(40));
        assert_eq!(line.delay().as_ps(), 15_153 + 51_200 + 40_000);
        assert_eq!(Line::of(Rate::G10, 0, Span::ZERO).delay().as_ps(), 1);
    }
}
