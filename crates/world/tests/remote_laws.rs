//! The laws of worlds on random machines with a network: trains and slices change nothing, Little's law is an identity,
//! bytes, frames and credits are conserved, and what is lost in a switch is made good.

use crate::tree::plan;
use lanetwin_kernel::{ComponentId, Stream};
use lanetwin_load::{Results, Side};
use lanetwin_models::ethernet_switch::EthernetSwitch;
use lanetwin_models::roce_nic::{Counts, RoceNic, Unfinished};
use lanetwin_nvme::logic::Direction;
use lanetwin_nvmeof::spec::tcp::DigestTypes;
use lanetwin_nvmeof::throughput::{BothWays, TcpWay};
use lanetwin_pcie::link::{Class, EgressId};
use lanetwin_plan::{Case, Pair, Plan, Variant, WorkloadPlan};
use lanetwin_ports::Value;
use lanetwin_units::{Instant, Span};
use lanetwin_world::World;
use std::fmt::Write;

/// How long a world is loaded.
const LONG: Span = Span::from_us(150);
/// What a command moves besides its data: its capsule and its response \[B\].
const CAPSULES: u64 = 64 + 16;
/// What a frame of TCP has beside its part of the stream when it is in host memory: Ethernet, IPv4, TCP with timestamps
/// \[B\].
const TCP_HEADERS: u64 = 14 + 20 + 20 + 12;

/// How commands and data go.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum By {
    Rdma,
    Tcp,
}

impl By {
    const ALL: [Self; 2] = [Self::Rdma, Self::Tcp];
    /// What a subsystem says of it: of TCP, every combination of digests in turn.
    fn said(self, number: u64) -> String {
        let [header, data] = digests(number);
        match self {
            Self::Rdma => String::new(),
            Self::Tcp => format!(", transport: tcp, header-digest: {header}, data-digest: {data}"),
        }
    }
}

/// Whether the headers and the data of a subsystem with this number have digests.
const fn digests(number: u64) -> [bool; 2] {
    [number & 1 > 0, number & 2 > 0]
}

/// How many machines are tried; more by `LANETWIN_REMOTE_CASES`.
fn cases() -> u64 {
    let asked = std::env::var("LANETWIN_REMOTE_CASES").ok();
    asked.map_or(10, |asked| asked.parse().expect("LANETWIN_REMOTE_CASES is a number"))
}

/// One of the choices.
fn one_of<'a>(draw: &mut Stream, choices: &[&'a str]) -> &'a str {
    choices[draw.below(choices.len() as u64) as usize]
}

/// What an adapter can differ in that costs nothing to say.
fn adapter(draw: &mut Stream) -> String {
    let mut said = String::from("{part: connectx-5-ex, roce.timeout: 4ms");
    for (key, choices) in [
        ("ethernet.mtu", ["1500B", "4200B", "600B"]),
        ("ethernet.rate", ["100", "25", "40"]),
        ("roce.reads", ["16", "1", "2"]),
        ("roce.ack-every", ["256", "1", "7"]),
        ("roce.window", ["32768", "3", "64"]),
        ("tx.ahead", ["64KiB", "4KiB", "16KiB"]),
        ("tx.burst", ["16KiB", "1KiB", "64KiB"]),
        ("wqe.in-doorbell", ["true", "false", "true"]),
        ("port.tags", ["128", "8", "32"]),
    ] {
        let choice = one_of(draw, &choices);
        write!(said, ", {key}: {choice}").expect("a text takes all");
    }
    said + "}"
}

/// Initiators that share targets over one switch, whose buffer is small in one machine of three.
fn machine(number: u64, by: By) -> String {
    let mut draw = Stream::new(number, "remote", "machine");
    let (initiators, targets) = (1 + draw.below(3), 1 + draw.below(2));
    let (mut machine, mut links, mut subsystems) = (String::new(), String::new(), String::new());
    let buffer = one_of(&mut draw, &["16MiB", "16MiB", "24KiB"]);
    let (forwarding, alpha) =
        (one_of(&mut draw, &["cut-through", "store-and-forward"]), one_of(&mut draw, &["1", "1/8"]));
    let tor = format!(
        "{{part: generic-ethernet-switch-100g, buffer: {buffer}, buffer.alpha: {alpha}, forwarding: {forwarding}}}"
    );
    let add = |text: &mut String, line: String| writeln!(text, "  {line}").expect("a text takes all");
    add(&mut machine, format!("tor: {tor}"));
    for i in 0..initiators {
        let engine = one_of(&mut draw, &["libaio", "spdk", "io_uring"]);
        add(&mut machine, format!("host{i}: {{part: generic-host-gen4, driver.engine: {engine}}}"));
        add(&mut machine, format!("nic{i}: {}", adapter(&mut draw)));
        add(&mut links, format!("slot{i}: {{from: host{i}, to: nic{i}}}"));
        add(&mut links, format!("net{i}: {{from: nic{i}, to: tor, cable: {}m}}", 1 + draw.below(50)));
    }
    let mut drives = Vec::new();
    for t in 0..targets {
        let (software, cores) = (one_of(&mut draw, &["nvmet", "spdk"]), draw.below(3));
        let capsule = one_of(&mut draw, &["4KiB", "0B", "16KiB"]);
        add(
            &mut machine,
            format!(
                "box{t}: {{part: generic-host-gen4, cores: {cores}, target.software: {software}, target.in-capsule-data: {capsule}}}"
            ),
        );
        add(&mut machine, format!("far{t}: {}", adapter(&mut draw)));
        add(&mut links, format!("far-slot{t}: {{from: box{t}, to: far{t}}}"));
        add(&mut links, format!("far-net{t}: {{from: tor, to: far{t}}}"));
        let own: Vec<String> = (0..1 + draw.below(2)).map(|d| format!("ssd{t}{d}")).collect();
        for drive in &own {
            add(&mut machine, format!("{drive}: {{part: intel-900p}}"));
            add(&mut links, format!("bay-{drive}: {{from: box{t}, to: {drive}}}"));
        }
        let transport = by.said(number + t);
        add(
            &mut subsystems,
            format!("sub{t}: {{port: far{t}, namespaces: [{}]{transport}}}", own.join(", ")),
        );
        drives.extend(own);
    }
    let hosts: Vec<String> = (0..initiators).map(|i| format!("host{i}")).collect();
    let size = one_of(&mut draw, &["4KiB", "512B", "20KiB", "64KiB"]);
    let (depth, read) = (1 + draw.below(24), one_of(&mut draw, &["100%", "0%", "50%"]));
    format!(
        "about: Do the laws hold over a network?\nmachine:\n{machine}links:\n{links}subsystems:\n{subsystems}workloads:\n  load: {{block: {{size: {size}, depth: {depth}, read: {read}, span: 1GiB, requests: 400}}, on: [{}], target: [{}]}}\nrun: {{repeats: 1, warm-up: 10}}\n",
        hosts.join(", "),
        drives.join(", "),
    )
}

/// A random machine, and a world of it that has not begun.
struct Random {
    plan: Plan,
    name: String,
}

impl Random {
    fn new(number: u64, by: By) -> Self {
        let text = machine(number, by);
        Self { plan: plan("random.yaml", &text, &[]), name: format!("machine {number}:\n{text}") }
    }
    /// Every machine, by every transport.
    fn all() -> impl Iterator<Item = (u64, By)> {
        By::ALL.into_iter().flat_map(|by| (0..cases()).map(move |number| (number, by)))
    }
    /// Whether a target has given a connection up; what was under way there was moved in part.
    fn is_lost(&self, world: &World) -> bool {
        let mut lost = false;
        world.kernel.inspect("(target)", &mut |_, value| lost |= value.contains("lost"));
        lost
    }
    fn parts(&self) -> (&Variant, &WorkloadPlan, &Case) {
        let variant = &self.plan.variants[0];
        let workload = &variant.workloads[0];
        (variant, workload, &workload.cases[0])
    }
    fn world(&self) -> World {
        let (variant, workload, case) = self.parts();
        World::new(variant, workload, case, 3)
    }
    fn components(&self) -> impl Iterator<Item = ComponentId> + use<> {
        // the links are component 0, the machine follows
        (1..=self.parts().0.machine.len() as u32).map(ComponentId)
    }
    /// What the answered commands of all loads take of streams, by the closed form \[B\].
    fn streams(&self, number: u64, loads: &[Results]) -> u64 {
        let (variant, workload, _) = self.parts();
        let of = |(load, pair): (&Results, &Pair)| {
            let subsystem = variant.network.remote(pair.on, pair.target).expect("it is asked over a network");
            let [header, data] = digests(number + subsystem.subsystem as u64);
            let capsule_data = match variant.machine[subsystem.target].params.0.get("target.in-capsule-data")
            {
                Some(Value::Size(size)) => size.0 as u32,
                _ => panic!("a host says what goes into capsules"),
            };
            let digests = DigestTypes::from_raw(u8::from(header) | u8::from(data) << 1);
            let way = TcpWay { digests, success: false, capsule_data, most_data: 1 << 22 };
            let sum = |direction, moved: &Side| {
                let each = moved.bytes.checked_div(moved.completed).unwrap_or(0);
                let BothWays { to_target, to_host } = way.stream(direction, each as u32);
                moved.completed * (to_target + to_host)
            };
            sum(Direction::ToHost, &load.reads) + sum(Direction::FromHost, &load.writes)
        };
        loads.iter().zip(&workload.pairs).map(of).sum()
    }
    /// What all adapters have counted, summed, and what none of them has finished.
    fn adapters(&self, world: &mut World) -> (Counts, Vec<Unfinished>) {
        let mut sum = Counts::default();
        let mut unfinished = Vec::new();
        for id in self.components() {
            let Some(nic) = world.kernel.component::<RoceNic>(id) else { continue };
            let counts = nic.counts();
            sum.sent += counts.sent;
            sum.received += counts.received;
            sum.frames += counts.frames;
            sum.unexpected += counts.unexpected;
            unfinished.push(nic.unfinished());
        }
        (sum, unfinished)
    }
    /// Frames that the switch has forwarded, and those that it dropped.
    fn switched(&self, world: &mut World) -> [u64; 2] {
        let now = world.kernel.now();
        let mut switches = self
            .components()
            .filter_map(|id| world.kernel.component::<EthernetSwitch>(id).map(|it| it.ports(now)));
        let ports = switches.next().expect("a machine has a switch");
        [ports.iter().map(|port| port.frames).sum(), ports.iter().map(|port| port.dropped).sum()]
    }
}

/// The credits that every sender on PCIe holds, or that are on their way back to it.
fn credits(world: &mut World) -> Vec<Option<(u64, u64)>> {
    let fabric = world.links().fabric();
    let egresses = (0..fabric.egress_count()).map(|e| EgressId(e as u16));
    let classes = [Class::Posted, Class::NonPosted, Class::Completion];
    egresses.flat_map(|e| classes.map(|class| fabric.credits(e, class))).collect()
}

#[test]
fn trains_and_slices_change_nothing() {
    for (number, by) in Random::all() {
        let random = Random::new(number, by);
        let end = Instant::ZERO + LONG;
        let (mut whole, mut sliced, mut each) = (random.world(), random.world(), random.world());
        whole.kernel.run_until(end);
        let mut draw = Stream::new(number, "remote", "slices");
        let mut cuts: Vec<u64> = (0..40).map(|_| draw.below(end.as_ps())).collect();
        cuts.sort_unstable();
        for at in cuts {
            sliced.kernel.run_until(Instant::from_ps(at));
        }
        sliced.kernel.run_until(end);
        each.decide_one_by_one(true);
        each.kernel.run_until(end);
        let digest = whole.kernel.digest();
        assert_eq!(digest, sliced.kernel.digest(), "in slices, {}", random.name);
        assert_eq!(
            random.adapters(&mut whole),
            random.adapters(&mut each),
            "frame by frame, {}",
            random.name
        );
        assert_eq!(
            random.switched(&mut whole),
            random.switched(&mut each),
            "frame by frame, {}",
            random.name
        );
        for ((a, b), c) in whole.results(end).iter().zip(sliced.results(end)).zip(each.results(end)) {
            assert_eq!((a.little, a.reads.bytes, a.writes.bytes), (b.little, b.reads.bytes, b.writes.bytes));
            assert_eq!((a.little, a.reads.bytes, a.writes.bytes), (c.little, c.reads.bytes, c.writes.bytes));
        }
    }
}

#[test]
fn what_is_asked_is_moved_once_and_everything_is_given_back() {
    let mut lossy = 0;
    for (number, by) in Random::all() {
        let random = Random::new(number, by);
        let mut world = random.world();
        let advertised = credits(&mut world);
        world.kernel.run_until(Instant::ZERO + LONG);
        for load in world.results(Instant::ZERO + LONG) {
            assert_eq!(load.little.area_ps, load.little.residence_ps, "Little's law, {}", random.name);
        }
        world.stop();
        while let Some(next) = world.kernel.next_event() {
            world.kernel.run_until(next);
        }
        let loads = world.results(world.kernel.now());
        let sum = |of: fn(&Results) -> u64| loads.iter().map(of).sum::<u64>();
        assert_eq!(sum(|load| load.outstanding), 0, "{}", random.name);
        let commands = sum(|load| load.reads.completed + load.writes.completed);
        let data = sum(|load| load.reads.bytes + load.writes.bytes);
        assert!(commands > 0, "{}", random.name);
        if random.is_lost(&world) {
            lossy += 1;
            continue;
        }
        let (counts, unfinished) = random.adapters(&mut world);
        let [forwarded, dropped] = random.switched(&mut world);
        match by {
            By::Rdma => {
                assert_eq!(counts.received, data + CAPSULES * commands, "payload, {}", random.name);
                assert!(
                    dropped > 0 || counts.sent == counts.received,
                    "nothing is sent again, {}",
                    random.name
                );
            }
            By::Tcp => {
                let streams = random.streams(number, &loads);
                assert!(counts.sent >= streams, "streams, {}", random.name);
                if dropped == 0 {
                    assert_eq!(counts.sent, streams, "nothing is sent again, {}", random.name);
                    let headers = counts.frames * TCP_HEADERS;
                    assert_eq!(counts.received, streams + headers, "what comes, {}", random.name);
                }
            }
        }
        assert_eq!(counts.frames, forwarded + dropped, "frames, {}", random.name);
        assert!(
            unfinished.iter().all(|left| *left == Unfinished::default()),
            "{unfinished:?}, {}",
            random.name
        );
        assert_eq!(world.links().fabric().under_way(), 0, "{}", random.name);
        assert_eq!(credits(&mut world), advertised, "every credit of PCIe is back, {}", random.name);
        lossy += u64::from(dropped > 0);
    }
    assert!(lossy > 0 && lossy < cases(), "some machines lose frames, others do not: {lossy} of {}", cases());
}
