//! Loads and stores of the cores of a host.

use lanetwin_load::memory::kernels::{Kernel, Window};
use lanetwin_load::memory::{
    ChaseOrder, Dependence, Mapping, MemoryTrace, PageSize, PlacedPart, Policy, TrafficMix, TrafficOrder,
};
use lanetwin_units::{Bytes, Span};
use std::sync::Arc;

/// A memory load.
#[derive(Clone, PartialEq, Debug)]
pub struct MemoryCase {
    /// The loads and stores of the threads.
    pub program: MemoryProgram,
    /// The placement of their pages on nodes of the host, by index among its [`crate::MemoryNode`]s.
    pub mapping: Mapping,
    /// Data structures with a placement of their own, by address.
    pub parts: Vec<PlacedPart>,
    /// The hints on pages that threads send to devices, if any.
    pub hints: Option<HintsCase>,
    /// The label of the case with which it is compared: the same case on the first placement, if it is on another.
    pub against: Option<String>,
    /// Initial contents of the caches of devices.
    pub cache: DeviceCache,
    /// Number of loads and stores measured, over all threads together.
    pub steps: u64,
}

/// Initial contents of the cache of a device in front of a drive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DeviceCache {
    /// As left by accesses to the device's part of the working set, continued until the contents are stationary.
    Warm,
    /// Empty.
    Cold,
    /// As set by the parameters of the device.
    AsIs,
}

/// Hints on pages that streaming threads send to devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct HintsCase {
    /// Number of pages ahead that they prefetch; 0 for none.
    pub prefetch: u32,
    /// Number of pages behind that they evict; 0 for none.
    pub evict: u32,
    /// Number of pages ahead whose status they query; 0 for none.
    pub status: u32,
    /// Number of pages behind whose temperature they query; 0 for none.
    pub temperature: u32,
}

/// The loads and stores of threads.
#[derive(Clone, PartialEq, Debug)]
pub enum MemoryProgram {
    /// One thread follows pointers, which shows the latency.
    Chase {
        /// Size of the working set.
        working_set: Bytes,
        /// Order of the lines.
        order: ChaseOrder,
    },
    /// Threads stream over buffers, which shows the bandwidth.
    Traffic(TrafficCase),
    /// An application.
    Kernel(KernelCase),
    /// A recorded program.
    Recorded(RecordedCase),
}

/// A recorded program, and settings that the trace does not have.
#[derive(Clone, PartialEq, Debug)]
pub struct RecordedCase {
    /// Name of its file in the scenario.
    pub file: String,
    /// Its recorded accesses.
    pub trace: Arc<MemoryTrace>,
    /// Which loads wait for the previous load.
    pub dependence: Dependence,
    /// Time of an instruction that does not wait for memory.
    pub instruction: Span,
}

/// An application, and the part of it that runs.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct KernelCase {
    /// The application.
    pub kernel: Kernel,
    /// Number of threads.
    pub threads: u32,
    /// The part of it that runs.
    pub window: Window,
}

impl KernelCase {
    /// Whether it ends, and is therefore measured as a whole.
    #[must_use]
    pub const fn ends(&self) -> bool {
        !matches!(self.kernel, Kernel::KeyValue(_))
    }
}

/// Threads that stream over buffers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrafficCase {
    /// The share of writes in the traffic.
    pub mix: TrafficMix,
    /// Order of the lines.
    pub order: TrafficOrder,
    /// Number of threads.
    pub threads: u32,
    /// Size of all buffers together.
    pub working_set: Bytes,
    /// Time between two lines of a thread.
    pub delay: Span,
    /// Whether another thread follows pointers at the same time, over a working set of the same size on the same nodes,
    /// to show the latency.
    pub chaser: bool,
}

impl MemoryCase {
    /// Number of threads.
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
    /// Whether the program ends, and is therefore measured as a whole.
    #[must_use]
    pub const fn ends(&self) -> bool {
        match &self.program {
            MemoryProgram::Kernel(kernel) => kernel.ends(),
            MemoryProgram::Recorded(_) => true,
            MemoryProgram::Chase { .. } | MemoryProgram::Traffic(_) => false,
        }
    }
    /// Whether pages of more than 4 KiB are used, other than those of a device that is mapped directly.
    #[must_use]
    pub fn has_large_pages(&self) -> bool {
        let mut mappings = std::iter::once(&self.mapping).chain(self.parts.iter().map(|part| &part.mapping));
        mappings.any(|mapping| mapping.size != PageSize::Small && !matches!(mapping.policy, Policy::Dax(_)))
    }
    /// The nodes on which pages may be, in the order of the scenario.
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
