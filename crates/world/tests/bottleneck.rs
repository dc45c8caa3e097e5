//! Is the bottleneck the one that the world was built to have? And does more of it, and of nothing else, give more
//! throughput?

use lanetwin_plan::{Catalogue, check};
use lanetwin_stats::results::Results;
use lanetwin_world::{Options, Progress, Watcher, run};
use std::path::Path;

/// A card that no supply of its own limits, behind a wire that is wide for it.
const CARD: &str = "
about: What limits this card?
machine:
  host: {model: root-complex, port.rcb: 64B, memory.llc-hit: 300ns, memory.dram: 300ns}
  card: {model: dma-requester, engines: 64, outstanding: 4096, read.transaction: 1ns, write.transaction: 1ns}
links:
  slot: {from: host.slot0, to: card, gen: 5, width: x16}
workloads:
  w:
    dma: {operation: read, size: 64B, window: 1MiB, outstanding: 128, transfers: 1500}
    on: card
    target: host
run: {repeats: 1}
";

/// Two cards that write through one uplink, each with half of it, which is all that the slot of one of them carries.
const UPLINK: &str = "
about: Which of the full links is it?
machine:
  host: {model: root-complex}
  sw: {model: switch}
  near: {model: dma-requester, engines: 64, write.transaction: 1ns}
  far: {model: dma-requester, engines: 64, write.transaction: 1ns}
links:
  up: {from: host, to: sw, gen: 3, width: x4}
  near-slot: {from: sw, to: near, gen: 3, width: x8}
  far-slot: {from: sw, to: far, gen: 3, width: x2}
workloads:
  w:
    dma: {operation: write, size: 1KiB, window: 1MiB, outstanding: 64, transfers: 2000}
    on: [near, far]
    target: host
run: {repeats: 1}
";

/// A block device on PCIe that nothing limits but its driver.
const SSD: &str = "
about: What limits this drive?
machine:
  host: {model: root-complex}
  ssd: {model: block-endpoint, latency: 20us}
links:
  bay: {from: host.slot0, to: ssd, gen: 5, width: x16}
workloads:
  w:
    block: {size: 4KiB, depth: 16, requests: 500}
    on: host
    target: ssd
run: {repeats: 1}
";

/// A disk without a bus.
const DISK: &str = "
about: What limits this disk?
machine:
  host: {model: root-complex}
  disk: {model: fixed-latency-disk, read.latency: 10us}
workloads:
  w:
    block: {size: 4KiB, depth: 4, requests: 500}
    on: host
    target: disk
run: {repeats: 1}
";

/// A Fibre Channel adapter that its FC port limits.
const FC: &str = "
about: What limits this adapter?
machine:
  host: {model: root-complex}
  hba: {model: fc-hba}
links:
  slot: {from: host.slot0, to: hba, gen: 2, width: x4}
workloads:
  w:
    block: {size: 64KiB, depth: 16, requests: 300}
    on: host
    target: hba
run: {repeats: 1}
";

const WRITES: &str = "workloads.w.dma.operation=write";

/// The waterfall's stages, in order, but for queues: now and then one waits for a SKP.
fn stages(results: &Results) -> Vec<&str> {
    let names = results.waterfalls[0].stages.iter().map(|stage| stage.name.as_str());
    names.filter(|name| !name.ends_with(": queue")).collect()
}

struct Quiet;

impl Watcher for Quiet {
    fn progress(&self, _: &Progress) {}
    fn is_cancelled(&self) -> bool {
        false
    }
}

fn results(text: &str, sets: &[&str]) -> Results {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let checked = check(Path::new("world.yaml"), text, &sets, &Catalogue::built_in());
    let plan = checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics));
    run(&plan, &Options::default(), &Quiet).unwrap_or_else(|crash| panic!("{crash:?}"))
}

fn throughput(results: &Results) -> f64 {
    results.rows.iter().find(|row| row.metric == "throughput").expect("something was moved").value
}

/// The world's bottleneck is `name`; with more of it (`more`) the throughput is higher by a tenth at least, with more
/// of something else (`other`) it is the same within a hundredth. Returns why it is the bottleneck.
#[track_caller]
fn assert_limit(text: &str, sets: &[&str], name: &str, more: &str, other: &str) -> String {
    let before = results(text, sets);
    let found = &before.bottlenecks[0];
    assert_eq!(found.name, name, "{}", found.why);
    let change = |set: &str| throughput(&results(text, &[sets, &[set]].concat())) / throughput(&before) - 1.0;
    let (more, other) = (change(more), change(other));
    assert!(more > 0.1, "more of {name} changes the throughput by {more}");
    assert!(other.abs() < 0.01, "more of something else changes the throughput by {other}");
    found.why.clone()
}

#[test]
fn of_full_links_the_one_that_carries_all() {
    assert_limit(UPLINK, &[], "up: sw → host", "links.up.width=x8", "links.far-slot.width=x4");
}

#[test]
fn a_few_tags() {
    let sets = ["machine.card.port.tags=4"];
    let why =
        assert_limit(CARD, &sets, "card: tags", "machine.card.port.tags=8", "machine.card.outstanding=8192");
    assert!(why.ends_with(" % of the 4 are in use"), "{why}");
}

#[test]
fn slow_engines() {
    let sets = ["machine.card.engines=2", "machine.card.read.transaction=100ns"];
    let why = assert_limit(
        CARD,
        &sets,
        "card: read engines",
        "machine.card.engines=4",
        "machine.card.port.tags=512",
    );
    assert!(why.ends_with(" % of the 2 are busy"), "{why}");
    let sets = [
        "machine.card.engines=1",
        "machine.card.write.transaction=50ns",
        "machine.card.engines.shared=true",
        WRITES,
    ];
    assert_limit(CARD, &sets, "card: engines", "machine.card.engines=2", "links.slot.width=x8");
}

#[test]
fn a_slow_copier() {
    let sets = ["machine.card.read.copy=50ns"];
    assert_limit(CARD, &sets, "card: copier", "machine.card.read.copy=40ns", "machine.card.port.tags=512");
}

#[test]
fn a_fibre_channel_port() {
    let why = assert_limit(FC, &[], "hba: FC port 0 to host", "machine.hba.fc.gfc=8", "machine.hba.luns=4");
    assert!(why.starts_with("busy 100.0 %") || why.starts_with("busy 99."), "{why}");
    let writes = ["workloads.w.block.read=0%"];
    assert_limit(FC, &writes, "hba: FC port 0 to target", "machine.hba.fc.gfc=8", "links.slot.width=x8");
}

#[test]
fn what_stands_around_a_fibre_channel_port() {
    let far = ["machine.hba.fc.propagation=50us", "machine.hba.fc.bb-credits=8"];
    assert_limit(
        FC,
        &far,
        "hba: BB credits of FC port 0",
        "machine.hba.fc.bb-credits=16",
        "links.slot.width=x8",
    );
    let small = ["workloads.w.block.size=512B", "workloads.w.block.requests=2000"];
    assert_limit(
        FC,
        &small,
        "hba: target of FC port 0",
        "machine.hba.target.access=5us",
        "machine.hba.fc.gfc=8",
    );
    let one_by_one =
        ["workloads.w.block.read=0%", "machine.hba.dma.reads=1", "machine.host.memory.dram=20us"];
    assert_limit(
        FC,
        &one_by_one,
        "hba: host reads of FC port 0",
        "machine.hba.dma.reads=2",
        "machine.hba.fc.gfc=8",
    );
}

#[test]
fn few_transfers_in_flight() {
    let sets = ["machine.card.outstanding=2"];
    assert_limit(
        CARD,
        &sets,
        "card: reads in flight",
        "machine.card.outstanding=3",
        "machine.card.port.tags=512",
    );
}

#[test]
fn a_slow_completer() {
    let (slow, faster) = ("machine.host.completer.interval=50ns", "machine.host.completer.interval=40ns");
    assert_limit(CARD, &[slow], "host: completer of slot0", faster, "machine.card.port.tags=512");
}

/// Writes that wait for walks keep the receive buffer full: the buffer is not the limit, whatever the sender waits for.
#[test]
fn page_walkers() {
    for operation in ["read", "write"] {
        let operation = format!("workloads.w.dma.operation={operation}");
        let sets = [
            "machine.host.iommu=true",
            "machine.host.iotlb.entries=1",
            "machine.host.iommu.walkers=2",
            &operation,
        ];
        let (more, other) = ("machine.host.iommu.walkers=3", "machine.host.port.posted-header-credits=128");
        assert_limit(CARD, &sets, "host: page walkers", more, other);
    }
}

#[test]
fn few_credits() {
    let sets = [WRITES, "machine.host.port.posted-header-credits=1"];
    let more = "machine.host.port.posted-header-credits=2";
    assert_limit(CARD, &sets, "slot: card → host: credits", more, "machine.card.engines=128");
}

#[test]
fn a_narrow_wire() {
    let sets = [WRITES, "links.slot.width=x1"];
    let why =
        assert_limit(CARD, &sets, "slot: card → host", "links.slot.width=x2", "machine.card.engines=128");
    assert!(why.contains("TLPs") && why.contains("SKP"), "{why}");
}

/// Of two that are nearly full the fuller one is named.
#[test]
fn a_copier_a_little_slower_or_faster_than_the_wire() {
    let of_copier = |copier: &str| {
        let found = results(CARD, &["links.slot.width=x1", &format!("machine.card.read.copy={copier}")]);
        assert!(
            found.utilisation.iter().any(|way| 1.0 - way.idle - way.credit_stall > 0.95),
            "the wire is nearly full"
        );
        found.bottlenecks[0].name.clone()
    };
    assert_eq!(of_copier("26.5ns"), "card: copier");
    assert_eq!(of_copier("24ns"), "slot: host → card");
}

#[test]
fn a_load_of_one_at_a_time() {
    let (sets, more) = (["workloads.w.dma.outstanding=1"], "workloads.w.dma.outstanding=2");
    let why = assert_limit(CARD, &sets, "load: one at a time", more, "machine.card.port.tags=512");
    assert!(why.contains("closest to its limit: "), "{why}");
    let (sets, more) = (["workloads.w.dma.outstanding=4"], "workloads.w.dma.outstanding=5");
    assert_limit(CARD, &sets, "load: 4 in flight", more, "machine.card.port.tags=512");
}

/// As many places as the load asks for: nobody waits for one, so they are not what limits alone.
#[test]
fn what_is_just_enough_is_not_a_limit() {
    let found = results(CARD, &["workloads.w.dma.outstanding=2", "machine.card.outstanding=2"]);
    let found = &found.bottlenecks[0];
    assert_eq!(found.name, "load: 2 in flight");
    assert!(found.why.ends_with("card: reads in flight, 100.0 % of the 2 are in use"), "{}", found.why);
}

#[test]
fn a_load_that_asks_for_little() {
    let load = "workloads.w.dma={operation: read, size: 64B, window: 1MiB, rate: 10MB/s, transfers: 500}";
    let more = "workloads.w.dma={operation: read, size: 64B, window: 1MiB, rate: 20MB/s, transfers: 500}";
    assert_limit(CARD, &[load], "load: its rate", more, "machine.card.port.tags=512");
}

#[test]
fn a_job_that_holds_itself_back() {
    let job = |more: &str| {
        format!(
            "workloads.w={{fio: {{rw: randread, bs: 4k, iodepth: 8, {more}, requests: 2000}}, on: host, target: disk}}"
        )
    };
    for (slow, quick) in [("rate_iops: 20k", "rate_iops: 40k"), ("thinktime: 100", "thinktime: 50")] {
        let (slow, quick) = (job(slow), job(quick));
        assert_limit(DISK, &[&slow], "load: its rate or pauses", &quick, "machine.disk.parallelism=64");
    }
    // a rate that the disk does not reach holds nothing back
    let found = results(DISK, &[&job("rate_iops: 9m")]);
    assert_eq!(found.bottlenecks[0].name, "load: 8 in flight");
}

#[test]
fn a_disk_that_does_one_thing_at_a_time() {
    let sets = ["machine.disk.parallelism=1"];
    let why = assert_limit(
        DISK,
        &sets,
        "disk: parallelism",
        "machine.disk.parallelism=2",
        "workloads.w.block.depth=8",
    );
    assert_eq!(why, "busy 100.0 % of the time");
}

#[test]
fn a_drive_that_does_one_thing_at_a_time() {
    let sets = ["machine.ssd.parallelism=1"];
    let more = "machine.ssd.parallelism=2";
    assert_limit(SSD, &sets, "ssd: parallelism", more, "workloads.w.block.depth=32");
}

/// The driver's one core, which takes 1 µs for a request: 4096 B each, at any depth.
#[test]
fn a_driver_without_time() {
    for depth in [8, 16, 32] {
        let depth = format!("workloads.w.block.depth={depth}");
        let sets = ["machine.ssd.latency=0ns", "workloads.w.block.requests=8000", &depth];
        let found = results(SSD, &sets);
        assert_eq!(found.bottlenecks[0].name, "driver: cores");
        assert!((throughput(&found) / 4096.0 - 1.0).abs() < 0.005, "{} MB/s", throughput(&found));
    }
}

/// A driver for each of three drives on a core of its own: no one of them is the limit. Where one drive is slow, the
/// cores of the other two are.
#[test]
fn drivers_without_time_are_told_together() {
    const THREE: &str = "
about: What limits three drives?
machine:
  host: {model: root-complex}
  a: {model: block-endpoint, latency: 0ns}
  b: {model: block-endpoint, latency: 0ns}
  c: {model: block-endpoint, latency: 0ns}
links:
  a: {from: host.slot0, to: a, gen: 5, width: x4}
  b: {from: host.slot1, to: b, gen: 5, width: x4}
  c: {from: host.slot2, to: c, gen: 5, width: x4}
workloads:
  w: {block: {size: 4KiB, depth: 16, requests: 8000}, on: host, target: [a, b, c]}
run: {repeats: 1}
";
    let limit = |sets: &[&str]| results(THREE, sets).bottlenecks.remove(0);
    let all = limit(&[]);
    assert_eq!(all.name, "all 3 drivers: cores");
    assert_eq!(all.together, ["driver/a: cores", "driver/b: cores", "driver/c: cores"]);
    let two = limit(&["machine.b.latency=200us"]);
    assert_eq!((&*two.name, two.together.len()), ("2 of 3 drivers: cores", 2));
    let one = limit(&["machine.b.latency=200us", "machine.c.latency=200us"]);
    assert_eq!((&*one.name, one.together.len()), ("driver/a: cores", 0));
}

/// The buses of a memory are never busy all the time: refreshes stop them, rows are opened, reads and writes take
/// turns. It is the limit where they could carry hardly more; one that few threads use is not.
#[test]
fn a_memory_that_has_no_time_left() {
    let limit = |threads: u32, mix: &str, pattern: &str| {
        let text = format!(
            "about: What limits this memory?\nmachine:\n  host: {{part: intel-xeon-8480, dram.channels: 1}}\nworkloads:\n  \
             w: {{memory: {{threads: {threads}, mix: {mix}, pattern: {pattern}, working-set: 128MiB, lines: 10000}}, on: host}}\n\
             run: {{repeats: 1}}\n"
        );
        results(&text, &[]).bottlenecks.remove(0)
    };
    for (threads, mix, pattern) in
        [(28, "all-reads", "sequential"), (14, "all-reads", "random"), (14, "1r1w", "sequential")]
    {
        let found = limit(threads, mix, pattern);
        assert_eq!(found.name, "host: DRAM", "{mix}, {pattern}: {}", found.why);
        assert!(found.why.contains("lost to refreshes, row changes and turnarounds"), "{}", found.why);
    }
    for (threads, mix, pattern) in [(1, "all-reads", "sequential"), (1, "1r1w", "random")] {
        let found = limit(threads, mix, pattern);
        assert_eq!(found.name, "load: one thread", "{mix}, {pattern}: {}", found.why);
    }
}

/// A limit of power is one from when what had been saved up is spent, and requests wait; before, more is taken.
#[test]
fn power_is_a_limit_once_requests_wait_for_it() {
    let limit = |requests: u32| {
        let text = format!(
            "about: What limits this drive?\nmachine:\n  host: {{part: generic-host-gen4}}\n  \
             ssd: {{part: phison-e16, energy.limit-mw: 6000}}\nlinks:\n  bay: {{from: host, to: ssd}}\nworkloads:\n  \
             w: {{fio: {{rw: read, bs: 128k, iodepth: 16, requests: {requests}}}, on: host, target: ssd}}\nrun: {{repeats: 1}}\n"
        );
        results(&text, &[]).bottlenecks.remove(0).name
    };
    assert_eq!(limit(500), "ssd: firmware engines", "it takes more than its limit, and nothing waits");
    assert_eq!(limit(20_000), "ssd: power");
}

/// A timeout of half a minute, as disks have, is not an end: the run waits for it.
#[test]
fn a_slow_answer_is_waited_for() {
    let lossy =
        DISK.replace("machine:\n", "machine:\n  cable: {model: drop, probability: 10%, timeout: 30s}\n");
    let lossy = lossy.replace("workloads:\n", "links:\n  c: {from: cable.down, to: disk}\nworkloads:\n");
    let lossy = lossy.replace("target: disk", "target: cable").replace("depth: 4", "depth: 1");
    let found = results(&lossy, &["workloads.w.block.requests=100"]);
    // about ten of a hundred and ten; each takes 30 s, the others 10 µs
    let rate = found.rows.iter().find(|row| row.metric == "IOPS").expect("most were answered").value * 1e3;
    assert!((0.1..1.0).contains(&rate), "{rate} /s");
}

/// What limits is also where the time goes, by name.
#[test]
fn the_waterfall_names_what_is_waited_for() {
    let largest = |sets: &[&str]| {
        let found = results(CARD, sets);
        let stages = &found.waterfalls[0].stages;
        let largest = stages.iter().max_by(|a, b| a.value.total_cmp(&b.value)).expect("time was spent");
        largest.name.clone()
    };
    assert_eq!(largest(&["machine.card.port.tags=4"]), "card: queue for a tag");
    assert_eq!(
        largest(&["machine.card.engines=1", "machine.card.read.transaction=100ns"]),
        "card: queue for an engine"
    );
    assert_eq!(largest(&["machine.card.read.copy=50ns"]), "card: queue for the copier");
    assert_eq!(largest(&["machine.card.outstanding=2"]), "card: queue for a place in flight");
    let few = ["workloads.w.dma.outstanding=8", "machine.host.completer.interval=200ns"];
    assert_eq!(largest(&few), "host: queue for the completer");
    assert_eq!(largest(&[WRITES, "links.slot.width=x1"]), "slot card → host: queue");
    assert_eq!(largest(&["workloads.w.dma.outstanding=1"]), "host: memory");
}

#[test]
fn a_waterfall_goes_from_hop_to_hop() {
    let one = "workloads.w.dma.outstanding=1";
    let there_and_back = ["card: issue", "slot card → host: wire", "host: memory", "slot host → card: wire"];
    assert_eq!(stages(&results(CARD, &[one])), there_and_back);
    assert_eq!(stages(&results(CARD, &[one, WRITES])), there_and_back[..2]);
    let drive = results(SSD, &["workloads.w.block.depth=1"]);
    let hops = [
        "driver: submit",
        "host: doorbell",
        "bay host → ssd: wire",
        "ssd: medium",
        "ssd: issue",
        "bay ssd → host: wire",
        "driver: complete",
    ];
    assert_eq!(stages(&drive), hops);
    assert_eq!(stages(&results(DISK, &[])), ["disk: work"]);
}
