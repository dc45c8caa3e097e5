//! Pages being written to the medium, and the cleaner, which writes dirty pages before their eviction.

use super::config::Cleaning;
use super::set::At;
use std::collections::VecDeque;

/// A page being written to the medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteBack {
    pub(super) page: u32,
    /// Its frame, if it is being cleaned.
    pub(super) cleans: Option<At>,
    /// Number of parts it still waits for before it can be written: its lines from the cache, the others from the
    /// medium.
    pub(super) awaits: u8,
    /// Number of times the medium has refused it.
    pub(super) refused: u8,
}

/// A fixed number of write-backs.
#[derive(Debug)]
pub(super) struct WriteBacks {
    slots: Vec<Option<WriteBack>>,
    free: Vec<u32>,
}

impl WriteBacks {
    pub(super) fn new(count: u32) -> Self {
        Self { slots: vec![None; count as usize], free: (0..count).rev().collect() }
    }
    pub(super) fn is_full(&self) -> bool {
        self.free.is_empty()
    }
    pub(super) const fn under_way(&self) -> usize {
        self.slots.len() - self.free.len()
    }
    pub(super) fn has(&self, page: u32) -> bool {
        self.under_way() > 0 && self.slots.iter().flatten().any(|slot| slot.page == page)
    }
    /// Takes a slot; one must be free. Returns its number.
    pub(super) fn take(&mut self, write_back: WriteBack) -> u32 {
        let number = self.free.pop().expect("a slot is free");
        self.slots[number as usize] = Some(write_back);
        number
    }
    pub(super) fn get(&mut self, number: u32) -> Option<&mut WriteBack> {
        self.slots.get_mut(number as usize)?.as_mut()
    }
    pub(super) fn release(&mut self, number: u32) -> Option<WriteBack> {
        let slot = self.slots.get_mut(number as usize)?.take()?;
        self.free.push(number);
        Some(slot)
    }
}

/// Selects dirty pages to clean, and when.
#[derive(Debug)]
pub(super) struct Cleaner {
    pub(super) at_once: u32,
    /// Watermarks \[pages\].
    high: u64,
    low: u64,
    pub(super) running: u32,
    active: bool,
    /// Dirty pages in the order in which they became dirty; some have been evicted or cleaned since.
    pub(super) queue: VecDeque<u32>,
    /// The first set that may not have been visited.
    pub(super) cursor: u64,
}

impl Cleaner {
    pub(super) fn new(config: Cleaning, frames: u64) -> Self {
        // shares are rounded down to whole pages
        let pages = |share: f64| (share * frames as f64) as u64;
        Self {
            at_once: config.at_once,
            high: pages(config.high),
            low: pages(config.low),
            running: 0,
            active: false,
            queue: VecDeque::new(),
            cursor: 0,
        }
    }
    /// Whether another page should be cleaned, if `dirty` pages are dirty.
    pub(super) const fn wants(&mut self, dirty: u64) -> bool {
        if dirty > self.high {
            self.active = true;
        } else if dirty <= self.low {
            self.active = false;
        }
        self.active && self.running < self.at_once
    }
}
