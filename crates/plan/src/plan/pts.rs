//! Tests of the SNIA Performance Test Specification that go through all sizes and mixes on one drive.

use super::blocks::{Blocks, Demand};
use super::offered::Offered;
use super::transfers::{BlockCase, Pattern};
use lanetwin_kernel::Component;
use lanetwin_load::{Slot, SteppedLoad, Steps, Workload};
use lanetwin_ports::Message;
use lanetwin_units::{Bytes, Span};

/// Which test.
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
    /// As a scenario has it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Iops => "iops",
            Self::Throughput => "throughput",
            Self::Latency => "latency",
        }
    }
}

/// A test: precondition, then rounds of all cells until the tracked one is steady.
#[derive(Clone, PartialEq, Debug)]
pub struct PtsPlan {
    /// Which.
    pub test: PtsTest,
    /// The cells, in the order in which a round goes through them.
    pub cells: Vec<PtsCell>,
    /// The place of the cell that has to be steady.
    pub tracked: usize,
    /// How long each cell is measured in a round.
    pub step: Span,
    /// The size of the sequential writes that come first, and how many there are; none if there are none.
    pub precondition: Option<(Bytes, u64)>,
}

/// A size with a mix.
#[derive(Clone, PartialEq, Debug)]
pub struct PtsCell {
    /// `4 KiB, 65/35`: the size, and the shares of reads and writes.
    pub label: String,
    /// What is asked.
    pub asks: BlockCase,
}

impl PtsPlan {
    /// What the cell that has to be steady asks for.
    fn asks(&self) -> &BlockCase {
        &self.cells[self.tracked].asks
    }
    /// What is asked, step by step.
    fn steps(&self) -> Steps {
        let first = self.first().map(|(case, count)| Workload { count: Some(count), ..case.workload() });
        let round = self.cells.iter().map(|cell| cell.asks.workload()).collect();
        Steps { first, round, lasts: self.step }
    }
    /// The writes that come before the rounds.
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

/// A test is told as what it tracks, its cells as cases of their own.
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
