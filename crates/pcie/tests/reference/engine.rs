//! The engine in the place of the reference: the same machine, the same devices, its own event loop.

use super::draw::MAX_PAYLOAD;
use super::machine::{
    BitErrors, Class, Core, Direction, DllpMode, Drain, Kind, Link, Machine, Node, OutputBuffer, Pace,
    Switch, Tag, Train, hash,
};
use super::route;
use super::simulator::{Departure, Outcome};
use super::world::{Action, Event, World};
use lanetwin_pcie::link;
use lanetwin_units::{Generation, Instant, LinkRate, Span, Width};
use std::cell::RefCell;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::rc::Rc;

/// How the engine is run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner {
    pub tlp_by_tlp: bool,
    /// Seeds the order of the wakes of one instant, which must not matter.
    pub shuffle: u64,
    /// Runs up to instants that are this far apart in the mean \[ps\], one after another.
    pub slice_ps: Option<u64>,
    /// Promises that no completion has relaxed ordering.
    pub strictly_ordered: bool,
    /// Ports tell endpoint 0 of errors, so long after they notice them \[ps\].
    pub messages_ps: Option<u64>,
}

/// What came out, and the engine's own account of it.
pub struct Run {
    pub outcome: Outcome,
    pub fabric: link::Fabric<Train>,
}

impl Run {
    /// No train is left, and all credits of egresses and columns are back.
    ///
    /// # Errors
    /// Says what is missing.
    pub fn at_rest(&self, machine: &Machine) -> Result<(), String> {
        if self.fabric.under_way() != 0 {
            return Err(format!("{} trains are left", self.fabric.under_way()));
        }
        for egress in 0..machine.egresses() + machine.columns().len() {
            let id = link::EgressId(egress as u16);
            for (class, advertised) in CLASSES.into_iter().zip(machine.credits(egress)) {
                let Some((header, data)) = self.fabric.credits(id, class_of(class)) else { continue };
                if advertised.header.is_some_and(|all| all != header)
                    || advertised.data.is_some_and(|all| all != data)
                {
                    let what = format!("egress {egress} {class:?}");
                    return Err(format!("{what}: {header}, {data} of {advertised:?} are back"));
                }
            }
        }
        Ok(())
    }
}

const CLASSES: [Class; 3] = [Class::Posted, Class::NonPosted, Class::Completion];

/// # Panics
/// If the engine does not accept the machine, or tells of the past.
pub fn run(machine: &Machine, world: World, manner: Manner) -> Run {
    let mut fabric = build(machine, manner);
    fabric.set_tlp_by_tlp(manner.tlp_by_tlp);
    let departures = Rc::new(RefCell::new(Vec::new()));
    let tapped = Rc::clone(&departures);
    fabric.set_tap(Some(Box::new(move |run, _| tapped.borrow_mut().extend(single(run)))));
    let around = Around {
        machine,
        world,
        wakes: BinaryHeap::new(),
        now_ps: 0,
        acting: false,
        end_ps: u64::MAX,
        drawn: vec![0; machine.egresses()],
        recovered: vec![0; machine.egresses()],
        shuffle: manner.shuffle,
        noticed: BinaryHeap::new(),
        messages_ps: manner.messages_ps.unwrap_or(0),
    };
    let mut loop_ = Loop { fabric, around };
    loop_.start();
    let mut slices = 0;
    while let Some(next) = loop_.around.next_ps() {
        if let Some(mean) = manner.slice_ps {
            slices += 1;
            loop_.around.end_ps = next + hash(manner.shuffle, slices) % (2 * mean);
        }
        loop_.run_slice();
    }
    loop_.fabric.set_tap(None);
    let mut departures = departures.take();
    departures.sort_unstable();
    Run { outcome: Outcome { departures, seen: loop_.around.world.into_seen() }, fabric: loop_.fabric }
}

/// A run of departures as one departure for each TLP.
pub fn single(run: &link::Departures) -> impl Iterator<Item = Departure> {
    let run = *run;
    (0..run.count).map(move |n| Departure {
        egress: run.egress.index(),
        tick: run.start + u64::from(n) * run.spacing,
        source: run.from.index(),
        sequence: run.sequence as u32,
        index: u32::from(run.first + n),
    })
}

struct Loop<'a> {
    fabric: link::Fabric<Train>,
    around: Around<'a>,
}

impl Loop<'_> {
    fn start(&mut self) {
        let actions = self.around.world.start();
        self.act(actions);
    }

    /// Up to the end of the slice: at each instant the devices first, then the wakes.
    fn run_slice(&mut self) {
        while let Some(now) = self.around.next_ps().filter(|&next| next <= self.around.end_ps) {
            assert!(now >= self.around.now_ps, "{now} ps lies in the past of {} ps", self.around.now_ps);
            self.around.now_ps = now;
            if self.around.noticed_ps() == Some(now) {
                self.tell_of_error();
            } else if self.around.world.next_ps() == Some(now) {
                let actions = self.around.world.step();
                self.act(actions);
            } else {
                let Reverse((_, _, egress)) = self.around.wakes.pop().expect("next_ps saw it");
                self.fabric.pump(egress, Instant::from_ps(now), &mut self.around);
            }
        }
    }

    /// The port that has noticed an error sends its message.
    fn tell_of_error(&mut self) {
        let Reverse((at, egress)) = self.around.noticed.pop().expect("next_ps saw it");
        let machine = self.around.machine;
        let port = machine.receiver(egress);
        if port == Node::Endpoint(0) {
            return;
        }
        let own = route::path_from(machine, port, 0)[0];
        let train = Train {
            kind: Kind::Message,
            count: 1,
            wire_bytes: 24,
            payload_bytes: 0,
            destination: 0,
            relaxed: false,
            notice: false,
            tag: Tag { purpose: u8::MAX, stream: 0, transfer: 0, bytes: 0 },
        };
        let port = (link::EgressId(own as u16), link::EndpointId(PORTS + own as u16));
        let ready = Instant::from_ps(at + self.around.messages_ps);
        self.around.world.sends_message();
        self.fabric.send_message(port, ready, train_of(train), &mut self.around);
    }

    fn act(&mut self, actions: Vec<(usize, Action)>) {
        let mut more = actions.len();
        for (endpoint, action) in actions {
            more -= 1;
            self.around.acting = more > 0;
            let endpoint = endpoint_id(endpoint);
            match action {
                Action::HandIn { ready_ps, train } => {
                    let ready = Instant::from_ps(ready_ps);
                    self.fabric.submit(endpoint, ready, train_of(train), &mut self.around);
                }
                Action::Release { at_ps, kind, payload_bytes, count } => {
                    let at = Instant::from_ps(at_ps);
                    let tlps = (count as u16, payload_bytes as u16);
                    self.fabric.release(endpoint, at, class_of(kind.class()), tlps, &mut self.around);
                }
                Action::Timer { .. } => unreachable!("the world keeps its own timers"),
            }
        }
        self.fabric.settle(Instant::from_ps(self.around.now_ps), &mut self.around);
    }
}

struct Around<'a> {
    machine: &'a Machine,
    world: World,
    wakes: BinaryHeap<Reverse<(u64, u64, link::EgressId)>>,
    now_ps: u64,
    /// Whether more will be handed in or freed at this instant.
    acting: bool,
    /// The end of the slice, which is part of it.
    end_ps: u64,
    /// Corrupted bits drawn so far, for each egress.
    drawn: Vec<u64>,
    /// Recoveries drawn so far, for each egress.
    recovered: Vec<usize>,
    shuffle: u64,
    /// Errors that ports notice, by when.
    noticed: BinaryHeap<Reverse<(u64, usize)>>,
    messages_ps: u64,
}

/// Ports of links are counted behind endpoints.
const PORTS: u16 = 1_000;

impl Around<'_> {
    fn next_ps(&self) -> Option<u64> {
        let wake = self.wakes.peek().map(|Reverse((at, ..))| *at);
        self.world.next_ps().into_iter().chain(wake).chain(self.noticed_ps()).min()
    }
    fn noticed_ps(&self) -> Option<u64> {
        self.noticed.peek().map(|Reverse((at, _))| *at)
    }
}

impl link::Environment<Train> for Around<'_> {
    fn next_unknown(&mut self) -> Instant {
        if self.acting {
            return Instant::from_ps(self.now_ps);
        }
        // Between slices the outside may do as it likes.
        let outside = self.end_ps.saturating_add(1);
        Instant::from_ps(self.next_ps().map_or(outside, |next| next.min(outside)))
    }
    fn limit(&self) -> Instant {
        Instant::from_ps(self.end_ps)
    }
    fn wake(&mut self, egress: link::EgressId, at: Instant) {
        assert!(at.as_ps() >= self.now_ps, "a wake in the past");
        let order = hash(self.shuffle, u64::from(egress.0));
        self.wakes.push(Reverse((at.as_ps(), order, egress)));
    }
    fn deliver(
        &mut self,
        to: link::EndpointId,
        at: Instant,
        delivery: link::Delivery<Train>,
        _: link::Starts<'_>,
    ) {
        assert!(at.as_ps() > self.now_ps, "a delivery without notice");
        let Train { kind, count: of, payload_bytes, tag, .. } = delivery.user;
        let event = Event::Delivered {
            source: delivery.from.index(),
            sequence: delivery.sequence as u32,
            first: u32::from(delivery.first),
            count: u32::from(delivery.count),
            of,
            kind,
            payload_bytes,
            tag,
        };
        self.world.expect(to.index(), at.as_ps(), event);
    }
    fn departed(&mut self, from: link::EndpointId, at: Instant, _: u64, user: Train) {
        assert!(at.as_ps() > self.now_ps, "a notice without notice");
        self.world.expect(from.index(), at.as_ps(), Event::Departed { tag: user.tag });
    }
    fn noticed(&mut self, egress: link::EgressId, error: link::LinkError, at: Instant) {
        assert!(at.as_ps() > self.now_ps, "an error without notice");
        if error == link::LinkError::BadTlp {
            self.noticed.push(Reverse((at.as_ps(), egress.index())));
        }
    }
    fn clean_bits(&mut self, egress: link::EgressId, bit_error_ratio: f64) -> u64 {
        assert!(bit_error_ratio > 0.0, "no errors are drawn for a perfect link");
        let errors = self.machine.direction(egress.index()).errors.as_ref().expect("so it was declared");
        let n = self.drawn[egress.index()];
        self.drawn[egress.index()] += 1;
        errors.distance(n) - 1
    }
    fn until_recovery(&mut self, egress: link::EgressId, _mean: Span) -> Span {
        let recoveries =
            self.machine.links[egress.index() / 2].recoveries.as_ref().expect("so it was declared");
        let n = self.recovered[egress.index()];
        self.recovered[egress.index()] += 1;
        recoveries.gaps_ps.get(n).map_or(Span::from_ps(u64::MAX), |gap| Span::from_ps(*gap))
    }
}

fn build(machine: &Machine, manner: Manner) -> link::Fabric<Train> {
    let mut builder = link::FabricBuilder::new();
    if manner.strictly_ordered {
        builder.strictly_ordered();
    }
    if let Some(delay) = manner.messages_ps {
        builder.messages(Span::from_ps(delay));
    }
    for endpoint in &machine.endpoints {
        let drain = match endpoint.drain {
            Drain::ByItself => link::Drain::ByDevice,
            Drain::ByLinks { drain_ps, ingest_ps, ingest_bytes_per_second } => link::Drain::ByLink {
                latency: Span::from_ps(drain_ps),
                per_tlp: Span::from_ps(ingest_ps),
                payload_rate: ingest_bytes_per_second.map(LinkRate::bytes_per_second),
            },
        };
        builder.endpoint(link::EndpointSpec { lookahead: Span::from_ps(endpoint.lookahead_ps), drain });
    }
    for switch in &machine.switches {
        builder.switch(switch_of(switch));
    }
    // An output buffer holds the largest TLP.
    let payload_max = machine.least_output_bytes().unwrap_or(MAX_PAYLOAD).min(MAX_PAYLOAD) as u16;
    for link in &machine.links {
        let [a, b] = link.ends.map(attach);
        builder.link(a, b, direction_of(link, 0, payload_max), direction_of(link, 1, payload_max));
    }
    tell_switches(machine, &mut builder);
    for (number, link) in machine.links.iter().enumerate() {
        for outage in &link.outages {
            let (from, until) = (Instant::from_ps(outage.down_ps), Instant::from_ps(outage.up_ps));
            let then = outage.then.map(pace_of);
            builder.outage(link::Outage { link: link_id(number), from, until, then });
        }
    }
    builder.build().expect("a machine that can be built")
}

fn pace_of(pace: Pace) -> link::Pace {
    let generation = Generation::from_number(u64::from(pace.generation)).expect("1 to 5");
    let width = Width::from_lanes(pace.lanes).expect("a width");
    link::Pace { rate: LinkRate::pcie(generation, width), skp: pace.skp_ticks }
}

fn switch_of(switch: &Switch) -> link::SwitchSpec {
    let buffer =
        |output: OutputBuffer| link::OutputBuffer { tlps: output.tlps as u32, data: output.data as u32 };
    link::SwitchSpec {
        latency: Span::from_ps(switch.latency_ps),
        forwarding: match switch.cut_through {
            true => link::Forwarding::CutThrough,
            false => link::Forwarding::StoreAndForward,
        },
        arbitration: match switch.weights {
            None => link::Arbitration::RoundRobin,
            Some(_) => link::Arbitration::Weighted,
        },
        core: switch.core.map(|core| {
            let speed_up = core.speed_up() as u32;
            match core {
                Core::Crossbar { output, .. } => link::Core::Crossbar { speed_up, output: buffer(output) },
                Core::SharedBus { output, .. } => link::Core::SharedBus { speed_up, output: buffer(output) },
                Core::SharedMemory { .. } => link::Core::SharedMemory { speed_up },
            }
        }),
    }
}

/// What is said of ports of switches, which are known by their links.
fn tell_switches(machine: &Machine, builder: &mut link::FabricBuilder) {
    for (number, switch) in machine.switches.iter().enumerate() {
        let id = link::SwitchId(number as u16);
        for (&(from, to), &latency_ps) in &switch.pair_latencies_ps {
            let latency = Span::from_ps(latency_ps);
            builder.latency(link::PairLatency { switch: id, from: link_id(from), to: link_id(to), latency });
        }
        for (&link, &weight) in switch.weights.iter().flatten() {
            builder.weight(link::PortWeight { switch: id, link: link_id(link), weight: weight as u32 });
        }
    }
}

fn link_id(link: usize) -> link::LinkId {
    link::LinkId(link as u16)
}

fn endpoint_id(endpoint: usize) -> link::EndpointId {
    link::EndpointId(endpoint as u16)
}

fn attach(node: Node) -> link::Attach {
    match node {
        Node::Endpoint(n) => link::Attach::Endpoint(endpoint_id(n)),
        Node::Switch(n) => link::Attach::Switch(link::SwitchId(n as u16)),
    }
}

pub fn class_of(class: Class) -> link::Class {
    match class {
        Class::Posted => link::Class::Posted,
        Class::NonPosted => link::Class::NonPosted,
        Class::Completion => link::Class::Completion,
    }
}

fn train_of(train: Train) -> link::Train<Train> {
    link::Train {
        count: train.count as u16,
        class: class_of(train.kind.class()),
        wire_bytes: train.wire_bytes as u16,
        payload: train.payload_bytes as u16,
        to: endpoint_id(train.destination),
        relaxed: train.relaxed,
        notify: train.notice,
        singly: train.kind.is_delivered_one_by_one(),
        user: train,
    }
}

fn direction_of(link: &Link, number: usize, payload_max: u16) -> link::Direction {
    let direction: &Direction = &link.directions[number];
    let generation = Generation::from_number(u64::from(direction.generation)).expect("1 to 5");
    let width = Width::from_lanes(direction.lanes).expect("a width");
    let clocked = link.dllp == DllpMode::Lump || link.directions.iter().any(|one| one.skp_ticks.is_some());
    let narrow = |credits: Option<u64>| credits.map(|number| number as u32);
    link::Direction {
        rate: LinkRate::pcie(generation, width),
        payload_max,
        propagation: Span::from_ps(direction.propagation_ps),
        credits: link::Credits {
            header: direction.credits.map(|class| narrow(class.header)),
            data: direction.credits.map(|class| narrow(class.data)),
            latency: Span::from_ps(direction.credit_latency_ps),
        },
        replay_buffer: direction.replay_buffer_bytes.map(|bytes| bytes as u32),
        ack_latency: Span::from_ps(direction.ack_latency_ps),
        skp: clocked.then_some(link::Skp {
            period: direction.skp_period_ticks,
            duration: direction.skp_ticks.unwrap_or(0),
        }),
        dllps: link::Dllps {
            mode: match link.dllp {
                DllpMode::Off => link::DllpMode::Off,
                DllpMode::Lump => link::DllpMode::Lump,
                DllpMode::Each => link::DllpMode::Each,
            },
            ack_every: direction.tlps_per_ack as u32,
            update_every: direction.tlps_per_update as u32,
            delay: Span::from_ps(direction.dllp_delay_ps),
        },
        errors: link::Errors {
            bit_error_ratio: direction.errors.as_ref().map_or(0.0, BitErrors::ratio),
            nak_latency: Span::from_ps(direction.nak_latency_ps),
            retrain: Span::from_ps(direction.retrain_ps),
            recoveries: link
                .recoveries
                .as_ref()
                .map(|of| link::Recoveries { interval: Span::from_us(1), lasts: Span::from_ps(of.lasts_ps) }),
        },
    }
}
