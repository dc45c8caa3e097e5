//! Where a load stands in a world.

use crate::handles::Handles;

/// What a load is told of the world that it stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot<'a> {
    /// The seed of the run.
    pub seed: u64,
    /// Its path in the kernel: random streams derive from it.
    pub path: &'a str,
    /// What its operations are called.
    pub handles: Handles,
    /// The logical unit of the device that it asks.
    pub unit: u16,
}
