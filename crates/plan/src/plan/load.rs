//! Properties that loads of all kinds share.

mod fio;
mod iometer;
mod memory;

pub use fio::{FioCase, FioJob};
pub use iometer::{IometerCase, IometerFile, IometerWorker};
pub use memory::{DeviceCache, HintsCase, KernelCase, MemoryCase, MemoryProgram, RecordedCase, TrafficCase};

use super::blocks::{Blocks, Programs, Thread, Timing};
use super::offered::Offered;
use super::transfers::DmaCase;
use std::sync::Arc;

/// A load, by initiator and target. There are many kinds of workload, but only these loads.
#[derive(Clone, PartialEq, Debug)]
pub enum Load {
    /// Cards move data to and from the memory of a host.
    Dma(DmaCase),
    /// Hosts read and write blocks of drives.
    Blocks(Arc<dyn Blocks>),
    /// The cores of a host load and store.
    Memory(Box<MemoryCase>),
}

impl Load {
    /// Requests of blocks.
    pub fn of_blocks(blocks: impl Blocks) -> Self {
        Self::Blocks(Arc::new(blocks))
    }
    /// The block load, if it has this type.
    #[must_use]
    pub fn blocks<T: Blocks>(&self) -> Option<&T> {
        if let Self::Blocks(blocks) = self { blocks.as_any().downcast_ref() } else { None }
    }
    /// The queue depth or rate on each device.
    #[must_use]
    pub fn offered(&self) -> Offered {
        match self {
            Self::Dma(dma) => dma.offered,
            Self::Blocks(blocks) => blocks.offered(),
            Self::Memory(case) => Offered::Outstanding(case.threads()),
        }
    }
    /// Limit of operations in flight on each device, for loads at a rate; `None` if there is no limit.
    #[must_use]
    pub fn most_in_flight(&self) -> Option<u32> {
        if let Self::Blocks(blocks) = self { blocks.most_in_flight() } else { None }
    }
    /// Whether its own settings keep it below the number in flight that is allowed: a rate, pauses, delays.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        if let Self::Blocks(blocks) = self { blocks.is_paced() } else { false }
    }
    /// Number of operations measured, over all devices together.
    #[must_use]
    pub fn operations(&self) -> u64 {
        match self {
            Self::Dma(dma) => dma.transfers,
            Self::Blocks(blocks) => blocks.requests(),
            Self::Memory(case) => case.steps,
        }
    }
    /// Whether there are results for reads, and whether for writes.
    #[must_use]
    pub fn kinds(&self) -> (bool, bool) {
        match self {
            Self::Dma(dma) => dma.kinds(),
            Self::Blocks(blocks) => blocks.kinds(),
            Self::Memory(_) => (true, true),
        }
    }
    /// Its own limits on the length of the measurement.
    #[must_use]
    pub fn timing(&self) -> Timing {
        match self {
            Self::Dma(_) => Timing::default(),
            Self::Blocks(blocks) => blocks.timing(),
            Self::Memory(case) => Timing { is_whole: case.ends(), ..Timing::default() },
        }
    }
    /// The threads that send to each device, if there are several or if they have names of their own.
    #[must_use]
    pub fn threads(&self) -> Vec<Thread> {
        if let Self::Blocks(blocks) = self { blocks.threads() } else { Vec::new() }
    }
    /// The indices of the pairs that each thread uses, given the host of each pair; `None` if each uses all.
    #[must_use]
    pub fn asks(&self, hosts: &[usize]) -> Option<Vec<Vec<usize>>> {
        if let Self::Blocks(blocks) = self { blocks.asks(hosts) } else { None }
    }
    /// Whether all initiators have the same load, so that fairness between them is meaningful.
    #[must_use]
    pub fn is_even(&self) -> bool {
        if let Self::Blocks(blocks) = self { blocks.is_even() } else { true }
    }
    /// The same load with clones that begin at different places, if several clones read the same data sequentially.
    #[must_use]
    pub fn apart(&self, requests: u64) -> Option<Self> {
        if let Self::Blocks(blocks) = self { blocks.apart(requests).map(Self::Blocks) } else { None }
    }
    /// The programs at both ends, if hosts send to hosts.
    #[must_use]
    pub fn network(&self) -> Option<Programs> {
        if let Self::Blocks(blocks) = self { blocks.network() } else { None }
    }
    /// Whether the load is DMA of cards.
    #[must_use]
    pub const fn is_dma(&self) -> bool {
        matches!(self, Self::Dma(_))
    }
}
