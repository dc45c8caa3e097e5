//! The bus of a channel: order of commands, data of programs, and data of reads.

use super::due::Step;
use super::machine::{Channel, Machine, State};
use super::op::{List, NONE, Op, Queue, Slot, Work, pop, push};
use crate::timers::NEVER;

impl Machine {
    /// Uses an idle bus, or sets a timer for when it becomes idle.
    #[inline]
    pub(super) fn pump(&mut self, channel: usize, now: u64) {
        loop {
            let c = &self.channels[channel];
            let outs = usize::from(c.outs[0].is_empty());
            let wants = !c.outs[outs].is_empty() || (c.ready[0] | c.ready[1]) != 0;
            if c.until > now {
                if wants && c.sending == NONE && c.loading == NONE {
                    self.due.set(Step::Idle, channel, c.until);
                }
                return;
            }
            if !wants || c.sending != NONE || c.loading != NONE {
                return;
            }
            // a command is short and puts a die to work
            let command_first = !self.can.one_turn && c.ready[0] != 0;
            if !c.outs[outs].is_empty() && !command_first {
                self.send(channel, outs, now);
                return;
            }
            self.command(channel, now);
        }
    }

    /// Whether a bus is idle at `now` and has no work waiting.
    #[inline]
    fn is_idle(&self, channel: usize, now: u64) -> bool {
        let c = &self.channels[channel];
        let waits = !c.outs[0].is_empty() || !c.outs[1].is_empty() || (c.ready[0] | c.ready[1]) != 0;
        c.until <= now && c.sending == NONE && c.loading == NONE && !waits
    }

    /// Commands a read on an idle die over an idle bus, as [`pump`](Self::pump) would, but without queueing it.
    /// Returns whether it could.
    #[inline]
    pub(super) fn read_at_once(&mut self, id: u32, now: u64) -> bool {
        let Op { server, bus_in, array, .. } = self.slots[id as usize].op;
        let server = server as usize;
        let channel = self.servers[server].channel as usize;
        if !self.servers[server].is_idle() || !self.is_idle(channel, now) {
            return false;
        }
        let bit = server as u32 - self.channels[channel].first;
        self.pass_turn(channel, bit);
        self.be_busy(server, now);
        let s = &mut self.servers[server];
        (s.active, s.overtaken) = (List { head: id, tail: id }, 0);
        self.sense(server, 1, (bus_in + self.read_command[1], array), now);
        true
    }

    /// Sends the one sensed page over an idle bus, as [`pump`](Self::pump) would, but without queueing it. Returns
    /// whether it could.
    #[inline]
    pub(super) fn send_at_once(&mut self, server: usize, now: u64) -> bool {
        let s = &self.servers[server];
        let (channel, id) = (s.channel as usize, s.active.head);
        if s.active.tail != id || !s.has_nothing_to_do() || !self.is_idle(channel, now) {
            return false;
        }
        let s = &mut self.servers[server];
        (s.active, s.state, s.outs) = (List::EMPTY, State::Idle, 1);
        self.send_page(channel, id, now);
        true
    }

    /// Sends the data of the longest waiting register.
    fn send(&mut self, channel: usize, class: usize, now: u64) {
        let id = pop(&self.slots, &mut self.channels[channel].outs[class]);
        self.send_page(channel, id, now);
    }

    #[inline]
    fn send_page(&mut self, channel: usize, id: u32, now: u64) {
        let Op { bus_out: time, heard_after, .. } = self.slots[id as usize].op;
        self.occupy(channel, now, time);
        self.channels[channel].sending = id;
        // a timer for the idle bus may have been set
        self.due.set(Step::Idle, channel, NEVER);
        self.due.set(if heard_after > 0 { Step::LateEnd } else { Step::End }, channel, now + time);
    }

    fn occupy(&mut self, channel: usize, now: u64, time: u64) {
        let c = &mut self.channels[channel];
        c.until = now + time;
        c.busy += time;
    }

    /// Commands the next server in turn.
    fn command(&mut self, channel: usize, now: u64) {
        let c = &self.channels[channel];
        let all = c.ready[0] | c.ready[1];
        let candidates = if self.can.one_turn || c.ready[0] == 0 { all } else { c.ready[0] };
        let rest = candidates >> c.turn << c.turn;
        let bit = if rest == 0 { candidates } else { rest }.trailing_zeros();
        let read = c.ready[0] >> bit & 1 == 1;
        let bit = if read && self.can.oldest_first { self.oldest(channel) } else { bit };
        let server = (self.channels[channel].first + bit) as usize;
        self.pass_turn(channel, bit);
        if read
            && self.servers[server].state == State::Writing
            && !self.may_suspend(&self.servers[server], now)
        {
            // suspending was worth it when the read came, and no longer is
            self.channels[channel].ready[0] &= !(1 << bit);
            return;
        }
        self.be_busy(server, now);
        if read {
            self.issue_read(server, Queue::Front, now);
        } else {
            self.issue_other(server, now);
        }
        self.refresh(server, now);
    }

    /// The server with the oldest read among those that can be commanded a read.
    fn oldest(&self, channel: usize) -> u32 {
        let Channel { first, ready: [mut left, _], .. } = self.channels[channel];
        let mut found = (u64::MAX, 0);
        while left != 0 {
            let bit = left.trailing_zeros();
            left &= left - 1;
            let head = self.servers[(first + bit) as usize].queues[Queue::Front as usize].head;
            found = found.min((self.slots[head as usize].came, bit));
        }
        found.1
    }

    /// Passes the turn to the next server.
    #[inline]
    fn pass_turn(&mut self, channel: usize, bit: u32) {
        self.channels[channel].turn = if bit + 1 == self.per_channel { 0 } else { bit + 1 };
    }

    /// Notes that a server is busy, if it was not.
    #[inline]
    fn be_busy(&mut self, server: usize, now: u64) {
        let since = &mut self.servers[server].busy_since;
        *since = if *since == NEVER { now } else { *since };
    }

    fn issue_other(&mut self, server: usize, now: u64) {
        if self.servers[server].loading.0 != NONE {
            self.load(server, now);
            return;
        }
        let s = &mut self.servers[server];
        s.overtaken = 0;
        let [_, writes, back] = s.queues.map(|queue| !queue.is_empty());
        if s.state == State::Idle && back && (!writes || s.back_turn) {
            s.back_turn = false;
            self.issue_read(server, Queue::Back, now);
            return;
        }
        s.back_turn = true;
        let id = pop(&self.slots, &mut s.queues[Queue::Writes as usize]);
        self.slots[id as usize].next = NONE;
        if self.can.by_planes {
            self.take_along(server, id);
        }
        let s = &mut self.servers[server];
        s.loading = (id, self.slots[id as usize].op.transfers);
        if s.state == State::Idle {
            s.state = State::Loading;
        }
        self.load(server, now);
    }

    /// Takes operations out of the queue that can be done together with a program or an erase: the same operation on
    /// other planes of its die, on the same page. The order of operations on a plane is kept, except by MQSim's
    /// rules.
    fn take_along(&mut self, server: usize, first: u32) {
        let Op { work, die, plane, page, array, bus_in, transfers, .. } = self.slots[first as usize].op;
        let (mut taken, mut blocked) = (1, 1_u32 << plane);
        let (mut last, mut data) = (first, bus_in * u64::from(transfers));
        let mut transfers = transfers;
        let (mut before, mut id) = (NONE, self.servers[server].queues[Queue::Writes as usize].head);
        while id != NONE && taken < self.can.planes {
            let Slot { op, next, .. } = self.slots[id as usize];
            let is_free = op.die == die && blocked & (1 << op.plane) == 0;
            let fits = is_free && (op.work, op.page, op.array) == (work, page, array);
            // MQSim lets a later page of a plane go first
            if op.die == die && (fits || !self.can.one_turn) {
                blocked |= 1 << op.plane;
            }
            if fits {
                self.unlink(server, before, id);
                self.slots[last as usize].next = id;
                (last, taken) = (id, taken + 1);
                data += op.bus_in * u64::from(op.transfers);
                transfers += op.transfers;
            } else {
                before = id;
            }
            id = next;
        }
        let first = &mut self.slots[first as usize].op;
        if work == Work::Erase {
            (first.bus_in, first.transfers) = (self.erase_command[taken as usize], 1);
            return;
        }
        let whole = data + self.program_command[taken as usize];
        first.transfers = if self.can.one_turn { 1 } else { transfers };
        first.bus_in = whole.div_ceil(first.transfers.into());
    }

    /// Removes an operation from the middle of the write queue.
    fn unlink(&mut self, server: usize, before: u32, id: u32) {
        let next = core::mem::replace(&mut self.slots[id as usize].next, NONE);
        let list = &mut self.servers[server].queues[Queue::Writes as usize];
        if before == NONE {
            list.head = next;
        } else {
            self.slots[before as usize].next = next;
        }
        if next == NONE {
            list.tail = before;
        }
    }

    /// Does one bus transfer of a program or an erase; after the last one the array can begin.
    fn load(&mut self, server: usize, now: u64) {
        let (id, left) = self.servers[server].loading;
        let op = self.slots[id as usize].op;
        self.occupy(self.servers[server].channel as usize, now, op.bus_in);
        self.servers[server].loading = (id, left.saturating_sub(1));
        if left > 1 {
            return;
        }
        self.servers[server].loading = (NONE, 0);
        if op.when_loaded.is_some() {
            let channel = self.servers[server].channel as usize;
            self.channels[channel].loading = id;
            // a timer for the idle bus may have been set
            self.due.set(Step::Idle, channel, NEVER);
            self.due.set(Step::End, channel, now + op.bus_in);
        }
        if self.servers[server].state == State::Writing {
            self.servers[server].loaded = (id, now + op.bus_in);
        } else {
            self.program(server, id, now + op.bus_in);
        }
    }

    /// Commands a read together with those that can be sensed with it.
    fn issue_read(&mut self, server: usize, queue: Queue, now: u64) {
        let mut wait = 0;
        if self.servers[server].state == State::Writing {
            wait = self.suspend(server, now);
        }
        let Op { die, page, bus_in, array, .. } =
            self.slots[self.servers[server].queues[queue as usize].head as usize].op;
        let taken = if self.can.planes == 1 {
            self.take_one(server, queue)
        } else {
            let (first, mut planes) = ((die, page), 0_u32);
            let taken = self.gather(server, queue, first, 0, &mut planes);
            let other = if queue == Queue::Front { Queue::Back } else { Queue::Front };
            if taken < self.can.planes {
                self.gather(server, other, first, taken, &mut planes)
            } else {
                taken
            }
        };
        let bus = bus_in + self.read_command[taken as usize] + wait;
        let s = &mut self.servers[server];
        let overtakes = s.suspended.0 != NONE || s.queues[1..].iter().any(|queue| !queue.is_empty());
        s.overtaken = if overtakes { s.overtaken + 1 } else { 0 };
        self.sense(server, taken, (bus, array), now);
    }

    /// Senses the active pages: `bus` for the command, then the array.
    #[inline]
    fn sense(&mut self, server: usize, pages: u32, (bus, array): (u64, u64), now: u64) {
        self.occupy(self.servers[server].channel as usize, now, bus);
        self.servers[server].state = State::Sensing;
        self.tally.read_commands += 1;
        self.tally.page_reads += u64::from(pages);
        let array = self.drawn(server, array);
        self.due.set(Step::Sensed, self.channels.len() + server, now + bus + array);
    }

    /// Takes the first read out of a queue of a server with one plane per die. Returns the number of reads.
    #[inline]
    fn take_one(&mut self, server: usize, queue: Queue) -> u32 {
        let id = pop(&self.slots, &mut self.servers[server].queues[queue as usize]);
        let slot = &mut self.slots[id as usize];
        (slot.note, slot.next) = (u32::from(queue == Queue::Back), NONE);
        push(&mut self.slots, &mut self.servers[server].active, id);
        1
    }

    /// Takes reads that can be sensed together with one of this die and page out of a queue.
    fn gather(
        &mut self,
        server: usize,
        queue: Queue,
        (die, page): (u8, u32),
        mut taken: u32,
        planes: &mut u32,
    ) -> u32 {
        let list = self.servers[server].queues[queue as usize];
        let (mut before, mut id) = (NONE, list.head);
        while id != NONE && taken < self.can.planes {
            let Slot { op, next, .. } = &self.slots[id as usize];
            let next = *next;
            let fits = op.die == die
                && *planes & (1 << op.plane) == 0
                && (taken == 0 || !self.can.same_page || op.page == page);
            if !fits {
                (before, id) = (id, next);
                continue;
            }
            *planes |= 1 << op.plane;
            taken += 1;
            let list = &mut self.servers[server].queues[queue as usize];
            if before == NONE {
                list.head = next
            } else {
                self.slots[before as usize].next = next
            }
            if next == NONE {
                list.tail = before;
            }
            self.slots[id as usize].note = u32::from(queue == Queue::Back);
            self.slots[id as usize].next = NONE;
            push(&mut self.slots, &mut self.servers[server].active, id);
            id = next;
        }
        taken
    }

    /// Suspends the running program or erase. Returns the time until a read can start.
    fn suspend(&mut self, server: usize, now: u64) -> u64 {
        let suspend = self.can.suspend.expect("asked before");
        let id = core::mem::replace(&mut self.servers[server].active, List::EMPTY).head;
        let alarm = self.channels.len() + server;
        let left = self.due.of(Step::End, alarm) - self.servers[server].array_start.max(now);
        self.due.set(Step::End, alarm, NEVER);
        self.servers[server].suspended = (id, left);
        self.in_suspense += 1;
        self.slots[id as usize].note += 1;
        self.tally.suspensions += 1;
        match self.slots[id as usize].op.work {
            Work::Erase => suspend.erase.as_ps(),
            _ => suspend.program.as_ps(),
        }
    }
}
