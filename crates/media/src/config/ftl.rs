//! The flash translation layer: mapping, garbage collection, wear, caches, partitions, initial state.

use super::allocation::Allocation;
use super::unit::UNIT;
use lanetwin_units::{Bytes, Span};

/// Which block garbage collection (GC) takes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Victim {
    /// The one with the fewest valid units.
    #[default]
    Greedy,
    /// The one with the largest age × (1 − u) / 2u, u the share of valid units (Rosenblum and Ousterhout 1992, §3.6).
    CostBenefit,
}

/// What garbage collection (GC) keeps free of a die \[blocks\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watermarks {
    /// So many blocks are free in the mean: GC works, and writes of the host to the die wait, while there is less space
    /// than this, half of each block that is being written and half a victim
    /// ([`theory::Die::reserve`](crate::theory::Die::reserve)).
    pub low: u32,
    /// GC works while fewer are free or being erased, and the host leaves one less for it. At least 2, since GC itself
    /// needs one to write to.
    pub urgent: u32,
}

/// Wear levelling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WearLevelling {
    /// Dynamic: of the free blocks the least worn is taken, not the first.
    pub dynamic: bool,
    /// Static: a block of cold data is moved if it lags this many erases behind the mean of its die.
    pub lag: Option<u32>,
}

/// Blocks that are programmed with one bit a cell, to take bursts.
///
/// The host writes to them as long as there are any, and then to where data stay; **folding** moves what is in them
/// there. The cache is as large as the blocks that are set aside for it and those that it borrows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlcCache {
    /// Blocks of each die (each a block of every plane) set aside: none, or two and more.
    pub blocks: u32,
    /// So many further blocks of each die the cache may borrow of those that are free, while the die has more space
    /// than it keeps for GC: its size is dynamic. They are given back when they have been folded.
    pub borrowed: u32,
    /// A die folds when more than this share of the cache that it could have is in use \[%\].
    pub fold_at: u32,
    /// All of it is folded when the host has had nothing under way for so long; none: not in idle time.
    pub fold_idle: Option<Span>,
    /// tR in this mode.
    pub read: Span,
    /// tPROG in this mode.
    pub program: Span,
    /// tBERS in this mode.
    pub erase: Span,
}

/// Where the mapping table is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MappingTable {
    /// All of it in the drive's DRAM; a look-up costs this.
    Dram(Span),
    /// On flash, with a cache of this many translation pages; a miss costs a flash read (Gupta et al. 2009, DFTL).
    Cached {
        /// Translation pages that the cache holds.
        pages: u32,
        /// What a hit costs.
        hit: Span,
    },
}

/// Reading ahead of sequential reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadAhead {
    /// Sequential streams that are told apart.
    pub streams: u32,
    /// So many adjacent requests make a stream.
    pub trigger: u32,
    /// How far ahead of the host it reads.
    pub window: Bytes,
}

/// A contiguous range of the drive that has dies of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    /// Its size; partitions follow one another from address 0 and add up to the capacity.
    pub capacity: Bytes,
    /// How many dies it has; partitions take them in the order of channels first, and together take all.
    pub dies: u32,
}

/// What the drive has lived through before the run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Initial {
    /// Formatted: nothing is mapped.
    #[default]
    Empty,
    /// Written once from end to end.
    Sequential,
    /// Written at random for so long that the write amplification no longer changes (SNIA PTS).
    SteadyState {
        /// How much was written at once, at multiples of this: it lies side by side, as far as pages and programs go.
        written: Bytes,
    },
}

impl Initial {
    /// Written at random in units of the map.
    pub const STEADY_STATE: Self = Self::SteadyState { written: Bytes(UNIT) };

    /// Whether garbage has been collected for long.
    #[must_use]
    pub const fn is_steady_state(self) -> bool {
        matches!(self, Self::SteadyState { .. })
    }
}

/// The flash translation layer.
#[derive(Clone, PartialEq, Debug)]
pub struct Ftl {
    /// What the drive has done.
    pub initial: Initial,
    /// Which die and plane a page is written to.
    pub allocation: Allocation,
    /// Which block GC takes.
    pub victim: Victim,
    /// Whether data that GC moves go to blocks of their own, apart from what the host writes.
    pub hot_cold: bool,
    /// What GC keeps free.
    pub watermarks: Watermarks,
    /// Wear levelling.
    pub wear: WearLevelling,
    /// Erases that a block survives; the end of the drive's life is when the mean block has had so many.
    pub endurance: u32,
    /// Write streams with blocks of their own: a write goes to stream `tenant` modulo this.
    pub streams: u32,
    /// Ranges with dies of their own; empty: all of the drive shares all dies.
    pub partitions: Vec<Partition>,
    /// Where the mapping table is.
    pub mapping: MappingTable,
    /// An SLC cache; none if absent.
    pub slc: Option<SlcCache>,
    /// Reading ahead; none if absent.
    pub read_ahead: Option<ReadAhead>,
}
