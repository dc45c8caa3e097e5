//! The laws of programs that post RDMA to each other: a stream gets what the closed form leaves of a line, bytes are
//! conserved, trains and slices change nothing, a ping-pong is two ways, what is lost is told.

use crate::tree::{plan, results};
use lanetwin_fabric::ethernet::spec::{Rate, Tagging};
use lanetwin_fabric::roce::spec::PathMtu;
use lanetwin_fabric::roce::throughput::{Message, goodput};
use lanetwin_kernel::{ComponentId, Stream};
use lanetwin_load::Results;
use lanetwin_models::roce_nic::RoceNic;
use lanetwin_models::verbs_programs::VerbsPrograms;
use lanetwin_plan::{Plan, check_text};
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Options, World};

/// Hosts that post to one over a switch: what is said of adapters, of the switch, and of the load.
fn text(hosts: usize, (nic, tor): (&str, &str), rdma: &str) -> String {
    let (mut machine, mut links) = (String::new(), String::new());
    for i in 0..=hosts {
        machine +=
            &format!("  host{i}: {{part: generic-host-gen4}}\n  nic{i}: {{part: connectx-5-ex, {nic}}}\n");
        links += &format!("  slot{i}: {{from: host{i}, to: nic{i}}}\n  net{i}: {{from: nic{i}, to: tor}}\n");
    }
    let on: Vec<String> = (1..=hosts).map(|i| format!("host{i}")).collect();
    format!(
        "
about: What do programs have of RDMA?
machine:
  tor: {{part: generic-ethernet-switch-100g, {tor}}}
{machine}links:
{links}workloads:
  w: {{rdma: {{{rdma}}}, on: [{}], target: host0}}
run: {{repeats: 1, warm-up: 50}}
",
        on.join(", ")
    )
}
fn machine(hosts: usize, parts: (&str, &str), rdma: &str) -> Plan {
    plan("verbs.yaml", &text(hosts, parts, rdma), &[])
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
/// The mean latency of the first thousand requests \[ps\].
fn latency(rdma: &str) -> f64 {
    let mut world = world(&machine(1, ("", ""), rdma));
    let end = until_answered(&mut world, 1000);
    let load = world.results(end).remove(0);
    load.writes.latency.mean_ps().or(load.reads.latency.mean_ps()).expect("some")
}
/// Payload that all adapters have sent \[B\].
fn sent(plan: &Plan, world: &mut World) -> u64 {
    let all = (1..=plan.variants[0].machine.len() as u32).map(ComponentId);
    all.filter_map(|id| Some(world.kernel.component::<RoceNic>(id)?.counts().sent)).sum()
}
/// Bytes that programs have moved.
fn moved(plan: &Plan, world: &mut World) -> u64 {
    let after = plan.variants[0].machine.len() as u32;
    let mut found = (after + 1..)
        .map(ComponentId)
        .filter_map(|id| Some(world.kernel.component::<VerbsPrograms>(id)?.moved()));
    found.next().expect("there are programs")
}

#[test]
fn a_stream_gets_what_the_closed_form_leaves_of_a_line() {
    const BYTES: u32 = 64 << 10;
    for (frames, mtu) in [(1500, PathMtu::B1024), (4200, PathMtu::B4096)] {
        for (operation, message, depth) in
            [("write", Message::Write, 32), ("send", Message::Send, 32), ("read", Message::ReadResponse, 16)]
        {
            let nic = format!("ethernet.mtu: {frames}B, ethernet.rate: 10");
            let rdma = format!("operation: {operation}, size: {BYTES}B, depth: {depth}, requests: 900");
            let plan = machine(1, (&nic, ""), &rdma);
            let mut world = world(&plan);
            let mut look = |answers| (until_answered(&mut world, answers), sent(&plan, &mut world));
            let ((begin, before), (end, after)) = (look(100), look(600));
            let measured = (after - before) as f64 * 1e12 / (end - begin).as_ps() as f64;
            let closed = goodput(Rate::G10, message, BYTES, mtu, Tagging::Untagged) as f64;
            assert!((measured / closed - 1.0).abs() < 0.001, "{operation}, {frames} B: {measured}, {closed}");
        }
    }
}

/// Random programs on random machines; a buffer of a switch that is small makes packets get lost.
fn random(number: u64) -> Plan {
    let mut draw = Stream::new(number, "verbs", "machine");
    let mut one_of = |choices: &[&'static str]| choices[draw.below(choices.len() as u64) as usize];
    let kind = one_of(&["write", "read", "send", "write, ping-pong: true", "send, ping-pong: true"]);
    let size = one_of(&["1B", "220B", "221B", "5000B", "64KiB"]);
    let depth = one_of(&["1", "3", "16"]);
    let connections = one_of(&["1", "2"]);
    let nic = one_of(&["ethernet.mtu: 1500B", "ethernet.mtu: 4200B, ethernet.rate: 25"]);
    let tor = one_of(&["", "", "buffer: 24KiB"]);
    let rdma = format!("operation: {kind}, size: {size}, depth: {depth}, connections: {connections}");
    machine(1 + number as usize % 3, (nic, tor), &rdma)
}

#[test]
fn trains_and_slices_change_nothing_and_every_byte_comes_once() {
    let end = Instant::ZERO + Span::from_us(200);
    for number in 0..16 {
        let plan = random(number);
        let (mut whole, mut sliced, mut each) = (world(&plan), world(&plan), world(&plan));
        whole.kernel.run_until(end);
        (1..20).for_each(|part| sliced.kernel.run_until(Instant::ZERO + Span::from_us(10 * part)));
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
        assert!(asked > 0 && sum(|load| load.outstanding) == 0, "{number}");
        let ways = if text_of(&plan).contains("ping_pong: true") { 2 } else { 1 };
        assert_eq!(moved(&plan, &mut whole), ways * asked, "{number}");
    }
}
fn text_of(plan: &Plan) -> String {
    format!("{:?}", plan.variants[0].workloads[0].cases[0].load)
}

/// What fits into a work request is not read from memory, at either end of a ping-pong; a READ takes as long as the way
/// there, the memory and the way back.
#[test]
fn a_ping_pong_is_two_ways_and_inline_data_save_the_read_of_memory() {
    let [write, send] = ["write", "send"]
        .map(|operation| latency(&format!("operation: {operation}, size: 2B, ping-pong: true")));
    assert!(
        write < send && send < 1.1 * write,
        "a completion entry is written behind a SEND: {write}, {send}"
    );
    let read_first = latency("operation: write, size: 2B, ping-pong: true, inline: 0B");
    let one = latency("operation: read, size: 2B");
    // the fetch of 180 ns, and a read through PCIe and of the memory of some 230 ns, twice
    let each = (read_first - write) / 2.0;
    assert!((350e3..450e3).contains(&each), "{each}");
    // half of a ping-pong, the read of the memory there, and the way back without posting
    let way = write / 2.0;
    assert!(one > way + each && one < 2.0 * way + each, "{one}, {way}, {each}");
    let costs = latency("operation: write, size: 2B, ping-pong: true, post: 160ns, poll: 40ns");
    assert!((costs - write - 2.0 * 100e3).abs() < 1e3, "{costs}, {write}");
}

/// A queue pair whose cable stays down is lost after its retries: each request ends, and so does the run.
#[test]
fn what_is_lost_is_told() {
    let lost = "operation: write, size: 4KiB, depth: 4";
    let text = text(1, ("roce.timeout: 4us, roce.retries: 2", ""), lost)
        .replace("net0: {from: nic0, to: tor}", "net0: {from: nic0, to: tor, down: [{at: 20us, for: 1s}]}");
    let plan = plan("lost.yaml", &text, &[]);
    let mut world = world(&plan);
    world.kernel.run_until(Instant::ZERO + Span::from_us(200));
    world.stop();
    while let Some(next) = world.kernel.next_event().filter(|at| *at < Instant::ZERO + Span::from_us(9000)) {
        world.kernel.run_until(next);
    }
    let load = world.results(world.kernel.now()).remove(0);
    assert!(load.outstanding == 0 && load.writes.aborted > 0, "{load:?}");
}

#[test]
fn what_cannot_be_posted_is_told() {
    let good = text(1, ("", ""), "operation: write, size: 1KiB");
    let codes = |from: &str, to: &str| {
        let changed = good.replace(from, to);
        assert_ne!(changed, good);
        check_text(&changed).into_iter().map(|told| told.code).collect::<Vec<_>>()
    };
    assert!(check_text(&good).is_empty());
    assert_eq!(codes("target: host0", "target: nic0"), ["SC028"]);
    assert_eq!(codes("on: [host1]", "on: [host0]"), ["SC029"]);
    assert_eq!(codes("operation: write", "operation: fetch"), ["SC010"]);
    assert_eq!(codes("operation: write", "operation: read, ping-pong: true"), ["SC033"]);
    assert_eq!(codes("size: 1KiB", "size: 1GiB"), ["SC009"]);
    assert_eq!(codes("size: 1KiB", "size: 1KiB, inline: 4KiB"), ["SC009"]);
    let narrow = good.replace("connectx-5-ex, ", "connectx-5-ex, ethernet.mtu: 300B");
    assert_eq!(check_text(&narrow).into_iter().map(|told| told.code).collect::<Vec<_>>(), ["FB018"]);
}

/// Four hosts write to one through a switch that holds little: what it drops is told with the remedy, and who answered
/// nothing because a timeout is longer than the measurement.
#[test]
fn what_losses_do_is_warned_of() {
    let warned = |nic: &str, tor: &str| {
        let tor = format!("ecn.threshold: 0B, {tor}");
        let rdma = "operation: write, size: 64KiB, depth: 16, requests: 400";
        let found = results(&machine(4, (nic, &tor), rdma), &Options::default()).warnings.into_iter();
        let of_run = found.filter(|warning| warning.code.starts_with("RU1"));
        of_run.map(|warning| (warning.code, warning.path, warning.help)).collect::<Vec<_>>()
    };
    let [(code, path, _)] = &warned("", "buffer: 1MiB")[..] else { panic!("one warning") };
    assert_eq!((&**code, &**path), ("RU103", "workloads.w"));
    let [(code, path, help)] = &warned("roce.timeout: 1ms", "buffer: 1MiB")[..] else {
        panic!("one warning")
    };
    assert!(
        code == "RU102" && path.starts_with("machine.nic") && help.contains("`pause: pfc`"),
        "{path}: {help}"
    );
    assert_eq!(warned("pause: true", "pause: pfc"), []);
}
