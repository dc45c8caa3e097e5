//! An NVMe drive in a machine: from block requests over queues in host memory to flash, and back.

use crate::tree::{plan, results};
use lanetwin_models::root_complex::RootComplex;
use lanetwin_plan::{BlockCase, Load, Plan, check_text};
use lanetwin_stats::results::{Results, Row};
use lanetwin_units::{Bytes, Instant, Span};
use lanetwin_world::{Options, World};

/// A drive in a slot of a quiet host.
fn machine(drive: &str, link: &str, block: &str) -> String {
    format!(
        "about: Does an NVMe drive answer?\nmachine:\n  cpu: {{part: generic-host-gen5}}\n  \
         ssd: {{model: nvme-ssd, port.width: 4, ftl.initial: sequential, capacity: 8GiB, nand.blocks: 16{drive}}}\nlinks:\n  \
         slot: {{from: cpu, to: ssd{link}}}\nworkloads:\n  load:\n    block: {{span: 4GiB, {block}}}\n    on: cpu\n    \
         target: ssd\nrun: {{repeats: 1}}\n"
    )
}

fn plan_for(drive: &str, link: &str, block: &str) -> Plan {
    plan("nvme.yaml", &machine(drive, link, block), &[])
}

fn run(drive: &str, link: &str, block: &str) -> Results {
    results(&plan_for(drive, link, block), &Options::default())
}

fn row<'r>(results: &'r Results, metric: &str) -> &'r Row {
    results.rows.iter().find(|row| row.metric == metric).unwrap_or_else(|| panic!("{:#?}", results.rows))
}

#[test]
fn every_engine_gets_its_answers_in_the_order_of_its_costs() {
    let latency = |engine: &str| {
        let results = run(&format!(", driver.engine: {engine}"), "", "size: 4KiB, depth: 1, requests: 60");
        assert!(results.rows.iter().all(|row| row.metric != "failed"), "{engine}");
        row(&results, "latency").value
    };
    let latencies = ["spdk", "io_uring-poll", "io_uring", "libaio"].map(latency);
    assert!(latencies.is_sorted_by(|a, b| a < b), "{latencies:?}");
}

/// Parts of a command lie one behind the other, as commands of a sequence do.
#[test]
fn large_random_reads_lose_nothing_to_reading_ahead_and_sequential_ones_gain() {
    let rate = |streams: &str, block: &str| {
        let drive = format!(", chunk: 16KiB, ftl.read-ahead.streams: {streams}");
        row(&run(&drive, "", block), "throughput").value
    };
    for size in ["64KiB", "128KiB"] {
        let random = format!("size: {size}, depth: 32, requests: 400, pattern: random");
        let ratio = rate("8", &random) / rate("0", &random);
        assert!((ratio - 1.0).abs() < 0.01, "random reads of {size}: {ratio} times the rate without");
        let in_order = format!("size: {size}, depth: 1, requests: 200, pattern: sequential");
        let ratio = rate("8", &in_order) / rate("0", &in_order);
        assert!(ratio > 2.0, "sequential reads of {size}: {ratio} times the rate without");
    }
}

/// A read crosses the link four times one after the other: doorbell, request for the entry, its completion, data with
/// the interrupt behind them. A write crosses it twice more, for its data.
#[test]
fn a_retimer_costs_as_much_as_a_command_crosses_it() {
    for (read, crossings) in [("100%", 4.0), ("0%", 6.0)] {
        let block = format!("size: 4KiB, depth: 1, read: {read}, requests: 40");
        let median = |via: &str| {
            let results = run(", nand.read-step: 0ns", &format!(", dllp: off, skp: off{via}"), &block);
            let latency = row(&results, "latency");
            assert_eq!(results.waterfalls.len(), 1, "a command can be followed");
            latency.samples[0]
        };
        let shift = median(", via: [100ns]") - median("");
        assert!((shift - crossings * 100.0).abs() < 1.0, "read {read}: {shift} ns");
    }
}

#[test]
fn the_waterfall_of_a_command_names_everybody_and_sums_to_its_latency() {
    let results = run("", "", "size: 4KiB, depth: 1, read: 0%, requests: 40");
    let waterfall = &results.waterfalls[0];
    let names: Vec<&str> = waterfall.stages.iter().map(|stage| &*stage.name).collect();
    for part in [
        "driver: submit",
        "cpu: doorbell",
        "slot cpu → ssd: wire",
        "slot ssd → cpu: wire",
        "cpu: memory",
        "ssd: firmware engine",
        "ssd: medium",
        "driver: interrupt",
        "driver: complete",
    ] {
        assert!(names.contains(&part), "{part} is not in {names:?}");
    }
    let sum: f64 = waterfall.stages.iter().map(|stage| stage.value).sum();
    assert!((sum - waterfall.total).abs() < 1e-6, "{waterfall:?}");
}

/// How many interrupts the host has had after some time, and how many requests were answered.
/// A link of one lane carries as much one way while it is full the other way: requests for the data of writes do not
/// wait behind all that was read. They would, if everything that was read were handed to the link at once.
#[test]
fn reads_and_writes_of_a_mix_fill_both_directions_of_a_narrow_link() {
    let rate = |ahead: &str, read: &str| {
        let drive = format!(", medium: cross-point, posted.ahead: {ahead}");
        let load = format!("size: 128KiB, depth: 64, requests: 3000, read: {read}");
        let results = run(&drive, ", width: x1", &load);
        let throughput =
            results.rows.iter().filter(|row| row.metric.ends_with("throughput") && row.device.is_none());
        throughput.map(|row| row.value).sum::<f64>()
    };
    let [reads, writes] = ["100%", "0%"].map(|share| rate("32KiB", share));
    let both = [rate("32KiB", "50%"), rate("1GiB", "50%")].map(|mix| mix / (reads + writes));
    assert!(both[0] > 0.85 && both[1] < 0.75, "{both:?} of {reads} and {writes}");
}

fn interrupts(drive: &str) -> (u64, u64) {
    let plan = plan_for(drive, "", "size: 4KiB, depth: 32, requests: 100");
    let variant = &plan.variants[0];
    let mut world = World::new(variant, &variant.workloads[0], &variant.workloads[0].cases[0], 1);
    world.kernel.run_until(Instant::ZERO + Span::from_us(1000));
    let (server, answered) = (world.server.expect("a load is served"), world.progress().1);
    let host = world.kernel.component::<RootComplex>(server).expect("the server is the host");
    (host.traffic(0).signals, answered)
}

#[test]
fn who_polls_is_not_interrupted_and_who_gathers_less_often() {
    let (every, answered) = interrupts("");
    let (polled, more) = interrupts(", driver.engine: spdk");
    let (gathered, _) = interrupts(", driver.coalescing.entries: 8");
    assert!(every >= answered && answered > 100, "{every} {answered}");
    assert!(polled < 20 && more > 100, "only the admin queue interrupts: {polled}");
    assert!(gathered < every / 2, "{gathered} of {every}");
}

/// A request that is larger than a command may be becomes several, and is one answer.
#[test]
fn requests_beyond_mdts_are_split_and_bytes_stay() {
    let whole = run("", "", "size: 256KiB, depth: 2, requests: 30");
    let split = run(", transfer: 64KiB", "", "size: 256KiB, depth: 2, requests: 30");
    for results in [&whole, &split] {
        assert!(results.rows.iter().all(|row| row.metric != "failed"));
    }
    assert!(row(&split, "latency").value != row(&whole, "latency").value, "four commands are not one");
}

/// Blocks beyond the end of a namespace are an NVMe status: the answer comes, and is a failure.
#[test]
fn blocks_beyond_the_end_are_answered_with_a_failure() {
    let mut plan = plan_for("", "", "size: 4KiB, depth: 4, requests: 50");
    let load = &mut plan.variants[0].workloads[0].cases[0].load;
    let block: BlockCase = *load.blocks().expect("it asks for blocks");
    *load = Load::of_blocks(BlockCase { span: Bytes(16 << 30), ..block });
    let failed = row(&results(&plan, &Options::default()), "failed").value;
    assert!((20.0..80.0).contains(&failed), "half of the span is beyond the end: {failed} %");
}

#[test]
fn what_makes_no_drive_is_one_coded_error() {
    let codes = |drive: &str, block: &str| -> Vec<(String, String)> {
        let found = check_text(&machine(drive, "", block));
        found.into_iter().map(|d| (d.code.to_owned(), d.path)).collect()
    };
    let asked = "size: 4KiB, requests: 10";
    assert_eq!(codes(", ftl.gc.low: 1", asked), [("SC083".into(), "machine.ssd.ftl.gc.low".into())]);
    assert_eq!(codes(", namespaces: 4", asked), [("SC084".into(), "workloads.load.block".into())]);
    assert_eq!(codes("", asked), []);
}

/// Two namespaces, with and without dies of their own. Whether one feels the other is not asked here.
#[test]
fn namespaces_are_asked_and_told_one_by_one() {
    let text = |isolated: bool| {
        machine(
            &format!(", namespaces: 2, namespaces.isolated: {isolated}, buffer: 1MiB"),
            "",
            "size: 4KiB, depth: 4, read: 50%, requests: 60",
        )
        .replace("span: 4GiB", "span: 3GiB")
        .replace("target: ssd", "target: [ssd.ns1, ssd.ns2]")
    };
    for isolated in [true, false] {
        let results = results(&plan("namespaces.yaml", &text(isolated), &[]), &Options::default());
        let devices: Vec<_> = results.rows.iter().filter_map(|row| row.device.as_deref()).collect();
        assert!(devices.contains(&"ssd.ns1") && devices.contains(&"ssd.ns2"), "{devices:?}");
        assert!(results.rows.iter().all(|row| !row.metric.contains("failed")));
    }
}
