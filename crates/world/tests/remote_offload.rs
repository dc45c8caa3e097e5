//! Drives of another host whose adapter is the target by itself: its queues, its doorbells, and no core of the host.

use crate::tree::{plan, results};
use lanetwin_kernel::{Reading, ReportEntry};
use lanetwin_plan::{Catalogue, Plan, check};
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Granularity, Options, World};
use std::path::Path;

/// A host, and a box whose adapter and drives are below a switch of its own.
const MACHINE: &str = "
about: What is an adapter as a target?
machine:
  server: {part: generic-host-gen4}
  nic: {part: connectx-5-ex}
  tor: {part: generic-ethernet-switch-100g}
  box: {part: generic-host-gen4, cores: 4}
  bays: {part: broadcom-pex88096}
  box-nic: {part: connectx-5-ex}
  ssd1: {part: intel-p5800x}
  ssd2: {part: intel-p5800x}
links:
  slot: {from: server, to: nic}
  net: {from: nic, to: tor}
  box-net: {from: tor, to: box-nic}
  up: {from: box, to: bays}
  box-slot: {from: bays, to: box-nic}
  bay1: {from: bays, to: ssd1}
  bay2: {from: bays, to: ssd2}
subsystems:
  jbof: {port: box-nic, namespaces: [ssd1, ssd2], offload: true}
workloads:
  mixed: {block: {size: [4KiB, 128KiB], depth: 8, read: 50%, span: 1GiB, requests: 600}, on: server, target: [ssd1, ssd2]}
run: {repeats: 1, warm-up: 50}
";

/// Data lie in the drives.
const PEERS: &[&str] = &["machine.ssd1.cmb=64MiB", "machine.ssd2.cmb=64MiB", "subsystems.jbof.staging=drive"];
/// What two ways to decide need to differ: many times what is in flight.
const FEW: &[&str] = &["workloads.mixed.block.requests=150"];
const SOFTWARE: &str = "subsystems.jbof.offload=false";

fn remote(sets: &[&str]) -> Plan {
    plan("offload.yaml", MACHINE, sets)
}
fn codes(sets: &[&str]) -> Vec<&'static str> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let found = check(Path::new("offload.yaml"), MACHINE, &sets, &Catalogue::built_in()).diagnostics;
    found.iter().map(|found| found.code).collect()
}

/// A world that has run and come to rest: how many operations were answered of how many, and what was told.
fn rested(sets: &[&str], case: usize) -> ((u64, u64), Vec<ReportEntry>) {
    let plan = remote(sets);
    let variant = &plan.variants[0];
    let mut world = World::new(variant, &variant.workloads[0], &variant.workloads[0].cases[case], 1);
    world.kernel.run_until(Instant::ZERO + Span::from_us(3_000));
    world.stop();
    world.kernel.run_until(Instant::ZERO + Span::from_us(10_000));
    let told = world.kernel.report().into_iter().flat_map(|(_, _, report)| report.metrics).collect();
    (world.progress(), told)
}
fn totals(told: &[ReportEntry], name: &str) -> Vec<u64> {
    let of = told.iter().filter(|entry| entry.metric.name == name);
    let count = |entry: &ReportEntry| match entry.reading {
        Reading::Count(total) | Reading::Rate { total, .. } => total,
        _ => panic!("{name} is no count"),
    };
    of.map(count).collect()
}

#[test]
fn trains_change_nothing_where_an_adapter_is_the_target() {
    // below a switch, and at root ports of the host
    for sets in [&[][..], &["links.box-slot.from=box"], PEERS, &[PEERS[0], PEERS[1], PEERS[2], SOFTWARE]] {
        let plan = remote(&[sets, FEW].concat());
        let ran = |granularity| results(&plan, &Options { granularity, ..Options::default() });
        let (train, each) = (ran(Granularity::Train), ran(Granularity::Tlp));
        assert_eq!(train.digest, each.digest, "{sets:?}");
    }
}

/// Everything that is asked is answered, and the cores of the host have nothing to do with it; without offload they
/// have.
#[test]
fn no_core_of_the_host_takes_part() {
    const CORES: &str = "cores of the host in use";
    for case in 0..2 {
        let ((asked, answered), told) = rested(&[], case);
        assert!(asked == answered && asked > 100, "{answered} of {asked}");
        assert_eq!(totals(&told, CORES), [0]);
        assert!(totals(&told, "unexpected messages").iter().all(|count| *count == 0));
        let ((asked, answered), told) = rested(&["subsystems.jbof.offload=false"], case);
        assert_eq!(asked, answered);
        let busy = totals(&told, CORES)[0];
        assert!(busy > asked * 1_000_000, "{busy} ps for {asked} commands");
    }
}

/// What the adapter is not told by a host it says itself: every command has its doorbell on the link of the drive.
#[test]
fn data_pass_the_memory_of_the_host_twice() {
    for case in 0..2 {
        let ((_, answered), told) = rested(&[], case);
        let bytes = [4096, 128 << 10][case];
        assert_eq!(totals(&told, "data through the memory of the host"), [2 * answered * bytes]);
    }
}

/// From peer to peer nothing but writes in capsules does: the drives say that peers have moved all the rest.
#[test]
fn from_peer_to_peer_data_do_not_pass_it() {
    for own in [PEERS.to_vec(), [PEERS, &[SOFTWARE]].concat()] {
        for case in 0..2 {
            let ((asked, answered), told) = rested(&own, case);
            assert!(asked == answered && asked > 100, "{answered} of {asked}");
            assert!(totals(&told, "unexpected messages").iter().all(|count| *count == 0));
            let sum = |name: &str| totals(&told, name).iter().sum::<u64>();
            let bytes = [4096, 128 << 10][case];
            let in_capsules = sum("writes with data in their capsule");
            assert_eq!(sum("data through the memory of the host"), 2 * in_capsules * bytes);
            assert_eq!(in_capsules > 0, case == 0);
            let peers = sum("read by peers from its memory") + sum("written by peers to its memory");
            assert_eq!(peers, (answered - in_capsules) * bytes);
        }
    }
}

#[test]
fn what_cannot_be_offloaded_is_told_where_it_is_written() {
    let told = |sets: &[&str], expected: &[&str]| assert_eq!(codes(sets), expected, "{sets:?}");
    told(&[], &[]);
    told(&["subsystems.jbof.staging=drive"], &["FB029"]);
    told(PEERS, &[]);
    told(
        &["subsystems.jbof.offload=false", "subsystems.jbof.transport=tcp", "subsystems.jbof.staging=drive"],
        &["FB030"],
    );
    told(&["machine.box-nic.offload=false"], &["FB025"]);
    told(&["machine.box-nic.part=generic-nic-100g"], &["FB025"]);
    told(&["machine.box-nic.part=generic-nic-100g", "machine.box-nic.offload=true"], &[]);
    told(&["subsystems.jbof.transport=tcp"], &["FB026"]);
    told(
        &[
            "machine.nic2={part: connectx-5-ex}",
            "links.slot2={from: bays, to: nic2}",
            "links.net2={from: tor, to: nic2}",
            "subsystems.jbof.port=[box-nic, nic2]",
        ],
        &["FB027"],
    );
    told(
        &["subsystems.jbof.namespaces=ssd1", "subsystems.more={port: box-nic, namespaces: ssd2}"],
        &["FB028"],
    );
}
