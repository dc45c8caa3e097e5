//! Drives of another host, asked over a network: nothing is lost, and nothing but the way is different.

use crate::tree::{plan, results};
use lanetwin_kernel::{Reading, ReportEntry};
use lanetwin_plan::{Catalogue, Plan, check};
use lanetwin_stats::results::{Results, Row, Stage, Waterfall};
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Granularity, Options, World};
use std::path::Path;

/// A host, a box with two drives, a network between them.
const MACHINE: &str = "
about: What does a host have of drives over a network?
machine:
  server: {part: generic-host-gen4}
  nic: {part: connectx-5-ex}
  tor: {part: generic-ethernet-switch-100g}
  box: {part: generic-host-gen4}
  box-nic: {part: connectx-5-ex}
  ssd1: {part: intel-900p}
  ssd2: {part: intel-900p}
links:
  slot: {from: server, to: nic}
  net: {from: nic, to: tor}
  box-net: {from: tor, to: box-nic}
  box-slot: {from: box, to: box-nic}
  bay1: {from: box, to: ssd1}
  bay2: {from: box, to: ssd2}
subsystems:
  jbof: {port: box-nic, namespaces: [ssd1, ssd2]}
workloads:
  mixed: {block: {size: [4KiB, 128KiB], depth: 8, read: 50%, span: 1GiB, requests: 600}, on: server, target: [ssd1, ssd2]}
run: {repeats: 1, warm-up: 50}
";

/// One of its drives goes by TCP, in a subsystem of its own.
const MORE: &str = "subsystems.more={port: box-nic, namespaces: ssd2, transport: tcp}";
/// Its drives go by TCP.
const TCP: &str = "subsystems.jbof.transport=tcp";

fn remote(sets: &[&str]) -> Plan {
    plan("remote.yaml", MACHINE, sets)
}
fn codes(sets: &[&str]) -> Vec<&'static str> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let found = check(Path::new("remote.yaml"), MACHINE, &sets, &Catalogue::built_in()).diagnostics;
    found.iter().map(|found| found.code).collect()
}
fn ran(plan: &Plan, granularity: Granularity) -> Results {
    results(plan, &Options { granularity, ..Options::default() })
}
fn rows<'a>(results: &'a Results, metric: &'a str) -> impl Iterator<Item = &'a Row> {
    results.rows.iter().filter(move |row| row.metric == metric)
}

#[test]
fn trains_change_nothing_over_a_network() {
    for sets in [&[][..], &[TCP]] {
        let plan = remote(sets);
        let (train, each) = (ran(&plan, Granularity::Train), ran(&plan, Granularity::Tlp));
        assert_eq!(train.digest, each.digest, "{sets:?}");
        let values = |results: &Results| results.rows.iter().map(|row| row.value).collect::<Vec<_>>();
        assert_eq!(values(&train), values(&each), "{sets:?}");
    }
}

/// Without loss everything that is asked is answered, nothing is sent again, and no frame is lost on its way.
#[test]
fn every_request_is_answered_and_what_is_sent_arrives() {
    let plan = remote(&[]);
    let variant = &plan.variants[0];
    let mut world = World::new(variant, &variant.workloads[0], &variant.workloads[0].cases[0], 1);
    world.kernel.run_until(Instant::ZERO + Span::from_us(3_000));
    world.stop();
    world.kernel.run_until(Instant::ZERO + Span::from_us(10_000));
    let (asked, answered) = world.progress();
    assert!(asked == answered && asked > 100, "{answered} of {asked}");
    let told: Vec<_> = world.kernel.report().into_iter().flat_map(|(_, _, report)| report.metrics).collect();
    let counts = |name: &str| -> Vec<u64> {
        let of = told.iter().filter(|entry| entry.metric.name == name);
        let count = |entry: &ReportEntry| match entry.reading {
            Reading::Count(total) | Reading::Rate { total, .. } => total,
            _ => panic!("{name} is no count"),
        };
        of.map(count).collect()
    };
    // two adapters, one switch
    for (again, components) in [
        ("packets sent again", 2),
        ("timeouts", 2),
        ("unexpected messages", 2),
        ("frames dropped", 1),
        ("frames without a way", 1),
    ] {
        assert_eq!(counts(again), vec![0; components], "{again}");
    }
    let [sent, forwarded] = ["frames sent", "frames forwarded"].map(|name| counts(name).iter().sum::<u64>());
    assert!(sent == forwarded && sent > asked, "{forwarded} frames of {sent}");
}

#[test]
fn what_cannot_be_offered_like_this_is_told_where_it_is_written() {
    let told = |sets: &[&str], expected: &[&str]| assert_eq!(codes(sets), expected, "{sets:?}");
    told(&[], &[]);
    told(&["subsystems.jbof.port=tor"], &["FB012"]);
    told(&["subsystems.jbof.port=[]"], &["SC034"]);
    told(&["subsystems.jbof.namespaces=[]"], &["SC034"]);
    told(&["machine.nic.ethernet.mtu=9217B"], &["SC083"]);
    told(&["machine.nic.port.width=3"], &["SC021"]);
    told(&["subsystems.jbof.namespaces=[ssd1, nic]"], &["FB013"]);
    told(&["links.bay2.from=server"], &["FB014"]);
    told(&["subsystems.jbof.namespaces=[ssd1, ssd2, ssd1]"], &["FB015"]);
    told(&["subsystems.more={port: box-nic, namespaces: ssd2}"], &["FB015"]);
    told(&["links.net=null"], &["FB016"]);
    told(&["subsystems.jbof.hosts=tor"], &["FB017"]);
    told(&["workloads.mixed.on=box"], &["FB019"]);
    told(&["workloads.mixed.target=nic"], &["SC028"]);
    told(&["subsystems.jbof.data-digest=true"], &["FB020"]);
    told(&["subsystems.jbof.header-digest=false"], &["FB020"]);
    told(&["subsystems.jbof.namespaces=ssd1", MORE], &["FB021"]);
    told(&["subsystems.jbof.namespaces=ssd1", TCP, MORE], &[]);
    told(&["machine.nic.ethernet.mtu=300B"], &["FB018"]);
    told(&["machine.nic.ethernet.mtu=300B", TCP], &[]);
    told(&["machine.nic.ethernet.mtu=87B", TCP], &["FB018"]);
    // once, of both drives
    told(&["workloads.mixed.block.depth=500"], &["FB104"]);
    told(
        &[
            "machine.nic.ethernet.mtu=9000B",
            "machine.box-nic.ethernet.mtu=9000B",
            "machine.tor.ethernet.mtu=1500B",
        ],
        &["FB103"],
    );
    told(&["machine.tor.ethernet.mtu=1499B", TCP], &["FB103"]);
    told(&["machine.tor.ethernet.mtu=1500B", TCP], &[]);
}

/// Two initiators at once: each with a target of its own, or both with one, whose line carries less than its drives do.
const INITIATORS: &str = "
about: Do two initiators disturb each other, and where?
machine:
  host1: {part: generic-host-gen4}
  host2: {part: generic-host-gen4}
  nic1: {part: connectx-5-ex}
  nic2: {part: connectx-5-ex}
  tor: {part: generic-ethernet-switch-100g}
  box1: {part: generic-host-gen4}
  box2: {part: generic-host-gen4}
  far1: {part: connectx-5-ex, ethernet.rate: 25}
  far2: {part: connectx-5-ex, ethernet.rate: 25}
  ssd1: {part: intel-900p}
  ssd2: {part: intel-900p}
links:
  slot1: {from: host1, to: nic1}
  slot2: {from: host2, to: nic2}
  net1: {from: nic1, to: tor}
  net2: {from: nic2, to: tor}
  far-slot1: {from: box1, to: far1}
  far-slot2: {from: box2, to: far2}
  far-net1: {from: tor, to: far1}
  far-net2: {from: tor, to: far2}
  bay1: {from: box1, to: ssd1}
  bay2: {from: box2, to: ssd2}
subsystems:
  first: {port: far1, namespaces: ssd1, hosts: host1}
  second: {port: far2, namespaces: ssd2, hosts: host2}
workloads:
  both: {block: {size: 128KiB, depth: 8, pattern: sequential, span: 1GiB, requests: 500}, on: [host1, host2], target: [ssd1, ssd2]}
  alone: {block: {size: 128KiB, depth: 8, pattern: sequential, span: 1GiB, requests: 250}, on: host1, target: ssd1}
variants:
  own: {}
  shared: {links.bay2.from: box1, subsystems.second.port: far1}
run: {repeats: 1, warm-up: 60}
";

#[test]
fn a_report_shows_whether_initiators_disturb_each_other_and_where() {
    let results = ran(&plan("initiators.yaml", INITIATORS, &[]), Granularity::Train);
    let device = |workload: &str| (workload == "both").then_some("ssd1@host1");
    let rate = |variant: &str, workload: &str| {
        let mut found = rows(&results, "throughput").filter(|row| {
            (&*row.variant, &*row.workload, row.device.as_deref()) == (variant, workload, device(workload))
        });
        found.next().unwrap_or_else(|| panic!("{workload} of {variant}")).value
    };
    let limit = |variant: &str, workload: &str| {
        let mut found = results.bottlenecks.iter();
        let found = found.find(|told| (&*told.variant, &*told.workload) == (variant, workload));
        found.map(|told| told.name.as_str()).expect("a case has a bottleneck")
    };
    // nothing but the switch is shared, and it has a line for each
    assert!((rate("own", "both") / rate("own", "alone") - 1.0).abs() < 0.005);
    let drives = ("ssd1, ssd2: channels of the medium", "ssd1: channels of the medium");
    assert_eq!((limit("own", "both"), limit("own", "alone")), drives);
    // 2.4 GB/s of each drive do not go over a line of 25 Gb/s together
    assert!(rate("shared", "both") < 0.7 * rate("shared", "alone"));
    assert_eq!(limit("shared", "both"), "far1: line");
    // the stage that grows most is where they meet
    let stages = |workload: &str| {
        let mut found = results.waterfalls.iter();
        let is_it = |w: &&Waterfall| (&*w.variant, &*w.workload) == ("shared", workload);
        let found = found.find(|w| is_it(w) && w.device.as_deref() == device(workload));
        &found.expect("a waterfall").stages
    };
    let alone =
        |name: &str| stages("alone").iter().find(|stage| stage.name == name).map_or(0.0, |stage| stage.value);
    let grows = |stage: &Stage| stage.value - alone(&stage.name);
    let most = stages("both").iter().max_by(|a, b| grows(a).total_cmp(&grows(b))).expect("stages");
    assert_eq!(most.name, "far1: queue for sending");
}

/// What a random read of 4 KiB over the network takes of the kernel: events for each, with its TLPs and frames.
#[test]
fn a_read_takes_so_many_events() {
    let read = "workloads.mixed={block: {size: 4KiB, depth: 32, span: 1GiB, requests: 2000}, on: server, target: ssd1}";
    let plan = remote(&["machine.ssd1={part: intel-p5800x}", "subsystems.jbof.namespaces=[ssd1]", read]);
    let variant = &plan.variants[0];
    let workload = &variant.workloads[0];
    let mut world = World::new(variant, workload, &workload.cases[0], 1);
    let mut at = |us| {
        world.kernel.run_until(Instant::ZERO + Span::from_us(us));
        let answered: u64 = world.results(world.kernel.now()).iter().map(|load| load.reads.completed).sum();
        (world.kernel.events(), answered)
    };
    let (begin, end) = (at(500), at(2000));
    let each = (end.0 - begin.0) as f64 / (end.1 - begin.1) as f64;
    assert!((100.0..130.0).contains(&each), "{each:.1} events for each read");
}
