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
//! * With [`PauseSpec`], frames of lossless priorities have room that is kept for the port where they come in. When
//!   that is short the peer is paused: the pause frame can leave `latency` after what it comes of, before all else. A
//!   pause frame that comes in closes its priorities at that port.
//!
//! **Batched.** Decisions are made as far ahead as nothing unknown can reach: [`Horizon`]. A train that nothing else
//! can touch before the horizon passes in one step. How far ahead, and in how many frames at once, changes no
//! departure: `tests/switches` holds it to a naive reference with an event for whatever happens to a frame.
//!
//! Not here: the cable ([`Departure`] says when the first bit starts); weighted queues; learning of addresses.

mod buffer;
mod egress;
mod ingress;
mod ledger;
mod marking;
mod queue;

use super::pause::Pause;
use super::topology::Forwarding;
use super::train::Train;
use crate::ethernet::spec::{Rate, pause_frame_time};
use buffer::{Admission, Buffer};
pub use buffer::{BufferSpec, PRIORITIES};
use egress::{Egress, NEVER, body_ps, wire_ps};
use ingress::{Ingress, Taken};
pub use ingress::{PauseSpec, Scope};
use ledger::{Entry, Event, Ledger};
pub use ledger::{PortCounts, SwitchCounts};
pub use marking::Marking;
use queue::Waiting;
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
    /// How it pauses its peers and obeys them; none if it drops and takes no notice.
    pub pause: Option<PauseSpec>,
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
    /// None if it pauses nobody.
    lossless: Option<Ingress>,
    /// How long after an arrival it may have an effect on what leaves \[ps\].
    effect: u64,
    ledger: Ledger,
}

impl Switch {
    /// An empty switch.
    #[must_use]
    pub fn new(spec: SwitchSpec) -> Self {
        let lossless = spec.pause.clone().map(|pause| Ingress::new(pause, &spec.ports));
        let kept = spec.pause.as_ref().map(|pause| pause.kept(&spec.ports)).unwrap_or_default();
        let ports = spec.ports.iter().zip(0..);
        let closes = ports.filter_map(|(rate, port)| Some(reaction_ps(&spec, (*rate)?, port)));
        Self {
            effect: closes.chain([spec.latency_ps]).min().unwrap_or(0),
            ingress: spec.ports.iter().map(|_| VecDeque::new()).collect(),
            egress: spec.ports.iter().map(|rate| rate.map(Egress::new)).collect(),
            arrivals: BinaryHeap::new(),
            starts: BinaryHeap::new(),
            buffer: Buffer::new(spec.buffer, kept, spec.ports.len()),
            lossless,
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
        let arrival = self.arrivals.peek().map(|Reverse((at, _))| at + self.effect);
        let pause = self.lossless.as_ref().and_then(Ingress::next_pause).map(|at| at + self.spec.latency_ps);
        let start = self.next_start().map(|(at, _)| at);
        arrival.into_iter().chain(pause).chain(start).min()
    }

    /// Decides everything that is sure before the horizon; tells what leaves.
    pub fn decide(&mut self, mut horizon: Horizon, out: &mut Vec<Departure>) {
        let told = out.len();
        loop {
            let arrival = self.arrivals.peek().map(|Reverse(key)| *key);
            let arrival = arrival.filter(|&(at, _)| at < horizon.arrivals);
            let start = self.next_start();
            let start = start.filter(|&(at, _)| at < horizon.arrivals + self.effect);
            if self.pause_or_resume(horizon.arrivals, arrival.into_iter().chain(start).min()) {
                continue;
            }
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

    /// Gives room back and pauses or resumes a peer, if that is sure before `horizon` and comes before all else, which
    /// is next at `next`; whether it was.
    fn pause_or_resume(&mut self, horizon: u64, next: Option<(u64, u16)>) -> bool {
        let Some(lossless) = &mut self.lossless else { return false };
        let sure = |at: &u64| *at < horizon && next.is_none_or(|(next, _)| *at <= next);
        let Some(at) = lossless.next().filter(sure) else { return false };
        if let Some((port, pause)) = lossless.happen() {
            self.tell_peer(at, port, pause);
        }
        true
    }

    /// A pause frame is made for the peer of a port at `at`.
    fn tell_peer(&mut self, at: u64, port: u16, pause: Pause) {
        if let Some(egress) = &mut self.egress[usize::from(port)] {
            egress.pauses.push_back((at + self.spec.latency_ps, pause));
            egress.plan(port, &mut self.starts);
        }
    }

    /// A pause frame comes in at a port, the first bit at `at`.
    fn obey(&mut self, at: u64, port: u16, frame: &Train, pause: Pause) {
        let Some(rate) = self.spec.ports[usize::from(port)] else { return };
        let effect = at + reaction_ps(&self.spec, rate, port);
        let egress = self.egress[usize::from(port)].as_mut().filter(|_| self.lossless.is_some());
        let Some(egress) = egress else { return };
        egress.gate.hear(effect, pause);
        egress.plan(port, &mut self.starts);
        self.ledger.add(Entry::of(Event::Heard { ends: pause.quanta == 0 }, effect, port, frame));
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
        if let Some(pause) = Pause::of(&train) {
            self.obey(at, ingress, &train, pause);
            self.pass_on(ingress, train.count);
            return None;
        }
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
        let frame = train.first(1);
        match self.admit(at, (ingress, port), &frame) {
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

    /// Takes a frame in, if there is room for it where it came in and where it goes to.
    fn admit(&mut self, at: u64, (ingress, port): (u16, u16), frame: &Train) -> Admission {
        let (priority, room) = (frame.class.priority(), self.spec.buffer.room_for(frame.bytes));
        let own = (ingress, priority);
        if self.lossless.as_ref().is_some_and(|lossless| !lossless.has_room(own, room)) {
            return Admission::Refused;
        }
        let admission = self.buffer.admit(at, (port.into(), priority), frame);
        if admission != Admission::Refused
            && let Some(lossless) = &mut self.lossless
            && let Taken::Pausing(pause) = lossless.take(at, own, room)
        {
            self.tell_peer(at, ingress, pause);
        }
        admission
    }

    /// As many frames at the head of a port as surely leave as they come, in one step: the way out is idle, its wire is
    /// fast enough, there is room, and nothing else can be admitted before `until`.
    fn pass_through(&mut self, (ingress, port): (u16, u16), until: u64) -> Option<Departure> {
        let Arrival { at, train } = *self.ingress[usize::from(ingress)].front()?;
        let rate_in = self.spec.ports[usize::from(ingress)]?;
        let start = at + self.delay(&train, rate_in, port);
        let spacing = u64::from(train.spacing_ps);
        if self.lossless.as_ref().is_some_and(|lossless| lossless.pauses(port)) {
            return None;
        }
        let egress = self.egress[usize::from(port)].as_ref()?;
        let length = wire_ps(egress.rate, &train);
        if !egress.gate.is_idle(start)
            || egress.next != NEVER
            || start < egress.free
            || spacing < length
            || until + self.effect <= start
        {
            return None;
        }
        let sure = (until + self.effect - 1 - start).checked_div(spacing)? + 1;
        let count = sure.min(train.count.into()) as u16;
        let gone = start + body_ps(egress.rate, &train);
        let at_once = (gone - at).div_ceil(spacing).min(count.into());
        let queue = (usize::from(port), train.class.priority());
        if count < 2 || !self.admit_run(at, (ingress, queue), (&train, count, at_once)) {
            return None;
        }
        if let Some(egress) = &mut self.egress[usize::from(port)] {
            egress.free = start + u64::from(count - 1) * spacing + length;
        }
        self.release((gone, spacing), (ingress, port), &train, count);
        let train = train.first(count);
        self.ledger.add(Entry::of(Event::Sent { waited: 0 }, start, port, &train));
        self.pass_on(ingress, count);
        Some(Departure { port, start, train })
    }

    /// Takes `count` frames in, of which at most `at_once` are there at a time, if it is sure that each would be taken
    /// in and nothing else came of it.
    fn admit_run(
        &mut self,
        at: u64,
        (ingress, queue): (u16, (usize, u8)),
        (frame, count, at_once): (&Train, u16, u64),
    ) -> bool {
        let (own, room) = ((ingress, queue.1), self.spec.buffer.room_for(frame.bytes));
        if self.lossless.as_ref().is_some_and(|lossless| !lossless.takes_run(own, room * at_once)) {
            return false;
        }
        let sure = self.buffer.admit_run(at, queue, (frame.bytes, count, at_once));
        if let Some(lossless) = self.lossless.as_mut().filter(|_| sure) {
            lossless.take_run(own, room * u64::from(count));
        }
        sure
    }

    /// Frames that came in at `ingress` have left `port`, the last bit of the first at `at`.
    fn release(&mut self, at: (u64, u64), (ingress, port): (u16, u16), frame: &Train, count: u16) {
        let priority = frame.class.priority();
        self.buffer.release(at, (port.into(), priority), (frame.bytes, count));
        if let Some(lossless) = &mut self.lossless {
            lossless.leave(at, (ingress, priority), (self.spec.buffer.room_for(frame.bytes), count));
        }
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
            egress.put(Waiting { from, ..frame });
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
        if let Some(pause) = egress.take_pause(start) {
            let train = pause.frame();
            egress.free = start + wire_ps(egress.rate, &train);
            egress.plan(port, &mut self.starts);
            self.ledger.add(Entry::of(Event::Told { ends: pause.quanta == 0 }, start, port, &train));
            return Departure { port, start, train };
        }
        let Waiting { from, train, ingress } = egress.take(start).expect("something can leave at its start");
        egress.free = start + wire_ps(egress.rate, &train);
        let gone = start + body_ps(egress.rate, &train);
        egress.plan(port, &mut self.starts);
        self.release((gone, 0), (ingress, port), &train, 1);
        let waited = start - from;
        self.ledger.add(Entry::of(Event::Sent { waited }, start, port, &train));
        Departure { port, start, train }
    }

    /// Counts what has happened up to `now`, the present.
    pub fn happen(&mut self, now: u64) {
        self.ledger.happen(now);
        if self.lossless.is_some() {
            self.egress.iter_mut().flatten().for_each(|egress| egress.gate.settle(now));
        }
    }
    /// What has happened up to `now`, which is not before what was counted already.
    #[must_use]
    pub fn counts(&self, now: u64) -> SwitchCounts {
        let mut counts = self.ledger.counts(now);
        for (port, egress) in counts.ports.iter_mut().zip(&self.egress) {
            port.closed_ps =
                egress.as_ref().map_or(0, |own| own.gate.closed_ps(now).into_iter().max().unwrap_or(0));
        }
        counts
    }
    /// What it is.
    #[must_use]
    pub const fn spec(&self) -> &SwitchSpec {
        &self.spec
    }
}

/// How long after the first bit of a pause frame no frame is begun with at a port \[ps\].
fn reaction_ps(spec: &SwitchSpec, rate: Rate, port: u16) -> u64 {
    let response = spec.pause.as_ref().and_then(|pause| pause.response_ps.get(usize::from(port)));
    response.map_or(NEVER / 4, |response| pause_frame_time(rate).as_ps() + response)
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
