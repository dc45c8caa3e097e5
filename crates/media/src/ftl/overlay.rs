//! A sparse map from units to places: 8 B an entry, at most three quarters full.
//!
//! A 32-bit number is scrambled by a bijection; its upper 8 bits choose one of 256 tables, its lower 24 bits are
//! stored together with a place of 40 bits. So an entry identifies its unit exactly. A table that has grown is at
//! least three fifths full, and tables grow one at a time, so that growing never needs more than 1/256 of the map
//! twice.

/// Number of bits of a place; the largest value marks an empty entry.
const PLACE_BITS: u32 = 40;
const PLACE: u64 = (1 << PLACE_BITS) - 1;
const EMPTY: u64 = PLACE;
/// Number of tables, selected by the upper bits.
const TABLES: usize = 256;
const TAG_BITS: u32 = 24;

/// The largest place that can be stored.
pub const LARGEST: u64 = PLACE - 1;

#[derive(Clone, Default, Debug)]
struct Table {
    entries: Vec<u64>,
    used: usize,
}

/// A map from `u32` to places of 40 bits.
#[derive(Clone, Debug)]
pub struct Overlay {
    tables: Vec<Table>,
}

impl Overlay {
    /// An empty map.
    pub fn new() -> Self {
        Self { tables: vec![Table::default(); TABLES] }
    }

    /// The place of `unit`.
    #[inline]
    pub fn get(&self, unit: u32) -> Option<u64> {
        let (table, tag) = split(unit);
        let entries = &self.tables[table].entries;
        if entries.is_empty() {
            return None;
        }
        let entry = entries[find(entries, tag)];
        (entry & PLACE != EMPTY).then_some(entry & PLACE)
    }

    /// Loads the entry of `unit` into the CPU's cache, so that the misses of several units overlap.
    #[inline]
    pub fn warm(&self, unit: u32) {
        let (table, tag) = split(unit);
        let entries = &self.tables[table].entries;
        core::hint::black_box(entries.get(home(entries.len(), tag)).copied());
    }

    /// Sets the place of `unit`. Returns its previous place.
    #[inline]
    pub fn set(&mut self, unit: u32, place: u64) -> Option<u64> {
        debug_assert!(place <= LARGEST);
        let (table, tag) = split(unit);
        let table = &mut self.tables[table];
        if table.used * 4 >= table.entries.len() * 3 {
            table.grow();
        }
        let at = find(&table.entries, tag);
        let before = core::mem::replace(&mut table.entries[at], tag << PLACE_BITS | place) & PLACE;
        if before == EMPTY {
            table.used += 1;
            return None;
        }
        Some(before)
    }

    /// Number of units in the map.
    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.tables.iter().map(|table| table.used).sum()
    }
}

impl Table {
    #[cold]
    fn grow(&mut self) {
        let old = core::mem::take(&mut self.entries);
        // all tables fill equally and so grow at nearly the same time: by a fourth each, so that little room is
        // unused
        self.entries = vec![EMPTY; (old.len() * 5 / 4).max(8)];
        for entry in old.into_iter().filter(|entry| entry & PLACE != EMPTY) {
            let at = find(&self.entries, entry >> PLACE_BITS);
            self.entries[at] = entry;
        }
    }
}

#[inline]
const fn home(entries: usize, tag: u64) -> usize {
    ((tag * entries as u64) >> TAG_BITS) as usize
}

/// The index of `tag`, or of the empty entry where it would be.
#[inline]
fn find(entries: &[u64], tag: u64) -> usize {
    let mut at = home(entries.len(), tag);
    loop {
        let entry = entries[at];
        if entry & PLACE == EMPTY || entry >> PLACE_BITS == tag {
            return at;
        }
        at += 1;
        if at == entries.len() {
            at = 0;
        }
    }
}

#[inline]
fn split(unit: u32) -> (usize, u64) {
    // multiplication by an odd number and xor-shifts are bijections of 32 bits
    let x = unit.wrapping_mul(0x9e37_79b1);
    let x = (x ^ (x >> 15)).wrapping_mul(0x85eb_ca77);
    let x = x ^ (x >> 13);
    ((x >> TAG_BITS) as usize, u64::from(x) & ((1 << TAG_BITS) - 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn it_is_a_map(sets in proptest::collection::vec((0_u32..3000, 0_u64..=LARGEST), 0..4000)) {
            let mut overlay = Overlay::new();
            let mut naive = BTreeMap::new();
            for (unit, place) in sets {
                let unit = unit.wrapping_mul(0x0101_0101);
                prop_assert_eq!(overlay.set(unit, place), naive.insert(unit, place));
            }
            prop_assert_eq!(overlay.len(), naive.len());
            for unit in (0..3000_u32).map(|unit| unit.wrapping_mul(0x0101_0101)) {
                prop_assert_eq!(overlay.get(unit), naive.get(&unit).copied());
            }
        }
    }

    #[test]
    fn no_two_units_are_one() {
        let mut seen = std::collections::HashSet::new();
        assert!((0..2_000_000_u32).step_by(7).all(|unit| seen.insert(split(unit))));
    }
}
