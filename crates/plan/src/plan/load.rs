//! What loads of any kind have in common, and those that are access specifications of Iometer.

mod fio;
mod memory;

pub use fio::{FioCase, FioJob};
pub use memory::{DeviceCache, HintsCase, KernelCase, MemoryCase, MemoryProgram, TrafficCase};

use super::blocks::{Blocks, LeftOut, Thread, Timing};
use super::offered::Offered;
use super::transfers::DmaCase;
use lanetwin_kernel::Component;
use lanetwin_load::iometer::access::{AccessWorkload, Region};
use lanetwin_load::iometer::config::{AccessLine, AccessSpec, DiskSettings};
use lanetwin_load::iometer::{TestType, Version};
use lanetwin_load::{BlockLoad, Slot};
use lanetwin_ports::Message;
use lanetwin_units::{Bytes, Span};
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
    /// Whether all that ask do the same, so that it is a question how evenly they share.
    #[must_use]
    pub fn is_even(&self) -> bool {
        if let Self::Blocks(blocks) = self { blocks.is_even() } else { true }
    }
    /// Whether a card moves data.
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

impl IometerFile {
    /// How long it says to record; none until somebody stops it.
    #[must_use]
    pub fn run_time(&self) -> Option<Span> {
        (self.run_time_s > 0).then(|| Span::from_us(self.run_time_s.saturating_mul(1_000_000)))
    }
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
    /// The lines that are ever drawn.
    fn used(&self) -> impl Iterator<Item = &AccessLine> {
        self.spec.lines.iter().filter(|line| line.share > 0)
    }
}

impl Blocks for IometerCase {
    fn offered(&self) -> Offered {
        Offered::Outstanding(self.outstanding)
    }
    fn requests(&self) -> u64 {
        self.requests
    }
    fn kinds(&self) -> (bool, bool) {
        let has = |of: fn(&AccessLine) -> bool| self.used().any(of);
        (has(|line| line.reads > 0), has(|line| line.reads < 100))
    }
    fn timing(&self) -> Timing {
        Timing { longest: self.from.run_time(), ..Timing::default() }
    }
    fn largest(&self) -> u64 {
        self.used().map(|line| line.size).max().unwrap_or(0).into()
    }
    fn asker(&self, _: usize, slot: Slot<'_>) -> Box<dyn Component<Message>> {
        Box::new(BlockLoad::of_accesses(self.accesses(), slot.seed, slot.path).in_slot(slot))
    }
    fn not_modelled(&self, of: LeftOut<'_>) -> Vec<String> {
        let name = &self.spec.name;
        let time = match self.from.run_time_s {
            0 => "until it is stopped".to_owned(),
            seconds => format!("{seconds} s"),
        };
        let (file, when) = (&self.from.name, of.length.ends_after(self.requests));
        let mut list = vec![format!(
            "The run time of `{file}` ({time}) beyond a sample, and its ramp up: a case ends {when}."
        )];
        if self.is_paced() && of.pairs > 1 {
            list.push(format!(
                "Bursts and delays of `{name}` are of each target; in Iometer all targets of a worker share them."
            ));
        }
        if self.has_replies() {
            list.push(format!("The replies of `{name}`: a disk makes none."));
        }
        list
    }
}
