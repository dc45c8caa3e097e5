//! What loads of any kind have in common, and those that are access specifications of Iometer.

mod fio;
mod memory;

pub use fio::{FioCase, FioJob};
pub use memory::{DeviceCache, HintsCase, KernelCase, MemoryCase, MemoryProgram, TrafficCase};

use super::{Load, Offered};
use lanetwin_load::iometer::access::{AccessWorkload, Region};
use lanetwin_load::iometer::config::{AccessLine, AccessSpec, DiskSettings};
use lanetwin_load::iometer::{TestType, Version};
use lanetwin_units::{Bytes, Span};

impl Load {
    /// How much is asked at a time, of each device.
    #[must_use]
    pub fn offered(&self) -> Offered {
        match *self {
            Self::Dma(dma) => dma.offered,
            Self::Block(block) => block.offered,
            Self::Iometer(ref case) => Offered::Outstanding(case.outstanding),
            Self::Fio(ref case) => Offered::Outstanding(case.depth()),
            Self::Memory(ref case) => Offered::Outstanding(case.threads()),
        }
    }
    /// How many operations are measured, of all devices together.
    #[must_use]
    pub fn operations(&self) -> u64 {
        match *self {
            Self::Dma(dma) => dma.transfers,
            Self::Block(block) => block.requests,
            Self::Iometer(ref case) => case.requests,
            Self::Fio(ref case) => case.operations(),
            Self::Memory(ref case) => case.steps,
        }
    }
    /// How long it is measured at most, if that is limited.
    #[must_use]
    pub fn longest(&self) -> Option<Span> {
        if let Self::Fio(case) = self { case.run_time() } else { None }
    }
    /// Whether a card moves data; otherwise blocks are read and written.
    #[must_use]
    pub const fn is_dma(&self) -> bool {
        matches!(self, Self::Dma(_))
    }
}

/// An access specification of Iometer, as a worker runs it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IometerCase {
    /// The specification.
    pub spec: AccessSpec,
    /// Which part of each target is used.
    pub disk: DiskSettings,
    /// The size of each target.
    pub capacity: Bytes,
    /// The sector of each target \[B\].
    pub sector: u32,
    /// I/Os in flight on each target.
    pub outstanding: u32,
    /// I/Os that are measured, of all targets together.
    pub requests: u64,
    /// Where it is from.
    pub from: IometerFile,
}

/// What a configuration of Iometer says beside its specifications.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IometerFile {
    /// Its name, as the scenario gives it.
    pub name: String,
    /// The version that wrote it.
    pub version: Version,
    /// Its description.
    pub description: String,
    /// What it varies.
    pub test_type: TestType,
    /// How long it says to record \[s\]; 0 until somebody stops it.
    pub run_time_s: u64,
    /// The manager and the worker whose settings are used, if there is one.
    pub worker: Option<(String, String)>,
}

impl IometerCase {
    /// What each target is asked.
    #[must_use]
    pub fn accesses(&self) -> AccessWorkload {
        AccessWorkload {
            lines: self.spec.lines.clone(),
            region: Region::of_disk(&self.disk, self.capacity.0, self.sector),
            outstanding: self.outstanding,
            count: None,
        }
    }
    /// Whether there are reads, and whether there are writes.
    #[must_use]
    pub fn kinds(&self) -> (bool, bool) {
        let has = |of: fn(&AccessLine) -> bool| self.used().any(of);
        (has(|line| line.reads > 0), has(|line| line.reads < 100))
    }
    /// Whether what one target is asked depends, in Iometer, on what another was: its worker has one burst at a time,
    /// and one delay.
    #[must_use]
    pub fn is_paced(&self) -> bool {
        self.used().any(|line| line.burst > 1 || line.delay_ms > 0)
    }
    /// Whether there are replies, which a disk does not make.
    #[must_use]
    pub fn has_replies(&self) -> bool {
        self.used().any(|line| line.reply > 0)
    }
    /// The size of the largest request \[B\].
    #[must_use]
    pub fn largest(&self) -> u32 {
        self.used().map(|line| line.size).max().unwrap_or(0)
    }
    /// The lines that are ever drawn.
    fn used(&self) -> impl Iterator<Item = &AccessLine> {
        self.spec.lines.iter().filter(|line| line.share > 0)
    }
}
