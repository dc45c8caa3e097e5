//! The size of a mapped unit.

/// Size of the unit that the host addresses and the FTL maps \[B\].
pub const UNIT: u64 = 4096;
