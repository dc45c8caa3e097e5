//! The place of a load in a world.

use crate::handles::Handles;

/// What a load has to know of its world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot<'a> {
    /// The seed of the run.
    pub seed: u64,
    /// Its path in the kernel, from which its random streams follow.
    pub path: &'a str,
    /// The handles of its operations.
    pub handles: Handles,
    /// The logical unit of the device that it uses.
    pub unit: u16,
}
