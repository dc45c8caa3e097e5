//! What loads of any kind have in common.

mod fio;
mod iometer;
mod memory;

pub use fio::{FioCase, FioJob};
pub use iometer::{IometerCase, IometerFile, IometerWorker};
pub use memory::{DeviceCache, HintsCase, KernelCase, MemoryCase, MemoryProgram, RecordedCase, TrafficCase};

use super::blocks::{Blocks, Thread, Timing};
use super::offered::Offered;
use super::transfers::DmaCase;
use lanetwin_models::network_workers::NetworkTest;
use std::sync::Arc;

/// What is asked, by who asks whom: kinds of workload are many, and these are all there are.
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
    /// What is asked of drives, if it is of this type.
    #[must_use]
    pub fn blocks<T: Blocks>(&self) -> Option<&T> {
        if let Self::Blocks(blocks) = self { blocks.as_any().downcast_ref() } else { None }
    }
    /// How much is asked at a time, of each device.
    #[must_use]
    pub fn offered(&self) -> Offered {
        match self {
            Self::Dma(dma) => dma.offered,
            Self::Blocks(blocks) => blocks.offered(),
            Self::Memory(case) => Offered::Outstanding(case.threads()),
        }
    }
    /// Of what comes at a rate, how many are in flight on each device at most; no bound if none.
    #[must_use]
    pub fn most_in_flight(&self) -> Option<u32> {
        if let Self::Blocks(blocks) = self { blocks.most_in_flight() } else { None }
    }
    /// Whether something it says itself keeps it from having in flight what it may have: a rate, pauses, delays.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        if let Self::Blocks(blocks) = self { blocks.is_paced() } else { false }
    }
    /// How many operations are measured, of all devices together.
    #[must_use]
    pub fn operations(&self) -> u64 {
        match self {
            Self::Dma(dma) => dma.transfers,
            Self::Blocks(blocks) => blocks.requests(),
            Self::Memory(case) => case.steps,
        }
    }
    /// Whether operations are told as reads, and whether as writes.
    #[must_use]
    pub fn kinds(&self) -> (bool, bool) {
        match self {
            Self::Dma(dma) => dma.kinds(),
            Self::Blocks(blocks) => blocks.kinds(),
            Self::Memory(_) => (true, true),
        }
    }
    /// How long it is measured, as far as it says so itself.
    #[must_use]
    pub fn timing(&self) -> Timing {
        match self {
            Self::Dma(_) => Timing::default(),
            Self::Blocks(blocks) => blocks.timing(),
            Self::Memory(case) => Timing { is_whole: case.ends(), ..Timing::default() },
        }
    }
    /// Who asks each device, if several do, or one by a name of its own.
    #[must_use]
    pub fn threads(&self) -> Vec<Thread> {
        if let Self::Blocks(blocks) = self { blocks.threads() } else { Vec::new() }
    }
    /// Which of the pairs each thread asks, by their places, given the host of each pair; none if each asks all.
    #[must_use]
    pub fn asks(&self, hosts: &[usize]) -> Option<Vec<Vec<usize>>> {
        if let Self::Blocks(blocks) = self { blocks.asks(hosts) } else { None }
    }
    /// Whether all that ask do the same, so that it is a question how evenly they share.
    #[must_use]
    pub fn is_even(&self) -> bool {
        if let Self::Blocks(blocks) = self { blocks.is_even() } else { true }
    }
    /// The same with clones that begin at places of their own, if it has several that read the same one after another.
    #[must_use]
    pub fn apart(&self, requests: u64) -> Option<Self> {
        if let Self::Blocks(blocks) = self { blocks.apart(requests).map(Self::Blocks) } else { None }
    }
    /// What programs at both ends of connections do, if hosts send to hosts.
    #[must_use]
    pub fn network(&self) -> Option<NetworkTest> {
        if let Self::Blocks(blocks) = self { blocks.network() } else { None }
    }
    /// Whether a card moves data.
    #[must_use]
    pub const fn is_dma(&self) -> bool {
        matches!(self, Self::Dma(_))
    }
}
