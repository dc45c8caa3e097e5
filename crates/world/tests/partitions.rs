//! A switch that hosts share: each sees its partition, a virtual switch, and all share the switch that there is.

use crate::tree::{plan, results};
use lanetwin_kernel::ComponentId;
use lanetwin_models::multipath::{Multipath, PathCounts};
use lanetwin_plan::hierarchy::Hierarchy;
use lanetwin_plan::{Catalogue, Plan, check};
use lanetwin_stats::results::Results;
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Options, World};
use std::path::Path;

/// Three drives, two hosts and one switch.
const MACHINE: &str = "
about: What does each host have of the switch?
machine:
  a: {part: generic-host-gen4}
  b: {part: generic-host-gen4}
  sw: {model: switch, port.gen: 4, ports: 8}
  ssd0: {model: nvme-ssd}
  ssd1: {model: nvme-ssd}
  ssd2: {model: nvme-ssd}
links:
  up-a: {from: a, to: sw}
  bay0: {from: sw, to: ssd0}
  bay1: {from: sw, to: ssd1}
  up-b: {from: sw, to: b}
  bay2: {from: ssd2, to: sw}
partitions:
  left: {switch: sw, host: a, devices: [ssd0, ssd1]}
  right: {switch: sw, host: b, devices: ssd2}
workloads:
  both: {block: {size: 4KiB, depth: 4, span: 64MiB, requests: 600}, on: [a, b], target: [ssd0, ssd1, ssd2]}
run: {repeats: 1}
";

fn shared(sets: &[&str]) -> Plan {
    plan("partitions.yaml", MACHINE, sets)
}

fn mistakes(sets: &[&str]) -> Vec<String> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let found = check(Path::new("partitions.yaml"), MACHINE, &sets, &Catalogue::built_in()).diagnostics;
    found.iter().map(|found| format!("{} {}", found.code, found.path)).collect()
}

/// What was told of a device or a host.
fn told(results: &Results, of: &str, metric: &str) -> f64 {
    let is_it =
        |row: &&lanetwin_stats::results::Row| row.device.as_deref() == Some(of) && row.metric == metric;
    results.rows.iter().find(is_it).unwrap_or_else(|| panic!("`{of}` has no {metric}")).value
}

#[test]
fn every_link_is_below_the_root_port_of_the_host_whose_partition_it_is_in() {
    let plan = shared(&[]);
    let variant = &plan.variants[0];
    let roots: Vec<(&str, String)> =
        variant.links.iter().map(|link| (&*link.name, variant.port_name(link.root_port))).collect();
    let expected = [("up-a", "a"), ("bay0", "a"), ("bay1", "a"), ("up-b", "b"), ("bay2", "b")];
    assert_eq!(roots, expected.map(|(link, host)| (link, format!("{host}.slot0"))));
    let pairs: Vec<&str> = variant.workloads[0].pairs.iter().map(|pair| &*pair.device).collect();
    assert_eq!(pairs, ["ssd0@a", "ssd1@a", "ssd2@b"]);
}

#[test]
fn each_host_enumerates_a_switch_of_its_own() {
    let plan = shared(&[]);
    let below: Vec<(String, Vec<String>)> = Hierarchy::all(&plan.variants[0])
        .expect("numbers for all")
        .into_iter()
        .map(|hierarchy| {
            let name =
                |(end, _): &(lanetwin_plan::End, _)| plan.variants[0].machine[end.component].name.clone();
            (hierarchy.name, hierarchy.devices.iter().map(name).collect())
        })
        .collect();
    let expected = [("a", vec!["ssd0", "ssd1"]), ("b", vec!["ssd2"])];
    assert_eq!(below, expected.map(|(host, all)| (host.into(), all.into_iter().map(Into::into).collect())));
}

/// The payload size is one for everything below a root port, not for everything at a switch.
#[test]
fn payload_sizes_of_one_partition_are_no_business_of_another() {
    let of =
        |set: &str| -> Vec<u16> { shared(&[set]).variants[0].links.iter().map(|link| link.mps).collect() };
    assert_eq!(of("machine.ssd0.port.mps=256B"), [256, 256, 256, 512, 512]);
    assert_eq!(of("machine.ssd2.port.mps=128B"), [512, 512, 512, 128, 128]);
}

#[test]
fn what_cannot_be_divided_like_this_is_refused_where_it_is_written() {
    let refused = |sets: &[&str], found: &[&str]| assert_eq!(mistakes(sets), found, "{sets:?}");
    refused(&[], &[]);
    refused(&["partitions=null"], &["SC044 links.up-b"]);
    refused(&["partitions.left.switch=ssd0"], &["FB001 partitions.left.switch"]);
    refused(&["partitions.left.host=sw"], &["FB002 partitions.left.host"]);
    refused(&["partitions.right.devices=[ssd2, ssd1]"], &["FB003 partitions.right.devices"]);
    refused(&["partitions.right.devices=[ssd2, ssd2]"], &["FB003 partitions.right.devices"]);
    refused(&["links.up-b=null"], &["FB004 partitions.right.host"]);
    refused(
        &["machine.ssd9={model: nvme-ssd}", "partitions.right.devices=[ssd2, ssd9]"],
        &["FB005 partitions.right.devices"],
    );
    refused(&["partitions.more={switch: sw, host: b}"], &["FB007 partitions.more.host"]);
    // without a port of its own a device is in one partition
    refused(&["links.second={from: sw, to: a}"], &["SC043 links.second"]);
    refused(
        &["partitions.right=null", "workloads.both.on=a", "workloads.both.target=ssd0"],
        &["FB102 machine.b", "SC106 machine.ssd1", "SC106 machine.ssd2", "FB101 links.bay2"],
    );
}

#[test]
fn a_drive_is_asked_by_the_host_that_has_it_and_by_no_other() {
    assert_eq!(
        mistakes(&["workloads.both.on=b", "workloads.both.target=ssd2"]),
        ["SC106 machine.ssd0", "SC106 machine.ssd1"]
    );
    assert_eq!(
        mistakes(&["workloads.both.on=b", "workloads.both.target=ssd0"]),
        ["FB006 workloads.both.target"]
    );
    let nobodys = ["partitions.left.devices=ssd0", "workloads.both.on=a", "workloads.both.target=ssd1"];
    assert!(mistakes(&nobodys).contains(&"SC029 workloads.both.on".to_owned()), "{:?}", mistakes(&nobodys));
}

/// Nothing but the core of the switch is common to the hosts: where nobody waits for that, two switches are no better.
#[test]
fn hosts_disturb_each_other_in_the_core_of_the_switch_and_nowhere_else() {
    const LOAD: &str = "workloads.both.block={size: 128KiB, depth: 32, span: 64MiB, requests: 300}";
    const APART: [&str; 4] = [
        "machine.sw2={model: switch, port.gen: 4, ports: 8}",
        "links.up-b.from=sw2",
        "links.bay2.to=sw2",
        "partitions=null",
    ];
    let told_of = |sets: &[&str]| -> Vec<f64> {
        let results = results(&shared(&[&[LOAD], sets].concat()), &Options::default());
        ["ssd0@a", "ssd1@a", "ssd2@b"].map(|of| told(&results, of, "throughput")).to_vec()
    };
    let together = told_of(&[]);
    assert_eq!(together, told_of(&APART));
    let bus = told_of(&["machine.sw.core=shared-bus", "machine.sw.speed-up=1", "machine.sw.port.width=1"]);
    let own = told_of(&["machine.sw.port.width=1"]);
    let sum = |all: &[f64]| all.iter().sum::<f64>();
    assert!(sum(&bus) < 0.8 * sum(&own), "{bus:?} MB/s through one bus, {own:?} without");
}

#[test]
fn a_host_with_several_drives_is_told_as_a_whole() {
    let results = results(&shared(&[]), &Options::default());
    let [all, one, two] = ["a", "ssd0@a", "ssd1@a"].map(|of| told(&results, of, "IOPS"));
    assert!((all / (one + two) - 1.0).abs() < 0.01, "{all} k/s, {one} and {two}");
    assert!((told(&results, "b", "IOPS") / told(&results, "ssd2@b", "IOPS") - 1.0).abs() < 1e-9);
}

#[test]
fn a_plan_with_partitions_reads_as_itself() {
    let text = |plan: &Plan| serde_json::to_string(&plan.variants[0].document).expect("a document");
    let first = shared(&[]);
    let again = plan("partitions.yaml", &serde_json::to_string(&first).expect("a document"), &[]);
    assert!(text(&first).contains("partitions"));
    assert_eq!(text(&first), text(&again));
    assert_eq!(first.variants[0].links, again.variants[0].links);
}

/// What of a world's loads there was, when a drive had moved.
struct Moved {
    /// Of `ssd1` as each host has it: asked, answered at 1.9 ms, at 2.25 ms and at 6 ms.
    answered: [[u64; 3]; 2],
    /// What the loads of both hosts on it had asked for and were not answered, at the end, with nothing more to ask.
    left: [u64; 2],
    /// How many of the answers of the first host were errors.
    aborted: u64,
    lost: u64,
}

/// Moves `ssd1` from one host to the other at 2 ms.
fn moved(removal: &str) -> Moved {
    let attach =
        format!("partitions.right.attach=[{{at: 2ms, device: ssd1, after: 300us, removal: {removal}}}]");
    let plan = shared(&[&attach, "machine.ssd1.driver.link-loss=20us"]);
    let (variant, workload) = (&plan.variants[0], &plan.variants[0].workloads[0]);
    let names: Vec<&str> = workload.pairs.iter().map(|pair| &*pair.device).collect();
    assert_eq!(names, ["ssd0@a", "ssd1@a", "ssd1@b", "ssd2@b"]);
    let mut world = World::new(variant, workload, &workload.cases[0], 1);
    let paths = world.paths.clone();
    let counts = |world: &mut World| -> [PathCounts; 2] {
        let of = |(_, id): &(String, ComponentId)| {
            world.kernel.component::<Multipath>(*id).expect("paths").counts()
        };
        paths.iter().map(of).collect::<Vec<_>>().try_into().expect("two hosts have the drive")
    };
    let steps = [1_900, 2_250, 6_000].map(|us| {
        world.kernel.run_until(Instant::ZERO + Span::from_us(us));
        counts(&mut world).map(|counts| counts.answered)
    });
    world.stop();
    world.kernel.run_until(Instant::ZERO + Span::from_us(50_000));
    let last = counts(&mut world);
    let now = world.kernel.now();
    let aborted = world.results(now)[1].reads.aborted;
    Moved {
        answered: [0, 1].map(|host| steps.map(|step| step[host])),
        left: last.map(|counts| counts.asked - counts.answered),
        aborted,
        lost: last.iter().map(|counts| counts.retried + counts.unexpected).sum(),
    }
}

const DEPTH: u64 = 4;

#[test]
fn a_drive_that_is_taken_by_surprise_ends_what_it_was_asked_with_one_error_each() {
    let Moved { answered: [a, b], left, aborted, lost } = moved("surprise");
    assert!(a[0] > 20 && b[0] == 0, "{a:?} {b:?}");
    assert_eq!(
        (aborted, a[1], a[2]),
        (DEPTH, a[1], a[1]),
        "what was under way is aborted once, and nothing comes behind it"
    );
    assert_eq!((b[1], left, lost), (0, [DEPTH, 0], 0), "new requests of the host that lost it wait");
    assert!(b[2] > 50, "the other host goes on with it: {b:?}");
}

#[test]
fn a_managed_removal_loses_nothing() {
    let Moved { answered: [a, b], left, aborted, lost } = moved("managed");
    assert!(a[1] - a[0] >= DEPTH, "{a:?}");
    assert_eq!((aborted, a[2], b[1], left, lost), (0, a[1], 0, [DEPTH, 0], 0));
    assert!(b[2] > 50, "{b:?}");
}

#[test]
fn a_drive_moves_from_the_host_that_has_it_and_back() {
    let refused = |attach: &str| mistakes(&[&format!("partitions.right.attach=[{attach}]")]);
    let right = "{at: 2ms, device: ssd1, after: 1ms}";
    assert_eq!(refused(right), [""; 0]);
    assert_eq!(refused("{at: 2ms, device: ssd2}"), ["FB008 partitions.right.attach.device"]);
    assert_eq!(refused("{at: 0ms, device: ssd1}"), ["FB008 partitions.right.attach.device"]);
    let twice = format!("{right}, {{at: 4ms, device: ssd1}}");
    assert_eq!(refused(&twice), ["FB008 partitions.right.attach.device"]);
    let back = |at: &str| {
        let left = format!("partitions.left.attach=[{{at: {at}, device: ssd1, after: 1ms}}]");
        mistakes(&[&format!("partitions.right.attach=[{right}]"), &left])
    };
    assert_eq!(back("4ms"), [""; 0]);
    assert_eq!(back("2500us"), ["FB008 partitions.left.attach.device"], "it has not arrived yet");
    let dual = [
        "machine.ssd1.dual-port=true",
        "links.bay1.to=ssd1.pcie",
        &format!("partitions.right.attach=[{right}]"),
    ];
    assert!(
        mistakes(&dual).contains(&"FB008 partitions.right.attach.device".to_owned()),
        "{:?}",
        mistakes(&dual)
    );
}
