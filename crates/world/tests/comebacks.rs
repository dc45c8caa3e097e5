//! Links that go down while a drive is used, train, and come back as they were or with less.

use crate::tree::{plan, results};
use lanetwin_plan::{Catalogue, Files, check_with};
use lanetwin_stats::results::{LinkOutage, Results};
use lanetwin_world::Options;
use std::path::Path;

/// Reads of a drive behind a retimer that need half of what its link has.
const SLOT: &str = "
about: Is the drive behind a link that trained again as fast as before?
machine:
  host: {part: generic-host-gen5}
  ssd: {model: block-endpoint, port.gen: 5, port.width: x4, latency: 10us}
links: {slot: {from: host, to: ssd, mps: 256B}}
workloads: {read: {block: {size: 128KiB, depth: 16, requests: 4000, span: 1GiB}, on: host, target: ssd}}
variants: {as-is: {}, cycled: {links.slot.down: DOWN}}
run: {repeats: 1, warm-up: 100}
";

fn cycled(down: &str, sets: &[&str]) -> Results {
    results(&plan("slot.yaml", &SLOT.replace("DOWN", down), sets), &Options::default())
}

/// The codes of what is wrong, and where.
fn mistakes(down: &str) -> Vec<String> {
    let (text, files) = (SLOT.replace("DOWN", down), Files::none());
    let checked = check_with(Path::new("slot.yaml"), &text, &[], &Catalogue::built_in(), &files);
    let errors = checked.diagnostics.iter().map(|found| format!("{} {}", found.code, found.path));
    errors.filter(|found| found.contains(".down")).collect()
}

fn back(outage: &LinkOutage) -> (u8, u8, bool) {
    (outage.generation, outage.lanes, outage.whole)
}

#[test]
fn a_link_that_trains_comes_back_as_it_was_and_carries_as_much() {
    let down = "[{at: 5ms, by: hot-reset}, {at: 65ms, by: retrain}, {at: 70ms, by: disable-enable}]";
    let found = cycled(down, &[]);
    let [reset, retrain, disable] = &found.outages[..] else { panic!("{:?}", found.outages) };
    for outage in [reset, retrain, disable] {
        assert_eq!(back(outage), (5, 4, true), "{outage:?}");
    }
    assert_eq!(reset.by.as_deref(), Some("hot-reset"));
    // from Detect through three equalised rates, and a Recovery at the rate that it has
    assert!((0.01..0.5).contains(&reset.seconds), "{reset:?}");
    assert!((1e-6..1e-3).contains(&retrain.seconds), "{retrain:?}");
    let (before, after) = (reset.before_bytes_per_second, retrain.before_bytes_per_second);
    assert!((after / before - 1.0).abs() < 0.02, "{before} B/s before, {after} B/s after");
}

#[test]
fn a_link_that_comes_back_with_less_carries_less() {
    let down = "[{at: 5ms, for: 1ms, gen: 4}, {at: 30ms, for: 1ms, width: x1}, {at: 60ms, for: 1ms}]";
    let found = cycled(down, &[]);
    let backs: Vec<_> = found.outages.iter().map(back).collect();
    assert_eq!(backs, [(4, 4, false), (5, 1, false), (5, 4, true)]);
    let carried: Vec<f64> = found.outages.iter().map(|outage| outage.before_bytes_per_second).collect();
    let [whole, half, quarter] = carried[..] else { panic!("{carried:?}") };
    // all of it is payload of completions on a full wire, but for the beginning of each stretch
    assert!((half / whole - 0.5).abs() < 0.02, "{half} of {whole}");
    assert!((quarter / whole - 0.25).abs() < 0.02, "{quarter} of {whole}");
    let last = found.outages[2].after_bytes_per_second.expect("it goes on");
    assert!((last / whole - 1.0).abs() < 0.02, "{last} of {whole}");
}

#[test]
fn a_seed_decides_how_long_it_trains() {
    let down = "[{at: 5ms, by: hot-reset}]";
    let outages = |seed: &str| cycled(down, &[seed]).outages;
    assert_eq!(outages("run.seed=7"), outages("run.seed=7"));
}

#[test]
fn a_complete_plan_says_how_a_link_trained_and_is_read_again() {
    let text = SLOT.replace("DOWN", "[{at: 5ms, by: hot-reset}, {at: 100ms, for: 1ms, gen: 3, width: x2}]");
    let first = plan("slot.yaml", &text, &[]);
    let down = &first.variants[1].document.get("links").expect("links").get("slot").expect("slot");
    let said = serde_json::to_string(down.get("down").expect("down")).expect("a document");
    assert!(said.contains("then Gen5 x4") && said.contains("hot-reset"), "{said}");
    assert!(said.contains("\"x2\""), "{said}");
}

#[test]
fn what_a_link_cannot_come_back_with_is_refused() {
    let one = |item: &str| mistakes(&format!("[{{at: 1ms, {item}}}]"));
    let none: [&str; 0] = [];
    assert_eq!(one("by: hot-reset"), none);
    assert_eq!(one("for: 20us, gen: 4, width: x2"), none);
    assert_eq!(one("for: 19us, gen: 4"), ["SC009 links.slot.down.for"]);
    assert_eq!(one("for: 1ms, width: x8"), ["SC009 links.slot.down.width"]);
    assert_eq!(one("for: 1ms, gen: 9"), ["SC022 links.slot.down.gen"]);
    assert_eq!(one("by: hot-reset, for: 1ms"), ["SC033 links.slot.down.for"]);
    assert_eq!(one("by: retrain, gen: 4"), ["SC033 links.slot.down.gen"]);
    assert_eq!(one("by: prayer").len(), 1);
}
