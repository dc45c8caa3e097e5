//! A program that runs.

use super::counted::Counted;
use super::nodes;
use super::stored::Share;
use super::translation::PageTable;
use crate::roles::memory::PageAdvice;
use lanetwin_load::memory::{PageMap, Program};

/// Lines of a page.
const LINES: u64 = 64;

/// A program that runs.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) name: String,
    pub(super) program: Box<dyn Program>,
    pub(super) map: PageMap,
    /// Its pages, followed by those of its page table.
    pub(super) pages: u64,
    pub(super) table: PageTable,
    /// Whether its lines are never cached when it comes back to them.
    pub(super) cold: bool,
    /// If so, each thread's share of the caches.
    pub(super) share: Share,
    pub(super) counted: Counted,
    pub(super) advice: Option<PageAdvice>,
}

impl Running {
    /// The place of the line with this address; `last` is the page of the previous call.
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
    /// The place of the first line of a page, of those of its page table, too.
    pub(super) fn first_line(&self, page: u64) -> u64 {
        let (node, frame) = self.map.place(page);
        nodes::place(node, frame * LINES)
    }
}
