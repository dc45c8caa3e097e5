//! The mapping cache of a drive without DRAM for its table (Gupta et al. 2009, DFTL).
//!
//! The table lies on flash, 512 entries of 8 B to a translation page of 4 KiB; the cache holds pages, in sets of eight,
//! and replaces the least recently used one of a set. Writing back changed translation pages is not modelled.

use crate::config::MappingTable;
use lanetwin_units::mix;

/// Units of a translation page.
pub const ENTRIES: u64 = 512;
const WAYS: usize = 8;
const NOTHING: u64 = u64::MAX;

/// The cache.
#[derive(Debug)]
pub struct Translation {
    /// Pages by set, the most recently used one first.
    pages: Vec<u64>,
    sets: u64,
    ways: usize,
    pub hits: u64,
    pub misses: u64,
}

impl Translation {
    /// The cache of a mapping table. Returns `None` if the table needs none.
    pub fn new(table: MappingTable) -> Option<Self> {
        let MappingTable::Cached { pages, .. } = table else { return None };
        let ways = WAYS.min(pages as usize);
        let sets = u64::from(pages) / ways as u64;
        Some(Self { pages: vec![NOTHING; sets as usize * ways], sets, ways, hits: 0, misses: 0 })
    }
    /// Looks the page of a unit up and puts it into the cache. Returns whether it was there, and the first unit of
    /// the next page.
    pub fn look_up(&mut self, unit: u64) -> (bool, u64) {
        let page = unit / ENTRIES;
        let first = ((u128::from(mix(page)) * u128::from(self.sets)) >> 64) as usize * self.ways;
        let set = &mut self.pages[first..first + self.ways];
        let at = set.iter().position(|held| *held == page);
        set[..=at.unwrap_or(self.ways - 1)].rotate_right(1);
        set[0] = page;
        if at.is_some() {
            self.hits += 1
        } else {
            self.misses += 1
        }
        (at.is_some(), (page + 1) * ENTRIES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_units::Span;

    #[test]
    fn the_least_recently_used_page_goes() {
        let mut cache = Translation::new(MappingTable::Cached { pages: 2, hit: Span::ZERO }).unwrap();
        let hit = |cache: &mut Translation, page: u64| cache.look_up(page * ENTRIES + 3).0;
        assert!(!hit(&mut cache, 1) && !hit(&mut cache, 2) && hit(&mut cache, 1));
        assert!(!hit(&mut cache, 3), "page 2 goes");
        assert!(hit(&mut cache, 1) && !hit(&mut cache, 2));
        assert_eq!((cache.hits, cache.misses), (2, 4));
    }
}
