//! What a read takes of a flash bus.

use crate::nand::times::Times;

/// What the data of a read are on the bus.
#[derive(Clone, Copy, Debug)]
pub struct OnBus {
    pub(super) bytes: u64,
    /// With their share of the spare area \[B\].
    pub(super) framed: u64,
    /// How long they take \[ps\].
    pub(super) time: u64,
}

impl OnBus {
    pub fn new(bytes: u64, times: &Times) -> Self {
        Self { bytes, framed: times.framed(bytes), time: times.data_out(bytes) }
    }
}
