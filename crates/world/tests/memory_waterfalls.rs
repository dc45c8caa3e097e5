//! Where does the time of a load of memory go? The stages sum to its latency, name everybody on its way, and are what
//! the parameters say where nothing waits; through a switch and from another socket, too.

use crate::tree::{plan, results};
use lanetwin_stats::results::{Results, Waterfall};
use lanetwin_world::Options;

fn waterfall<'r>(results: &'r Results, case: &str, node: &str) -> &'r Waterfall {
    let is_it = |w: &&Waterfall| w.case == case && w.device.as_deref() == Some(node);
    results
        .waterfalls
        .iter()
        .find(is_it)
        .unwrap_or_else(|| panic!("{case}, {node}: {:#?}", results.waterfalls))
}

fn stage(waterfall: &Waterfall, name: &str) -> f64 {
    let found = waterfall.stages.iter().find(|stage| stage.name == name);
    found.unwrap_or_else(|| panic!("no {name} in {waterfall:#?}")).value
}

fn median(results: &Results, case: &str) -> f64 {
    let is_it = |row: &&lanetwin_stats::results::Row| {
        row.case == case && row.device.is_none() && row.metric == "latency"
    };
    let row = results.rows.iter().find(is_it).expect("a chase has a latency");
    row.percentiles.iter().find(|(percent, _)| *percent == 50.0).expect("a median").1
}

/// A lonely load through a switch, and one of the host's own DRAM: nobody waits for anything.
const SWITCHED: &str = "
about: Where does a load spend its time?
machine:
  host: {model: memory-host, cores: 2, dram.size: 16GiB, l1.size: 0B, l2.size: 0B, llc.size: 0B}
  sw: {model: cxl-switch, ports: 2, latency: 30ns}
  one: {model: cxl-expander, capacity: 16GiB}
  other: {model: cxl-expander, capacity: 16GiB}
links:
  up: {from: host, to: sw}
  down1: {from: sw, to: one}
  down2: {from: sw, to: other}
workloads:
  chase: {memory: {pattern: chase, working-set: 64MiB, placement: [dram, one, other], lines: 200}, on: host}
  both: {memory: {pattern: random, threads: 2, working-set: 64MiB, placement: [{weighted: {dram: 1, one: 1, other: 2}}], lines: 2000}, on: host}
run: {repeats: 1}
";

#[test]
fn a_load_is_followed_through_switch_and_expander_and_back() {
    let results = results(&plan("switched.yaml", SWITCHED, &[]), &Options::default());
    for w in &results.waterfalls {
        assert!(w.is_exact() && w.stages.iter().all(|stage| stage.value > 0.0), "{w:#?}");
    }
    for (device, down) in [("one", "down1"), ("other", "down2")] {
        let w = waterfall(&results, device, device);
        // what has a constant length has it: both ports of both links on the way down, the switch each way, the device
        assert_eq!(stage(w, "sw: forwarding"), 30.0);
        assert_eq!(stage(w, "sw: forwarding the answer"), 30.0);
        assert_eq!(stage(w, &format!("{device}: ingress")), 20.0);
        assert_eq!(stage(w, &format!("{device}: egress")), 20.0);
        assert_eq!(stage(w, "host: uncore"), 40.0);
        for way in [
            "up host → sw",
            "up sw → host",
            &format!("{down} sw → {device}"),
            &format!("{down} {device} → sw"),
        ] {
            assert_eq!(stage(w, &format!("{way}: sending port")), 6.25, "{way}");
            assert!((stage(w, &format!("{way}: wire")) - 1.0).abs() < 0.002, "{way}");
            assert!(
                (stage(w, &format!("{way}: flit")) - 1.0625).abs() < 0.002
                    || stage(w, &format!("{way}: flit")) > 1.0
            );
        }
        assert!(stage(w, &format!("{device}: DRAM burst")) > 0.0);
        let told = median(&results, device);
        assert!((w.total - told).abs() < 0.25 * told, "{} is near the median of {told}", w.total);
        let crossed: Vec<_> = w.crossings.iter().map(|c| (&*c.link, c.times)).collect();
        assert_eq!(crossed, [(down, 2.0), ("up", 2.0)]);
    }
    let dram = waterfall(&results, "dram", "dram");
    assert!(dram.stages.iter().all(|stage| stage.name.starts_with("host")), "{dram:#?}");
    assert!(stage(dram, "host: DRAM CAS latency") > 10.0);
    let spread: Vec<_> = results.waterfalls.iter().filter(|w| w.workload == "both").collect();
    assert_eq!(spread.len(), 4, "a waterfall of all and of each node: {spread:#?}");
}

/// Two sockets with a device each: programs run on cores of the first, so that the memory of the second is far.
const SOCKETS: &str = "
about: What does the other socket cost?
machine:
  host: {model: memory-host, sockets: 2, cores: 1, ports: 2, dram.size: 16GiB, socket.latency: 70ns, l1.size: 0B, l2.size: 0B, llc.size: 0B}
  near: {model: cxl-expander, capacity: 16GiB}
  far: {model: cxl-expander, capacity: 16GiB}
links:
  slot0: {from: host.cxl0, to: near}
  slot1: {from: host.cxl1, to: far}
workloads:
  chase: {memory: {pattern: chase, working-set: 64MiB, placement: [dram0, dram1, near, far], lines: 200}, on: host}
run: {repeats: 1}
";

#[test]
fn the_way_to_the_other_socket_is_a_stage() {
    let results = results(&plan("sockets.yaml", SOCKETS, &[]), &Options::default());
    for node in ["dram0", "near"] {
        let w = waterfall(&results, node, node);
        assert!(w.stages.iter().all(|stage| !stage.name.contains("socket")), "{w:#?}");
    }
    for node in ["dram1", "far"] {
        let w = waterfall(&results, node, node);
        assert!(w.is_exact());
        assert_eq!(stage(w, "host: to the other socket"), 70.0);
        assert!(stage(w, "host: from the other socket") > 0.0, "{w:#?}");
    }
    let (near, far) = (median(&results, "near"), median(&results, "far"));
    assert!(far > near + 60.0, "{near} {far}");
}

/// A module whose cache holds a part of what is used: the median of what misses waits for the disk.
const HYBRID: &str = "
about: Where does a miss spend its time?
machine:
  host: {model: memory-host, cores: 2, tlb.entries: 64}
  cmmh: {part: samsung-cmm-h}
links:
  slot: {from: host, to: cmmh}
workloads:
  hit: {memory: {pattern: chase, working-set: 256MiB, placement: cmmh, lines: 100}, on: host}
  miss: {memory: {pattern: chase, working-set: 256MiB, placement: cmmh, cache: cold, lines: 60}, on: host}
run: {repeats: 1}
";

#[test]
fn a_miss_waits_for_the_disk_and_a_walk_for_its_translation() {
    let results = results(&plan("hybrid.yaml", HYBRID, &[]), &Options::default());
    let of = |workload: &str| {
        let found = results.waterfalls.iter().find(|w| w.workload == workload);
        found.unwrap_or_else(|| panic!("no {workload}: {:#?}", results.waterfalls))
    };
    let (hit, miss) = (of("hit"), of("miss"));
    assert!(hit.is_exact() && miss.is_exact());
    assert!(
        stage(miss, "cmmh.controller: disk") > 0.9 * miss.total - stage(miss, "host: translation"),
        "{miss:#?}"
    );
    assert!(hit.stages.iter().all(|stage| stage.name != "cmmh.controller: disk"), "{hit:#?}");
    assert!(
        stage(hit, "cmmh.controller: look-up") > 0.0 && stage(hit, "cmmh.controller: DRAM burst") > 0.0,
        "{hit:#?}"
    );
    assert!(stage(hit, "host: translation") > 0.0, "{hit:#?}");
}

/// One in four is in the cache: loads are told fast and slow.
#[test]
fn all_loads_are_told_fast_and_slow_ones() {
    let mixed = "workloads={mixed: {memory: {pattern: random, threads: 8, working-set: 100GiB, placement: cmmh, lines: 500}, on: host}}";
    let results = results(&plan("mixed.yaml", HYBRID, &[mixed, "machine.host.cores=8"]), &Options::default());
    let w = waterfall(&results, "100 GiB", "cmmh");
    let told = median(&results, "100 GiB");
    assert!(told > 20_000.0 && (0.7..1.3).contains(&(w.total / told)), "{} of {told}", w.total);
    assert!(stage(w, "cmmh.controller: disk") > 0.5 * w.total, "{w:#?}");
}

/// An application ends: all of it is followed.
const PROGRAM: &str = "
about: Where does a load of an application spend its time?
machine:
  host: {model: memory-host, cores: 4, dram: simple, l2.size: 64KiB, llc.size: 0B}
  exp: {model: cxl-expander}
links:
  slot: {from: host, to: exp}
workloads:
  cg: {memory: {program: {cg: {class: W}}, placement: {weighted: {dram: 1, exp: 1}}, lines: 20000}, on: host}
run: {repeats: 1}
";

#[test]
fn loads_of_a_program_are_followed_while_it_runs() {
    let results = results(&plan("program.yaml", PROGRAM, &[]), &Options::default());
    assert_eq!(results.waterfalls.len(), 3, "{:#?}", results.waterfalls);
    for w in &results.waterfalls {
        assert!(w.is_exact() && w.total > 30.0, "{w:#?}");
    }
}
