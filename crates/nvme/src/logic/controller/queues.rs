//! State of the queues of a controller: positions, and completions held back (Base 2.0 §3.3.1).
//!
//! ```text
//!  submission queue   head ── fetches under way ── next ── entries not yet asked for ── tail
//!  completion queue   head (the host's) ── entries that the host has not taken ── tail
//! ```
//!
//! A queue is empty if head and tail are equal, and full if one more entry would make them equal.

use super::arbiter::Class;
use crate::logic::connection::{Capsule, DataLocation};
use crate::spec::Status;
use std::collections::VecDeque;

/// Whether a queue exists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum QueueState {
    Absent,
    Active,
    /// A deletion waits for its commands.
    Deleting,
}

/// Whether a shadow doorbell is being read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShadowRead {
    None,
    UnderWay,
    /// The doorbell itself has been rung since the read began, so the value read may be older.
    Overtaken,
}

/// Addresses of the shadow doorbells and their EventIdx in host memory.
#[derive(Clone, Copy, Debug)]
pub struct DoorbellBuffers {
    pub shadow: u64,
    pub event_index: u64,
}

/// Number of entries from one position forward to another.
#[inline]
pub const fn distance(from: u32, to: u32, entries: u32) -> u32 {
    if to >= from { to - from } else { to + entries - from }
}

/// Commands that a front has submitted and that have not been taken.
#[derive(Clone, Debug)]
pub struct Inbox {
    pub data_location: DataLocation,
    /// Whether completions report the head.
    pub flow_control: bool,
    pub waiting: VecDeque<Capsule>,
}

/// Origin of the commands of a submission queue, and destination of their completions.
#[derive(Clone, Debug)]
pub enum QueueOrigin {
    /// Entries are fetched from host memory, completions are written to a queue there.
    Memory { address: u64, cqid: u16 },
    /// The front submits commands, and receives their completions.
    Front(Inbox),
}

/// A submission queue.
#[derive(Clone, Debug)]
pub struct SubmissionQueue {
    pub life: QueueState,
    pub home: QueueOrigin,
    pub entries: u32,
    /// Head reported to the host: all entries before it have arrived.
    pub head: u32,
    /// The first entry that has not been requested by a fetch.
    pub next: u32,
    /// Position that the host reported last.
    pub tail: u32,
    pub class: Class,
    /// Number of commands requested by a fetch whose completion is not written.
    pub in_progress: u32,
    pub read_shadow: ShadowRead,
    /// The command that waits for the deletion.
    pub deleted_by: u32,
}

impl SubmissionQueue {
    /// No queue.
    pub const ABSENT: Self = Self {
        life: QueueState::Absent,
        home: QueueOrigin::Memory { address: 0, cqid: 0 },
        entries: 0,
        head: 0,
        next: 0,
        tail: 0,
        class: Class::FIRST,
        in_progress: 0,
        read_shadow: ShadowRead::None,
        deleted_by: 0,
    };

    /// Sets the host's new tail. Returns false if it is out of range, or would overrun the head.
    pub fn set_tail(&mut self, tail: u32) -> bool {
        if tail >= self.entries {
            return false;
        }
        let held = distance(self.head, self.tail, self.entries);
        if distance(self.tail, tail, self.entries) > self.entries - 1 - held {
            return false;
        }
        self.tail = tail;
        true
    }
    /// Number of commands that have not been requested or taken.
    #[inline]
    pub fn waiting(&self) -> u32 {
        match &self.home {
            QueueOrigin::Memory { .. } => distance(self.next, self.tail, self.entries),
            QueueOrigin::Front(inbox) => inbox.waiting.len() as u32,
        }
    }
    /// Whether the queue exists and is in host memory.
    #[inline]
    pub const fn is_in_memory(&self) -> bool {
        !matches!(self.life, QueueState::Absent) && matches!(self.home, QueueOrigin::Memory { .. })
    }
    /// Location of the data of commands, if a front created the queue.
    pub fn data_location(&self) -> Option<DataLocation> {
        match &self.home {
            QueueOrigin::Front(inbox) if self.life != QueueState::Absent => Some(inbox.data_location),
            _ => None,
        }
    }
    /// Takes the next command that the front submitted.
    pub fn take_handed(&mut self) -> Option<(Capsule, DataLocation)> {
        let QueueOrigin::Front(inbox) = &mut self.home else { return None };
        let capsule = inbox.waiting.pop_front()?;
        self.in_progress += 1;
        self.head = if self.head + 1 == self.entries { 0 } else { self.head + 1 };
        Some((capsule, inbox.data_location))
    }
    /// The same queue without its commands, if a front created it: the connection persists across a reset by CC.EN.
    pub fn without_commands(&self) -> Option<Self> {
        let QueueOrigin::Front(inbox) = &self.home else { return None };
        let home = QueueOrigin::Front(Inbox { waiting: VecDeque::new(), ..*inbox });
        let (life, entries, head, class) = (self.life, self.entries, self.head, self.class);
        (life == QueueState::Active).then_some(Self { life, home, entries, head, class, ..Self::ABSENT })
    }
}

/// A completion that has not been written to its queue.
#[derive(Clone, Copy, Debug)]
pub struct Ended {
    pub sqid: u16,
    pub cid: u16,
    pub status: Status,
    pub more: bool,
    pub dw0: u32,
}

/// A completion queue.
#[derive(Clone, Debug)]
pub struct CompletionQueue {
    pub life: QueueState,
    pub address: u64,
    pub entries: u32,
    /// Position that the host reported last.
    pub head: u32,
    pub tail: u32,
    /// Phase of the next entry.
    pub phase: bool,
    pub interrupts: bool,
    pub vector: u16,
    /// Number of submission queues that use this completion queue.
    pub submission_queues: u32,
    /// Completions held back while the queue is full.
    pub held: VecDeque<Ended>,
    pub read_shadow: ShadowRead,
}

impl CompletionQueue {
    /// No queue.
    pub const ABSENT: Self = Self {
        life: QueueState::Absent,
        address: 0,
        entries: 0,
        head: 0,
        tail: 0,
        phase: true,
        interrupts: false,
        vector: 0,
        submission_queues: 0,
        held: VecDeque::new(),
        read_shadow: ShadowRead::None,
    };

    /// Whether the queue is full.
    #[inline]
    pub const fn is_full(&self) -> bool {
        let next = if self.tail + 1 == self.entries { 0 } else { self.tail + 1 };
        next == self.head
    }
    /// Sets the host's new head. Returns false if it is out of range, or would overrun the tail.
    pub fn set_head(&mut self, head: u32) -> bool {
        let inside = head < self.entries
            && distance(self.head, head, self.entries) <= distance(self.head, self.tail, self.entries);
        if inside {
            self.head = head;
        }
        inside
    }
    /// Advances the tail; returns address and phase of the entry that was there.
    #[inline]
    pub fn advance(&mut self) -> (u64, bool) {
        let place = (self.address.wrapping_add(u64::from(self.tail) * 16), self.phase);
        self.tail += 1;
        if self.tail == self.entries {
            self.tail = 0;
            self.phase = !self.phase;
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tail_may_not_overrun_the_head() {
        let mut queue = SubmissionQueue {
            life: QueueState::Active,
            entries: 4,
            head: 2,
            next: 2,
            tail: 2,
            ..SubmissionQueue::ABSENT
        };
        assert!(!queue.set_tail(4));
        assert!(queue.set_tail(1) && queue.waiting() == 3); // full: one entry stays empty
        assert!(!queue.set_tail(2), "one more would make it look empty");
        queue.head = 0;
        assert!(queue.set_tail(3) && !queue.set_tail(1));
    }

    #[test]
    fn a_head_may_not_overrun_the_tail_and_the_phase_turns() {
        let mut queue = CompletionQueue {
            life: QueueState::Active,
            address: 0x100,
            entries: 3,
            ..CompletionQueue::ABSENT
        };
        assert!(!queue.set_head(1));
        assert_eq!((queue.advance(), queue.is_full()), ((0x100, true), false));
        assert_eq!((queue.advance(), queue.is_full()), ((0x110, true), true));
        assert!(queue.set_head(1) && !queue.is_full());
        assert_eq!(queue.advance(), (0x120, true));
        assert!(queue.set_head(2) && queue.set_head(0));
        assert_eq!(queue.advance(), (0x100, false));
    }
}
