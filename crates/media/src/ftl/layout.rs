//! Where a unit lies: die, block, page, plane.
//!
//! A **block** of the FTL is one block of every plane of a die: planes are programmed and erased together. Its units
//! are numbered in the order in which they are programmed: first those of a page, then plane by plane, then page by
//! page.

use crate::config::{Ftl, Nand, Program, Rules, UNIT};
use crate::divisor::Divisor;
use crate::theory;

/// The shape of the flash as the FTL sees it.
#[derive(Clone, Copy, Debug)]
pub struct Layout {
    pub channels: u32,
    pub dies_of_chip: u32,
    pub dies: u32,
    pub planes: u32,
    /// Blocks of a die.
    pub blocks: u32,
    /// Units of a page.
    pub page: u32,
    /// Units of a page of every plane.
    pub row: u32,
    /// Units of a block.
    pub block: u32,
    /// Units that one program writes.
    pub program: u32,
    /// Bits of a cell.
    pub bits: u32,
    /// Servers of a channel.
    pub per_channel: u32,
    mqsim: bool,
    by: By,
}

/// What is divided by in every look-up.
#[derive(Clone, Copy, Debug)]
struct By {
    channels: Divisor,
    chips: Divisor,
    blocks: Divisor,
    block: Divisor,
    row: Divisor,
    page: Divisor,
}

/// A page of a plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    pub die: u32,
    /// Number of the block on the drive.
    pub block: u32,
    pub plane: u32,
    pub page: u32,
}

impl Layout {
    pub fn new(nand: &Nand) -> Self {
        let g = &nand.geometry;
        let page = (g.page.0 / UNIT) as u32;
        let row = page * g.planes;
        let pages_at_once = match nand.timing.program {
            Program::ByPage(_) => 1,
            Program::OneShot(_) => nand.timing.cell.bits(),
        };
        let mqsim = nand.rules == Rules::Mqsim;
        let block = row * g.pages;
        let [channels, chips, blocks, by_block, by_row, by_page] =
            [g.channels, g.chips, g.blocks, block, row, page].map(|number| Divisor::new(number.into()));
        Self {
            channels: g.channels,
            dies_of_chip: g.dies,
            dies: g.all_dies(),
            planes: g.planes,
            blocks: g.blocks,
            page,
            row,
            block,
            program: row * pages_at_once,
            bits: nand.timing.cell.bits(),
            per_channel: if mqsim { g.chips } else { g.chips * g.dies },
            mqsim,
            by: By { channels, chips, blocks, block: by_block, row: by_row, page: by_page },
        }
    }

    /// A die as the analysis of garbage collection sees it.
    pub fn in_theory(&self, ftl: &Ftl) -> theory::Die {
        let slc = ftl.slc.map_or(0, |slc| slc.blocks);
        let open = ftl.streams + u32::from(ftl.hot_cold);
        theory::Die { block: self.block, blocks: self.blocks - slc, low: ftl.watermarks.low, open }
    }

    /// The server of a die, and which of its dies it is. Dies are numbered channel first, then chip.
    #[inline]
    pub fn server(&self, die: u32) -> (u32, u8) {
        let (rest, channel) = self.by.channels.split(die);
        let (inner, chip) = self.by.chips.split(rest);
        if self.mqsim {
            (channel * self.per_channel + chip, inner as u8)
        } else {
            (channel * self.per_channel + chip * self.dies_of_chip + inner, 0)
        }
    }

    /// The page of a place.
    #[inline]
    pub fn page_of(&self, place: u64) -> Page {
        let block = self.block_of(place);
        let offset = (place - u64::from(block) * u64::from(self.block)) as u32;
        let (page, within) = self.by.row.split(offset);
        let plane = self.by.page.split(within).0;
        Page { die: self.die_of(block), block, plane, page }
    }

    /// The block of a place.
    #[inline]
    pub fn block_of(&self, place: u64) -> u32 {
        self.by.block.quotient(place) as u32
    }
    /// The first place of a block.
    #[inline]
    pub fn first(&self, block: u32) -> u64 {
        u64::from(block) * u64::from(self.block)
    }
    /// The die of a block.
    #[inline]
    pub fn die_of(&self, block: u32) -> u32 {
        self.by.blocks.split(block).0
    }
}
