//! The columns of one switch, which share a wire.

use std::ops::Range;

/// The columns of one switch, which share a wire.
#[derive(Clone, Debug)]
pub(super) struct Bus {
    /// Their egresses; the first holds the wake of all.
    pub columns: Range<usize>,
    /// The column that is first in turn.
    pub(super) turn: usize,
    /// The occupied inputs of each column, and the least distance of all columns while these do not change.
    pub(super) seen: (Vec<u128>, u64),
}

impl Bus {
    pub fn new(columns: Range<usize>) -> Self {
        // Not a possible set of inputs, so that the distance is computed at the first look.
        let seen = (vec![u128::MAX; columns.len()], 0);
        Self { turn: columns.start, columns, seen }
    }
    pub(super) fn after(&self, column: usize) -> usize {
        if column + 1 == self.columns.end { self.columns.start } else { column + 1 }
    }
}
