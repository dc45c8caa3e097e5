//! Channels and dies: who may use the bus, what a die is doing, what has ended.
//!
//! ```text
//!   put(op) ──► queues of its die ──► bus: command (and data in) ──► array ──► bus: data out ──► ended
//!               front reads            one at a time on a channel    tR,       first come,
//!               writes, back reads                                   tPROG …   front before back
//! ```
//!
//! A **server** is what works by itself behind a channel: a die, or, by MQSim's rules, a chip of which one die works at a time.
//! It is also a partition of a medium that is written in place: the machine knows operations, not cells.
//!
//! * When a channel falls idle it takes, in this order: the command of a read in front; data out; a page of a program, an erase or the command of a
//!   read at the back. Among servers it goes round. (By MQSim's rules: data out, then commands, and a program's data at once.)
//! * A read takes along reads of other planes of the same die that wait in its queue, as the part allows.
//! * Reads in front go before what waits at their die, but no more than `burst` in a row. They suspend a program or an
//!   erase where the part can.

use super::times::Times;
use crate::alarms::{Alarms, NEVER};
use crate::config::Suspend;
use std::collections::VecDeque;

/// No operation.
const NONE: u32 = u32::MAX;

/// What an operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Work {
    /// Sense and send out.
    Read,
    /// Take data in and program.
    Program,
    /// Erase.
    Erase,
}

/// Where an operation waits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Queue {
    /// Somebody waits for this read.
    Front = 0,
    /// Programs and erases, first come first served.
    Writes = 1,
    /// Reads that nobody waits for.
    Back = 2,
}

/// An operation.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// Who is told when it ends.
    pub owner: u32,
    /// Which server does it.
    pub server: u32,
    /// What it does.
    pub work: Work,
    /// Which die of the server.
    pub die: u8,
    /// Which plane, of a read.
    pub plane: u8,
    /// Which page of the block, of a read.
    pub page: u32,
    /// On the bus before the array works, in so many transfers of this length; a read's command is added by the machine \[ps\].
    pub bus_in: u64,
    /// Transfers of a program: others may use the bus between them.
    pub transfers: u16,
    /// In the array \[ps\].
    pub array: u64,
    /// On the bus after the array has worked, of a read \[ps\].
    pub bus_out: u64,
}

#[derive(Clone, Copy)]
struct Slot {
    op: Op,
    next: u32,
    /// How often a program or an erase has been suspended; of a read that is out of its queue, whether it was at the back.
    note: u32,
}

#[derive(Clone, Copy)]
struct List {
    head: u32,
    tail: u32,
}

impl List {
    const EMPTY: Self = Self { head: NONE, tail: NONE };
    const fn is_empty(self) -> bool {
        self.head == NONE
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Idle,
    /// Command, then array; ends at the server's alarm.
    Sensing,
    /// Sensed, but the register still holds what was read before.
    Sensed,
    /// The data of a program come in.
    Loading,
    /// Program or erase.
    Writing,
}

struct Server {
    queues: [List; 3],
    state: State,
    /// Reads being sensed, or the one program or erase.
    active: List,
    /// Reads that wait for the bus or are on it.
    outs: u32,
    /// When the array began, which is when it can be suspended.
    array_start: u64,
    /// A program whose data are in, waiting for the array; and when its data are in.
    loaded: (u32, u64),
    /// A program whose data come in, and the transfers that are still to come.
    loading: (u32, u16),
    /// A program or erase in suspense, and what it still needs.
    suspended: (u32, u64),
    /// Reads in front that have overtaken since the last write.
    overtaken: u32,
    /// Whose turn it is at the back.
    back_turn: bool,
    busy_since: u64,
    busy: u64,
}

struct Channel {
    first: u32,
    until: u64,
    /// The read that is sending.
    sending: u32,
    outs: [List; 2],
    /// Servers with a read in front that may be commanded; with something else.
    ready: [u64; 2],
    turn: u32,
    busy: u64,
}

/// What the machine can do.
#[derive(Clone, Copy, Debug)]
pub struct Abilities {
    /// Planes of a die.
    pub planes: u32,
    /// Reads go together only with the same page number.
    pub same_page: bool,
    /// Senses on while the last page is sent.
    pub cache_read: bool,
    /// Takes data in while it programs.
    pub cache_program: bool,
    /// Suspends.
    pub suspend: Option<Suspend>,
    /// Reads in a row that may overtake a write that waits.
    pub burst: u32,
    /// One turn for all, not reads first.
    pub one_turn: bool,
}

/// What the machine has done.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    /// Read commands.
    pub read_commands: u64,
    /// Pages read.
    pub page_reads: u64,
    /// Suspensions.
    pub suspensions: u64,
}

/// Channels and servers.
pub struct Machine {
    slots: Vec<Slot>,
    free: u32,
    channels: Vec<Channel>,
    servers: Vec<Server>,
    per_channel: u32,
    alarms: Alarms,
    can: Abilities,
    /// Command and addresses of a read of so many planes \[ps\].
    read_command: [u64; 9],
    /// Owners of what has ended, in order.
    pub ended: VecDeque<u32>,
    tally: Tally,
}

impl Machine {
    /// `channels` with `per_channel` servers each, at most 64.
    pub fn new(channels: u32, per_channel: u32, can: Abilities, times: impl Fn(usize) -> u64) -> Self {
        let server = || Server {
            queues: [List::EMPTY; 3],
            state: State::Idle,
            active: List::EMPTY,
            outs: 0,
            array_start: 0,
            loaded: (NONE, 0),
            loading: (NONE, 0),
            suspended: (NONE, 0),
            overtaken: 0,
            back_turn: false,
            busy_since: NEVER,
            busy: 0,
        };
        let channel = |number: u32| Channel {
            first: number * per_channel,
            until: 0,
            sending: NONE,
            outs: [List::EMPTY; 2],
            ready: [0; 2],
            turn: 0,
            busy: 0,
        };
        Self {
            slots: Vec::new(),
            free: NONE,
            channels: (0..channels).map(channel).collect(),
            servers: (0..channels * per_channel).map(|_| server()).collect(),
            per_channel,
            alarms: Alarms::new((channels + channels * per_channel) as usize),
            can,
            read_command: core::array::from_fn(times),
            ended: VecDeque::new(),
            tally: Tally::default(),
        }
    }

    /// The machine of a flash.
    pub fn of_flash(channels: u32, per_channel: u32, can: Abilities, times: &Times) -> Self {
        Self::new(channels, per_channel, can, |planes| times.read_command(planes))
    }

    /// When something happens next \[ps\]; [`NEVER`] if nothing does.
    #[inline]
    pub fn next(&self) -> u64 {
        self.alarms.first().0
    }

    /// How long channels and servers have been busy up to `now` \[ps\], each.
    pub fn busy(&self, now: u64) -> (impl Iterator<Item = u64> + '_, impl Iterator<Item = u64> + '_) {
        let servers = self.servers.iter().map(move |server| {
            server.busy + if server.busy_since == NEVER { 0 } else { now - server.busy_since }
        });
        // a command is charged when it starts
        (self.channels.iter().map(move |channel| channel.busy - channel.until.saturating_sub(now)), servers)
    }

    /// What it has done.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// Puts an operation into a queue of its server.
    pub fn put(&mut self, now: u64, op: Op, queue: Queue) {
        let id = self.slot(op);
        let server = op.server as usize;
        push(&mut self.slots, &mut self.servers[server].queues[queue as usize], id);
        self.refresh(server, now);
        self.pump((op.server / self.per_channel) as usize, now);
    }

    fn slot(&mut self, op: Op) -> u32 {
        let slot = Slot { op, next: NONE, note: 0 };
        if self.free == NONE {
            self.slots.push(slot);
            return self.slots.len() as u32 - 1;
        }
        let id = self.free;
        self.free = self.slots[id as usize].next;
        self.slots[id as usize] = slot;
        id
    }

    fn end(&mut self, id: u32) {
        let slot = &mut self.slots[id as usize];
        self.ended.push_back(slot.op.owner);
        slot.next = self.free;
        self.free = id;
    }

    /// Does the earliest thing, which is at [`next`](Self::next).
    pub fn step(&mut self) {
        let (now, who) = self.alarms.first();
        self.alarms.set(who, NEVER);
        let channels = self.channels.len();
        let channel = if who < channels {
            self.sent(who, now);
            who
        } else {
            self.ready(who - channels, now);
            (who - channels) / self.per_channel as usize
        };
        self.pump(channel, now);
    }

    /// The bus falls idle.
    fn sent(&mut self, channel: usize, now: u64) {
        let id = core::mem::replace(&mut self.channels[channel].sending, NONE);
        if id == NONE {
            return;
        }
        let server = self.slots[id as usize].op.server as usize;
        self.end(id);
        self.servers[server].outs -= 1;
        if self.servers[server].outs == 0 {
            if self.servers[server].state == State::Sensed {
                self.hand_out(server);
            }
            self.settle(server, now);
        }
    }

    /// The array of a server has ended its work.
    fn ready(&mut self, server: usize, now: u64) {
        match self.servers[server].state {
            State::Sensing if self.servers[server].outs == 0 => self.hand_out(server),
            State::Sensing => self.servers[server].state = State::Sensed,
            State::Writing => self.written(server, now),
            State::Idle | State::Sensed | State::Loading => unreachable!("an idle die sets no alarm"),
        }
        self.settle(server, now);
    }

    /// What was sensed queues for the bus.
    fn hand_out(&mut self, server: usize) {
        let channel = server / self.per_channel as usize;
        let mut id = core::mem::replace(&mut self.servers[server].active, List::EMPTY).head;
        while id != NONE {
            let next = self.slots[id as usize].next;
            self.slots[id as usize].next = NONE;
            let class = self.slots[id as usize].note as usize;
            push(&mut self.slots, &mut self.channels[channel].outs[class], id);
            self.servers[server].outs += 1;
            id = next;
        }
        self.servers[server].state = State::Idle;
    }

    /// A program or an erase has ended; a loaded one follows.
    fn written(&mut self, server: usize, now: u64) {
        let id = core::mem::replace(&mut self.servers[server].active, List::EMPTY).head;
        self.end(id);
        self.servers[server].state = State::Idle;
        let (loaded, from) = core::mem::replace(&mut self.servers[server].loaded, (NONE, 0));
        if loaded != NONE {
            self.write(server, loaded, from.max(now), self.slots[loaded as usize].op.array);
        } else if self.servers[server].loading.0 != NONE {
            self.servers[server].state = State::Loading;
        }
    }

    /// The array starts on a program or an erase.
    fn write(&mut self, server: usize, id: u32, from: u64, array: u64) {
        let s = &mut self.servers[server];
        s.active = List { head: id, tail: id };
        s.state = State::Writing;
        s.array_start = from;
        self.alarms.set(self.channels.len() + server, from + array);
    }

    /// After a change: resumes what is in suspense, notes idleness and what may be commanded.
    fn settle(&mut self, server: usize, now: u64) {
        let s = &self.servers[server];
        let reads_wait = !s.queues[Queue::Front as usize].is_empty() && s.overtaken < self.can.burst;
        if s.state == State::Idle && s.outs == 0 && s.suspended.0 != NONE && !reads_wait {
            let (id, left) = core::mem::replace(&mut self.servers[server].suspended, (NONE, 0));
            self.servers[server].overtaken = 0;
            self.write(server, id, now, left);
        }
        let s = &mut self.servers[server];
        if s.state == State::Idle && s.outs == 0 && s.suspended.0 == NONE && s.busy_since != NEVER {
            s.busy += now - s.busy_since;
            s.busy_since = NEVER;
        }
        self.refresh(server, now);
    }

    /// Notes at the channel what the server could be commanded.
    #[inline]
    fn refresh(&mut self, server: usize, now: u64) {
        let s = &self.servers[server];
        let [front, writes, back] = s.queues.map(|queue| !queue.is_empty());
        let others = writes || back;
        let (read, other) = match s.state {
            State::Idle if s.outs == 0 => {
                let due = others && s.overtaken >= self.can.burst;
                let other = others && s.suspended.0 == NONE && (!front || due);
                (front && (!due || s.suspended.0 != NONE), other)
            }
            State::Idle => (self.can.cache_read && front && s.suspended.0 == NONE, false),
            State::Writing => (front && self.may_suspend(s, now), s.loading.0 != NONE || self.may_load(s)),
            State::Loading => (false, true),
            State::Sensing | State::Sensed => (false, false),
        };
        let channel = &mut self.channels[server / self.per_channel as usize];
        let bit = 1_u64 << (server as u32 - channel.first);
        channel.ready[0] = if read { channel.ready[0] | bit } else { channel.ready[0] & !bit };
        channel.ready[1] = if other { channel.ready[1] | bit } else { channel.ready[1] & !bit };
    }

    fn may_suspend(&self, s: &Server, now: u64) -> bool {
        let Some(suspend) = self.can.suspend else { return false };
        let slot = &self.slots[s.active.head as usize];
        let until = s.array_start.max(now) + suspend.worth.as_ps();
        slot.note < suspend.times
            && s.outs == 0
            && s.array_start + slot.op.array > until
            && s.overtaken < self.can.burst
    }

    fn may_load(&self, s: &Server) -> bool {
        let head = s.queues[Queue::Writes as usize].head;
        // a read at the back whose turn it is needs an idle array
        let back = s.back_turn && !s.queues[Queue::Back as usize].is_empty();
        self.can.cache_program
            && !back
            && s.loaded.0 == NONE
            && s.loading.0 == NONE
            && head != NONE
            && self.slots[s.active.head as usize].op.work == Work::Program
            && self.slots[head as usize].op.work == Work::Program
    }

    /// Uses an idle bus, or sees to it that somebody looks when it falls idle.
    #[inline]
    fn pump(&mut self, channel: usize, now: u64) {
        loop {
            let c = &self.channels[channel];
            let outs = usize::from(c.outs[0].is_empty());
            let wants = !c.outs[outs].is_empty() || (c.ready[0] | c.ready[1]) != 0;
            if c.until > now {
                if wants && c.sending == NONE {
                    self.alarms.set(channel, c.until);
                }
                return;
            }
            if !wants || c.sending != NONE {
                return;
            }
            // a command is short and lets a die work
            let command_first = !self.can.one_turn && c.ready[0] != 0;
            if !c.outs[outs].is_empty() && !command_first {
                self.send(channel, outs, now);
                return;
            }
            self.command(channel, now);
        }
    }

    /// Data out of the longest waiting register.
    fn send(&mut self, channel: usize, class: usize, now: u64) {
        let id = pop(&self.slots, &mut self.channels[channel].outs[class]);
        let time = self.slots[id as usize].op.bus_out;
        self.occupy(channel, now, time);
        self.channels[channel].sending = id;
        self.alarms.set(channel, now + time);
    }

    fn occupy(&mut self, channel: usize, now: u64, time: u64) {
        let c = &mut self.channels[channel];
        c.until = now + time;
        c.busy += time;
    }

    /// Commands the server whose turn it is.
    fn command(&mut self, channel: usize, now: u64) {
        let c = &self.channels[channel];
        let all = c.ready[0] | c.ready[1];
        let candidates = if self.can.one_turn || c.ready[0] == 0 { all } else { c.ready[0] };
        let rest = candidates >> c.turn << c.turn;
        let bit = if rest == 0 { candidates } else { rest }.trailing_zeros();
        let server = (c.first + bit) as usize;
        let read = c.ready[0] >> bit & 1 == 1;
        self.channels[channel].turn = (bit + 1) % self.per_channel;
        if read
            && self.servers[server].state == State::Writing
            && !self.may_suspend(&self.servers[server], now)
        {
            // it was worth suspending when the read came, and no longer is
            self.channels[channel].ready[0] &= !(1 << bit);
            return;
        }
        if self.servers[server].busy_since == NEVER {
            self.servers[server].busy_since = now;
        }
        if read {
            self.issue_read(server, Queue::Front, now);
        } else {
            self.issue_other(server, now);
        }
        self.refresh(server, now);
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
        s.loading = (id, self.slots[id as usize].op.transfers);
        if s.state == State::Idle {
            s.state = State::Loading;
        }
        self.load(server, now);
    }

    /// One transfer of what a program or an erase needs on the bus; with the last one the array can begin.
    fn load(&mut self, server: usize, now: u64) {
        let (id, left) = self.servers[server].loading;
        let op = self.slots[id as usize].op;
        self.occupy(server / self.per_channel as usize, now, op.bus_in);
        self.servers[server].loading = (id, left.saturating_sub(1));
        if left > 1 {
            return;
        }
        self.servers[server].loading = (NONE, 0);
        if self.servers[server].state == State::Writing {
            self.servers[server].loaded = (id, now + op.bus_in);
        } else {
            self.write(server, id, now + op.bus_in, op.array);
        }
    }

    /// Commands a read and what goes with it.
    fn issue_read(&mut self, server: usize, queue: Queue, now: u64) {
        let mut wait = 0;
        if self.servers[server].state == State::Writing {
            wait = self.suspend(server, now);
        }
        let first = self.slots[self.servers[server].queues[queue as usize].head as usize].op;
        let (mut taken, mut planes) = (0, 0_u32);
        taken = self.gather(server, queue, &first, taken, &mut planes);
        if taken < self.can.planes && self.can.planes > 1 {
            let other = if queue == Queue::Front { Queue::Back } else { Queue::Front };
            taken = self.gather(server, other, &first, taken, &mut planes);
        }
        let bus = first.bus_in + self.read_command[taken as usize] + wait;
        self.occupy(server / self.per_channel as usize, now, bus);
        let s = &mut self.servers[server];
        s.state = State::Sensing;
        let overtakes = s.suspended.0 != NONE || s.queues[1..].iter().any(|queue| !queue.is_empty());
        s.overtaken = if overtakes { s.overtaken + 1 } else { 0 };
        self.tally.read_commands += 1;
        self.tally.page_reads += u64::from(taken);
        self.alarms.set(self.channels.len() + server, now + bus + first.array);
    }

    /// Takes reads that can be sensed together with `first` out of a queue.
    fn gather(&mut self, server: usize, queue: Queue, first: &Op, mut taken: u32, planes: &mut u32) -> u32 {
        let list = self.servers[server].queues[queue as usize];
        let (mut before, mut id) = (NONE, list.head);
        while id != NONE && taken < self.can.planes {
            let Slot { op, next, .. } = self.slots[id as usize];
            let fits = op.die == first.die
                && *planes & (1 << op.plane) == 0
                && (taken == 0 || !self.can.same_page || op.page == first.page);
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

    /// Puts the running program or erase into suspense; the time until a read can start.
    fn suspend(&mut self, server: usize, now: u64) -> u64 {
        let suspend = self.can.suspend.expect("asked before");
        let id = core::mem::replace(&mut self.servers[server].active, List::EMPTY).head;
        let alarm = self.channels.len() + server;
        let left = self.alarms.of(alarm) - self.servers[server].array_start.max(now);
        self.alarms.set(alarm, NEVER);
        self.servers[server].suspended = (id, left);
        self.slots[id as usize].note += 1;
        self.tally.suspensions += 1;
        match self.slots[id as usize].op.work {
            Work::Erase => suspend.erase.as_ps(),
            _ => suspend.program.as_ps(),
        }
    }
}

#[inline]
fn push(slots: &mut [Slot], list: &mut List, id: u32) {
    if list.tail == NONE {
        list.head = id;
    } else {
        slots[list.tail as usize].next = id;
    }
    list.tail = id;
}

#[inline]
fn pop(slots: &[Slot], list: &mut List) -> u32 {
    let id = list.head;
    list.head = slots[id as usize].next;
    if list.head == NONE {
        list.tail = NONE;
    }
    id
}
