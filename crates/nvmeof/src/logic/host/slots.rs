//! Command slots of a queue: identifiers, and how far the controller has taken capsules (SQHD).

use super::effect::Transfer;
use lanetwin_nvme::spec::{Cid, CompletionEntry};

/// A command without an answer.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// What the owner calls it.
    pub name: u64,
    pub transfer: Transfer,
    /// How much has come from the controller \[B\].
    pub come: u32,
    /// Data had a wrong digest.
    pub damaged: bool,
    /// The key of its memory, while it is valid.
    pub key: Option<u32>,
    /// Its data went with the capsule.
    pub in_capsule: bool,
    /// The SEND of its capsule is complete (RDMA).
    pub sent: bool,
    /// Its response, while something else is not complete.
    pub entry: Option<CompletionEntry>,
    /// The key is being invalidated.
    pub invalidating: bool,
}

/// The slots of a queue.
#[derive(Clone, Debug)]
pub(super) struct Slots {
    all: Vec<Option<Slot>>,
    free: Vec<u16>,
    /// How many entries the queue has, where the host puts the next one, and how far the controller has said it is; the
    /// last two only matter with flow control.
    entries: u32,
    tail: u32,
    head: u32,
    pub flow_control: bool,
}

impl Slots {
    /// Of a queue with so many entries: one of them stays empty.
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
    /// How many capsules can be sent now.
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
    /// A response tells how far the controller is.
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
    /// Commands without an answer.
    pub fn in_flight(&self) -> u32 {
        (self.all.len() - self.free.len()) as u32
    }
    /// Empties all of them; the names of those that have no answer, by identifier.
    pub fn clear(&mut self) -> Vec<u64> {
        let names = self.all.iter().flatten().map(|slot| slot.name).collect();
        *self = Self::new(self.entries, self.flow_control);
        names
    }
}
