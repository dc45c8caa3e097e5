//! The naive reference: one event for each TLP and each thing that comes back, and at every tick at which anything
//! happens every column and every egress is asked what it does. Written from docs/link-model.md; section numbers are
//! that page's. What switches do is in [`super::switch`].

use super::egress::Egress;
use super::machine::{Class, Column, DllpMode, Drain, Machine, Node, Pace, Train};
use super::route;
use super::switch::{Wire, wires};
use super::waiting::{Tlp, Waiting};
use super::world::{Action, Event, Seen, World};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

pub const TICKS_PER_PS: u64 = 1024;

/// Section 8: so many corruptions of one TLP in a row send the link through Recovery.
const REPLAY_NUM: u64 = 4;

/// One TLP on one egress or column: it left at `tick`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Departure {
    /// Columns are counted on behind the egresses of the links: [`Machine::columns`].
    pub egress: usize,
    pub tick: u64,
    pub source: usize,
    /// Of the train, counted at its source.
    pub sequence: u32,
    /// Of the TLP in its train.
    pub index: u32,
}

/// What happened, in an order of its own: two simulators that agree give equal outcomes.
#[derive(PartialEq, Eq, Debug)]
pub struct Outcome {
    pub departures: Vec<Departure>,
    pub seen: Vec<Seen>,
}

/// Runs until nothing but SKPs can happen.
///
/// # Panics
/// If TLPs are stuck then, or credits or replay buffer room have not come back.
pub fn run(machine: &Machine, world: World) -> Outcome {
    let mut simulator = Simulator::new(machine, world);
    simulator.start();
    while let Some(now) = simulator.next_tick() {
        simulator.step(now);
    }
    simulator.finish()
}

/// Runs to the end of an instant: what happened up to then, whatever is still under way.
///
/// # Panics
/// If TLPs are stuck before.
pub fn run_until(machine: &Machine, world: World, end_ps: u64) -> Outcome {
    let end = end_ps * TICKS_PER_PS;
    let mut simulator = Simulator::new(machine, world);
    simulator.start();
    while let Some(now) = simulator.next_tick().filter(|&now| now <= end) {
        simulator.step(now);
    }
    let mut departures = simulator.departures;
    // The attempt that succeeds may lie after the decision to send.
    departures.retain(|departure| departure.tick <= end);
    departures.sort_unstable();
    Outcome { departures, seen: simulator.world.into_seen_until(end_ps) }
}

/// A change that time brings. `at` is an egress or a column.
pub enum Change {
    /// TLPs of one train become eligible at an input.
    Eligible {
        at: usize,
        input: usize,
        tlps: Vec<Tlp>,
    },
    Credits {
        at: usize,
        class: Class,
        payload_bytes: u64,
        count: u64,
    },
    ReplayRoom {
        egress: usize,
        bytes: u64,
    },
    DllpDue {
        egress: usize,
    },
    WireFree,
    LinkUp,
    /// The next SKP of an egress is due.
    SkpDue {
        egress: usize,
    },
}

impl Change {
    fn is_effect(&self) -> bool {
        !matches!(self, Self::WireFree | Self::SkpDue { .. })
    }
}

pub struct Simulator<'a> {
    pub machine: &'a Machine,
    world: World,
    pub egresses: Vec<Egress>,
    pub columns: Vec<Column>,
    /// The wires of the cores.
    pub wires: Vec<Wire>,
    /// What waits at the egresses, then what waits at the columns.
    pub waiting: Vec<Waiting>,
    paths: BTreeMap<(usize, usize), Vec<usize>>,
    pub trains: Vec<(usize, u32, Train)>,
    /// Trains handed in so far, for each endpoint.
    handed_in: Vec<u32>,
    changes: BinaryHeap<Reverse<(u64, usize)>>,
    /// What the entries of `changes` stand for.
    bodies: Vec<Option<Change>>,
    /// Changes ahead that are neither `SkpDue` nor `WireFree`, which alone do not keep a run going.
    effects_ahead: usize,
    /// Ticks looked at since an effect or a device was last seen.
    quiet_ticks: u32,
    /// The last tick at which everything was decided.
    decided: Option<u64>,
    pub departures: Vec<Departure>,
}

impl<'a> Simulator<'a> {
    fn new(machine: &'a Machine, world: World) -> Self {
        let columns = machine.columns();
        let transmitters = (0..machine.egresses()).map(|egress| machine.transmitter(egress));
        let nodes = transmitters.chain(columns.iter().map(|column| Node::Switch(column.switch)));
        let waiting = nodes.enumerate().map(|(at, node)| Waiting::new(machine, node, machine.credits(at)));
        let mut simulator = Self {
            machine,
            world,
            egresses: (0..machine.egresses()).map(|egress| Egress::new(machine, egress)).collect(),
            waiting: waiting.collect(),
            wires: wires(machine, &columns),
            columns,
            paths: BTreeMap::new(),
            trains: Vec::new(),
            handed_in: vec![0; machine.endpoints.len()],
            changes: BinaryHeap::new(),
            bodies: Vec::new(),
            effects_ahead: 0,
            quiet_ticks: 0,
            decided: None,
            departures: Vec::new(),
        };
        for egress in 0..machine.egresses() {
            let lumps = machine.links[egress / 2].dllp == DllpMode::Lump;
            if lumps || machine.links[egress / 2].directions.iter().any(|one| one.skp_ticks.is_some()) {
                simulator.foresee_skp(egress);
            }
        }
        simulator
    }

    fn start(&mut self) {
        let actions = self.world.start();
        self.act(0, actions);
    }

    /// All that happens at this tick.
    fn step(&mut self, now: u64) {
        self.change(now);
        for wire in 0..self.wires.len() {
            self.decide_core(wire, now);
        }
        // Where a switch has no latency a TLP is at its egress as soon as it starts on its column.
        self.change(now);
        for egress in 0..self.machine.egresses() {
            self.decide(egress, now);
        }
        self.decided = Some(now);
    }

    /// The next tick at which anything can change; none if only SKPs are left.
    ///
    /// # Panics
    /// If TLPs wait for nothing.
    fn next_tick(&mut self) -> Option<u64> {
        let device = self.world.next_ps().map(|ps| ps * TICKS_PER_PS);
        if device.is_none() && self.effects_ahead == 0 {
            if self.waiting.iter().all(Waiting::is_empty) {
                return None;
            }
            self.quiet_ticks += 1;
            assert!(self.quiet_ticks < 100_000, "TLPs are stuck");
        } else {
            self.quiet_ticks = 0;
        }
        let change = self.changes.peek().map(|Reverse((tick, _))| *tick);
        device.into_iter().chain(change).min()
    }

    pub fn foresee(&mut self, tick: u64, change: Change) {
        self.effects_ahead += usize::from(change.is_effect());
        self.changes.push(Reverse((tick, self.bodies.len())));
        self.bodies.push(Some(change));
    }

    fn foresee_skp(&mut self, egress: usize) {
        let due = self.egresses[egress].next_skp * self.machine.direction(egress).skp_period_ticks;
        self.foresee(due, Change::SkpDue { egress });
    }

    /// Everything that carries this time, before any decision that could depend on it.
    ///
    /// # Panics
    /// If something carries a time for which everything has been decided.
    fn change(&mut self, now: u64) {
        let is_late = self.decided.is_some_and(|decided| now <= decided);
        loop {
            if self.world.next_ps().is_some_and(|ps| ps * TICKS_PER_PS == now) {
                assert!(!is_late, "a device at {now}");
                let actions = self.world.step();
                self.act(now, actions);
            } else if self.changes.peek().is_some_and(|Reverse((tick, _))| *tick == now) {
                let Reverse((_, body)) = self.changes.pop().expect("just seen");
                let change = self.bodies[body].take().expect("each change comes once");
                self.effects_ahead -= usize::from(change.is_effect());
                assert!(!(is_late && change.is_effect()), "an effect at {now}");
                self.apply(change);
            } else {
                return;
            }
        }
    }

    fn apply(&mut self, change: Change) {
        match change {
            Change::Eligible { at, input, tlps } => self.waiting[at].inputs[input].extend(tlps),
            Change::Credits { at, class, payload_bytes, count } => {
                self.waiting[at].return_credits(class, payload_bytes, count);
            }
            Change::ReplayRoom { egress, bytes } => {
                let room = &mut self.egresses[egress].replay_room;
                *room = room.map(|left| left + bytes);
            }
            Change::DllpDue { egress } => self.egresses[egress].dllps_due += 1,
            Change::SkpDue { egress } => {
                self.egresses[egress].skp_falls_due();
                self.foresee_skp(egress);
            }
            Change::WireFree | Change::LinkUp => {}
        }
    }

    fn act(&mut self, now: u64, actions: Vec<(usize, Action)>) {
        for (endpoint, action) in actions {
            match action {
                Action::HandIn { ready_ps, train } => self.hand_in(now, endpoint, ready_ps, train),
                Action::Release { at_ps, kind, payload_bytes, count } => {
                    let egress = (0..self.machine.egresses())
                        .find(|&egress| self.machine.receiver(egress) == Node::Endpoint(endpoint))
                        .expect("an endpoint has a link");
                    self.assert_word_kept(now, endpoint, at_ps);
                    let tick = (at_ps + self.machine.direction(egress).credit_latency_ps) * TICKS_PER_PS;
                    let (class, count) = (kind.class(), u64::from(count));
                    self.foresee(tick, Change::Credits { at: egress, class, payload_bytes, count });
                }
                Action::Timer { .. } => unreachable!("the world keeps its own timers"),
            }
        }
    }

    /// A device's promise is part of the machine: engine and reference are only equal for devices that keep it.
    fn assert_word_kept(&self, now: u64, endpoint: usize, at_ps: u64) {
        let lookahead = self.machine.endpoints[endpoint].lookahead_ps * TICKS_PER_PS;
        assert!(at_ps * TICKS_PER_PS >= now + lookahead, "endpoint {endpoint} breaks its word at {now}");
    }

    fn hand_in(&mut self, now: u64, endpoint: usize, ready_ps: u64, train: Train) {
        self.assert_word_kept(now, endpoint, ready_ps);
        let eligible = ready_ps * TICKS_PER_PS;
        let machine = self.machine;
        let path = self
            .paths
            .entry((endpoint, train.destination))
            .or_insert_with(|| route::path(machine, endpoint, train.destination));
        let (at, relaxed) = (path[0], train.relaxed);
        let tlps = (0..train.count)
            .map(|index| {
                let (train, pace) = (self.trains.len(), machine.direction(at).pace());
                Tlp { train, index, hop: 0, eligible, relaxed, pace }
            })
            .collect();
        self.trains.push((endpoint, self.handed_in[endpoint], train));
        self.handed_in[endpoint] += 1;
        let input = train.kind.class() as usize;
        self.foresee(eligible, Change::Eligible { at, input, tlps });
    }

    /// Section 4, as long as the wire is free.
    fn decide(&mut self, egress: usize, now: u64) {
        while self.egresses[egress].link_free <= now {
            if let Some(up) = self.machine.links[egress / 2].up_again(now) {
                self.egresses[egress].wait_until(up);
                self.foresee(up, Change::LinkUp);
                return;
            }
            let pace = self.machine.links[egress / 2].pace(egress % 2, now);
            let at = &mut self.egresses[egress];
            if at.skps_due > 0 {
                at.send_skp(now, pace);
            } else if at.dllps_due > 0 {
                at.send_dllp(now, pace);
            } else if let Some(input) = self.waiting[egress].choose(now, at.replay_room, &self.trains) {
                self.leave(egress, input, now, pace);
            } else {
                return;
            }
            let free = self.egresses[egress].link_free;
            self.foresee(free, Change::WireFree);
        }
    }

    /// The first TLP of an input takes the wire.
    fn leave(&mut self, egress: usize, input: usize, now: u64, pace: Pace) {
        let tlp = Tlp { pace, ..self.waiting[egress].take(input, &self.trains) };
        let (source, sequence, train) = self.trains[tlp.train];
        let direction = self.machine.direction(egress);
        let ser = pace.serialisation(train.wire_bytes);
        let propagation = direction.propagation_ps * TICKS_PER_PS;
        let room = &mut self.egresses[egress].replay_room;
        *room = room.map(|left| left - train.wire_bytes);
        let tick = self.attempts(egress, now, train.wire_bytes, ser);
        self.egresses[egress].link_free = tick + ser;
        self.departures.push(Departure { egress, tick, source, sequence, index: tlp.index });

        let arrived = tick + ser + propagation;
        let acknowledged = arrived + direction.ack_latency_ps * TICKS_PER_PS;
        self.foresee(acknowledged, Change::ReplayRoom { egress, bytes: train.wire_bytes });
        self.cause_dllps(egress, tick, arrived);
        if tlp.hop == 0 {
            self.notice(source, &train, tlp.index, tick + ser);
        } else {
            self.has_left_switch(egress, tlp, tick + ser);
        }
        match self.machine.receiver(egress) {
            Node::Switch(switch) => self.pass_on(switch, tlp, tick),
            Node::Endpoint(endpoint) => self.arrive(endpoint, egress, tlp, arrived),
        }
    }

    /// The start of the attempt that succeeds: section 8.
    fn attempts(&mut self, egress: usize, now: u64, wire_bytes: u64, ser: u64) -> u64 {
        let direction = self.machine.direction(egress);
        let (mut tick, mut corrupted) = (now, 0);
        while self.egresses[egress].corrupts(8 * wire_bytes) {
            corrupted += 1;
            tick += ser + (2 * direction.propagation_ps + direction.nak_latency_ps) * TICKS_PER_PS;
            if corrupted % REPLAY_NUM == 0 {
                tick += direction.retrain_ps * TICKS_PER_PS;
            }
        }
        tick
    }

    /// Section 7: what the start of a TLP causes on the opposite direction.
    fn cause_dllps(&mut self, egress: usize, tick: u64, arrived: u64) {
        self.egresses[egress].starts += 1;
        let starts = self.egresses[egress].starts;
        let direction = self.machine.direction(egress);
        let opposite = egress ^ 1;
        for every in [direction.tlps_per_ack, direction.tlps_per_update] {
            if every == 0 || !starts.is_multiple_of(every) {
                continue;
            }
            match self.machine.links[egress / 2].dllp {
                DllpMode::Off => {}
                DllpMode::Lump => {
                    let epoch = tick / self.machine.direction(opposite).skp_period_ticks;
                    *self.egresses[opposite].lumps.entry(epoch).or_default() += 1;
                }
                DllpMode::Each => {
                    let due = arrived + direction.dllp_delay_ps * TICKS_PER_PS;
                    self.foresee(due, Change::DllpDue { egress: opposite });
                }
            }
        }
    }

    fn notice(&mut self, source: usize, train: &Train, index: u32, gone: u64) {
        if train.notice && index + 1 == train.count {
            let event = Event::Departed { tag: train.tag };
            self.world.expect(source, gone.div_ceil(TICKS_PER_PS), event);
        }
    }

    /// The egress that a TLP leaves after so many others.
    pub fn on_path(&self, tlp: Tlp, hop: usize) -> usize {
        let (source, _, train) = &self.trains[tlp.train];
        self.paths[&(*source, train.destination)][hop]
    }

    /// Sections 5 and 9: at the endpoint it was sent to.
    fn arrive(&mut self, endpoint: usize, egress: usize, tlp: Tlp, arrived: u64) {
        let (source, sequence, train) = self.trains[tlp.train];
        let Train { kind, count: of, payload_bytes, tag, .. } = train;
        let drain = &self.machine.endpoints[endpoint].drain;
        let by_itself = matches!(drain, Drain::ByItself);
        let at_ps = arrived.div_ceil(TICKS_PER_PS);
        let part = if by_itself || kind.is_delivered_one_by_one() {
            Some((tlp.index, 1))
        } else {
            (tlp.index + 1 == of).then_some((0, of))
        };
        if let Some((first, count)) = part {
            let event = Event::Delivered { source, sequence, first, count, of, kind, payload_bytes, tag };
            self.world.expect(endpoint, at_ps, event);
        }
        if let Drain::ByLinks { drain_ps, ingest_ps, ingest_bytes_per_second } = *drain {
            let per_payload = ingest_bytes_per_second.map_or(0, |bytes_per_second| {
                nearest(u128::from(payload_bytes) * 1_000_000_000_000 * 1024, u128::from(bytes_per_second))
            });
            let cost = ingest_ps * TICKS_PER_PS + per_payload;
            let before = self.egresses[egress].taken_out;
            let out = before.max(arrived + drain_ps * TICKS_PER_PS) + cost;
            self.egresses[egress].taken_out = out;
            let tick = out + self.machine.direction(egress).credit_latency_ps * TICKS_PER_PS;
            let class = kind.class();
            self.foresee(tick, Change::Credits { at: egress, class, payload_bytes, count: 1 });
        }
    }

    fn finish(mut self) -> Outcome {
        for (number, at) in self.waiting.iter().enumerate() {
            assert!(at.is_empty(), "egress {number}: TLPs are stuck");
            let all = self.machine.credits(number);
            assert_eq!(at.credits, all, "egress {number}: credits have not come back");
        }
        for (number, egress) in self.egresses.iter().enumerate() {
            let all = self.machine.direction(number).replay_buffer_bytes;
            assert_eq!(egress.replay_room, all, "egress {number}: the replay buffer");
        }
        self.departures.sort_unstable();
        Outcome { departures: self.departures, seen: self.world.into_seen() }
    }
}

impl Pace {
    /// The time of so many bytes.
    pub fn serialisation(self, bytes: u64) -> u64 {
        serialisation(self.generation, self.lanes, bytes)
    }
}

/// The time of `bytes` on a wire, to the nearest tick.
pub fn serialisation(generation: u8, lanes: u64, bytes: u64) -> u64 {
    let (ticks, bytes_of_ticks) = byte_time(generation, lanes);
    nearest(u128::from(bytes) * ticks, bytes_of_ticks)
}

/// The time of a byte as a fraction \[ticks\]: a byte of Gen1 and Gen2 is 10 bits, 16 bytes of the others are 130.
pub fn byte_time(generation: u8, lanes: u64) -> (u128, u128) {
    let (bits, bytes_of_bits) = if generation <= 2 { (10, 1) } else { (130, 16) };
    let megatransfers = [2_500, 5_000, 8_000, 16_000, 32_000][usize::from(generation) - 1];
    let micro = 1_000_000 * u128::from(TICKS_PER_PS);
    (bits * micro, bytes_of_bits * megatransfers * u128::from(lanes))
}

/// `a / b` to the nearest whole number, halves up.
fn nearest(a: u128, b: u128) -> u64 {
    u64::try_from((2 * a + b) / (2 * b)).expect("times fit a link's clock")
}
