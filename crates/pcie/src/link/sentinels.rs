//! Values that stand for none.

/// Later than any tick.
pub(super) const NEVER: u64 = u64::MAX;

/// Of an egress that leads to no other.
pub(super) const NO_EGRESS: u16 = u16::MAX;

/// Of an egress that is on no bus.
pub(super) const NO_BUS: u16 = u16::MAX;
