//! The devices at the endpoints, and what is due for them: shared by the simulators under comparison, because it is not
//! what is compared. Neither queue nor credit nor any link's time is here.

use super::machine::{Kind, Tag, Train};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What a device learns. The order of the variants and fields is the order in which events of one instant are handled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Event {
    /// TLPs `first … first + count − 1` of train `sequence` of endpoint `source`, which has `of` TLPs.
    Delivered {
        source: usize,
        sequence: u32,
        first: u32,
        count: u32,
        of: u32,
        kind: Kind,
        payload_bytes: u64,
        tag: Tag,
    },
    /// The last TLP of a train of the device's own has left.
    Departed { tag: Tag },
    /// The device asked for it.
    Timer { token: u64 },
}

/// What a device does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    /// Hands in a train; `ready_ps` is at least the endpoint's lookahead from now and never decreases.
    HandIn { ready_ps: u64, train: Train },
    /// Takes `count` TLPs out of its receive buffer at `at_ps`, which is at least the endpoint's lookahead from now
    /// and never decreases.
    Release { at_ps: u64, kind: Kind, payload_bytes: u64, count: u32 },
    /// Wants a `Timer` event.
    Timer { at_ps: u64, token: u64 },
}

/// A device.
pub trait Script {
    fn start(&mut self) -> Vec<Action>;
    fn react(&mut self, now_ps: u64, event: Event) -> Vec<Action>;
}

/// Something that was delivered to an endpoint, or a notice to it, in an order of its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Seen {
    pub endpoint: usize,
    pub at_ps: u64,
    pub event: Event,
}

/// All devices and their future.
pub struct World {
    scripts: Vec<Box<dyn Script>>,
    agenda: BinaryHeap<Reverse<(u64, usize, Event)>>,
    seen: Vec<Seen>,
    /// TLPs and bytes of payload handed in and not delivered yet.
    under_way: (i64, i64),
}

impl World {
    pub fn new(scripts: Vec<Box<dyn Script>>) -> Self {
        Self { scripts, agenda: BinaryHeap::new(), seen: Vec::new(), under_way: (0, 0) }
    }
    /// What the devices do at the start of the run.
    pub fn start(&mut self) -> Vec<(usize, Action)> {
        (0..self.scripts.len())
            .flat_map(|endpoint| {
                let actions = self.scripts[endpoint].start();
                self.keep_timers(endpoint, actions)
            })
            .collect()
    }
    pub fn next_ps(&self) -> Option<u64> {
        self.agenda.peek().map(|Reverse((at, ..))| *at)
    }
    /// Lets a device react to the next event; returns what is for the links. Call it while [`Self::next_ps`] is now.
    pub fn step(&mut self) -> Vec<(usize, Action)> {
        let Reverse((now, endpoint, event)) = self.agenda.pop().expect("the caller looked at next_ps");
        let actions = self.scripts[endpoint].react(now, event);
        self.keep_timers(endpoint, actions)
    }
    /// A link has something for a device.
    pub fn expect(&mut self, endpoint: usize, at_ps: u64, event: Event) {
        if let Event::Delivered { count, payload_bytes, .. } = event {
            self.count(-i64::from(count), payload_bytes);
        }
        self.seen.push(Seen { endpoint, at_ps, event });
        self.agenda.push(Reverse((at_ps, endpoint, event)));
    }
    /// A port sends a message of its own.
    pub fn sends_message(&mut self) {
        self.count(1, 0);
    }
    /// Everything that was delivered or noticed, sorted.
    ///
    /// # Panics
    /// If what was handed in and what was delivered differ in the number of TLPs or in bytes.
    pub fn into_seen(mut self) -> Vec<Seen> {
        assert_eq!(self.under_way, (0, 0), "TLPs and bytes are conserved");
        self.seen.sort_unstable();
        self.seen
    }
    /// Everything that was delivered or noticed up to the end of an instant, sorted.
    pub fn into_seen_until(mut self, end_ps: u64) -> Vec<Seen> {
        self.seen.retain(|seen| seen.at_ps <= end_ps);
        self.seen.sort_unstable();
        self.seen
    }
    fn keep_timers(&mut self, endpoint: usize, actions: Vec<Action>) -> Vec<(usize, Action)> {
        let mut rest = Vec::new();
        for action in actions {
            if let Action::Timer { at_ps, token } = action {
                self.agenda.push(Reverse((at_ps, endpoint, Event::Timer { token })));
            } else {
                if let Action::HandIn { train, .. } = action {
                    self.count(i64::from(train.count), train.payload_bytes);
                }
                rest.push((endpoint, action));
            }
        }
        rest
    }
    fn count(&mut self, tlps: i64, payload_bytes: u64) {
        self.under_way.0 += tlps;
        self.under_way.1 += tlps * payload_bytes as i64;
    }
}

/// A device that hands in a fixed list of trains and otherwise only receives.
pub struct Recital(pub Vec<(u64, Train)>);

impl Script for Recital {
    fn start(&mut self) -> Vec<Action> {
        self.0.drain(..).map(|(ready_ps, train)| Action::HandIn { ready_ps, train }).collect()
    }
    fn react(&mut self, _now_ps: u64, _event: Event) -> Vec<Action> {
        Vec::new()
    }
}
