//! The lists of a set: a small one is a number whose digits are places, a large one is linked.

use super::directory::Directory;
use super::layout::{Field, LINE, Layout};
use super::set::{At, Set, register};

/// The order of 16 places, the last at the head.
const ORDERED: u64 = 0x0123_4567_89ab_cdef;

/// Position of a place in an order that contains it: the lowest equal digit.
#[inline]
const fn digit_of(order: u64, place: u32) -> u32 {
    const ONES: u64 = 0x1111_1111_1111_1111;
    let differs = order ^ (place as u64 * ONES);
    // the lowest digit of zero borrows first; those above it do not matter
    (differs.wrapping_sub(ONES) & !differs & (ONES << 3)).trailing_zeros() / 4
}

impl Directory {
    /// Reads the blocks of small sets, to bring them into the CPU's caches before they are needed. There is nothing
    /// else in between, so that the reads overlap.
    pub(super) fn prefetch(&self, sets: &[Set]) {
        if self.layout.is_small() {
            let block = |set: &Set| self.words[set.block..set.block + self.layout.block].iter().step_by(LINE);
            core::hint::black_box(sets.iter().flat_map(block).fold(0, |all, word| all ^ word));
        }
    }
    /// Length of a list.
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
    /// The last node of a list.
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
    /// The node before this one in its list.
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
    /// Inserts a node at the head of a list.
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
    /// Whether lists are stored as numbers.
    pub(super) const fn is_ordered(&self) -> bool {
        self.layout.is_small()
    }
    /// Puts pages into the first frames of a set that has never held any, and into its first list, the last page at
    /// the head; all with this state. Lists must be stored as numbers.
    pub(super) fn fill_ordered(&mut self, set: Set, pages: &[u32], state: u32) {
        let Layout { tags, records, record, block, .. } = self.layout;
        let words = &mut self.words[set.block..set.block + block];
        words[tags..].iter_mut().zip(pages).for_each(|(tag, page)| *tag = page + 1);
        // a state of zero is already there
        if state != 0 {
            words[records..].iter_mut().step_by(record).zip(pages).for_each(|(word, _)| *word = state);
        }
        let order = ORDERED.unbounded_shr(u64::BITS - 4 * pages.len() as u32);
        self.set_order(set, 0, order);
        self.words[Layout::list(set, 0)] = pages.len() as u32;
        *self.register(set, register::FRESH) = pages.len() as u32;
    }
    /// Removes a node from its list.
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
}
