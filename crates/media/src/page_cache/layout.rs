//! Layout of the directory in the memory of the machine that runs the simulation.
//!
//! ```text
//!   a set: │ registers │ lists │ … │ tags │ records: state, heat, links │ … │   a tag and a record for each way, ghosts included
//! ```
//!
//! Random visits to a large directory wait for memory, not for instructions. So the parts of a set begin at cache
//! lines of that machine, and a small set has no links: the order of a list is a number whose digits are places. A
//! hit in a set of 16 ways then touches three lines: registers and lists, tags, and one of records.

use super::set::{At, Set, register};

/// Words of a cache line of the machine that runs the simulation.
pub(super) const LINE: usize = 16;
/// Largest sets whose lists are stored as numbers.
const DIGITS: usize = 16;
/// Smallest sets that are aligned to cache lines; smaller ones would waste more than they gain.
const ALIGNED: usize = 8;

/// Offsets of all parts in the block of a set \[words\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Frames and ghosts of a set.
    pub(super) nodes: usize,
    /// Number of lists of a set: those of the policy, free frames, free ghosts.
    pub(super) lists: usize,
    pub(super) tags: usize,
    pub(super) records: usize,
    pub(super) record: usize,
    /// Length of a block.
    pub(super) block: usize,
    /// The first word of the first block.
    skew: usize,
}

/// Words of a record.
#[derive(Clone, Copy)]
pub(super) enum Field {
    State = 0,
    Heat = 1,
    Prev = 2,
    Next = 3,
}

impl Layout {
    pub(super) const fn new(nodes: usize, lists: usize) -> Self {
        let record = if nodes <= DIGITS { 2 } else { 4 };
        let unit = if nodes >= ALIGNED { LINE } else { 1 };
        let tags = (register::COUNT + 3 * lists).next_multiple_of(unit);
        let records = tags + nodes;
        let block = (records + record * nodes).next_multiple_of(unit);
        Self { nodes, lists, tags, records, record, block, skew: 0 }
    }
    /// A table for `sets` sets, provided by the system as untouched zeroes.
    pub(super) fn table(&mut self, sets: u64) -> Vec<u32> {
        let words = vec![0; self.block * sets as usize + LINE];
        self.skew = words.as_ptr().align_offset(LINE * size_of::<u32>()).min(LINE);
        words
    }
    /// The first word of a set.
    #[inline]
    pub(super) const fn block(&self, set: u64) -> usize {
        self.skew + set as usize * self.block
    }
    /// The first tag of a set.
    #[inline]
    pub(super) const fn tags(&self, set: Set) -> usize {
        set.block + self.tags
    }
    /// The tag of a place.
    #[inline]
    pub(super) const fn tag(&self, at: At) -> usize {
        self.tags(at.set) + at.place as usize
    }
    /// A word of the record of a place.
    #[inline]
    pub(super) const fn word(&self, at: At, field: Field) -> usize {
        at.set.block + self.records + self.record * at.place as usize + field as usize
    }
    /// The length of a list; the next two words are its order as a number, or its head and tail.
    #[inline]
    pub(super) const fn list(set: Set, list: usize) -> usize {
        set.block + register::COUNT + 3 * list
    }
    #[inline]
    pub(super) const fn is_small(&self) -> bool {
        self.nodes <= DIGITS
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_of_sixteen_ways_is_four_lines() {
        assert_eq!(Layout::new(16, 3).block, 4 * LINE);
    }
}
