//! Layout: the die, block, page and plane of a unit.
//!
//! A **block** of the FTL is one block of every plane of a die: planes are programmed and erased together. Its units
//! are numbered in the order in which they are programmed: first those of a page, then plane by plane, then page by
//! page.
//!
//! If planes have blocks of their own ([`Allocation::by_planes`]), each plane is a die to the FTL. They are numbered
//! in the order of the allocation: with static allocation the n-th page goes to die n.

use crate::config::{Allocation, Ftl, Initial, Level, Nand, Program, Rules, UNIT};
use crate::divisor::Divisor;
use crate::theory;
use lanetwin_units::{Bytes, greatest_common_divisor as gcd};

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
    /// Whether the address of a unit determines its die.
    pub by_address: bool,
    /// Number of planes of a die, each a die of the FTL, and their order; `None` if dies are not divided.
    apart: Option<(u32, [Level; 4])>,
    by: By,
}

/// The server of the machine for a die of the FTL, with its die and plane.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Site {
    pub server: u32,
    pub die: u8,
    pub plane: u8,
}

/// Divisors used in every look-up.
#[derive(Clone, Copy, Debug)]
struct By {
    channels: Divisor,
    chips: Divisor,
    dies: Divisor,
    planes: Divisor,
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
    pub fn new(nand: &Nand, allocation: Allocation) -> Self {
        let g = &nand.geometry;
        let page = (g.page.0 / UNIT) as u32;
        let apart = allocation.by_planes().then_some((g.planes, allocation.order().0));
        let planes = if apart.is_some() { 1 } else { g.planes };
        let row = page * planes;
        let pages_at_once = match nand.timing.program {
            Program::ByPage(_) => 1,
            Program::OneShot(_) => nand.timing.cell.bits(),
        };
        let mqsim = nand.rules == Rules::Mqsim;
        let block = row * g.pages;
        let of = |number: u32| Divisor::new(number.into());
        let [blocks, by_block, by_row, by_page] = [g.blocks, block, row, page].map(of);
        let [channels, chips, in_chip, in_die] = [g.channels, g.chips, g.dies, g.planes].map(of);
        Self {
            channels: g.channels,
            dies_of_chip: g.dies,
            dies: g.all_dies() * (g.planes / planes),
            planes,
            blocks: g.blocks,
            page,
            row,
            block,
            program: row * pages_at_once,
            bits: nand.timing.cell.bits(),
            per_channel: if mqsim { g.chips } else { g.chips * g.dies },
            mqsim,
            by_address: matches!(allocation, Allocation::Address(_)),
            apart,
            by: By {
                channels,
                chips,
                dies: in_chip,
                planes: in_die,
                blocks,
                block: by_block,
                row: by_row,
                page: by_page,
            },
        }
    }

    /// A die in the terms of the analysis of garbage collection.
    pub fn in_theory(&self, ftl: &Ftl) -> theory::Die {
        let slc = ftl.slc.map_or(0, |slc| slc.blocks);
        let open = ftl.streams + u32::from(ftl.hot_cold);
        theory::Die {
            block: self.block,
            blocks: self.blocks - slc,
            low: ftl.watermarks.low,
            open,
            grain: match ftl.initial {
                Initial::SteadyState { written } => self.grain(written),
                Initial::Empty | Initial::Sequential => 1,
            },
        }
    }

    /// Number of units that lie side by side if `written` bytes were written in one piece: what fits into programs
    /// without remainder, in whole pages or in whole parts of a page; in parts of a page with static allocation.
    pub fn grain(&self, written: Bytes) -> u32 {
        let [program, block, page] = [self.program, self.block, self.page].map(u64::from);
        let in_program = (gcd(written.0.max(UNIT), program * UNIT) / UNIT).max(1);
        let in_block = gcd(in_program, block);
        let is_in_pages = !self.by_address && in_block.is_multiple_of(page);
        let grain = if is_in_pages { in_block } else { gcd(in_block, page) };
        u32::try_from(grain).expect("a block has fewer than 2^32 units")
    }

    /// The server for a page of a plane. Dies are numbered channel first, then chip, unless each plane is a die.
    #[inline]
    pub fn site(&self, die: u32, plane: u32) -> Site {
        if self.apart.is_some() {
            return self.site_of_plane(die);
        }
        let (rest, channel) = self.by.channels.split(die);
        let (inner, chip) = self.by.chips.split(rest);
        self.site_at(channel, chip, inner, plane)
    }

    /// The same, if each plane is a die of the FTL.
    fn site_of_plane(&self, number: u32) -> Site {
        let order = self.apart.map_or([Level::Channel; 4], |(_, order)| order);
        let (mut rest, mut at) = (number, [0; 4]);
        for level in order {
            let by = match level {
                Level::Channel => self.by.channels,
                Level::Way => self.by.chips,
                Level::Die => self.by.dies,
                Level::Plane => self.by.planes,
            };
            (rest, at[level as usize]) = by.split(rest);
        }
        let [channel, chip, inner, plane] = at;
        self.site_at(channel, chip, inner, plane)
    }

    #[inline]
    const fn site_at(&self, channel: u32, chip: u32, inner: u32, plane: u32) -> Site {
        let plane = plane as u8;
        if self.mqsim {
            Site { server: channel * self.per_channel + chip, die: inner as u8, plane }
        } else {
            let server = channel * self.per_channel + chip * self.dies_of_chip + inner;
            Site { server, die: 0, plane }
        }
    }

    /// Whether each plane is a die of the FTL.
    #[inline]
    pub const fn is_by_planes(&self) -> bool {
        self.apart.is_some()
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
