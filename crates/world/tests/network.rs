//! The laws of programs that send to each other over TCP: a stream gets what the closed form leaves of a line, bytes
//! are conserved, trains and slices change nothing, Little's law is an identity, connections are opened and closed.

use crate::tree::{plan, results};
use lanetwin_fabric::ethernet::spec::{Rate, Tagging};
use lanetwin_kernel::{ComponentId, Stream};
use lanetwin_load::Results;
use lanetwin_models::ethernet_switch::EthernetSwitch;
use lanetwin_models::network_workers::NetworkWorkers;
use lanetwin_models::roce_nic::RoceNic;
use lanetwin_nvmeof::throughput::{Segments, TIMESTAMPS_BYTES};
use lanetwin_plan::{Catalogue, Files, Plan, check_text, check_with};
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Options, World};
use std::collections::BTreeMap;
use std::path::Path;

/// Software that costs so little that a line of 10 Gb/s is all that limits.
const QUICK: &str =
    "driver.tcp.send: 100ns, driver.tcp.receive: 100ns, driver.tcp.frame: 1ns, driver.tcp.copy: 1ns";

/// Hosts that send to one over a switch.
fn machine(hosts: usize, software: (&str, &str, &str), network: &str) -> Plan {
    plan("network.yaml", &text(hosts, software, network), &[])
}
fn text(hosts: usize, (host, nic, tor): (&str, &str, &str), network: &str) -> String {
    let (mut machine, mut links) = (String::new(), String::new());
    for i in 0..=hosts {
        machine += &format!(
            "  host{i}: {{part: generic-host-gen4, {host}}}\n  nic{i}: {{part: connectx-5-ex, {nic}}}\n"
        );
        links += &format!("  slot{i}: {{from: host{i}, to: nic{i}}}\n  net{i}: {{from: nic{i}, to: tor}}\n");
    }
    let on: Vec<String> = (1..=hosts).map(|i| format!("host{i}")).collect();
    format!(
        "
about: What do programs get of a line?
machine:
  tor: {{part: generic-ethernet-switch-100g, {tor}}}
{machine}links:
{links}workloads:
  w: {{network: {{{network}}}, on: [{}], target: host0}}
run: {{repeats: 1, warm-up: 50}}
",
        on.join(", ")
    )
}
fn world(plan: &Plan) -> World {
    let (variant, workload) = (&plan.variants[0], &plan.variants[0].workloads[0]);
    World::new(variant, workload, &workload.cases[0], 1)
}
fn until_answered(world: &mut World, answers: u64) -> Instant {
    while world.progress().1 < answers {
        let next = world.kernel.next_event().expect("a load asks again and again");
        world.kernel.run_until(next);
    }
    world.kernel.now()
}
/// Those of the machine.
fn components(plan: &Plan) -> impl Iterator<Item = ComponentId> + use<> {
    (1..=plan.variants[0].machine.len() as u32).map(ComponentId)
}
/// Frames that the switch has dropped.
fn dropped(plan: &Plan, world: &mut World) -> u64 {
    let now = world.kernel.now();
    let mut all = components(plan);
    let ports = all.find_map(|id| Some(world.kernel.component::<EthernetSwitch>(id)?.ports(now)));
    ports.expect("a machine has a switch").iter().map(|port| port.dropped).sum()
}
/// Bytes that programs have sent, and that have come.
fn moved(plan: &Plan, world: &mut World) -> (u64, u64) {
    let after = plan.variants[0].machine.len() as u32;
    let mut found = (after + 1..)
        .map(ComponentId)
        .filter_map(|id| Some(world.kernel.component::<NetworkWorkers>(id)?.moved()));
    found.next().expect("there are programs")
}

#[test]
fn a_stream_gets_what_the_closed_form_leaves_of_a_line() {
    const MESSAGE: u32 = 256 << 10;
    for mtu in [576, 1280, 1500, 2048, 4200, 9000] {
        for read in ["0%", "100%"] {
            let nic = format!("ethernet.mtu: {mtu}B, ethernet.rate: 10");
            let network = format!("size: {MESSAGE}B, depth: 4, read: {read}, requests: 600");
            let plan = machine(1, (QUICK, &nic, ""), &network);
            let mut world = world(&plan);
            let mut look = |answers| {
                let at = until_answered(&mut world, answers);
                let all = components(&plan);
                let sent = all.filter_map(|id| Some(world.kernel.component::<RoceNic>(id)?.counts().sent));
                (at, sent.sum::<u64>())
            };
            let ((begin, before), (end, after)) = (look(60), look(120));
            let goodput = (after - before) as f64 * 1e12 / (end - begin).as_ps() as f64;
            let segments = Segments { mtu, options: TIMESTAMPS_BYTES, tagging: Tagging::Untagged };
            let rate = Rate::G10.bytes_per_second() as f64;
            // messages end segments; of full segments alone it would be all but the same
            let of_messages = rate * f64::from(MESSAGE) / segments.burst(MESSAGE.into()) as f64;
            let full = rate * f64::from(mtu - 52) / f64::from(mtu + 38);
            let [one, other] = [goodput / of_messages, goodput / full];
            let told = format!("{mtu} B, {read} read: {one}, {other}");
            assert!((one - 1.0).abs() < 0.001 && (other - 1.0).abs() < 0.001, "{told}");
        }
    }
}

/// Random programs on random machines; a buffer of a switch that is small makes frames get lost.
fn random(number: u64) -> Plan {
    let mut draw = Stream::new(number, "network", "machine");
    let mut one_of = |choices: &[&'static str]| choices[draw.below(choices.len() as u64) as usize];
    let size = one_of(&["1B", "1000B", "20KiB", "200KiB"]);
    let reply = one_of(&["0B", "1B", "3000B", "64KiB"]);
    let depth = one_of(&["1", "3", "16"]);
    let read = one_of(&["0%", "50%", "100%"]);
    let transactions = one_of(&["", ", transactions: 1", ", transactions: 5"]);
    let connections = one_of(&["1", "2"]);
    let nic = one_of(&["ethernet.mtu: 1500B", "ethernet.mtu: 4200B, ethernet.rate: 25"]);
    let cores = one_of(&["cores: 0", "cores: 2", "cores: 1, driver.engine: spdk"]);
    let tor = one_of(&["", "", "buffer: 24KiB"]);
    let hosts = 1 + number as usize % 3;
    let network = format!(
        "size: {size}, reply: {reply}, depth: {depth}, read: {read}, connections: {connections}, send-buffer: 256KiB{transactions}"
    );
    machine(hosts, (cores, nic, tor), &network)
}

#[test]
fn trains_and_slices_change_nothing_and_every_byte_comes_once() {
    let end = Instant::ZERO + Span::from_us(400);
    let (mut replied, mut lossy) = (0, 0);
    for number in 0..12 {
        let plan = random(number);
        let (mut whole, mut sliced, mut each) = (world(&plan), world(&plan), world(&plan));
        whole.kernel.run_until(end);
        (1..40).for_each(|part| sliced.kernel.run_until(Instant::ZERO + Span::from_us(10 * part)));
        sliced.kernel.run_until(end);
        each.decide_one_by_one(true);
        each.kernel.run_until(end);
        assert_eq!(whole.kernel.digest(), sliced.kernel.digest(), "in slices, {number}");
        assert_eq!(moved(&plan, &mut whole), moved(&plan, &mut each), "frame by frame, {number}");
        for (a, b) in whole.results(end).iter().zip(each.results(end)) {
            assert_eq!(a.little.area_ps, a.little.residence_ps, "Little's law, {number}");
            assert_eq!((a.little, a.reads.bytes, a.writes.bytes), (b.little, b.reads.bytes, b.writes.bytes));
        }
        whole.stop();
        while let Some(next) = whole.kernel.next_event() {
            whole.kernel.run_until(next);
        }
        let loads = whole.results(whole.kernel.now());
        let sum = |of: fn(&Results) -> u64| loads.iter().map(of).sum::<u64>();
        let asked = sum(|load| load.reads.bytes + load.writes.bytes);
        let replies = sum(|load| load.reads.replies.bytes + load.writes.replies.bytes);
        assert_eq!(sum(|load| load.outstanding), 0, "{number}");
        assert!(asked > 0, "{number}");
        assert_eq!(moved(&plan, &mut whole), (asked + replies, asked + replies), "bytes, {number}");
        replied += u64::from(replies > 0);
        lossy += u64::from(dropped(&plan, &mut whole) > 0);
    }
    assert!(replied > 0 && lossy > 0, "{replied} machines reply, {lossy} lose frames");
}

/// A connection costs at least its opening, its transactions and its closing: a round trip each.
#[test]
fn connections_are_opened_used_and_closed_one_after_another() {
    let results = |network: &str| {
        let plan = machine(1, ("cores: 1", "", ""), network);
        let mut world = world(&plan);
        let end = until_answered(&mut world, 200);
        (world.results(end).remove(0), end)
    };
    let (stays, _) = results("size: 1B, reply: 1B");
    assert!(stays.connections.is_none());
    let trip = stays.writes.latency.mean_ps().expect("some");
    for transactions in [1_u64, 10] {
        let (dials, end) = results(&format!("size: 1B, reply: 1B, transactions: {transactions}"));
        let made = dials.connections.expect("connections were made");
        assert_eq!(made.count(), (200 - 1) / transactions);
        let mean = made.mean_ps().expect("some");
        let trips = transactions as f64 + 2.0;
        let (paid, most) = (2.0 * 20e6, trips * trip * 1.1 + 2.0 * 20e6 + 20e6);
        assert!(mean > trips * trip * 0.8 + paid && mean < most, "{mean} of {trip}, {transactions}");
        // they are all that it does
        let busy = mean * made.count() as f64;
        assert!(busy <= end.as_ps() as f64 && busy > 0.8 * end.as_ps() as f64);
    }
}

/// An idle core hears of a segment `rx-usecs` after it came, at both ends of a trip, unless it is of enough frames; a
/// core at work finds what comes, so that a stream is all but as fast.
#[test]
fn interrupts_are_moderated_where_a_core_is_idle() {
    let ask = |nic: &str, network: &str| {
        let mut world = world(&machine(1, ("cores: 1", nic, ""), network));
        let end = until_answered(&mut world, 300);
        (world.results(end).remove(0).writes.latency.mean_ps().expect("some"), end.as_ps() as f64)
    };
    let trip = |nic: &str| ask(nic, "size: 1B, reply: 1B").0;
    let at_once = trip("rx-usecs: 0us");
    assert!((trip("rx-usecs: 8us") - at_once - 16e6).abs() < 0.05e6);
    assert!((trip("rx-usecs: 8us, rx-frames: 1") - at_once).abs() < 0.05e6);
    let stream = |nic: &str| ask(nic, "size: 256KiB").1;
    let slower = stream("rx-usecs: 8us") / stream("rx-usecs: 0us");
    assert!((0.99..1.04).contains(&slower), "{slower}");
}

/// What is asked of what cannot send, or does not reach the other, is told; a switch that drops full frames, too.
#[test]
fn what_cannot_send_is_told() {
    let good = text(1, ("", "", ""), "size: 1KiB");
    let codes = |from: &str, to: &str| {
        let changed = good.replace(from, to);
        assert_ne!(changed, good);
        check_text(&changed).into_iter().map(|told| told.code).collect::<Vec<_>>()
    };
    assert!(check_text(&good).is_empty());
    assert_eq!(codes("target: host0", "target: nic0"), ["SC028"]);
    assert_eq!(codes("on: [host1]", "on: [nic1]"), ["SC028"]);
    assert_eq!(codes("on: [host1]", "on: [host0]"), ["SC029"]);
    assert_eq!(codes("  net1: {from: nic1, to: tor}\n", ""), ["SC029"]);
    assert_eq!(
        codes(
            "gen4, }\n  nic1: {part: connectx-5-ex, }",
            "gen4}\n  nic1: {part: connectx-5-ex, ethernet.mtu: 9000B}"
        ),
        Vec::<&str>::new()
    );
    assert_eq!(codes("size: 1KiB", "size: 1GiB"), ["SC009"]);
    let narrow = good.replace("connectx-5-ex, ", "connectx-5-ex, ethernet.mtu: 9000B, ");
    let narrow = narrow.replace("100g, ", "100g, ethernet.mtu: 1500B, ");
    assert_eq!(check_text(&narrow).into_iter().map(|told| told.code).collect::<Vec<_>>(), ["FB103"]);
}

/// In Iometer's numbers a transaction with a reply is two I/Os, one each way; disk workers of the file do not run.
#[test]
fn network_workers_of_iometer_send_and_are_told_in_its_numbers() {
    let icf = include_str!("../../../scenarios/iometer/network.icf");
    let scenario =
        text(1, ("cores: 2", "", ""), "").replace("network: {}", "iometer: {file: some.icf, requests: 200}");
    let files = Files::of(BTreeMap::from([("some.icf".to_owned(), icf.to_owned())]));
    let checked = check_with(Path::new("some.yaml"), &scenario, &[], &Catalogue::built_in(), &files);
    let plan = checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
    let results = results(&plan, &Options::default());
    let last = |metric: &str| {
        let told = results.iometer.iter().rfind(|told| told.metric == metric && told.of.is_empty());
        told.and_then(|told| told.value)
    };
    let of = |metric: &str| last(metric).unwrap_or_else(|| panic!("{metric}: {:#?}", results.iometer));
    let transactions = of("Transactions per Second");
    assert!(transactions > 0.0);
    for (metric, expected) in [
        ("Total I/Os per Second", 2.0 * transactions),
        ("Write I/Os per Second", transactions),
        ("Read I/Os per Second", transactions),
        ("Write MBs per Second (Decimal)", transactions * 512.0 / 1e6),
        ("Read MBs per Second (Decimal)", transactions * 8192.0 / 1e6),
    ] {
        assert!((of(metric) / expected - 1.0).abs() < 1e-9, "{metric}: {}, not {expected}", of(metric));
    }
    assert!(of("Connections per Second") > 0.0 && of("Network Packets per Second") > transactions);
    let file = &results.attachments.first().expect("a results file").text;
    assert!(file.lines().any(|line| line.starts_with("NETWORK,host0")), "{file}");
}
