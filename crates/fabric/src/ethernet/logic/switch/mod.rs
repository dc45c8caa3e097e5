//! A switch: what arrives is admitted to a shared buffer, waits for the wire of its port, and leaves.
//!
//! ```text
//!  ingress ── admitted? ──► buffer ── latency ──► queue of (port, priority) ──► wire
//!                 │                                    strict priority,
//!                 └─ no room: dropped                  else the order of time
//! ```
//!
//! * A frame is admitted when its first bit arrives, or dropped (tail drop). It has its room until its last bit left.
//! * Cut-through: it can leave `latency` after its first bit has come. Store-and-forward, and into a faster wire, which
//!   would otherwise run dry: `latency` after its last bit has come.
//! * A wire takes the frame of the highest priority that can leave; among these the one that could first, and of two
//!   at the same time the one from the lower port.
//!
//! **Batched.** Decisions are made as far ahead as nothing unknown can reach: [`Horizon`]. A train that nothing else
//! can touch before the horizon passes in one step. How far ahead, and in how many frames at once, changes no
//! departure: `tests/switches` holds it to a naive reference with an event for whatever happens to a frame.
//!
//! Not here: the cable ([`Departure`] says when the first bit starts); weighted queues; learning of addresses.

mod buffer;
mod ledger;
mod queue;

use super::topology::Forwarding;
use super::train::Train;
use crate::ethernet::spec::{Rate, body_bytes, wire_bytes};
use buffer::{Admission, Buffer};
pub use buffer::{BufferSpec, PRIORITIES};
use ledger::{Entry, Event, Ledger};
pub use ledger::{PortCounts, SwitchCounts};
use queue::{Queue, Waiting};
use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// When a frame can leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A while after its first bit has come.
    CutThrough,
    /// A while after its last bit has come.
    StoreAndForward,
}

/// What a switch is.
#[derive(Clone, Debug)]
pub struct SwitchSpec {
    /// The rate of each port; none where nothing is plugged in.
    pub ports: Vec<Option<Rate>>,
    /// When frames can leave.
    pub mode: Mode,
    /// From the first bit in to the first bit out, or from the last in to the first out \[ps\].
    pub latency_ps: u64,
    /// Its buffer.
    pub buffer: BufferSpec,
    /// Where frames go.
    pub forwarding: Forwarding,
}

/// How far a switch may decide: nothing that is not known yet arrives before `arrivals` \[ps\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Horizon {
    /// The first time at which something may arrive of which nothing is known.
    pub arrivals: u64,
    /// How long after a start of its own something may arrive in answer to it.
    pub answer: u64,
    /// Whether only one frame is decided at a time.
    pub singly: bool,
}

/// Frames that leave.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// The port.
    pub port: u16,
    /// When the first bit of the first starts \[ps\].
    pub start: u64,
    /// The frames.
    pub train: Train,
}

/// What has arrived, or will, at a port and is not admitted yet.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: u64,
    train: Train,
}

/// A way out.
#[derive(Debug)]
struct Egress {
    rate: Rate,
    /// When the wire can take the next frame.
    free: u64,
    queues: [Queue; PRIORITIES],
    /// When the next frame starts, if nothing else comes; never if there is none.
    next: u64,
}

const NEVER: u64 = u64::MAX;

/// A switch. Times are told, in ps, and never decrease.
#[derive(Debug)]
pub struct Switch {
    spec: SwitchSpec,
    ingress: Vec<VecDeque<Arrival>>,
    egress: Vec<Option<Egress>>,
    /// The first arrival of each port that has one.
    arrivals: BinaryHeap<Reverse<(u64, u16)>>,
    /// The next start of each port that has one; those that are not `Egress::next` any more count for nothing.
    starts: BinaryHeap<Reverse<(u64, u16)>>,
    buffer: Buffer,
    ledger: Ledger,
}

impl Switch {
    /// An empty switch.
    #[must_use]
    pub fn new(spec: SwitchSpec) -> Self {
        let egress = |rate: &Option<Rate>| {
            let queues = Default::default();
            rate.map(|rate| Egress { rate, free: 0, queues, next: NEVER })
        };
        Self {
            ingress: spec.ports.iter().map(|_| VecDeque::new()).collect(),
            egress: spec.ports.iter().map(egress).collect(),
            arrivals: BinaryHeap::new(),
            starts: BinaryHeap::new(),
            buffer: Buffer::new(spec.buffer, spec.ports.len()),
            ledger: Ledger::new(spec.ports.len()),
            spec,
        }
    }

    /// A train arrives at a port, the first bit of the first frame at `at`; not before one that arrived there earlier.
    pub fn arrive(&mut self, at: u64, port: u16, train: Train) {
        let waiting = &mut self.ingress[usize::from(port)];
        if waiting.is_empty() {
            self.arrivals.push(Reverse((at, port)));
        }
        waiting.push_back(Arrival { at, train });
    }

    /// The first time at which something may be decided that nobody has been told of yet; none if there is nothing.
    #[must_use]
    pub fn next_decision(&mut self) -> Option<u64> {
        let arrival = self.arrivals.peek().map(|Reverse((at, _))| at + self.spec.latency_ps);
        let start = self.next_start().map(|(at, _)| at);
        arrival.into_iter().chain(start).min()
    }

    /// Decides everything that is sure before the horizon; tells what leaves.
    pub fn decide(&mut self, mut horizon: Horizon, out: &mut Vec<Departure>) {
        let told = out.len();
        loop {
            let arrival = self.arrivals.peek().map(|Reverse(key)| *key);
            let arrival = arrival.filter(|&(at, _)| at < horizon.arrivals);
            let start = self.next_start();
            let start = start.filter(|&(at, _)| at < horizon.arrivals + self.spec.latency_ps);
            let left = match (arrival, start) {
                (Some((at, port)), start) if start.is_none_or(|(start, _)| at <= start) => {
                    self.take_in(port, &horizon)
                }
                (_, Some((_, port))) => Some(self.send(port)),
                (None, None) => break,
                (Some(_), None) => unreachable!("an arrival without a start is taken in"),
            };
            if let Some(departure) = left {
                horizon.arrivals = horizon.arrivals.min(departure.start + horizon.answer);
                if horizon.singly || !join(&mut out[told..], departure) {
                    out.push(departure);
                }
            }
        }
    }

    /// The next start of all, with its port.
    fn next_start(&mut self) -> Option<(u64, u16)> {
        while let Some(&Reverse((at, port))) = self.starts.peek() {
            if self.egress[usize::from(port)].as_ref().is_some_and(|egress| egress.next == at) {
                return Some((at, port));
            }
            self.starts.pop();
        }
        None
    }

    /// Admits the next frame of a port, or several that leave at once; tells those.
    fn take_in(&mut self, ingress: u16, horizon: &Horizon) -> Option<Departure> {
        let Arrival { at, train } = *self.ingress[usize::from(ingress)].front()?;
        // what becomes of a frame is told when it could have left at the earliest
        let told = at + self.spec.latency_ps;
        let port = self.spec.forwarding.port(&train).filter(|port| *port != ingress);
        let way = port.filter(|&port| self.egress[usize::from(port)].is_some());
        let Some(port) = way else {
            self.ledger.add(Entry::of(Event::Stray, told, ingress, &train));
            self.pass_on(ingress, train.count);
            return None;
        };
        if !horizon.singly && train.count > 1 {
            self.arrivals.pop();
            let other = self.arrivals.peek().map_or(NEVER, |Reverse((at, _))| *at);
            self.arrivals.push(Reverse((at, ingress)));
            let departure = self.pass_through((ingress, port), horizon.arrivals.min(other));
            if departure.is_some() {
                return departure;
            }
        }
        let (frame, priority) = (train.first(1), train.class.priority());
        match self.buffer.admit(at, (port.into(), priority), train.bytes) {
            Admission::Taken => self.enqueue(port, Waiting { from: at, ingress, train: frame }),
            Admission::TakenAbove if train.class.is_ecn_capable() => {
                let marked = Train { class: frame.class.marked(), ..frame };
                let new = !frame.class.is_marked();
                self.enqueue(port, Waiting { from: at, ingress, train: marked });
                if new {
                    self.ledger.add(Entry::of(Event::Marked, told, port, &frame));
                }
            }
            Admission::TakenAbove => self.enqueue(port, Waiting { from: at, ingress, train: frame }),
            Admission::Refused => self.ledger.add(Entry::of(Event::Dropped, told, port, &frame)),
        }
        self.pass_on(ingress, 1);
        None
    }

    /// As many frames at the head of a port as surely leave as they come, in one step: the way out is idle, its wire is
    /// fast enough, there is room, and nothing else can be admitted before `until`.
    fn pass_through(&mut self, (ingress, port): (u16, u16), until: u64) -> Option<Departure> {
        let Arrival { at, train } = *self.ingress[usize::from(ingress)].front()?;
        let (latency, rate_in) = (self.spec.latency_ps, self.spec.ports[usize::from(ingress)]?);
        let start = at + self.delay(&train, rate_in, port);
        let spacing = u64::from(train.spacing_ps);
        let egress = self.egress[usize::from(port)].as_mut()?;
        let length = wire_ps(egress.rate, &train);
        if egress.next != NEVER || start < egress.free || spacing < length || until + latency <= start {
            return None;
        }
        let sure = (until + latency - 1 - start).checked_div(spacing)? + 1;
        let count = sure.min(train.count.into()) as u16;
        let gone = start + body_ps(egress.rate, &train);
        let at_once = (gone - at).div_ceil(spacing).min(count.into());
        let queue = (usize::from(port), train.class.priority());
        if count < 2 || !self.buffer.admit_run(at, queue, (train.bytes, count, at_once)) {
            return None;
        }
        egress.free = start + u64::from(count - 1) * spacing + length;
        self.buffer.release((gone, spacing), queue, (train.bytes, count));
        let train = train.first(count);
        self.ledger.add(Entry::of(Event::Sent { waited: 0 }, start, port, &train));
        self.pass_on(ingress, count);
        Some(Departure { port, start, train })
    }

    /// How long after its first bit has come a frame can leave from a port.
    fn delay(&self, train: &Train, rate_in: Rate, port: u16) -> u64 {
        let faster = self.egress[usize::from(port)].as_ref().is_some_and(|egress| egress.rate > rate_in);
        let stored = self.spec.mode == Mode::StoreAndForward || faster;
        self.spec.latency_ps + if stored { body_ps(rate_in, train) } else { 0 }
    }

    /// Puts a frame that was admitted at `frame.from` into its queue.
    fn enqueue(&mut self, port: u16, frame: Waiting) {
        let Some(rate_in) = self.spec.ports[usize::from(frame.ingress)] else { return };
        let from = frame.from + self.delay(&frame.train, rate_in, port);
        if let Some(egress) = &mut self.egress[usize::from(port)] {
            egress.queues[usize::from(frame.train.class.priority())].put(Waiting { from, ..frame });
            egress.plan(port, &mut self.starts);
        }
    }

    /// The first `count` frames of a port are seen to.
    fn pass_on(&mut self, ingress: u16, count: u16) {
        self.arrivals.pop();
        let waiting = &mut self.ingress[usize::from(ingress)];
        if let Some(first) = waiting.front_mut() {
            if first.train.count > count {
                first.at = first.train.start_of(first.at, count);
                first.train = first.train.after(count);
            } else {
                waiting.pop_front();
            }
        }
        if let Some(next) = waiting.front() {
            self.arrivals.push(Reverse((next.at, ingress)));
        }
    }

    /// The frame starts that is next at a port.
    fn send(&mut self, port: u16) -> Departure {
        let egress = self.egress[usize::from(port)].as_mut().expect("what starts has a way out");
        let start = egress.next;
        let ready = |queue: &&mut Queue| queue.head().is_some_and(|head| head <= start);
        let queue = egress.queues.iter_mut().rev().find(ready).expect("something can leave at its start");
        let Waiting { from, train, .. } = queue.take().expect("a queue with a head has a frame");
        egress.free = start + wire_ps(egress.rate, &train);
        let gone = start + body_ps(egress.rate, &train);
        self.buffer.release((gone, 0), (port.into(), train.class.priority()), (train.bytes, 1));
        egress.next = NEVER;
        egress.plan(port, &mut self.starts);
        let waited = start - from;
        self.ledger.add(Entry::of(Event::Sent { waited }, start, port, &train));
        Departure { port, start, train }
    }

    /// Counts what has happened up to `now`, the present.
    pub fn happen(&mut self, now: u64) {
        self.ledger.happen(now);
    }
    /// What has happened up to `now`, which is not before what was counted already.
    #[must_use]
    pub fn counts(&self, now: u64) -> SwitchCounts {
        self.ledger.counts(now)
    }
    /// What it is.
    #[must_use]
    pub const fn spec(&self) -> &SwitchSpec {
        &self.spec
    }
}

impl Egress {
    /// Finds out when the next frame starts.
    fn plan(&mut self, port: u16, starts: &mut BinaryHeap<Reverse<(u64, u16)>>) {
        let head = self.queues.iter().filter_map(Queue::head).min();
        let next = head.map_or(NEVER, |head| head.max(self.free));
        if next < self.next {
            self.next = next;
            starts.push(Reverse((next, port)));
        }
    }
}

/// From the first bit of a frame to the first of the next that follows as closely as it may \[ps\].
fn wire_ps(rate: Rate, train: &Train) -> u64 {
    rate.time_for(wire_bytes(train.bytes.into())).as_ps()
}

/// From the first bit of a frame to its last \[ps\].
fn body_ps(rate: Rate, train: &Train) -> u64 {
    rate.time_for(body_bytes(train.bytes.into())).as_ps()
}

/// Joins a departure to the last one of its port, if it continues that; whether it does.
fn join(told: &mut [Departure], departure: Departure) -> bool {
    let Some(before) = told.iter_mut().rev().find(|before| before.port == departure.port) else {
        return false;
    };
    let (train, next) = (before.train, departure.train);
    let Ok(gap) = u32::try_from(departure.start - before.start) else { return false };
    let Some(count) = train.count.checked_add(next.count) else { return false };
    let spacing_ps = if train.count == 1 { gap } else { train.spacing_ps };
    let even = u64::from(gap) == u64::from(train.count) * u64::from(spacing_ps);
    let alike = next.count == 1 || next.spacing_ps == spacing_ps;
    let joined = even && alike && train.continues_with(&next);
    if joined {
        before.train = Train { count, spacing_ps, ..train };
    }
    joined
}
