//! What other programs report of a machine besides its functions: NUMA nodes, CXL memories, NVMe drives.
//!
//! None of these types has a field for a serial number, an EUI-64, an NQN or the name of a host: nothing that
//! identifies a particular machine is kept.

use crate::host::Address;
use serde::{Deserialize, Serialize};

/// A NUMA node.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its number.
    pub node: u32,
    /// Its CPUs, as a list of ranges: `0-15,32-47`. Empty for a node that has only memory.
    pub cpus: String,
    /// Its memory \[B\].
    pub memory_bytes: u64,
    /// Distances to all nodes, 10 for the distance to itself (ACPI 6.5 §5.2.17, SLIT).
    pub distances: Vec<u32>,
}

/// A CXL memory device.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    /// What the system calls it: `mem0`.
    pub name: String,
    /// Its function.
    pub address: Option<Address>,
    /// Volatile memory \[B\].
    pub volatile_bytes: u64,
    /// Persistent memory \[B\].
    pub persistent_bytes: u64,
    /// The NUMA node that the operating system reports for it.
    pub node: Option<u32>,
}

/// An NVMe controller.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Drive {
    /// What the system calls it: `nvme0`.
    pub name: String,
    /// Its function, if it is on PCI Express and its address is known.
    pub address: Option<Address>,
    /// Its model.
    pub model: String,
    /// Its firmware.
    pub firmware: String,
    /// Sum of its namespaces \[B\].
    pub capacity_bytes: u64,
}

/// A text as it is kept: without control characters, without spaces around it, at most [`LONGEST_NAME`] characters.
#[must_use]
pub(super) fn kept(text: &str) -> String {
    let plain: String = text.chars().filter(|sign| !sign.is_control()).collect();
    plain.trim().chars().take(LONGEST_NAME).collect::<String>().trim_end().to_owned()
}

/// Maximum length of a name that is kept \[characters\]; names in pci.ids are shorter. Assumed.
const LONGEST_NAME: usize = 160;

/// CPU numbers as a list of ranges: `0-2,5`.
#[must_use]
pub(super) fn cpu_ranges(numbers: &[u32]) -> String {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    let mut found: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match found.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(number) => *last = number,
            _ => found.push((number, number)),
        }
    }
    let said = |(first, last): &(u32, u32)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    found.iter().map(said).collect::<Vec<_>>().join(",")
}
