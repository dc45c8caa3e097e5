//! What is on the wire while a link trains: training sets with their fields, idle, nothing; and how long sets take.

use lanetwin_units::{Generation, Span, Width};

/// A set of lanes, a bit each.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Lanes(pub u32);

impl Lanes {
    /// No lane.
    pub const NONE: Self = Self(0);

    /// Lanes 0 to `count` − 1.
    #[must_use]
    pub const fn first(count: u64) -> Self {
        if count >= 32 { Self(u32::MAX) } else { Self((1 << count) - 1) }
    }
    /// Those of both.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
    /// Those of either.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
    /// Those of this set that the other does not have.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
    /// Whether there is none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
    /// Whether all of the other are in this one.
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }
    /// How many.
    #[must_use]
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }
    /// Their numbers, in order.
    pub fn iter(self) -> impl Iterator<Item = usize> {
        (0..32).filter(move |lane| self.0 >> lane & 1 == 1)
    }
    /// The widest link that these lanes can make, at most `limit` lanes: consecutive from lane 0, or up to the last of
    /// `all`, which then is reversed. None if neither end is among them.
    #[must_use]
    pub fn widest(self, all: Self, limit: u64) -> Self {
        let last = 32 - u64::from(all.0.leading_zeros());
        let fits = |width: &Width| width.lanes() <= limit.min(last);
        for width in Width::ALL.into_iter().rev().filter(fits) {
            let low = Self::first(width.lanes());
            let high = Self(low.0 << (last - width.lanes()));
            for part in [low, high] {
                if self.covers(part) {
                    return part;
                }
            }
        }
        Self::NONE
    }
}

impl core::fmt::Debug for Lanes {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "Lanes({:#b})", self.0)
    }
}

/// Which of the two training sets.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SetKind {
    /// TS1: proposals.
    Ts1,
    /// TS2: agreement.
    Ts2,
}

/// What the training control field asks for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Control {
    /// Nothing.
    None,
    /// Hot Reset.
    HotReset,
    /// Disable Link.
    DisableLink,
    /// Loopback.
    Loopback,
}

/// A training set, as far as the states look at it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TrainingSet {
    /// TS1 or TS2.
    pub kind: SetKind,
    /// Lanes with a link number; PAD on the others.
    pub link: Lanes,
    /// Whether those lanes have lane numbers too; PAD otherwise.
    pub numbered: bool,
    /// The highest rate that the sender offers now.
    pub offers: Generation,
    /// The speed_change bit.
    pub speed_change: bool,
    /// The rate that goes with it: the highest of those that the sender names in it.
    pub proposes: Generation,
    /// The training control.
    pub control: Control,
    /// Equalization Control (EC): the phase, 0 when there is none.
    pub phase: u8,
    /// An EQ TS2: the next rate begins with equalisation.
    pub equalize: bool,
}

/// What a transmitter sends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Pattern {
    /// Electrical idle.
    ElectricalIdle,
    /// Training sets, one after the other.
    Sets(TrainingSet),
    /// Logical idle, or packets.
    Logical,
    /// Compliance patterns, or those of a loopback test: nothing that a port trains on.
    Test,
}

/// The bits of a training set on one lane.
#[must_use]
pub const fn set_bits(generation: Generation) -> u64 {
    if generation.is_8b10b() { 160 } else { 130 }
}

/// The time of so many training sets, to the picosecond above.
#[must_use]
pub const fn sets(count: u64, generation: Generation) -> Span {
    bits(count * set_bits(generation), generation)
}

/// The time of so many bits on one lane, to the picosecond above.
#[must_use]
pub const fn bits(count: u64, generation: Generation) -> Span {
    Span::from_ps((count * 1_000_000).div_ceil(generation.megatransfers()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_made_of_lanes_from_either_end() {
        let all = Lanes::first(4);
        assert_eq!(Lanes(0b1111).widest(all, 16), Lanes(0b1111));
        assert_eq!(Lanes(0b0111).widest(all, 16), Lanes(0b0011));
        assert_eq!(Lanes(0b1110).widest(all, 16), Lanes(0b1100));
        assert_eq!(Lanes(0b1011).widest(all, 1), Lanes(0b0001));
        assert_eq!(Lanes(0b0110).widest(all, 4), Lanes::NONE);
        assert_eq!(Lanes::first(32).widest(Lanes::first(32), 32).count(), 32);
        assert_eq!(Lanes(0).widest(Lanes(0), 4), Lanes::NONE);
    }

    /// 1024 TS1 are 65.5 us, and 24 ms hold 5.9 million TS at 32 GT/s.
    #[test]
    fn sets_take_their_time() {
        assert_eq!(sets(1024, Generation::Gen1), Span::from_ns(65_536));
        assert_eq!(24_000_000_000_000 / sets(1000, Generation::Gen5).as_ps(), 5_907_692);
        assert_eq!(sets(1, Generation::Gen5).as_ps(), 4_063);
    }
}
