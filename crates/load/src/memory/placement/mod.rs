//! Placement of a program: the NUMA node of each page of its memory, and the cores of its threads.
//!
//! Policies are Linux's (`set_mempolicy(2)`, `numactl(8)`; weighted interleaving since Linux 6.9):
//!
//! | policy | a new page goes to | when that is full |
//! |---|---|---|
//! | bind | the nearest node of the set that has room | there is no memory: an error, never another node |
//! | preferred | the node | the nearest node that has room |
//! | interleave | the nodes in turn, a page each | the turn stays; its page goes to the nearest node that has room |
//! | weighted interleave | the nodes in turn, as many pages as the node's weight (1 to 255) | as above |
//! | DAX | the device's memory, mapped directly in pages of 2 MiB (device-dax): no policy, and no other node | there is no memory: an error |
//!
//! Parts of a program can have policies of their own, like those set by `mbind(2)` or by mapping a device.
//!
//! **Pages of 2 MiB and 1 GiB.** A policy gives a large page to one node and takes one turn for it: Linux 6.9 divides
//! the place in the mapping by the size of the page before it looks whose turn it is (`mm/mempolicy.c`:
//! `get_vma_policy`, `interleave_nid`, `weighted_interleave_nid`). Only aligned pages that lie wholly in the mapping
//! are large (`include/linux/huge_mm.h`: `thp_vma_suitable_order`); the rest at its ends is in pages of 4 KiB, whose
//! turns are counted in their own size. If no node has room for a whole large page, the remaining pages are of 4 KiB.
//! If a node is full, its large pages go to the nearest node with room, as in Linux for interleaving and for memory
//! with `MADV_HUGEPAGE`; under `preferred` without this advice, Linux would rather use small pages on their own node.
//!
//! The *nearest* node is the next one by number, from the page's own node upwards and then from 0: the nodes of sockets
//! have the lowest numbers, those of CXL memory follow.
//!
//! **Order of allocation: ascending addresses.** This agrees with Linux for the policy of a mapping (`mbind`), where
//! the turn follows from the page's position in the mapping, and for the policy of a task (`numactl`) if one thread is
//! the first to touch all the memory, from start to end, as an initialising loop does. (Under a task's policy, each
//! thread has its own turn; if several threads touch pages first in no fixed order, the shares are the same, but in
//! another order.) The place of a page is then a function of its number: nothing is stored per page, however large the
//! memory.

mod map;
mod policy;
mod stretch;
#[cfg(test)]
mod tests;

pub use map::{Large, PageMap};
pub use policy::{BadPlacement, Mapping, PageSize, Part, Policy};

/// The size of a base page \[B\].
pub const PAGE: u64 = 4096;

/// Placement of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The program's name in results.
    pub name: String,
    /// The mapping of its pages.
    pub mapping: Mapping,
    /// Parts with another mapping, by address, without overlap.
    pub parts: Vec<Part>,
    /// The hardware threads that its threads are pinned to, in order and wrapping around; if empty, those from the
    /// first that no other program uses. Hardware threads are numbered core by core first, then again for the second
    /// one of every core, as in Linux.
    pub cpus: Vec<u32>,
    /// Number of warm-up steps of each thread before the run, which take no time and are not counted, so that caches
    /// and TLBs begin warm. `None`: as many as it takes until the contents of the caches are stationary, where that is
    /// known ([`super::Program::reuse`]).
    pub warm: Option<u64>,
}

impl Placement {
    /// A program of this name with this mapping (a policy alone means pages of 4 KiB), on cores that no other program
    /// uses.
    #[must_use]
    pub fn new(name: impl Into<String>, mapping: impl Into<Mapping>) -> Self {
        Self { name: name.into(), mapping: mapping.into(), parts: Vec::new(), cpus: Vec::new(), warm: None }
    }
    /// The same with separate mappings for these parts.
    #[must_use]
    pub fn with_parts(self, parts: Vec<Part>) -> Self {
        Self { parts, ..self }
    }
    /// The same after this many steps of each thread; 0 for cold caches.
    #[must_use]
    pub fn warmed_by(self, steps: u64) -> Self {
        Self { warm: Some(steps), ..self }
    }
    /// The same on these hardware threads.
    #[must_use]
    pub fn on(self, cpus: impl IntoIterator<Item = u32>) -> Self {
        Self { cpus: cpus.into_iter().collect(), ..self }
    }
}
