//! Blocks: their content, their state, and the choice of victims.

use super::layout::Layout;
use crate::config::{Victim, WearLevelling};

/// No block, no table, no unit.
pub const NONE: u32 = u32::MAX;

/// State of a block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// Erased.
    Free,
    /// Being written to.
    Open,
    /// Full.
    Closed,
    /// Being emptied: its valid units are being read or wait for their program.
    Leaving,
    /// Being erased.
    Erasing,
}

/// A block of every plane of a die.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub state: State,
    /// Programmed with one bit per cell.
    pub slc: bool,
    /// Borrowed for the SLC cache until it is erased.
    pub borrowed: bool,
    /// Its units are those of the initial state, except where the map says otherwise.
    pub seated: bool,
    pub valid: u32,
    /// Units that have been assigned, and those whose program has ended.
    pub filled: u32,
    pub programmed: u32,
    pub erases: u32,
    /// Number of its [`Table`].
    pub table: u32,
    /// When it was last written to, counted in programs of the drive.
    pub stamp: u64,
}

/// The units of a block, and which of them are valid.
#[derive(Clone, Default, Debug)]
pub struct Table {
    pub units: Vec<u32>,
    pub valid: Vec<u64>,
}

impl Table {
    #[inline]
    pub fn is_valid(&self, offset: u32) -> bool {
        self.valid[offset as usize / 64] >> (offset % 64) & 1 == 1
    }
    #[inline]
    fn mark(&mut self, offset: u32) {
        self.valid[offset as usize / 64] |= 1 << (offset % 64);
    }
    #[inline]
    fn clear(&mut self, offset: u32) {
        self.valid[offset as usize / 64] &= !(1 << (offset % 64));
    }
}

/// The blocks of a drive.
#[derive(Debug)]
pub struct Blocks {
    pub all: Vec<Block>,
    pub tables: Vec<Table>,
    spare_tables: Vec<u32>,
    layout: Layout,
}

impl Blocks {
    /// All blocks free; the last `slc` blocks of each die have one bit per cell.
    pub fn new(layout: Layout, slc: u32) -> Self {
        let block = |number: u32| Block {
            state: State::Free,
            slc: number % layout.blocks >= layout.blocks - slc,
            borrowed: false,
            seated: false,
            valid: 0,
            filled: 0,
            programmed: 0,
            erases: 0,
            table: NONE,
            stamp: 0,
        };
        let all = (0..layout.dies * layout.blocks).map(block).collect();
        Self { all, tables: Vec::new(), spare_tables: Vec::new(), layout }
    }

    /// Units that fit into a block.
    #[inline]
    pub fn room(&self, block: u32) -> u32 {
        if self.all[block as usize].slc { self.layout.block / self.layout.bits } else { self.layout.block }
    }
    /// Units that one program writes to a block.
    #[inline]
    pub fn program(&self, block: u32) -> u32 {
        if self.all[block as usize].slc { self.layout.row } else { self.layout.program }
    }

    /// Opens a free block for writing.
    pub fn open(&mut self, block: u32) {
        let table = self.take_table();
        let b = &mut self.all[block as usize];
        debug_assert_eq!(b.state, State::Free);
        (b.state, b.filled, b.programmed, b.table) = (State::Open, 0, 0, table);
    }

    fn take_table(&mut self) -> u32 {
        if let Some(table) = self.spare_tables.pop() {
            return table;
        }
        let units = self.layout.block as usize;
        self.tables.push(Table { units: vec![NONE; units], valid: vec![0; units.div_ceil(64)] });
        self.tables.len() as u32 - 1
    }

    /// Gives a seated block a table without valid units.
    pub fn seat(&mut self, block: u32) -> &mut Table {
        let table = self.take_table();
        let b = &mut self.all[block as usize];
        (b.seated, b.table) = (false, table);
        &mut self.tables[table as usize]
    }

    /// Puts a unit into a table of a seated block.
    pub fn put_unit(table: &mut Table, offset: u32, unit: u32) {
        table.units[offset as usize] = unit;
        table.mark(offset);
    }

    /// Notes that a unit now lies at an offset of an open block.
    #[inline]
    pub fn lay(&mut self, block: u32, offset: u32, unit: u32) {
        let b = &mut self.all[block as usize];
        b.valid += 1;
        let table = &mut self.tables[b.table as usize];
        table.units[offset as usize] = unit;
        table.mark(offset);
    }

    /// Invalidates the unit at an offset. Returns whether that emptied a block that was waiting for it.
    #[inline]
    pub fn drop(&mut self, block: u32, offset: u32) -> bool {
        let b = &mut self.all[block as usize];
        b.valid -= 1;
        if !b.seated {
            self.tables[b.table as usize].clear(offset);
        }
        b.valid == 0 && b.state == State::Leaving
    }

    /// Notes that a block has been erased.
    pub fn erased(&mut self, block: u32) {
        let b = &mut self.all[block as usize];
        debug_assert_eq!((b.state, b.valid), (State::Erasing, 0));
        (b.state, b.seated) = (State::Free, false);
        b.erases += 1;
        if core::mem::take(&mut b.borrowed) {
            b.slc = false;
        }
        if b.table != NONE {
            self.tables[b.table as usize].valid.fill(0);
            self.spare_tables.push(b.table);
            b.table = NONE;
        }
    }

    /// The blocks of a die.
    pub fn of_die(&self, die: u32) -> core::ops::Range<u32> {
        die * self.layout.blocks..(die + 1) * self.layout.blocks
    }

    /// Lends a free block to the SLC cache.
    pub fn borrow(&mut self, block: u32) {
        let b = &mut self.all[block as usize];
        debug_assert_eq!(b.state, State::Free);
        (b.slc, b.borrowed) = (true, true);
    }

    /// The victim of a die among the blocks for which `fits`. Returns `None` if collecting it would gain nothing.
    pub fn victim(&self, die: u32, policy: Victim, now: u64, fits: impl Fn(&Block) -> bool) -> Option<u32> {
        let closed = |block: &u32| {
            let b = &self.all[*block as usize];
            b.state == State::Closed && fits(b)
        };
        let candidates = self.of_die(die).filter(closed);
        let best = match policy {
            Victim::Greedy => candidates.min_by_key(|block| self.all[*block as usize].valid),
            Victim::CostBenefit => candidates.max_by_key(|block| {
                let b = &self.all[*block as usize];
                // age · (1 − u) / 2u as a whole number; ties go to the lower block
                let gain = u128::from(now - b.stamp + 1) * u128::from(self.room(*block) - b.valid);
                ((gain << 32) / u128::from(2 * b.valid.max(1)), u32::MAX - block)
            }),
        };
        best.filter(|block| {
            let b = &self.all[*block as usize];
            b.slc || b.valid < self.room(*block)
        })
    }

    /// The closed block of a die that lags too far behind in erases, if there is one.
    pub fn least_erased(&self, die: u32, wear: WearLevelling) -> Option<u32> {
        let lag = u64::from(wear.lag?);
        let all = self.of_die(die).filter(|block| !self.all[*block as usize].slc);
        let sum: u64 = all.clone().map(|block| u64::from(self.all[block as usize].erases)).sum();
        let count = all.clone().count() as u64;
        let least = all
            .filter(|block| self.all[*block as usize].state == State::Closed)
            .min_by_key(|block| self.all[*block as usize].erases)?;
        ((u64::from(self.all[least as usize].erases) + lag) * count < sum).then_some(least)
    }
}
