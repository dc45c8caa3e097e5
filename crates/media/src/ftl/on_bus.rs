//! Data of a read on the flash bus.

use crate::nand::times::Times;

/// Data of a read on the bus.
#[derive(Clone, Copy, Debug)]
pub struct OnBus {
    pub(super) bytes: u64,
    /// Bytes including their share of the spare area \[B\].
    pub(super) framed: u64,
    /// Their time on the bus \[ps\].
    pub(super) time: u64,
}

impl OnBus {
    pub fn new(bytes: u64, times: &Times) -> Self {
        Self { bytes, framed: times.framed(bytes), time: times.data_out(bytes) }
    }
}
