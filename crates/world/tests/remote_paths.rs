//! Several paths to a drive over a network: which of them requests take, and what becomes of them when one is lost.

use crate::tree::{plan, results};
use lanetwin_kernel::Reading;
use lanetwin_models::multipath::{Multipath, PathCounts};
use lanetwin_models::nvme_ssd::NvmeSsd;
use lanetwin_plan::{Catalogue, Plan, check};
use lanetwin_ports::{BlockCommand, BlockCommandKind, Message, Status};
use lanetwin_stats::results::ComponentMetric;
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Granularity, Options, World};
use std::collections::BTreeMap;
use std::path::Path;

/// A host and a box with two adapters each, and a switch for each pair of them.
pub const MACHINE: &str = "
about: What does a second path over a network do?
machine:
  server: {part: generic-host-gen4, cores: 4, driver.keep-alive: 2ms}
  nic1: {part: connectx-5-ex, roce.timeout: 60ms}
  nic2: {part: connectx-5-ex, roce.timeout: 60ms}
  tor1: {part: generic-ethernet-switch-100g}
  tor2: {part: generic-ethernet-switch-100g}
  box: {part: generic-host-gen4}
  port1: {part: connectx-5-ex, roce.timeout: 60ms}
  port2: {part: connectx-5-ex, roce.timeout: 60ms}
  ssd: {part: intel-900p}
links:
  slot1: {from: server, to: nic1}
  slot2: {from: server, to: nic2}
  net1: {from: nic1, to: tor1}
  net2: {from: nic2, to: tor2}
  box-net1: {from: tor1, to: port1}
  box-net2: {from: tor2, to: port2}
  box-slot1: {from: box, to: port1}
  box-slot2: {from: box, to: port2}
  bay: {from: box, to: ssd}
subsystems:
  jbof: {port: [port1, port2], namespaces: ssd}
workloads:
  mixed: {block: {size: 4KiB, depth: 16, read: 50%, span: 1GiB, requests: 3000}, on: server, target: ssd}
run: {repeats: 1, warm-up: 50}
";
const DOWN: &str = "links.box-net1.down=[{at: 3ms, for: 10s}]";
pub const TCP: &str = "subsystems.jbof.transport=tcp";

/// What has become of a world with one cable that goes down after 3 ms, for good.
struct Left {
    progress: (u64, u64),
    counts: PathCounts,
    /// What the drive read and wrote for the host \[B\].
    moved: u64,
    /// How long nothing was answered \[ms\].
    pause: f64,
    /// Answers up to 3 ms, and to 15 ms.
    answered: [u64; 2],
}

fn level(world: &mut World, name: &str) -> f64 {
    let told = world.kernel.report().into_iter().flat_map(|(_, _, report)| report.metrics);
    let mut found = told.filter(|entry| entry.metric.name == name).map(|entry| match entry.reading {
        Reading::Level(value) => value,
        Reading::Count(count) => count as f64,
        _ => panic!("{name} is neither a level nor a count"),
    });
    found.next().unwrap_or_else(|| panic!("nobody tells {name}"))
}

/// What has become of a world, and that itself.
struct Returned {
    left: Left,
    world: World,
}

impl Returned {
    fn of(sets: &[&str]) -> Self {
        let (left, world) = live_in(sets);
        Self { left, world }
    }
}

fn live(sets: &[&str]) -> Left {
    live_in(sets).0
}

fn live_in(sets: &[&str]) -> (Left, World) {
    let plan = plan("paths.yaml", MACHINE, sets);
    let variant = &plan.variants[0];
    let workload = &variant.workloads[0];
    let mut world = World::new(variant, workload, &workload.cases[0], 1);
    let answered = [3_000, 15_000].map(|us| {
        world.kernel.run_until(Instant::ZERO + Span::from_us(us));
        world.progress().1
    });
    world.kernel.run_until(Instant::ZERO + Span::from_us(30_000));
    world.stop();
    world.kernel.run_until(Instant::ZERO + Span::from_us(2_000_000));
    let (drive, paths) = (world.drives[0].1, world.paths[0].1);
    let counts = world.kernel.component::<Multipath>(paths).expect("paths").counts();
    let now = world.kernel.now();
    let drive = world.kernel.component::<NvmeSsd>(drive).expect("a drive");
    let counters = drive.totals(now).expect("a drive that works").counters;
    let moved = counters.host_bytes_read + counters.host_bytes_written;
    let left = Left {
        progress: world.progress(),
        counts,
        moved,
        pause: level(&mut world, "longest pause"),
        answered,
    };
    (left, world)
}

/// Whatever was asked was answered, once, and the drive did it; again what was under way when the path was lost.
fn nothing_is_lost_or_doubled(left: &Left, told: &str) {
    let (asked, answered) = left.progress;
    let PathCounts { asked: taken, answered: given, retried, unexpected } = left.counts;
    assert!(asked > 500 && asked == answered, "{told}: {answered} of {asked}");
    assert_eq!((taken, given, unexpected), (asked, asked, 0), "{told}");
    assert!((1..=16).contains(&retried), "{told}: {retried}");
    let least = asked * 4096;
    assert!(
        (least..=least + retried * 4096).contains(&left.moved),
        "{told}: {} B, {least} B asked for",
        left.moved
    );
}

#[test]
fn a_path_that_is_lost_under_load_costs_a_pause_and_no_request() {
    for transport in [&[][..], &[TCP]] {
        for policy in ["numa", "round-robin", "queue-depth"] {
            let chosen = format!("machine.server.driver.multipath={policy}");
            let sets = [transport, &[DOWN, &chosen]].concat();
            let left = live(&sets);
            let told = format!("{transport:?}, {policy}");
            nothing_is_lost_or_doubled(&left, &told);
            let [before, after] = left.answered;
            assert!(before > 50 && after > before + 500, "{told}: {before}, {after}");
            // at most two looks of half the time-out, then the time-out
            match policy {
                // a path with as much in flight as the other waits for its loss; the other goes on
                "queue-depth" => assert!(left.pause < 1.0, "{told}: {} ms", left.pause),
                _ => assert!((2.0..4.5).contains(&left.pause), "{told}: {} ms", left.pause),
            }
        }
    }
}

/// Flush, Write Zeroes and Deallocate in turn, asked so that some are over, some are under way and some are still to
/// come when the cable goes down: a second path answers what the first does not.
#[test]
fn commands_that_move_no_data_are_answered_once_where_a_path_dies() {
    const KINDS: [BlockCommandKind; 3] =
        [BlockCommandKind::Flush, BlockCommandKind::WriteZeroes, BlockCommandKind::Deallocate];
    const COMMANDS: u32 = 60;
    for transport in [&[][..], &[TCP]] {
        for policy in ["numa", "round-robin", "queue-depth"] {
            let told = format!("{transport:?}, {policy}");
            let chosen = format!("machine.server.driver.multipath={policy}");
            let plan = plan("paths.yaml", MACHINE, &[transport, &[DOWN, &chosen]].concat());
            let variant = &plan.variants[0];
            let mut world = World::without_load(variant, &variant.workloads[0].pairs, 1);
            let opening = world.openings[0].clone();
            let handle = |number: u32| opening.handles.nth(number as usize);
            for number in 0..COMMANDS {
                let kind = KINDS[number as usize % KINDS.len()];
                let bytes = if kind == BlockCommandKind::Flush { 0 } else { 4096 };
                let address = u64::from(number) * 4096;
                let command =
                    BlockCommand { kind, bytes, handle: handle(number), unit: opening.pair.unit, address };
                let at = Instant::ZERO + Span::from_us(2_800 + 10 * u64::from(number));
                world.kernel.inject(at, opening.entry, Message::Command(command));
            }
            world.kernel.run_until(Instant::ZERO + Span::from_us(2_000_000));
            let mut answers: BTreeMap<u32, Vec<(Instant, Status)>> = BTreeMap::new();
            for emitted in world.kernel.take_out() {
                let Message::BlockDone(done) = emitted.message else { panic!("{told}: {emitted:?}") };
                answers.entry(done.handle).or_default().push((emitted.at, done.status));
            }
            for number in 0..COMMANDS {
                let own = answers.get(&handle(number)).map_or(&[][..], Vec::as_slice);
                let kind = KINDS[number as usize % KINDS.len()];
                assert!(matches!(own, [(_, Status::Ok)]), "{told}: {kind:?} {number}: {own:?}");
            }
            assert_eq!(answers.len(), COMMANDS as usize, "{told}: answers that nobody waits for");
            let paths = world.paths[0].1;
            let counts = world.kernel.component::<Multipath>(paths).expect("paths").counts();
            let PathCounts { asked, answered, retried, unexpected } = counts;
            assert_eq!((asked, answered, unexpected), (COMMANDS.into(), COMMANDS.into(), 0), "{told}");
            // each kind was under way by the path that died, and had no answer there
            assert!((3..=u64::from(COMMANDS)).contains(&retried), "{told}: {retried}");
            let down = Instant::ZERO + Span::from_us(3_000);
            let before = answers.values().filter(|own| own[0].0 < down).count();
            assert!(before >= KINDS.len(), "{told}: {before} before the path died");
            let drive = world.drives[0].1;
            let now = world.kernel.now();
            let drive = world.kernel.component::<NvmeSsd>(drive).expect("a drive");
            let counters = drive.totals(now).expect("a drive that works").counters;
            let moved = counters.host_bytes_read + counters.host_bytes_written;
            assert_eq!(moved, 0, "{told}: these commands carry no data");
        }
    }
}

#[test]
fn a_connection_that_its_transport_gives_up_ends_its_path_before_a_keep_alive_does() {
    let retries = ["machine.nic1.roce.timeout=500us", "machine.nic1.roce.retries=2"];
    let left = live(&[DOWN, "machine.server.driver.keep-alive=5s", retries[0], retries[1]]);
    nothing_is_lost_or_doubled(&left, "by RDMA");
    assert!((1.0..4.0).contains(&left.pause), "{} ms", left.pause);
}

#[test]
fn requests_take_optimized_paths_as_long_as_there_are_some() {
    let sent = |sets: &[&str]| -> [f64; 2] {
        let results = results(&plan("paths.yaml", MACHINE, sets), &Options::default());
        ["port1", "port2"].map(|port| {
            let is_its = |row: &&ComponentMetric| row.component == port && row.metric == "payload sent";
            let found = results.components.iter().find(is_its);
            found.expect("an adapter tells what it sends").value
        })
    };
    let turns = "machine.server.driver.multipath=round-robin";
    let [one, other] = sent(&[turns]);
    assert!((one / other - 1.0).abs() < 0.1, "in turn: {one}, {other} MB/s");
    for (worse, best) in [("port1", 1), ("port2", 0)] {
        let said = format!("subsystems.jbof.non-optimized={worse}");
        let both = sent(&[turns, &said]);
        assert!(both[best] > 10.0 && both[1 - best] == 0.0, "{worse}: {both:?}");
    }
    let none = "subsystems.jbof.non-optimized=[port1, port2]";
    let [one, other] = sent(&[turns, none]);
    assert!((one / other - 1.0).abs() < 0.1, "none is better: {one}, {other} MB/s");
}

/// Times that are short enough for a run of some milliseconds.
const QUICK: [&str; 2] =
    ["machine.server.driver.reconnect-delay=2ms", "machine.server.driver.connect-timeout=1ms"];

#[test]
fn a_path_that_comes_back_is_used_as_before() {
    for transport in [&[][..], &[TCP]] {
        for policy in ["numa", "round-robin", "queue-depth"] {
            let chosen = format!("machine.server.driver.multipath={policy}");
            let down = ["links.box-net1.down=[{at: 3ms, for: 8ms}]", "workloads.mixed.block.requests=9000"];
            let sets = [transport, &QUICK, &down, &[&chosen]].concat();
            let told = format!("{transport:?}, {policy}");
            let mut back = Returned::of(&sets);
            nothing_is_lost_or_doubled(&back.left, &told);
            let [left, again] = ["path left at", "path back at"].map(|name| level(&mut back.world, name));
            // attempts each 3 ms from the loss on, the first that the cable carries makes it
            let attempts = ((again - left - 2.0) / 3.0).round();
            assert!(
                (5.0..8.0).contains(&left) && (11.0..14.1).contains(&again),
                "{told}: {left}, {again} ms"
            );
            let late = again - left - 2.0 - 3.0 * attempts;
            assert!((0.0..0.1).contains(&late), "{told}: {late} ms for connections");
            let shares = ["before", "meanwhile", "afterwards"]
                .map(|when| level(&mut back.world, &format!("requests by that path {when}")));
            let usual = if policy == "numa" { 100.0 } else { 50.0 };
            // in its last milliseconds nothing that it was asked came back: the shorter queue was the other
            let before = if policy == "queue-depth" { 15.0..usual } else { usual - 8.0..usual + 8.0 };
            let is_as_before = (shares[2] - usual).abs() < 8.0;
            assert!(before.contains(&shares[0]) && is_as_before, "{told}: {shares:?} %");
            assert!(shares[1] < 0.01, "{told}: {shares:?} %");
        }
    }
}

#[test]
fn requests_that_no_path_takes_wait_or_end_with_an_error_as_they_are_told() {
    let both = ["links.box-net1.down=[{at: 3ms, for: 50s}]", "links.box-net2.down=[{at: 3ms, for: 50s}]"];
    let wait = Returned::of(&[&QUICK[..], &both].concat()).left;
    assert!(wait.progress.0 - wait.progress.1 == 16, "all that are under way wait: {:?}", wait.progress);
    let gives_up = ["machine.server.driver.fast-io-fail=5ms", "machine.server.driver.ctrl-loss-timeout=6ms"];
    for set in gives_up {
        let left = Returned::of(&[&QUICK[..], &both, &[set]].concat()).left;
        assert_eq!(left.progress.0, left.progress.1, "{set}: {:?}", left.progress);
        assert!(left.counts.unexpected == 0 && left.counts.answered == left.progress.1, "{set}");
    }
}

#[test]
fn hosts_read_of_changes_of_access_and_follow_them() {
    let change = |states: &[(&str, &str, u32)]| -> String {
        let all =
            states.iter().map(|(port, state, ms)| format!("{{at: {ms}ms, port: {port}, state: {state}}}"));
        format!("subsystems.jbof.ana=[{}]", all.collect::<Vec<_>>().join(", "))
    };
    for transport in [&[][..], &[TCP]] {
        for (state, meanwhile) in [("non-optimized", 0.0), ("inaccessible", 0.0)] {
            let ana = change(&[("port1", state, 3), ("port1", "optimized", 6)]);
            let sets = [transport, &[&ana, "workloads.mixed.block.requests=6000"]].concat();
            let told = format!("{transport:?}, {state}");
            let mut back = Returned::of(&sets);
            let PathCounts { asked, answered, retried, unexpected } = back.left.counts;
            assert!(asked == answered && unexpected == 0, "{told}: {:?}", back.left.counts);
            // what is on its way to a port that becomes inaccessible is refused, and asked again
            assert!(
                if state == "inaccessible" { (1..=16).contains(&retried) } else { retried == 0 },
                "{told}"
            );
            let names = ["path left at", "path back at", "requests by that path before"];
            let [left, again, before] = names.map(|name| level(&mut back.world, name));
            let [during, after] = ["meanwhile", "afterwards"]
                .map(|when| level(&mut back.world, &format!("requests by that path {when}")));
            // an event, a command and its answer later
            assert!(3.0 < left && left < 3.2 && 6.0 < again && again < 6.2, "{told}: {left}, {again} ms");
            assert!(before > 99.0 && after > 99.0 && (during - meanwhile).abs() < 0.1, "{told}: {during} %");
            assert_eq!(level(&mut back.world, "changes of ANA state"), 2.0, "{told}");
        }
    }
}

#[test]
fn where_all_paths_are_inaccessible_requests_wait() {
    let ana = "subsystems.jbof.ana=[{at: 3ms, port: port1, state: inaccessible}, {at: 3ms, port: port2, state: inaccessible}, {at: 8ms, port: port2, state: non-optimized}]";
    let mut back = Returned::of(&[ana]);
    assert_eq!(back.left.progress.0, back.left.progress.1);
    let pause = level(&mut back.world, "longest pause");
    assert!((4.9..5.3).contains(&pause), "{pause} ms");
}

#[test]
fn trains_change_nothing_where_a_cable_goes_down() {
    for transport in [&[][..], &[TCP]] {
        let short = "links.net1.down=[{at: 1ms, for: 20us}]";
        let plan = plan("paths.yaml", MACHINE, &[transport, &[short]].concat());
        let ran = |granularity| results(&plan, &Options { granularity, ..Options::default() });
        let (train, each) = (ran(Granularity::Train), ran(Granularity::Tlp));
        assert_eq!(train.digest, each.digest, "{transport:?}");
    }
}

#[test]
fn adapters_of_one_host_share_the_ports_and_what_cannot_be_is_told() {
    let codes = |sets: &[&str]| -> Vec<&'static str> {
        let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
        let found = check(Path::new("paths.yaml"), MACHINE, &sets, &Catalogue::built_in()).diagnostics;
        found.iter().map(|found| found.code).collect()
    };
    let paths = |plan: &Plan| -> Vec<String> {
        let variant = &plan.variants[0];
        let name = |component: usize| &variant.machine[component].name;
        let pair = &variant.workloads[0].pairs[0];
        let all = variant.network.remotes(pair.on, pair.target);
        all.map(|path| format!("{} {}", name(path.adapter), name(path.port))).collect()
    };
    assert_eq!(paths(&plan("paths.yaml", MACHINE, &[])), ["nic1 port1", "nic2 port2"]);
    let one = ["links.net2.to=tor1", "links.box-net2.from=tor1"];
    assert_eq!(paths(&plan("paths.yaml", MACHINE, &one)), ["nic1 port1", "nic2 port2"], "one switch");
    let only = [one[0], one[1], "machine.nic2=null", "links.slot2=null", "links.net2=null"];
    assert_eq!(paths(&plan("paths.yaml", MACHINE, &only[1..])), ["nic1 port1", "nic1 port2"]);
    assert_eq!(codes(&["subsystems.jbof.port=[port1, port1]"]), ["FB022"]);
    assert_eq!(codes(&["subsystems.jbof.port=[port1, nic1]"]), ["FB023"]);
    assert_eq!(codes(&["subsystems.jbof.non-optimized=nic1"]), ["FB024"]);
    assert_eq!(codes(&["links.box-net2=null"]), ["FB016"], "a port that nobody reaches");
}
