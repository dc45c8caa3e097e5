//! Counters of a program while it runs.

use crate::roles::memory::{Found, MemoryResults, NodeTraffic};
use lanetwin_kernel::mix;
use lanetwin_load::{Answered, Little, StageTimes, Tally, followed_every};
use lanetwin_stats::Histogram;
use lanetwin_units::{Instant, Span};

/// The line of a cache \[B\].
const LINE: u64 = 64;

/// Number of loads after which the followed lines are chosen anew.
const ROUND: u64 = 1 << 12;

/// The followed lines: one in `every`, a power of two, by a hash of the line and of the number of rounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Followed {
    every: u64,
    hash: u64,
}

impl Followed {
    /// The choice after memory has served this many loads.
    fn when(served: u64) -> Self {
        Self { every: followed_every(served, 1), hash: mix(served / ROUND) }
    }
    /// For how many loads one of this line stands; 0 if it is not followed.
    #[inline]
    pub(super) const fn weight(self, line: u64) -> u64 {
        if mix(line ^ self.hash) & (self.every - 1) == 0 { self.every } else { 0 }
    }
}

/// Counters since a reset.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) since: Instant,
    pub(super) nodes: Vec<NodeTraffic>,
    /// Number of loads served by memory.
    served: u64,
    /// The lines followed until the next choice.
    pub(super) followed: Followed,
    /// Latencies of loads served by caches.
    pub(super) cached: Histogram,
    pub(super) operations: Histogram,
    /// The same of SETs, which are not among those.
    pub(super) sets: Histogram,
    pub(super) found: Found,
    pub(super) prefetches: u64,
    pub(super) walks: u64,
    /// Lines requested from memory and not answered.
    outstanding: u64,
    area_until: Instant,
    area_ps: u128,
    residence_ps: u128,
}

impl Counted {
    pub(super) fn new(nodes: usize) -> Self {
        Self {
            since: Instant::ZERO,
            nodes: vec![NodeTraffic::default(); nodes],
            served: 0,
            followed: Followed::when(0),
            cached: Histogram::new(),
            operations: Histogram::new(),
            sets: Histogram::new(),
            found: Found::default(),
            prefetches: 0,
            walks: 0,
            outstanding: 0,
            area_until: Instant::ZERO,
            area_ps: 0,
            residence_ps: 0,
        }
    }
    /// Counts from `at` on.
    pub(super) fn reset(&mut self, at: Instant) {
        assert!(at >= self.area_until, "what was counted up to now cannot be reset in the past");
        let outstanding = self.outstanding;
        *self = Self { since: at, area_until: at, outstanding, ..Self::new(self.nodes.len()) };
    }
    /// An operation has ended.
    #[inline]
    pub(super) fn end(&mut self, sets: bool, latency: Span) {
        if sets {
            self.sets.record(latency);
        } else {
            self.operations.record(latency);
        }
    }
    #[inline]
    fn advance(&mut self, now: Instant) {
        self.area_ps += u128::from(self.outstanding) * u128::from(now.since(self.area_until).as_ps());
        self.area_until = now;
    }
    /// Notes that memory is asked for a line.
    #[inline]
    pub(super) fn ask(&mut self, now: Instant) {
        self.advance(now);
        self.outstanding += 1;
    }
    /// Notes an answer of memory to a request made at `asked`.
    #[inline]
    pub(super) fn answer(&mut self, asked: Instant, now: Instant) {
        self.advance(now);
        self.outstanding -= 1;
        self.residence_ps += u128::from(now.since(asked.max(self.since)).as_ps());
    }
    /// Results up to `at`, given the request times of outstanding lines; `cached` is the stage of loads served by
    /// caches.
    pub(super) fn results(
        &self,
        name: &str,
        at: Instant,
        cached: u32,
        open: impl Iterator<Item = Instant>,
    ) -> MemoryResults {
        assert!(at >= self.area_until, "what was counted up to now cannot be told of the past");
        let rest = u128::from(self.outstanding) * u128::from(at.since(self.area_until).as_ps());
        let open = open.map(|asked| u128::from(at.since(asked.max(self.since)).as_ps()));
        let mut loads = self.cached.clone();
        self.nodes.iter().for_each(|node| loads.merge(&node.loads));
        let mut stages = StageTimes::default();
        self.nodes.iter().for_each(|node| stages.merge(&node.stages.made_up_to(&node.loads)));
        stages.take_all(cached, &self.cached);
        let mut operations = self.operations.clone();
        operations.merge(&self.sets);
        MemoryResults {
            name: name.to_owned(),
            since: self.since,
            until: at,
            nodes: self.nodes.clone(),
            loads,
            stages,
            operations,
            gets: self.operations.clone(),
            sets: self.sets.clone(),
            found: self.found,
            prefetches: self.prefetches,
            walks: self.walks,
            little: Little {
                area_ps: self.area_ps + rest,
                residence_ps: self.residence_ps + open.sum::<u128>(),
            },
            outstanding: self.outstanding,
        }
    }
    /// Counters without distributions.
    pub(super) fn tally(&self) -> Tally {
        let lines = |of: fn(&NodeTraffic) -> u64| {
            let lines = self.nodes.iter().map(of).sum::<u64>();
            Answered { completed: lines, bytes: lines * LINE, ..Answered::default() }
        };
        let loads = || self.nodes.iter().map(|node| &node.loads).chain([&self.cached]);
        let timed = loads().map(Histogram::count).sum();
        let latency_ps = loads().map(Histogram::sum_ps).sum();
        let reads = Answered { timed, latency_ps, ..lines(|node| node.lines_read) };
        Tally { reads, writes: lines(|node| node.lines_written), area_ps: 0 }
    }
    /// The digest of the counters.
    pub(super) fn digest(&self) -> u64 {
        let lines = self.nodes.iter().map(|node| node.lines_read ^ node.lines_written.rotate_left(32));
        let cached = self.cached.sum_ps() as u64;
        lines.fold(cached, |sum, lines| sum.wrapping_mul(31).wrapping_add(lines)) ^ self.area_ps as u64
    }
    /// A load has its data.
    #[inline]
    pub(super) fn load(&mut self, node: Option<usize>, latency: Span) {
        match node {
            Some(node) => {
                self.served += 1;
                if self.served.is_multiple_of(ROUND) {
                    self.followed = Followed::when(self.served);
                }
                self.nodes[node].loads.record(latency);
            }
            None => self.cached.record(latency),
        }
    }
}
