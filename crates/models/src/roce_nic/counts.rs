//! Counters of an adapter, and unfinished work.

/// Traffic of the adapter.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Counts {
    /// Payload that has left \[B\].
    pub sent: u64,
    /// Payload that was written to host memory \[B\].
    pub received: u64,
    /// Messages that were begun with.
    pub messages: u64,
    /// Registrations of memory that went before them.
    pub registrations: u64,
    /// Frames that have left.
    pub frames: u64,
    /// Frames that have come.
    pub heard: u64,
    /// Time that sent frames occupied the line \[ps\].
    pub busy_ps: u128,
    /// Frames that did not come because the cable was down.
    pub lost: u64,
    /// Frames that came with a mark.
    pub marked: u64,
    /// Congestion Notification Packets that have left.
    pub notified: u64,
    /// Those that came.
    pub notifications: u64,
    /// Pause frames that have left, of one that is broken.
    pub pauses: u64,
    /// Unexpected frames and doorbells: of messages that are over, or of unknown queue pairs.
    pub unexpected: u64,
}

/// Unfinished work of an adapter: none, once all requests are answered and acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Unfinished {
    /// Work requests whose packets are not all acknowledged: they hold the window and the READs of a queue pair.
    pub work: usize,
    /// Answers that are not sent.
    pub answers: usize,
    /// Frames that wait for the line.
    pub frames: usize,
    /// Reads of host memory without their data.
    pub reads: usize,
}
