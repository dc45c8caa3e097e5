//! What a cache that starts warm is drawn from.

use super::config::{CacheConfig, Initial, PAGE};

/// What is drawn.
#[derive(Clone, Debug)]
pub(super) struct Warm {
    /// The working set \[pages\].
    pub(super) first: u64,
    pub(super) end: u64,
    /// Where pages begin that are there for certain, and clean.
    pub(super) tables: u64,
    pub(super) dirty: f64,
    /// How many pages are dirty in all sets together, about.
    pub(super) dirty_pages: u64,
    /// How many sets have been drawn.
    pub(super) drawn: u64,
    /// Kept for their room: the pages that belong in a set, and the places of those that are dirty.
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
    /// Whether no page that is drawn is dirty.
    pub(super) fn is_clean(&self) -> bool {
        self.dirty <= 0.0
    }
}
