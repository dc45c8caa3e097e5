//! Parameters of the initial contents of a warm cache.

use super::config::{CacheConfig, Initial, PAGE};

/// Parameters of the drawn contents.
#[derive(Clone, Debug)]
pub(super) struct Warm {
    /// The working set \[pages\].
    pub(super) first: u64,
    pub(super) end: u64,
    /// Start of the pages that are always cached, and clean.
    pub(super) tables: u64,
    pub(super) dirty: f64,
    /// Approximate number of dirty pages in all sets together.
    pub(super) dirty_pages: u64,
    /// Number of sets drawn.
    pub(super) drawn: u64,
    /// Kept to reuse their memory: the pages that map to a set, and the places of the dirty ones.
    pub(super) pages: Vec<u32>,
    pub(super) dirtied: Vec<u32>,
}

impl Warm {
    pub(super) fn new(config: &CacheConfig) -> Option<Self> {
        let Initial::Warm { first, size, dirty, tables } = config.initial else { return None };
        let (first, count) = (first / PAGE, size.0 / PAGE);
        let dirty_pages = (dirty * (count - tables.0 / PAGE).min(config.frames()) as f64) as u64;
        Some(Self {
            first,
            end: first + count,
            tables: first + count - tables.0 / PAGE,
            dirty,
            dirty_pages,
            drawn: 0,
            pages: Vec::new(),
            dirtied: Vec::new(),
        })
    }
    /// Whether no drawn page is dirty.
    pub(super) fn is_clean(&self) -> bool {
        self.dirty <= 0.0
    }
}
