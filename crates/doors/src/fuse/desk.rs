//! Queue of requests from the thread that serves the kernel to the thread that owns the drive.

use crate::command::{Command, Ended};
use fuser::{Errno, ReplyData, ReplyEmpty, ReplyWrite};
use rustix::event::{EventfdFlags, eventfd};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::{Mutex, PoisonError};

/// A request of the kernel.
#[derive(Debug)]
pub struct Asked {
    /// The request to the drive.
    pub wanted: Wanted,
    /// The reply that the kernel waits for.
    pub answer: Answer,
}

/// A request to the drive.
#[derive(Debug)]
pub enum Wanted {
    /// These commands, at least one, in any order.
    Commands(Vec<Command>),
    /// Parts of blocks are written.
    Patch(Patch),
}

/// A write of parts of blocks: the blocks have to be read first. Long writes are among them if their buffer does not
/// begin with a page: the kernel then cuts them anywhere.
#[derive(Debug)]
pub struct Patch {
    /// The first of the blocks begins here …
    pub first: u64,
    /// … and the number of their bytes.
    pub bytes: u32,
    /// Offset of the written bytes from there.
    pub skip: usize,
    /// Data to write.
    pub data: Vec<u8>,
    /// Whether the write has to be durable when it ends.
    pub fua: bool,
}

impl Patch {
    /// The command that reads the blocks.
    #[must_use]
    pub const fn read(&self) -> Command {
        Command::read(self.first, self.bytes)
    }
    /// The command that writes the blocks, given their present bytes. Returns `None` if these are incomplete.
    #[must_use]
    pub fn write(&self, mut blocks: Vec<u8>) -> Option<Command> {
        blocks.get_mut(self.skip..)?.get_mut(..self.data.len())?.copy_from_slice(&self.data);
        Some(Command { fua: self.fua, ..Command::write(self.first, blocks) })
    }
}

/// Whoever waits for commands; answered when all of them have ended.
#[derive(Debug)]
pub struct Answer {
    awaited: Awaited,
    left: usize,
    /// Why it has failed, once it has.
    error: Option<Errno>,
    data: Vec<u8>,
}

/// The reply that the kernel waits for.
#[derive(Debug)]
pub(super) enum Awaited {
    /// This many bytes, from an offset in the blocks that were read.
    Read { reply: ReplyData, skip: usize, bytes: usize },
    /// The confirmation that this many bytes have been written.
    Written { reply: ReplyWrite, bytes: u32 },
    /// That it is done.
    Done(ReplyEmpty),
}

impl Asked {
    pub(super) fn new(commands: Vec<Command>, awaited: Awaited) -> Self {
        let answer = Answer { awaited, left: commands.len(), error: None, data: Vec::new() };
        Self { wanted: Wanted::Commands(commands), answer }
    }
    pub(super) fn patch(patch: Patch, awaited: Awaited) -> Self {
        let answer = Answer { awaited, left: 1, error: None, data: Vec::new() };
        Self { wanted: Wanted::Patch(patch), answer }
    }
}

impl Answer {
    /// Handles the end of one of the commands, with the data read. Returns itself while others are in progress.
    #[must_use]
    pub fn ended(mut self, ended: Ended, data: Vec<u8>) -> Option<Self> {
        self.left -= 1;
        if self.error.is_none() && !ended.is_well() {
            self.error = Some(if ended == Ended::NoRoom { Errno::ENOSPC } else { Errno::EIO });
        }
        self.data = data;
        if self.left > 0 {
            return Some(self);
        }
        self.send();
        None
    }
    fn send(self) {
        match (self.awaited, self.error) {
            (Awaited::Read { reply, skip, bytes }, error) => match self.data.get(skip..skip + bytes) {
                Some(data) if error.is_none() => reply.data(data),
                _ => reply.error(error.unwrap_or(Errno::EIO)),
            },
            (Awaited::Written { reply, bytes }, None) => reply.written(bytes),
            (Awaited::Done(reply), None) => reply.ok(),
            (Awaited::Written { reply, .. }, Some(error)) => reply.error(error),
            (Awaited::Done(reply), Some(error)) => reply.error(error),
        }
    }
}

/// Requests that have not been taken, and an event that can be waited for.
#[derive(Debug)]
pub struct Desk {
    asked: Mutex<Vec<Asked>>,
    bell: OwnedFd,
}

impl Desk {
    /// One with nothing on it.
    ///
    /// # Errors
    /// The system gives no event.
    pub fn new() -> io::Result<Self> {
        let bell = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { asked: Mutex::new(Vec::new()), bell })
    }
    /// Queues a request, and signals the event if the queue was empty; otherwise it has been signalled.
    pub fn leave(&self, asked: Asked) {
        let mut left = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let was_empty = left.is_empty();
        left.push(asked);
        drop(left);
        if was_empty {
            // it cannot fail but when it has rung 2^64 times unheard
            let _ = rustix::io::write(&self.bell, &1_u64.to_ne_bytes());
        }
    }
    /// Silences the bell, and takes every request: in this order, so that nothing is left without a ring.
    pub fn take(&self) -> Vec<Asked> {
        let _ = rustix::io::read(&self.bell, &mut [0; 8]);
        std::mem::take(&mut *self.asked.lock().unwrap_or_else(PoisonError::into_inner))
    }
    /// Readable when something was left.
    #[must_use]
    pub fn bell(&self) -> BorrowedFd<'_> {
        self.bell.as_fd()
    }
}
