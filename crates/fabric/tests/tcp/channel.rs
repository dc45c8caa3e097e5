//! Two ends of a connection, and a line between them that loses, doubles, delays and marks.

use lanetwin_fabric::tcp::logic::connection::{Connection, Limits};
use lanetwin_fabric::tcp::logic::segment::Segment;
use std::collections::BTreeMap;

/// What a line does wrong, in thousandths, and how long it takes [ps].
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// Of segments.
    pub lost: u64,
    pub doubled: u64,
    pub marked: u64,
    /// How late a segment may be, beyond `flight`.
    pub late: u64,
    pub flight: u64,
    /// A byte, and what a segment has besides its payload [B].
    pub byte: u64,
    pub overhead: u32,
    pub seed: u64,
}

impl Line {
    /// One that does nothing wrong.
    pub const RIGHT: Self =
        Self { lost: 0, doubled: 0, marked: 0, late: 0, flight: 10_000_000, byte: 80, overhead: 78, seed: 1 };
}

/// How programs take what comes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    All,
    Some,
    Nothing,
}

/// A pair of ends and what is on its way between them.
pub struct World {
    pub ends: [Connection; 2],
    pub now: u64,
    line: Line,
    free: [u64; 2],
    flying: BTreeMap<(u64, u64), (usize, Segment)>,
    sent: u64,
    state: u64,
    segment: u32,
    /// How programs take what comes.
    pub takes: Takes,
    /// Payload on the line in each direction, and frames that are lost by number.
    pub frames: [u64; 2],
    pub loses: Vec<u64>,
}

impl World {
    pub fn new(limits: Limits, line: Line, first: u64) -> Self {
        Self {
            ends: [Connection::new(limits, first), Connection::new(limits, first)],
            now: 0,
            line,
            free: [0; 2],
            flying: BTreeMap::new(),
            sent: 0,
            state: line.seed | 1,
            segment: limits.segment,
            takes: Takes::All,
            frames: [0; 2],
            loses: Vec::new(),
        }
    }
    /// A number below `below`, the next of the seed (xorshift).
    fn draw(&mut self, below: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        self.state % below.max(1)
    }
    /// Cuts a segment as an adapter does, and puts its frames on the line.
    fn put(&mut self, from: usize, segment: Segment) {
        let mut rest = segment.bytes;
        let mut offset = 0;
        loop {
            let bytes = rest.min(self.segment);
            let seq =
                lanetwin_fabric::tcp::logic::segment::Seq::of(segment.seq.near(1 << 40) + u64::from(offset));
            self.frame(from, Segment { seq, bytes, reduced: segment.reduced && offset == 0, ..segment });
            rest -= bytes;
            offset += bytes;
            if rest == 0 {
                return;
            }
        }
    }
    fn frame(&mut self, from: usize, mut segment: Segment) {
        let start = self.now.max(self.free[from]);
        let end = start + u64::from(segment.bytes + self.line.overhead) * self.line.byte;
        self.free[from] = end;
        self.frames[from] += 1;
        segment.marked = self.draw(1000) < self.line.marked;
        let is_picked = from == 0 && segment.bytes > 0 && self.loses.contains(&self.frames[0]);
        let copies = 1 + u64::from(self.draw(1000) < self.line.doubled);
        for _ in 0..copies {
            let late = self.draw(self.line.late + 1);
            if is_picked || self.draw(1000) < self.line.lost {
                continue;
            }
            self.sent += 1;
            self.flying.insert((end + self.line.flight + late, self.sent), (1 - from, segment));
        }
    }
    /// Does what can be done now, then goes to the next instant; false if nothing will ever happen again.
    pub fn step(&mut self) -> bool {
        for from in 0..2 {
            // an adapter takes more when its line is nearly free
            while self.free[from] <= self.now
                && let Some(segment) = self.ends[from].send(self.now)
            {
                self.put(from, segment);
            }
        }
        let lines = (0..2).filter(|end| self.ends[*end].can_send(self.now)).map(|end| self.free[end]);
        let arrivals = self.flying.keys().next().map(|(at, _)| *at);
        // what is due already waits for its line
        let deadlines = self.ends.iter().filter_map(Connection::deadline).filter(|at| *at > self.now);
        let Some(next) = lines.chain(arrivals).chain(deadlines).min() else { return false };
        self.now = self.now.max(next);
        while let Some(entry) = self.flying.first_entry().filter(|entry| entry.key().0 <= self.now) {
            let (to, segment) = entry.remove();
            self.ends[to].receive(self.now, &segment);
            self.take(to);
        }
        self.ends.iter_mut().for_each(|end| end.expire(self.now));
        true
    }
    /// The program at an end takes something.
    pub fn take(&mut self, end: usize) {
        let there = self.ends[end].available();
        let bytes = match self.takes {
            Takes::All => there,
            Takes::Some => self.draw(there + 1),
            Takes::Nothing => 0,
        };
        self.ends[end].take(bytes);
    }
}
