//! The rate of a link: an exact fraction, never a float.

use crate::time::{TICKS_PER_PS, Ticks};
use core::cmp::Ordering;
use core::fmt;

/// A PCIe generation, by the rate and coding of a lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Generation {
    /// 2.5 GT/s, 8b/10b.
    Gen1 = 1,
    /// 5 GT/s, 8b/10b.
    Gen2,
    /// 8 GT/s, 128b/130b.
    Gen3,
    /// 16 GT/s, 128b/130b.
    Gen4,
    /// 32 GT/s, 128b/130b.
    Gen5,
    /// 64 GT/s, 1b/1b: flits only, of which only those of CXL are modelled.
    Gen6,
}

impl Generation {
    /// Every generation with packets outside of flits, oldest first; PCIe links can have these here.
    pub const ALL: [Self; 5] = [Self::Gen1, Self::Gen2, Self::Gen3, Self::Gen4, Self::Gen5];

    /// The generation of [`Self::ALL`] with this number.
    #[must_use]
    pub const fn from_number(n: u64) -> Option<Self> {
        match n {
            1 => Some(Self::Gen1),
            2 => Some(Self::Gen2),
            3 => Some(Self::Gen3),
            4 => Some(Self::Gen4),
            5 => Some(Self::Gen5),
            _ => None,
        }
    }
    /// The generation with this number, including those with flits only.
    #[must_use]
    pub const fn of_lanes(n: u64) -> Option<Self> {
        if n == Self::Gen6 as u64 { Some(Self::Gen6) } else { Self::from_number(n) }
    }
    /// Its number, 1 to 6.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }
    /// The bit rate of a lane \[MT/s\].
    #[must_use]
    pub const fn megatransfers(self) -> u64 {
        match self {
            Self::Gen1 => 2_500,
            Self::Gen2 => 5_000,
            Self::Gen3 => 8_000,
            Self::Gen4 => 16_000,
            Self::Gen5 => 32_000,
            Self::Gen6 => 64_000,
        }
    }
    /// Bits on the wire for each byte of data, as a fraction (numerator, denominator): 10/1, 130·8/128 or 8/1.
    #[must_use]
    pub const fn bits_per_byte(self) -> (u64, u64) {
        match self {
            Self::Gen1 | Self::Gen2 => (10, 1),
            Self::Gen3 | Self::Gen4 | Self::Gen5 => (8 * 130, 128),
            Self::Gen6 => (8, 1),
        }
    }
    /// True for 8b/10b coding (Gen1, Gen2).
    #[must_use]
    pub const fn is_8b10b(self) -> bool {
        matches!(self, Self::Gen1 | Self::Gen2)
    }
    /// Time of one byte on one lane: a symbol at 8b/10b; at 128b/130b an eighth of 64 bits with its share of the sync
    /// header.
    #[must_use]
    pub const fn symbol(self) -> Ticks {
        LinkRate::pcie(self, Width::X1).ticks_for(1)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Gen{}", self.number())
    }
}

/// The number of lanes of a link.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Width {
    /// One lane.
    X1 = 1,
    /// Two lanes.
    X2 = 2,
    /// Four lanes.
    X4 = 4,
    /// Eight lanes.
    X8 = 8,
    /// Twelve lanes.
    X12 = 12,
    /// Sixteen lanes.
    X16 = 16,
    /// Thirty-two lanes.
    X32 = 32,
}

impl Width {
    /// Every width, narrowest first.
    pub const ALL: [Self; 7] = [Self::X1, Self::X2, Self::X4, Self::X8, Self::X12, Self::X16, Self::X32];

    /// The width with this number of lanes; `None` if links cannot have it.
    #[must_use]
    pub const fn from_lanes(lanes: u64) -> Option<Self> {
        match lanes {
            1 => Some(Self::X1),
            2 => Some(Self::X2),
            4 => Some(Self::X4),
            8 => Some(Self::X8),
            12 => Some(Self::X12),
            16 => Some(Self::X16),
            32 => Some(Self::X32),
            _ => None,
        }
    }
    /// The number of lanes.
    #[must_use]
    pub const fn lanes(self) -> u64 {
        self as u64
    }
}

impl fmt::Display for Width {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "x{}", self.lanes())
    }
}

/// Ticks per byte, as an exact fraction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LinkRate {
    ticks: u64,
    per_bytes: u64,
}

impl PartialOrd for LinkRate {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for LinkRate {
    /// Orders by speed; faster is greater.
    fn cmp(&self, other: &Self) -> Ordering {
        let cross = |a: Self, b: Self| u128::from(a.per_bytes) * u128::from(b.ticks);
        cross(*self, *other).cmp(&cross(*other, *self))
    }
}

impl LinkRate {
    /// The rate of one direction of a PCIe link after line coding (8b/10b, 128b/130b or 1b/1b), before any packet
    /// overhead.
    #[must_use]
    pub const fn pcie(generation: Generation, width: Width) -> Self {
        let (bits, per_byte) = generation.bits_per_byte();
        Self {
            ticks: bits * 1_000_000 * TICKS_PER_PS,
            per_bytes: per_byte * generation.megatransfers() * width.lanes(),
        }
        .reduced()
    }
    /// The rate of a serial line after 8b/10b coding: a byte for every ten of its `kilobaud` · 1000 symbols a second.
    #[must_use]
    pub const fn line_8b10b(kilobaud: u64) -> Self {
        Self { ticks: 10_000_000_000 * TICKS_PER_PS, per_bytes: kilobaud }.reduced()
    }
    /// A rate of `bytes_per_second`.
    #[must_use]
    pub const fn bytes_per_second(bytes_per_second: u64) -> Self {
        Self { ticks: 1_000_000_000_000 * TICKS_PER_PS, per_bytes: bytes_per_second }.reduced()
    }
    /// This rate times `factor`.
    ///
    /// # Panics
    /// If `factor` is 0, or the rate cannot be represented any more.
    #[must_use]
    pub const fn times(self, factor: u64) -> Self {
        assert!(factor > 0, "a rate has a positive multiple");
        Self { ticks: self.ticks, per_bytes: self.per_bytes * factor }.reduced()
    }
    /// Time to send `bytes`, to the nearest tick.
    #[must_use]
    pub const fn ticks_for(self, bytes: u64) -> Ticks {
        let twice = 2 * bytes as u128 * self.ticks as u128 / self.per_bytes as u128;
        Ticks(twice.div_ceil(2) as u64)
    }
    /// Number of whole bytes that fit into `time`.
    #[must_use]
    pub const fn bytes_in(self, time: Ticks) -> u64 {
        (time.0 as u128 * self.per_bytes as u128 / self.ticks as u128) as u64
    }
    const fn reduced(self) -> Self {
        let (mut a, mut b) = (self.ticks, self.per_bytes);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        Self { ticks: self.ticks / a, per_bytes: self.per_bytes / a }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The law of decision 1: rounding one packet costs less than 0.02 % of the rate, at any width and generation.
    #[test]
    fn rounding_costs_less_than_a_five_thousandth_of_any_packet() {
        for generation in Generation::ALL {
            for width in Width::ALL {
                let rate = LinkRate::pcie(generation, width);
                for bytes in 1..=4128_u64 {
                    let exact = u128::from(bytes) * u128::from(rate.ticks);
                    let got = u128::from(rate.ticks_for(bytes).0) * u128::from(rate.per_bytes);
                    assert!(exact.abs_diff(got) * 5_000 < exact, "{generation} {width} {bytes} B");
                }
            }
        }
    }

    /// Power-of-two widths are not rounded at all.
    #[test]
    fn power_of_two_widths_are_exact() {
        for generation in Generation::ALL {
            for width in Width::ALL.into_iter().filter(|w| w.lanes().is_power_of_two()) {
                assert_eq!(LinkRate::pcie(generation, width).per_bytes, 1, "{generation} {width}");
            }
        }
    }

    #[test]
    fn the_rates_of_the_standard() {
        let mb_per_s =
            |generation, width| LinkRate::pcie(generation, width).bytes_in(Ticks(TICKS_PER_PS * 1_000_000));
        assert_eq!(mb_per_s(Generation::Gen1, Width::X1), 250);
        assert_eq!(mb_per_s(Generation::Gen2, Width::X4), 2_000);
        assert_eq!(mb_per_s(Generation::Gen3, Width::X8), 7_876); // 7.877 GB/s
        assert_eq!(mb_per_s(Generation::Gen5, Width::X4), 15_753); // 15.754 GB/s
        assert_eq!(Generation::Gen1.symbol(), Ticks(4_000 * TICKS_PER_PS));
    }

    #[test]
    fn a_line_carries_a_byte_for_every_ten_of_its_bits() {
        assert_eq!(LinkRate::line_8b10b(2_500_000), LinkRate::pcie(Generation::Gen1, Width::X1));
        assert_eq!(LinkRate::line_8b10b(4_250_000), LinkRate::bytes_per_second(425_000_000));
        assert_eq!(LinkRate::line_8b10b(4_250_000).ticks_for(425).as_ps_ceil().as_ps(), 1_000_000);
    }

    proptest! {
        #[test]
        fn time_grows_with_size(a in 0u64..1 << 30, b in 0u64..1 << 30) {
            let rate = LinkRate::bytes_per_second(12_345_678_901);
            prop_assert!(rate.ticks_for(a.min(b)) <= rate.ticks_for(a.max(b)));
        }
    }
}
