//! Translation: TLBs, the page table of a program, and walks through it.
//!
//! ```text
//!  first-level TLB ─ miss ─► TLB ─ miss ─► walk: from the lowest level whose entry a paging-structure cache has, or from the root,
//!                                          one load for each level below, each after the one before, through the caches to memory
//! ```
//!
//! The tree is that of x86-64 (Intel 64 SDM volume 3, section 4.5): 512 entries of 8 B in a page of 4 KiB, 4 levels
//! or 5. Pages of 2 MiB and 1 GiB end it a level or two earlier: those of a placement, those that are mapped directly
//! (DAX), which are of 2 MiB, or all (`tlb.page`). Paging-structure caches are those of section 4.10.3: an entry of
//! one stands for everything above it. Each is fully associative and LRU, which the manual leaves open.
//!
//! Pages of tables are pages of the program, after its own, and are placed by its policy. A TLB or a paging-structure
//! cache has an entry as soon as the walk for it begins: a second load of the same page does not wait for the first
//! one's walk.
//!
//! Not here: accessed and dirty bits, nested paging, walks for prefetches, a limit on concurrent walks other than
//! fill buffers.

use super::cache::{Cache, Index, Replacement, Shape};
use super::ids::FlightId;
use lanetwin_load::memory::placement::Large;
use lanetwin_ports::{Dimension, Param, Params};
use lanetwin_units::Span;
use std::ops::Range;

/// Entries of a page of a page table: 4 KiB of 8 B each, as a power of two.
pub(super) const ENTRIES_SHIFT: u32 = 9;
/// Entries in a line.
const ENTRIES_OF_LINE: u64 = 8;
/// Position of the program's number in the key of a translation.
pub(super) const PROGRAM_SHIFT: u32 = 48;
/// Levels above the lowest that have a cache: PDE, PDPTE, PML4E.
const CACHED_LEVELS: usize = 3;
const CACHES: [&str; CACHED_LEVELS] = ["tlb.pde.entries", "tlb.pdpte.entries", "tlb.pml4e.entries"];

#[rustfmt::skip]
pub(super) const TRANSLATION: &[Param] = &[
    Param { name: "tlb.first.entries", dimension: Dimension::Count { least: 0, most: 1 << 16 }, default: Some("0"), about: "how many translations a first-level TLB of the core keeps; 0 is none: all are in the one behind it" },
    Param { name: "tlb.first.miss", dimension: Dimension::Time, default: Some("0ns"), about: "what a translation takes that only the TLB behind it has" },
    Param { name: "tlb.entries", dimension: Dimension::Count { least: 0, most: 1 << 20 }, default: Some("0"), about: "how many translations a hardware thread's core keeps; 0 is all" },
    Param { name: "tlb.ways", dimension: Dimension::Count { least: 1, most: 64 }, default: Some("8"), about: "the ways of that cache of translations" },
    Param { name: "tlb.page", dimension: Dimension::Size, default: Some("4KiB"), about: "what a translation reaches: the size of a page" },
    Param { name: "tlb.walk", dimension: Dimension::Time, default: Some("5ns"), about: "what a page walk takes beside its loads of entries, which go through the caches to memory" },
    Param { name: "tlb.levels", dimension: Dimension::Count { least: 1, most: 5 }, default: Some("4"), about: "levels of the page table for pages of 4 KiB; one less for 2 MiB, two less for 1 GiB" },
    Param { name: "tlb.pde.entries", dimension: Dimension::Count { least: 0, most: 4096 }, default: Some("32"), about: "page-directory entries that a core keeps, for 2 MiB each; a walk that finds its own loads one entry" },
    Param { name: "tlb.pdpte.entries", dimension: Dimension::Count { least: 0, most: 4096 }, default: Some("4"), about: "entries of the level above that a core keeps, for 1 GiB each" },
    Param { name: "tlb.pml4e.entries", dimension: Dimension::Count { least: 0, most: 4096 }, default: Some("1"), about: "entries of the level above that, for 512 GiB each" },
];

/// Translation parameters of a core.
#[derive(Clone, Copy, Debug)]
pub(super) struct TranslationRules {
    pub(super) tlb: Shape,
    /// A TLB in front of it, and the time of a miss in that.
    pub(super) first: Option<Shape>,
    pub(super) first_miss: Span,
    /// Pages of 4 KiB in one of a translation, as a power of two.
    pub(super) page_shift: u32,
    /// Time of a walk in addition to its loads.
    pub(super) walk: Span,
    /// Levels from the root to the entry that maps a page.
    pub(super) levels: u32,
    /// Entries of the cache for the level above that, for the level above this, and so on.
    upper: [u64; CACHED_LEVELS],
}

impl TranslationRules {
    /// `None` if every translation is available at once.
    pub(super) fn new(params: &Params) -> Option<Self> {
        let (entries, first) = (params.count("tlb.entries"), params.count("tlb.first.entries"));
        let tlb = lru(entries, params.count("tlb.ways"));
        let page_shift = (params.size("tlb.page").0 / 4096).max(1).ilog2();
        let skipped = page_shift / ENTRIES_SHIFT;
        let mut upper = [0; CACHED_LEVELS];
        let names = CACHES.iter().skip(skipped as usize);
        upper.iter_mut().zip(names).for_each(|(entries, name)| *entries = params.count(name));
        (entries > 0).then(|| Self {
            tlb,
            first: (first > 0).then_some(Shape { lines: first, ..tlb }),
            first_miss: params.time("tlb.first.miss"),
            page_shift,
            walk: params.time("tlb.walk"),
            levels: (params.count("tlb.levels") as u32).saturating_sub(skipped).max(1),
            upper,
        })
    }
}

const fn lru(lines: u64, ways: u64) -> Shape {
    Shape { lines, ways, replacement: Replacement::Lru, index: Index::Modulo }
}

/// Cached translations of a core.
#[derive(Debug)]
pub(super) struct Translations {
    pub(super) tlb: Cache,
    pub(super) first: Option<Cache>,
    upper: [Cache; CACHED_LEVELS],
}

impl Translations {
    pub(super) fn new(rules: &TranslationRules, seed: u64) -> Self {
        Self {
            tlb: Cache::new(rules.tlb, seed),
            first: rules.first.map(|shape| Cache::new(shape, seed)),
            upper: rules.upper.map(|entries| Cache::new(lru(entries, entries.max(1)), seed)),
        }
    }
    /// Begins the walk for a missing translation, which is cached from now on, as are the upper levels that the walk
    /// reads.
    pub(super) fn begin_walk(&mut self, wanted: TranslationKey, levels: u32) -> Walk {
        let TranslationKey { translation, page: path, last } = wanted;
        self.tlb.insert(translation, false);
        // the level below the lowest cached one is the first to be loaded
        let known = (last + 1..levels)
            .find(|level| {
                let cache = self.upper.get_mut(*level as usize - 1);
                cache.is_some_and(|cache| cache.touch(path >> (ENTRIES_SHIFT * level), false))
            })
            .unwrap_or(levels);
        for level in last + 1..known {
            if let Some(cache) = self.upper.get_mut(level as usize - 1) {
                cache.insert(path >> (ENTRIES_SHIFT * level), false);
            }
        }
        Walk { level: known - 1, last }
    }
}

/// The translation that an address needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TranslationKey {
    /// Its name in the TLBs.
    pub(super) translation: u64,
    /// The name of its page, as if it were as small as others: its upper bits name the entries above.
    page: u64,
    /// The level that maps it: 0, 1 for a page of 2 MiB among pages of 4 KiB, 2 for one of 1 GiB.
    last: u32,
}

impl TranslationKey {
    /// The translation of a page that a level maps.
    pub(super) const fn by(page: u64, last: u32) -> Self {
        let own = if last == 0 { 0 } else { 1 << (PROGRAM_SHIFT - last) };
        let program = page >> PROGRAM_SHIFT << PROGRAM_SHIFT;
        let number = page - program;
        Self { translation: program | own | number >> (ENTRIES_SHIFT * last), page, last }
    }
    /// The number of the page in its program.
    pub(super) const fn number(self) -> u64 {
        self.page & ((1 << PROGRAM_SHIFT) - 1)
    }
}

/// A walk in progress: the next level to load, and the level that maps the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Walk {
    pub(super) level: u32,
    pub(super) last: u32,
}

/// Addresses of a program's page table: its levels one after the other, the one that maps pages first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct PageTable {
    levels: Vec<Level>,
    end: u64,
}

/// A level of a page table.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Level {
    /// Its first page.
    first: u64,
    /// Pages of entries that are not there, since a level above maps all that they would map: the first that is
    /// missing, and the first that is not.
    missing: Vec<Range<u64>>,
}

impl Level {
    /// A level whose pages of entries span 2^span pages of 4 KiB each.
    fn new(first: u64, span: u32, large: &[Large]) -> Self {
        let above = large.iter().filter(|large| large.size.shift() >= span);
        let whole = above.map(|large| large.pages.start.div_ceil(1 << span)..large.pages.end >> span);
        Self { first, missing: whole.filter(|pages| !pages.is_empty()).collect() }
    }
    /// The address of its n-th page of entries.
    fn page(&self, n: u64) -> u64 {
        let before = |pages: &Range<u64>| pages.end.min(n).saturating_sub(pages.start);
        self.first + n - self.missing.iter().map(before).sum::<u64>()
    }
}

impl PageTable {
    /// A table behind `pages` pages of 4 KiB, some of which are in larger ones; empty without rules.
    pub(super) fn new(pages: u64, large: &[Large], rules: Option<&TranslationRules>) -> Self {
        let (mut levels, mut end) = (Vec::new(), pages);
        if let Some(rules) = rules {
            for level in 1..=rules.levels {
                let span = rules.page_shift + ENTRIES_SHIFT * level;
                // nothing is above the root
                let large = if level < rules.levels { large } else { &[] };
                levels.push(Level::new(end, span, large));
                end = levels[level as usize - 1].page(pages.div_ceil(1 << span));
            }
        }
        Self { levels, end }
    }
    /// Number of pages of the program and its table.
    pub(super) const fn end(&self) -> u64 {
        self.end
    }
    /// The page and the line in it that have the entry of a level for the page with this number.
    pub(super) fn entry(&self, number: u64, level: u32) -> (u64, u64) {
        let entry = number >> (ENTRIES_SHIFT * level);
        let in_page = entry & ((1 << ENTRIES_SHIFT) - 1);
        (self.levels[level as usize].page(entry >> ENTRIES_SHIFT), in_page / ENTRIES_OF_LINE)
    }
}

/// Walks that wait for memory, by their flights: few, and searched through.
#[derive(Default, Debug)]
pub(super) struct Walks {
    walks: Vec<(FlightId, u64, Walk)>,
}

impl Walks {
    pub(super) fn wait(&mut self, flight: FlightId, number: u64, walk: Walk) {
        self.walks.push((flight, number, walk));
    }
    pub(super) fn take(&mut self, flight: FlightId) -> Option<(u64, Walk)> {
        let at = self.walks.iter().position(|(waits, ..)| *waits == flight)?;
        let (_, number, walk) = self.walks.swap_remove(at);
        Some((number, walk))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_load::memory::PageSize;
    use proptest::prelude::*;

    fn rules(levels: u32, page_shift: u32, upper: [u64; CACHED_LEVELS]) -> TranslationRules {
        let (tlb, first, time) = (lru(4, 4), None, Span::ZERO);
        TranslationRules { tlb, first, first_miss: time, page_shift, walk: time, levels, upper }
    }

    fn small(number: u64) -> TranslationKey {
        TranslationKey::by(number, 0)
    }
    /// The page of 2 MiB that has this page of 4 KiB.
    fn huge(number: u64) -> TranslationKey {
        TranslationKey::by(number, 1)
    }

    #[test]
    fn a_walk_for_a_page_of_2_mib_ends_a_level_earlier() {
        let mut core = Translations::new(&rules(4, 0, [2, 1, 1]), 1);
        assert_eq!(core.begin_walk(huge(0), 4), Walk { level: 3, last: 1 });
        assert_eq!(core.begin_walk(huge(512), 4), Walk { level: 1, last: 1 }, "the same gigabyte: one load");
        assert_eq!(
            core.begin_walk(small(513), 4),
            Walk { level: 1, last: 0 },
            "an entry that maps a page is none above pages of 4 KiB"
        );
    }

    #[test]
    fn a_table_has_a_page_for_512_entries_of_each_level() {
        let table = |pages, levels, shift| PageTable::new(pages, &[], Some(&rules(levels, shift, [0; 3])));
        // 1 GiB of pages of 4 KiB: 512 page tables, a directory, and a page for each level above
        assert_eq!(table(1 << 18, 4, 0).end() - (1 << 18), 512 + 1 + 1 + 1);
        assert_eq!(table((1 << 18) + 1, 4, 0).end() - (1 << 18) - 1, 513 + 2 + 1 + 1);
        assert_eq!(table(1 << 18, 3, 9).end() - (1 << 18), 1 + 1 + 1);
        assert_eq!(PageTable::new(77, &[], None).end(), 77);
        let of = table(1 << 18, 4, 0);
        assert_eq!(of.entry(513, 0), ((1 << 18) + 1, 0));
        assert_eq!(of.entry(513 + 8, 0), ((1 << 18) + 1, 1));
        assert_eq!(of.entry(16 * 512, 1), ((1 << 18) + 512, 2));
        assert_eq!(of.entry((1 << 18) - 1, 3), ((1 << 18) + 514, 0));
    }

    proptest! {
        /// Entries of all levels lie in the pages of their level, and two pages share one exactly if they share their
        /// upper bits.
        #[test]
        fn every_entry_is_in_its_level(pages in 1..5_000_000_u64, a in any::<u64>(), b in any::<u64>(), levels in 1..6_u32) {
            let table = PageTable::new(pages, &[], Some(&rules(levels, 0, [0; 3])));
            let (a, b) = (a % pages, b % pages);
            for level in 0..levels {
                let (page, line) = table.entry(a, level);
                let end = table.levels.get(level as usize + 1).map_or(table.end(), |next| next.first);
                prop_assert!((table.levels[level as usize].first..end).contains(&page) && line < 64);
                let same = a >> (9 * level) >> 3 == b >> (9 * level) >> 3;
                prop_assert_eq!(same, table.entry(b, level) == (page, line));
            }
        }
    }

    #[test]
    fn a_table_has_no_pages_for_what_a_level_above_maps() {
        let large = |pages, size| Large { pages, size };
        let table = |pages, large: &[Large]| PageTable::new(pages, large, Some(&rules(4, 0, [0; 3])));
        // 4 GiB and 13 pages, all but these in pages of 2 MiB: four directories and one, and one page table of the 2049
        let all = (4 << 18) + 13;
        let huge = table(all, &[large(0..4 << 18, PageSize::Huge)]);
        assert_eq!(huge.end() - all, 1 + 5 + 1 + 1);
        assert_eq!(
            (huge.entry(4 << 18, 0), huge.entry(0, 1), huge.entry(4 << 18, 1)),
            ((all, 0), (all + 1, 0), (all + 5, 0))
        );
        // in pages of 1 GiB: one directory, too
        assert_eq!(table(all, &[large(0..4 << 18, PageSize::Gigantic)]).end() - all, 1 + 1 + 1 + 1);
        // a device that begins amid a page of entries leaves that page where it is
        let direct = table(4096, &[large(100..1124, PageSize::Huge)]);
        assert_eq!(direct.end() - 4096, 7 + 1 + 1 + 1);
        assert_eq!([direct.entry(99, 0).0, direct.entry(1124, 0).0], [4096, 4097]);
        // where all pages of the core are that large, nothing is above them
        let coarse = PageTable::new(all, &[large(0..4 << 18, PageSize::Huge)], Some(&rules(3, 9, [0; 3])));
        assert_eq!(coarse, PageTable::new(all, &[], Some(&rules(3, 9, [0; 3]))));
    }

    #[test]
    fn a_walk_for_a_page_of_1_gib_ends_two_levels_earlier() {
        let mut core = Translations::new(&rules(4, 0, [2, 1, 1]), 1);
        assert_eq!(core.begin_walk(TranslationKey::by(0, 2), 4), Walk { level: 3, last: 2 });
        assert_eq!(
            core.begin_walk(TranslationKey::by(1 << 18, 2), 4),
            Walk { level: 2, last: 2 },
            "the same 512 GiB"
        );
        // no two sizes have a name in common, nor two programs
        let names = [
            TranslationKey::by(0, 0),
            TranslationKey::by(0, 1),
            TranslationKey::by(0, 2),
            TranslationKey::by(1 << PROGRAM_SHIFT, 2),
        ];
        assert!(
            names
                .iter()
                .enumerate()
                .all(|(i, one)| names[..i].iter().all(|other| one.translation != other.translation))
        );
    }

    #[test]
    fn a_walk_begins_below_the_lowest_entry_that_is_cached() {
        let mut core = Translations::new(&rules(4, 0, [2, 1, 1]), 1);
        let mut first = |number| core.begin_walk(small(number), 4).level;
        assert_eq!(first(0), 3, "nothing is cached: all four levels");
        assert_eq!(first(1), 0, "the same directory entry");
        assert_eq!(first(512), 1, "the same gigabyte");
        assert_eq!(first(1 << 18), 2, "the same 512 GiB");
        assert_eq!(first(2), 2, "the directory entry is gone, and so is the one gigabyte");
    }

    #[test]
    fn without_caches_every_walk_loads_every_level() {
        for levels in 1..=5 {
            let mut core = Translations::new(&rules(levels, 0, [0; 3]), 1);
            assert!((0..3).all(|_| core.begin_walk(small(9), levels).level == levels - 1));
        }
    }
}
