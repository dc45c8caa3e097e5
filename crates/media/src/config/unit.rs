//! The size of what is mapped.

/// What the host addresses, and what the FTL maps \[B\].
pub const UNIT: u64 = 4096;
