//! Tests of the SNIA Performance Test Specification, which run all sizes and mixes on one drive.

use super::blocks::{Blocks, Demand};
use super::offered::Offered;
use super::transfers::{BlockCase, Pattern};
use lanetwin_kernel::Component;
use lanetwin_load::{Slot, SteppedLoad, Steps, Workload};
use lanetwin_ports::Message;
use lanetwin_units::{Bytes, Span};

/// A test of the PTS.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PtsTest {
    /// IOPS: random, seven mixes of eight sizes.
    Iops,
    /// Throughput (TP): sequential reads and writes of a size.
    Throughput,
    /// Latency (LAT): random, one in flight, three mixes of three sizes.
    Latency,
}

impl PtsTest {
    /// Its name in a scenario.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Throughput => "throughput",
            Self::Latency => "latency",
        }
    }
}

/// The plan of a test: preconditioning, then rounds over all cells until the tracked one is steady.
#[derive(Clone, PartialEq, Debug)]
pub struct PtsPlan {
    /// The test.
    pub test: PtsTest,
    /// The cells, in the order of a round.
    pub cells: Vec<PtsCell>,
    /// Index of the cell that has to be steady.
    pub tracked: usize,
    /// Length of the measurement of a cell in a round.
    pub step: Span,
    /// Size and number of the sequential preconditioning writes; `None` without preconditioning.
    pub precondition: Option<(Bytes, u64)>,
}

/// A cell: a size with a mix.
#[derive(Clone, PartialEq, Debug)]
pub struct PtsCell {
    /// `4 KiB, 65/35`: the size, and the shares of reads and writes.
    pub label: String,
    /// The load of the cell.
    pub asks: BlockCase,
}

impl PtsPlan {
    /// The load of the cell that has to be steady.
    fn asks(&self) -> &BlockCase {
        &self.cells[self.tracked].asks
    }
    /// The load, step by step.
    fn steps(&self) -> Steps {
        let first = self.first().map(|(case, count)| Workload { count: Some(count), ..case.workload() });
        let round = self.cells.iter().map(|cell| cell.asks.workload()).collect();
        Steps { first, round, lasts: self.step }
    }
    /// The writes before the rounds.
    fn first(&self) -> Option<(BlockCase, u64)> {
        const DEPTH: u32 = 32;
        let (size, requests) = self.precondition?;
        let offered = Offered::Outstanding(DEPTH);
        let tracked = self.cells[self.tracked].asks;
        Some((
            BlockCase { size, offered, read: 0.0, pattern: Pattern::Sequential, requests, ..tracked },
            requests,
        ))
    }
}

/// A test is reported by its tracked cell; its cells are reported as cases of their own.
impl Blocks for PtsPlan {
    fn offered(&self) -> Offered {
        self.asks().offered()
    }
    fn requests(&self) -> u64 {
        self.asks().requests()
    }
    fn kinds(&self) -> (bool, bool) {
        self.asks().kinds()
    }
    fn largest(&self) -> u64 {
        self.asks().largest()
    }
    fn demand(&self) -> Demand {
        self.asks().demand()
    }
    fn asker(&self, _: usize, slot: Slot<'_>) -> Box<dyn Component<Message>> {
        Box::new(SteppedLoad::new(self.steps(), slot))
    }
}
