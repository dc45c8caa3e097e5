//! A requester and a responder, and two channels between them that fail now and then. Time is in units of nothing; a
//! packet takes 100 to send and 1000 to arrive.

use lanetwin_fabric::roce::logic::packet::{Operation, Part, Request, Response};
use lanetwin_fabric::roce::logic::requester::{self, Limits, Outcome, Requester, Work};
use lanetwin_fabric::roce::logic::responder::{Responder, Taken};
use lanetwin_units::mix;
use std::collections::BTreeMap;

/// What goes wrong: in thousandths of packets, and by how much some are late.
#[derive(Clone, Copy, Debug)]
pub struct Faults {
    pub lost: u64,
    pub doubled: u64,
    pub late: u64,
    pub seed: u64,
}

/// A message that was heard whole: its name, what it was, its size.
pub type Whole = (u32, Operation, u32);

/// What both sides have heard.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Heard {
    /// By the responder: SENDs and WRITEs.
    pub arrived: Vec<Whole>,
    /// By the requester: data of READs.
    pub read: Vec<Whole>,
    /// By the requester: what is done.
    pub done: Vec<u32>,
}

enum Event {
    There(Request),
    Back(Response),
    Post,
}

pub struct World {
    requester: Requester,
    responder: Responder,
    faults: Faults,
    drawn: u64,
    now: u64,
    events: BTreeMap<(u64, u64), Event>,
    scheduled: u64,
    /// When each channel can take the next packet.
    free: [u64; 2],
    eager: bool,
    heard: Heard,
    /// What has come so far of the message that is coming, on either side.
    coming: [Option<Whole>; 2],
}

pub const SEND: u64 = 100;
pub const FLIGHT: u64 = 1_000;

impl World {
    pub fn new(limits: Limits, faults: Faults, first: u32, eager: bool) -> Self {
        Self {
            requester: Requester::new(limits, first),
            responder: Responder::new(limits.mtu, first),
            faults,
            drawn: 0,
            now: 0,
            events: BTreeMap::new(),
            scheduled: 0,
            free: [0; 2],
            eager,
            heard: Heard::default(),
            coming: [None; 2],
        }
    }
    fn below(&mut self, n: u64) -> u64 {
        self.drawn += 1;
        mix(self.faults.seed ^ mix(self.drawn)) % n.max(1)
    }
    fn put(&mut self, at: u64, event: Event) {
        self.scheduled += 1;
        self.events.insert((at, self.scheduled), event);
    }
    /// Puts a packet into a channel, which may lose, double or delay it.
    fn send(&mut self, channel: usize, packet: impl Fn() -> Event) {
        self.free[channel] = self.now + SEND;
        let copies = 1 + u64::from(self.below(1000) < self.faults.doubled);
        for _ in 0..copies {
            if self.below(1000) >= self.faults.lost {
                let late =
                    if self.faults.late > 0 && self.below(4) == 0 { self.below(self.faults.late) } else { 0 };
                self.put(self.now + SEND + FLIGHT + late, packet());
            }
        }
    }
    /// Sends whatever can be sent now, and comes back when more can be.
    fn pump(&mut self) {
        if self.free[0] <= self.now
            && let Some(request) = self.requester.send(self.now)
        {
            self.send(0, || Event::There(request));
        }
        if self.free[1] <= self.now
            && let Some(response) = self.responder.send()
        {
            self.send(1, || Event::Back(response));
        }
    }
    /// When something may have to be done next that no packet brings about.
    fn next_wake(&self) -> u64 {
        let more = self.requester.ready().map(|at| at.max(self.free[0]));
        let answers = self.responder.look().map(|_| self.free[1]);
        let wakes = more.into_iter().chain(answers).chain(self.requester.deadline());
        wakes.min().map_or(u64::MAX, |at| at.max(self.now + 1))
    }
    /// One more part of a message on a side: parts come once, in order, and are whole at the end.
    fn part(&mut self, side: usize, operation: Operation, part: Part) {
        let before = self.coming[side].take().unwrap_or((part.message, operation, 0));
        assert_eq!(before, (part.message, operation, part.offset), "{part:?} comes out of turn");
        let so_far = (part.message, operation, part.offset + part.bytes);
        if !part.last {
            self.coming[side] = Some(so_far);
        } else if side == 0 {
            self.heard.arrived.push(so_far);
        } else {
            self.heard.read.push(so_far);
        }
    }
    fn handle(&mut self, event: Event) {
        match event {
            Event::There(request) => match self.responder.receive(request) {
                Taken::Data(operation, part) => self.part(0, operation, part),
                Taken::Read(_) | Taken::Nothing => {}
            },
            Event::Back(response) => {
                let mut told = Vec::new();
                self.requester.receive(self.now, response, &mut told).expect("the channel is not cut");
                for outcome in told {
                    match outcome {
                        Outcome::Data(part) => self.part(1, Operation::Read, part),
                        Outcome::Done(message) => self.heard.done.push(message),
                    }
                }
            }
            Event::Post => self.responder.post(1),
        }
    }
    /// Lets everything be done; what was heard.
    pub fn run(mut self, work: &[Work]) -> Heard {
        for one in work {
            self.requester.post(*one);
            if matches!(one.operation, Operation::Send { .. }) {
                let at = if self.eager { 0 } else { self.below(30_000) };
                self.put(at, Event::Post);
            }
        }
        self.go();
        assert_eq!((self.requester.outstanding(), self.coming), (0, [None; 2]), "something is left");
        self.heard
    }
    fn go(&mut self) {
        self.pump();
        while self.requester.outstanding() > 0 {
            let wake = self.next_wake();
            let first = self.events.first_key_value().map_or(u64::MAX, |((at, _), _)| *at);
            let at = wake.min(first);
            assert!(at < 1 << 34, "it never ends");
            self.now = at;
            if first <= wake
                && let Some((_, event)) = self.events.pop_first()
            {
                self.handle(event);
            }
            self.requester.expire(at).expect("the channel is not cut");
            self.pump();
        }
    }
    /// Lets everything be done; how long it took, and what the requester has counted.
    pub fn time(mut self, work: &[Work]) -> (u64, requester::Counts) {
        work.iter().for_each(|one| self.requester.post(*one));
        self.go();
        (self.now, self.requester.counts())
    }
}
