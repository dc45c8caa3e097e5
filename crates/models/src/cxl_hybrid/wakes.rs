//! What the device is woken for.

/// Look-ups.
pub(super) const LOOK_UP: u32 = 0;
/// The cache's memory.
pub(super) const MEMORY: u32 = 1;
/// What ends later than it is known.
pub(super) const LATER: u32 = 2;
