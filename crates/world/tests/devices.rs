//! Are several devices that are asked at once measured as several, and as one? Each load has its own random numbers,
//! handles and signals, all of them the same window, and what is said of the sum follows from what is said of each.

use crate::tree::{options, plan, results, substance};
use lanetwin_kernel::Tap;
use lanetwin_plan::{Pair, Plan, WorkloadPlan, check_text};
use lanetwin_ports::{Message, Transfer};
use lanetwin_stats::jain;
use lanetwin_stats::results::{Results, Row};
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Granularity, Options, World};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

const SEED: u64 = 3;

/// Cards of one host, each in a slot of its own, without anything that comes at times of its own.
const CARDS: &str = "
about: What do cards get that ask at once?
machine:
  host: {part: generic-host-gen4}
  card1: {part: generic-dma-gen5}
  card2: {part: generic-dma-gen5}
links:
  slot1: {from: host, to: card1, skp: off, dllp: off}
  slot2: {from: host, to: card2, skp: off, dllp: off}
workloads:
  w: {dma: {size: 512B, window: 1MiB, outstanding: 32, transfers: 2000}, on: [card1, card2]}
run: {repeats: 3}
";

/// Drives of one host.
const DRIVES: &str = "
about: What do drives get that are asked at once?
machine:
  host: {part: generic-host-gen4}
  ssd1: {part: generic-nvme-gen4}
  ssd2: {part: generic-nvme-gen4}
links:
  bay1: {from: host, to: ssd1}
  bay2: {from: host, to: ssd2}
workloads:
  w: {block: {size: 4KiB, depth: 8, read: 70%, requests: 1000}, on: host, target: [ssd1, ssd2]}
run: {repeats: 3}
";

fn cards(sets: &[&str]) -> Plan {
    plan("cards.yaml", CARDS, sets)
}
fn drives(sets: &[&str]) -> Plan {
    plan("drives.yaml", DRIVES, sets)
}
fn run(plan: &Plan) -> Results {
    results(plan, &Options::default())
}

/// The only world of a plan.
fn world(plan: &Plan) -> World {
    let variant = &plan.variants[0];
    let workload = &variant.workloads[0];
    World::new(variant, workload, &workload.cases[0], SEED)
}

/// What loads ask for, by their path.
type Asked = BTreeMap<String, Vec<(Instant, Transfer)>>;

struct Listener(Rc<RefCell<Asked>>);

impl Tap<Message> for Listener {
    fn see(&mut self, at: Instant, from: &str, _: &str, message: &Message) {
        if let (true, Message::Dma(transfer) | Message::Block(transfer)) =
            (from.starts_with("(load)"), message)
        {
            self.0.borrow_mut().entry(from.to_owned()).or_default().push((at, *transfer));
        }
    }
}

/// What the loads of a plan ask for in a while; what was asked at the very start is not heard.
fn asked(plan: &Plan) -> Asked {
    let heard = Rc::new(RefCell::new(Asked::new()));
    let mut world = world(plan);
    world.kernel.set_tap(Some(Box::new(Listener(Rc::clone(&heard)))));
    world.kernel.run_until(Instant::ZERO + Span::from_us(1000));
    let asked = heard.borrow().clone();
    assert!(
        asked.len() == world.loads.len() && asked.values().all(|asked| asked.len() > 20),
        "{:?}",
        asked.keys()
    );
    asked
}

/// The rows of a metric: of all devices together, and of each.
fn rows<'a>(results: &'a Results, metric: &str) -> (&'a Row, Vec<&'a Row>) {
    let all: Vec<&Row> = results.rows.iter().filter(|row| row.metric == metric).collect();
    let (together, each): (Vec<_>, Vec<_>) = all.into_iter().partition(|row| row.device.is_none());
    let [together] = together[..] else { panic!("{metric}: {together:#?}") };
    (together, each)
}

fn percentile(row: &Row, percent: f64) -> f64 {
    row.percentiles.iter().find(|pair| pair.0 == percent).expect("the percentile").1
}

#[test]
fn a_list_of_one_is_the_one() {
    let [name, list] =
        [cards(&["workloads.w.on=card1"]), cards(&["workloads.w.on=[card1]"])].map(|plan| run(&plan));
    assert_eq!((name.digest, &name.rows), (list.digest, &list.rows));
    assert!(name.rows.iter().all(|row| row.device.is_none() && row.metric != "fairness"));
    assert!(name.rows.iter().all(|row| row.percentiles.iter().all(|pair| pair.0 < 100.0)));
}

#[test]
fn the_sum_follows_from_the_devices() {
    for plan in [
        cards(&["links.slot2.width=x2"]),
        cards(&["workloads.w.dma.operation=write"]),
        drives(&["workloads.w.block.read=1"]),
    ] {
        let results = run(&plan);
        let (throughput, each) = rows(&results, "throughput");
        assert_eq!(each.iter().filter_map(|row| row.device.as_deref()).collect::<BTreeSet<_>>().len(), 2);
        for repeat in 0..3 {
            let shares: Vec<f64> = each.iter().map(|row| row.samples[repeat]).collect();
            let sum: f64 = shares.iter().sum();
            // of few operations each device has a time of its own, by Little's law
            assert!((sum / throughput.samples[repeat] - 1.0).abs() < 2e-2, "{sum} {throughput:?}");
            let (fairness, none) = rows(&results, "fairness");
            let expected = jain(&shares).expect("something was moved");
            assert!(none.is_empty() && fairness.unit.is_empty());
            assert!((fairness.samples[repeat] - expected).abs() < 1e-12, "{expected} {fairness:?}");
        }
        let (latency, each) = rows(&results, "latency");
        for percent in [50.0, 99.9, 100.0] {
            let [a, b] = [0, 1].map(|i| percentile(each[i], percent));
            let both = percentile(latency, percent);
            assert!(a.min(b) <= both && both <= a.max(b), "{percent}: {a} {b} {both}");
            assert!(percent < 100.0 || both == a.max(b), "the longest of all is the longest of one");
        }
        let [low, high] = [f64::min, f64::max].map(|of| of(each[0].value, each[1].value));
        assert!(
            (low * (1.0 - 1e-12)..=high * (1.0 + 1e-12)).contains(&latency.value),
            "{low} {high} {latency:?}"
        );
    }
}

/// A quarter of the lanes: a quarter of the throughput, and a fairness that follows from it: (4 + 1)² ÷ (2 (16 + 1)).
#[test]
fn lanes_make_shares() {
    let results = run(&cards(&[
        "links.slot1.width=x8",
        "links.slot2.width=x2",
        "links.slot1.gen=4",
        "links.slot2.gen=4",
    ]));
    let (_, each) = rows(&results, "throughput");
    assert!((each[0].value / each[1].value - 4.0).abs() < 0.05, "{each:#?}");
    let (fairness, _) = rows(&results, "fairness");
    assert!((fairness.value - 25.0 / 34.0).abs() < 0.005, "{fairness:?}");
}

#[test]
fn verdicts_are_on_all_devices_together() {
    let text = CARDS.to_owned() + "variants: {wide: {}, narrow: {links.slot2.width: x2}}\n";
    let results = run(&plan("narrow.yaml", &text, &[]));
    let judged: Vec<&str> = results.verdicts.iter().map(|verdict| &*verdict.metric).collect();
    assert_eq!(judged, ["throughput", "latency", "fairness"]);
    let again =
        lanetwin_world::compare(&results, &results, lanetwin_stats::Margin::new(0.02).expect("a margin"));
    assert_eq!(again.verdicts.len(), 2 * judged.len(), "{:#?}", again.verdicts);
    let told = |device: Option<&str>| again.rows.iter().filter(|row| row.device.as_deref() == device).count();
    assert!(told(None) > 0 && told(Some("card1")) > 0 && told(Some("card1")) == told(Some("card2")));
}

/// A value of 0 has no relative change to another one; two of them are equal.
#[test]
fn nothing_is_judged_relative_to_zero() {
    let some = run(&plan("zero.yaml", CARDS, &[]));
    let mut none = some.clone();
    for row in &mut none.rows {
        (row.value, row.low, row.high) = (0.0, Some(0.0), Some(0.0));
        row.samples.clear();
    }
    let margin = lanetwin_stats::Margin::new(0.02).expect("a margin");
    let of = |a, b| lanetwin_world::compare(a, b, margin).verdicts;
    assert_eq!(of(&none, &some), []);
    let zeros = of(&none, &none);
    let are_equal = |v: &lanetwin_stats::results::VerdictRow| v.change == 0.0 && v.low == Some(0.0);
    assert!(!zeros.is_empty() && zeros.iter().all(are_equal), "{zeros:#?}");
}

/// A load's random numbers come from its device's name: another order, other neighbours, nothing else.
#[test]
fn what_a_device_is_asked_does_not_depend_on_the_others() {
    let places = |asked: &[(Instant, Transfer)]| {
        asked.iter().map(|(_, t)| (t.operation, t.address)).take(20).collect::<Vec<_>>()
    };
    let there = asked(&drives(&["workloads.w.block.rate=400MB/s", "workloads.w.block.depth=null"]));
    let back = asked(&drives(&[
        "workloads.w.block.rate=400MB/s",
        "workloads.w.target=[ssd2, ssd1]",
        "workloads.w.block.depth=null",
    ]));
    for path in ["(load)/ssd1", "(load)/ssd2"] {
        assert_eq!(places(&there[path]), places(&back[path]), "{path}");
    }
    assert_ne!(places(&there["(load)/ssd1"]), places(&there["(load)/ssd2"]));
}

#[test]
fn evenly_spaced_loads_ask_at_the_same_instants() {
    let even = [
        cards(&[
            "workloads.w.dma.rate=20Gb/s",
            "workloads.w.dma.outstanding=null",
            "workloads.w.dma.arrivals=fixed",
        ]),
        drives(&[
            "workloads.w.block.rate=800MB/s",
            "workloads.w.block.depth=null",
            "workloads.w.block.arrivals=fixed",
        ]),
    ];
    let instants = |asked: &[(Instant, Transfer)]| asked.iter().map(|(at, _)| *at).collect::<Vec<_>>();
    for plan in even {
        let asked: Vec<_> = asked(&plan).into_values().map(|asked| instants(&asked)).collect();
        assert_eq!(asked[0], asked[1]);
        let gaps: BTreeSet<Span> = asked[0].windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!(gaps.len(), 1, "{gaps:?}");
    }
    let random = asked(&cards(&["workloads.w.dma.rate=20Gb/s", "workloads.w.dma.outstanding=null"]));
    assert_ne!(instants(&random["(load)/card1"]), instants(&random["(load)/card2"]));
}

/// Both cards ask at once, and one page walker serves one after the other: the last of the two waits for a walk.
#[test]
fn the_longest_latency_is_that_of_the_last_of_those_that_come_together() {
    let machine = [
        "machine.host.iommu=true",
        "machine.host.iommu.walkers=1",
        "machine.host.iotlb.entries=1",
        "machine.host.iommu.walk=300ns",
    ];
    let load = [
        "workloads.w.dma.rate=1Gb/s",
        "workloads.w.dma.outstanding=null",
        "workloads.w.dma.arrivals=fixed",
        "workloads.w.dma.window=64MiB",
    ];
    let sets = [&machine[..], &load[..]].concat();
    let both = run(&cards(&sets));
    let alone = run(&cards(&[&sets[..], &["workloads.w.on=card1"]].concat()));
    let alone = rows(&alone, "latency").0.percentiles.last().expect("percentiles").1;
    let (together, each) = rows(&both, "latency");
    let longest = percentile(together, 100.0);
    assert!((longest - alone - 300.0).abs() < 1.0, "{longest} {alone}");
    // the channel of card1 comes first by its name, in every pair
    assert!((percentile(each[0], 100.0) - alone).abs() < 1.0, "{each:#?}");
    assert_eq!(percentile(each[1], 100.0), longest);
}

fn has_nothing_unexpected(world: &World) {
    let mut looked = BTreeSet::new();
    world.kernel.inspect("", &mut |name, value| {
        if let Some(component) = name.strip_suffix("/unexpected").or_else(|| name.strip_suffix("/refused")) {
            assert_eq!(value, "0", "{name}");
            looked.insert(component.to_owned());
        }
    });
    assert!(looked.iter().any(|name| name.starts_with("(driver)/")), "{looked:?}");
}

/// Every handle is of one load alone, and signals come to the driver whose they are.
#[test]
fn drivers_see_their_own_signals_alone() {
    let plan = drives(&[]);
    let mut handles: BTreeMap<u32, BTreeSet<String>> = BTreeMap::new();
    for (path, asked) in asked(&plan) {
        asked.iter().for_each(|(_, t)| {
            handles.entry(t.handle).or_default().insert(path.clone());
            assert_eq!(t.unit, 0);
        });
    }
    assert!(handles.len() == 16 && handles.values().all(|loads| loads.len() == 1), "{handles:#?}");
    assert_eq!(handles.keys().copied().collect::<Vec<_>>(), (0..16).collect::<Vec<_>>());
    let mut world = world(&plan);
    world.kernel.run_until(Instant::ZERO + Span::from_us(500));
    has_nothing_unexpected(&world);
}

/// Two logical units of one drive: a load and a driver each, whose requests the drive takes as different ones.
#[test]
fn two_units_of_a_device_are_two_loads() {
    let mut plan = drives(&["workloads.w.target=ssd1"]);
    let WorkloadPlan { pairs, .. } = &mut plan.variants[0].workloads[0];
    let unit = |unit: u16| Pair { unit, device: format!("ssd1.lun{unit}"), ..pairs[0].clone() };
    *pairs = vec![unit(0), unit(1)];
    for (path, asked) in asked(&plan) {
        let unit = u16::from(path == "(load)/ssd1.lun1");
        assert!(asked.iter().all(|(_, t)| t.unit == unit), "{path}");
    }
    let mut world = world(&plan);
    world.kernel.run_until(Instant::ZERO + Span::from_us(500));
    has_nothing_unexpected(&world);
    let end = world.kernel.now();
    let [a, b] = &world.results(end)[..] else { panic!("two loads") };
    for load in [a, b] {
        assert_eq!(load.outstanding, 8);
        assert!(load.reads.completed + load.writes.completed > 30, "{load:?}");
    }
    let devices: Vec<_> = run(&plan).rows.iter().filter_map(|row| row.device.clone()).collect();
    assert!(devices.contains(&"ssd1.lun0".into()) && devices.contains(&"ssd1.lun1".into()), "{devices:?}");
}

/// Nothing of several drives depends on threads or granularity.
#[test]
fn several_drives_are_deterministic() {
    for sets in [&[][..], &["workloads.w.block.rate=1GB/s", "workloads.w.block.depth=null"]] {
        let plan = drives(sets);
        let [train, tlp] = [(1, Granularity::Train), (2, Granularity::Tlp)]
            .map(|(threads, granularity)| results(&plan, &options(threads, granularity)));
        assert_eq!(substance(&train), substance(&tlp));
    }
}

/// Each of several drives or cards has a waterfall of its own operations, which goes through no other.
#[test]
fn each_of_several_devices_has_a_waterfall() {
    let (both, ssds) = (["card1", "card2"], ["ssd1", "ssd2"]);
    let alike = (cards(&[]), both);
    let lonely = (cards(&["workloads.w.dma.outstanding=1"]), both);
    // while the median reads of the wide one are under way, the narrow one answers much later, under the same handles
    let unlike = (cards(&["links.slot2.width=x4"]), both);
    for (plan, of) in [alike, lonely, unlike, (drives(&[]), ssds)] {
        let results = run(&plan);
        let devices: BTreeSet<_> = results.waterfalls.iter().filter_map(|w| w.device.as_deref()).collect();
        assert_eq!(devices, BTreeSet::from(of), "{:#?}", results.waterfalls);
        for waterfall in &results.waterfalls {
            let through = |device: &&str| waterfall.stages.iter().any(|stage| stage.name.contains(*device));
            let device = waterfall.device.as_deref().unwrap_or_default();
            assert_eq!(of.into_iter().filter(through).collect::<Vec<_>>(), [device], "{waterfall:#?}");
            assert!(waterfall.is_exact() && waterfall.stages.len() > 4, "{waterfall:#?}");
        }
    }
    let results = run(&cards(&["workloads.w.dma.outstanding=1"]));
    let latency = rows(&results, "latency").0.value;
    assert!((results.waterfalls[0].total - latency).abs() < 1e-6, "{latency}");
    assert_eq!(results.bottlenecks[0].name, "load: one at a time for each device");
}

/// Names that are wrong are all told, each at its place in the list.
#[test]
fn every_wrong_name_of_a_list_is_told() {
    let found = |text: &str, from: &str, to: &str| {
        assert!(text.contains(from), "{from}");
        let found = check_text(&text.replace(from, to));
        found.iter().map(|d| (d.code, d.column, d.path.clone())).collect::<Vec<_>>()
    };
    let on = || "workloads.w.on".to_owned();
    let target = || "workloads.w.target".to_owned();
    let column =
        |text: &str, word: &str| text.lines().find_map(|line| line.find(word)).expect("the word") as u32 + 1;
    let list = "on: [card1, card2]";
    let first = column(CARDS, list) + 5;
    let tale = found(CARDS, list, "on: [car1, card2, host, nobody]");
    assert_eq!(tale, [("SC013", first, on()), ("SC013", first + 19, on())]);
    assert_eq!(
        found(CARDS, list, "on: [card1, host, host]"),
        [("SC028", first + 7, on()), ("SC028", first + 13, on()), ("SC054", first + 13, on())]
    );
    assert_eq!(found(CARDS, list, "on: []"), [("SC034", first - 1, on())]);
    assert_eq!(found(CARDS, list, "on: [[card1]]"), [("SC007", first, on())]);
    let list = "target: [ssd1, ssd2]";
    let first = column(DRIVES, list) + 9;
    let tale = found(DRIVES, list, "target: [ssd1.lun1, ssd2.pcie, ssd3.lun0]");
    assert_eq!(
        tale,
        [("SC055", first, target()), ("SC056", first + 11, target()), ("SC013", first + 22, target())]
    );
    assert_eq!(found(DRIVES, list, "target: [ssd1.lun0, ssd1]"), [("SC054", first + 11, target())]);
    assert_eq!(
        found(CARDS, "on: [card1, card2]", "on: card1, target: [host]"),
        [("SC053", column(CARDS, "on: [card1") + 19, target())]
    );
    assert_eq!(found(DRIVES, "on: host", "on: [host]"), [], "hosts that share drives are a list, if of one");
    for word in ["lun", "lun+1", "lun01", "Lun1", "lun1.x", ""] {
        assert_eq!(
            found(DRIVES, list, &format!("target: \"ssd1.{word}\"")),
            [("SC056", first - 1, target())],
            "{word}"
        );
    }
    for word in ["lun65536", "lun18446744073709551615"] {
        assert_eq!(
            found(DRIVES, list, &format!("target: ssd1.{word}")),
            [("SC055", first - 1, target())],
            "{word}"
        );
    }
}

/// The port of a disk behind a wrapper is the wrapper's.
#[test]
fn a_disk_behind_a_wrapper_cannot_be_asked_past_it() {
    let text = "
about: Whose is the port?
machine: {host: {part: generic-host-gen4}, slow: {model: delay}, disk: {part: null-device}}
links: {chain: {from: slow.down, to: disk}}
workloads: {w: {block: {size: 4KiB}, on: host, target: disk}}
";
    let found = check_text(text);
    assert!(found.iter().any(|d| d.code == "SC057" && d.message.contains("link `chain`")), "{found:#?}");
}
