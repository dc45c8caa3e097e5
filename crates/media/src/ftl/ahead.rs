//! Reading ahead of sequential reads.
//!
//! Requests that begin where another ended are a sequence; after `trigger` of them the drive reads the window behind
//! the last one. What has arrived, or is on its way, serves the requests that come for it.

use crate::config::{ReadAhead, UNIT};
use core::ops::Range;

/// Nobody.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Sequence {
    /// Where the next request would begin.
    next: u64,
    requests: u32,
    /// Up to where it has been read ahead.
    upto: u64,
    used: u64,
}

/// A run of units of one page.
#[derive(Clone, Debug)]
struct Entry {
    first: u64,
    units: u32,
    arrived: bool,
    forgotten: bool,
    /// Requests that wait for it.
    waiting: Vec<u32>,
}

/// What is read ahead.
#[derive(Debug)]
pub struct Ahead {
    config: ReadAhead,
    sequences: Vec<Sequence>,
    /// A ring; the oldest entry goes when the window of every sequence is full.
    entries: Vec<Entry>,
    next: usize,
    /// The last entry found, by unit: units of the window lie close together.
    index: Vec<u32>,
    clock: u64,
    /// Entries that are on their way.
    flying: usize,
}

impl Ahead {
    pub fn new(config: ReadAhead) -> Self {
        let units = (config.window.0 / UNIT) as usize * config.streams as usize;
        let entry = Entry { first: 0, units: 0, arrived: true, forgotten: true, waiting: Vec::new() };
        Self {
            config,
            sequences: Vec::new(),
            entries: vec![entry; 2 * units],
            next: 0,
            index: vec![NONE; (4 * units).next_power_of_two()],
            clock: 0,
            flying: 0,
        }
    }

    #[inline]
    fn find(&self, unit: u64) -> Option<u32> {
        let id = self.index[unit as usize & (self.index.len() - 1)];
        let entry = self.entries.get(id as usize)?;
        let holds = !entry.forgotten && (entry.first..entry.first + u64::from(entry.units)).contains(&unit);
        holds.then_some(id)
    }

    /// Whether a unit was read ahead, or is on its way.
    pub fn holds(&self, unit: u64) -> bool {
        self.find(unit).is_some()
    }

    /// Whether a unit was read ahead: true if it is there, false if the request waits for it.
    pub fn hit(&mut self, unit: u64, request: u32) -> Option<bool> {
        let id = self.find(unit)?;
        let entry = &mut self.entries[id as usize];
        if !entry.arrived {
            entry.waiting.push(request);
        }
        Some(entry.arrived)
    }

    /// Notes a read; which units are now to be read ahead.
    pub fn note(&mut self, first: u64, end: u64, units: u64) -> Range<u64> {
        self.clock += 1;
        let window = self.config.window.0 / UNIT;
        let Some(sequence) = self.sequences.iter_mut().find(|sequence| sequence.next == first) else {
            let new = Sequence { next: end, requests: 1, upto: end, used: self.clock };
            if self.sequences.len() < self.config.streams as usize {
                self.sequences.push(new);
            } else if let Some(oldest) = self.sequences.iter_mut().min_by_key(|sequence| sequence.used) {
                *oldest = new;
            }
            return end..end;
        };
        sequence.next = end;
        sequence.requests = sequence.requests.saturating_add(1);
        sequence.used = self.clock;
        sequence.upto = sequence.upto.max(end);
        if sequence.requests < self.config.trigger || self.flying + window as usize > self.entries.len() {
            return end..end;
        }
        let from = sequence.upto;
        sequence.upto = (end + window).min(units).max(from);
        from..sequence.upto
    }

    /// Notes that a run of units is being read; the number of its entry.
    pub fn expect(&mut self, first: u64, units: u32) -> u32 {
        // an entry that is on its way is not given to another
        while !self.entries[self.next].arrived {
            self.next = (self.next + 1) % self.entries.len();
        }
        self.flying += 1;
        let id = self.next as u32;
        self.next = (self.next + 1) % self.entries.len();
        let entry = &mut self.entries[id as usize];
        (entry.first, entry.units, entry.arrived, entry.forgotten) = (first, units, false, false);
        let mask = self.index.len() - 1;
        for unit in first..first + u64::from(units) {
            self.index[unit as usize & mask] = id;
        }
        id
    }

    /// A run has arrived; tells every request that waited for a unit of it.
    pub fn arrived(&mut self, id: u32, mut tell: impl FnMut(u32)) {
        let entry = &mut self.entries[id as usize];
        entry.arrived = true;
        self.flying -= 1;
        entry.waiting.drain(..).for_each(&mut tell);
    }

    /// A unit has been overwritten or unmapped: what was read ahead of it is out of date.
    pub fn forget(&mut self, unit: u64) {
        if let Some(id) = self.find(unit) {
            self.entries[id as usize].forgotten = true;
        }
    }
}
