//! The devices of a random machine: each asks for things, answers what it is asked for, and reacts to what comes back,
//! so that a TLP that is late by one tick moves everything behind it.

use super::machine::{Drain, Kind, Machine, Tag, Train, hash};
use super::world::{Action, Event, Script};
use std::collections::BTreeMap;

/// A stream of transfers that a device keeps going.
#[derive(Clone, Debug)]
pub struct Stream {
    pub target: usize,
    pub transfer: Transfer,
    /// The bytes of one transfer (of one request, for reads).
    pub bytes: u32,
    /// The payload of each TLP but the last.
    pub chunk: u32,
    /// TLPs are this much longer on the wire than their payload.
    pub overhead_bytes: u32,
    pub in_flight: u32,
    pub transfers: u32,
    /// From the end of a transfer to the next one.
    pub think: Delay,
}

/// What a transfer is, and when it is over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// Writes; over when the last has left.
    Write,
    /// Messages without payload, so many; over when the last has left.
    Messages(u32),
    /// Writes; over when the target's completion is back.
    AcknowledgedWrite,
    /// So many read requests; over when all of what they asked for has arrived.
    Read(u32),
}

/// Between `least_ps` and `least_ps + spread_ps`, different each time and always the same.
#[derive(Clone, Copy, Debug)]
pub struct Delay {
    pub least_ps: u64,
    pub spread_ps: u64,
}

/// A device.
#[derive(Clone, Debug)]
pub struct Plan {
    pub streams: Vec<Stream>,
    /// From a request to its answer.
    pub memory: Delay,
    /// The payload of each completion but the last.
    pub completion_chunk: u32,
    pub completion_overhead_bytes: u32,
    pub relaxed: bool,
    /// From the arrival of a TLP to its release, where the endpoint drains by itself.
    pub release: Delay,
    /// Hands in trains as soon as it knows of them, however far ahead; else at the last moment.
    pub early: bool,
    pub seed: u64,
}

const WRITE: u8 = 0;
const ACKNOWLEDGED_WRITE: u8 = 1;
const LAST_OF_ACKNOWLEDGED_WRITE: u8 = 2;
const MESSAGE: u8 = 3;
const READ: u8 = 4;
const ANSWER: u8 = 5;
const ACKNOWLEDGEMENT: u8 = 6;

/// What a timer was set for.
enum Deferred {
    HandIn(Vec<Train>),
    Release(Action),
}

pub struct Actor {
    plan: Plan,
    lookahead_ps: u64,
    drains_by_itself: bool,
    launched: Vec<u32>,
    /// Bytes that have not come back, for each stream and transfer.
    awaited: BTreeMap<(u8, u32), u64>,
    last_ready_ps: u64,
    last_release_ps: u64,
    deferred: BTreeMap<u64, Deferred>,
    /// How many delays have been drawn.
    draws: u64,
    actions: Vec<Action>,
}

impl Actor {
    pub fn new(machine: &Machine, endpoint: usize, plan: Plan) -> Self {
        Self {
            lookahead_ps: machine.endpoints[endpoint].lookahead_ps,
            drains_by_itself: matches!(machine.endpoints[endpoint].drain, Drain::ByItself),
            launched: vec![0; plan.streams.len()],
            plan,
            awaited: BTreeMap::new(),
            last_ready_ps: 0,
            last_release_ps: 0,
            deferred: BTreeMap::new(),
            draws: 0,
            actions: Vec::new(),
        }
    }

    fn draw(&mut self, delay: Delay) -> u64 {
        self.draws += 1;
        delay.least_ps + hash(self.plan.seed, self.draws) % (delay.spread_ps + 1)
    }

    /// Sets a timer for something whose delay has just been drawn.
    fn defer(&mut self, at_ps: u64, what: Deferred) {
        let token = self.draws;
        let before = self.deferred.insert(token, what);
        assert!(before.is_none(), "one timer for each draw");
        self.actions.push(Action::Timer { at_ps, token });
    }

    /// Hands in trains after a delay of the device's own, which is on top of its lookahead.
    fn hand_in_after(&mut self, now_ps: u64, delay: Delay, trains: Vec<Train>) {
        let at = now_ps + self.draw(delay);
        if self.plan.early || at == now_ps {
            self.hand_in(at, trains);
        } else {
            self.defer(at, Deferred::HandIn(trains));
        }
    }

    fn hand_in(&mut self, at_ps: u64, trains: Vec<Train>) {
        let ready_ps = self.last_ready_ps.max(at_ps + self.lookahead_ps);
        self.last_ready_ps = ready_ps;
        self.actions.extend(trains.into_iter().map(|train| Action::HandIn { ready_ps, train }));
    }

    /// Begins the next transfer of a stream, if there is one.
    fn launch(&mut self, now_ps: u64, number: u8) {
        let stream = self.plan.streams[usize::from(number)].clone();
        let transfer = self.launched[usize::from(number)];
        if transfer == stream.transfers {
            return;
        }
        self.launched[usize::from(number)] += 1;
        let tag = |purpose| Tag { purpose, stream: number, transfer, bytes: stream.bytes };
        let trains = match stream.transfer {
            Transfer::Write => stream.writes(tag(WRITE), tag(WRITE)),
            Transfer::AcknowledgedWrite => {
                self.awaited.insert((number, transfer), 1);
                stream.writes(tag(ACKNOWLEDGED_WRITE), tag(LAST_OF_ACKNOWLEDGED_WRITE))
            }
            Transfer::Messages(count) => vec![stream.train(Kind::Message, count, 0, tag(MESSAGE), true)],
            Transfer::Read(count) => {
                self.awaited.insert((number, transfer), u64::from(count) * u64::from(stream.bytes));
                vec![stream.train(Kind::Read, count, 0, tag(READ), false)]
            }
        };
        self.hand_in_after(now_ps, stream.think, trains);
    }

    /// Part of what a transfer awaits has come.
    fn came(&mut self, now_ps: u64, tag: Tag, amount: u64) {
        let key = (tag.stream, tag.transfer);
        let left = self.awaited.get_mut(&key).expect("it was asked for");
        *left -= amount;
        if *left == 0 {
            self.awaited.remove(&key);
            self.launch(now_ps, tag.stream);
        }
    }

    fn complete(&self, to: usize, count: u32, payload: u32, tag: Tag) -> Train {
        Train {
            kind: Kind::Completion,
            count,
            wire_bytes: u64::from(payload + self.plan.completion_overhead_bytes),
            payload_bytes: u64::from(payload),
            destination: to,
            relaxed: self.plan.relaxed,
            notice: false,
            tag,
        }
    }

    fn answer(&mut self, now_ps: u64, to: usize, tag: Tag) {
        let trains = parts(tag.bytes, self.plan.completion_chunk)
            .into_iter()
            .map(|(count, payload)| self.complete(to, count, payload, Tag { purpose: ANSWER, ..tag }))
            .collect();
        self.hand_in_after(now_ps, self.plan.memory, trains);
    }

    fn delivered(&mut self, now_ps: u64, event: Event) {
        let Event::Delivered { source, first, count, of, kind, payload_bytes, tag, .. } = event else {
            return;
        };
        if self.drains_by_itself {
            // One after another, as buffers are emptied.
            let at = self.last_release_ps.max(now_ps + self.draw(self.plan.release));
            self.last_release_ps = at;
            let release = Action::Release { at_ps: at + self.lookahead_ps, kind, payload_bytes, count };
            if self.plan.early {
                self.actions.push(release);
            } else {
                self.defer(at, Deferred::Release(release));
            }
        }
        match tag.purpose {
            READ => self.answer(now_ps, source, tag),
            LAST_OF_ACKNOWLEDGED_WRITE if first + count == of => {
                let train = self.complete(source, 1, 0, Tag { purpose: ACKNOWLEDGEMENT, ..tag });
                self.hand_in_after(now_ps, self.plan.memory, vec![train]);
            }
            ANSWER => self.came(now_ps, tag, u64::from(count) * payload_bytes),
            ACKNOWLEDGEMENT => self.came(now_ps, tag, 1),
            _ => {}
        }
    }
}

impl Script for Actor {
    fn start(&mut self) -> Vec<Action> {
        let first: Vec<u32> = self.plan.streams.iter().map(|stream| stream.in_flight).collect();
        for (number, in_flight) in (0_u8..).zip(first) {
            for _ in 0..in_flight {
                self.launch(0, number);
            }
        }
        std::mem::take(&mut self.actions)
    }

    fn react(&mut self, now_ps: u64, event: Event) -> Vec<Action> {
        match event {
            Event::Delivered { .. } => self.delivered(now_ps, event),
            Event::Departed { tag } => self.launch(now_ps, tag.stream),
            Event::Timer { token } => match self.deferred.remove(&token).expect("it was set") {
                Deferred::HandIn(trains) => self.hand_in(now_ps, trains),
                Deferred::Release(action) => self.actions.push(action),
            },
        }
        std::mem::take(&mut self.actions)
    }
}

impl Stream {
    fn train(&self, kind: Kind, count: u32, payload: u32, tag: Tag, notice: bool) -> Train {
        Train {
            kind,
            count,
            wire_bytes: u64::from(payload + self.overhead_bytes),
            payload_bytes: u64::from(payload),
            destination: self.target,
            relaxed: false,
            notice,
            tag,
        }
    }

    /// A transfer as trains of writes; the last has a tag of its own, and gives notice if the transfer ends with it.
    fn writes(&self, tag: Tag, last: Tag) -> Vec<Train> {
        let parts = parts(self.bytes, self.chunk);
        let end = parts.len() - 1;
        (0..)
            .zip(parts)
            .map(|(at, (count, payload))| {
                let (tag, notice) = if at == end { (last, last.purpose == WRITE) } else { (tag, false) };
                self.train(Kind::Write, count, payload, tag, notice)
            })
            .collect()
    }
}

/// `bytes` in chunks: (how many, of what size), the rest last.
fn parts(bytes: u32, chunk: u32) -> Vec<(u32, u32)> {
    [(bytes / chunk, chunk), (1, bytes % chunk)]
        .into_iter()
        .filter(|&(count, size)| count * size > 0)
        .collect()
}
