//! Do the scenarios of the tree answer their questions? Directions and verdicts, and what each scenario names as its
//! control.

use crate::tree::{plan, plan_of, results, scenarios};
use lanetwin_stats::Verdict;
use lanetwin_stats::results::{Bottleneck, Results, Row, VerdictRow};
use lanetwin_world::Options;
use std::collections::BTreeSet;

fn answered(name: &str) -> Results {
    let file = scenarios().into_iter().find(|file| file.file_stem().is_some_and(|stem| stem == name));
    results(&plan_of(&file.expect("the scenario"), &[]), &Options::default())
}

/// The verdicts of a variant on one metric of a workload, case by case.
fn verdicts<'a>(results: &'a Results, variant: &str, workload: &str, metric: &str) -> Vec<&'a VerdictRow> {
    let is = |v: &&VerdictRow| v.variant == variant && v.workload == workload && v.metric.ends_with(metric);
    let found: Vec<_> = results.verdicts.iter().filter(is).collect();
    assert!(!found.is_empty(), "no verdict on {metric} of {workload} in {variant}");
    found
}

fn all(found: &[&VerdictRow], verdict: Verdict) {
    assert!(found.iter().all(|v| v.verdict == verdict), "not all {verdict:?}: {found:#?}");
}

fn value(results: &Results, variant: &str, workload: &str, case: &str, metric: &str) -> f64 {
    let row = results.rows.iter().find(|r| {
        r.variant == variant && r.workload == workload && r.case.contains(case) && r.metric == metric
    });
    row.unwrap_or_else(|| panic!("no {metric} of {workload}, {case} in {variant}")).value
}

/// Each workload stands in a pair of variants, and the baseline has one of them.
const PAIRS: &str = "
about: Does half the width cost reads, and does it cost writes?
machine: {host: {part: generic-host-gen4}, card: {part: generic-dma-gen5}}
links: {slot: {from: host, to: card}}
workloads:
  read: {dma: {operation: read, size: 4KiB, window: 1MiB, transfers: 100}, on: card}
  write: {dma: {operation: write, size: 4KiB, window: 1MiB, transfers: 100}, on: card}
variants:
  reads-whole: {workloads.write: null}
  reads-half: {workloads.write: null, links.slot.width: x8}
  writes-whole: {workloads.read: null}
  writes-half: {workloads.read: null, links.slot.width: x8}
run: {repeats: 2}
";

#[test]
fn a_workload_that_the_baseline_does_not_have_is_held_against_the_first_that_has_it() {
    let results = results(&plan("pairs.yaml", PAIRS, &[]), &Options::default());
    let pairs: BTreeSet<(&str, &str)> =
        results.verdicts.iter().map(|verdict| (&*verdict.baseline, &*verdict.variant)).collect();
    assert!(pairs.into_iter().eq([("reads-whole", "reads-half"), ("writes-whole", "writes-half")]));
}

/// DLLPs in a lump cost the throughput of DLLPs one by one; ten times the SKPs show; half the width is the control.
#[test]
fn clocking_tells_small_differences_from_none() {
    let results = answered("clocking");
    for workload in ["write", "mixed"] {
        all(&verdicts(&results, "dllp-each", workload, "throughput"), Verdict::Equivalent);
        all(&verdicts(&results, "sris", workload, "throughput"), Verdict::Worse);
        all(&verdicts(&results, "half-width", workload, "throughput"), Verdict::Worse);
    }
    for v in verdicts(&results, "sris", "write", "throughput") {
        // one block in 38 instead of one in about 376 is an SKP (PCI Express Base, section 4.2.8)
        assert!((-0.03..-0.02).contains(&v.change), "{v:?}");
    }
}

/// pcie-bench (SIGCOMM 2018, section 6.5): beyond the reach of the IOTLB 64 B reads lose most of their rate, 256 B
/// some, 512 B none; within it, and with super-pages, nobody loses.
#[test]
fn iommu_costs_small_transfers_beyond_the_reach_of_its_cache() {
    let results = answered("iommu");
    for workload in ["near", "far", "far-write"] {
        all(&verdicts(&results, "large-pages", workload, "throughput"), Verdict::Equivalent);
    }
    all(&verdicts(&results, "iommu-on", "near", "throughput"), Verdict::Equivalent);
    for workload in ["far", "far-write"] {
        let [small, medium, large] = verdicts(&results, "iommu-on", workload, "throughput")[..] else {
            panic!("three sizes")
        };
        assert_eq!((small.verdict, medium.verdict), (Verdict::Worse, Verdict::Worse));
        assert_eq!(large.verdict, Verdict::Equivalent, "{large:?}");
        assert!(small.change < -0.5 && medium.change > -0.4, "{small:?} {medium:?}");
    }
}

/// Bits that are corrupted are replayed: throughput falls with what the replays take of the wire, and the tail grows
/// first.
#[test]
fn errors_cost_throughput_and_the_tail_of_latency() {
    let results = answered("errors");
    all(&verdicts(&results, "marginal", "write", "throughput"), Verdict::Equivalent);
    all(&verdicts(&results, "broken", "write", "throughput"), Verdict::Worse);
    let replayed = |variant: &str| -> f64 {
        results.utilisation.iter().filter(|u| u.variant == variant).map(|u| u.replay).sum()
    };
    assert_eq!(replayed("clean"), 0.0);
    assert!(replayed("broken") > 0.005);
    let tail = |variant: &str| {
        let row = results
            .rows
            .iter()
            .find(|r| (&*r.variant, &*r.workload, &*r.metric) == (variant, "latency", "latency"));
        row.and_then(|row| row.percentiles.last().copied()).expect("percentiles").1
    };
    assert!(tail("broken") > 1.2 * tail("clean"), "{} {}", tail("broken"), tail("clean"));
}

/// A deep queue of large requests fills a Gen3 slot; a lonely small one hardly notices it.
#[test]
fn block_shows_where_the_slot_matters() {
    let results = answered("block");
    let small = verdicts(&results, "gen3", "small", "throughput");
    assert_eq!(small.first().map(|v| v.verdict), Some(Verdict::Equivalent), "{small:#?}");
    assert_eq!(small.last().map(|v| v.verdict), Some(Verdict::Worse), "{small:#?}");
    let large = verdicts(&results, "gen3", "large", "read throughput");
    assert!(large.last().is_some_and(|v| v.verdict == Verdict::Worse && v.change < -0.4), "{large:#?}");
}

#[test]
fn wrappers_cost_what_they_say() {
    let results = answered("wrappers");
    let latency = |variant| value(&results, variant, "read", "1 in flight", "latency");
    assert_eq!((latency("plain"), latency("instant")), (80_000.0, 1_000.0));
    // 10 µs and up to 5 µs more, uniformly
    assert!((latency("delayed") - 92_500.0).abs() < 100.0, "{}", latency("delayed"));
    // lost and damaged requests do not count, and one percent of them is lost or damaged
    let iops = |variant| value(&results, variant, "read", "1 in flight", "IOPS");
    assert!((iops("damaged") / iops("plain") - 0.99).abs() < 0.004, "{}", iops("damaged"));
    // 99 requests in 99 × 80 µs, and one more that takes 1 ms
    let lossy = 99.0 / (99.0 * 80.0 + 1000.0) * 80.0;
    assert!((iops("lossy") / iops("plain") - lossy).abs() < 0.03, "{}", iops("lossy"));
}

/// Throughput is what is offered up to saturation; latency grows with it, and at random arrivals much more.
#[test]
fn latency_grows_with_load_and_with_bursts() {
    let results = answered("latency-vs-load");
    for workload in ["read", "write"] {
        let of = |variant: &str, metric: &str| -> Vec<(f64, f64)> {
            let is = |r: &&Row| r.variant == variant && r.workload == workload && r.metric == metric;
            let point = |r: &Row| (r.x.as_ref().expect("an axis").value, r.value);
            results.rows.iter().filter(is).map(point).collect()
        };
        for (offered, served) in of("even", "throughput") {
            assert!((served / offered - 1.0).abs() < 0.005, "{workload}: {served} of {offered} Gb/s");
        }
        let (poisson, even) = (of("poisson", "latency"), of("even", "latency"));
        assert!(poisson.windows(2).all(|pair| pair[0].1 < pair[1].1), "{workload}: {poisson:?}");
        assert!(poisson.iter().zip(&even).all(|(p, e)| p.1 > e.1), "{workload}: {poisson:?} {even:?}");
        let rise = |points: &[(f64, f64)]| points[points.len() - 1].1 / points[0].1;
        assert!(rise(&poisson) > 2.0 * rise(&even), "{workload}: {poisson:?} {even:?}");
    }
}

/// A lonely read crosses the switch twice, and a full pipe costs nothing; writes do not wait for it.
#[test]
fn a_switch_costs_latency_and_no_throughput() {
    let results = answered("switch");
    let lonely = |variant, case| value(&results, variant, "read", case, "latency");
    for case in ["64 B, 1 in flight", "4 KiB, 1 in flight"] {
        let added = lonely("switch", case) - lonely("direct", case);
        assert!((240.0..260.0).contains(&added), "{case}: {added} ns");
        assert!(lonely("store-and-forward", case) > lonely("switch", case) + 3.0, "{case}");
    }
    for variant in ["switch", "store-and-forward"] {
        all(&verdicts(&results, variant, "write", "throughput"), Verdict::Equivalent);
        for v in verdicts(&results, variant, "read", "throughput") {
            let full = v.case == "4 KiB, 64 in flight";
            assert_eq!(v.verdict, if full { Verdict::Equivalent } else { Verdict::Worse }, "{v:?}");
        }
    }
}

/// A narrow link to the neighbour is nothing to those who do not go there.
#[test]
fn peers_depend_on_the_link_of_the_neighbour_alone() {
    let results = answered("peer-to-peer");
    for workload in ["read", "write"] {
        all(&verdicts(&results, "narrow", workload, "throughput"), Verdict::Worse);
    }
    all(&verdicts(&results, "narrow", "read-host", "throughput"), Verdict::Equivalent);
    let latency = |workload| value(&results, "wide", workload, "4 KiB, 1 in flight", "latency");
    // 300 ns of the neighbour's memory against 150 ns of the host's cache, over as many links
    assert!((149.0..151.0).contains(&(latency("read") - latency("read-host"))));
}

/// What is full in the cascade is its narrow middle; a drive that is slower than any link of it does not care.
#[test]
fn a_cascade_is_as_wide_as_its_narrowest_link() {
    let results = answered("cascade");
    all(&verdicts(&results, "one", "dma", "read throughput"), Verdict::Better);
    all(&verdicts(&results, "one", "block", "read throughput"), Verdict::Equivalent);
    let full = results.bottlenecks.iter().find(|b| b.variant == "three" && b.case == "4 KiB, 64 in flight");
    let name = &full.expect("a bottleneck").name;
    assert!(["first: middle → top", "second: bottom → middle"].contains(&&**name), "{name}");
}

/// The other socket is a hop farther for DRAM and for CXL alike. What joins the sockets limits DRAM and not an expander
/// of eight lanes; twice as much helps who was limited, and the memory beside the threads is the control.
#[test]
fn the_other_socket_costs_latency_and_dram_its_bandwidth() {
    let results = answered("two-sockets");
    let as_is = |workload: &str, case: &str, metric: &str| {
        let is =
            |r: &&Row| (&*r.variant, &*r.workload, &*r.case, &*r.metric) == ("as-is", workload, case, metric);
        results.rows.iter().find(is).expect("it is told").value
    };
    let latency = |case| as_is("latency", case, "latency");
    for (near, far) in [("dram0", "dram1"), ("a", "b")] {
        // 90 ns and a line at 80 GB/s
        let more = latency(far) - latency(near);
        assert!((80.0..102.0).contains(&more), "{near} {far}: {more} ns");
    }
    let throughput = |case| as_is("one-socket", case, "throughput");
    assert!(throughput("dram0") > 150.0);
    assert!((79.0..=80.01).contains(&throughput("dram1")), "{}", throughput("dram1"));
    assert!((throughput("a") / throughput("b") - 1.0).abs() < 0.01);
    let twice = verdicts(&results, "twice-between", "one-socket", "throughput");
    for v in twice {
        let expected = if v.case == "dram1" { Verdict::Better } else { Verdict::Equivalent };
        assert_eq!(v.verdict, expected, "{v:?}");
    }
    let limit = |case: &str| {
        let of = |b: &&Bottleneck| (&*b.variant, &*b.workload, &*b.case) == ("as-is", "one-socket", case);
        results.bottlenecks.iter().find(of).expect("each case has one").name.clone()
    };
    assert_eq!(limit("dram1"), "host: lines from socket 1 to socket 0");
    assert!(limit("b").starts_with("cxl/far"), "{}", limit("b"));
}
