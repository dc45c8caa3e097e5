//! The columns of one switch, which share a wire.

use std::ops::Range;

/// The columns of one switch, which share a wire.
#[derive(Clone, Debug)]
pub(super) struct Bus {
    /// Their egresses; the first keeps the wake of all.
    pub columns: Range<usize>,
    /// The column that is asked first.
    pub(super) turn: usize,
    /// Which inputs of each column hold anything, and the least distance of all columns while it is so.
    pub(super) seen: (Vec<u128>, u64),
}

impl Bus {
    pub fn new(columns: Range<usize>) -> Self {
        // No column has so many inputs: the distance is found at the first look.
        let seen = (vec![u128::MAX; columns.len()], 0);
        Self { turn: columns.start, columns, seen }
    }
    pub(super) fn after(&self, column: usize) -> usize {
        if column + 1 == self.columns.end { self.columns.start } else { column + 1 }
    }
}
