//! Requests from the file of a drive that are in progress.

use crate::fuse::{Answer, Patch};
use std::collections::{BTreeMap, VecDeque};

/// Requests from the file that are in progress.
#[derive(Default)]
pub(super) struct OfFile {
    pub(super) answers: BTreeMap<u64, Answer>,
    /// The number of the answer, by the ticket of a command.
    pub(super) tickets: BTreeMap<u64, u64>,
    pub(super) numbers: u64,
    /// Writes of parts of blocks that wait: two of them may be about the same block.
    pub(super) patches: VecDeque<(Patch, Answer)>,
    pub(super) patching: Option<Patching>,
}

/// The write of parts of blocks that is in progress.
pub(super) struct Patching {
    /// The command of it that is in progress …
    pub(super) ticket: u64,
    /// … which reads the blocks for this, or writes them.
    pub(super) to_write: Option<Patch>,
    pub(super) answer: Answer,
}

impl OfFile {
    pub(super) fn is_empty(&self) -> bool {
        self.tickets.is_empty() && self.patching.is_none()
    }
}
