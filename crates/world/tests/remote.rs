//! Drives of another host, asked over a network: nothing is lost, and nothing but the way is different.

use crate::tree::{plan, results};
use lanetwin_plan::{Catalogue, Plan, check};
use lanetwin_stats::results::{Results, Row};
use lanetwin_world::{Granularity, Options};
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
    let plan = remote(&[]);
    let (train, each) = (ran(&plan, Granularity::Train), ran(&plan, Granularity::Tlp));
    assert_eq!(train.digest, each.digest);
    let values = |results: &Results| results.rows.iter().map(|row| row.value).collect::<Vec<_>>();
    assert_eq!(values(&train), values(&each));
}

/// Without loss nothing is sent again, and every frame that an adapter sends comes to one.
#[test]
fn every_request_is_answered_and_what_is_sent_arrives() {
    let results = ran(&remote(&[]), Granularity::Train);
    assert!(results.complete);
    assert!(rows(&results, "read throughput").count() > 0);
    for again in
        ["packets sent again", "timeouts", "frames dropped", "frames without a way", "unexpected messages"]
    {
        let mut lost = results.components.iter().filter(|told| told.metric == again);
        assert!(lost.all(|told| told.value == 0.0), "{again}");
    }
}

#[test]
fn what_cannot_be_offered_like_this_is_told_where_it_is_written() {
    let told = |sets: &[&str], expected: &[&str]| assert_eq!(codes(sets), expected, "{sets:?}");
    told(&[], &[]);
    told(&["subsystems.jbof.port=tor"], &["FB012"]);
    told(&["subsystems.jbof.namespaces=[ssd1, nic]"], &["FB013"]);
    told(&["links.bay2.from=server"], &["FB014"]);
    told(&["subsystems.jbof.namespaces=[ssd1, ssd2, ssd1]"], &["FB015"]);
    told(&["subsystems.more={port: box-nic, namespaces: ssd2}"], &["FB015"]);
    told(&["links.net=null"], &["FB016"]);
    told(&["subsystems.jbof.hosts=tor"], &["FB017"]);
    told(&["workloads.mixed.on=box"], &["FB019"]);
    // of each drive
    told(&["workloads.mixed.block.depth=500"], &["FB104", "FB104"]);
    told(
        &[
            "machine.nic.ethernet.mtu=9000B",
            "machine.box-nic.ethernet.mtu=9000B",
            "machine.tor.ethernet.mtu=1500B",
        ],
        &["FB103"],
    );
}
