//! Command slots of a queue: identifiers, and the head of the submission queue (SQHD).

use super::effect::Transfer;
use lanetwin_nvme::spec::{Cid, CompletionEntry};

/// A command without a response.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// The owner's name of the command.
    pub name: u64,
    pub transfer: Transfer,
    /// Number of bytes received from the controller \[B\].
    pub come: u32,
    /// Whether data had a wrong digest.
    pub damaged: bool,
    /// Key of its memory, while valid.
    pub key: Option<u32>,
    /// Whether its data were sent in the capsule.
    pub in_capsule: bool,
    /// Whether the SEND of its capsule is complete (RDMA).
    pub sent: bool,
    /// Its response, until the command can end.
    pub entry: Option<CompletionEntry>,
    /// Whether the key is being invalidated.
    pub invalidating: bool,
}

/// The slots of a queue.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    all: Vec<Option<Slot>>,
    free: Vec<u16>,
    /// Number of entries of the queue, its tail, and the head that the controller reported last; the last two matter
    /// only with flow control.
    entries: u32,
    tail: u32,
    head: u32,
    pub flow_control: bool,
}

impl Slots {
    /// Slots of a queue with `entries` entries, one of which stays empty.
    pub fn new(entries: u32, flow_control: bool) -> Self {
        let commands = entries - 1;
        Self {
            all: vec![None; commands as usize],
            free: (0..commands).rev().map(|cid| cid as u16).collect(),
            entries,
            tail: 0,
            head: 0,
            flow_control,
        }
    }
    /// Number of capsules that can be sent now.
    pub fn room(&self) -> u32 {
        let free = self.free.len() as u32;
        if !self.flow_control {
            return free;
        }
        let held = (self.tail + self.entries - self.head) % self.entries;
        free.min(self.entries - 1 - held)
    }
    pub fn take(&mut self, slot: Slot) -> Option<Cid> {
        if self.room() == 0 {
            return None;
        }
        let cid = self.free.pop()?;
        self.tail = (self.tail + 1) % self.entries;
        self.all[usize::from(cid)] = Some(slot);
        Some(Cid(cid))
    }
    /// Takes the head from a response.
    pub fn moved(&mut self, head: u16) {
        if u32::from(head) < self.entries {
            self.head = head.into();
        }
    }
    pub fn get(&mut self, cid: Cid) -> Option<&mut Slot> {
        self.all.get_mut(cid.index())?.as_mut()
    }
    pub fn give(&mut self, cid: Cid) -> Option<Slot> {
        let slot = self.all.get_mut(cid.index())?.take()?;
        self.free.push(cid.0);
        Some(slot)
    }
    /// Number of commands without a response.
    pub fn in_flight(&self) -> u32 {
        (self.all.len() - self.free.len()) as u32
    }
    /// Clears all slots; returns the names of commands without a response, ordered by identifier.
    pub fn clear(&mut self) -> Vec<u64> {
        let names = self.all.iter().flatten().map(|slot| slot.name).collect();
        *self = Self::new(self.entries, self.flow_control);
        names
    }
}
