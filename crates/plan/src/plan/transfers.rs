//! Transfers of given sizes, at a queue depth or a rate: by DMA, or of blocks.

use super::blocks::{Blocks, Demand};
use super::offered::Offered;
use super::written::{AccessShape, of_kinds};
use lanetwin_kernel::Component;
use lanetwin_load::{self as load, BlockLoad, Mix, Slot, Workload};
use lanetwin_ports::Message;
use lanetwin_units::Bytes;

/// One DMA load.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DmaCase {
    /// The direction.
    pub operation: DmaOperation,
    /// Bytes per transfer.
    pub size: Bytes,
    /// The buffer that addresses are drawn from.
    pub window: Bytes,
    /// The order of the addresses.
    pub pattern: Pattern,
    /// Whether the buffer is in the last-level cache at the start.
    pub cache: Cache,
    /// Queue depth or rate.
    pub offered: Offered,
    /// Number of transfers measured.
    pub transfers: u64,
}

/// One block load.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BlockCase {
    /// Bytes per request.
    pub size: Bytes,
    /// Queue depth or rate.
    pub offered: Offered,
    /// The share of reads.
    pub read: f64,
    /// The order of the addresses.
    pub pattern: Pattern,
    /// The part of the medium that is used.
    pub span: Bytes,
    /// Number of requests measured.
    pub requests: u64,
}

/// The direction in which a device moves data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DmaOperation {
    /// It reads the target's memory.
    Read,
    /// It writes the target's memory.
    Write,
    /// Reads and writes in turn.
    Mixed,
}

/// The order of addresses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pattern {
    /// Drawn uniformly.
    Random,
    /// Consecutive, starting over at the end.
    Sequential,
}

/// Whether a buffer is in the last-level cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cache {
    /// As much of it as fits.
    Warm,
    /// None of it.
    Cold,
}

impl DmaCase {
    /// The load of a card.
    #[must_use]
    pub fn workload(&self) -> Workload {
        let bytes = self.size.0 as u32;
        Workload {
            mix: match self.operation {
                DmaOperation::Read => Mix::Reads,
                DmaOperation::Write => Mix::Writes,
                DmaOperation::Mixed => Mix::Alternating,
            },
            bytes,
            unit: Workload::dma_unit(bytes),
            span: self.window.0,
            pattern: self.pattern.of_load(),
            arrivals: self.offered.arrivals(bytes),
            count: None,
        }
    }
    /// Whether there are reads, and whether there are writes.
    #[must_use]
    pub const fn kinds(&self) -> (bool, bool) {
        match self.operation {
            DmaOperation::Read => (true, false),
            DmaOperation::Write => (false, true),
            DmaOperation::Mixed => (true, true),
        }
    }
}

impl BlockCase {
    /// The load on a drive.
    #[must_use]
    pub fn workload(&self) -> Workload {
        let bytes = self.size.0 as u32;
        Workload {
            mix: Mix::Share { reads: self.read },
            bytes,
            unit: bytes,
            span: self.span.0,
            pattern: self.pattern.of_load(),
            arrivals: self.offered.arrivals(bytes),
            count: None,
        }
    }
}

impl Blocks for BlockCase {
    fn offered(&self) -> Offered {
        self.offered
    }
    fn requests(&self) -> u64 {
        self.requests
    }
    fn kinds(&self) -> (bool, bool) {
        (self.read > 0.0, self.read < 1.0)
    }
    fn is_sequential(&self) -> bool {
        self.pattern == Pattern::Sequential
    }
    fn shapes(&self) -> Vec<AccessShape> {
        let shape =
            |is_write| AccessShape { is_write, is_random: !self.is_sequential(), multiple_of: self.size };
        of_kinds(self.kinds(), shape).collect()
    }
    fn largest(&self) -> u64 {
        self.size.0
    }
    fn demand(&self) -> Demand {
        let depth = match self.offered {
            Offered::Outstanding(depth) => Some(u64::from(depth)),
            Offered::Rate { .. } => None,
        };
        Demand { depth, sizes: vec![self.size.0], span: Some(self.span), ..Demand::default() }
    }
    fn asker(&self, _: usize, slot: Slot<'_>) -> Box<dyn Component<Message>> {
        Box::new(BlockLoad::new(self.workload(), slot.seed, slot.path).in_slot(slot))
    }
}

impl Pattern {
    const fn of_load(self) -> load::Pattern {
        match self {
            Self::Random => load::Pattern::Random,
            Self::Sequential => load::Pattern::Sequential,
        }
    }
}
