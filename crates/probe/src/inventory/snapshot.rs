//! What was read of a machine: the configuration space of each function, and attributes from its operating system.

use super::facts::Facts;
use super::told::{Drive, Memory, Node};
use crate::host::Address;
use std::collections::BTreeMap;

/// Size of a whole configuration space \[B\].
pub(super) const WHOLE: usize = 4096;
/// Size of the header, the minimum for a function \[B\].
pub(super) const HEADER: usize = 64;
/// Maximum number of functions that are read; a machine has fewer, virtual functions included. Assumed.
pub(super) const MANY: usize = 8192;

/// What was read of a machine.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Snapshot {
    /// The configuration spaces, of 64 to 4096 bytes. A function that is known from a text only has none.
    pub spaces: BTreeMap<Address, Vec<u8>>,
    /// Attributes of each function, by name, from the operating system or from a text.
    pub attributes: BTreeMap<Address, Facts>,
    /// NUMA nodes.
    pub nodes: Vec<Node>,
    /// CXL memory devices.
    pub memories: Vec<Memory>,
    /// NVMe controllers.
    pub drives: Vec<Drive>,
    /// Notes on what could not be read.
    pub notes: Vec<String>,
}

/// Why nothing was read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotRead(pub String);

impl Snapshot {
    /// Adds another snapshot of the same machine to this one. If both have an attribute, node, memory or drive, this
    /// snapshot's is kept; of two configuration spaces, the longer one.
    #[must_use]
    pub fn merged(mut self, other: Self) -> Self {
        for (address, bytes) in other.spaces {
            let own = self.spaces.entry(address).or_default();
            if bytes.len() > own.len() {
                *own = bytes;
            }
        }
        for (address, facts) in other.attributes {
            let own = self.attributes.entry(address).or_default();
            for (name, value) in facts {
                own.entry(name).or_insert(value);
            }
        }
        append(&mut self.nodes, other.nodes, |one| one.node);
        append(&mut self.memories, other.memories, |one| one.name.clone());
        append(&mut self.drives, other.drives, |one| one.name.clone());
        self.notes.extend(other.notes);
        self
    }
}

/// Appends the items whose names `own` does not have yet.
fn append<T, K: PartialEq>(own: &mut Vec<T>, more: Vec<T>, name: impl Fn(&T) -> K) {
    for one in more {
        if own.iter().all(|known| name(known) != name(&one)) {
            own.push(one);
        }
    }
}
