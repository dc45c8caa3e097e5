//! Cables of Ethernet: which ports they take, at what rate, and what they cannot be together.

use lanetwin_fabric::ethernet::spec::Rate;
use lanetwin_plan::{Catalogue, Checked, check};
use std::path::Path;

/// Two hosts with adapters; `{switches}` and `{cables}` are to be said.
const MACHINE: &str = "
about: Two hosts and a network.
machine:
  a: {part: generic-host-gen4}
  b: {part: generic-host-gen4}
  nic-a: {part: connectx-5-ex}
  nic-b: {part: generic-nic-25g}
  ssd: {part: generic-nvme-gen4}
{switches}
links:
  slot-a: {from: a, to: nic-a}
  slot-b: {from: b, to: nic-b}
  bay: {from: a, to: ssd}
{cables}
workloads:
  read: {block: {size: 4KiB}, on: a, target: ssd}
";

fn read(switches: &str, cables: &str) -> Checked {
    let text = MACHINE.replace("{switches}", switches).replace("{cables}", cables);
    check(Path::new("network.yaml"), &text, &[], &Catalogue::built_in())
}
fn codes(switches: &str, cables: &str) -> Vec<&'static str> {
    read(switches, cables).diagnostics.iter().map(|found| found.code).collect()
}

const TOR: &str = "  tor: {part: generic-ethernet-switch-100g}";

#[test]
fn a_cable_takes_free_ports_and_the_best_rate_of_both_ends() {
    let cables = "  one: {from: nic-a, to: tor}\n  two: {from: tor, to: nic-b.ethernet, cable: 30m}";
    let checked = read(TOR, cables);
    let plan = checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
    let variant = &plan.variants[0];
    let told = variant.network.cables.iter();
    let told = told
        .map(|cable| (variant.port_name(cable.from), variant.port_name(cable.to), cable.rate, cable.metres));
    let told: Vec<_> = told.collect();
    let end = str::to_owned;
    let expected: Vec<_> = vec![
        (end("nic-a.ethernet"), end("tor.port0"), Rate::G100, 3),
        (end("tor.port1"), end("nic-b.ethernet"), Rate::G25, 30),
    ];
    assert_eq!(told, expected);
}

#[test]
fn adapters_are_joined_without_a_switch() {
    for from in ["nic-a", "nic-a.ethernet"] {
        let checked = read("", &format!("  one: {{from: {from}, to: nic-b, rate: 10Gb/s}}"));
        let plan = checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
        assert_eq!(plan.variants[0].network.cables[0].rate, Rate::G10, "{from}");
    }
    // an adapter has one port of Ethernet here
    assert_eq!(
        codes("", "  one: {from: nic-a, to: nic-b}\n  two: {from: nic-a, to: nic-b}"),
        ["SC017", "SC017"]
    );
}

#[test]
fn what_no_cable_can_be_is_told() {
    assert_eq!(codes(TOR, "  one: {from: nic-a, to: tor, rate: 99Gb/s}"), ["FB009"]);
    assert_eq!(codes(TOR, "  one: {from: nic-a, to: tor, rate: 400Gb/s}"), ["FB010"]);
    assert_eq!(codes(TOR, "  one: {from: nic-a, to: tor, cable: 3ft}"), ["SC008"]);
    assert_eq!(codes(TOR, "  one: {from: nic-a, to: tor, width: x4}"), ["SC005"]);
    assert_eq!(codes(TOR, "  one: {from: a.slot3, to: tor}"), ["SC019"]);
    assert_eq!(codes(TOR, "  one: {from: tor, to: tor}"), ["SC019"]);
}

/// Routers may have several ways; bridges must not.
#[test]
fn a_circle_of_bridges_is_told_and_one_of_routers_is_not() {
    let switches = |routes: &str| {
        format!(
            "  s1: {{part: generic-ethernet-switch-100g, routes: {routes}}}\n  s2: {{part: generic-ethernet-switch-100g, routes: {routes}}}"
        )
    };
    let cables = "  one: {from: nic-a, to: s1}\n  two: {from: nic-b, to: s2}\n  up0: {from: s1, to: s2}\n  up1: {from: s1, to: s2}";
    assert_eq!(codes(&switches("false"), cables), ["FB011"]);
    assert!(read(&switches("true"), cables).plan.is_some());
}
