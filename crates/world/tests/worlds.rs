//! Do the laws hold in the worlds of every scenario? Slices change nothing, Little's law is an identity of integers,
//! bytes and credits are conserved, and what the check lets through does not stand still.

mod tree;

use lanetwin_kernel::{ComponentId, Stream};
use lanetwin_load::Results;
use lanetwin_models::memory_endpoint::MemoryEndpoint;
use lanetwin_models::nvme_ssd::NvmeSsd;
use lanetwin_models::root_complex::{RootComplex, Traffic};
use lanetwin_pcie::link::{Class, EgressId};
use lanetwin_plan::{BlockCase, Case, Load, Offered, Plan, Programs, Variant, WorkloadPlan};
use lanetwin_ports::{Operation, Value};
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Options, World, run};
use std::collections::BTreeSet;
use tree::{Nobody, plan, plan_of, scenarios, side_by_side};

/// Long enough for some thousand transfers of a card and some hundred requests to a disk.
const LONG: Span = Span::from_us(300);

/// [`LONG`], and what a large request takes besides, at a byte every 10 ns: no scenario's link or medium is slower. A
/// driver submits all that is to be in flight before it sees the first answer.
fn long(variant: &Variant, case: &Case) -> Span {
    let (bytes, submitted) = match &case.load {
        // the pages that hints ask for are fetched before what is loaded first
        Load::Memory(case) if case.hints.is_some() => (0, 1000),
        Load::Dma(_) | Load::Memory(_) => (0, 0),
        Load::Blocks(blocks) => match blocks.offered() {
            Offered::Outstanding(number) => (blocks.largest(), number.into()),
            Offered::Rate { .. } => (blocks.largest(), 0),
        },
    };
    // some are slow on purpose
    let firmware =
        variant.machine.iter().filter_map(|component| component.params.0.get("firmware.read-latency"));
    let slowest =
        firmware.filter_map(|said| if let Value::Time(time) = said { Some(*time) } else { None }).max();
    LONG + slowest.unwrap_or(Span::ZERO) * 2 + Span::from_ns(10) * bytes + Span::from_ns(500) * submitted
}

/// What a drive writes to tell that a request is done \[B\].
const SIGNAL_BYTES: u64 = 16;

/// Every variant and workload of a plan with one of its cases, the last: it has the most in flight.
fn worlds(plan: &Plan) -> Vec<(&Variant, &WorkloadPlan, &Case)> {
    let mut worlds = Vec::new();
    for variant in &plan.variants {
        for workload in &variant.workloads {
            worlds.push((variant, workload, workload.cases.last().expect("a workload has cases")));
        }
    }
    worlds
}

/// Unlike drives of one host, asked at once: one driver each.
const DRIVES: &str = "
about: Do the drives of a host keep out of each other's way?
machine:
  host: {part: generic-host-gen4, iommu: true, iommu.walkers: 1, iotlb.entries: 4}
  near: {model: block-endpoint, latency: 3us}
  far: {model: block-endpoint, latency: 5us, parallelism: 4, port.tags: 32}
  slow: {part: generic-nvme-gen4}
links:
  a: {from: host, to: near, width: x4}
  b: {from: host, to: far, width: x2, ber: 1e-7}
  c: {from: host, to: slow}
workloads:
  depth: {block: {size: 16KiB, depth: 8, read: 60%}, on: host, target: [near, far, slow]}
  rate: {block: {size: 4KiB, rate: 500MB/s, read: 50%}, on: host, target: [slow, near]}
run: {repeats: 1}
";

/// Which worlds of a scenario a law is held against.
#[derive(Clone, Copy)]
enum Of {
    /// One: for each scenario another, so that first and last variants and workloads are among them.
    One,
    /// Each workload on the last variant.
    Last,
    /// Every one: at night.
    All,
}

/// What a law says of one world.
type Law = fn(&str, &Variant, &WorkloadPlan, &Case);

fn each_world(of: Of, law: Law) {
    let files = scenarios();
    let of_files = files.iter().map(|file| plan_of(file, &[]));
    let plans: Vec<(usize, Plan)> = of_files.chain([plan("drives.yaml", DRIVES, &[])]).enumerate().collect();
    side_by_side(&plans, |(place, plan)| {
        // what steps of a test have shown is counted step by step, and logs and the like are nobody's load: `pts.rs`
        // and `actions.rs` look at them
        let is_load = |workload: &WorkloadPlan| workload.pts().is_none() && workload.actions.is_empty();
        let loads: Vec<_> = worlds(plan).into_iter().filter(|(_, workload, _)| is_load(workload)).collect();
        let chosen = match of {
            Of::One if !loads.is_empty() => vec![loads[place % loads.len()]],
            Of::Last => {
                let last = |(variant, ..): &(&Variant, _, _)| plan.variants.last() == Some(*variant);
                loads.into_iter().filter(last).collect()
            }
            _ => loads,
        };
        for (variant, workload, case) in chosen {
            let name = format!("{} {} {} {}", plan.name, variant.name, workload.name, case.label);
            law(&name, variant, workload, case);
        }
    });
}

#[test]
fn slices_change_nothing() {
    each_world(Of::One, slices);
}

#[test]
fn trains_are_what_their_tlps_are_one_by_one() {
    each_world(Of::Last, trains);
}

#[test]
fn littles_law_holds_to_the_picosecond_for_every_stretch() {
    each_world(Of::One, little);
}

#[test]
fn what_is_moved_is_what_was_asked_for_and_nothing_is_left() {
    each_world(Of::One, moved);
}

mod nightly {
    use super::*;

    #[test]
    #[ignore = "the same of every variant and workload: make test-nightly"]
    fn the_laws_hold_in_every_world() {
        for law in [slices, little, moved] {
            each_world(Of::All, law);
        }
    }
}

/// Of every load, and of all of them as one.
fn assert_little(loads: &[Results], name: &str) {
    for Results { little, .. } in loads.iter().chain([&sum(loads)]) {
        assert_eq!(little.area_ps, little.residence_ps, "{name}");
    }
}

fn sum(loads: &[Results]) -> Results {
    let mut sum = loads[0].clone();
    loads[1..].iter().for_each(|load| sum.merge(load));
    sum
}

/// All that the root ports of the machine and devices with memory have seen, summed.
fn traffic(world: &mut World, variant: &Variant) -> Traffic {
    let mut sum = Traffic::default();
    // the links are component 0, the machine follows in its own order, without its switches
    let components = variant.machine.iter().filter(|component| !component.is_switch()).zip(1..);
    for (component, id) in components.filter(|(component, _)| component.model.has_memory) {
        let (id, ports) = (ComponentId(id), component.ports.len());
        let seen = match world.kernel.component::<RootComplex>(id) {
            Some(host) => (0..ports).map(|slot| host.traffic(slot)).collect(),
            None => {
                vec![world.kernel.component::<MemoryEndpoint>(id).expect("nothing else has memory").traffic()]
            }
        };
        for t in seen {
            sum.read_bytes += t.read_bytes;
            sum.completion_bytes += t.completion_bytes;
            sum.write_bytes += t.write_bytes;
            sum.doorbells += t.doorbells;
            sum.signals += t.signals;
            sum.unexpected += t.unexpected;
        }
    }
    sum
}

/// Instants before `end` in order, some a picosecond apart, some the same.
fn instants(end: Instant, name: &str) -> Vec<Instant> {
    let mut draw = Stream::new(7, name, "slices");
    let mut instants = Vec::new();
    for _ in 0..40 {
        let at = Instant::from_ps(draw.below(end.as_ps()));
        let next = Instant::from_ps((at.as_ps() + draw.below(2)).min(end.as_ps()));
        instants.extend([at, next]);
    }
    instants.sort();
    instants
}

/// Where a run is interrupted does not matter.
fn slices(name: &str, variant: &Variant, workload: &WorkloadPlan, case: &Case) {
    // the first slice of a program is over before a driver has its turn
    let slice = workload.programs.as_ref().map_or(Span::ZERO, |_| Span::from_us(10_000));
    let end = Instant::ZERO + long(variant, case) + slice;
    let mut whole = World::new(variant, workload, case, 3);
    whole.kernel.run_until(end);
    let mut sliced = World::new(variant, workload, case, 3);
    for at in instants(end, name) {
        sliced.kernel.run_until(at);
    }
    sliced.kernel.run_until(end);
    assert_eq!(whole.kernel.digest(), sliced.kernel.digest(), "{name}");
    assert_eq!(whole.links().usage(), sliced.links().usage(), "{name}");
    let results = whole.results(end);
    // a drive that another host has until later is asked nothing yet
    let done: u64 = results.iter().map(|a| a.reads.completed + a.writes.completed).sum();
    assert!(done > 0, "{name}: nothing was done");
    for (a, b) in results.iter().zip(sliced.results(end)) {
        assert_eq!(a.little, b.little, "{name}");
        assert_eq!((a.reads.bytes, a.writes.bytes), (b.reads.bytes, b.writes.bytes), "{name}");
    }
}

/// Whether what is equal is decided at once or one by one does not matter. Whole runs of every case: `determinism.rs`,
/// at night.
fn trains(name: &str, variant: &Variant, workload: &WorkloadPlan, case: &Case) {
    let end = Instant::ZERO + long(variant, case);
    let [mut train, mut each] = [false, true].map(|each| {
        let mut world = World::new(variant, workload, case, 3);
        world.decide_one_by_one(each);
        world.kernel.run_until(end);
        world
    });
    assert_eq!(train.kernel.digest(), each.kernel.digest(), "{name}");
    assert_eq!(train.links().usage(), each.links().usage(), "{name}");
    for (a, b) in train.results(end).iter().zip(each.results(end)) {
        assert_eq!(a.little, b.little, "{name}");
        assert_eq!((a.reads.bytes, a.writes.bytes), (b.reads.bytes, b.writes.bytes), "{name}");
    }
}

/// What was in flight over time is what operations took, to the picosecond.
fn little(name: &str, variant: &Variant, workload: &WorkloadPlan, case: &Case) {
    let mut world = World::new(variant, workload, case, 3);
    for at in instants(Instant::ZERO + long(variant, case), name) {
        world.kernel.run_until(at);
        assert_little(&world.results(at), &format!("{name} at {at}"));
        if at.as_ps() % 3 == 0 {
            world.reset(at);
        }
    }
    let end = Instant::ZERO + long(variant, case);
    world.kernel.run_until(end);
    world.reset(end);
    world.kernel.run_until(end + long(variant, case));
    let results = world.results(end + long(variant, case));
    assert_little(&results, name);
    // a program that ends may have ended before
    let ends = matches!(&case.load, Load::Memory(memory) if memory.ends());
    assert!(ends || results.iter().all(|load| load.little.area_ps > 0), "{name}: nothing was in flight");
}

/// Every byte that was asked for has moved, and every credit is back.
fn moved(name: &str, variant: &Variant, workload: &WorkloadPlan, case: &Case) {
    let mut world = World::new(variant, workload, case, 3);
    let advertised = credits(&mut world);
    world.kernel.run_until(Instant::ZERO + long(variant, case));
    world.stop();
    while let Some(next) = world.kernel.next_event() {
        world.kernel.run_until(next);
    }
    let end = world.kernel.now();
    let loads = world.results(end);
    assert!(loads.iter().all(|load| load.outstanding == 0), "{name}");
    assert!(loads.iter().all(|load| load.reads.bytes + load.writes.bytes > 0), "{name}");
    let load = sum(&loads);
    let seen = traffic(&mut world, variant);
    assert_eq!(seen.unexpected, 0, "{name}");
    assert_eq!(seen.read_bytes, seen.completion_bytes, "{name}: all that was asked of the host was answered");
    let (read, written) = (load.reads.bytes, load.writes.bytes);
    if let Load::Dma(_) = case.load {
        for (place, load) in loads.iter().enumerate() {
            let card = world.requester(place).expect("a DMA load commands a requester");
            let moved = [Operation::Read, Operation::Write].map(|operation| card.moved(operation).1);
            assert_eq!(moved, [load.reads.bytes, load.writes.bytes], "{name}");
        }
        assert_eq!([seen.read_bytes, seen.write_bytes], [read, written], "{name}");
    } else if let Load::Memory(_) = case.load {
        // what the drive behind a cache moves is the cache's affair
    } else if let Some(Programs::QueuePairs(_)) = case.load.network() {
        // small data are in their work requests, and not read from memory
        assert!(seen.write_bytes >= read + written, "{name}");
    } else if case.load.network().is_some() {
        // adapters read what programs send and write what they receive, with headers, at one host or the other
        assert!(seen.read_bytes >= read + written && seen.write_bytes >= read + written, "{name}");
    } else if (!world.drives.is_empty() && case.load.blocks::<BlockCase>().is_none())
        || !case.load.threads().is_empty()
        || !world.paths.is_empty()
    {
        // commands of several sizes, as in traces, or such as were asked again on another path
        assert!(seen.read_bytes >= written && seen.write_bytes >= read, "{name}");
    } else if !variant.network.subsystems.is_empty() {
        // the host of the target has what its drives move, and the initiator what its adapter moves
        assert!(seen.read_bytes >= written && seen.write_bytes >= read, "{name}");
    } else if !world.drives.is_empty() {
        let driven: BTreeSet<&str> = world.loads.iter().map(|load| load.device.as_str()).collect();
        let (drives, queues) = (driven.len() as u64, world.loads.len() as u64);
        let requests = load.reads.completed + load.writes.completed;
        let moved = nvme_bytes(case, requests, (drives, queues), polls(variant));
        let shadow = shadow_bytes(&mut world);
        let own = [moved[0] + shadow[0], moved[1] + shadow[1]];
        assert_eq!([seen.read_bytes, seen.write_bytes], [written + own[0], read + own[1]], "{name}");
    } else if !variant.links.is_empty() {
        // what the load reads from a drive, the drive writes into the host's memory
        assert_eq!(seen.signals, load.reads.completed + load.writes.completed, "{name}");
        assert_eq!(seen.write_bytes, read + SIGNAL_BYTES * seen.signals, "{name}");
        assert_eq!(seen.read_bytes, written, "{name}");
    }
    assert_eq!(world.links().fabric().under_way(), 0, "{name}");
    assert_eq!(credits(&mut world), advertised, "{name}: every credit is back");
}

/// Whether the driver of the drives looks for completions itself.
fn polls(variant: &Variant) -> bool {
    let drive = variant.machine.iter().find(|component| component.model.name == "nvme-ssd").expect("a drive");
    let host = variant.machine.iter().find(|component| component.is_host()).expect("a host");
    let engine = drive.software("driver.engine", host).map(|(engine, _)| engine);
    [Some(Value::Choice("io_uring-poll")), Some(Value::Choice("spdk"))].contains(&engine)
}

/// What NVMe drives with one namespace each read from the host and write to it besides user data, for so many requests
/// on so many queues of all together that interrupt for each completion, or for none: entries of 64 B, PRP lists;
/// Identify twice, entries of 16 B, MSI-X writes of 4 B.
fn nvme_bytes(case: &Case, requests: u64, (drives, queues): (u64, u64), polls: bool) -> [u64; 2] {
    let block: &BlockCase = case.load.blocks().expect("no scenario asks an NVMe drive otherwise");
    let pages = block.size.0.div_ceil(4096);
    let list = if pages > 2 { 8 * (pages - 1) } else { 0 };
    let admin = (2 + 1) * drives + 2 * queues;
    let interrupts = admin + if polls { 0 } else { requests };
    [64 * (requests + admin) + list * requests, 2 * 4096 * drives + 16 * (requests + admin) + 4 * interrupts]
}

/// What the drives of a world read and write for shadow doorbells: the command that says where they are, 4 B read of
/// each doorbell, and 4 B written to ask for the next.
fn shadow_bytes(world: &mut World) -> [u64; 2] {
    let now = world.kernel.now();
    let mut bytes = [0; 2];
    for (_, id) in world.drives.clone() {
        let totals =
            world.kernel.component::<NvmeSsd>(id).and_then(|drive| drive.totals(now)).expect("a drive");
        let reads = totals.signals.shadow_reads;
        if reads > 0 {
            bytes = [bytes[0] + 64 + 4 * reads, bytes[1] + 16 + 4 + 4 * reads];
        }
    }
    bytes
}

/// The credits that every sender holds, or that are on their way back to it.
fn credits(world: &mut World) -> Vec<Option<(u64, u64)>> {
    let fabric = world.links().fabric();
    let egresses = (0..fabric.egress_count()).map(|e| EgressId(e as u16));
    let classes = [Class::Posted, Class::NonPosted, Class::Completion];
    egresses.flat_map(|e| classes.map(|class| fabric.credits(e, class))).collect()
}

/// One link, everything about it finite; what `host` and `card` say of their ports is added.
fn with_buffers(host: &str, card: &str) -> String {
    let credits =
        "port.posted-header-credits: 1, port.non-posted-header-credits: 1, port.completion-header-credits: 1";
    format!(
        "
about: Does it move at all?
machine:
  host: {{part: generic-host-gen4, {credits}, {host}}}
  card: {{part: generic-dma-gen5, {credits}, {card}}}
links: {{slot: {{from: host, to: card, mps: 256B}}}}
workloads:
  both: {{dma: {{operation: mixed, size: 4KiB, window: 64KiB, transfers: 200}}, on: card}}
run: {{repeats: 1}}
"
    )
}

/// The bounds of SC041 and SC042 are where they belong: with the least that passes the check, everything still gets
/// through.
#[test]
fn the_smallest_buffers_that_are_accepted_are_enough() {
    // 256 B of payload are 16 credits, and 280 B on the wire
    let least = "port.posted-data-credits: 16, port.completion-data-credits: 16, port.replay-buffer: 280B";
    let plan = plan("tight.yaml", &with_buffers(least, least), &[]);
    let results = run(&plan, &Options::default(), &Nobody).unwrap_or_else(|crash| panic!("{crash:#?}"));
    assert!(results.complete && results.rows.iter().all(|row| row.value > 0.0), "{:#?}", results.rows);
    for less in
        ["port.posted-data-credits: 15", "port.completion-data-credits: 15", "port.replay-buffer: 279B"]
    {
        for text in [with_buffers(less, "done: 1ns"), with_buffers("ports: 1", less)] {
            let found = lanetwin_plan::check_text(&text);
            let param = less.split(':').next().expect("a name");
            assert!(
                matches!(&found[..], [one] if ["SC041", "SC042"].contains(&one.code) && one.path.ends_with(param)),
                "{less}: {found:#?}"
            );
        }
    }
}
