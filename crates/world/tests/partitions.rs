//! A switch that hosts share: each sees its partition, a virtual switch, and all share the switch that there is.

use crate::tree::{plan, results};
use lanetwin_plan::hierarchy::Hierarchy;
use lanetwin_plan::{Catalogue, Plan, check};
use lanetwin_stats::results::Results;
use lanetwin_world::Options;
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
