//! The bytes of commands in progress, between the host and the store.

use crate::bytes::{ByteStore, StoreFault};
use crate::layout::Extent;
use lanetwin_nvme::logic::{MediaOperation, Token};
use lanetwin_nvme::spec::Status;
use std::collections::BTreeMap;

/// A store, and the data on their way to it and from it.
pub(crate) struct Buffers {
    store: Box<dyn ByteStore + Send>,
    /// Data of commands, by the part of a command that they belong to.
    parts: BTreeMap<u64, Vec<u8>>,
    /// Requests to the medium, by token.
    operations: BTreeMap<u64, (MediaOperation, Extent)>,
    /// Empty buffers, kept to be reused.
    spare: Vec<Vec<u8>>,
}

impl Buffers {
    pub(crate) fn new(store: Box<dyn ByteStore + Send>) -> Self {
        Self { store, parts: BTreeMap::new(), operations: BTreeMap::new(), spare: Vec::new() }
    }
    /// Keeps data of a part that have come from the host.
    pub(crate) fn put(&mut self, token: Token, data: &[u8]) {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.extend_from_slice(data);
        self.keep(token, buffer);
    }
    fn keep(&mut self, token: Token, buffer: Vec<u8>) {
        if let Some(old) = self.parts.insert(token.part(), buffer) {
            self.spare(old);
        }
    }
    /// Data of a part for the host.
    pub(crate) fn get(&self, token: Token) -> &[u8] {
        self.parts.get(&token.part()).map_or(&[], Vec::as_slice)
    }
    /// Drops the data of a part.
    pub(crate) fn forget(&mut self, token: Token) {
        if let Some(buffer) = self.parts.remove(&token.part()) {
            self.spare(buffer);
        }
    }
    fn spare(&mut self, mut buffer: Vec<u8>) {
        buffer.clear();
        self.spare.push(buffer);
    }

    /// Notes a request to the medium.
    pub(crate) fn note_operation(&mut self, token: Token, operation: MediaOperation, extent: Extent) {
        self.operations.insert(token.to_raw(), (operation, extent));
    }
    /// Carries out the operation of a part on the store when the medium has completed it. Returns the status of the
    /// part.
    pub(crate) fn carry_out(&mut self, token: Token) -> Status {
        let Some((operation, extent)) = self.operations.remove(&token.to_raw()) else {
            return Status::INTERNAL_ERROR;
        };
        let Extent { first, bytes, .. } = extent;
        let written = |done: Result<(), StoreFault>| done.map_or(Status::WRITE_FAULT, |()| Status::SUCCESS);
        match operation {
            MediaOperation::Read => self.read(token, first, bytes),
            MediaOperation::Write { .. } | MediaOperation::Compare => {
                self.write_or_compare(token, operation, extent)
            }
            MediaOperation::WriteZeroes { .. } => written(self.store.write_zeroes(first, bytes)),
            MediaOperation::Deallocate => written(self.store.deallocate(first, bytes)),
            MediaOperation::Format { .. } | MediaOperation::Sanitize { .. } => {
                written(self.store.format(first, bytes))
            }
            MediaOperation::Flush => written(self.store.flush()),
        }
    }
    fn read(&mut self, token: Token, first: u64, bytes: u64) -> Status {
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.resize(bytes as usize, 0);
        let done = self.store.read(first, &mut buffer);
        self.keep(token, buffer);
        done.map_or(Status::UNRECOVERED_READ_ERROR, |()| Status::SUCCESS)
    }
    /// Carries out an operation with data from the host.
    fn write_or_compare(
        &mut self,
        token: Token,
        operation: MediaOperation,
        Extent { first, bytes, .. }: Extent,
    ) -> Status {
        // a front that has not reported the data has not transferred them
        let Some(data) = self.parts.remove(&token.part()) else { return Status::DATA_TRANSFER_ERROR };
        let status = if data.len() as u64 != bytes {
            Status::DATA_TRANSFER_ERROR
        } else if operation == MediaOperation::Compare {
            match self.store.compare(first, &data) {
                Ok(true) => Status::SUCCESS,
                Ok(false) => Status::COMPARE_FAILURE,
                Err(StoreFault) => Status::UNRECOVERED_READ_ERROR,
            }
        } else {
            self.store.write(first, &data).map_or(Status::WRITE_FAULT, |()| Status::SUCCESS)
        };
        self.spare(data);
        status
    }
}
