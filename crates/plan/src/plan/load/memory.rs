//! Loads and stores of the cores of a host.

use lanetwin_load::memory::kernels::{Kernel, Window};
use lanetwin_load::memory::{
    ChaseOrder, Dependence, Mapping, MemoryTrace, PageSize, PlacedPart, Policy, TrafficMix, TrafficOrder,
};
use lanetwin_units::{Bytes, Span};
use std::sync::Arc;

/// One load of memory.
#[derive(Clone, PartialEq, Debug)]
pub struct MemoryCase {
    /// What the threads do.
    pub program: MemoryProgram,
    /// Where their pages are: on nodes of the host, by their places among its [`crate::MemoryNode`]s.
    pub mapping: Mapping,
    /// Data structures that are mapped in their own way, by address.
    pub parts: Vec<PlacedPart>,
    /// What threads tell devices of pages, if they do.
    pub hints: Option<HintsCase>,
    /// The case that it is held against: the same on the first placement, if it is on another.
    pub against: Option<String>,
    /// What caches of devices hold at the start.
    pub cache: DeviceCache,
    /// Steps that are measured, of all threads together: loads and stores.
    pub steps: u64,
}

/// What the cache of a device in front of a disk holds at the start.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceCache {
    /// What visits to the device's part of the working set have left, as many as it takes until that does not change.
    Warm,
    /// Nothing.
    Cold,
    /// What the parameters of the device say.
    AsIs,
}

/// What threads that stream tell devices of pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HintsCase {
    /// They announce the page so many ahead; 0 for none.
    pub prefetch: u32,
    /// They dismiss the page so many behind; 0 for none.
    pub evict: u32,
    /// They ask whether the page so many ahead is cached; 0 for none.
    pub status: u32,
    /// They ask for the temperature of the page so many behind; 0 for none.
    pub temperature: u32,
}

/// What threads do.
#[derive(Clone, PartialEq, Debug)]
pub enum MemoryProgram {
    /// One thread follows pointers: latency.
    Chase {
        /// What it goes through.
        working_set: Bytes,
        /// In which order.
        order: ChaseOrder,
    },
    /// Threads stream over buffers: bandwidth.
    Traffic(TrafficCase),
    /// An application.
    Kernel(KernelCase),
    /// A program that ran, as it was recorded.
    Recorded(RecordedCase),
}

/// A recorded program, and what the trace does not say of it.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedCase {
    /// As the scenario names its file.
    pub file: String,
    /// What it touches.
    pub trace: Arc<MemoryTrace>,
    /// Which loads wait for the load before them.
    pub dependence: Dependence,
    /// How long an instruction takes that waits for no memory.
    pub instruction: Span,
}

/// An application, and how much of it is run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KernelCase {
    /// Which.
    pub kernel: Kernel,
    /// How many threads.
    pub threads: u32,
    /// Which part of it is run.
    pub window: Window,
}

impl KernelCase {
    /// Whether it ends: then all of it is measured.
    #[must_use]
    pub const fn ends(&self) -> bool {
        !matches!(self.kernel, Kernel::KeyValue(_))
    }
}

/// Threads that stream over buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrafficCase {
    /// What share of the traffic is writes.
    pub mix: TrafficMix,
    /// In which order lines are touched.
    pub order: TrafficOrder,
    /// How many threads.
    pub threads: u32,
    /// The buffers of all of them together.
    pub working_set: Bytes,
    /// The time between two lines of a thread.
    pub delay: Span,
    /// Whether another thread follows pointers meanwhile, through as much on the same nodes: its loads show the
    /// latency.
    pub chaser: bool,
}

impl MemoryCase {
    /// How many threads there are.
    #[must_use]
    pub fn threads(&self) -> u32 {
        match &self.program {
            MemoryProgram::Chase { .. } => 1,
            MemoryProgram::Traffic(traffic) => traffic.threads + u32::from(traffic.chaser),
            MemoryProgram::Kernel(kernel) => kernel.threads,
            MemoryProgram::Recorded(recorded) => recorded.trace.threads(),
        }
    }
    /// Whether there are reads of memory, and whether there are writes.
    #[must_use]
    pub const fn kinds(&self) -> (bool, bool) {
        match &self.program {
            MemoryProgram::Chase { .. } => (true, false),
            MemoryProgram::Kernel(_) | MemoryProgram::Recorded(_) => (true, true),
            MemoryProgram::Traffic(traffic) => traffic.mix.kinds(),
        }
    }
    /// Whether the program ends, and all of it is measured.
    #[must_use]
    pub const fn ends(&self) -> bool {
        match &self.program {
            MemoryProgram::Kernel(kernel) => kernel.ends(),
            MemoryProgram::Recorded(_) => true,
            MemoryProgram::Chase { .. } | MemoryProgram::Traffic(_) => false,
        }
    }
    /// Whether pages of more than 4 KiB are asked for, other than those of a device that is mapped directly.
    #[must_use]
    pub fn has_large_pages(&self) -> bool {
        let mut mappings = std::iter::once(&self.mapping).chain(self.parts.iter().map(|part| &part.mapping));
        mappings.any(|mapping| mapping.size != PageSize::Small && !matches!(mapping.policy, Policy::Dax(_)))
    }
    /// The nodes that pages may be on, in the order of writing.
    #[must_use]
    pub fn nodes(&self) -> Vec<u16> {
        let mut nodes = self.mapping.policy.named();
        for node in self.parts.iter().flat_map(|part| part.mapping.policy.named()) {
            if !nodes.contains(&node) {
                nodes.push(node);
            }
        }
        nodes
    }
}
