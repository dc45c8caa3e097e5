//! The write buffer: units that have arrived and are not yet on the medium.

use std::collections::VecDeque;

/// No slot.
pub const NONE: u32 = u32::MAX;

/// A unit in the buffer.
#[derive(Clone, Copy, Debug)]
pub struct Slot {
    pub unit: u32,
    /// The next slot of the same program, or the next free slot.
    pub next: u32,
    /// The request that waits until the unit is on the medium.
    pub owner: u32,
    /// Its epoch: epochs are separated by flushes.
    pub epoch: u64,
    /// Whether it has left its queue.
    pub flying: bool,
}

/// The buffer.
#[derive(Debug)]
pub struct Buffer {
    pub slots: Vec<Slot>,
    free: u32,
    /// Units that occupy room.
    pub used: u32,
    /// Units with a slot: those, and units in the registers of dies that are not yet on the medium.
    pub known: u32,
    capacity: u32,
    /// Open addressing by unit; holds slots.
    table: Vec<u32>,
    /// Waiting units, by (partition, stream).
    pub queues: Vec<VecDeque<u32>>,
    /// Number of units in all queues.
    pub waiting: u32,
    /// Slots in use of each epoch from `first_epoch` on.
    epochs: VecDeque<u32>,
    first_epoch: u64,
}

impl Buffer {
    /// A buffer for `capacity` units; `registers` further units may be in the registers of dies.
    pub fn new(capacity: u32, registers: u32, queues: usize) -> Self {
        let most = capacity as usize + registers as usize;
        Self {
            slots: Vec::new(),
            free: NONE,
            used: 0,
            known: 0,
            capacity,
            table: vec![NONE; (most * 2).next_power_of_two().max(16)],
            queues: vec![VecDeque::new(); queues],
            waiting: 0,
            epochs: VecDeque::from([0]),
            first_epoch: 0,
        }
    }

    pub fn is_full(&self) -> bool {
        self.room() == 0
    }

    /// Number of units for which it has room.
    pub const fn room(&self) -> u32 {
        self.capacity.saturating_sub(self.used)
    }

    #[inline]
    fn home(&self, unit: u32) -> usize {
        ((u64::from(unit.wrapping_mul(0x9e37_79b1)) * self.table.len() as u64) >> 32) as usize
    }

    /// The table index at which `unit` is, or would be.
    #[inline]
    fn find(&self, unit: u32) -> usize {
        let mask = self.table.len() - 1;
        let mut at = self.home(unit);
        while self.table[at] != NONE && self.slots[self.table[at] as usize].unit != unit {
            at = (at + 1) & mask;
        }
        at
    }

    /// The newest slot of a unit.
    #[inline]
    pub fn get(&self, unit: u32) -> Option<u32> {
        let slot = self.table[self.find(unit)];
        (slot != NONE).then_some(slot)
    }

    /// Takes a unit, which is now the newest version of it.
    pub fn take(&mut self, unit: u32, owner: u32, queue: usize) {
        let epoch = self.first_epoch + self.epochs.len() as u64 - 1;
        *self.epochs.back_mut().expect("never empty") += 1;
        let slot = Slot { unit, next: NONE, owner, epoch, flying: false };
        let id = if self.free == NONE {
            self.slots.push(slot);
            self.slots.len() as u32 - 1
        } else {
            let id = self.free;
            self.free = self.slots[id as usize].next;
            self.slots[id as usize] = slot;
            id
        };
        let at = self.find(unit);
        self.table[at] = id;
        self.used += 1;
        self.known += 1;
        self.queues[queue].push_back(id);
        self.waiting += 1;
    }

    /// Takes the first unit that waits in a queue.
    pub fn pop(&mut self, queue: usize) -> Option<u32> {
        let slot = self.queues[queue].pop_front()?;
        self.waiting -= 1;
        Some(slot)
    }

    /// Whether a slot has the newest version of its unit.
    #[inline]
    pub fn is_newest(&self, id: u32) -> bool {
        self.table[self.find(self.slots[id as usize].unit)] == id
    }

    /// Forgets a unit, so that waiting versions of it are not programmed.
    pub fn forget(&mut self, unit: u32) {
        let at = self.find(unit);
        if self.table[at] != NONE {
            self.remove(at);
        }
    }

    /// Frees a slot; its room is accounted for separately.
    pub fn release(&mut self, id: u32) {
        let Slot { unit, epoch, .. } = self.slots[id as usize];
        let at = self.find(unit);
        if self.table[at] == id {
            self.remove(at);
        }
        self.slots[id as usize].next = self.free;
        self.free = id;
        self.known -= 1;
        self.epochs[(epoch - self.first_epoch) as usize] -= 1;
        while self.epochs.len() > 1 && self.epochs[0] == 0 {
            self.epochs.pop_front();
            self.first_epoch += 1;
        }
    }

    /// Removes an entry and moves up the entries that it had displaced.
    fn remove(&mut self, mut hole: usize) {
        let mask = self.table.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let id = self.table[at];
            if id == NONE {
                break;
            }
            let home = self.home(self.slots[id as usize].unit);
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.table[hole] = id;
                hole = at;
            }
        }
        self.table[hole] = NONE;
    }

    /// Begins a new epoch and returns the one that ends. See [`is_over`](Self::is_over).
    pub fn fence(&mut self) -> u64 {
        self.epochs.push_back(0);
        let fenced = self.first_epoch + self.epochs.len() as u64 - 2;
        while self.epochs.len() > 1 && self.epochs[0] == 0 {
            self.epochs.pop_front();
            self.first_epoch += 1;
        }
        fenced
    }

    /// Whether all units up to an epoch are on the medium.
    pub fn is_over(&self, epoch: u64) -> bool {
        epoch < self.first_epoch
    }
}
