//! Tokens of the device's wakes.

/// Look-ups.
pub(super) const LOOK_UP: u32 = 0;
/// The cache's memory.
pub(super) const MEMORY: u32 = 1;
/// Known future ends.
pub(super) const LATER: u32 = 2;
