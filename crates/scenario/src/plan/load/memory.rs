//! Loads and stores of the cores of a host.

use lanetwin_load::memory::kernels::{Kernel, Window};
use lanetwin_load::memory::{ChaseOrder, Policy, TrafficMix, TrafficOrder};
use lanetwin_units::{Bytes, Span};

/// One load of memory.
#[derive(Clone, PartialEq, Debug)]
pub struct MemoryCase {
    /// What the threads do.
    pub program: MemoryProgram,
    /// Where their pages are: on nodes of the host, by their places among its [`crate::MemoryNode`]s.
    pub policy: Policy,
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
    /// Whether another thread follows pointers meanwhile, through as much on the same nodes: its loads show the latency.
    pub chaser: bool,
}

impl MemoryCase {
    /// How many threads there are.
    #[must_use]
    pub const fn threads(&self) -> u32 {
        match self.program {
            MemoryProgram::Chase { .. } => 1,
            MemoryProgram::Traffic(traffic) => traffic.threads + traffic.chaser as u32,
            MemoryProgram::Kernel(kernel) => kernel.threads,
        }
    }
    /// Whether there are reads of memory, and whether there are writes.
    #[must_use]
    pub const fn kinds(&self) -> (bool, bool) {
        match self.program {
            MemoryProgram::Chase { .. } => (true, false),
            MemoryProgram::Kernel(_) => (true, true),
            MemoryProgram::Traffic(traffic) => match traffic.mix {
                TrafficMix::AllReads => (true, false),
                TrafficMix::StreamingWrites => (false, true),
                TrafficMix::R3W1 | TrafficMix::R2W1 | TrafficMix::R1W1 => (true, true),
            },
        }
    }
    /// Whether the program ends, and all of it is measured.
    #[must_use]
    pub const fn ends(&self) -> bool {
        matches!(&self.program, MemoryProgram::Kernel(kernel) if kernel.ends())
    }
    /// The nodes that pages may be on, in the order of writing.
    #[must_use]
    pub fn nodes(&self) -> Vec<u16> {
        match &self.policy {
            Policy::Bind(nodes) | Policy::Interleave(nodes) => nodes.clone(),
            Policy::Preferred(node) => vec![*node],
            Policy::WeightedInterleave(nodes) => nodes.iter().map(|(node, _)| *node).collect(),
        }
    }
}
