//! Are switches wired as the scenario says? What is below a root port is a tree; what a switch adds to a latency is
//! what its parameters say; traffic between peers stays off the links that it has no business on.

use crate::tree::{plan, results};
use lanetwin_pcie::link::{Arbitration, Attach, Core, EgressId, LinkId, OutputBuffer, SwitchId};
use lanetwin_plan::{Catalogue, Plan, Variant, check};
use lanetwin_ports::Wiring;
use lanetwin_stats::results::{Results, Waterfall};
use lanetwin_units::{Generation, Instant, LinkRate, Span, Ticks, Width};
use lanetwin_world::{Options, World};
use std::path::Path;

/// A card, its neighbour and a cascade of two switches; the host has another root port with a card of its own.
const MACHINE: &str = "
about: What is joined with what?
machine:
  host: {part: generic-host-gen4}
  top: {model: switch, port.gen: 4}
  low: {model: switch, port.gen: 4}
  card: {part: generic-dma-gen5}
  memory: {part: generic-memory-endpoint-gen5}
  alone: {part: generic-dma-gen5}
links:
  bay: {from: low, to: card}
  second: {from: memory, to: top}
  down: {from: low, to: top}
  up: {from: top, to: host}
  slot: {from: host, to: alone}
workloads:
  read: {dma: {size: 512B, outstanding: 1, transfers: 200}, on: card, target: host}
  peer: {dma: {size: 512B, outstanding: 1, transfers: 200}, on: card, target: memory}
  other: {dma: {size: 512B, outstanding: 1, transfers: 200}, on: alone, target: host}
run: {repeats: 1}
";

/// A host, a switch or nothing, and a card.
const CARD: &str = "
about: What does a switch add?
machine:
  host: {part: generic-host-gen4}
  sw: {model: switch, port.gen: 4}
  card: {part: generic-dma-gen5}
links:
  up: {from: host, to: sw, skp: off, dllp: off}
  bay: {from: sw, to: card, skp: off, dllp: off}
workloads:
  read: {dma: {size: 512B, outstanding: 1, transfers: 200}, on: card}
run: {repeats: 1}
";

const DIRECT: [&str; 3] = ["machine.sw=null", "links.bay=null", "links.up.to=card"];

fn mistakes(text: &str, sets: &[&str]) -> Vec<String> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let found = check(Path::new("switches.yaml"), text, &sets, &Catalogue::built_in()).diagnostics;
    found.iter().map(|found| format!("{} {}", found.code, found.path)).collect()
}

fn ps(ticks: Ticks) -> f64 {
    ticks.0 as f64 / 1024.0
}

#[test]
fn every_link_knows_which_of_its_ends_is_above_and_what_root_port_it_is_below() {
    let plan = plan("switches.yaml", MACHINE, &[]);
    let variant = &plan.variants[0];
    let place = |name: &str| {
        let link = variant.links.iter().find(|link| link.name == name).expect("the link");
        [link.root, link.far(), link.root_port].map(|end| variant.port_name(end))
    };
    assert_eq!(place("up"), ["host.slot0", "top.port2", "host.slot0"]);
    assert_eq!(place("down"), ["top.port1", "low.port1", "host.slot0"]);
    assert_eq!(place("bay"), ["low.port0", "card.pcie", "host.slot0"]);
    assert_eq!(place("second"), ["top.port0", "memory.pcie", "host.slot0"]);
    assert_eq!(place("slot"), ["host.slot1", "alone.pcie", "host.slot1"]);
}

#[test]
fn a_hierarchy_has_the_least_payload_of_all_its_ports_and_links() {
    let sizes = |sets: &[&str]| -> Vec<u16> {
        plan("switches.yaml", MACHINE, sets).variants[0].links.iter().map(|link| link.mps).collect()
    };
    assert_eq!(sizes(&[]), [512, 512, 512, 512, 512]);
    assert_eq!(sizes(&["machine.memory.port.mps=256B"]), [256, 256, 256, 256, 512]);
    assert_eq!(sizes(&["machine.low.port.mps=128B"]), [128, 128, 128, 128, 512]);
    assert_eq!(sizes(&["links.down.mps=256B", "links.up.mps=512B"]), [256, 256, 256, 256, 512]);
    assert_eq!(sizes(&["machine.alone.port.mps=128B"]), [512, 512, 512, 512, 128]);
    assert_eq!(
        mistakes(MACHINE, &["machine.low.port.mps=256B", "links.down.mps=512B"]),
        ["SC026 links.down.mps"]
    );
}

#[test]
fn what_is_no_tree_below_one_root_port_is_refused_where_it_is_not() {
    let refused = |set: &str, found: &[&str]| assert_eq!(mistakes(MACHINE, &[set]), found, "{set}");
    refused("links.three={from: host, to: low}", &["SC043 links.three"]);
    refused("links.three={from: low, to: top}", &["SC043 links.three"]);
    refused("links.three={from: low, to: low}", &["SC043 links.three"]);
    refused("links.three={from: card, to: memory}", &["SC017 links.three.from", "SC017 links.three.to"]);
    refused("links.bay.to=memory", &["SC017 links.second.from"]);
    refused("links.up.to=low", &["SC045 machine.top", "SC045 machine.low", "SC043 links.up"]);
    refused("links.up=null", &["SC045 machine.top", "SC045 machine.low"]);
    refused("machine.idle={model: switch}", &["SC045 machine.idle"]);
    // a link that is not understood may be the one that is missing
    refused("links.up.to=nobody", &["SC013 links.up.to"]);
}

#[test]
fn two_hosts_in_a_hierarchy_are_refused_at_the_link_of_the_second() {
    let two = ["machine.h2={part: generic-host-gen4}", "links.extra={from: low, to: h2}"];
    assert_eq!(mistakes(MACHINE, &two), ["SC044 links.extra"]);
    let apart = ["machine.h2={part: generic-host-gen4}", "links.slot.from=h2", "workloads.other.target=h2"];
    assert_eq!(mistakes(MACHINE, &apart), [""; 0]);
}

#[test]
fn peers_are_below_the_same_root_port() {
    assert_eq!(mistakes(MACHINE, &["workloads.other.target=memory"]), ["SC050 workloads.other.target"]);
    assert_eq!(mistakes(MACHINE, &["workloads.other.target=card"]), ["SC028 workloads.other.target"]);
    assert_eq!(mistakes(MACHINE, &["workloads.other.target=top"]), ["SC028 workloads.other.target"]);
    assert_eq!(mistakes(MACHINE, &["workloads.other.on=memory"]), ["SC028 workloads.other.on"]);
    let block = "workloads.other={block: {size: 4KiB}, on: host, target: memory}";
    assert_eq!(mistakes(MACHINE, &[block]), ["SC028 workloads.other.target"]);
}

/// The bounds are where they belong: one more is refused, and only that.
#[test]
fn a_switch_has_so_many_lanes_turns_and_so_much_room() {
    let within = |sets: &[&str], code: &str| {
        let (last, before) = sets.split_last().expect("the one that is too much");
        assert_eq!(mistakes(CARD, before), [""; 0], "{before:?}");
        assert_eq!(mistakes(CARD, &[before, &[*last]].concat()), [code], "{last}");
    };
    within(&["machine.sw.lanes=32", "machine.sw.lanes=31"], "SC046 machine.sw.lanes");
    within(&["links.bay.width=x8", "machine.sw.lanes=24", "machine.sw.lanes=23"], "SC046 machine.sw.lanes");
    let weights = ["machine.sw.arbitration=weighted", "links.up.weight=128", "links.bay.weight=128"];
    within(&[&weights[..], &["links.bay.weight=129"]].concat(), "SC009 links.bay.weight");
    let third = "links.more={from: sw, to: extra}";
    let more =
        ["machine.extra={part: generic-dma-gen5}", "workloads.more={dma: {size: 64B}, on: extra}", third];
    assert_eq!(mistakes(CARD, &[&weights[..], &more].concat()), ["SC047 machine.sw.arbitration"]);
    assert_eq!(
        mistakes(CARD, &[&weights[1..], &more].concat()),
        [""; 0],
        "turns are not counted where there are none"
    );
    for core in ["crossbar", "shared-bus"] {
        let core = format!("machine.sw.core={core}");
        let sets = [&*core, "machine.sw.output.data=512B", "machine.sw.output.data=511B"];
        within(&sets, "SC048 machine.sw.output.data");
        within(
            &[&core, "links.bay.mps=256B", "machine.sw.output.data=256B", "links.bay.mps=512B"],
            "SC048 machine.sw.output.data",
        );
    }
    let without_buffers = ["machine.sw.core=shared-memory", "machine.sw.output.data=1B"];
    assert_eq!(mistakes(CARD, &without_buffers), ["SC110 machine.sw.output.data"], "it does not matter");
    let enough = "machine.sw.port.completion-data-credits=32";
    assert_eq!(mistakes(CARD, &[enough]), [""; 0]);
    let few = "SC041 machine.sw.port.completion-data-credits";
    assert_eq!(
        mistakes(CARD, &[&enough.replace("32", "31")]),
        [few],
        "said once, though it is wrong at each port"
    );
}

#[test]
fn outages_are_in_the_order_of_time_and_end() {
    let down = |list: &str| mistakes(CARD, &[&format!("links.bay.down={list}")]);
    assert_eq!(down("[]"), [""; 0]);
    assert_eq!(down("[{at: 1us, for: 1us}, {at: 2us, for: 1us}]"), [""; 0]);
    assert_eq!(down("[{at: 1us, for: 1us}, {at: 1999999ps, for: 1us}]"), ["SC049 links.bay.down.at"]);
    assert_eq!(down("[{at: 9us, for: 1us}, {at: 2us, for: 1us}]"), ["SC049 links.bay.down.at"]);
    assert_eq!(down("[{at: 1us, for: 0us}]"), ["SC009 links.bay.down.for"]);
    assert_eq!(down("[{at: 1us, for: 40s}, {at: 50s, for: 21s}]"), ["SC009 links.bay.down.for"]);
    assert_eq!(down("[{at: 5000s, for: 1us}]"), ["SC009 links.bay.down.at"]);
    assert_eq!(down("[{at: 1us}, {for: 1us}]"), ["SC006 links.bay.down.for", "SC006 links.bay.down.at"]);
    assert_eq!(down("[{at: 1us, for: 1us, often: 3}]"), ["SC005 links.bay.down.often"]);
    assert_eq!(down("{at: 1us, for: 1us}"), ["SC007 links.bay.down"]);
    assert_eq!(down("[1us]"), ["SC007 links.bay.down"]);
}

fn wiring(variant: &Variant) -> Wiring {
    let workload = &variant.workloads[0];
    let mut world = World::new(variant, workload, &workload.cases[0], 1);
    world.links().wiring().clone()
}

/// The links are told of everything: what they make of it is their own tests' business.
#[test]
fn the_links_are_told_what_the_switch_and_its_links_say() {
    let sets = [
        "machine.sw.core=crossbar",
        "machine.sw.speed-up=3",
        "machine.sw.output.tlps=7",
        "machine.sw.output.data=1KiB",
        "machine.sw.arbitration=weighted",
        "machine.sw.latency.x8-x16=70ns",
        "machine.sw.port.posted-header-credits=9",
        "machine.sw.port.completion-data-credits=40",
        "links.bay.width=x12",
        "links.bay.weight=3",
        "links.up.down=[{at: 1us, for: 2us}]",
    ];
    let plan = plan("switches.yaml", CARD, &sets);
    let wired = wiring(&plan.variants[0]);
    let [switch] = wired.switches[..] else { panic!("{:?}", wired.switches) };
    let output = OutputBuffer { tlps: 7, data: 64 };
    assert_eq!(switch.core, Some(Core::Crossbar { speed_up: 3, output }));
    assert_eq!((switch.arbitration, switch.latency), (Arbitration::Weighted, Span::from_ns(120)));
    let sw = SwitchId(0);
    let (up, bay) = (LinkId(0), LinkId(1));
    let pairs: Vec<_> = wired.latencies.iter().map(|l| (l.switch, l.from, l.to, l.latency)).collect();
    assert_eq!(pairs, [(sw, bay, up, Span::from_ns(70))], "x12 counts as x8, and only in this direction");
    let weights: Vec<_> = wired.weights.iter().map(|w| (w.switch, w.link, w.weight)).collect();
    assert_eq!(weights, [(sw, bay, 3)]);
    let [outage] = wired.outages[..] else { panic!("{:?}", wired.outages) };
    let us = |us| Instant::ZERO + Span::from_us(us);
    assert_eq!((outage.link, outage.from, outage.until), (up, us(1), us(3)));
    assert_eq!(wired.links[0].ends[1], Attach::Switch(sw));
    // what the switch takes in is what it advertises
    let into = wired.links[0].directions[0].credits;
    assert_eq!((into.header[0], into.data[2], into.header[2]), (Some(9), Some(40), Some(64)));
    assert_eq!(
        wired.links[0].directions[1].credits.header[2], None,
        "a root port has infinite completion credits"
    );
}

#[test]
fn a_weight_counts_at_both_switches_that_a_link_joins_and_at_none_that_takes_turns() {
    let weighted =
        ["machine.top.arbitration=weighted", "machine.low.arbitration=weighted", "links.down.weight=5"];
    let weights = |sets: &[&str]| {
        let wired = wiring(&plan("switches.yaml", MACHINE, sets).variants[0]);
        wired.weights.iter().map(|w| (w.switch, w.link, w.weight)).collect::<Vec<_>>()
    };
    assert_eq!(weights(&weighted), [(SwitchId(0), LinkId(2), 5), (SwitchId(1), LinkId(2), 5)]);
    assert_eq!(weights(&weighted[1..]), [(SwitchId(1), LinkId(2), 5)]);
    assert_eq!(weights(&weighted[2..]), []);
}

fn latency(results: &Results) -> f64 {
    results.rows.iter().find(|row| row.metric == "latency").expect("a latency").value * 1e3
}

fn run(text: &str, sets: &[&str]) -> Results {
    results(&plan("switches.yaml", text, sets), &Options::default())
}

/// By hand: the request and the completions each cross the switch once, and nobody is in the way. Notices of arrival
/// are rounded up to a picosecond.
#[test]
fn a_switch_adds_its_latency_twice_and_what_it_must_have_in_to_forward() {
    let rate = LinkRate::pcie(Generation::Gen4, Width::X16);
    let (flight, forwarding) = (1_000.0, 120_000.0);
    let (header, completion) = (ps(rate.ticks_for(24)), ps(rate.ticks_for(8 + 12 + 512)));
    let direct = latency(&run(CARD, &DIRECT));
    let cut_through = latency(&run(CARD, &[])) - direct;
    assert!((cut_through - 2.0 * (flight + forwarding + header)).abs() <= 2.0, "{cut_through} ps");
    let stored = latency(&run(CARD, &["machine.sw.forwarding=store-and-forward"])) - direct;
    assert!((stored - 2.0 * (flight + forwarding) - header - completion).abs() <= 2.0, "{stored} ps");
}

fn stage(waterfall: &Waterfall, name: &str) -> f64 {
    let found = waterfall.stages.iter().find(|stage| stage.name == name);
    found.unwrap_or_else(|| panic!("no stage {name} in {:#?}", waterfall.stages)).value
}

#[test]
fn a_waterfall_follows_a_read_through_switches_and_back() {
    let results = run(MACHINE, &["machine.low.latency=70ns"]);
    let [read, peer, other] = &results.waterfalls[..] else { panic!("{:#?}", results.waterfalls) };
    // now and then one waits for a SKP or another's TLP
    let names = read.stages.iter().map(|stage| &*stage.name).filter(|name| !name.contains("queue"));
    let names: Vec<&str> = names.collect();
    let expected = [
        "card: issue",
        "bay card → low: wire",
        "low: forwarding to down",
        "down low → top: wire",
        "top: forwarding to up",
        "up top → host: wire",
        "host: memory",
        "up host → top: wire",
        "top: forwarding to down",
        "down top → low: wire",
        "low: forwarding to bay",
        "bay low → card: wire",
        "card: completion",
    ];
    assert_eq!(names, expected);
    let forwarding = [
        "low: forwarding to down",
        "top: forwarding to up",
        "top: forwarding to down",
        "low: forwarding to bay",
    ];
    assert_eq!(forwarding.map(|name| stage(read, name)), [70.0, 120.0, 120.0, 70.0]);
    assert!(stage(peer, "second top → memory: wire") > 0.0 && stage(peer, "memory: memory") == 300.0);
    assert!(!peer.stages.iter().any(|stage| stage.name.contains("host")), "{peer:#?}");
    assert!(!other.stages.iter().any(|stage| stage.name.contains("top")), "{other:#?}");
    assert!(results.waterfalls.iter().all(Waterfall::is_exact));
}

/// A write is done when it has left the card: what the switch does with it is not waited for.
#[test]
fn a_waterfall_of_a_write_ends_with_its_first_wire() {
    let results = run(MACHINE, &["workloads.read.dma.operation=write"]);
    let names: Vec<&str> = results.waterfalls[0].stages.iter().map(|stage| &*stage.name).collect();
    assert_eq!(names, ["card: issue", "bay card → low: wire", "card: completion"]);
}

/// In a cascade longer than what a journey records, nothing is lost: the rest of the way is one stage.
#[test]
fn a_waterfall_of_a_long_way_is_exact_too() {
    let mut text = "about: How far is it?\nmachine:\n  host: {part: generic-host-gen4}\n  card: {part: generic-dma-gen5}\n".to_owned();
    let mut links = "links:\n  l0: {from: host, to: s0}\n".to_owned();
    for i in 0..10 {
        text += &format!("  s{i}: {{model: switch}}\n");
        let to = if i == 9 { "card".into() } else { format!("s{}", i + 1) };
        links += &format!("  l{}: {{from: s{i}, to: {to}}}\n", i + 1);
    }
    text = format!(
        "{text}{links}workloads: {{read: {{dma: {{size: 4KiB, outstanding: 1, transfers: 100}}, on: card}}}}\nrun: {{repeats: 1}}\n"
    );
    let results = run(&text, &[]);
    let waterfall = &results.waterfalls[0];
    assert!(waterfall.is_exact() && stage(waterfall, "l3 s3 → s2: wire and beyond") > 0.0, "{waterfall:#?}");
    assert!(waterfall.total > 20.0 * 120.0);
}

/// The TLPs that a direction has carried while a workload was measured, as a share of the time.
fn busy(results: &Results, workload: &str, link: &str, direction: &str) -> f64 {
    let found = results
        .utilisation
        .iter()
        .find(|u| u.workload == workload && u.link == link && u.direction == direction);
    found.unwrap_or_else(|| panic!("{workload} {link} {direction}")).tlp
}

#[test]
fn peers_leave_the_link_of_the_host_alone() {
    let results = run(MACHINE, &[]);
    assert!(busy(&results, "read", "up", "host → top") > 0.0);
    for direction in ["host → top", "top → host"] {
        assert!(busy(&results, "peer", "up", direction) <= 0.0, "{direction}");
    }
    assert!(
        busy(&results, "peer", "second", "memory → top") > busy(&results, "peer", "second", "top → memory")
    );
    assert!(busy(&results, "peer", "down", "top → low") > 0.0);
}

/// Of several links in a row the one that is full is named, not those that wait for it.
#[test]
fn the_bottleneck_is_the_link_that_is_full_wherever_it_is_on_the_way() {
    let many = ["workloads.read.dma.outstanding=128", "workloads.read.dma.size=4KiB"];
    let bottleneck = |sets: &[&str]| run(MACHINE, &[&many[..], sets].concat()).bottlenecks[0].name.clone();
    for (link, direction) in [("up", "host → top"), ("down", "top → low"), ("bay", "low → card")] {
        assert_eq!(bottleneck(&[&format!("links.{link}.width=x4")]), format!("{link}: {direction}"));
    }
    let write = "workloads.read.dma.operation=write";
    for (link, direction) in [("up", "top → host"), ("down", "low → top"), ("bay", "card → low")] {
        assert_eq!(bottleneck(&[write, &format!("links.{link}.width=x4")]), format!("{link}: {direction}"));
    }
}

#[test]
fn a_drive_below_a_switch_is_driven_by_the_root_port_above_it() {
    let text = "
about: Is the doorbell heard?
machine: {host: {part: generic-host-gen4}, sw: {model: switch}, card: {part: generic-dma-gen5}, ssd: {part: generic-nvme-gen4}}
links: {slot: {from: host, to: card}, up: {from: host, to: sw}, bay: {from: sw, to: ssd}}
workloads: {rand: {block: {size: 4KiB, depth: 4, requests: 100}, on: host, target: ssd}}
run: {repeats: 1}
";
    let checked = check(Path::new("switches.yaml"), text, &[], &Catalogue::built_in());
    let plan: Plan = checked.plan.expect("a plan");
    let mut world = {
        let workload = &plan.variants[0].workloads[0];
        World::new(&plan.variants[0], workload, &workload.cases[0], 1)
    };
    world.kernel.run_until(Instant::ZERO + Span::from_us(1000));
    assert!(world.progress().1 > 10, "{:?}", world.progress());
    let fabric = world.links().fabric();
    let [slot, up, bay] = [0, 2, 4].map(|egress| fabric.activity(EgressId(egress)).tlps);
    assert!(slot == 0 && up > 10 && bay > 10, "doorbells go the way of the drive");
}
