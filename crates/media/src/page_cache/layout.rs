//! How the directory lies in the memory of the machine that simulates.
//!
//! ```text
//!   a set: │ registers │ lists │ … │ tags │ records: state, heat, links │ … │   a tag and a record for each way, ghosts included
//! ```
//!
//! Who visits a large directory at random waits for memory, not for instructions. So the parts of a set begin with
//! cache lines of that machine, and a small set has no links: the order of a list is a number whose digits are places.
//! A hit in a set of 16 ways then touches three lines: registers and lists, tags, and one of records.

use super::directory::{At, Directory, Set, register};

/// Words of a cache line of the machine that simulates.
const LINE: usize = 16;
/// Sets up to so large keep the orders of their lists as numbers.
const DIGITS: usize = 16;
/// The order of so many places, the last at the head.
const ORDERED: u64 = 0x0123_4567_89ab_cdef;
/// Sets from so large on begin with cache lines; smaller ones would waste more than they gain.
const ALIGNED: usize = 8;

/// Where everything is in the block of a set \[words\].
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    /// Frames and ghosts of a set.
    pub(super) nodes: usize,
    /// How many lists a set has: those of the policy, free frames, free ghosts.
    pub(super) lists: usize,
    tags: usize,
    records: usize,
    record: usize,
    /// The length of a block.
    block: usize,
    /// The first word of the first block.
    skew: usize,
}

/// What a record says.
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
    /// A table for so many sets. It comes as untouched zeroes from the system.
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
    /// The length of a list; its order as a number, or its head and its tail, are the two words behind.
    #[inline]
    const fn list(set: Set, list: usize) -> usize {
        set.block + register::COUNT + 3 * list
    }
    #[inline]
    const fn is_small(&self) -> bool {
        self.nodes <= DIGITS
    }
}

/// Where a place stands in an order, which it is in: the lowest digit that is equal.
#[inline]
const fn digit_of(order: u64, place: u32) -> u32 {
    const ONES: u64 = 0x1111_1111_1111_1111;
    let differs = order ^ (place as u64 * ONES);
    // the lowest digit of zero borrows first; those above it do not matter
    (differs.wrapping_sub(ONES) & !differs & (ONES << 3)).trailing_zeros() / 4
}

impl Directory {
    /// Reads the blocks of sets for nothing: the lines of small ones are then on their way to the caches of the machine
    /// that simulates, all of them at once, as nothing else is done in between.
    pub(super) fn approach(&self, sets: &[Set]) {
        if self.layout.is_small() {
            let block = |set: &Set| self.words[set.block..set.block + self.layout.block].iter().step_by(LINE);
            core::hint::black_box(sets.iter().flat_map(block).fold(0, |all, word| all ^ word));
        }
    }
    /// How long a list is.
    #[inline]
    pub(super) fn length(&self, set: Set, list: usize) -> u32 {
        self.words[Layout::list(set, list)]
    }
    #[inline]
    fn order(&self, set: Set, list: usize) -> u64 {
        let word = Layout::list(set, list);
        u64::from(self.words[word + 1]) | u64::from(self.words[word + 2]) << 32
    }
    #[inline]
    fn set_order(&mut self, set: Set, list: usize, order: u64) {
        let word = Layout::list(set, list);
        (self.words[word + 1], self.words[word + 2]) = (order as u32, (order >> 32) as u32);
    }
    /// The last of a list.
    #[inline]
    pub(super) fn tail(&self, set: Set, list: usize) -> Option<At> {
        let word = Layout::list(set, list);
        let place = if self.layout.is_small() {
            let last = self.words[word].checked_sub(1)?;
            (self.order(set, list) >> (4 * last)) as u32 & 15
        } else {
            self.words[word + 2].checked_sub(1)?
        };
        Some(At { set, place })
    }
    /// Whoever stands before this one in its list.
    #[inline]
    pub(super) fn before(&self, at: At) -> Option<At> {
        let place = if self.layout.is_small() {
            let order = self.order(at.set, self.list_of(at));
            let before = digit_of(order, at.place).checked_sub(1)?;
            (order >> (4 * before)) as u32 & 15
        } else {
            self.words[self.layout.word(at, Field::Prev)].checked_sub(1)?
        };
        Some(At { place, ..at })
    }
    /// Puts it at the head of a list.
    #[inline]
    pub(super) fn push(&mut self, at: At, list: usize) {
        self.name_list(at, list);
        let word = Layout::list(at.set, list);
        if self.layout.is_small() {
            let order = self.order(at.set, list) << 4 | u64::from(at.place);
            self.set_order(at.set, list, order);
        } else {
            let head = self.words[word + 1];
            let [prev, next] = [Field::Prev, Field::Next].map(|field| self.layout.word(at, field));
            self.words[prev] = 0;
            self.words[next] = head;
            match head.checked_sub(1) {
                Some(place) => {
                    let prev = self.layout.word(At { place, ..at }, Field::Prev);
                    self.words[prev] = at.place + 1;
                }
                None => self.words[word + 2] = at.place + 1,
            }
            self.words[word + 1] = at.place + 1;
        }
        self.words[word] += 1;
    }
    /// Whether the lists of sets are numbers.
    pub(super) const fn is_ordered(&self) -> bool {
        self.layout.is_small()
    }
    /// Puts pages into the first frames of a set that has never held any, and those into the first list, the last at
    /// its head; all in this state. The lists of sets are numbers.
    pub(super) fn fill_ordered(&mut self, set: Set, pages: &[u32], state: u32) {
        let Layout { tags, records, record, block, .. } = self.layout;
        let words = &mut self.words[set.block..set.block + block];
        words[tags..].iter_mut().zip(pages).for_each(|(tag, page)| *tag = page + 1);
        // nothing is known of them yet, so that their states are zero
        if state != 0 {
            words[records..].iter_mut().step_by(record).zip(pages).for_each(|(word, _)| *word = state);
        }
        let order = ORDERED.unbounded_shr(u64::BITS - 4 * pages.len() as u32);
        self.set_order(set, 0, order);
        self.words[Layout::list(set, 0)] = pages.len() as u32;
        *self.register(set, register::FRESH) = pages.len() as u32;
    }
    /// Takes it out of its list.
    #[inline]
    pub(super) fn unlink(&mut self, at: At) {
        let list = self.list_of(at);
        let word = Layout::list(at.set, list);
        self.words[word] -= 1;
        if self.layout.is_small() {
            let order = self.order(at.set, list);
            let bit = 4 * digit_of(order, at.place);
            let below = (1 << bit) - 1;
            self.set_order(at.set, list, order & below | order >> 4 & !below);
            return;
        }
        let [prev, next] = [Field::Prev, Field::Next].map(|field| self.words[self.layout.word(at, field)]);
        match prev.checked_sub(1) {
            Some(place) => {
                let word = self.layout.word(At { place, ..at }, Field::Next);
                self.words[word] = next;
            }
            None => self.words[word + 1] = next,
        }
        match next.checked_sub(1) {
            Some(place) => {
                let word = self.layout.word(At { place, ..at }, Field::Prev);
                self.words[word] = prev;
            }
            None => self.words[word + 2] = prev,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_where_it_stands() {
        // places beyond a list's length are digits of zero, as place 0 is: the lowest counts
        for (order, place, at) in
            [(0x0123_4567_89ab_cdef, 15, 0), (0x0123_4567_89ab_cdef, 0, 15), (0x10, 1, 1), (0x105, 0, 1)]
        {
            assert_eq!(digit_of(order, place), at, "{order:#x} {place}");
        }
    }

    #[test]
    fn a_set_of_sixteen_ways_is_four_lines() {
        assert_eq!(Layout::new(16, 3).block, 4 * LINE);
    }
}
