//! A submission queue and its completion queue in host memory.
//!
//! ```text
//!  submit ─► entry at an address, and perhaps a doorbell        consume ─► who has ended, how, and perhaps a doorbell
//! ```
//!
//! The pair does not access memory: the caller writes the entry that [`submit`](QueuePair::submit) returns, and reads
//! the entry at [`next_completion`](QueuePair::next_completion) for [`consume`](QueuePair::consume).

use crate::spec::command::COMMAND_BYTES;
use crate::spec::completion::COMPLETION_ENTRY_BYTES;
use crate::spec::{Cid, Command, CommandDword0, CompletionEntry, CqId, Doorbell, SqId, Status};
use core::fmt;

/// When a host rings a doorbell.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RingPolicy {
    /// After each command or completion.
    Each,
    /// After this number of commands or completions, and on request ([`QueuePair::flush_tail`],
    /// [`QueuePair::flush_head`]).
    Every(u16),
    /// Only on request.
    OnRequest,
}

/// A queue pair.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct QueuePairConfig {
    /// The submission queue.
    pub sqid: SqId,
    /// The completion queue, which no other submission queue shares.
    pub cqid: CqId,
    /// Number of entries of the submission queue, one of which stays empty.
    pub sq_entries: u32,
    /// Number of entries of the completion queue, one of which stays empty.
    pub cq_entries: u32,
    /// Address of the submission queue in host memory.
    pub sq_address: u64,
    /// Address of the completion queue in host memory.
    pub cq_address: u64,
    /// When the tail doorbell is rung.
    pub ring_tail: RingPolicy,
    /// When the head doorbell is rung.
    pub ring_head: RingPolicy,
}

/// Result of a submission, with the writes that the caller must do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Submitted {
    /// The command identifier.
    pub cid: Cid,
    /// Address of its entry.
    pub address: u64,
    /// The entry, to be written before the doorbell is rung.
    pub entry: Command,
    /// The doorbell to be rung, with its value.
    pub ring: Option<(Doorbell, u16)>,
}

/// A command that has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completed {
    /// Command identifier, which is free again.
    pub cid: Cid,
    /// The host's name of the command.
    pub name: u64,
    /// Status of the command.
    pub status: Status,
    /// Dword 0 of its completion.
    pub dw0: u32,
    /// The doorbell to be rung, with its value.
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

/// A command without a completion.
#[derive(Clone, Copy, Debug)]
struct Pending {
    name: u64,
    taken: bool,
}

/// A submission queue and its completion queue.
#[derive(Clone, Debug)]
pub struct QueuePair {
    config: QueuePairConfig,
    /// Commands by command identifier.
    pending: Vec<Pending>,
    free: Vec<u16>,
    /// Head as last reported by the controller.
    sq_head: u32,
    sq_tail: u32,
    /// Number of commands since the last ring of the tail doorbell.
    unrung: u32,
    cq_head: u32,
    /// Phase of a new entry.
    phase: bool,
    /// Number of completions since the last ring of the head doorbell.
    untold: u32,
    unexpected: u64,
}

impl QueuePair {
    /// An empty pair. Command identifiers are 0 to the entries of the submission queue less two.
    ///
    /// # Panics
    /// If a queue does not have 2 to 65536 entries.
    #[must_use]
    pub fn new(config: QueuePairConfig) -> Self {
        let fits = |entries: u32| (2..=65_536).contains(&entries);
        assert!(fits(config.sq_entries) && fits(config.cq_entries), "a queue has 2 to 65536 entries");
        let commands = config.sq_entries - 1;
        Self {
            config,
            pending: vec![Pending { name: 0, taken: false }; commands as usize],
            free: (0..commands).rev().map(|cid| cid as u16).collect(),
            sq_head: 0,
            sq_tail: 0,
            unrung: 0,
            cq_head: 0,
            phase: true,
            untold: 0,
            unexpected: 0,
        }
    }
    /// Configuration of the pair.
    #[must_use]
    pub const fn config(&self) -> &QueuePairConfig {
        &self.config
    }
    /// Number of commands that can be submitted now.
    #[must_use]
    pub fn room(&self) -> u32 {
        let held = (self.sq_tail + self.config.sq_entries - self.sq_head) % self.config.sq_entries;
        (self.config.sq_entries - 1 - held).min(self.free.len() as u32)
    }
    /// Number of commands without a completion.
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        (self.pending.len() - self.free.len()) as u32
    }
    /// Submits a command, with an identifier chosen here. `name` is returned with its completion.
    ///
    /// # Errors
    /// If the queue is full; the pair is then unchanged.
    #[inline]
    pub fn submit(&mut self, command: Command, name: u64) -> Result<Submitted, QueueFull> {
        let next = if self.sq_tail + 1 == self.config.sq_entries { 0 } else { self.sq_tail + 1 };
        if next == self.sq_head {
            return Err(QueueFull);
        }
        let cid = self.free.pop().ok_or(QueueFull)?;
        self.pending[usize::from(cid)] = Pending { name, taken: true };
        let mut entry = command;
        let dword0 = entry.dword0().raw() & 0xffff | u32::from(cid) << 16;
        entry.set_dword0(CommandDword0::from_raw(dword0));
        let address = self.config.sq_address + u64::from(self.sq_tail) * u64::from(COMMAND_BYTES);
        self.sq_tail = next;
        self.unrung += 1;
        let ring = if self.config.ring_tail.is_due(self.unrung) { self.flush_tail() } else { None };
        Ok(Submitted { cid: Cid(cid), address, entry, ring })
    }
    /// The tail doorbell to be rung, if there are commands since its last ring.
    pub fn flush_tail(&mut self) -> Option<(Doorbell, u16)> {
        let due = core::mem::take(&mut self.unrung) > 0;
        due.then_some((Doorbell::SubmissionTail(self.config.sqid), self.sq_tail as u16))
    }
    /// Address of the next completion.
    #[inline]
    #[must_use]
    pub fn next_completion(&self) -> u64 {
        self.config.cq_address + u64::from(self.cq_head) * u64::from(COMPLETION_ENTRY_BYTES)
    }
    /// Consumes the entry at [`QueuePair::next_completion`]. Returns `None` if its phase shows that it is not new, or
    /// if no command waits for it; such an entry is consumed and counted.
    #[inline]
    pub fn consume(&mut self, entry: CompletionEntry) -> Option<Completed> {
        if entry.phase() != self.phase {
            return None;
        }
        self.cq_head += 1;
        if self.cq_head == self.config.cq_entries {
            self.cq_head = 0;
            self.phase = !self.phase;
        }
        self.untold += 1;
        let ring = if self.config.ring_head.is_due(self.untold) { self.flush_head() } else { None };
        let head = u32::from(entry.sq_head());
        let ours = entry.sqid() == self.config.sqid && head < self.config.sq_entries;
        let pending = self.pending.get_mut(entry.cid().index()).filter(|pending| pending.taken && ours);
        let Some(pending) = pending else {
            self.unexpected += 1;
            return None;
        };
        pending.taken = false;
        self.sq_head = head;
        self.free.push(entry.cid().0);
        Some(Completed {
            cid: entry.cid(),
            name: pending.name,
            status: entry.status(),
            dw0: entry.dw0(),
            ring,
        })
    }
    /// The head doorbell to be rung, if there are completions since its last ring.
    pub fn flush_head(&mut self) -> Option<(Doorbell, u16)> {
        let due = core::mem::take(&mut self.untold) > 0;
        due.then_some((Doorbell::CompletionHead(self.config.cqid), self.cq_head as u16))
    }
    /// The commands without a completion, by identifier. After a reset or deletion, their outcome is unknown.
    pub fn outstanding(&self) -> impl Iterator<Item = (Cid, u64)> + '_ {
        let taken = self.pending.iter().enumerate().filter(|(_, pending)| pending.taken);
        taken.map(|(cid, pending)| (Cid(cid as u16), pending.name))
    }
    /// Number of completions for which no command waited.
    #[must_use]
    pub const fn unexpected(&self) -> u64 {
        self.unexpected
    }
}

impl RingPolicy {
    #[inline]
    const fn is_due(self, waiting: u32) -> bool {
        match self {
            Self::Each => true,
            Self::Every(count) => waiting >= count as u32,
            Self::OnRequest => false,
        }
    }
}

/// Whether the change of a shadow doorbell from `old` to `new` passes the controller's EventIdx, so that the doorbell
/// itself must be rung (Base 2.0 annex B.5).
#[must_use]
pub const fn need_event(event_index: u16, new: u16, old: u16) -> bool {
    new.wrapping_sub(event_index).wrapping_sub(1) < new.wrapping_sub(old)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Nsid;

    fn pair(ring_tail: RingPolicy) -> QueuePair {
        QueuePair::new(QueuePairConfig {
            sqid: SqId(1),
            cqid: CqId(1),
            sq_entries: 4,
            cq_entries: 3,
            sq_address: 0x1000,
            cq_address: 0x2000,
            ring_tail,
            ring_head: RingPolicy::Each,
        })
    }
    fn entry(cid: Cid, sq_head: u16, phase: bool) -> CompletionEntry {
        let built = || {
            CompletionEntry::ZERO
                .with_sq_number(1)?
                .with_cid_number(cid.0)?
                .with_sq_head(sq_head)?
                .with_phase(phase)
        };
        built().unwrap()
    }

    #[test]
    fn a_pair_is_full_with_one_entry_free_and_goes_round() {
        let mut pair = pair(RingPolicy::Each);
        let command = crate::logic::host::commands::flush(Nsid(1));
        let cids: Vec<Cid> = (0..3).map(|name| pair.submit(command, name).unwrap().cid).collect();
        assert_eq!((pair.submit(command, 9), pair.room(), pair.in_flight()), (Err(QueueFull), 0, 3));
        assert_eq!(pair.consume(entry(cids[1], 3, false)), None, "of the round before");
        let done = pair.consume(entry(cids[1], 3, true)).unwrap();
        assert_eq!((done.name, done.ring), (1, Some((Doorbell::CompletionHead(CqId(1)), 1))));
        assert_eq!(pair.outstanding().map(|(_, name)| name).collect::<Vec<_>>(), [0, 2]);
        let again = pair.submit(command, 3).unwrap();
        assert_eq!((again.cid, again.address), (cids[1], 0x10c0));
        assert_eq!(again.ring, Some((Doorbell::SubmissionTail(SqId(1)), 0)));
        assert!(
            pair.consume(entry(cids[0], 3, true)).is_some()
                && pair.consume(entry(cids[2], 3, true)).is_some()
        );
        assert_eq!(pair.next_completion(), 0x2000);
        assert!(pair.consume(entry(again.cid, 0, true)).is_none(), "the phase has turned");
        assert!(pair.consume(entry(again.cid, 0, false)).is_some());
        assert!(pair.consume(entry(again.cid, 0, false)).is_none());
        assert_eq!((pair.unexpected(), pair.in_flight()), (1, 0));
    }

    #[test]
    fn a_batch_is_rung_for_once() {
        let mut pair = pair(RingPolicy::Every(2));
        let command = crate::logic::host::commands::flush(Nsid(1));
        assert_eq!(pair.submit(command, 0).unwrap().ring, None);
        assert_eq!(pair.submit(command, 0).unwrap().ring, Some((Doorbell::SubmissionTail(SqId(1)), 2)));
        assert_eq!(pair.flush_tail(), None);
        pair.submit(command, 0).unwrap();
        assert_eq!(pair.flush_tail(), Some((Doorbell::SubmissionTail(SqId(1)), 3)));
    }

    /// Against the definition: the doorbell went past the index on its way.
    #[test]
    fn an_event_is_needed_if_the_index_is_passed() {
        for old in 0_u16..20 {
            for steps in 1_u16..20 {
                for event in 0_u16..60 {
                    let passed = (0..steps).any(|step| old + step == event);
                    assert_eq!(need_event(event, old + steps, old), passed, "{event} {old} {steps}");
                }
            }
        }
    }
}
