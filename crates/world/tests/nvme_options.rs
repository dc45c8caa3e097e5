//! Options of the driver that the software of most hosts leaves alone: classes of queues, doorbells in memory.

use crate::tree::{plan, plan_of, results};
use lanetwin_models::nvme_driver::NvmeDriver;
use lanetwin_models::nvme_ssd::NvmeSsd;
use lanetwin_plan::check_text;
use lanetwin_stats::results::{Results, Row};
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Options, World};
use std::path::Path;

/// A scenario of the tree, as it is.
fn run(name: &str) -> Results {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    results(&plan_of(&file, &[]), &Options::default())
}

/// The value of a metric of a device, in a variant.
fn value(results: &Results, variant: &str, (case, device, metric): (&str, &str, &str)) -> f64 {
    let is_it = |row: &&Row| {
        row.variant == variant
            && row.case.contains(case)
            && row.device.as_deref().unwrap_or_default() == device
            && row.metric == metric
    };
    results.rows.iter().find(is_it).unwrap_or_else(|| panic!("{variant} {case} {device} {metric}")).value
}

/// With 32 commands in progress, 192 that wait have their turns by weight, 8 to 4 to 2, and the urgent ones before all
/// of them. With room for all of them nobody waits for a turn, and priorities change nothing.
#[test]
fn priorities_decide_where_commands_wait_for_the_controller_and_nowhere_else() {
    let results = run("arbitration.yaml");
    let iops = |variant: &str, job: &str| value(&results, variant, ("", job, "IOPS"));
    let latency = |variant: &str, job: &str| value(&results, variant, ("", job, "latency"));
    let [high, medium, low] = ["high", "medium", "low"].map(|job| iops("few-commands-weighted", job));
    for (ratio, weights) in [(high / medium, 2.0), (medium / low, 2.0)] {
        assert!((ratio / weights - 1.0_f64).abs() < 0.1, "{high} {medium} {low}");
    }
    let [high, medium, low] = ["high", "medium", "low"].map(|job| iops("few-commands", job));
    assert!((high / low - 1.0).abs() < 0.1 && (medium / low - 1.0).abs() < 0.1, "{high} {medium} {low}");
    let limit = |variant: &str| {
        let of = |limit: &&lanetwin_stats::results::Bottleneck| limit.variant == variant;
        results.bottlenecks.iter().find(of).expect("every case has one").name.clone()
    };
    assert_eq!(limit("few-commands"), "ssd: commands in progress");
    assert!(limit("all-commands").starts_with("load:"), "{}", limit("all-commands"));
    assert!(latency("few-commands-weighted", "urgent") < 0.75 * latency("few-commands", "urgent"));
    for job in ["urgent", "high", "medium", "low"] {
        let ratio = iops("all-commands-weighted", job) / iops("all-commands", job);
        assert!((ratio - 1.0).abs() < 0.05, "{job}: {ratio}");
    }
}

/// Of the two doorbells of a command the one for its completion is never rung; with many in flight not even each
/// submission. It costs no more than a hundredth.
#[test]
fn shadow_doorbells_save_doorbells() {
    let results = run("shadow-doorbells.yaml");
    let of = |variant: &str, case: &str| value(&results, variant, (case, "ssd", "doorbells"));
    for engine in ["", "spdk-"] {
        let registers = if engine.is_empty() { "registers" } else { "spdk" };
        let shadow = format!("{engine}shadow");
        assert!((of(registers, "1 in flight") - 2.0).abs() < 0.02);
        assert!((of(&shadow, "1 in flight") - 1.0).abs() < 0.02);
        for case in ["1 in flight", "64 in flight"] {
            let reads = value(&results, &shadow, (case, "ssd", "shadow doorbells read"));
            assert!(reads > 0.0 && reads < 1.05, "{reads}");
            let [without, with] = [registers, &*shadow].map(|v| value(&results, v, (case, "", "IOPS")));
            assert!((with / without - 1.0).abs() < 0.01, "{shadow}, {case}: {with} of {without}");
        }
    }
    assert!(of("spdk-shadow", "64 in flight") < 0.5 * of("spdk", "64 in flight"));
    let explained =
        results.waterfalls.iter().filter(|waterfall| waterfall.variant.contains("shadow")).count();
    assert_eq!(explained, 4, "commands are followed, although some have no doorbell");
}

/// Shadows move while the controller looks at them, with many in flight and few entries in a queue, over one port and
/// two, while a port is lost, and while much that has been read waits for the link: everything is answered.
#[test]
fn with_shadow_doorbells_nothing_is_forgotten() {
    let none = "";
    for (engine, a_link, size, read) in [
        ("libaio", none, "4KiB", "50%"),
        ("spdk", none, "4KiB", "50%"),
        ("spdk", ", gen: 1", "128KiB", "100%"),
        ("io_uring", ", down: [{at: 1ms, for: 500us}]", "4KiB", "50%"),
    ] {
        let text = format!(
            "about: Is everything answered?\nmachine:\n  cpu: {{part: generic-host-gen5}}\n  \
             ssd: {{model: nvme-ssd, dual-port: true, ftl.initial: sequential, capacity: 8GiB, nand.blocks: 16, \
             driver.shadow-doorbells: true, driver.queue-entries: 17, driver.multipath: queue-depth, driver.engine: {engine}}}\n\
             links:\n  a: {{from: cpu.slot0, to: ssd.pcie, width: x2{a_link}}}\n  b: {{from: cpu.slot1, to: ssd.pcie2, width: x2}}\n\
             workloads:\n  load: {{block: {{size: {size}, depth: 64, read: {read}, span: 4GiB}}, on: cpu, target: ssd}}\n"
        );
        let plan = plan("shadow.yaml", &text, &[]);
        let workload = &plan.variants[0].workloads[0];
        let mut world = World::new(&plan.variants[0], workload, &workload.cases[0], 1);
        world.kernel.run_until(Instant::ZERO + Span::from_us(3_000));
        world.stop();
        world.kernel.run_until(Instant::ZERO + Span::from_us(60_000));
        let (asked, answered) = world.progress();
        assert!(asked > 80 && asked == answered, "{engine} {size}: {answered} of {asked}");
        let (driver, drive) =
            world.loads[0].nvme.map(|nvme| (nvme.driver, nvme.drive)).expect("an NVMe drive");
        let now = world.kernel.now();
        let totals =
            world.kernel.component::<NvmeSsd>(drive).and_then(|drive| drive.totals(now)).expect("a drive");
        assert!(totals.signals.shadow_reads > 0, "{engine}");
        let driver = world.kernel.component::<NvmeDriver>(driver).expect("a driver");
        assert_eq!(driver.losses(), u64::from(a_link.contains("down")));
    }
}

/// The mapping table ends at 16 TiB, which is told with the remedy, and not found out by a run.
#[test]
fn a_drive_of_more_than_16_tib_is_refused() {
    let text = |capacity: &str, blocks: u32| {
        format!(
            "about: How large?\nmachine:\n  cpu: {{part: generic-host-gen5}}\n  \
             ssd: {{model: nvme-ssd, capacity: {capacity}, nand.channels: 16, nand.chips: 8, nand.dies: 4, nand.blocks: {blocks}}}\n\
             links:\n  bay: {{from: cpu, to: ssd}}\nworkloads:\n  one: {{block: {{size: 4KiB, requests: 100}}, on: cpu, target: ssd}}\n"
        )
    };
    let found = |capacity: &str, blocks: u32| check_text(&text(capacity, blocks));
    assert!(found("16TiB", 800).is_empty(), "{:?}", found("16TiB", 800));
    let told = found("30720GB", 1600);
    let [told] = &told[..] else { panic!("one mistake: {told:?}") };
    assert!(told.code == "SC083" && told.message.contains("more than 16 TiB"), "{told}");
    // decimal capacities are rarely whole units; less than one unit is a mistake
    assert!(found("900GB", 800).is_empty() && found("375GB", 800).is_empty());
    let none = found("1000B", 800);
    let of_capacity = none.iter().find(|told| told.path == "machine.ssd.capacity");
    assert!(of_capacity.is_some_and(|told| told.help.contains("the nearest is 4096B")), "{none:?}");
}

#[test]
fn a_priority_that_nobody_heeds_is_a_warning() {
    let text = |drive: &str| {
        format!(
            "about: Who is first?\nmachine:\n  cpu: {{part: generic-host-gen5}}\n  ssd: {{model: nvme-ssd{drive}}}\n\
             links:\n  bay: {{from: cpu, to: ssd}}\nworkloads:\n  two: {{fio: {{file: two.fio, requests: 100}}, on: cpu, target: ssd}}\n\
             files:\n  two.fio: |\n    [global]\n    direct=1\n    rw=randread\n    [soon]\n    prioclass=1\n    [later]\n    iodepth=8\n"
        )
    };
    let codes = |drive: &str| check_text(&text(drive)).iter().map(|d| d.code.to_owned()).collect::<Vec<_>>();
    assert_eq!(codes(""), ["SC109"]);
    assert_eq!(codes(", driver.arbitration: weighted"), Vec::<String>::new());
}

/// What a drive would refuse, block by block, is told before: a gap, a place to begin, an alignment, a log.
#[test]
fn what_is_no_whole_number_of_blocks_is_an_error() {
    let told = |fio: &str, block: &str| {
        let text = format!(
            "about: Is it whole?\nmachine:\n  cpu: {{part: generic-host-gen5}}\n  ssd: {{model: nvme-ssd, block: {block}}}\nlinks:\n  \
             bay: {{from: cpu, to: ssd}}\nworkloads:\n  w: {{{fio}, on: cpu, target: ssd}}\nfiles:\n  \
             log: |\n    fio version 2 iolog\n    f add\n    f open\n    f read 512 4096\n    f close\n  \
             t.csv: |\n    time_us,operation,offset,size\n    0,read,512,512\n"
        );
        let found = check_text(&text);
        found
            .iter()
            .map(|found| format!("{} {} {}", found.code, found.message, found.help))
            .collect::<Vec<_>>()
    };
    let cases = [
        ("fio: {rw: 'read:8', bs: 4k}", "what `rw=read:8` of job `w` leaves out behind each I/O, 8B,"),
        ("fio: {rw: write, bs: 4k, offset: 1k}", "where job `w` begins, at multiples of 1KiB,"),
        (
            "fio: {rw: randread, bs: 4k, ba: 512}",
            "what sizes and addresses of job `w` are multiples of, 512B,",
        ),
        (
            "fio: {rw: read, read_iolog: log}",
            "what places and sizes in the log of job `w` are multiples of, 512B,",
        ),
        ("trace: {file: t.csv}", "what places and sizes of `t.csv` are multiples of, 512B,"),
    ];
    for (asked, what) in cases {
        let found = told(asked, "4KiB");
        let whole = format!("SC051 {what} is no whole number of blocks of `ssd`, which have 4KiB ask for");
        assert!(found.len() == 1 && found[0].starts_with(&whole), "{asked}: {found:?}");
        let is_whole = !asked.contains("read:8");
        assert_eq!(told(asked, "512B").is_empty(), is_whole, "{asked}: {:?}", told(asked, "512B"));
    }
    assert!(told(cases[0].0, "512B")[0].contains("only behind `randread`"), "{:?}", told(cases[0].0, "512B"));
    for whole in [
        "fio: {rw: 'read:8k', bs: 4k}",
        "fio: {rw: 'randread:8', bs: 4k}",
        "fio: {rw: 'rw:4k', bs: 4k, offset: 4k}",
    ] {
        assert_eq!(told(whole, "4KiB"), [""; 0], "{whole}");
    }
}

/// Reads one at a time, directly and behind a retimer.
const SPREAD: &str = "
about: Does a retimer stay visible where times vary?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: generic-tlc-gen4}
links:
  bay: {from: host, to: ssd}
workloads:
  reads: {block: {size: 4KiB, depth: 1, requests: 1000}, on: host, target: ssd}
variants:
  direct: {}
  retimer: {links.bay.via: [spec-limit-retimer]}
run: {repeats: 1}
";

/// Each time is drawn by the number of its operation, so that both variants have the same times: what a retimer adds is
/// told to some nanoseconds, although each read varies by up to 500. The means stay.
#[test]
fn times_that_vary_keep_their_means_and_the_difference_of_variants() {
    let run = |share: &str| {
        let sets = ["machine.host.driver.spread", "machine.ssd.medium.spread"];
        let sets = sets.map(|path| format!("{path}={share}"));
        results(&plan("spread.yaml", SPREAD, &[&*sets[0], &*sets[1]]), &Options::default())
    };
    let (fixed, varied) = (run("0"), run("1%"));
    let mean = |results: &Results, variant: &str| value(results, variant, ("", "", "latency"));
    let [adds, adds_varied] = [&fixed, &varied].map(|of| mean(of, "retimer") - mean(of, "direct"));
    assert!(adds > 100.0 && (adds_varied - adds).abs() < 3.0, "{adds} {adds_varied}");
    let (direct, direct_varied) = (mean(&fixed, "direct"), mean(&varied, "direct"));
    assert!(
        direct != direct_varied && (direct_varied / direct - 1.0).abs() < 0.001,
        "{direct} {direct_varied}"
    );
    assert_ne!(fixed.digest, varied.digest);
}
