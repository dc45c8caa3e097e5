//! Is CXL memory wired as the scenario says, and does a load of it tell what happened? Every device is a node, windows
//! lie one behind the other, decoders lead to the devices; Little's law and shares of the time hold; what is wrong is
//! told with its place.

use crate::tree::{plan, results};
use lanetwin_cxl::logic::FlitMode;
use lanetwin_cxl::spec::flit_256::Layout;
use lanetwin_plan::{Catalogue, Plan, check};
use lanetwin_stats::results::{Results, Row};
use lanetwin_world::Options;
use std::path::Path;

/// A host with an expander.
const MACHINE: &str = "
about: What leads where?
machine:
  host: {model: memory-host, cores: 4, ports: 2, dram.size: 16GiB, dram: simple}
  near: {model: cxl-expander, capacity: 8GiB, dram.density: 8Gb}
links:
  slot: {from: host, to: near}
workloads:
  bw: {memory: {pattern: random, working-set: 256MiB, placement: [dram, near, {weighted: {dram: 3, near: 1}}], lines: 4000}, on: host}
  chase: {memory: {pattern: chase, working-set: 64MiB, placement: [dram, near], lines: 200}, on: host}
run: {repeats: 1}
";

fn row<'r>(results: &'r Results, workload: &str, case: &str, device: Option<&str>, metric: &str) -> &'r Row {
    let is_it = |row: &&Row| {
        (&*row.workload, &*row.case, row.device.as_deref(), &*row.metric) == (workload, case, device, metric)
    };
    results.rows.iter().find(is_it).unwrap_or_else(|| panic!("no {metric} of {workload}, {case}, {device:?}"))
}

#[test]
fn a_load_tells_throughput_and_latency_of_each_node() {
    let results = results(&plan("machine.yaml", MACHINE, &[]), &Options::default());
    let latency = |case| row(&results, "chase", case, None, "latency").value;
    assert!(latency("near") > latency("dram") + 50.0, "a link and a controller take their time");
    let total = row(&results, "bw", "dram 3 : near 1", None, "throughput").value;
    let of = |node| row(&results, "bw", "dram 3 : near 1", Some(node), "throughput").value;
    assert!((of("dram") + of("near") - total).abs() < 1e-9 * total);
    assert!((of("dram") / of("near") - 3.0).abs() < 0.3, "{} {}", of("dram"), of("near"));
}

/// Two expanders that are one node.
const TWO: &str = "
about: What leads where?
machine:
  host: {model: memory-host, cores: 4, ports: 2, dram.size: 16GiB, dram: simple}
  one: {model: cxl-expander, capacity: 8GiB, dram.density: 8Gb}
  other: {model: cxl-expander, capacity: 8GiB, dram.density: 8Gb}
links:
  slot1: {from: host, to: one}
  slot2: {from: other, to: host}
interleave:
  far: {targets: [other, one], granularity: 1KiB}
workloads:
  bw: {memory: {pattern: random, working-set: 64MiB, placement: far, lines: 2000}, on: host}
run: {repeats: 1}
";

const GIB: u64 = 1 << 30;

fn nodes(plan: &Plan) -> Vec<(String, u64, u64)> {
    plan.variants[0]
        .nodes
        .iter()
        .map(|node| (node.name.clone(), node.base / GIB, node.size.0 / GIB))
        .collect()
}

#[test]
fn windows_lie_behind_the_memory_of_the_host_and_decoders_lead_to_the_devices() {
    let node = |name: &str, base, size| (name.to_owned(), base, size);
    let plan = plan("two.yaml", TWO, &[]);
    assert_eq!(nodes(&plan), [node("dram", 0, 16), node("far", 16, 16)]);
    let [decoding] = &plan.variants[0].decoding[..] else { panic!("{:?}", plan.variants[0].decoding) };
    let [decoder] = &decoding.decoders[..] else { panic!("{decoding:?}") };
    // ports of the host are taken in the order of the links: `one` is behind the first
    let place = |hpa| decoder.decode(hpa).map(|there| (there.target, there.dpa));
    assert_eq!(place(16 * GIB), Some((1, 0)));
    assert_eq!(place(16 * GIB + 1024), Some((0, 0)));
    assert_eq!(place(16 * GIB + 2048 + 5), Some((1, 1029)));
    assert_eq!(place(16 * GIB - 1), None);
    let alone = crate::tree::plan(
        "alone.yaml",
        TWO,
        &["interleave=null", "workloads.bw.memory.placement={interleave: [one, other]}"],
    );
    assert_eq!(nodes(&alone), [node("dram", 0, 16), node("one", 16, 8), node("other", 24, 8)]);
    // both devices have a share of the traffic, whoever interleaves
    for plan in [plan, alone] {
        let results = results(&plan, &Options::default());
        let busy = |link: &str| results.cxl.iter().find(|used| used.link == link).expect("a link").messages;
        assert!(
            busy("slot1") / busy("slot2") > 0.8 && busy("slot2") / busy("slot1") > 0.8,
            "{:?}",
            results.cxl
        );
        for used in &results.cxl {
            let parts = [used.messages, used.data, used.empty, used.credits, used.retry, used.io, used.idle];
            assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-9, "{used:?}");
        }
    }
}

/// Two sockets, each with an expander below its port.
const SOCKETS: &str = "
about: What does the other socket cost?
machine:
  host: {model: memory-host, sockets: 2, cores: 4, ports: 2, dram.size: 16GiB, dram: simple, socket.latency: 60ns, socket.bandwidth: 10GB/s}
  near: {model: cxl-expander, capacity: 8GiB, dram.density: 8Gb}
  far: {model: cxl-expander, capacity: 8GiB, dram.density: 8Gb}
links:
  slot1: {from: host, to: near}
  slot2: {from: host, to: far}
workloads:
  chase: {memory: {pattern: chase, working-set: 512MiB, placement: [dram0, dram1, near, far], lines: 200}, on: host}
  one: {memory: {threads: 4, working-set: 1GiB, placement: [dram0, dram1, near, far], lines: 4000}, on: host}
  both: {memory: {working-set: 1GiB, placement: {interleave: [near, far]}, lines: 4000}, on: host}
run: {repeats: 1}
";

/// Threads are put on cores in order, so that up to four of them, and the one that chases, are on the first socket. By
/// hand: what is on the other socket takes 60 ns longer and 64 B at 10 GB/s, 6.4 ns; and no more than 10 GB/s comes
/// from there. Four cores of 16 misses and some 90 ns get 45 GB/s from the DRAM beside them.
#[test]
fn the_other_socket_is_farther_and_behind_a_lane() {
    let plan = plan("sockets.yaml", SOCKETS, &[]);
    let node = |name: &str, base, size| (name.to_owned(), base, size);
    let expected = [node("dram0", 0, 16), node("dram1", 16, 16), node("near", 32, 8), node("far", 40, 8)];
    assert_eq!(nodes(&plan), expected);
    let results = results(&plan, &Options::default());
    let latency = |case| row(&results, "chase", case, None, "latency").value;
    let dram = latency("dram1") - latency("dram0");
    assert!((dram - 66.4).abs() < 0.01, "{dram} ns");
    // flits leave on a grid of their own
    let cxl = latency("far") - latency("near");
    assert!((cxl - 66.4).abs() < 3.0, "{cxl} ns");
    let throughput = |case| row(&results, "one", case, None, "throughput").value;
    assert!(throughput("dram0") > 40.0, "{}", throughput("dram0"));
    assert!(throughput("near") > 12.0, "{}", throughput("near"));
    for case in ["dram1", "far"] {
        let across = throughput(case);
        assert!((9.7..10.1).contains(&across), "{case}: {across} GB/s");
        let limit = results.bottlenecks.iter().find(|limit| limit.workload == "one" && limit.case == case);
        assert_eq!(limit.expect("each case has one").name, "host: lines from socket 1 to socket 0");
    }
    // each socket asks both: what crosses shares a lane each way, and both links carry as much
    let both = |row: &&Row| row.workload == "both" && row.metric == "throughput";
    let of = |node| {
        results
            .rows
            .iter()
            .filter(both)
            .find(|row| row.device.as_deref() == Some(node))
            .expect("it is told")
            .value
    };
    assert!((of("near") / of("far") - 1.0).abs() < 0.1, "{} {}", of("near"), of("far"));
}

/// Devices behind a switch: those of one node, and one that is a node of its own, come over one port of the host.
#[test]
fn behind_a_switch_addresses_are_decoded_again() {
    let text = TWO
        .replace("ports: 2, ", "ports: 1, ")
        .replace("links:\n", "  alone: {model: cxl-expander, capacity: 8GiB, dram.density: 8Gb}\n  sw: {model: cxl-switch, ports: 3}\nlinks:\n  up: {from: host, to: sw}\n  bay: {from: sw, to: alone}\n")
        .replace("{from: host, to: one}", "{from: sw, to: one}")
        .replace("{from: other, to: host}", "{from: other, to: sw}")
        .replace("placement: far", "placement: {interleave: [far, alone]}");
    let plan = plan("switch.yaml", &text, &[]);
    let names: Vec<String> = nodes(&plan).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["dram", "far", "alone"]);
    let [host, switch] = &plan.variants[0].decoding[..] else { panic!("{:?}", plan.variants[0].decoding) };
    let lead = |decoders: &[lanetwin_cxl::hdm::Decoder], address| {
        let found: Vec<_> = decoders.iter().filter_map(|decoder| decoder.decode(address)).collect();
        let [there] = found[..] else { panic!("{address:#x} leads to {found:?}") };
        (there.target, there.dpa)
    };
    // everything is behind the one port of the host; the ports of the switch are taken in the order of the links:
    // alone, one, other
    let mut seen = std::collections::BTreeSet::new();
    for offset in (0..24 * GIB).step_by(1 << 26).flat_map(|at| [at, at + 1024, at + 4096 + 64]) {
        let (port, between) = lead(&host.decoders, 16 * GIB + offset);
        assert_eq!(port, 0);
        let (port, dpa) = lead(&switch.decoders, between);
        let is_far = offset < 16 * GIB;
        let way = offset / 1024 % 2;
        let expected = if is_far {
            (2 - way as u16, offset / 2048 * 1024 + offset % 1024)
        } else {
            (0, offset - 16 * GIB)
        };
        assert_eq!((port, dpa), expected, "{offset:#x}");
        assert!(seen.insert((port, dpa)), "two addresses lead to one place");
    }
    let results = results(&plan, &Options::default());
    for link in ["bay", "slot1", "slot2", "up"] {
        assert!(
            results.cxl.iter().any(|used| used.link == link && used.messages > 0.001),
            "{link}: {:?}",
            results.cxl
        );
    }
}

fn mistakes(text: &str, sets: &[&str]) -> Vec<String> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let found = check(Path::new("memory.yaml"), text, &sets, &Catalogue::built_in()).diagnostics;
    found.iter().map(|found| format!("{} {}", found.code, found.path)).collect()
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let mut wrong = Vec::new();
    for (sets, expected) in [
        (&["links.slot1=null"][..], &["SC091 machine.one"][..]),
        (&["links.slot1.from=other", "links.slot2=null"], &["SC090 links.slot1"]),
        (&["interleave.far.granularity=300B"], &["SC092 interleave.far"]),
        (&["interleave.far.granularity=32KiB"], &["SC092 interleave.far"]),
        (&["interleave.far.base=8GiB"], &["SC093 interleave.far"]),
        (&["interleave.near={targets: [one]}"], &["SC093 interleave.near"]),
        (&["machine.one.capacity=4GiB"], &["SC094 interleave.far"]),
        (&["interleave.far.targets=[one, host]"], &["SC028 interleave.far.targets"]),
        (&["workloads.bw.memory.placement=one"], &["SC095 workloads.bw.memory.placement"]),
        (
            &["workloads.bw.memory.placement={weighted: {dram: 256, far: 1}}"],
            &["SC009 workloads.bw.memory.placement.weighted.dram"],
        ),
        (
            &["workloads.bw.memory.placement={weighted: {dram: 0, fra: 1}}"],
            &[
                "SC009 workloads.bw.memory.placement.weighted.dram",
                "SC095 workloads.bw.memory.placement.weighted.fra",
            ],
        ),
        (
            &["workloads.bw.memory.placement={bind: dram, preferred: far}"],
            &["SC033 workloads.bw.memory.placement.preferred"],
        ),
        (&["workloads.bw.memory.working-set=20GiB"], &["SC096 workloads.bw.memory.placement"]),
        (&["workloads.bw.memory.working-set=100B"], &["SC009 workloads.bw.memory.working-set"]),
        (
            &["workloads.bw.memory.pattern=chase", "workloads.bw.memory.mix=2r1w"],
            &["SC033 workloads.bw.memory.mix"],
        ),
        // named twice is one mistake, however much room there would be
        (
            &[
                "workloads.bw.memory.working-set=40GiB",
                "workloads.bw.memory.placement={interleave: [dram, dram]}",
            ],
            &["SC054 workloads.bw.memory.placement.interleave"],
        ),
        (&["workloads.bw.memory.cache=cold"], &["SC110 workloads.bw.memory.cache"]),
        (&["workloads.bw.on=one"], &["SC028 workloads.bw.on"]),
        (&["workloads.bw.target=host"], &["SC033 workloads.bw.target"]),
        (&["links.slot1.mps=256B"], &["SC005 links.slot1.mps"]),
        (&["links.slot1.gen=2"], &["SC009 links.slot1.gen"]),
        (
            &[
                "workloads.bw.memory.program={cg: {class: S}, mg: {}}",
                "workloads.bw.memory.pattern=null",
                "workloads.bw.memory.working-set=null",
            ],
            &["SC033 workloads.bw.memory.program.mg"],
        ),
        // a word that is none is one mistake
        (
            &["workloads.bw.memory.placement={weight: {dram: 1}}"],
            &["SC005 workloads.bw.memory.placement.weight"],
        ),
        (
            &[
                "workloads.bw.memory.program={lu: {class: S}}",
                "workloads.bw.memory.pattern=null",
                "workloads.bw.memory.working-set=null",
            ],
            &["SC005 workloads.bw.memory.program.lu"],
        ),
        (&["workloads.bw.memory.placement={bind: null}"], &["SC006 workloads.bw.memory.placement"]),
        (&["interleave={dram: {targets: [one, other]}}"], &["SC052 interleave.dram"]),
        (&["interleave={one: {targets: [one, other]}}"], &["SC052 interleave.one"]),
        // all at once
        (
            &["machine.host.cores=0", "workloads.bw.memory.mix=9r", "workloads.bw.memory.threads=0"],
            &[
                "SC009 machine.host.cores",
                "SC008 workloads.bw.memory.mix",
                "SC009 workloads.bw.memory.threads",
            ],
        ),
        (
            &[
                "interleave.far.granularity=300B",
                "workloads.bw.memory.lines=0",
                "workloads.bw.memory.chaser=maybe",
            ],
            &["SC092 interleave.far", "SC009 workloads.bw.memory.lines", "SC010 workloads.bw.memory.chaser"],
        ),
    ] {
        let mut found = mistakes(TWO, sets);
        let mut expected: Vec<String> = expected.iter().map(|told| (*told).to_owned()).collect();
        found.sort();
        found.dedup();
        expected.sort();
        if found != expected {
            wrong.push((sets, found, expected));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Streaming writes to the same few lines replace one another in the write queues: they are faster than the buses, of
/// which the report tells what they carried. A large set has none.
#[test]
fn what_the_write_queue_answers_is_not_told_as_the_buses() {
    const MACHINE: &str = "
about: What do the buses carry?
machine: {host: {model: memory-host, cores: 16, dram.channels: 4}}
workloads:
  bw: {memory: {mix: streaming-writes, working-set: [4KiB, 1GiB], lines: 50000}, on: host}
run: {repeats: 1}
";
    const PEAK: f64 = 4.0 * 38.4;
    let results = results(&plan("machine.yaml", MACHINE, &[]), &Options::default());
    let told = |case: &str, metric: &str| {
        let metrics = results.components.iter();
        let metric =
            metrics.filter(|told| told.case == case && told.component == "host" && told.metric == metric);
        metric.map(|told| told.value).next()
    };
    let [small, large] = ["4 KiB", "1 GiB"];
    assert!(row(&results, "bw", small, None, "throughput").value > PEAK);
    let carried = told(small, "carried by the DRAM's buses").expect("a rate");
    let at_queue = told(small, "answered by the write queue").expect("a share");
    assert!(carried < PEAK && at_queue > 20.0, "{carried} {at_queue}");
    assert!(row(&results, "bw", large, None, "throughput").value < PEAK);
    let rest = told(large, "answered by the write queue").unwrap_or(0.0);
    assert!(rest == 0.0, "{rest}");
}

/// Both ends at 64 GT/s.
const SIX: [&str; 2] = ["machine.host.port.gen=6", "machine.near.port.gen=6"];

#[test]
fn flits_are_those_of_the_rate_unless_a_link_says_so() {
    let flits = |sets: &[&str]| plan("machine.yaml", MACHINE, sets).variants[0].cxl[0].flits;
    assert_eq!(flits(&[]), FlitMode::Bytes68);
    assert_eq!(flits(&["links.slot.flit=256B"]), FlitMode::Bytes256(Layout::Standard));
    assert_eq!(flits(&SIX), FlitMode::Bytes256(Layout::Standard));
    let halves = [&SIX[..], &["links.slot.flit=256B-latency-optimised"]].concat();
    assert_eq!(flits(&halves), FlitMode::Bytes256(Layout::LatencyOptimised));
    let wrong = |set| mistakes(MACHINE, &[&SIX[..], &[set]].concat());
    assert_eq!(wrong("links.slot.flit=68B"), ["SC069 links.slot.flit"]);
    assert_eq!(mistakes(MACHINE, &["links.slot.gen=6"]), ["SC024 links.slot.gen"]);
    // a retimer of Gen5 is not that fast: the link is slower by itself, or the scenario is told
    let retimed = [SIX[0], SIX[1], "links.slot.via=low-latency-retimer"];
    assert_eq!(flits(&retimed), FlitMode::Bytes68);
    assert_eq!(mistakes(MACHINE, &[&retimed[..], &["links.slot.gen=6"]].concat()), ["SC073 links.slot.gen"]);
    // what no link of CXL can be is not told to be slow, too
    let slow = |rate| mistakes(&MACHINE.replace("slot: {", &format!("slot: {{gen: {rate}, ")), &[]);
    assert_eq!(slow(2), ["SC009 links.slot.gen"]);
    assert_eq!(slow(4), ["SC103 links.slot.gen"]);
}

/// At 64 GT/s a retimer of Gen6 stands in the link: flits stay those of the rate, and a load passes it twice.
#[test]
fn a_retimer_of_gen6_stands_in_a_link_of_64_gt_s() {
    let settings = |via: &str| {
        let via = format!("links.slot.via={via}");
        let sets = [SIX[0], SIX[1], "machine.host.uncore.spread=0ns", &via];
        plan("machine.yaml", MACHINE, &sets)
    };
    let [direct, retimed] = ["0ns", "microchip-pm8691"].map(settings);
    assert_eq!(retimed.variants[0].cxl[0].flits, FlitMode::Bytes256(Layout::Standard));
    let latency = |plan| row(&results(plan, &Options::default()), "chase", "near", None, "latency").value;
    let (direct, retimed) = (latency(&direct), latency(&retimed));
    // 12 ns each way, and the flit that is met begins within its 4 ns
    let longer = retimed - direct;
    assert!((20.0..=28.0).contains(&longer), "{direct} {retimed}");
}

/// A lone load waits for the end of its flits, of which a half is nearer.
#[test]
fn a_load_waits_for_the_flits_that_bring_it() {
    let latency = |sets: &[&str]| {
        let results = results(&plan("machine.yaml", MACHINE, sets), &Options::default());
        let uses = results.cxl.iter().filter(|used| used.workload == "chase" && used.case == "near");
        assert!(uses.clone().count() == 2 && uses.clone().all(|used| used.messages > 0.0), "{uses:?}");
        row(&results, "chase", "near", None, "latency").value
    };
    let of = |flit: &str, six: &[&str]| latency(&[six, &[&*format!("links.slot.flit={flit}")]].concat());
    let [short, halves, long] = ["68B", "256B-latency-optimised", "256B"].map(|flit| of(flit, &[]));
    assert!(short < halves && halves < long, "{short} {halves} {long}");
    let [fast_halves, fast] = ["256B-latency-optimised", "256B"].map(|flit| of(flit, &SIX));
    assert!(fast_halves < fast, "{fast_halves} {fast}");
}

#[test]
fn a_complete_plan_gives_the_same_plan_again() {
    let sets = [
        "workloads.app={memory: {program: {key-value: {keys: 1000}}, threads: 2, placement: {weighted: {dram: 2, far: 1}}, lines: 500}, on: host}",
    ];
    let one = plan("two.yaml", TWO, &sets);
    let text = serde_json::to_string(&one).expect("a document");
    let other = plan("two.yaml", &text, &[]);
    let (one, other) = (&one.variants[0], &other.variants[0]);
    assert_eq!((&one.cxl, &one.nodes, &one.decoding), (&other.cxl, &other.nodes, &other.decoding));
    assert_eq!(one.workloads, other.workloads);
}

#[test]
fn a_program_that_ends_is_measured_as_a_whole_and_one_that_does_not_by_its_operations() {
    let sets = [
        "workloads={cg: {memory: {program: {cg: {class: S}}, threads: 2, placement: [dram, near], stretches: 4, lines: 4000}, on: host}, kv: {memory: {program: {key-value: {keys: 20000}}, threads: 2, placement: [dram, near], lines: 3000}, on: host}}",
        "machine.host.llc.size=256KiB",
        "machine.host.l2.size=64KiB",
        "machine.host.l1.size=16KiB",
        "machine.host.l1.ways=4",
    ];
    let results = results(&plan("programs.yaml", MACHINE, &sets), &Options::default());
    let value = |workload, case, metric| row(&results, workload, case, None, metric).value;
    assert!(value("cg", "near", "program time") > 1.2 * value("cg", "dram", "program time"));
    assert!(value("kv", "near", "operation latency") > value("kv", "dram", "operation latency"));
    assert!(value("kv", "near", "operations") < value("kv", "dram", "operations"));
}
