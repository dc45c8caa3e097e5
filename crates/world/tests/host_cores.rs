//! Cores of a host: what its drivers share, and whose the software is.

use crate::tree::{plan, plan_of, results};
use lanetwin_kernel::Supply;
use lanetwin_plan::{Catalogue, Plan, check, check_text};
use lanetwin_stats::results::{Results, Row};
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Options, World};
use std::path::Path;

/// The CPU time of a request: an engine that polls, which takes 3 us to submit and 1 us to complete.
const POLLS: &str =
    "driver.engine: io_uring-poll, driver.io_uring-poll.submit: 3us, driver.io_uring-poll.complete: 1us";
const EACH: Span = Span::from_us(4);
/// The same of one that is interrupted, which costs next to nothing, and rings for each command: the drive works while
/// the core does.
const INTERRUPTED: &str = "driver.engine: io_uring, driver.io_uring.submit: 3us, driver.io_uring.complete: 1us, driver.interrupt: 1ns";
/// What a core can do, if that is all that it does \[thousand requests a second\].
const PER_CORE: f64 = 250.0;

/// A drive that gives more than two cores can ask for.
const DRIVE: &str = "model: nvme-ssd, medium: cross-point, capacity: 8GiB";

/// Four drives on one host.
fn four(host: &str, drive: &str) -> Plan {
    let drives: String = ["a", "b", "c", "d"].map(|name| format!("  {name}: {{{DRIVE}{drive}}}\n")).concat();
    let text = format!(
        "about: What do four drives have of the cores?\nmachine:\n  cpu: {{model: root-complex{host}}}\n{drives}links:\n  \
         a: {{from: cpu.slot0, to: a, gen: 4, width: x4}}\n  b: {{from: cpu.slot1, to: b, gen: 4, width: x4}}\n  \
         c: {{from: cpu.slot2, to: c, gen: 4, width: x4}}\n  d: {{from: cpu.slot3, to: d, gen: 4, width: x4}}\nworkloads:\n  \
         load: {{block: {{size: 4KiB, depth: 32, span: 4GiB, requests: 20000}}, on: cpu, target: [a, b, c, d]}}\nrun: {{repeats: 1}}\n"
    );
    plan("four.yaml", &text, &[])
}

fn run(plan: &Plan) -> Results {
    results(plan, &Options::default())
}

/// Of one device, or of all.
fn value(results: &Results, device: &str, metric: &str) -> f64 {
    let is_it = |row: &&Row| row.metric == metric && row.device.as_deref().unwrap_or_default() == device;
    results.rows.iter().find(is_it).unwrap_or_else(|| panic!("{metric} of {device:?}")).value
}

fn world(plan: &Plan) -> World {
    let variant = &plan.variants[0];
    World::new(variant, &variant.workloads[0], &variant.workloads[0].cases[0], 1)
}

/// What the host says of its cores: each by its name.
fn cores(world: &mut World) -> Vec<(String, Supply)> {
    let of_cpu = world.kernel.report().into_iter().filter(|(_, path, _)| *path == "cpu");
    let supplies = of_cpu.flat_map(|(_, _, report)| report.supplies);
    supplies.filter(|(name, _)| name.starts_with("core")).collect()
}

#[test]
fn four_drives_get_what_their_cores_give() {
    for (count, named) in [(1, "cpu: cores"), (2, "cpu: core"), (4, "cpu: core")] {
        let results = run(&four(&format!(", cores: {count}, {INTERRUPTED}"), ""));
        let (all, expected) = (value(&results, "", "IOPS"), PER_CORE * f64::from(count));
        assert!((all / expected - 1.0).abs() < 0.01, "{count} cores: {all} of {expected}");
        for drive in ["a", "b", "c", "d"] {
            let share = value(&results, drive, "IOPS") / all;
            assert!((share - 0.25).abs() < 0.01, "{count} cores: {share} for {drive}");
        }
        let limit = &results.bottlenecks[0];
        assert!(limit.name.starts_with(named), "{count} cores: {limit:?}");
    }
}

/// A core for each queue pair is what there was before hosts had cores: the same to the picosecond, whoever counts
/// them.
#[test]
fn with_a_core_for_each_queue_pair_sharing_changes_nothing() {
    let [own, given] = ["", ", cores: 4"].map(|cores| run(&four(&format!("{cores}, {POLLS}"), "")));
    assert_eq!(own.digest, given.digest);
    let numbers = |results: &Results| {
        results.rows.iter().map(|row| (row.metric.clone(), row.value)).collect::<Vec<_>>()
    };
    assert_eq!(numbers(&own), numbers(&given));
}

/// When everything has been answered, the cores have been busy for the CPU time of every request and for nothing else,
/// each for those of its own loads.
#[test]
fn busy_time_is_the_sum_of_cpu_times() {
    let mut world = world(&four(&format!(", cores: 3, {POLLS}"), ""));
    world.kernel.run_until(Instant::ZERO + Span::from_us(3_000));
    world.stop();
    world.kernel.run_until(Instant::ZERO + Span::from_us(10_000));
    let (asked, answered) = world.progress();
    assert_eq!(asked, answered);
    let now = world.kernel.now();
    let of: Vec<u64> = world.results(now).iter().map(|load| load.reads.completed).collect();
    let cores = cores(&mut world);
    let busy = |requests: u64| u128::from(requests * EACH.as_ps());
    let expected =
        [("core 0", of[0] + of[3], 1), ("core 1", of[1], 1), ("core 2", of[2], 1), ("cores", answered, 3)];
    for ((name, supply), (expected, requests, number)) in cores.iter().zip(expected) {
        assert_eq!((&**name, supply.in_use_ps, supply.supply), (expected, busy(requests), number));
    }
    assert_eq!(cores.len(), expected.len());
}

/// A run cut into slices shares its cores as an uncut one does.
#[test]
fn slices_change_nothing() {
    let plan = four(", cores: 2, driver.engine: libaio", "");
    let [mut whole, mut sliced] = [world(&plan), world(&plan)];
    let end = Instant::ZERO + Span::from_us(1_000);
    whole.kernel.run_until(end);
    let mut step = 1;
    while sliced.kernel.now() < end {
        step = step * 5 % 10_007;
        let until = sliced.kernel.now() + Span::from_ps(step * 997);
        sliced.kernel.run_until(until.min(end));
    }
    assert_eq!(whole.kernel.digest(), sliced.kernel.digest());
    assert_eq!(cores(&mut whole), cores(&mut sliced));
    assert!(cores(&mut whole)[2].1.in_use_ps > u128::from(Span::from_us(1_900).as_ps()), "and they are busy");
}

/// Threads of a memory load take turns on the cores of their host where it says how long a turn is: twice as many
/// threads as cores do what one for each core does, and as hardware threads twice that.
#[test]
fn threads_of_a_memory_load_take_turns_on_the_cores_of_their_host() {
    let lines = |threads: u32, slice: &str| {
        let text = format!(
            "about: What do threads have of a core?\nmachine:\n  host: {{model: memory-host, cores: 2, core.slice: {slice}, dram: simple}}\n\
             workloads:\n  load: {{memory: {{threads: {threads}, delay: 200ns, working-set: 64MiB, lines: 20000, chaser: off}}, on: host}}\n\
             run: {{repeats: 1, warm-up: 100}}\n"
        );
        value(&run(&plan("turns.yaml", &text, &[])), "", "throughput")
    };
    let [one_each, in_turn, at_once] = [(2, "5us"), (4, "5us"), (4, "0ns")].map(|(n, slice)| lines(n, slice));
    assert!((in_turn / one_each - 1.0).abs() < 0.01, "{in_turn} of {one_each}");
    assert!((at_once / one_each - 2.0).abs() < 0.02, "{at_once} of {one_each}");
}

/// The driver of another kind of device runs on the same cores.
#[test]
fn drivers_of_block_endpoints_take_turns_too() {
    let text = "about: What do two drives have of a core?\nmachine:\n  cpu: {model: root-complex, cores: 1}\n  a: {model: block-endpoint}\n  \
        b: {model: block-endpoint}\nlinks:\n  a: {from: cpu.slot0, to: a, gen: 4, width: x4}\n  b: {from: cpu.slot1, to: b, gen: 4, width: x4}\n\
        workloads:\n  load: {block: {size: 512B, depth: 8, requests: 4000}, on: cpu, target: [a, b]}\nrun: {repeats: 1}\n";
    let results = run(&plan("two.yaml", text, &[]));
    // 500 ns to submit and 500 ns to complete
    let iops = value(&results, "", "IOPS");
    assert!((iops / 1000.0 - 1.0).abs() < 0.01, "{iops} thousand");
    assert_eq!(results.bottlenecks[0].name, "cpu: cores");
}

/// Jobs of fio on the cores of a host: how many cores they use, by what they get of the drive, and what is told.
fn jobs(cores: u32, jobs: &str) -> (f64, Vec<&'static str>) {
    let text = format!(
        "about: Which core does a job have?\nmachine:\n  cpu: {{model: root-complex, cores: {cores}, {INTERRUPTED}}}\n  ssd: {{{DRIVE}}}\n\
         links:\n  bay: {{from: cpu, to: ssd, gen: 4, width: x4}}\nworkloads:\n  load: {{fio: {{file: jobs.fio, capacity: 4GiB, requests: 10000}}, on: cpu, target: ssd}}\n\
         run: {{repeats: 1}}\nfiles:\n  jobs.fio: |\n    [global]\n    direct=1\n    rw=randread\n    iodepth=32\n{jobs}"
    );
    let catalogue = Catalogue::built_in();
    let told = check(Path::new("jobs.yaml"), &text, &[], &catalogue).diagnostics;
    let results = run(&plan("jobs.yaml", &text, &[]));
    let of_cores = told.iter().map(|found| found.code).filter(|code| *code == "SC113");
    (value(&results, "", "IOPS") / PER_CORE, of_cores.collect())
}

/// Jobs run on the cores that they name, shared or one for each clone; what the host has not is told.
#[test]
fn jobs_of_fio_run_on_the_cores_that_they_may() {
    let of = |cores, options: &str, expected: f64, codes: &[&str]| {
        let (used, told) = jobs(cores, options);
        assert!((used / expected - 1.0).abs() < 0.02, "{options}: {used} cores of {expected}");
        assert_eq!(told, codes, "{options}");
    };
    let two = |a: &str, b: &str| format!("    [a]\n    {a}\n    [b]\n    {b}\n");
    of(4, &two("numjobs=1", "numjobs=1"), 2.0, &[]);
    of(4, &two("cpus_allowed=2", "cpus_allowed=2"), 1.0, &[]);
    of(4, &two("cpus_allowed=1", "cpumask=4"), 2.0, &[]);
    of(4, &two("cpus_allowed=0-1", "cpus_allowed=0,1"), 2.0, &[]);
    // shared: each in turn of those with the same cores; split: by the number of the clone, as fio has it
    of(4, &two("cpus_allowed=1", "cpus_allowed=0-1"), 2.0, &[]);
    of(4, &two("cpus_allowed=1", "cpus_allowed=0-1\n    cpus_allowed_policy=split"), 1.0, &[]);
    of(4, "    [a]\n    cpus_allowed=0,3\n    cpus_allowed_policy=split\n    numjobs=4\n", 2.0, &[]);
    of(2, &two("cpus_allowed=5", "cpus_allowed=0,7"), 1.0, &["SC113", "SC113"]);
    of(0, &two("cpus_allowed=0", "cpus_allowed=0"), 2.0, &["SC113", "SC113"]);
}

/// Two hosts on one drive, each with software of its own; what is said for the drive holds for both.
fn two_hosts(a: &str, b: &str, drive: &str) -> Results {
    let text = format!(
        "about: Whose is the software?\nmachine:\n  a: {{model: root-complex{a}}}\n  b: {{model: root-complex{b}}}\n  \
         ssd: {{{DRIVE}, dual-port: true, port.width: 4{drive}}}\nlinks:\n  one: {{from: a.slot0, to: ssd.pcie, gen: 4, width: x2}}\n  \
         two: {{from: b.slot0, to: ssd.pcie2, gen: 4, width: x2}}\nworkloads:\n  \
         load: {{block: {{size: 4KiB, depth: 1, span: 4GiB, requests: 1000}}, on: [a, b], target: ssd}}\nrun: {{repeats: 1}}\n"
    );
    run(&plan("two-hosts.yaml", &text, &[]))
}

#[test]
fn two_hosts_use_different_engines_on_one_drive() {
    let slower = |results: &Results| value(results, "ssd@a", "latency") - value(results, "ssd@b", "latency");
    let of = |engine: &str| format!(", driver.engine: {engine}");
    let libaio_and_spdk = slower(&two_hosts("", &of("spdk"), ""));
    // 2300 + 1800 + 1000 against 42 + 30 + 40; two readers of a drive meet now and then
    assert!((libaio_and_spdk - 4988.0).abs() < 250.0, "{libaio_and_spdk} ns");
    let spdk_and_libaio = slower(&two_hosts(&of("spdk"), "", ""));
    assert!((spdk_and_libaio + 4988.0).abs() < 250.0, "{spdk_and_libaio} ns");
    // the drive's word goes before its hosts'
    let both = slower(&two_hosts(&of("spdk"), "", &of("io_uring")));
    assert!(both.abs() < 250.0, "{both} ns");
}

/// What a plan that is filled in says of the host still holds when it is read again: it says nothing for the drive that
/// nobody said.
#[test]
fn a_complete_plan_keeps_the_software_with_its_host() {
    let of_host = four(", driver.queue-entries: 16", "");
    let complete = of_host.document().to_yaml();
    assert!(
        check_text(&complete).iter().any(|found| found.code == "SC107"),
        "32 in flight do not fit 16 entries"
    );
    assert_eq!(complete.matches("driver.queue-entries: 16").count(), 1);
    assert_eq!(complete.matches("driver.queue-entries").count(), 2, "and who said so");
}

/// Cores are the limit of four drives where their software is interrupted; where it polls, one core is enough.
#[test]
fn the_scenario_shows_what_its_page_says() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/shared-cores.yaml");
    let results = run(&plan_of(&file, &[]));
    let iops = |variant: &str| {
        let is_it = |row: &&Row| row.variant == variant && row.metric == "IOPS" && row.device.is_none();
        results.rows.iter().find(is_it).unwrap_or_else(|| panic!("{variant}")).value
    };
    let limit = |variant: &str| {
        let of = results.bottlenecks.iter().find(|limit| limit.variant == variant);
        of.unwrap_or_else(|| panic!("{variant}")).name.clone()
    };
    let [one, two, four] = ["one-core", "two-cores", "four-cores"].map(iops);
    assert!((two / one - 2.0).abs() < 0.1 && (four / one - 4.0).abs() < 0.4, "{one} {two} {four}");
    assert_eq!([limit("one-core"), limit("two-cores")], ["cpu: cores", "cpu: cores"]);
    assert!(limit("four-cores").starts_with("cpu: core"), "{}", limit("four-cores"));
    assert!(iops("one-core-polls") > four && limit("one-core-polls").starts_with("load:"));
}

/// Drives and a program on one core, or on two: what each gets, of the other's slices so much.
fn together(cores: u32, slice: &str, programs: &str) -> Results {
    let text = format!(
        "about: What do drives and a program have of the cores?\nmachine:\n  cpu: {{model: root-complex, cores: {cores}, {INTERRUPTED}}}\n  \
         memory: {{model: memory-host, cores: {cores}, core.slice: {slice}, dram: simple}}\n  ssd: {{{DRIVE}}}\n\
         links:\n  bay: {{from: cpu, to: ssd, gen: 4, width: x4}}\nworkloads:\n  load:\n    block: {{size: 4KiB, depth: 8, span: 4GiB, requests: 4000}}\n    \
         on: cpu\n    target: ssd\n{programs}  alone: {{memory: {{threads: {cores}, {PROGRAM}, lines: 40000}}, on: memory}}\nrun: {{repeats: 1}}\n"
    );
    run(&plan("together.yaml", &text, &[]))
}

/// A program whose only limit is its core.
const PROGRAM: &str = "delay: 200ns, working-set: 64MiB";

fn of_workload(results: &Results, workload: &str, metric: &str) -> f64 {
    let is_it = |row: &&Row| row.workload == workload && row.metric == metric;
    results.rows.iter().find(is_it).unwrap_or_else(|| panic!("{metric} of {workload}")).value
}

/// A program beside a load has what the drivers leave of the cores, to the CPU time of each request.
#[test]
fn a_program_beside_a_load_loses_what_drivers_use() {
    for (cores, slice) in [(1, "20us"), (1, "100us"), (2, "50us")] {
        let beside = format!("    programs: {{on: memory, memory: {{threads: {cores}, {PROGRAM}}}}}\n");
        let results = together(cores, slice, &beside);
        let requests = 1e3 * of_workload(&results, "load", "IOPS");
        let left = 1.0 - requests * EACH.as_ps() as f64 * 1e-12 / f64::from(cores);
        let [beside, alone] = [("load", "program throughput"), ("alone", "throughput")]
            .map(|(workload, metric)| of_workload(&results, workload, metric));
        assert!(left < 0.95, "the drivers use something: {left}");
        assert!(
            (beside / alone / left - 1.0).abs() < 0.01,
            "{cores} cores: {beside} of {alone}, {left} is left"
        );
    }
}

/// Without programs a memory host changes nothing; with them reads wait for slices, and the longer, the longer.
#[test]
fn reads_wait_for_the_slices_of_a_program() {
    let latency = |slice, programs: &str| of_workload(&together(1, slice, programs), "load", "latency") / 1e3;
    let beside = format!("    programs: {{on: memory, memory: {{threads: 1, {PROGRAM}}}}}\n");
    let [none, other] = ["100us", "20us"].map(|slice| latency(slice, ""));
    assert_eq!(none, other);
    let [short, long] = ["20us", "100us"].map(|slice| latency(slice, &beside));
    assert!(none < short && short < long && long < 2.2 * (100.0 + 8.0 * 4.0), "{none} {short} {long} us");
}

/// What cannot be: told where it is written.
#[test]
fn programs_that_cannot_run_beside_a_load_are_refused() {
    let told = |cores: &str, slice: &str, memory: &str| {
        let text = format!(
            "about: Which?\nmachine:\n  cpu: {{model: root-complex{cores}}}\n  memory: {{model: memory-host, cores: 2, dram: simple{slice}}}\n  ssd: {{{DRIVE}}}\n\
             links:\n  bay: {{from: cpu, to: ssd}}\nworkloads:\n  load:\n    block: {{size: 4KiB}}\n    on: cpu\n    target: ssd\n    \
             programs: {{on: memory, memory: {{{memory}}}}}\n"
        );
        let found = check(Path::new("programs.yaml"), &text, &[], &Catalogue::built_in()).diagnostics;
        found.into_iter().map(|found| (found.code, found.path)).collect::<Vec<_>>()
    };
    let at = |code, key: &str| vec![(code, format!("workloads.load.programs.{key}"))];
    let turns = ", core.slice: 1ms";
    assert_eq!(told(", cores: 2", turns, "threads: 2"), []);
    assert_eq!(told("", turns, "threads: 2"), at("HC005", "on"));
    assert_eq!(told(", cores: 2", turns, "threads: [1, 2]"), at("HC002", "memory"));
    assert_eq!(told(", cores: 2", turns, "program: {cg: {class: S}}"), at("HC003", "memory"));
    assert_eq!(told(", cores: 2", "", "threads: 2"), at("HC101", "on"));
}
