//! What an adapter tells of itself: what it has moved, and what is not over yet.

/// What the adapter has moved.
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
    /// What those that have left took of the line \[ps\].
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
    /// What nobody waited for: frames of messages that are over, doorbells of others.
    pub unexpected: u64,
}

/// What is not over yet in an adapter: nothing, once all that was asked for is answered and acknowledged.
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
