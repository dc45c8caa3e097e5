//! Index of pages for sets too large to be searched: a hash table with linear probing.

use lanetwin_units::mix;

/// Map from pages to places. Zero marks an empty slot, so that untouched parts cost no memory.
#[derive(Clone, Debug)]
pub(super) struct Index {
    /// Page + 1 and place, by slot; a power of two, at most half full.
    slots: Vec<[u32; 2]>,
}

impl Index {
    /// An empty table for `places` places.
    pub(super) fn new(places: u64) -> Self {
        Self { slots: vec![[0; 2]; (2 * places as usize).next_power_of_two()] }
    }
    /// The place of a page.
    pub(super) fn get(&self, page: u32) -> Option<u32> {
        let slot = self.slots[self.slot(page)];
        (slot[0] != 0).then_some(slot[1])
    }
    /// Sets the place of a page.
    pub(super) fn put(&mut self, page: u32, place: u32) {
        let at = self.slot(page);
        self.slots[at] = [page + 1, place];
    }
    /// Removes a page that is in the table, and closes the gap.
    pub(super) fn remove(&mut self, page: u32) {
        let mask = self.slots.len() - 1;
        let mut gap = self.slot(page);
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let [next, _] = self.slots[at];
            if next == 0 {
                break;
            }
            // an entry whose home is at the gap or before it, in probing order, moves into it
            let home = self.home(next - 1);
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(gap) & mask) {
                self.slots[gap] = self.slots[at];
                gap = at;
            }
        }
        self.slots[gap] = [0; 2];
    }
    fn home(&self, page: u32) -> usize {
        mix(u64::from(page)) as usize & (self.slots.len() - 1)
    }
    /// The slot of a page, or the empty slot where it would be.
    fn slot(&self, page: u32) -> usize {
        let mut at = self.home(page);
        while self.slots[at][0] != 0 && self.slots[at][0] != page + 1 {
            at = (at + 1) & (self.slots.len() - 1);
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_map(steps in prop::collection::vec((0_u32..40, any::<bool>()), 0..300)) {
            let (mut index, mut map) = (Index::new(40), BTreeMap::new());
            for (n, (page, put)) in (0..).zip(steps) {
                if put {
                    index.put(page, n);
                    map.insert(page, n);
                } else if map.remove(&page).is_some() {
                    index.remove(page);
                }
                for page in 0..40 {
                    prop_assert_eq!(index.get(page), map.get(&page).copied());
                }
            }
        }
    }
}
