//! Loads of memory start as a machine that has run for long would have them: what is measured does not depend on how
//! long.

use crate::tree::{plan, results};
use lanetwin_stats::results::Results;
use lanetwin_world::Options;

fn latency<'r>(results: &'r Results, variant: &str) -> &'r lanetwin_stats::results::Row {
    let is_it = |row: &&lanetwin_stats::results::Row| {
        row.device.is_none() && &*row.metric == "latency" && &*row.variant == variant
    };
    results.rows.iter().find(is_it).expect("the variant has a latency")
}

fn percentile(results: &Results, variant: &str, percent: f64) -> f64 {
    let all = &latency(results, variant).percentiles;
    all.iter().find(|(at, _)| *at == percent).expect("the percentile is told").1
}

/// Its page table is 2 MiB in lines of entries, its last level 4 MiB: most walks find theirs there, once it has been
/// through the set.
const WALKS: &str = "
about: How long is a chase to be?
machine:
  host: {model: memory-host, cores: 1, dram: simple, dram.size: 16GiB, tlb.entries: 256, l2.size: 0B, llc.size: 4MiB}
workloads:
  idle: {memory: {pattern: chase, working-set: 1GiB, lines: 2000}, on: host}
variants:
  short: {}
  long: {workloads.idle.memory.lines: 150000}
  random-replacement: {machine.host.llc.replacement: random}
  random-replacement-long: {machine.host.llc.replacement: random, workloads.idle.memory.lines: 150000}
run: {repeats: 1}
";

#[test]
fn entries_of_page_tables_are_in_the_caches_of_a_host_at_the_start() {
    let results = results(&plan("walks.yaml", WALKS, &[]), &Options::default());
    for (short, long) in [("short", "long"), ("random-replacement", "random-replacement-long")] {
        let [short, long] = [short, long].map(|variant| latency(&results, variant).value);
        assert!((short / long - 1.0).abs() < 0.02, "{short} ns at 2000 lines, {long} ns at 150000");
    }
}

/// Caches of 9 MiB, and sets of which they hold a part: what is stored to leaves them only after they have filled, and
/// random replacement then throws out lines that would have been hit.
const PARTLY: &str = "
about: What do caches leave to memory?
machine:
  host: {model: memory-host, cores: 8, dram: simple, l2.size: 512KiB, llc.size: 5MiB, llc.ways: 20}
workloads:
  lat: {memory: {pattern: chase, working-set: 8MiB, lines: 10000}, on: host}
  bw: {memory: {pattern: random, mix: 3r1w, working-set: 6MiB, lines: 20000}, on: host}
variants:
  short: {machine.host.llc.replacement: random}
  long: {machine.host.llc.replacement: random, workloads.lat.memory.lines: 600000}
  lru: {}
  lru-long: {workloads.bw.memory.lines: 600000}
run: {repeats: 1}
";

#[test]
fn caches_have_let_go_of_lines_before_measuring_begins() {
    let results = results(&plan("partly.yaml", PARTLY, &[]), &Options::default());
    let value = |workload, metric, variant| {
        let is_it = |row: &&lanetwin_stats::results::Row| {
            row.device.is_none()
                && (&*row.workload, &*row.metric, &*row.variant) == (workload, metric, variant)
        };
        results.rows.iter().find(is_it).expect("a row").value
    };
    let [short, long] = ["short", "long"].map(|variant| value("lat", "latency", variant));
    assert!((short / long - 1.0).abs() < 0.03, "a chase under random replacement: {short} ns, {long} ns");
    for metric in ["latency", "throughput"] {
        let [short, long] = ["lru", "lru-long"].map(|variant| value("bw", metric, variant));
        assert!((short / long - 1.0).abs() < 0.03, "{metric} of what stores: {short}, {long}");
    }
}

const HYBRID: &str = "
about: Where is the page table of what is on a CMM-H?
machine:
  host: {model: memory-host, cores: 1, dram: simple, tlb.entries: 64, l2.size: 0B, llc.size: 1MiB}
  cmmh: {part: samsung-cmm-h}
links:
  slot: {from: host, to: cmmh}
workloads:
  random: {memory: {pattern: chase, working-set: 8GiB, placement: cmmh, lines: 4000}, on: host}
run: {repeats: 1}
";

#[test]
fn page_tables_are_in_the_cache_of_a_hybrid_at_the_start() {
    let results = results(&plan("hybrid.yaml", HYBRID, &[]), &Options::default());
    // two accesses in a row and refreshes; from the drive it would be 60 us
    let worst = percentile(&results, "as-is", 99.9);
    assert!(worst < 3000.0, "{worst} ns");
}

const RETIMER: &str = "
about: What does a retimer cost a chase?
machine:
  host: {part: intel-xeon-6710e}
  cmmh: {part: samsung-cmm-h}
links:
  slot: {from: host, to: cmmh}
workloads:
  l: {memory: {pattern: chase, working-set: 1GiB, placement: cmmh, lines: 20000}, on: host}
variants:
  direct: {}
  retimer: {links.slot.via: [montage-m88rt51632]}
  limit: {links.slot.via: [spec-limit-retimer]}
run: {repeats: 1}
";

#[test]
fn a_retimer_costs_a_chase_its_latency_both_ways() {
    let results = results(&plan("retimer.yaml", RETIMER, &[]), &Options::default());
    let direct = latency(&results, "direct").value;
    for (variant, expected) in [("retimer", 10.0), ("limit", 128.0)] {
        let more = latency(&results, variant).value - direct;
        // a flit lasts 2.1 ns, and the mean has a standard error of 0.6 ns
        assert!((more - expected).abs() < 3.0, "{variant}: {more} ns more");
        let [far, near] = [variant, "direct"].map(|variant| percentile(&results, variant, 99.0));
        assert!(far >= near * 0.99, "{variant}: p99 {far} ns, direct {near} ns");
    }
}

const EXPANDER: &str = "
about: What does an expander add to local DRAM?
machine:
  host: {part: lmbench-spr-host}
  exp: {part: generic-cxl-expander-asic, port.width: x8}
links:
  slot: {from: host, to: exp}
workloads:
  l: {memory: {pattern: chase-across-pages, working-set: 1GiB, placement: dram, lines: 10000}, on: host}
variants:
  dram: {}
  exp: {workloads.l.memory.placement: exp}
run: {repeats: 1}
";

#[test]
fn an_expander_with_an_asic_adds_what_was_measured_of_one() {
    let results = results(&plan("expander.yaml", EXPANDER, &[]), &Options::default());
    let [dram, exp] = ["dram", "exp"].map(|variant| latency(&results, variant).value);
    // LMBench at 1 GB, by the plot scripts of CXL-DMSim: 131.5 ns and 284.9 ns
    assert!((dram - 131.5).abs() < 2.0 && (exp - dram - 153.4).abs() < 3.0, "{dram} ns, {exp} ns");
}
