//! A die as the FTL sees it; where planes have blocks of their own each plane is one.

use super::blocks::NONE;
use super::collector::Collector;
use super::pace::Pace;
use std::collections::VecDeque;

/// A die as the FTL sees it.
#[derive(Debug)]
pub struct Die {
    /// Which pool it belongs to.
    pub pool: u32,
    /// Erased blocks; those of the SLC cache apart.
    pub free: VecDeque<u32>,
    pub free_slc: VecDeque<u32>,
    /// Blocks that the SLC cache has borrowed.
    pub borrowed: u32,
    /// The block that each stream writes to; after the streams that of GC, then that of the SLC cache.
    pub heads: Vec<u32>,
    /// Programs of the host that have not ended.
    pub programs: u32,
    /// Programs that have ended before one of the same block that had begun before: block, first unit, unit behind the
    /// last.
    pub early: Vec<(u32, u32, u32)>,
    /// Valid units.
    pub valid: u64,
    pub gc: Collector,
    pub pace: Pace,
}

impl Die {
    /// A die with nothing on it, for so many streams.
    pub fn new(heads: usize) -> Self {
        Self {
            pool: 0,
            free: VecDeque::new(),
            free_slc: VecDeque::new(),
            borrowed: 0,
            heads: vec![NONE; heads],
            programs: 0,
            early: Vec::new(),
            valid: 0,
            gc: Collector::default(),
            pace: Pace::default(),
        }
    }
}
