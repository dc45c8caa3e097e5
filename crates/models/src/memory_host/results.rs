//! What a memory host has counted of a program.

use lanetwin_load::Little;
use lanetwin_stats::Histogram;
use lanetwin_units::{Instant, Span};

/// What was counted of a program from one instant to another.
#[derive(Clone, Debug)]
pub struct MemoryResults {
    /// The program.
    pub name: String,
    /// When counting began.
    pub since: Instant,
    /// When it ended.
    pub until: Instant,
    /// What went to and came from each NUMA node, in the order of their numbers. A write-back counts for the program that had the line's
    /// place.
    pub nodes: Vec<NodeTraffic>,
    /// From the issue of each load to its data: all loads, wherever they were served.
    pub loads: Histogram,
    /// From the issue of the first step of an operation to the completion of its last.
    pub operations: Histogram,
    /// Where loads and stores found their lines.
    pub found: Found,
    /// Lines that a prefetcher asked memory for.
    pub prefetches: u64,
    /// Translations that no TLB had.
    pub walks: u64,
    /// Little's law for lines asked of memory: reads, with those of prefetchers and page walks, and writes.
    pub little: Little,
    /// How many such lines are outstanding at the end.
    pub outstanding: u64,
}

/// What went to and came from a NUMA node.
#[derive(Clone, Default, Debug)]
pub struct NodeTraffic {
    /// Lines read, with those of prefetchers and page walks.
    pub lines_read: u64,
    /// Lines written.
    pub lines_written: u64,
    /// Lines that were answered with an error (poison).
    pub corrupt: u64,
    /// From the issue of each load to its data: of the loads that this node served.
    pub loads: Histogram,
}

/// Where loads and stores found their lines.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Found {
    /// In the first level.
    pub l1: u64,
    /// In the second level.
    pub l2: u64,
    /// In the last level.
    pub llc: u64,
    /// On its way already: asked for by a prefetcher, or by another step.
    pub under_way: u64,
    /// In memory.
    pub memory: u64,
}

impl Found {
    /// All of them.
    #[must_use]
    pub const fn all(&self) -> u64 {
        self.l1 + self.l2 + self.llc + self.under_way + self.memory
    }
}

impl NodeTraffic {
    /// Bytes read \[B\].
    #[must_use]
    pub const fn bytes_read(&self) -> u64 {
        self.lines_read * 64
    }
    /// Bytes written \[B\].
    #[must_use]
    pub const fn bytes_written(&self) -> u64 {
        self.lines_written * 64
    }
}

impl MemoryResults {
    /// How long was counted.
    #[must_use]
    pub const fn elapsed(&self) -> Span {
        self.until.since(self.since)
    }
    /// Bytes that went to and came from memory \[B\].
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.nodes.iter().map(|node| node.bytes_read() + node.bytes_written()).sum()
    }
    /// Bytes per second to and from memory; nothing if no time has passed.
    #[must_use]
    pub fn bytes_per_second(&self) -> Option<f64> {
        let ps = self.elapsed().as_ps();
        (ps > 0).then(|| self.bytes() as f64 * 1e12 / ps as f64)
    }
}
