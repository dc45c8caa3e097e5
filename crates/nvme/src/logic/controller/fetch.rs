//! Fetching submission queue entries, or taking commands that a front submitted: in bursts, from the queue whose turn
//! it is, as far as there is room.

use super::fetches::Fetch;
use super::queues::{QueueOrigin, QueueState, distance};
use super::{Controller, Cx};
use crate::logic::effect::{HostEffect, Kind, Place, Purpose, Resumed};
use crate::spec::command::COMMAND_BYTES;
use crate::spec::{Command, SqId, Status};

impl Controller {
    /// Updates in the arbiter whether a queue has commands.
    #[inline]
    pub(super) fn refresh(&mut self, sqid: u16) {
        let queue = &self.submission_queues[usize::from(sqid)];
        let ready = queue.life == QueueState::Active
            && queue.waiting() > 0
            && queue.in_progress < self.config.commands_per_queue;
        self.arbiter.set(queue.class, sqid, ready);
    }

    /// Number of commands in progress, including those being fetched, and whether there is no room for waiting ones.
    #[inline]
    pub(in crate::logic) fn in_progress(&self) -> (u32, bool) {
        let room = self.slots.free() - self.fetches.commands;
        let waits = || self.submission_queues.iter().any(|queue| queue.waiting() > 0);
        (self.config.commands_in_progress - room, room == 0 && waits())
    }

    /// Fetches or takes as many commands as there is room for.
    #[inline]
    pub(super) fn pump(&mut self, cx: &mut Cx<'_>) {
        while self.is_working()
            && let Some(&number) = self.fetches.free.last()
        {
            let room = self.slots.free() - self.fetches.commands;
            if room == 0 {
                break;
            }
            let Some((sqid, limit)) = self.arbiter.next() else { break };
            let queue = &self.submission_queues[usize::from(sqid)];
            let most = limit.min(room).min(self.config.commands_per_queue - queue.in_progress);
            match queue.home {
                QueueOrigin::Memory { address, .. } => self.fetch(number, (sqid, address), most, cx),
                QueueOrigin::Front(_) => self.take_handed(sqid, most, cx),
            }
        }
    }
    /// Fetches up to `most` entries of a queue in host memory.
    #[inline]
    fn fetch(&mut self, number: u16, (sqid, address): (u16, u64), most: u32, cx: &mut Cx<'_>) {
        let queue = &mut self.submission_queues[usize::from(sqid)];
        let start = queue.next;
        let count = queue
            .waiting()
            .min(queue.entries - start) // a fetch does not go round
            .min(self.config.fetch_burst.into())
            .min(most);
        queue.next = if start + count == queue.entries { 0 } else { start + count };
        queue.in_progress += count;
        let address = address.wrapping_add(u64::from(start * COMMAND_BYTES));
        let empty = queue.next == queue.tail;
        self.arbiter.taken(count);
        self.refresh(sqid);
        self.fetches.free.pop();
        self.fetches.all[usize::from(number)] = Some(Fetch { sqid, start, count, arrived: false });
        self.fetches.commands += count;
        let token = self.token(Kind::Commands, number.into(), 0);
        let (bytes, purpose) = (count * COMMAND_BYTES, Purpose::Commands(SqId(sqid)));
        cx.host(HostEffect::Fetch { token, at: Place::Memory { address }, bytes, purpose });
        if empty {
            self.read_tail_doorbell(sqid, cx);
        }
    }
    /// Takes up to `most` commands that the front submitted to a queue.
    fn take_handed(&mut self, sqid: u16, most: u32, cx: &mut Cx<'_>) {
        let count = most.min(self.submission_queues[usize::from(sqid)].waiting());
        self.arbiter.taken(count);
        for _ in 0..count {
            let queue = &mut self.submission_queues[usize::from(sqid)];
            let Some((capsule, data_location)) = queue.take_handed() else { break };
            if let Some(number) = self.slots.take(sqid, &capsule.command) {
                let slot = self.slots.at(number);
                (slot.data_location, slot.capsule_bytes) = (data_location, capsule.data_bytes);
                self.begin(sqid, number, cx);
            }
        }
        self.refresh(sqid);
    }

    /// Entries have arrived.
    pub(super) fn commands_arrived(&mut self, number: u32, resumed: Resumed<'_>, cx: &mut Cx<'_>) {
        let Some(Some(fetch)) = self.fetches.all.get(number as usize).copied().filter(|_| number < 0xffff)
        else {
            return;
        };
        if fetch.arrived {
            return;
        }
        let Resumed::Bytes(bytes) = resumed else { return self.fail(cx) };
        if bytes.len() < (fetch.count * COMMAND_BYTES) as usize {
            return self.fail(cx);
        }
        self.fetches.commands -= fetch.count;
        self.move_head(number, fetch);
        for entry in bytes.as_chunks().0.iter().take(fetch.count as usize) {
            let Some(number) = self.slots.take(fetch.sqid, &Command::from_bytes(*entry)) else {
                debug_assert!(false, "no more entries are fetched than there is room for");
                return;
            };
            self.begin(fetch.sqid, number, cx);
        }
    }
    /// Advances the head past a fetch that has arrived, and past following ones that arrived earlier.
    fn move_head(&mut self, number: u32, fetch: Fetch) {
        let queue = &mut self.submission_queues[usize::from(fetch.sqid)];
        if queue.head != fetch.start {
            self.fetches.all[number as usize] = Some(Fetch { arrived: true, ..fetch });
            self.fetches.early += 1;
            return;
        }
        let mut done = Some(number as usize);
        while let Some(number) = done {
            let Some(fetch) = self.fetches.all[number].take() else { break };
            self.fetches.early -= u32::from(fetch.arrived);
            self.fetches.free.push(number as u16);
            let head = fetch.start + fetch.count;
            queue.head = if head == queue.entries { 0 } else { head };
            let follows = |other: &Option<Fetch>| {
                other.is_some_and(|other| {
                    other.arrived
                        && other.sqid == fetch.sqid
                        && distance(queue.head, other.start, queue.entries) == 0
                })
            };
            done = if self.fetches.early > 0 { self.fetches.all.iter().position(follows) } else { None };
        }
    }

    /// Begins a command.
    #[inline]
    fn begin(&mut self, sqid: u16, number: u32, cx: &mut Cx<'_>) {
        if self.submission_queues[usize::from(sqid)].life == QueueState::Deleting {
            return self.end(number, Status::ABORTED_SQ_DELETION, cx);
        }
        if sqid == 0 { self.begin_admin(number, cx) } else { self.begin_io(number, cx) }
    }
}
