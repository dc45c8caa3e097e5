//! Requests to a page cache, the effects that it asks for, and their outcomes.

use super::{LINE, PAGE};

/// Read or write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// Read the line.
    Read,
    /// Write the line.
    Write,
}

/// A request for a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Returned with the answer.
    pub token: u32,
    /// Read or write.
    pub access: Access,
    /// A byte of the line, on the device; below its capacity.
    pub address: u64,
}

impl Request {
    pub(super) const fn page(&self) -> u32 {
        (self.address / PAGE) as u32
    }
    pub(super) const fn line(&self) -> u32 {
        (self.address % PAGE / LINE) as u32
    }
}

/// An effect whose end is reported to [`PageCache::ended`](super::PageCache::ended). Numbers are reused after the job
/// has ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Job(pub u32);

pub(super) const NUMBER: u32 = (1 << 28) - 1;

impl Job {
    pub(super) const fn fetch(register: u32) -> Self {
        Self(register)
    }
    /// The miss register for which it fetches, if it is a fetch.
    #[must_use]
    pub const fn register(self) -> Option<u32> {
        if self.0 <= NUMBER { Some(self.0) } else { None }
    }
    pub(super) const fn read_out(slot: u32) -> Self {
        Self(1 << 28 | slot)
    }
    pub(super) const fn complete(slot: u32) -> Self {
        Self(2 << 28 | slot)
    }
    pub(super) const fn write_back(slot: u32) -> Self {
        Self(3 << 28 | slot)
    }
}

/// Outcome of an effect or a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// Success.
    Success,
    /// The medium failed: the data are damaged or were not written.
    Failed,
}

/// Action after an access to the cache's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// Nothing.
    Nothing,
    /// Answer the request with this token.
    Answer(u32),
    /// Report the end of the job.
    End(Job),
}

/// An effect to carry out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Read from the cache's memory.
    ReadDram {
        /// Address in the cache's memory \[B\].
        address: u64,
        /// Number of consecutive lines.
        lines: u32,
        /// Action after they have been read.
        then: Then,
    },
    /// Write to the cache's memory.
    WriteDram {
        /// Address in the cache's memory \[B\].
        address: u64,
        /// Number of consecutive lines.
        lines: u32,
        /// Action after they have been written.
        then: Then,
    },
    /// Read from the medium.
    Fetch {
        /// Ends when the data have arrived.
        job: Job,
        /// Address on the device \[B\].
        address: u64,
        /// Number of bytes.
        bytes: u32,
    },
    /// Write a page to the medium: the lines read out, completed by those fetched.
    WriteBack {
        /// Ends when it has been written.
        job: Job,
        /// Address on the device \[B\].
        address: u64,
    },
    /// Answer the request with this token now.
    Answer {
        /// Token.
        token: u32,
        /// Outcome.
        outcome: Outcome,
    },
}
