//! An Ethernet switch: a frame is admitted to a shared buffer, queues for its output port, and is sent.
//!
//! ```text
//!  ingress ── admitted? ──► buffer ── latency ──► queue of (port, priority) ──► wire
//!                 │                                    strict priority,
//!                 └─ no room: dropped                  else the order of time
//! ```
//!
//! * **Admission.** When its first bit arrives, a frame is admitted or dropped (tail drop). It occupies the buffer
//!   until its last bit has been sent.
//! * **Forwarding.** Cut-through: a frame may be sent `latency` after its first bit has arrived. Store-and-forward:
//!   `latency` after its last bit. A cut-through switch stores frames for a faster output, which would otherwise
//!   underrun.
//! * **Scheduling.** A port sends the ready frame of the highest priority; among equals the one that was ready first,
//!   and at equal times the one from the lower ingress port.
//! * **Watchdog.** With [`WatchdogSpec`], a queue that its peer pauses for ever is in a storm: `watchdog`.
//! * **Pause.** With [`PauseSpec`], frames of lossless priorities use buffer space reserved for their ingress port.
//!   When that runs short, the peer is paused: the pause frame may be sent `latency` after the frame that caused it,
//!   ahead of all other frames. A pause frame that arrives stops its priorities at that port.
//!
//! **Batches.** The switch decides everything that lies before its [`Horizon`], the earliest time at which an unknown
//! frame could have an effect. A train that nothing else can affect before the horizon passes in one step. Neither the
//! horizon nor the batch size changes a departure: `tests/switches` compares with a naive reference that has an event
//! for every frame.
//!
//! Not modelled here: the cable ([`Departure`] says when the first bit is sent), weighted queues, address learning.

mod buffer;
mod egress;
mod ingress;
mod ledger;
mod marking;
mod passing;
mod queue;
mod storms;
mod watchdog;

use super::pause::Pause;
use super::topology::Forwarding;
use super::train::Train;
use crate::ethernet::spec::{Rate, pause_frame_time};
use buffer::{Admission, Buffer};
pub use buffer::{BufferSpec, PRIORITIES};
use egress::{Egress, NEVER, Start, Starts, body_ps, replace_first, wire_ps};
use ingress::{Ingress, Taken};
pub use ingress::{PauseSpec, Scope};
use ledger::{Entry, Event, Ledger};
pub use ledger::{PortCounts, SwitchCounts};
pub use marking::Marking;
use queue::Waiting;
use std::cmp::Reverse;
use std::collections::{BTreeSet, VecDeque};
use watchdog::Watchdog;
pub use watchdog::{StormAction, WatchdogSpec};

/// How a switch forwards frames.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// `latency` after the first bit has arrived.
    CutThrough,
    /// `latency` after the last bit has arrived.
    StoreAndForward,
}

/// The configuration of a switch.
#[derive(Clone, Debug)]
pub struct SwitchSpec {
    /// The line rate of each port; none for an empty port.
    pub ports: Vec<Option<Rate>>,
    /// How frames are forwarded.
    pub mode: Mode,
    /// Latency \[ps\]: first bit in to first bit out (cut-through), or last bit in to first bit out
    /// (store-and-forward).
    pub latency_ps: u64,
    /// Its buffer.
    pub buffer: BufferSpec,
    /// Flow control; none for a switch that drops frames and ignores pause frames.
    pub pause: Option<PauseSpec>,
    /// The forwarding table.
    pub forwarding: Forwarding,
}

/// How far ahead a switch may decide: no unknown frame arrives before `arrivals` \[ps\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Horizon {
    /// The earliest time at which an unknown frame may arrive.
    pub arrivals: u64,
    /// Least time from the sending of a frame to the arrival of a response to it.
    pub answer: u64,
    /// Whether frames are decided one at a time (`granularity: tlp`).
    pub singly: bool,
}

/// Frames that a port sends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Departure {
    /// The port.
    pub port: u16,
    /// When the first bit of the first starts \[ps\].
    pub start: u64,
    /// The frames.
    pub train: Train,
}

/// Frames that arrive at a port and have not been admitted yet.
#[derive(Clone, Copy, Debug)]
struct Arrival {
    at: u64,
    /// The port that they leave through; `None` if they have no route.
    way: Option<u16>,
    train: Train,
}

/// The state of a switch. Callers pass the time in ps; it never decreases.
#[derive(Debug)]
pub struct Switch {
    spec: SwitchSpec,
    ingress: Vec<VecDeque<Arrival>>,
    egress: Vec<Option<Egress>>,
    /// The first pending arrival of each ingress port.
    arrivals: Starts,
    /// The next transmission of each egress port; an entry that differs from `Egress::next` is stale and ignored.
    starts: Starts,
    buffer: Buffer,
    /// `None` without flow control.
    lossless: Option<Ingress>,
    /// Known begins and ends of storms of ports.
    storms: BTreeSet<(u64, u16)>,
    /// The shortest time from an arrival to its first effect on what is sent \[ps\].
    effect: u64,
    ledger: Ledger,
    /// For each port the place of its last departure among those that are reported, if one is of it.
    last: Vec<usize>,
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
            egress: spec.ports.iter().map(|rate| Some(egress(&spec, (*rate)?))).collect(),
            arrivals: Starts::new(),
            starts: Starts::new(),
            buffer: Buffer::new(spec.buffer, kept, spec.ports.len()),
            lossless,
            storms: BTreeSet::new(),
            ledger: Ledger::new(spec.ports.len()),
            last: vec![0; spec.ports.len()],
            spec,
        }
    }

    /// A train arrives at a port, the first bit of its first frame at `at`; trains at a port arrive in order.
    pub fn arrive(&mut self, at: u64, port: u16, train: Train) {
        let way = self.way(port, &train);
        let waiting = &mut self.ingress[usize::from(port)];
        if waiting.is_empty() {
            self.arrivals.push(Reverse(Start::new(at, port)));
        }
        waiting.push_back(Arrival { at, way, train });
    }

    /// The earliest time at which an undecided event is due; none if there is nothing to do.
    #[must_use]
    pub fn next_decision(&mut self) -> Option<u64> {
        let arrival = self.arrivals.peek().map_or(NEVER, |Reverse(first)| first.at() + self.effect);
        let pause = self.lossless.as_ref().and_then(Ingress::next_pause);
        let pause = pause.map_or(NEVER, |at| at + self.spec.latency_ps);
        let start = self.next_start().map_or(NEVER, |(at, _)| at);
        let first = arrival.min(pause).min(start).min(self.next_storm().unwrap_or(NEVER));
        (first != NEVER).then_some(first)
    }

    /// Decides everything before the horizon and reports what is sent.
    pub fn decide(&mut self, mut horizon: Horizon, out: &mut Vec<Departure>) {
        let told = out.len();
        loop {
            // whatever is not to be decided yet is never
            let (come, ingress) =
                self.arrivals.peek().map_or((NEVER, 0), |Reverse(first)| (first.at(), first.port()));
            let come = if come < horizon.arrivals { come } else { NEVER };
            let storm = self.next_storm().unwrap_or(NEVER);
            let (start, port) = self.next_start().unwrap_or((NEVER, 0));
            let start = if start < storm.min(horizon.arrivals + self.effect) { start } else { NEVER };
            // a storm begins or ends when all is known that has come by then
            let is_storm = start == NEVER && storm < horizon.arrivals.min(come);
            let first = come.min(start).min(if is_storm { storm } else { NEVER });
            if self.pause_or_resume(horizon.arrivals, first) {
                continue;
            }
            if is_storm {
                self.storm_or_restore();
                continue;
            }
            let left = match first {
                NEVER => break,
                _ if come <= start => self.take_in(ingress, &horizon),
                _ => Some(self.send(port)),
            };
            if let Some(departure) = left {
                horizon.arrivals = horizon.arrivals.min(departure.start + horizon.answer);
                let last = &mut self.last[usize::from(departure.port)];
                let before = out.get_mut(told.max(*last)).filter(|before| before.port == departure.port);
                if horizon.singly || !before.is_some_and(|before| join(before, &departure)) {
                    *last = out.len();
                    out.push(departure);
                }
            }
        }
    }

    /// Gives room back and pauses or resumes a peer, if that is sure before `horizon` and comes before all else, which
    /// is next at `next`; whether it was.
    fn pause_or_resume(&mut self, horizon: u64, next: u64) -> bool {
        let Some(lossless) = &mut self.lossless else { return false };
        let sure = |at: &u64| *at < horizon && *at <= next;
        let Some(at) = lossless.next().filter(sure) else { return false };
        if let Some((port, pause)) = lossless.happen() {
            self.tell_peer(at, port, pause);
        }
        true
    }

    /// Queues a pause frame for the peer of a port at `at`.
    fn tell_peer(&mut self, at: u64, port: u16, pause: Pause) {
        if let Some(egress) = &mut self.egress[usize::from(port)] {
            egress.pauses.push_back((at + self.spec.latency_ps, pause));
            egress.plan(port, &mut self.starts);
        }
    }

    /// The earliest next transmission of all ports, with its port.
    fn next_start(&mut self) -> Option<(u64, u16)> {
        while let Some(&Reverse(start)) = self.starts.peek() {
            let (at, port) = (start.at(), start.port());
            if self.egress[usize::from(port)].as_ref().is_some_and(|egress| egress.next == at) {
                return Some((at, port));
            }
            self.starts.pop();
        }
        None
    }

    /// Admits the next frame of an ingress port, or passes a run of frames through; reports what is sent.
    fn take_in(&mut self, ingress: u16, horizon: &Horizon) -> Option<Departure> {
        let Arrival { at, way, train } = *self.ingress[usize::from(ingress)].front()?;
        if let Some(pause) = Pause::of(&train) {
            self.obey(at, ingress, &train, pause);
            self.pass_on(ingress, train.count);
            return None;
        }
        // the admission of a frame is counted at the earliest time at which it could leave
        let told = at + self.spec.latency_ps;
        let Some(port) = way else {
            self.ledger.add(Entry::of(Event::Stray, told, ingress, &train));
            self.pass_on(ingress, train.count);
            return None;
        };
        let priority = train.class.priority();
        // in a storm its end is to come
        let storms = !self.storms.is_empty();
        if storms && (self.drops_in_storm(port, priority) || self.drops_in_storm(ingress, priority)) {
            self.ledger.add(Entry::of(Event::Discarded, told, port, &train.first(1)));
            self.pass_on(ingress, 1);
            return None;
        }
        if !horizon.singly {
            let until = self.second_arrival().min(self.next_storm().unwrap_or(NEVER)).min(horizon.arrivals);
            if let Some(departure) = self.pass((ingress, port), (at, &train), (until, 1)) {
                self.pass_on(ingress, departure.train.count);
                return Some(departure);
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

    /// First arrival at another port than that of the very first arrival.
    fn second_arrival(&self) -> u64 {
        // in a heap it is one of the two children of the root
        let at = |place: usize| self.arrivals.as_slice().get(place).map_or(NEVER, |Reverse(next)| next.at());
        at(1).min(at(2))
    }

    /// Admits a frame if its ingress reservation and its egress queue both have room for it.
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

    /// Releases the buffer of frames from `ingress` that were sent at `port`, the last bit of the first at `at`.
    fn release(&mut self, at: (u64, u64), (ingress, port): (u16, u16), frame: &Train, count: u16) {
        let priority = frame.class.priority();
        self.buffer.release(at, (port.into(), priority), (frame.bytes, count));
        if let Some(lossless) = &mut self.lossless {
            lossless.leave(at, (ingress, priority), (self.spec.buffer.room_for(frame.bytes), count));
        }
    }

    /// The time from the arrival of a frame's first bit until it may be sent at a port \[ps\].
    fn delay(&self, train: &Train, rate_in: Rate, port: u16) -> u64 {
        let faster = self.egress[usize::from(port)].as_ref().is_some_and(|egress| egress.rate > rate_in);
        let stored = self.spec.mode == Mode::StoreAndForward || faster;
        self.spec.latency_ps + if stored { body_ps(rate_in, train) } else { 0 }
    }

    /// Queues a frame that was admitted at `frame.from`.
    fn enqueue(&mut self, port: u16, frame: Waiting) {
        let Some(rate_in) = self.spec.ports[usize::from(frame.ingress)] else { return };
        let from = frame.from + self.delay(&frame.train, rate_in, port);
        if let Some(egress) = &mut self.egress[usize::from(port)] {
            egress.put(Waiting { from, ..frame });
            // a frame that cannot start before the present next one changes nothing
            if from.max(egress.free) < egress.next {
                egress.plan(port, &mut self.starts);
            }
        }
    }

    /// Removes the first `count` frames of an ingress port, which have been dealt with.
    fn pass_on(&mut self, ingress: u16, count: u16) {
        let waiting = &mut self.ingress[usize::from(ingress)];
        if let Some(first) = waiting.front_mut() {
            if first.train.count > count {
                first.at = first.train.start_of(first.at, count);
                first.train = first.train.after(count);
            } else {
                waiting.pop_front();
            }
        }
        let next = waiting.front().map_or(NEVER, |next| next.at);
        replace_first(&mut self.arrivals, next, ingress);
    }

    /// Sends the next frame of a port.
    fn send(&mut self, port: u16) -> Departure {
        let egress = self.egress[usize::from(port)].as_mut().expect("what starts has a way out");
        let start = egress.next;
        if let Some(pause) = egress.take_pause(start) {
            let train = pause.frame();
            egress.free = start + wire_ps(egress.rate, &train);
            egress.go_on(port, &mut self.starts);
            self.ledger.add(Entry::of(Event::Told { ends: pause.quanta == 0 }, start, port, &train));
            return Departure { port, start, train };
        }
        let Waiting { from, train, ingress } = egress.take(start).expect("something can leave at its start");
        egress.free = start + wire_ps(egress.rate, &train);
        let gone = start + body_ps(egress.rate, &train);
        egress.go_on(port, &mut self.starts);
        self.release((gone, 0), (ingress, port), &train, 1);
        let waited = start - from;
        self.ledger.add(Entry::of(Event::Sent { waited }, start, port, &train));
        Departure { port, start, train }
    }

    /// Brings the counters up to `now`.
    pub fn happen(&mut self, now: u64) {
        self.ledger.happen(now);
        if self.lossless.is_some() {
            self.egress.iter_mut().flatten().for_each(|egress| egress.gate.settle(now));
        }
    }
    /// The counters as of `now`, which never decreases.
    #[must_use]
    pub fn counts(&self, now: u64) -> SwitchCounts {
        let mut counts = self.ledger.counts(now);
        for (port, egress) in counts.ports.iter_mut().zip(&self.egress) {
            port.closed_ps =
                egress.as_ref().map_or(0, |own| own.gate.closed_ps(now).into_iter().max().unwrap_or(0));
        }
        counts
    }
    /// The configuration.
    #[must_use]
    pub const fn spec(&self) -> &SwitchSpec {
        &self.spec
    }
}

/// The time from the first bit of a pause frame until the port stops beginning frames \[ps\].
fn reaction_ps(spec: &SwitchSpec, rate: Rate, port: u16) -> u64 {
    let response = spec.pause.as_ref().and_then(|pause| pause.response_ps.get(usize::from(port)));
    response.map_or(NEVER / 4, |response| pause_frame_time(rate).as_ps() + response)
}

/// An empty way out.
fn egress(spec: &SwitchSpec, rate: Rate) -> Egress {
    let mut egress = Egress::new(rate);
    let watched = spec.pause.as_ref().and_then(|pause| Some((pause.watchdog?, pause.scope.priorities())));
    egress.watchdog = watched.map(|(spec, priorities)| Box::new(Watchdog::new(spec, rate, priorities)));
    egress
}

/// Merges a departure into the last one of its port if it continues that train; returns whether it did.
fn join(before: &mut Departure, departure: &Departure) -> bool {
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
