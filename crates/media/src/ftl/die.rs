//! A die as the FTL sees it; if planes have blocks of their own, each plane is a die.

use super::blocks::NONE;
use super::collector::Collector;
use super::pace::Pace;
use std::collections::VecDeque;

/// A die as the FTL sees it.
#[derive(Debug)]
pub struct Die {
    /// The pool that it belongs to.
    pub pool: u32,
    /// Erased blocks, without those of the SLC cache.
    pub free: VecDeque<u32>,
    pub free_slc: VecDeque<u32>,
    /// Number of blocks that the SLC cache has borrowed.
    pub borrowed: u32,
    /// The open block of each stream, then that of GC, then that of the SLC cache.
    pub heads: Vec<u32>,
    /// Programs of the host in progress.
    pub programs: u32,
    /// Programs that have ended before an earlier one of the same block: block, first unit, end of the units.
    pub early: Vec<(u32, u32, u32)>,
    /// Valid units.
    pub valid: u64,
    pub gc: Collector,
    pub pace: Pace,
}

impl Die {
    /// A die without data, with this many heads.
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
