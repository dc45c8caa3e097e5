//! What was read of a machine: the bytes of each function's configuration space, and what its operating system says.

use super::facts::Facts;
use super::told::{Drive, Memory, Node};
use crate::host::Address;
use std::collections::BTreeMap;

/// The whole of a configuration space \[B\].
pub(super) const WHOLE: usize = 4096;
/// The least that a function has \[B\].
pub(super) const HEADER: usize = 64;
/// Functions that are read; a machine has fewer, those of virtual functions included. Assumed.
pub(super) const MANY: usize = 8192;

/// What was read of a machine.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Snapshot {
    /// The bytes of each function: 64 to 4096. Where a text alone was read, there are none.
    pub spaces: BTreeMap<Address, Vec<u8>>,
    /// What the operating system, or a text, says of it, by name.
    pub attributes: BTreeMap<Address, Facts>,
    /// NUMA nodes, in their order.
    pub nodes: Vec<Node>,
    /// CXL memory devices.
    pub memories: Vec<Memory>,
    /// NVMe controllers.
    pub drives: Vec<Drive>,
    /// What could not be read, in words.
    pub notes: Vec<String>,
}

/// Why nothing was read.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotRead(pub String);

impl Snapshot {
    /// Puts another reading of the same machine to this one. Where both have something, this one counts, but of bytes
    /// the reading that has more.
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

/// Appends what is not there yet.
fn append<T, K: PartialEq>(own: &mut Vec<T>, more: Vec<T>, name: impl Fn(&T) -> K) {
    for one in more {
        if own.iter().all(|known| name(known) != name(&one)) {
            own.push(one);
        }
    }
}
