//! State of scheduled commands, and their identifiers in the queues.

use super::buffers::Lists;
use crate::roles::nvme::{Answer, ScheduledCommand};

/// First identifier of these commands: above those of requests, which have 32 bits.
pub(super) const NAMES: u64 = 1 << 32;
/// The name of an Asynchronous Event Request.
pub(super) const EVENT: u64 = 1 << 34;
/// Added to the identifier of the command that reads the outcome of a sanitize.
pub(super) const AFTERWARDS: u64 = 1 << 33;

/// A scheduled command.
pub(super) struct Scheduled {
    pub(super) what: ScheduledCommand,
    pub(super) answer: Answer,
    /// Address of its data in host memory.
    pub(super) buffer: u64,
    pub(super) lists: Lists,
}

/// Whether an identifier belongs to a scheduled command.
pub(super) const fn is_scheduled(name: u64) -> bool {
    name >= NAMES
}
