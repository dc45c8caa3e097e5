//! Channels and dies: use of the bus, state of each die, and ends of operations.
//!
//! ```text
//!   put(op) ──► queues of its die ──► bus: command (and data in) ──► array ──► bus: data out ──► ended
//!               front reads            one at a time on a channel    tR,       first come,
//!               writes, back reads                                   tPROG …   front before back
//! ```
//!
//! A **server** works independently behind a channel: a die, or, by MQSim's rules, a chip of which one die works at a
//! time. It can also be a partition of a medium that is written in place: the machine knows operations, not cells.
//!
//! * A channel that becomes idle takes, in this order: the command of a front read; data out; a page of a program, an
//!   erase or the command of a back read. It serves its servers round robin. (By MQSim's rules: data out, then
//!   commands, and all data of a program at once.)
//! * A read is combined with reads of other planes of the same die in its queue, as far as the part allows.
//! * Front reads precede other operations at their die, but at most `burst` in a row. They suspend a program or an
//!   erase if the part supports it.

use super::due::{Due, Step};
use super::op::{List, NONE, Slot, push};
use super::times::Times;
use crate::config::Suspend;
use crate::random::Draws;
use crate::timers::NEVER;
use lanetwin_units::{Spread, mix};
use std::collections::VecDeque;

pub use super::op::{Op, Queue, Work};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Idle,
    /// Command, then array; ends at the server's alarm.
    Sensing,
    /// Sensed, but the register still holds the data of the previous read.
    Sensed,
    /// The data of a program are being transferred.
    Loading,
    /// Program or erase.
    Writing,
}

pub(super) struct Server {
    /// Its channel.
    pub(super) channel: u32,
    pub(super) queues: [List; 3],
    pub(super) state: State,
    /// Reads being sensed, or the program or erase in progress.
    pub(super) active: List,
    /// Reads that wait for the bus or are on it.
    pub(super) outs: u32,
    /// When the array began, which is when it can first be suspended.
    pub(super) array_start: u64,
    /// A program whose data have been transferred and which waits for the array, and when they were.
    pub(super) loaded: (u32, u64),
    /// A program whose data are being transferred, and the number of transfers left.
    pub(super) loading: (u32, u16),
    /// A suspended program or erase, and its remaining time.
    pub(super) suspended: (u32, u64),
    /// Front reads that have overtaken waiting operations since the last write.
    pub(super) overtaken: u32,
    /// Whether a back read is next in turn.
    pub(super) back_turn: bool,
    pub(super) busy_since: u64,
    pub(super) busy: u64,
    /// Number of array operations so far, if their times are random.
    worked: u64,
}

impl Server {
    /// Whether no operation waits for it or is suspended.
    #[inline]
    pub(super) fn has_nothing_to_do(&self) -> bool {
        self.queues.iter().all(|queue| queue.is_empty()) && self.suspended.0 == NONE
    }
    /// The same, and it is not working.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.state == State::Idle && self.outs == 0 && self.has_nothing_to_do()
    }
}

pub(super) struct Channel {
    pub(super) first: u32,
    pub(super) until: u64,
    /// The read whose data are being sent.
    pub(super) sending: u32,
    /// The program whose last data are being transferred, if its owner wants to be told.
    pub(super) loading: u32,
    pub(super) outs: [List; 2],
    /// Servers with a front read that may be commanded, and servers with other operations.
    pub(super) ready: [u64; 2],
    pub(super) turn: u32,
    pub(super) busy: u64,
}

/// Capabilities of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Abilities {
    /// Planes of a die.
    pub planes: u32,
    /// Whether reads can only be combined with the same page number.
    pub same_page: bool,
    /// Whether it senses a page while the previous one is being sent.
    pub cache_read: bool,
    /// Whether it takes data in while it programs.
    pub cache_program: bool,
    /// Suspension, if supported.
    pub suspend: Option<Suspend>,
    /// Number of reads in a row that may overtake a waiting write.
    pub burst: u32,
    /// Whether all operations take turns, instead of reads first.
    pub one_turn: bool,
    /// Whether the oldest of a channel's reads that can be commanded goes first; otherwise that of the die whose turn
    /// it is.
    pub oldest_first: bool,
    /// Whether programs and erases are of one plane; those that wait for several planes of a die are then combined.
    /// `bus_in` of a program is then its data alone.
    pub by_planes: bool,
}

/// Counters of the machine.
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
    pub(super) slots: Vec<Slot>,
    pub(super) free: u32,
    /// Number of operations put in so far.
    came: u64,
    pub(super) channels: Vec<Channel>,
    pub(super) servers: Vec<Server>,
    pub(super) per_channel: u32,
    pub(super) due: Due,
    /// Number of suspended programs and erases.
    pub(super) in_suspense: u32,
    pub(super) can: Abilities,
    /// Variation of array times.
    spread: Spread,
    /// Command and addresses of a read, by the number of planes \[ps\].
    pub(super) read_command: [u64; 9],
    /// The same of a program, without data.
    pub(super) program_command: [u64; 9],
    /// The same of an erase.
    pub(super) erase_command: [u64; 9],
    /// Channels that got operations while commands are held; `None` if they are not.
    held: Option<Vec<u32>>,
    /// Owners of the operations that have ended, in order.
    pub ended: VecDeque<u32>,
    pub(super) tally: Tally,
}

impl Machine {
    /// `channels` with `per_channel` servers each, at most 64.
    pub fn new(channels: u32, per_channel: u32, can: Abilities, times: impl Fn(usize) -> u64) -> Self {
        let server = |number: u32| Server {
            channel: number / per_channel,
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
            worked: 0,
        };
        let channel = |number: u32| Channel {
            first: number * per_channel,
            until: 0,
            sending: NONE,
            loading: NONE,
            outs: [List::EMPTY; 2],
            ready: [0; 2],
            turn: 0,
            busy: 0,
        };
        Self {
            slots: Vec::new(),
            free: NONE,
            came: 0,
            channels: (0..channels).map(channel).collect(),
            servers: (0..channels * per_channel).map(server).collect(),
            per_channel,
            due: Due::new(channels as usize, (channels * per_channel) as usize),
            in_suspense: 0,
            can,
            spread: Spread::NONE,
            read_command: core::array::from_fn(times),
            program_command: [0; 9],
            erase_command: [0; 9],
            held: None,
            ended: VecDeque::new(),
            tally: Tally::default(),
        }
    }

    /// The machine of a flash.
    pub fn of_flash(channels: u32, per_channel: u32, can: Abilities, times: &Times) -> Self {
        let program_command = core::array::from_fn(|planes| times.program_in(planes, 0));
        let machine = Self::new(channels, per_channel, can, |planes| times.read_command(planes));
        let erase_command = core::array::from_fn(|planes| times.erase_in(planes));
        Self { program_command, erase_command, ..machine }
    }

    /// Makes array times vary.
    pub fn varying(self, spread: Spread) -> Self {
        Self { spread, ..self }
    }

    /// Whether array times are constant.
    pub const fn is_regular(&self) -> bool {
        self.spread.is_none()
    }

    /// Draws the time of the server's next array operation, with this mean \[ps\]. Pages that are sensed or
    /// programmed together are one operation.
    #[inline]
    pub(super) fn drawn(&mut self, server: usize, mean: u64) -> u64 {
        if self.spread.is_none() {
            return mean;
        }
        let worked = &mut self.servers[server].worked;
        *worked += 1;
        self.spread.ps(mean, mix(server as u64) ^ *worked)
    }

    /// Time before which the machine reports nothing, unless an operation is put in \[ps\]; [`NEVER`] if nothing will
    /// follow.
    #[inline]
    pub fn soonest(&self) -> u64 {
        self.due.soonest(self.in_suspense > 0)
    }

    /// Sets the round robin position of each channel at random.
    pub fn scatter_turns(&mut self, seed: u64) {
        let mut draws = Draws::new(seed);
        for channel in &mut self.channels {
            channel.turn = draws.below(self.per_channel.into()) as u32;
        }
    }

    /// Puts an operation into a queue of its server.
    pub fn put(&mut self, now: u64, op: Op, queue: Queue) {
        // the last step of a read is on the bus; that of a write is in the array, but its data may be reported before
        let last = match op.work {
            Work::Read => op.bus_out,
            _ if op.when_loaded.is_some() => op.bus_in.min(self.spread.least_ps(op.array)),
            _ => self.spread.least_ps(op.array),
        };
        self.due.bound(last, op.heard_after);
        let id = self.slot(op);
        let server = op.server as usize;
        if op.work == Work::Read && queue == Queue::Front && self.held.is_none() && self.read_at_once(id, now)
        {
            return;
        }
        push(&mut self.slots, &mut self.servers[server].queues[queue as usize], id);
        self.refresh(server, now);
        let channel = self.servers[server].channel;
        match &mut self.held {
            Some(held) => held.push(channel),
            None => self.pump(channel as usize, now),
        }
    }

    /// Holds commands until [`let_go`](Self::let_go). Returns whether they were not held before.
    pub fn hold(&mut self) -> bool {
        let was_held = self.held.is_some();
        self.held.get_or_insert_default();
        !was_held
    }

    /// Issues the commands that were held.
    pub fn let_go(&mut self, now: u64) {
        for channel in self.held.take().into_iter().flatten() {
            self.pump(channel as usize, now);
        }
    }

    fn slot(&mut self, op: Op) -> u32 {
        let slot = Slot { op, next: NONE, note: 0, came: self.came };
        self.came += 1;
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

    /// Does the earliest step that is not after `limit`. Returns its time.
    #[inline]
    pub fn step(&mut self, limit: u64) -> Option<u64> {
        let (now, who) = self.due.take(limit)?;
        let channels = self.channels.len();
        let channel = if who < channels {
            self.sent(who, now);
            who
        } else {
            self.ready(who - channels, now);
            self.servers[who - channels].channel as usize
        };
        self.pump(channel, now);
        Some(now)
    }

    /// Handles a bus that becomes idle.
    fn sent(&mut self, channel: usize, now: u64) {
        let loading = core::mem::replace(&mut self.channels[channel].loading, NONE);
        if loading != NONE {
            let mut id = loading;
            while id != NONE {
                self.ended.extend(self.slots[id as usize].op.when_loaded);
                id = self.slots[id as usize].next;
            }
            return;
        }
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

    /// Handles the end of an array operation of a server.
    fn ready(&mut self, server: usize, now: u64) {
        match self.servers[server].state {
            State::Sensing if self.servers[server].outs == 0 => {
                if self.send_at_once(server, now) {
                    return;
                }
                self.hand_out(server);
            }
            State::Sensing => self.servers[server].state = State::Sensed,
            State::Writing => self.written(server, now),
            State::Idle | State::Sensed | State::Loading => unreachable!("an idle die sets no alarm"),
        }
        self.settle(server, now);
    }

    /// Queues sensed pages for the bus.
    fn hand_out(&mut self, server: usize) {
        let channel = self.servers[server].channel as usize;
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

    /// Handles the end of a program or an erase; a loaded one follows.
    fn written(&mut self, server: usize, now: u64) {
        let mut id = core::mem::replace(&mut self.servers[server].active, List::EMPTY).head;
        while id != NONE {
            let next = self.slots[id as usize].next;
            self.end(id);
            id = next;
        }
        self.servers[server].state = State::Idle;
        let (loaded, from) = core::mem::replace(&mut self.servers[server].loaded, (NONE, 0));
        if loaded != NONE {
            self.program(server, loaded, from.max(now));
        } else if self.servers[server].loading.0 != NONE {
            self.servers[server].state = State::Loading;
        }
    }

    /// Starts a new program or erase in the array.
    pub(super) fn program(&mut self, server: usize, id: u32, from: u64) {
        let array = self.drawn(server, self.slots[id as usize].op.array);
        self.slots[id as usize].op.array = array;
        self.write(server, id, from, array);
    }

    /// Starts or resumes a program or an erase in the array.
    fn write(&mut self, server: usize, id: u32, from: u64, array: u64) {
        let s = &mut self.servers[server];
        s.active = List { head: id, tail: id };
        s.state = State::Writing;
        s.array_start = from;
        self.due.set(Step::End, self.channels.len() + server, from + array);
    }

    /// After a change: resumes a suspended operation, and notes idleness and possible commands.
    pub(super) fn settle(&mut self, server: usize, now: u64) {
        let s = &self.servers[server];
        let reads_wait = !s.queues[Queue::Front as usize].is_empty() && s.overtaken < self.can.burst;
        if s.state == State::Idle && s.outs == 0 && s.suspended.0 != NONE && !reads_wait {
            let (id, left) = core::mem::replace(&mut self.servers[server].suspended, (NONE, 0));
            self.servers[server].overtaken = 0;
            self.in_suspense -= 1;
            self.write(server, id, now, left);
        }
        let s = &mut self.servers[server];
        if s.state == State::Idle && s.outs == 0 && s.suspended.0 == NONE && s.busy_since != NEVER {
            s.busy += now - s.busy_since;
            s.busy_since = NEVER;
        }
        self.refresh(server, now);
    }

    /// Notes at the channel which commands the server can take.
    #[inline]
    pub(super) fn refresh(&mut self, server: usize, now: u64) {
        let s = &self.servers[server];
        let waits = |queue: Queue| !s.queues[queue as usize].is_empty();
        let front = waits(Queue::Front);
        let others = waits(Queue::Writes) || waits(Queue::Back);
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
        let channel = &mut self.channels[s.channel as usize];
        let bit = 1_u64 << (server as u32 - channel.first);
        channel.ready[0] = if read { channel.ready[0] | bit } else { channel.ready[0] & !bit };
        channel.ready[1] = if other { channel.ready[1] | bit } else { channel.ready[1] & !bit };
    }

    pub(super) fn may_suspend(&self, s: &Server, now: u64) -> bool {
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
        // a back read whose turn it is needs an idle array
        let back = s.back_turn && !s.queues[Queue::Back as usize].is_empty();
        self.can.cache_program
            && !back
            && s.loaded.0 == NONE
            && s.loading.0 == NONE
            && head != NONE
            && self.slots[s.active.head as usize].op.work == Work::Program
            && self.slots[head as usize].op.work == Work::Program
    }
}
