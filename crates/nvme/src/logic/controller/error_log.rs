//! The Error Information log, and the number of errors (Base 2.0 §5.16.1.2).

use super::slots::Slot;
use crate::spec::Status;
use crate::spec::log::{ErrorEntry, LoggedStatus};
use std::collections::VecDeque;

/// No command, no location.
const NONE_16: u16 = 0xffff;

/// The Error Information log, and the number of errors.
#[derive(Clone, Debug)]
pub(super) struct ErrorLog {
    pub entries: VecDeque<ErrorEntry>,
    pub most: usize,
    pub count: u64,
}

impl ErrorLog {
    /// A log with room for `most` entries.
    pub fn new(most: u8) -> Self {
        Self { entries: VecDeque::new(), most: most.into(), count: 0 }
    }
    /// Adds a failed command. Returns true, as the log has more information about it.
    pub fn add(&mut self, slot: &Slot, status: Status) -> bool {
        let mut entry = ErrorEntry::ZERO;
        entry.set_sq_number(slot.sqid);
        entry.set_cid_number(slot.cid);
        entry.set_status(logged(status));
        entry.set_location(NONE_16);
        entry.set_lba(if slot.sqid == 0 { 0 } else { slot.slba });
        entry.set_nsid_number(slot.command.nsid_number());
        entry.set_opcode(slot.command.dword0().opcode());
        self.push(entry);
        true
    }
    /// Adds an invalid doorbell write.
    pub fn add_doorbell(&mut self) {
        let mut entry = ErrorEntry::ZERO;
        entry.set_sq_number(NONE_16);
        entry.set_cid_number(NONE_16);
        entry.set_location(NONE_16);
        self.push(entry);
    }
    fn push(&mut self, mut entry: ErrorEntry) {
        self.count += 1;
        entry.set_count(self.count);
        if self.entries.len() == self.most {
            self.entries.pop_back();
        }
        self.entries.push_front(entry);
    }
}

/// Status field of a failed command, as in its completion, but without the phase of the queue.
fn logged(status: Status) -> LoggedStatus {
    let field = LoggedStatus::ZERO.with_status(status.0 & 0x7ff).expect("eleven bits");
    let more = field.with_more(true).expect("a bit");
    more.with_do_not_retry(status.is_permanent()).expect("a bit")
}
