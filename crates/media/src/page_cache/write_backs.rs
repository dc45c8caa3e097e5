//! Pages on their way to the medium, and the cleaner that sends dirty ones before they have to go.

use super::config::Cleaning;
use super::set::At;
use std::collections::VecDeque;

/// A page on its way to the medium.
#[derive(Clone, Copy, Debug)]
pub(super) struct WriteBack {
    pub(super) page: u32,
    /// Where it stays meanwhile, if it is being cleaned.
    pub(super) cleans: Option<At>,
    /// What it still waits for before it can be written: its lines from the cache, the others from the medium.
    pub(super) awaits: u8,
    /// How often the medium has refused it.
    pub(super) refused: u8,
}

/// So many pages can be on their way.
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
    /// Takes a slot, of which there is one free; its number.
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

/// Which dirty page is next, and whether it is time.
#[derive(Debug)]
pub(super) struct Cleaner {
    pub(super) at_once: u32,
    /// Watermarks \[pages\].
    high: u64,
    low: u64,
    pub(super) running: u32,
    active: bool,
    /// Dirty pages in the order in which they became so; some have gone or become clean.
    pub(super) queue: VecDeque<u32>,
    /// The first set that may not have been visited.
    pub(super) cursor: u64,
}

impl Cleaner {
    pub(super) fn new(config: Cleaning, frames: u64) -> Self {
        // shares are of a whole number of pages; the nearest below
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
    /// Whether one more page should be cleaned, if so many are dirty.
    pub(super) const fn wants(&mut self, dirty: u64) -> bool {
        if dirty > self.high {
            self.active = true;
        } else if dirty <= self.low {
            self.active = false;
        }
        self.active && self.running < self.at_once
    }
}
