//! A submission queue and its completion queue, as the host has them in its memory.
//!
//! ```text
//!  submit ─► entry at an address, and perhaps a doorbell        consume ─► who has ended, how, and perhaps a doorbell
//! ```
//!
//! The pair touches no memory: the caller writes what [`submit`](QueuePair::submit) gives, and reads the entry at
//! [`next_completion`](QueuePair::next_completion) for [`consume`](QueuePair::consume).

use crate::spec::{Cid, Command, CompletionEntry, CqId, Doorbell, SqId, Status};
use core::fmt;

/// When a host rings.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RingPolicy {
    /// After each command, or completion.
    Each,
    /// After so many, and when it is told to ([`QueuePair::flush_tail`], [`QueuePair::flush_head`]).
    Every(u16),
    /// Only when it is told to.
    Told,
}

/// A queue pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueuePairConfig {
    /// The submission queue.
    pub sqid: SqId,
    /// The completion queue, which no other submission queue shares.
    pub cqid: CqId,
    /// How many entries the submission queue has; one of them stays empty.
    pub sq_entries: u32,
    /// How many entries the completion queue has; one of them stays empty.
    pub cq_entries: u32,
    /// Where the submission queue is in host memory.
    pub sq_address: u64,
    /// Where the completion queue is in host memory.
    pub cq_address: u64,
    /// When the tail doorbell is rung.
    pub ring_tail: RingPolicy,
    /// When the head doorbell is rung.
    pub ring_head: RingPolicy,
}

/// What a submission asks of the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submitted {
    /// The command's identifier.
    pub cid: Cid,
    /// Where its entry goes.
    pub address: u64,
    /// The entry, to be written before the doorbell is rung.
    pub entry: Command,
    /// A doorbell to be rung with this value.
    pub ring: Option<(Doorbell, u16)>,
}

/// A command that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completed {
    /// Its identifier, free again.
    pub cid: Cid,
    /// What the host called it.
    pub name: u64,
    /// How it ended.
    pub status: Status,
    /// Dword 0 of its completion.
    pub dw0: u32,
    /// A doorbell to be rung with this value.
    pub ring: Option<(Doorbell, u16)>,
}

/// There is no free entry, or no free command identifier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueueFull;

impl fmt::Display for QueueFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the submission queue is full")
    }
}
impl core::error::Error for QueueFull {}

/// A submission queue and its completion queue.
#[derive(Clone, Debug)]
pub struct QueuePair {
    config: QueuePairConfig,
}

impl QueuePair {
    /// An empty pair.
    #[must_use]
    pub fn new(config: QueuePairConfig) -> Self {
        Self { config }
    }
    /// Puts a command into the queue; its identifier is chosen here. `name` comes back with its completion.
    ///
    /// # Errors
    /// If the queue is full; nothing has changed.
    pub fn submit(&mut self, command: Command, name: u64) -> Result<Submitted, QueueFull> {
        let _ = (command, name);
        Err(QueueFull)
    }
    /// The doorbell for commands that have not been rung for.
    pub fn flush_tail(&mut self) -> Option<(Doorbell, u16)> {
        None
    }
    /// Where the next completion will stand.
    #[must_use]
    pub fn next_completion(&self) -> u64 {
        self.config.cq_address
    }
    /// Takes what stands at [`QueuePair::next_completion`]; none if it is from the round before, or nobody waits for it.
    pub fn consume(&mut self, entry: CompletionEntry) -> Option<Completed> {
        let _ = entry;
        None
    }
    /// The doorbell for completions that have not been rung for.
    pub fn flush_head(&mut self) -> Option<(Doorbell, u16)> {
        None
    }
    /// The commands without a completion: after a reset, those whose outcome is not known.
    pub fn outstanding(&self) -> impl Iterator<Item = (Cid, u64)> + '_ {
        core::iter::empty()
    }
}
