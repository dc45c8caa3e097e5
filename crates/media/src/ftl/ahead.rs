//! Reading ahead of sequential reads.
//!
//! Commands that begin where another ended are a sequence. After `trigger` of them the drive reads the window behind
//! every part of a command that arrives. Requests are served from the data that have been read, or wait for those on
//! their way.
//!
//! A command that arrives in parts counts once, and the sequence continues at the end of all of it: its parts may
//! arrive in any order, and a single command is never a sequence.

use crate::config::{ReadAhead, UNIT};
use core::ops::Range;

/// No entry.
const NONE: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Sequence {
    /// Range of units of its last command; the next command would begin at its end.
    first: u64,
    next: u64,
    commands: u32,
    /// End of the units read ahead for it.
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

/// Data read ahead.
#[derive(Debug)]
pub struct Ahead {
    config: ReadAhead,
    sequences: Vec<Sequence>,
    /// A ring; the oldest entry is replaced when the windows of all sequences are full.
    entries: Vec<Entry>,
    next: usize,
    /// Entry found last for a unit: units of a window lie close together.
    index: Vec<u32>,
    clock: u64,
    /// Number of entries being read.
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

    /// Whether a unit was read ahead, or is being read.
    pub fn holds(&self, unit: u64) -> bool {
        self.find(unit).is_some()
    }

    /// Looks up a unit: true if it has been read ahead, false if the request has to wait for it, `None` if it is not
    /// there.
    pub fn hit(&mut self, unit: u64, request: u32) -> Option<bool> {
        let id = self.find(unit)?;
        let entry = &mut self.entries[id as usize];
        if !entry.arrived {
            entry.waiting.push(request);
        }
        Some(entry.arrived)
    }

    /// Notes a read of some units of a command. Returns the units to be read ahead. `units` is the size of the drive.
    pub fn note(&mut self, read: &Range<u64>, command: &Range<u64>, units: u64) -> Range<u64> {
        self.clock += 1;
        let window = self.config.window.0 / UNIT;
        let of =
            self.sequence_of(command).or_else(|| (read.start == command.start).then(|| self.begin(command)));
        let Some(sequence) = of.map(|place| &mut self.sequences[place]) else { return read.end..read.end };
        sequence.used = self.clock;
        sequence.upto = sequence.upto.max(read.end);
        if sequence.commands < self.config.trigger || self.flying + window as usize > self.entries.len() {
            return read.end..read.end;
        }
        let from = sequence.upto;
        sequence.upto = (read.end + window).min(units).max(from);
        from..sequence.upto
    }

    /// The sequence that a command continues, or whose last command it is.
    fn sequence_of(&mut self, command: &Range<u64>) -> Option<usize> {
        let known = |of: &Sequence| of.next == command.start || (of.first..of.next) == *command;
        let place = self.sequences.iter().position(known)?;
        let sequence = &mut self.sequences[place];
        if sequence.next == command.start {
            (sequence.first, sequence.next) = (command.start, command.end);
            sequence.commands = sequence.commands.saturating_add(1);
        }
        Some(place)
    }

    /// Begins a sequence, in place of the least recently used one if there are too many.
    fn begin(&mut self, command: &Range<u64>) -> usize {
        let new = Sequence {
            first: command.start,
            next: command.end,
            commands: 1,
            upto: command.start,
            used: self.clock,
        };
        if self.sequences.len() < self.config.streams as usize {
            self.sequences.push(new);
            return self.sequences.len() - 1;
        }
        let by_use = (0..self.sequences.len()).min_by_key(|&place| self.sequences[place].used);
        let place = by_use.expect("a drive that reads ahead tells at least one stream apart");
        self.sequences[place] = new;
        place
    }

    /// Notes that a run of units is being read. Returns the number of its entry.
    pub fn expect(&mut self, first: u64, units: u32) -> u32 {
        // an entry that is still being read is not reused
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

    /// Notes that a run has arrived; calls `tell` for every request that waited for it.
    pub fn arrived(&mut self, id: u32, mut tell: impl FnMut(u32)) {
        let entry = &mut self.entries[id as usize];
        entry.arrived = true;
        self.flying -= 1;
        entry.waiting.drain(..).for_each(&mut tell);
    }

    /// Discards the run with a unit that has been overwritten or unmapped.
    pub fn forget(&mut self, unit: u64) {
        if let Some(id) = self.find(unit) {
            self.entries[id as usize].forgotten = true;
        }
    }
}
