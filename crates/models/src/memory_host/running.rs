//! A program that runs.

use super::counted::Counted;
use super::hints::PageAdvice;
use super::nodes;
use lanetwin_load::memory::placement::HUGE;
use lanetwin_load::memory::{PageMap, Program};
use std::ops::Range;

/// Translations of a page of the page table: 4 KiB of 8 B each (Intel 64 SDM volume 3, section 4.5).
const ENTRIES: u64 = 512;
/// Lines of a page.
const LINES: u64 = 64;

/// A program that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) name: String,
    pub(super) program: Box<dyn Program>,
    pub(super) map: PageMap,
    /// Its pages; those of its page table come behind them.
    pub(super) pages: u64,
    /// Whether no cache ever has its lines when they come again.
    pub(super) cold: bool,
    /// Then: so many steps of a thread after a store, the line is written back.
    pub(super) lag: u64,
    pub(super) counted: Counted,
    /// Pages that are mapped in pages of 2 MiB, with the number of the first translation of each; and how many translations there are.
    pub(super) huge: Vec<(Range<u64>, u64)>,
    pub(super) advice: Option<PageAdvice>,
}

impl Running {
    /// The place of the line with this address; `last` is the page that was asked for last.
    ///
    /// # Panics
    /// If the address is beyond the program's footprint: a mistake in the program.
    #[inline]
    pub(super) fn line(&self, address: u64, last: &mut (u64, u64)) -> u64 {
        let page = address >> 12;
        if page != last.0 {
            assert!(page < self.pages, "{} touches {address:#x}, beyond its footprint", self.name);
            *last = (page, self.first_line(page));
        }
        last.1 + (address >> 6) % LINES
    }
    /// The number of the translation of a page, where a translation reaches so many pages (a power of two); directly mapped pages have
    /// translations of their own.
    #[inline]
    pub(super) fn translation(&self, page: u64, shift: u32) -> u64 {
        if self.huge.is_empty() { page >> shift } else { self.huge_translation(page, shift) }
    }
    fn huge_translation(&self, page: u64, shift: u32) -> u64 {
        let own = self.huge.iter().find(|(pages, _)| pages.contains(&page));
        own.map_or(page >> shift, |(pages, number)| number + (page - pages.start) / HUGE)
    }
    /// The first translations of directly mapped pages, behind `before` others, and how many there are in all.
    pub(super) fn huge(map: &[Range<u64>], before: u64) -> (Vec<(Range<u64>, u64)>, u64) {
        let mut next = before;
        let number = |pages: &Range<u64>| {
            let first = next;
            next += (pages.end - pages.start).div_ceil(HUGE);
            (pages.clone(), first)
        };
        let all = map.iter().map(number).collect();
        (all, next)
    }
    /// The place of the line with a translation: the entry of this page in the lowest level of the page table.
    pub(super) fn entry(&self, page: u64) -> u64 {
        self.first_line(self.pages + page / ENTRIES) + page % ENTRIES / 8
    }
    fn first_line(&self, page: u64) -> u64 {
        let (node, frame) = self.map.place(page);
        nodes::place(node, frame * LINES)
    }
    /// The pages that a page table with so many translations takes.
    pub(super) const fn table(translations: u64) -> u64 {
        translations.div_ceil(ENTRIES)
    }
}
