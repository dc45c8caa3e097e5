//! State of garbage collection on a die.

use super::blocks::NONE;
use std::collections::VecDeque;

/// Why a block is being emptied.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) enum Reason {
    #[default]
    Garbage,
    Wear,
    Fold,
}

/// State of garbage collection on a die.
#[derive(Clone, Debug)]
pub struct Collector {
    /// The block being read.
    pub(super) victim: u32,
    pub(super) reason: Reason,
    /// The next unit to read in it.
    pub(super) next: u32,
    /// A garbage block whose collection is interrupted while the SLC cache is folded, and its next unit.
    pub(super) parked: (u32, u32),
    /// Pages being read, by the place of their first unit.
    pub(super) reading: VecDeque<u64>,
    /// Units that have been read, by their places.
    pub(super) read: VecDeque<u64>,
    /// Programs in progress.
    pub programs: u32,
    /// Blocks of the SLC cache being erased.
    pub(super) erasing_slc: u32,
}

impl Default for Collector {
    fn default() -> Self {
        Self {
            victim: NONE,
            reason: Reason::Garbage,
            next: 0,
            parked: (NONE, 0),
            reading: VecDeque::new(),
            read: VecDeque::new(),
            programs: 0,
            erasing_slc: 0,
        }
    }
}
