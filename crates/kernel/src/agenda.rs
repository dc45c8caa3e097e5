//! Channels, the messages on them, and the future events.

use crate::ids::Port;
use crate::outside::Side;
use crate::queue::{Entry, Queue, TieRule};
use crate::trail::{Trail, Trails};
use lanetwin_units::Instant;
use std::cmp::Ordering;

/// The upper bits of a rank are its phase: deliveries first, then wakes, then the wakes of foreseeing components. A
/// foreseeing component decides about everything that was sent up to now, so its phase has to be the last.
pub(crate) const WAKE: u32 = 1 << 30;
pub(crate) const DECIDE: u32 = 1 << 31;
pub(crate) const UNCONNECTED: u32 = u32::MAX;

pub(crate) struct Channel {
    pub(crate) from: Side,
    pub(crate) to: Side,
    pub(crate) foreseen: bool,
    pub(crate) sent: u64,
    pub(crate) name: u64,
}

/// Before or after the other messages of the same channel and instant: the upper bit of a sequence number.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum TieOrder {
    First = 0,
    Normal = 1 << 62,
}

/// No slot: the end of a row, or of the list of free slots.
const NONE: u32 = u32::MAX;

/// A message on its way, or a free slot.
struct Slot<M> {
    at: u64,
    sequence: u64,
    message: M,
    /// Next slot of the row, or next free slot.
    next: u32,
    trail: Trail,
}

/// The messages of a channel that arrive in the order in which they were sent, as a linked list of slots.
#[derive(Clone, Copy)]
struct Row {
    first: u32,
    end: u32,
    /// Arrival time of the last message.
    last: u64,
}

/// Messages on their way. Most arrive in the order in which they were sent. They form a row for each channel, and only
/// the first of a row is a future event; each of the others is an event of its own. All channels share one slab of
/// slots, and the slot that was freed last is reused first, so that it is still in the cache, however long a row once
/// was.
pub(crate) struct Messages<M> {
    rows: Vec<Row>,
    slots: Vec<Slot<M>>,
    free: u32,
}

impl<M: Copy> Messages<M> {
    pub(crate) fn new(channels: usize) -> Self {
        Self { rows: vec![Row { first: NONE, end: NONE, last: 0 }; channels], slots: Vec::new(), free: NONE }
    }
    /// Stores a message. Returns its slot if the message needs an event of its own.
    #[inline(always)]
    fn put(&mut self, channel: u32, (at, sequence): (u64, u64), message: M, trail: Trail) -> Option<u32> {
        let slot = self.fill((at, sequence), message, trail);
        let row = &mut self.rows[channel as usize];
        if row.first == NONE {
            *row = Row { first: slot, end: slot, last: at };
            return Some(slot);
        }
        // of two at the same instant, one that has to come first must not queue after the other
        if at < row.last || at == row.last && sequence < TieOrder::Normal as u64 {
            return Some(slot);
        }
        self.slots[row.end as usize].next = slot;
        row.end = slot;
        row.last = at;
        None
    }
    #[inline(always)]
    fn fill(&mut self, (at, sequence): (u64, u64), message: M, trail: Trail) -> u32 {
        let slot = Slot { at, sequence, message, next: NONE, trail };
        // A message that is passed to no function on the way is written directly into its slot. One that is assembled
        // elsewhere and copied in wider parts would wait for the writes of its parts.
        let place = self.free;
        if let Some(free) = self.slots.get_mut(place as usize) {
            self.free = free.next;
            *free = slot;
            return place;
        }
        self.slots.push(slot);
        (self.slots.len() - 1) as u32
    }
    /// Removes the message of an event. Returns it with its trail and, if the next of its row is an event now, with
    /// that one's arrival time and slot.
    #[inline(always)]
    pub(crate) fn take(&mut self, channel: u32, place: u32) -> (M, Trail, Option<(u64, u32)>) {
        let slot = &mut self.slots[place as usize];
        let (message, trail, next) = (slot.message, slot.trail, slot.next);
        slot.next = self.free;
        self.free = place;
        let row = &mut self.rows[channel as usize];
        if row.first != place {
            return (message, trail, None);
        }
        row.first = next;
        (message, trail, self.slots.get(next as usize).map(|slot| (slot.at, next)))
    }
}

impl<M: Copy> TieRule for Messages<M> {
    /// Messages of one channel that arrive together arrive in their [`TieOrder`], and within it in the order in which
    /// they were sent. Wakes of one component at one instant happen in the order of their tokens.
    fn order(&self, rank: u32, a: u32, b: u32) -> Ordering {
        if rank >= WAKE {
            return a.cmp(&b);
        }
        self.slots[a as usize].sequence.cmp(&self.slots[b as usize].sequence)
    }
}

pub(crate) struct Foreseen<M> {
    pub(crate) at: Instant,
    pub(crate) channel: u32,
    pub(crate) message: M,
    pub(crate) trail: Trail,
}

/// Messages of the current instant of which foreseeing components have still to be told.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pending {
    Nothing,
    /// Some, or unknown: components are being started.
    Something,
    /// Some, and the next is for the component that is being told now.
    ForSame,
}

/// Everything that a component may access through its [`Context`].
pub(crate) struct Core<M> {
    pub(crate) now: u64,
    /// The end of the current slice: nothing after it may be decided.
    pub(crate) limit: u64,
    pub(crate) queue: Queue,
    pub(crate) messages: Messages<M>,
    pub(crate) channels: Vec<Channel>,
    /// For each component the start and end of its range in `outputs`.
    pub(crate) outputs_of: Vec<(u32, u32)>,
    pub(crate) outputs: Vec<u32>,
    /// For each component the rank of its wakes: the phase, and its position in the order of paths.
    pub(crate) wake_rank: Vec<u32>,
    pub(crate) foreseen: Vec<Foreseen<M>>,
    pub(crate) pending: Pending,
    pub(crate) trails: Trails,
}

impl<M: Copy> Core<M> {
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry) {
        self.queue.push(entry, &self.messages);
    }
    #[inline(always)]
    pub(crate) fn send(&mut self, channel: u32, at: Instant, message: M, tie: TieOrder) {
        let c = &mut self.channels[channel as usize];
        c.sent += 1;
        if c.foreseen {
            self.foreseen.push(Foreseen { at, channel, message, trail: self.trails.now });
            return;
        }
        if let Some(slot) =
            self.messages.put(channel, (at.as_ps(), tie as u64 | c.sent), message, self.trails.now)
        {
            self.push(Entry::new(at.as_ps(), channel, slot));
        }
    }
    /// Removes the message of an event, makes its trail the current one, and schedules the next of its row.
    #[inline(always)]
    pub(crate) fn take(&mut self, entry: Entry) -> M {
        let (message, trail, next) = self.messages.take(entry.rank(), entry.argument());
        self.trails.now = trail;
        if let Some((at, slot)) = next {
            self.push(Entry::new(at, entry.rank(), slot));
        }
        message
    }
    /// The channel at an output port of a component; [`UNCONNECTED`] if there is none.
    #[inline(always)]
    pub(crate) fn output(&self, component: u32, port: Port) -> u32 {
        let (first, last) = self.outputs_of[component as usize];
        let place = first + u32::from(port.0);
        if place < last { self.outputs[place as usize] } else { UNCONNECTED }
    }
    #[inline]
    pub(crate) fn next_event(&mut self) -> u64 {
        self.queue.peek_time(&self.messages)
    }
}
