//! Start times of flits: a grid of exact ticks, interrupted by ordered sets.
//!
//! ```text
//!   |flit|flit|flit| … |flit|SKP|flit|flit| … |flit|SKP| …
//!    <────── 80 × lanes ────>    340 data blocks, then one block of ordered set
//! ```
//!
//! A link in its active state always sends: if there is no other flit, the physical layer sends NULL flits. So every
//! flit starts at a boundary of the grid. With sync headers bypassed, 340 data blocks hold a whole number of flits
//! (340 × 16 B × lanes = 80 × 68 B × lanes; CXL §6.8.1). With sync headers, SKP ordered sets come at the intervals of
//! PCI Express, and a NULL flit of variable length fills the rest of the last block before each (CXL §6.2.2.1).

use crate::spec::constants::{
    BLOCK_SYMBOLS, FLIT_BYTES, SKP_BYPASS_DATA_BLOCKS, SKP_LENGTH_BLOCKS, SKP_PERIOD_BLOCKS,
};
use crate::spec::flit_256;
use lanetwin_units::{Generation, LinkRate, Width};

/// Groups per flit.
const GROUPS: u64 = flit_256::GROUPS as u64;

/// Grid of one link \[ticks\]: flits of 68 B, or groups of 64 B, four of which make a flit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Grid {
    flit: u64,
    flits_per_skp: u64,
    gap: u64,
}

/// A place on a grid: the start of a flit, and the number of flits from it to the next ordered set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    /// Start of the flit \[ticks\].
    pub start: u64,
    left: u64,
}

impl Place {
    /// No flit at all.
    pub const NEVER: Self = Self { start: u64::MAX, left: 0 };
}

impl Grid {
    /// Grid of a link with 68 B flits; `bypass` drops the sync headers of 128b/130b, `skp` sends SKP ordered sets.
    ///
    /// # Panics
    /// If the generation is below 8 GT/s: CXL does not run there.
    #[must_use]
    pub fn new(generation: Generation, width: Width, bypass: bool, skp: bool) -> Self {
        assert!(generation >= Generation::Gen3, "CXL runs at 8, 16 or 32 GT/s");
        let lanes = width.lanes();
        let rate = if bypass {
            LinkRate::bytes_per_second(generation.megatransfers() * 125_000 * lanes)
        } else {
            LinkRate::pcie(generation, width)
        };
        let flit = rate.ticks_for(FLIT_BYTES).0;
        let block_bytes = BLOCK_SYMBOLS * lanes;
        if !skp {
            return Self { flit, flits_per_skp: u64::MAX, gap: 0 };
        }
        let data_blocks = if bypass { SKP_BYPASS_DATA_BLOCKS } else { SKP_PERIOD_BLOCKS - SKP_LENGTH_BLOCKS };
        let flits_per_skp = data_blocks * block_bytes / FLIT_BYTES;
        let period = rate.ticks_for((data_blocks + SKP_LENGTH_BLOCKS) * block_bytes).0;
        Self { flit, flits_per_skp, gap: period - flits_per_skp * flit }
    }
    /// Grid of the groups of 256 B flits. Ordered sets come between flits, after a fixed number of them.
    ///
    /// # Panics
    /// If the generation is below 8 GT/s: CXL does not run there.
    #[must_use]
    pub fn of_groups(generation: Generation, width: Width, bypass: bool, skp: bool) -> Self {
        assert!(generation >= Generation::Gen3, "CXL runs at 8 GT/s or more");
        let rate = if bypass {
            LinkRate::bytes_per_second(generation.megatransfers() * 125_000 * width.lanes())
        } else {
            LinkRate::pcie(generation, width)
        };
        let flit = rate.ticks_for(flit_256::GROUP_BYTES).0;
        let block_bytes = BLOCK_SYMBOLS * width.lanes();
        if !skp {
            return Self { flit, flits_per_skp: u64::MAX, gap: 0 };
        }
        let flits = flit_256::SKP_DATA_BLOCKS * block_bytes / flit_256::BYTES;
        let gap = rate.ticks_for(SKP_LENGTH_BLOCKS * block_bytes).0;
        Self { flit, flits_per_skp: flits * GROUPS, gap }
    }
    /// Number of a group in its flit, on a grid of groups.
    #[inline]
    #[must_use]
    pub const fn group(&self, place: Place) -> usize {
        let before = if self.flits_per_skp == u64::MAX {
            place.start / self.flit
        } else {
            self.flits_per_skp - place.left
        };
        (before % GROUPS) as usize
    }
    /// The first group with number `group` in its flit that starts at `place` or later, and not before tick `at`.
    #[inline]
    #[must_use]
    pub fn group_from(&self, place: Place, at: u64, group: usize) -> Place {
        let mut found = self.from(place, at);
        while self.group(found) != group {
            found = self.after(found);
        }
        found
    }
    /// Duration of a flit \[ticks\]; of a group, on a grid of groups.
    #[must_use]
    pub const fn flit(&self) -> u64 {
        self.flit
    }
    /// Number of flits between two ordered sets; `None` if there are no ordered sets.
    #[must_use]
    pub const fn flits_per_skp(&self) -> Option<u64> {
        if self.flits_per_skp == u64::MAX { None } else { Some(self.flits_per_skp) }
    }
    /// The first flit.
    #[must_use]
    pub const fn first(&self) -> Place {
        Place { start: 0, left: self.flits_per_skp }
    }
    /// The flit after this one.
    #[inline]
    #[must_use]
    pub const fn after(&self, place: Place) -> Place {
        if place.left == 1 {
            Place { start: place.start + self.flit + self.gap, left: self.flits_per_skp }
        } else {
            // Without ordered sets the number of flits left does not change.
            Place { start: place.start + self.flit, left: place.left - (place.left != u64::MAX) as u64 }
        }
    }
    /// The first flit that starts at `place` or later, and not before tick `at`.
    #[inline]
    #[must_use]
    pub fn from(&self, place: Place, at: u64) -> Place {
        if at <= place.start {
            return place;
        }
        let flits = (at - place.start).div_ceil(self.flit);
        if flits < place.left && self.flits_per_skp != u64::MAX {
            Place { start: place.start + flits * self.flit, left: place.left - flits }
        } else {
            self.find(at)
        }
    }
    /// The first flit that does not start before tick `at`.
    #[must_use]
    pub fn find(&self, at: u64) -> Place {
        if self.flits_per_skp == u64::MAX {
            return Place { start: at.div_ceil(self.flit) * self.flit, left: u64::MAX };
        }
        let period = self.flits_per_skp * self.flit + self.gap;
        let (round, rest) = (at / period, at % period);
        let flit = rest.div_ceil(self.flit);
        if flit >= self.flits_per_skp {
            Place { start: (round + 1) * period, left: self.flits_per_skp }
        } else {
            Place { start: round * period + flit * self.flit, left: self.flits_per_skp - flit }
        }
    }
    /// Number of flits that start before tick `at`.
    #[must_use]
    pub fn flits_before(&self, at: u64) -> u64 {
        if self.flits_per_skp == u64::MAX {
            return at.div_ceil(self.flit);
        }
        let period = self.flits_per_skp * self.flit + self.gap;
        at / period * self.flits_per_skp + (at % period).div_ceil(self.flit).min(self.flits_per_skp)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_units::{TICKS_PER_PS, Ticks};
    use proptest::prelude::*;

    #[test]
    fn a_flit_of_x8_gen5_lasts_two_nanoseconds_and_an_eighth() {
        let grid = Grid::new(Generation::Gen5, Width::X8, true, true);
        assert_eq!(Ticks(grid.flit()).as_ps_floor().as_ps(), 2125);
        assert_eq!(grid.flit() % TICKS_PER_PS, 0);
        let coded = Grid::new(Generation::Gen5, Width::X8, false, true);
        assert_eq!(coded.flit() * 128, grid.flit() * 130);
    }

    #[test]
    fn bypassed_blocks_hold_whole_flits_and_the_gap_is_one_block() {
        for width in [Width::X1, Width::X2, Width::X4, Width::X8, Width::X16] {
            for generation in [Generation::Gen3, Generation::Gen4, Generation::Gen5] {
                let grid = Grid::new(generation, width, true, true);
                assert_eq!(grid.flits_per_skp(), Some(80 * width.lanes()));
                assert_eq!(grid.gap * 17, grid.flit * 4 * width.lanes());
            }
        }
    }

    proptest! {
        #[test]
        fn walking_and_finding_agree(at in 0_u64..1 << 40, bypass: bool, skp: bool, wide: bool) {
            let grid = Grid::new(Generation::Gen5, if wide { Width::X16 } else { Width::X1 }, bypass, skp);
            let found = grid.find(at);
            prop_assert!(found.start >= at);
            prop_assert_eq!(grid.find(found.start), found);
            let next = grid.after(found);
            prop_assert_eq!(grid.find(found.start + 1), next);
            let earlier = grid.find(at - at % (1 << 20));
            prop_assert_eq!(grid.from(earlier, at), found);
            prop_assert!(next.start - found.start >= grid.flit());
            prop_assert_eq!(grid.flits_before(found.start) + 1, grid.flits_before(next.start));
            let mut walk = grid.first();
            for n in 0..200 {
                prop_assert_eq!(grid.flits_before(walk.start), n);
                prop_assert_eq!(grid.find(walk.start), walk);
                walk = grid.after(walk);
            }
        }
    }
}
