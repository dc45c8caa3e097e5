//! `memory-host`: cores, caches and NUMA nodes that run programs of loads and stores.

mod results;

use lanetwin_kernel::{Component, Port};
use lanetwin_load::memory::{BadPlacement, Placement, Program};
use lanetwin_ports::{Build, Context, Dimension, HintKind, Message, Model, Param, PortInfo, Protocol};
use lanetwin_units::Instant;
use std::any::Any;

pub use results::{Found, MemoryResults, NodeTraffic};

/// The declaration.
pub static MODEL: Model = Model {
    name: "memory-host",
    about: "Cores, caches and NUMA nodes that run programs of loads and stores.",
    ports: &[PortInfo { name: "cxl", speaks: Protocol::Cxl, about: "the CXL ports: memory behind decoders", many: true }],
    params: &[PARAMS],
    drains_itself: |_| false,
    has_memory: false,
    build: Build::Component(|_, _| Box::new(MemoryHost {})),
};

const PARAMS: &[Param] = &[Param {
    name: "ports",
    dimension: Dimension::Count { least: 0, most: 64 },
    default: Some("1"),
    about: "how many CXL ports there are",
}];

/// The host.
#[derive(Debug)]
pub struct MemoryHost {}

impl MemoryHost {
    /// The sizes of the NUMA nodes \[B\], in the order of their numbers: a socket's DRAM each, then a decoder's memory each.
    #[must_use]
    pub fn nodes(&self) -> Vec<u64> {
        Vec::new()
    }
    /// How many hardware threads there are.
    #[must_use]
    pub const fn cpus(&self) -> u32 {
        0
    }
    /// Runs a program from the start of the run on; to be called before the first event, once for each program.
    ///
    /// # Errors
    /// Everything that is wrong with its placement; then it is not run.
    pub fn run(&mut self, _program: Box<dyn Program>, _placement: Placement) -> Result<(), Vec<BadPlacement>> {
        Ok(())
    }
    /// At `at`, says or asks this of pages of program `program` (in the order of [`MemoryHost::run`]), by virtual address; pages that lie
    /// on nodes without a device are left out. To be called before the first event.
    pub fn hint(&mut self, _program: usize, _what: HintKind, _address: u64, _pages: u32, _at: Instant) {}
    /// Counts from `at` on, the present: the end of the warm-up.
    pub fn reset(&mut self, _at: Instant) {}
    /// How many lines have been asked for and how many answered since the start of the run: touches of programs, and what prefetchers,
    /// page walks and write-backs asked memory for. They are equal when nothing is under way.
    #[must_use]
    pub const fn progress(&self) -> (u64, u64) {
        (0, 0)
    }
    /// Takes no more steps: what is under way ends.
    pub fn stop(&mut self) {}
    /// What has been counted up to `at`, the present: a program each, in the order of [`MemoryHost::run`].
    #[must_use]
    pub fn results(&self, _at: Instant) -> Vec<MemoryResults> {
        Vec::new()
    }
}

impl Component<Message> for MemoryHost {
    fn receive(&mut self, _: Port, _: Message, _: &mut Context<'_>) {}
    fn inspect(&self, see: &mut dyn FnMut(&str, String)) {
        see("under-way", "0".to_owned());
    }
    fn as_any(&mut self) -> Option<&mut dyn Any> {
        Some(self)
    }
}
