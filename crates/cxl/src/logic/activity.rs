//! Counters of a direction.

/// Counters of one direction.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Activity {
    /// Flits with a header that carried messages or data.
    pub protocol_flits: u64,
    /// All-data flits.
    pub all_data_flits: u64,
    /// Control flits that returned credits only.
    pub credit_flits: u64,
    /// Control flits of retries.
    pub retry_flits: u64,
    /// Flits of CXL.io.
    pub io_flits: u64,
    /// Flits that were sent again.
    pub replayed_flits: u64,
    /// Flits that arrived with a wrong CRC.
    pub crc_errors: u64,
    /// Slots with messages.
    pub message_slots: u64,
    /// Slots of data.
    pub data_slots: u64,
    /// Empty slots of protocol flits.
    pub empty_slots: u64,
    /// Messages without data: Req, NDR.
    pub no_data_messages: u64,
    /// Messages with data: RwD, DRS.
    pub data_messages: u64,
    /// Messages over CXL.io.
    pub io_messages: u64,
    /// Sum over all messages of CXL.mem of their waiting time for a flit \[ticks\].
    pub waited_ticks: u128,
    /// Sum over the classes of the time in which a message waited for a credit \[ticks\].
    pub stalled_ticks: u64,
}

impl Activity {
    /// Number of flits that occupied the wire.
    #[must_use]
    pub const fn flits(&self) -> u64 {
        self.protocol_flits
            + self.all_data_flits
            + self.credit_flits
            + self.retry_flits
            + self.io_flits
            + self.replayed_flits
    }
}
