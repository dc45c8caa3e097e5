//! How long TLPs are in a switch: what a run says of it is what docs/link-model.md makes of it, and where the latency
//! comes from is said, too.

use crate::tree::{plan, results};
use lanetwin_stats::results::{Results, SwitchTransit};
use lanetwin_world::Options;

/// A write of 256 B takes 280 B on the wire: 35.55 ns on x4 at Gen4, of which the header takes 3.05 ns.
const FOUR: &str = "
about: How long is the last of four?
machine:
  host: {part: generic-host-gen4}
  sw: {part: generic-switch-gen4, port.width: x4}
  a: {part: generic-dma-gen5, port.gen: 4, port.width: x4}
  b: {part: generic-dma-gen5, port.gen: 4, port.width: x4}
  c: {part: generic-dma-gen5, port.gen: 4, port.width: x4}
  d: {part: generic-dma-gen5, port.gen: 4, port.width: x4}
links:
  up: {from: host, to: sw, mps: 256B, skp: off, dllp: off}
  one: {from: a, to: sw, skp: off, dllp: off}
  two: {from: b, to: sw, skp: off, dllp: off}
  three: {from: sw, to: c, skp: off, dllp: off}
  four: {from: sw, to: d, skp: off, dllp: off}
workloads:
  alone: {dma: {operation: write, size: 256B, window: 1MiB, rate: 1Gb/s, arrivals: fixed, transfers: 400}, on: a}
  together: {dma: {operation: write, size: 256B, window: 1MiB, rate: 1Gb/s, arrivals: fixed, transfers: 400}, on: [a, b, c, d]}
variants:
  as-is: {}
  stored: {machine.sw.forwarding: store-and-forward}
  pair: {machine.sw.latency.x4-x4: 200ns}
run: {repeats: 2}
";

const HEADER_NS: f64 = 3.047;
const SERIALISATION_NS: f64 = 35.547;

fn found(text: &str) -> Results {
    results(&plan("four.yaml", text, &[]), &Options::default())
}

fn of<'r>(results: &'r Results, variant: &str, workload: &str) -> Vec<&'r SwitchTransit> {
    let is_it = |row: &&SwitchTransit| row.variant == variant && row.workload == workload;
    results.switches.iter().filter(is_it).collect()
}

fn near(value: f64, expected: f64) -> bool {
    (value - expected).abs() < 0.01
}

#[test]
fn one_packet_in_an_empty_switch_takes_what_the_closed_form_says() {
    let results = found(FOUR);
    for (variant, idle) in
        [("as-is", 110.0 + HEADER_NS), ("stored", 110.0 + SERIALISATION_NS), ("pair", 200.0 + HEADER_NS)]
    {
        let rows = of(&results, variant, "alone");
        let [row] = rows[..] else { panic!("{variant}: one way through the switch, not {rows:?}") };
        assert!(near(row.idle, idle), "{variant}: {} is not {idle}", row.idle);
        assert_eq!([row.shortest, row.median, row.p99, row.longest], [row.idle; 4], "{variant}");
        assert_eq!((&*row.from, &*row.to, &*row.way), ("one", "up", "a → host"));
        assert_eq!((&*row.widths, &*row.tlp, row.bytes), ("x4 → x4", "MWr", 280));
    }
}

#[test]
fn the_last_of_four_that_come_at_once_waits_for_the_three_before() {
    let results = found(FOUR);
    for variant in ["as-is", "stored", "pair"] {
        let rows = of(&results, variant, "together");
        assert_eq!(rows.len(), 4, "{variant}");
        let mut longest: Vec<f64> = rows.iter().map(|row| row.longest - row.idle).collect();
        longest.sort_by(f64::total_cmp);
        for (place, waited) in longest.iter().enumerate() {
            let before = place as f64 * SERIALISATION_NS;
            assert!(near(*waited, before), "{variant}: waited {waited} behind {place}");
        }
        let most: u64 = rows.iter().map(|row| row.packets).sum();
        assert!(most >= 100, "{variant}: {most} packets");
    }
}

#[test]
fn the_latency_that_was_used_says_where_it_comes_from_and_what_for() {
    let results = found(FOUR);
    let said = |variant| {
        let row = of(&results, variant, "alone")[0];
        (row.latency, &*row.latency_parameter, &*row.latency_kind, &*row.valid_for)
    };
    assert_eq!(said("pair"), (200.0, "latency.x4-x4", "scenario", "x4 → x4"));
    let (latency, parameter, kind, valid_for) = said("as-is");
    assert_eq!((latency, parameter, kind), (110.0, "latency", "assumed"));
    assert!(valid_for.contains("wide ports"), "the note of the part: {valid_for}");
    assert!(of(&results, "as-is", "alone")[0].latency_source.contains("105 ns"));
    let bare =
        FOUR.replace("part: generic-switch-gen4", "model: switch, ports: 5, port.gen: 4, latency: 90ns");
    let bare = found(&bare);
    let row = of(&bare, "as-is", "alone")[0];
    assert_eq!((row.latency, &*row.latency_kind, &*row.valid_for), (90.0, "scenario", "not said"));
}
