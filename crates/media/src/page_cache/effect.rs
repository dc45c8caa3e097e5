//! What a cache of pages is asked, what it wants done, and how that ended.

use super::{LINE, PAGE};

/// Read or write.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Access {
    /// The line is wanted.
    Read,
    /// The line is given.
    Write,
}

/// A request for a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Request {
    /// Comes back with the answer.
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

/// Something that an effect begins and that [`PageCache::ended`](super::PageCache::ended) is told the end of. Numbers
/// are used again when their job has ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Job(pub u32);

pub(super) const NUMBER: u32 = (1 << 28) - 1;

impl Job {
    pub(super) const fn fetch(register: u32) -> Self {
        Self(register)
    }
    /// The miss register that it fetches for, if it does.
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

/// How something ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Outcome {
    /// As asked.
    Success,
    /// The medium failed: the data are damaged or were not written.
    Failed,
}

/// What follows an access to the cache's memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Then {
    /// Nothing.
    Nothing,
    /// The request with this token is answered.
    Answer(u32),
    /// The job is told to have ended.
    End(Job),
}

/// What is to be done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Read from the cache's memory.
    ReadDram {
        /// Where in the cache's memory \[B\].
        address: u64,
        /// How many lines, one behind the other.
        lines: u32,
        /// What follows when they have been read.
        then: Then,
    },
    /// Write to the cache's memory.
    WriteDram {
        /// Where in the cache's memory \[B\].
        address: u64,
        /// How many lines, one behind the other.
        lines: u32,
        /// What follows when they have been written.
        then: Then,
    },
    /// Read from the medium.
    Fetch {
        /// Ended when the data have come.
        job: Job,
        /// Where on the device \[B\].
        address: u64,
        /// How much.
        bytes: u32,
    },
    /// Write a page to the medium: what was read out, completed by what was fetched.
    WriteBack {
        /// Ended when it has been written.
        job: Job,
        /// Where on the device \[B\].
        address: u64,
    },
    /// Answer the request with this token, now.
    Answer {
        /// Which.
        token: u32,
        /// How it ended.
        outcome: Outcome,
    },
}
