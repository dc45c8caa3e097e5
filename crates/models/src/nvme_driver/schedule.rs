//! Commands beside requests: what is kept of each, and their names in the queues.

use super::buffers::Lists;
use crate::roles::nvme::{Answer, ScheduledCommand};

/// Where the names of these commands begin: behind those of requests, which have 32 bits.
pub(super) const NAMES: u64 = 1 << 32;
/// The name of an Asynchronous Event Request.
pub(super) const EVENT: u64 = 1 << 34;
/// What is added to the name of what reads how a sanitize has ended.
pub(super) const AFTERWARDS: u64 = 1 << 33;

/// A scheduled command.
pub(super) struct Scheduled {
    pub(super) what: ScheduledCommand,
    pub(super) answer: Answer,
    /// Where its data are in host memory.
    pub(super) buffer: u64,
    pub(super) lists: Lists,
}

/// Whether a name is one of a command that is asked here.
pub(super) const fn is_scheduled(name: u64) -> bool {
    name >= NAMES
}
