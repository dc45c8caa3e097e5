//! The flash translation layer: mapping, garbage collection, wear, caches, partitions, initial state.

use super::allocation::Allocation;
use super::unit::UNIT;
use lanetwin_units::{Bytes, Span};

/// Policy by which garbage collection (GC) selects a block.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Victim {
    /// The one with the fewest valid units.
    #[default]
    Greedy,
    /// The one with the largest age × (1 − u) / 2u, u the share of valid units (Rosenblum and Ousterhout 1992, §3.6).
    CostBenefit,
}

/// Free space that garbage collection (GC) keeps on each die \[blocks\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Watermarks {
    /// Mean number of free blocks. GC works, and writes of the host to the die wait, while there is less space than
    /// this plus half of each block that is being written and half a victim
    /// ([`theory::Die::reserve`](crate::theory::Die::reserve)).
    pub low: u32,
    /// GC works while fewer blocks than this are free or being erased, and the host leaves one block less for GC. At
    /// least 2, since GC itself needs one to write to.
    pub urgent: u32,
}

/// Wear levelling.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct WearLevelling {
    /// Dynamic: takes the least worn of the free blocks, not the first.
    pub dynamic: bool,
    /// Static: a block of cold data is moved if it lags this many erases behind the mean of its die.
    pub lag: Option<u32>,
}

/// Blocks that are programmed with one bit a cell, to absorb bursts of writes.
///
/// The host writes to them while any are free, and then to the blocks in which data stay; **folding** moves the
/// cached data there. The size of the cache is that of the blocks set aside for it plus those that it borrows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SlcCache {
    /// Blocks of each die (each a block of every plane) set aside: 0, or 2 and more.
    pub blocks: u32,
    /// Number of further free blocks of each die that the cache may borrow while the die has more free space than it
    /// keeps for GC, which makes its size dynamic. They are returned when they have been folded.
    pub borrowed: u32,
    /// A die folds when more than this share of its largest possible cache is in use \[%\].
    pub fold_at: u32,
    /// Idle time of the host after which all of the cache is folded; `None`: no folding in idle time.
    pub fold_idle: Option<Span>,
    /// tR in this mode.
    pub read: Span,
    /// tPROG in this mode.
    pub program: Span,
    /// tBERS in this mode.
    pub erase: Span,
}

/// Location of the mapping table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MappingTable {
    /// All of it in the drive's DRAM; with the time of a look-up.
    Dram(Span),
    /// On flash, with a cache of this many translation pages; a miss costs a flash read (Gupta et al. 2009, DFTL).
    Cached {
        /// Translation pages that the cache holds.
        pages: u32,
        /// Time of a hit.
        hit: Span,
    },
}

/// Reading ahead of sequential reads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReadAhead {
    /// Number of sequential streams that are tracked.
    pub streams: u32,
    /// Number of adjacent requests that make a stream.
    pub trigger: u32,
    /// Distance that it reads ahead of the host.
    pub window: Bytes,
}

/// A contiguous range of the drive that has dies of its own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    /// Its size; partitions follow one another from address 0 and add up to the capacity.
    pub capacity: Bytes,
    /// Number of its dies; partitions take dies in order, channels first, and together take all.
    pub dies: u32,
}

/// State of the drive before the run.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Initial {
    /// Formatted: no unit is mapped.
    #[default]
    Empty,
    /// Written once from end to end.
    Sequential,
    /// Written at random for so long that the write amplification no longer changes (SNIA PTS).
    SteadyState {
        /// Size of the writes, which began at multiples of it: each lies side by side, within the limits of pages and
        /// programs.
        written: Bytes,
    },
}

impl Initial {
    /// Written at random in units of the map.
    pub const STEADY_STATE: Self = Self::SteadyState { written: Bytes(UNIT) };

    /// Whether the state is that after a long time of garbage collection.
    #[must_use]
    pub const fn is_steady_state(self) -> bool {
        matches!(self, Self::SteadyState { .. })
    }
}

/// Configuration of the flash translation layer.
#[derive(Clone, PartialEq, Debug)]
pub struct Ftl {
    /// State of the drive before the run.
    pub initial: Initial,
    /// Policy for the die and plane that a page is written to.
    pub allocation: Allocation,
    /// Policy by which GC selects a block.
    pub victim: Victim,
    /// Whether data that GC moves go to blocks of their own, apart from host writes.
    pub hot_cold: bool,
    /// Free space that GC keeps.
    pub watermarks: Watermarks,
    /// Wear levelling.
    pub wear: WearLevelling,
    /// Erases that a block survives; the drive's life ends when the mean block has been erased this often.
    pub endurance: u32,
    /// Number of write streams, each with blocks of its own: a write goes to stream `tenant` modulo this.
    pub streams: u32,
    /// Ranges with dies of their own; if empty, the whole drive shares all dies.
    pub partitions: Vec<Partition>,
    /// Location of the mapping table.
    pub mapping: MappingTable,
    /// SLC cache, if there is one.
    pub slc: Option<SlcCache>,
    /// Reading ahead, if there is any.
    pub read_ahead: Option<ReadAhead>,
}
