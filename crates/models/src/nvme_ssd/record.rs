//! When a command was where, for a waterfall.

use crate::roles::nvme::CommandRecord;
use lanetwin_units::Instant;
use std::collections::BTreeMap;

/// What the firmware and the medium did with a request.
#[derive(Clone, Copy, Debug)]
pub(super) struct ServiceRecord {
    pub(super) begun: Instant,
    pub(super) worked: Instant,
    pub(super) submitted: Instant,
}

/// Writes down where commands are.
#[derive(Default)]
pub(super) struct Recorder {
    /// The fetch whose entries have just come: its name on the link, and when it was asked for.
    fetch: (u32, Instant),
    open: BTreeMap<u32, CommandRecord>,
    ended: Vec<CommandRecord>,
}

impl Recorder {
    /// Entries have come; the commands that begin next are theirs.
    pub(super) fn fetched(&mut self, handle: u32, asked: Instant) {
        self.fetch = (handle, asked);
    }
    /// A command wants something: its entry came now, if it is the first time.
    pub(super) fn begin(&mut self, name: u32, now: Instant) {
        let (fetch, asked) = self.fetch;
        self.open.entry(name).or_insert(CommandRecord {
            name,
            fetch,
            asked,
            fetched: now,
            data: None,
            arrived: now,
            begun: now,
            worked: now,
            submitted: now,
            done: now,
            answered: now,
        });
    }
    /// Data of a command have come, under this handle.
    pub(super) fn data(&mut self, name: u32, handle: u32, asked: Instant, now: Instant) {
        if let Some(record) = self.open.get_mut(&name) {
            record.data = Some((handle, asked));
            record.arrived = now;
        }
    }
    /// The medium has done something for a command.
    pub(super) fn medium(&mut self, name: u32, what: ServiceRecord, now: Instant) {
        if let Some(record) = self.open.get_mut(&name) {
            let ServiceRecord { begun, worked, submitted } = what;
            *record = CommandRecord { begun, worked, submitted, done: now, ..*record };
        }
    }
    /// The completion entry of a command is made.
    pub(super) fn end(&mut self, name: u32, now: Instant) {
        if let Some(record) = self.open.remove(&name) {
            self.ended.push(CommandRecord { answered: now, ..record });
        }
    }
    pub(super) fn take(&mut self) -> Vec<CommandRecord> {
        std::mem::take(&mut self.ended)
    }
}
