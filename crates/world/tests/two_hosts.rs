//! A dual-port drive between two hosts: each has a port, both have the namespaces, and one takes over what the other
//! asks when that loses its port.

use crate::tree::{plan, results};
use lanetwin_models::multipath::{Multipath, PathCounts};
use lanetwin_models::nvme_ssd::NvmeSsd;
use lanetwin_plan::{Plan, Variant};
use lanetwin_stats::results::Results;
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Options, World};

/// Two hosts with a port of two lanes each.
fn machine(drive: &str, links: [&str; 2], block: &str, more: &str) -> Plan {
    let [a, b] = links;
    let text = format!(
        "about: Can two hosts share a drive?\nmachine:\n  a: {{part: generic-host-gen5}}\n  b: {{part: generic-host-gen5}}\n  \
         ssd: {{model: nvme-ssd, dual-port: true, port.width: 4, ftl.initial: sequential, capacity: 8GiB, nand.blocks: 16{drive}}}\nlinks:\n  \
         one: {{from: a.slot0, to: ssd.pcie, width: x2{a}}}\n  two: {{from: b.slot0, to: ssd.pcie2, width: x2{b}}}\nworkloads:\n  \
         load:\n    block: {{span: 4GiB, {block}}}\n    on: [a, b]\n    target: ssd\n{more}run: {{repeats: 1}}\n"
    );
    plan("two-hosts.yaml", &text, &[])
}

const MIXED: &str = "size: 4KiB, depth: 16, read: 50%, requests: 100";
const DOWN: &str = ", down: [{at: 1ms, for: 2ms}]";

/// What is left when a load has run for 5 ms, was stopped, and everything has come to an end.
struct Left {
    progress: (u64, u64),
    /// Of each host.
    counts: Vec<(String, PathCounts)>,
    /// What the drive read and wrote for the hosts \[B\].
    moved: u64,
    /// What each host had been answered after 2.5 ms, with one port lost since 1 ms, and after 1.5 ms.
    during: [Vec<u64>; 2],
}

fn live(plan: &Plan) -> Left {
    let variant: &Variant = &plan.variants[0];
    let workload = &variant.workloads[0];
    let mut world = World::new(variant, workload, &workload.cases[0], 1);
    let counts = |world: &mut World| -> Vec<(String, PathCounts)> {
        let all = world.paths.clone();
        let of = |(name, id)| (name, world.kernel.component::<Multipath>(id).expect("paths").counts());
        all.into_iter().map(of).collect()
    };
    let during = [1_500, 2_500].map(|us| {
        world.kernel.run_until(Instant::ZERO + Span::from_us(us));
        counts(&mut world).into_iter().map(|(_, counts)| counts.answered).collect()
    });
    world.kernel.run_until(Instant::ZERO + Span::from_us(5_000));
    world.stop();
    world.kernel.run_until(Instant::ZERO + Span::from_us(100_000));
    let (drive, now) = (world.drives[0].1, world.kernel.now());
    let drive = world.kernel.component::<NvmeSsd>(drive).expect("a drive");
    let counters = drive.totals(now).expect("a drive that works").counters;
    let moved = counters.host_bytes_read + counters.host_bytes_written;
    Left { progress: world.progress(), counts: counts(&mut world), moved, during }
}

/// Whatever was asked was answered, once; the drive did it, and again what was under way when the port was lost.
fn nothing_is_lost_or_doubled(left: &Left) {
    let (asked, answered) = left.progress;
    assert!(asked > 500, "{asked}");
    assert_eq!(asked, answered);
    let sum = |of: fn(&PathCounts) -> u64| left.counts.iter().map(|(_, counts)| of(counts)).sum::<u64>();
    assert_eq!((sum(|c| c.asked), sum(|c| c.answered), sum(|c| c.unexpected)), (asked, answered, 0));
    let (moved, least) = (left.moved, asked * 4096);
    let most = least + sum(|c| c.retried) * 4096;
    assert!((least..=most).contains(&moved), "{moved} B, {least} B asked for, at most {most} B");
}

#[test]
fn a_host_that_loses_its_port_waits_for_it_and_the_other_goes_on() {
    for engine in ["libaio", "spdk"] {
        let drive = format!(", driver.engine: {engine}, driver.link-loss: 50us");
        let left = live(&machine(&drive, [DOWN, ""], MIXED, ""));
        nothing_is_lost_or_doubled(&left);
        let names: Vec<&str> = left.counts.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["ssd@a", "ssd@b"]);
        let [early, late] = &left.during;
        assert_eq!(early[0], late[0], "host a is answered nothing while its link is down");
        assert!(late[1] > early[1] + 50, "host b goes on: {early:?}, {late:?}");
        let [(_, a), (_, b)] = &left.counts[..] else { panic!("two hosts") };
        assert!(a.retried > 0 && b.retried == 0, "{a:?} {b:?}");
        assert!(a.answered > late[0], "host a goes on when its link is up again");
    }
}

#[test]
fn another_host_takes_over_what_a_host_cannot_ask_any_more() {
    for engine in ["libaio", "spdk"] {
        let drive = format!(", driver.engine: {engine}, driver.link-loss: 50us");
        let left = live(&machine(&drive, [DOWN, ""], MIXED, "    takeover: 200us\n"));
        nothing_is_lost_or_doubled(&left);
        let [early, late] = &left.during;
        assert!(
            late[0] > early[0] + 50,
            "what host a asks is answered by way of host b: {early:?}, {late:?}"
        );
        let [(_, a), (_, b)] = &left.counts[..] else { panic!("two hosts") };
        assert!(a.retried > 0 && b.retried == 0, "{a:?} {b:?}");
    }
}

#[test]
fn hosts_that_lose_both_ports_go_on_when_one_is_back() {
    let both = [DOWN, ", down: [{at: 1200us, for: 1ms}]"];
    let left = live(&machine(", driver.link-loss: 50us", both, MIXED, "    takeover: 200us\n"));
    nothing_is_lost_or_doubled(&left);
}

fn throughput(results: &Results, device: Option<&str>) -> f64 {
    let is_it =
        |row: &&lanetwin_stats::results::Row| row.device.as_deref() == device && row.metric == "throughput";
    results.rows.iter().find(is_it).expect("a load has a throughput").value
}

/// The links are the limit: each host has the half of what both carry, and both have as much as one host has over both
/// ports.
#[test]
fn two_hosts_together_have_what_both_ports_carry() {
    let block = "size: 128KiB, depth: 32, pattern: sequential, requests: 200";
    let two = machine(", nand.channels: 16, driver.engine: spdk", ["", ""], block, "");
    let two = results(&two, &Options::default());
    let (sum, a, b) =
        (throughput(&two, None), throughput(&two, Some("ssd@a")), throughput(&two, Some("ssd@b")));
    assert!((a / b - 1.0).abs() < 0.05, "{a} and {b} MB/s");
    assert!(((a + b) / sum - 1.0).abs() < 0.01, "{a} and {b} of {sum} MB/s");
    let one = machine(", nand.channels: 16, driver.engine: spdk", ["", ""], block, "");
    let text = one.text.replace("on: [a, b]", "on: a");
    let alone = throughput(&results(&plan("one-host.yaml", &text, &[]), &Options::default()), None);
    assert!((sum / alone - 2.0).abs() < 0.1, "{sum} MB/s over both ports, {alone} over one");
}

/// Several jobs of fio on each host, each with a queue of its own in the drivers of both.
#[test]
fn jobs_of_both_hosts_are_taken_over_each_by_itself() {
    let plan = machine("", [DOWN, ""], MIXED, "    takeover: 200us\n");
    let text =
        plan.text.replace("block: {span: 4GiB, size: 4KiB, depth: 16, read: 50%, requests: 100}", JOBS);
    let plan = crate::tree::plan("jobs.yaml", &text, &[]);
    let left = live(&plan);
    nothing_is_lost_or_doubled(&left);
    let results = results(&plan, &Options::default());
    let told: Vec<&str> = results
        .rows
        .iter()
        .filter(|row| row.metric == "throughput")
        .filter_map(|row| row.device.as_deref())
        .collect();
    assert_eq!(told, ["load#0@ssd@a", "load#1@ssd@a", "load#0@ssd@b", "load#1@ssd@b"]);
}

const JOBS: &str = "fio: {rw: randread, bs: 4k, iodepth: 8, numjobs: 2, capacity: 4GiB, requests: 400}";
