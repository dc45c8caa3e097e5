//! A memory with a disk behind a cache.

use crate::rig::*;
use lanetwin_kernel::{ComponentId, Port, Stream};
use lanetwin_models::cxl_hybrid::{CxlHybrid, HybridTotals};
use lanetwin_ports::{Builder, Hint, HintKind, Kernel, Line, LineDone, Message, Operation, Status};
use lanetwin_units::Instant;

/// Times that can be added up in one's head; memory without refreshes.
const PLAIN: &[(&str, &str)] = &[
    ("capacity", "64MiB"),
    ("cache.size", "32MiB"),
    ("cache.usable", "1MiB"),
    ("cache.ways", "4"),
    ("cache.hashed", "false"),
    ("endpoint.ingress", "100ns"),
    ("endpoint.egress", "50ns"),
    ("lookup.interval", "10ns"),
    ("lookup.latency", "30ns"),
    ("write.early", "false"),
    ("dram.refresh", "none"),
    ("dram.channels", "1"),
    ("dram.density", "8Gb"),
];

fn line(ns_: u64, operation: Operation, handle: u32, address: u64) -> (Instant, Message) {
    (ns(ns_), Message::Line(Line { operation, handle, address }))
}
fn read(at: u64, handle: u32, address: u64) -> (Instant, Message) {
    line(at, Operation::Read, handle, address)
}
fn write(at: u64, handle: u32, address: u64) -> (Instant, Message) {
    line(at, Operation::Write, handle, address)
}

/// A device in front of a disk that takes 10 µs, and what it answered: when \[ns\], to whom, how.
fn run(
    replaced: &[(&str, &str)],
    script: Vec<(Instant, Message)>,
) -> (Vec<(f64, u32, Status)>, HybridTotals) {
    let (log, mut kernel, hybrid) = built(replaced, script);
    kernel.run_until(ns(1_000_000));
    let answer = |&(ps, _, message): &(u64, Port, Message)| match message {
        Message::LineDone(LineDone { handle, status, .. }) => Some((ps as f64 / 1000.0, handle, status)),
        _ => None,
    };
    let answers = log.borrow().iter().filter_map(answer).collect();
    (answers, totals(&mut kernel, hybrid))
}

fn built(replaced: &[(&str, &str)], script: Vec<(Instant, Message)>) -> (Log, Kernel, ComponentId) {
    let mut builder = Builder::new();
    let all: Vec<_> = PLAIN.iter().chain(replaced).copied().collect();
    let hybrid = add(&mut builder, "cxl-hybrid", &all);
    let disk = [("read.latency", "10us"), ("write.latency", "10us")];
    let disk = add(&mut builder, "fixed-latency-disk", &disk);
    builder.join((hybrid, Port(1)), (disk, Port(0)));
    let log = peer(&mut builder, (hybrid, Port(0)), script);
    (log, builder.seal(), hybrid)
}

fn totals(kernel: &mut Kernel, hybrid: ComponentId) -> HybridTotals {
    let now = kernel.now();
    kernel.component::<CxlHybrid>(hybrid).unwrap().totals(now).unwrap()
}

#[test]
fn a_miss_takes_the_disk_and_a_hit_the_memory() {
    // the first line of a page is fetched, its neighbour then hits; the row is open by then or not
    let (answers, totals) = run(&[], vec![read(0, 1, 0), read(20_000, 2, 64), read(20_500, 3, 128)]);
    assert_eq!(answers[0], (100.0 + 30.0 + 10_000.0 + 50.0, 1, Status::Ok));
    let of = |answer: (f64, u32, Status), asked: f64| answer.0 - asked - 180.0;
    // DDR4-2666: between CL and tRP + tRCD + CL and a burst, with clock edges
    let memory = [of(answers[1], 20_000.0), of(answers[2], 20_500.0)];
    assert!(memory.iter().all(|memory| (14.0..60.0).contains(memory)), "{memory:?}");
    assert_eq!((totals.cache.read_misses, totals.cache.read_hits, totals.cache.fetched_bytes), (1, 2, 4096));
    assert_eq!(totals.traffic.disk_read_bytes, 4096);
}

#[test]
fn reads_of_a_page_on_its_way_join_and_writes_go_on() {
    let script = vec![read(0, 1, 0), read(100, 2, 640), write(200, 3, 64), read(300, 4, 64)];
    let (answers, totals) = run(&[], script);
    let order: Vec<u32> = answers.iter().map(|answer| answer.1).collect();
    assert_eq!(order, [3, 4, 1, 2], "{answers:?}");
    assert_eq!((totals.cache.read_misses, totals.cache.merges, totals.cache.fetches), (1, 1, 1));
    assert_eq!((totals.cache.write_hits, totals.cache.read_hits), (1, 1));
    // 64 lines, but for the one that had been written, and that one
    assert_eq!(totals.memory.accesses[1], 64);
}

#[test]
fn a_dirty_page_that_goes_is_read_out_and_written_to_the_disk() {
    // five pages of one set of four: 64 sets
    let stride = 64 * 4096;
    let mut script = vec![write(0, 0, 0)];
    script.extend((1..5).map(|n| read(u64::from(n) * 50_000, n, u64::from(n) * stride)));
    let (answers, totals) = run(&[], script);
    assert!(answers.iter().all(|answer| answer.2 == Status::Ok) && answers.len() == 5);
    assert_eq!(
        (totals.cache.dirty_evictions, totals.cache.write_backs, totals.traffic.disk_written_bytes),
        (1, 1, 4096)
    );
    assert_eq!(totals.memory.accesses[0], 64, "the page that goes is read out: {totals:?}");
    assert_eq!(totals.cache.dirty_pages, 0);
}

#[test]
fn look_ups_are_as_far_apart_as_they_must_be() {
    let warm = [("initial", "warm"), ("initial.size", "1MiB"), ("lookup.interval", "100ns")];
    let script: Vec<_> = (0..20_u32).map(|n| read(0, n, u64::from(n) * 4096)).collect();
    let (answers, totals) = run(&warm, script);
    assert_eq!(totals.cache.read_hits, 20);
    let gaps: Vec<f64> = answers.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
    assert!(gaps.iter().all(|gap| (gap - 100.0).abs() < 40.0), "{gaps:?}");
    assert!((answers[19].0 - answers[0].0 - 1900.0).abs() < 40.0);
}

#[test]
fn what_the_controller_does_of_its_own_costs_memory_accesses() {
    let warm = [("initial", "warm"), ("initial.size", "1MiB"), ("dram.write-answer", "written")];
    let script = || vec![write(0, 1, 0), read(5_000, 2, 64)];
    let accesses = |more: &[(&str, &str)]| {
        let all: Vec<_> = warm.iter().chain(more).copied().collect();
        let (answers, totals) = run(&all, script());
        (totals.memory.accesses, answers[0].0)
    };
    let (plain, at) = accesses(&[]);
    assert_eq!(plain, [1, 1]);
    let (more, later) = accesses(&[("write.reads", "1"), ("write.writes", "2"), ("read.accesses", "3")]);
    assert_eq!(more, [5, 3]);
    assert!(later > at + 20.0, "a write waits for what it reads: {at} {later}");
}

/// The lines of a fetched page and those that are asked for: each a burst of eight beats of DDR4-2666.
#[test]
fn the_use_of_its_memory_is_told() {
    let (_, mut kernel, hybrid) = built(&[], vec![read(0, 1, 0), read(20_000, 2, 64), write(21_000, 3, 128)]);
    kernel.run_until(ns(1_000_000));
    let accesses: u64 = totals(&mut kernel, hybrid).memory.accesses.iter().sum();
    let supplies = kernel.report().into_iter().flat_map(|(_, _, report)| report.supplies);
    let (_, buses) = supplies.into_iter().find(|(name, _)| name == "data buses").expect("its buses");
    let burst = buses.in_use_ps as f64 / accesses as f64;
    assert!(accesses > 64 && (2990.0..=3010.0).contains(&burst), "{burst} ps of each of {accesses}");
    assert_eq!(buses.supply, 1);
}

#[test]
fn nobody_is_answered_beyond_the_capacity_or_without_a_disk() {
    let (answers, _) = run(&[], vec![read(0, 7, 64 << 20), write(10, 8, 1 << 40)]);
    assert_eq!(answers, [(150.0, 7, Status::Aborted), (160.0, 8, Status::Aborted)]);
    let mut builder = Builder::new();
    let hybrid = add(&mut builder, "cxl-hybrid", PLAIN);
    let log = peer(&mut builder, (hybrid, Port(0)), vec![read(0, 1, 0)]);
    builder.seal().run_until(Instant::NEVER);
    let answer = LineDone { operation: Operation::Read, handle: 1, status: Status::Corrupt };
    assert_eq!(*log.borrow(), [(180_000, Port(0), Message::LineDone(answer))]);
}

#[test]
fn hints_are_answered_and_done() {
    let hint = |at, what, handle, pages| (ns(at), Message::Hint(Hint { what, pages, handle, address: 4096 }));
    let script = vec![
        hint(0, HintKind::Prefetch, 1, 3),
        hint(50_000, HintKind::Status, 2, 100),
        read(60_000, 3, 4096),
        hint(70_000, HintKind::Temperature, 4, 3),
        hint(80_000, HintKind::Evict, 5, 2),
        hint(90_000, HintKind::Status, 6, 3),
    ];
    let (log, mut kernel, hybrid) = built(&[], script);
    kernel.run_until(Instant::NEVER);
    let hinted: Vec<_> = log
        .borrow()
        .iter()
        .filter_map(|(ps, _, message)| match message {
            Message::HintDone { handle, value } => Some((*ps / 1000, *handle, *value)),
            _ => None,
        })
        .collect();
    assert_eq!(hinted, [(2_000, 1, 3), (52_000, 2, 3), (72_000, 4, 1), (82_000, 5, 2), (92_000, 6, 1)]);
    assert_eq!(totals(&mut kernel, hybrid).cache.ahead_used, 1);
}

/// Reads, writes and hints of a working set of four times the cache, in bursts; a few pages are used often.
fn busy_script(seed: u64) -> Vec<(Instant, Message)> {
    let mut random = Stream::new(seed, "hybrid", "script");
    let mut at = 0;
    let mut message = |handle| {
        at += if random.below(40) == 0 { random.below(30_000) } else { random.below(6) };
        let pages = if random.below(3) == 0 { 1024 } else { 100 };
        let address = random.below(pages) * 4096 + random.below(64) * 64;
        match random.below(60) {
            0 => {
                let what = if random.below(2) == 0 { HintKind::Evict } else { HintKind::Prefetch };
                (ns(at), Message::Hint(Hint { what, pages: 2, handle, address: address / 4096 * 4096 }))
            }
            1..40 => read(at, handle, address),
            _ => write(at, handle, address),
        }
    };
    (0..600).map(&mut message).collect()
}

/// A cleaner that never has anything to do lets no look-up be left alone: what it finds is then seen to when it ends.
#[test]
fn hits_that_are_seen_to_later_are_answered_as_if_they_were_not() {
    let kinds: [&[(&str, &str)]; 4] = [
        &[("write.early", "true")],
        &[("write.early", "false"), ("cache.policy", "arc"), ("dram.write-answer", "written")],
        &[("write.early", "true"), ("read.accesses", "1"), ("write.writes", "1"), ("endpoint.egress", "3ns")],
        &[
            ("write.reads", "1"),
            ("cache.policy", "random"),
            ("registers", "2"),
            ("registers.hits-pass", "false"),
        ],
    ];
    let at_once = [("clean.at-once", "1"), ("clean.high", "100%"), ("clean.low", "100%")];
    let warm =
        [("initial", "warm"), ("initial.size", "4MiB"), ("initial.dirty", "0"), ("lookup.interval", "1ns")];
    let (mut fewer, mut lines) = (0, 0);
    for (n, kind) in (0..).zip(kinds) {
        for seed in 0..4 {
            let of = |more: &[(&str, &str)], slice: u64| {
                let all: Vec<_> = warm.iter().chain(kind).chain(more).copied().collect();
                let (log, mut kernel, hybrid) = built(&all, busy_script(4 * n + seed));
                let mut seen = Vec::new();
                for slice in (0..).step_by(slice as usize).take_while(|at| *at <= 1_000_000) {
                    kernel.run_until(ns(slice));
                    seen.push((slice, totals(&mut kernel, hybrid).cache.read_hits));
                }
                seen.retain(|(at, _)| at % 50_000 == 0);
                let mut messages: Vec<_> = log.borrow().iter().map(|one| format!("{one:?}")).collect();
                messages.sort();
                (messages, seen, totals(&mut kernel, hybrid), kernel.events())
            };
            let (late, cut, strict) = (of(&[], 50_000), of(&[], 250), of(&at_once, 50_000));
            assert_eq!(strict.2.cache.cleanings, 0);
            let first = |a: &[String], b: &[String]| a.iter().find(|one| !b.contains(one)).cloned();
            assert_eq!(first(&late.0, &strict.0), first(&strict.0, &late.0), "{kind:?} {seed}");
            assert_eq!((&late.1, &late.2), (&strict.1, &strict.2), "{kind:?} {seed}");
            assert_eq!(first(&late.0, &cut.0), first(&cut.0, &late.0), "{kind:?} {seed}");
            assert_eq!(late.2, cut.2, "{kind:?} {seed}");
            fewer += strict.3.saturating_sub(late.3);
            lines += late.2.traffic.reads + late.2.traffic.writes;
        }
    }
    assert!(fewer > lines / 4, "{fewer} events fewer for {lines} lines");
}
