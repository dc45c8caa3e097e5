//! A drive with two ports, and what becomes of requests when one is lost: each is answered once, and the drive moves
//! what was asked for.

use crate::tree::{plan, results};
use lanetwin_models::multipath::{Multipath, PathCounts};
use lanetwin_models::nvme_driver::NvmeDriver;
use lanetwin_models::nvme_ssd::NvmeSsd;
use lanetwin_plan::{Plan, Variant};
use lanetwin_stats::results::Results;
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Options, World};

/// A drive with two ports of two lanes each in a quiet host.
fn machine(drive: &str, links: [&str; 2], block: &str) -> Plan {
    changed(drive, links, block, &[])
}

fn changed(drive: &str, links: [&str; 2], block: &str, sets: &[&str]) -> Plan {
    let [a, b] = links;
    let text = format!(
        "about: Does a dual-port drive answer?\nmachine:\n  cpu: {{part: generic-host-gen5}}\n  \
         ssd: {{model: nvme-ssd, dual-port: true, port.width: 4, ftl.initial: sequential, capacity: 8GiB, nand.blocks: 16{drive}}}\nlinks:\n  \
         a: {{from: cpu.slot0, to: ssd.pcie, width: x2{a}}}\n  b: {{from: cpu.slot1, to: ssd.pcie2, width: x2{b}}}\nworkloads:\n  \
         load:\n    block: {{span: 4GiB, {block}}}\n    on: cpu\n    target: ssd\nrun: {{repeats: 1}}\n"
    );
    plan("dual-port.yaml", &text, sets)
}

/// What is left when a load has run for 5 ms, was stopped, and everything has come to an end.
struct Left {
    progress: (u64, u64),
    counts: PathCounts,
    losses: u64,
    /// What the drive read and wrote for the host \[B\].
    moved: (u64, u64),
}

fn live(plan: &Plan) -> Left {
    let variant: &Variant = &plan.variants[0];
    let workload = &variant.workloads[0];
    let mut world = World::new(variant, workload, &workload.cases[0], 1);
    world.kernel.run_until(Instant::ZERO + Span::from_us(5_000));
    world.stop();
    world.kernel.run_until(Instant::ZERO + Span::from_us(100_000));
    let (_, paths) = world.paths[0].clone();
    let counts = world.kernel.component::<Multipath>(paths).expect("a dual-port drive has paths").counts();
    let (drive, now) = (world.drives[0].1, world.kernel.now());
    let counters = world
        .kernel
        .component::<NvmeSsd>(drive)
        .and_then(|drive| drive.totals(now))
        .expect("a drive")
        .counters;
    let driver = world.loads[0].nvme.expect("an NVMe drive").driver;
    let losses = world.kernel.component::<NvmeDriver>(driver).expect("a driver").losses();
    let moved = (counters.host_bytes_read, counters.host_bytes_written);
    Left { progress: world.progress(), counts, losses, moved }
}

const MIXED: &str = "size: 4KiB, depth: 32, read: 50%, requests: 100";
const DOWN: &str = ", down: [{at: 1ms, for: 1ms}]";

/// Whatever was asked was answered, once; the drive did it, and again what was under way when the port was lost.
fn nothing_is_lost_or_doubled(left: &Left) {
    let (asked, answered) = left.progress;
    assert!(asked > 500, "{asked}");
    assert_eq!(asked, answered);
    let PathCounts { asked: by_loads, answered: to_loads, retried, unexpected } = left.counts;
    assert_eq!((by_loads, to_loads, unexpected), (asked, answered, 0));
    let moved = left.moved.0 + left.moved.1;
    let least = asked * 4096;
    assert!(
        moved >= least && moved <= least + retried * 4096,
        "{moved} B, {least} B asked for, {retried} retried"
    );
}

#[test]
fn a_port_that_is_lost_costs_no_request_and_doubles_none() {
    for policy in ["numa", "round-robin", "queue-depth"] {
        for engine in ["libaio", "spdk"] {
            let drive =
                format!(", driver.multipath: {policy}, driver.engine: {engine}, driver.link-loss: 50us");
            let left = live(&machine(&drive, [DOWN, ""], MIXED));
            nothing_is_lost_or_doubled(&left);
            assert_eq!(left.losses, 1, "{policy} {engine}");
            assert!(left.counts.retried > 0, "{policy} {engine}: something was under way");
        }
    }
}

#[test]
fn a_time_out_does_what_an_event_of_the_link_does_and_later() {
    let drive = ", driver.multipath: round-robin, driver.link-events: false, driver.timeout: 400us";
    let left = live(&machine(drive, [DOWN, ""], MIXED));
    nothing_is_lost_or_doubled(&left);
    assert!(left.losses >= 1);
    assert!(left.counts.retried > 0);
}

/// The link is up again when commands time out that its loss took with it: the controller is reset at once.
#[test]
fn a_controller_that_has_forgotten_its_commands_is_reset() {
    let drive = ", driver.multipath: round-robin, driver.link-events: false, driver.timeout: 400us";
    let left = live(&machine(drive, [", down: [{at: 1ms, for: 100us}]", ""], MIXED));
    nothing_is_lost_or_doubled(&left);
    assert!(left.losses >= 1);
    assert!(left.counts.retried > 0, "{:?}", left.counts);
}

/// Commands take longer than their host waits for them, however often they are tried: the run comes to an end, and says
/// that everything failed.
#[test]
fn requests_whose_paths_are_lost_again_and_again_fail() {
    let drive = ", driver.multipath: round-robin, driver.link-events: false, driver.timeout: 50us";
    let plan = machine(drive, ["", ""], "size: 128KiB, depth: 16, requests: 40");
    let results = results(&plan, &Options::default());
    let failed = results.rows.iter().find(|row| row.metric == "failed").expect("all of them did");
    assert!((failed.value - 100.0).abs() < 1e-9, "{}", failed.value);
}

#[test]
fn without_any_path_requests_wait_for_one() {
    let drive = ", driver.link-loss: 50us";
    let left = live(&machine(drive, [DOWN, ", down: [{at: 1200us, for: 1ms}]"], MIXED));
    nothing_is_lost_or_doubled(&left);
}

fn throughput(results: &Results) -> f64 {
    let is_it = |row: &&lanetwin_stats::results::Row| row.device.is_none() && row.metric == "throughput";
    results.rows.iter().find(is_it).expect("a load has a throughput").value
}

#[test]
fn both_ports_together_carry_what_one_of_twice_the_lanes_does() {
    let block = "size: 128KiB, depth: 64, pattern: sequential, requests: 300";
    let lanes = ["links.a.width=x1", "links.b.width=x1"];
    let of = |policy: &str| {
        let drive = format!(", nand.channels: 16, driver.engine: spdk, driver.multipath: {policy}");
        throughput(&results(&changed(&drive, ["", ""], block, &lanes), &Options::default()))
    };
    let (both, one) = (of("queue-depth"), of("numa"));
    assert!((both / one - 2.0).abs() < 0.06, "{both} and {one} MB/s");
}

/// With the first port gone for good, every command goes over the second: it is followed there, hop by hop, and the
/// hops sum to its latency.
#[test]
fn a_command_of_the_second_port_is_explained() {
    let links = [", down: [{at: 50us, for: 1s}]", ""];
    let results = results(&machine("", links, "size: 4KiB, depth: 1, requests: 40"), &Options::default());
    let waterfall = results.waterfalls.first().expect("a command can be followed");
    let of_link = |link: &str| waterfall.stages.iter().any(|stage| stage.name.starts_with(link));
    assert!(of_link("b cpu → ssd") && of_link("b ssd → cpu") && !of_link("a "), "{waterfall:?}");
    let sum: f64 = waterfall.stages.iter().map(|stage| stage.value).sum();
    assert!((sum - waterfall.total).abs() < 1e-6, "{waterfall:?}");
}
