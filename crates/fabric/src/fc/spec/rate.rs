//! Line rates with 8b/10b coding.

use core::fmt;
use lanetwin_units::LinkRate;

/// The rate of a Fibre Channel port.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rate {
    /// 1.0625 GBd.
    Gfc1 = 1,
    /// 2.125 GBd.
    Gfc2 = 2,
    /// 4.25 GBd.
    Gfc4 = 4,
    /// 8.5 GBd.
    Gfc8 = 8,
}

/// The line rate of 1GFC \[kBd\]; the others are multiples of it (FC-PI: 1GFC 1.0625 GBd, 4GFC 4.25 GBd, 8GFC 8.5 GBd).
const GFC1_KILOBAUD: u64 = 1_062_500;

impl Rate {
    /// Every rate, slowest first.
    pub const ALL: [Self; 4] = [Self::Gfc1, Self::Gfc2, Self::Gfc4, Self::Gfc8];

    /// The rate of this name: 1, 2, 4 or 8 (GFC).
    #[must_use]
    pub const fn from_gfc(gfc: u64) -> Option<Self> {
        match gfc {
            1 => Some(Self::Gfc1),
            2 => Some(Self::Gfc2),
            4 => Some(Self::Gfc4),
            8 => Some(Self::Gfc8),
            _ => None,
        }
    }
    /// Signalling rate \[kBd\].
    #[must_use]
    pub const fn kilobaud(self) -> u64 {
        GFC1_KILOBAUD * self as u64
    }
    /// Bytes a second after line coding, before any framing \[B/s\].
    #[must_use]
    pub const fn bytes_per_second(self) -> u64 {
        self.kilobaud() * 100
    }
    /// The time of bytes on the line.
    #[must_use]
    pub const fn line(self) -> LinkRate {
        LinkRate::line_8b10b(self.kilobaud())
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}GFC", *self as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_has_a_name_and_a_line() {
        for rate in Rate::ALL {
            assert_eq!(Rate::from_gfc(rate as u64), Some(rate));
            assert_eq!(rate.line(), LinkRate::bytes_per_second(rate.bytes_per_second()), "{rate}");
        }
        assert_eq!([0, 3, 16].map(Rate::from_gfc), [None; 3]);
        assert_eq!((Rate::Gfc4.kilobaud(), Rate::Gfc4.to_string()), (4_250_000, "4GFC".to_owned()));
    }
}
