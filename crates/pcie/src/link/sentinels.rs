//! Sentinel values.

/// Later than any tick.
pub(super) const NEVER: u64 = u64::MAX;

/// The next egress of an egress without one.
pub(super) const NO_EGRESS: u16 = u16::MAX;

/// The bus of an egress without one.
pub(super) const NO_BUS: u16 = u16::MAX;
