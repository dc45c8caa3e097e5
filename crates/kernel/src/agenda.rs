//! What is on its way: channels, the messages in them, the events of the future.

use crate::component::{ComponentId, Port};
use crate::queue::{Entry, Queue, TieRule};
use lanetwin_units::Instant;
use std::cmp::Ordering;
use std::collections::VecDeque;

/// The upper bits of a rank are its phase: deliveries come first, then wakes, then the wakes of foreseeing components.
/// A foreseeing component decides what it does with everything that was sent up to now, so it must come last.
pub(crate) const WAKE: u32 = 1 << 30;
pub(crate) const DECIDE: u32 = 1 << 31;
pub(crate) const OUTSIDE: ComponentId = ComponentId(u32::MAX);
pub(crate) const UNCONNECTED: u32 = u32::MAX;

pub(crate) struct Channel {
    pub(crate) from: (ComponentId, Port),
    pub(crate) to: (ComponentId, Port),
    pub(crate) foreseen: bool,
    pub(crate) sent: u64,
    pub(crate) name: u64,
}

pub(crate) struct Slot<M> {
    pub(crate) message: M,
    pub(crate) sequence: u64,
}

/// Messages that wait for their delivery, in a slab. The slots that are free are a list: the sequence number of each is the place of the next, and
/// the place behind the last slot ends it.
pub(crate) struct Slots<M> {
    slots: Vec<Slot<M>>,
    free: u64,
}

impl<M: Copy> Slots<M> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), free: 0 }
    }
    #[inline(always)]
    pub(crate) fn put(&mut self, message: M, sequence: u64) -> u32 {
        let i = self.free;
        if let Some(slot) = self.slots.get_mut(i as usize) {
            self.free = slot.sequence;
            *slot = Slot { message, sequence };
        } else {
            self.slots.push(Slot { message, sequence });
            self.free += 1;
        }
        i as u32
    }
    #[inline]
    pub(crate) fn take(&mut self, i: u32) -> M {
        let slot = &mut self.slots[i as usize];
        slot.sequence = self.free;
        self.free = i.into();
        slot.message
    }
}

/// Before or behind the other messages of the same channel and instant: the upper bit of a sequence number.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u64)]
pub(crate) enum Turn {
    First = 0,
    Normal = 1 << 62,
}

/// In place of a slot: the message is the first of its channel's row.
const IN_ROW: u32 = u32::MAX;

/// Messages of a channel in the order in which they arrive.
struct Row<M> {
    sent: VecDeque<Sent<M>>,
    /// When the last of them arrives.
    last: u64,
}

struct Sent<M> {
    at: u64,
    sequence: u64,
    message: M,
}

/// Messages on their way. Most arrive in the order in which they were sent: those stand in a row, one for each channel, and only the first of a
/// row is an event of the future. The others have a slot and an event each.
pub(crate) struct Messages<M> {
    rows: Vec<Row<M>>,
    slots: Slots<M>,
}

impl<M: Copy> Messages<M> {
    pub(crate) fn new(channels: usize) -> Self {
        Self {
            rows: (0..channels).map(|_| Row { sent: VecDeque::new(), last: 0 }).collect(),
            slots: Slots::new(),
        }
    }
    /// Puts a message on its way; the argument of the event that is to be made of it, if one is.
    #[inline(always)]
    fn put(&mut self, channel: u32, at: u64, sequence: u64, message: M) -> Option<u32> {
        let row = &mut self.rows[channel as usize];
        let is_first = row.sent.is_empty();
        // of two at the same instant one that is to come first does not stand behind the other
        let in_order = at > row.last || at == row.last && sequence >= Turn::Normal as u64;
        if !is_first && !in_order {
            return Some(self.put_apart(message, sequence));
        }
        row.last = at;
        row.sent.push_back(Sent { at, sequence, message });
        is_first.then_some(IN_ROW)
    }
    /// Puts a message on its way that overtakes another.
    #[inline(never)]
    fn put_apart(&mut self, message: M, sequence: u64) -> u32 {
        self.slots.put(message, sequence)
    }
    /// Takes the message of an event; and when the next of its row arrives, if that is to be an event now.
    #[inline(always)]
    pub(crate) fn take(&mut self, channel: u32, argument: u32) -> (M, Option<u64>) {
        let row = &mut self.rows[channel as usize];
        if argument == IN_ROW
            && let Some(sent) = row.sent.pop_front()
        {
            return (sent.message, row.sent.front().map(|next| next.at));
        }
        (self.slots.take(argument), None)
    }
    fn sequence(&self, channel: u32, argument: u32) -> u64 {
        match self.rows[channel as usize].sent.front() {
            Some(first) if argument == IN_ROW => first.sequence,
            _ => self.slots.slots[argument as usize].sequence,
        }
    }
}

impl<M: Copy> TieRule for Messages<M> {
    /// Messages of one channel that arrive together arrive in their [`Turn`], and within it in the order in which they were sent;
    /// wakes of one component that fall together happen in the order of their tokens.
    fn order(&self, rank: u32, a: u32, b: u32) -> Ordering {
        if rank >= WAKE {
            return a.cmp(&b);
        }
        self.sequence(rank, a).cmp(&self.sequence(rank, b))
    }
}

pub(crate) struct Foreseen<M> {
    pub(crate) at: Instant,
    pub(crate) channel: u32,
    pub(crate) message: M,
}

/// What was sent at this instant, or will be, and is still to be told to a foreseeing component.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Untold {
    Nothing,
    /// Something, or nobody knows: components are being started.
    Something,
    /// Something, next of all to the one that is being told.
    ToSame,
}

/// All that a component may touch through its [`Context`].
pub(crate) struct Core<M> {
    pub(crate) now: u64,
    /// The end of the current slice: nothing after it may be decided.
    pub(crate) limit: u64,
    pub(crate) queue: Queue,
    pub(crate) messages: Messages<M>,
    pub(crate) channels: Vec<Channel>,
    /// For each component its first row in `outputs`, and the first behind its rows.
    pub(crate) outputs_of: Vec<(u32, u32)>,
    pub(crate) outputs: Vec<u32>,
    /// For each component the rank of its wakes: phase, and place in the order of paths.
    pub(crate) wake_rank: Vec<u32>,
    pub(crate) foreseen: Vec<Foreseen<M>>,
    pub(crate) untold: Untold,
}

impl<M: Copy> Core<M> {
    #[inline]
    pub(crate) fn push(&mut self, entry: Entry) {
        self.queue.push(entry, &self.messages);
    }
    #[inline(always)]
    pub(crate) fn send(&mut self, channel: u32, at: Instant, message: M, turn: Turn) {
        let c = &mut self.channels[channel as usize];
        c.sent += 1;
        if c.foreseen {
            self.foreseen.push(Foreseen { at, channel, message });
            return;
        }
        if let Some(argument) = self.messages.put(channel, at.as_ps(), turn as u64 | c.sent, message) {
            self.push(Entry::new(at.as_ps(), channel, argument));
        }
    }
    /// Takes the message of an event out, and makes the next of its row an event.
    #[inline(always)]
    pub(crate) fn take(&mut self, entry: Entry) -> M {
        let (message, next) = self.messages.take(entry.rank(), entry.argument());
        if let Some(at) = next {
            self.push(Entry { time: at, ..entry });
        }
        message
    }
    /// The channel out of a port of a component, [`UNCONNECTED`] if there is none.
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
