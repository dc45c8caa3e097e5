//! What a drive must do, whatever it is made of: times that a person can work out, and which way things move.

mod drives;

use drives::{Dice, amplification, closed_loop, random, tlc};
use lanetwin_media::config::{
    CrossPoint, Encryption, Ftl, Geometry, Initial, MappingTable, Medium, Nand, Partition, Program,
    ReadAhead, SlcCache, UNIT, Watermarks,
};
use lanetwin_media::{Counters, Done, Drive, DriveConfig, Kind, Outcome, Request};
use lanetwin_units::{Bytes, Instant, Span};
use proptest::prelude::*;

/// 8 dies of 48 blocks of 576 units on 4 channels, a fifth more flash than capacity.
fn config(initial: Initial) -> DriveConfig {
    let geometry = Geometry {
        channels: 4,
        chips: 2,
        dies: 1,
        planes: 2,
        blocks: 48,
        pages: 72,
        page: Bytes(16384),
        spare: Bytes(2048),
    };
    let mut config = tlc(geometry, geometry.capacity().0 * 5 / 6, initial);
    config.buffer.capacity = Bytes(4 << 20);
    config
}

fn nand(config: &mut DriveConfig) -> &mut Nand {
    let Medium::Nand(nand, _) = &mut config.medium else { panic!("flash") };
    nand
}

fn ftl(config: &mut DriveConfig) -> &mut Ftl {
    let Medium::Nand(_, ftl) = &mut config.medium else { panic!("flash") };
    ftl
}

fn request(kind: Kind, unit: u64, units: u64) -> Request {
    Request { token: unit as u32, kind, first: unit * UNIT, bytes: units * UNIT, tenant: 0 }
}

/// When a request ends that is given to an idle drive at `now`.
fn end_of(drive: &mut Drive, now: Instant, request: Request) -> Instant {
    let mut done = Vec::new();
    drive.submit(now, request);
    let mut at = now;
    while done.is_empty() {
        at = drive.next_event().expect("it is under way");
        drive.advance(at, &mut done);
    }
    assert_eq!(done, [Done { token: request.token, outcome: Outcome::Success }]);
    at
}

/// Lets everything end that is under way.
fn rest(drive: &mut Drive) -> Instant {
    let (mut at, mut done) = (Instant::ZERO, Vec::new());
    while let Some(next) = drive.next_event() {
        at = next;
        drive.advance(at, &mut done);
    }
    at
}

/// Bytes a second of a closed loop.
fn rate(config: &DriveConfig, requests: u64, depth: u32, bytes: u64, next: impl FnMut() -> Request) -> f64 {
    let mut drive = Drive::new(config, 1).expect("no mistakes");
    let end = closed_loop(&mut drive, Instant::ZERO, requests, depth, next);
    requests as f64 * bytes as f64 / (end.as_ps() as f64 * 1e-12)
}

/// Reads of 4 KiB in order.
fn in_order(kind: Kind, bytes: u64) -> impl FnMut() -> Request {
    let mut next = 0;
    move || {
        next += bytes;
        Request { token: 0, kind, first: next - bytes, bytes, tenant: 0 }
    }
}

/// By hand: tCS 20 + 6 tWC 150 + tWB 100 + tRR 20 = 290 ns of command; tR by the page's place in its word line; a unit of 4 KiB with its share of the spare
/// area is 4608 B, at 1600 MB/s 2880 ns; 100 ns in the map.
#[test]
fn a_read_of_an_idle_drive_takes_what_its_parts_take() {
    let config = config(Initial::Sequential);
    let mut drive = Drive::new(&config, 0).expect("no mistakes");
    let mut now = Instant::ZERO;
    // a program takes 24 units: 8 of each page of the word line
    for (unit, sense) in [(0, 45_000), (7, 45_000), (8, 60_000), (16, 75_000), (24, 45_000)] {
        let end = end_of(&mut drive, now, request(Kind::Read, unit, 1));
        assert_eq!(end - now, Span::from_ns(290 + sense + 2_880 + 100), "unit {unit}");
        now = end;
    }
    // four units of a page leave together
    let end = end_of(&mut drive, now, request(Kind::Read, 0, 4));
    assert_eq!(end - now, Span::from_ns(290 + 45_000 + 4 * 2_880 + 100));
    // two planes are commanded together (150 ns + tDBSY 500 ns more), sensed together, and share the bus
    now = end;
    let end = end_of(&mut drive, now, request(Kind::Read, 0, 8));
    assert!(end - now >= Span::from_ns(290 + 45_000 + 8 * 2_880 + 100), "{:?}", end - now);
    assert_eq!(drive.counters().page_reads, 8);
}

#[test]
fn a_write_is_acknowledged_where_it_is_safe() {
    let write = request(Kind::Write, 5, 1);
    let took = |power_loss_protected, volatile_cache, kind| {
        let mut config = config(Initial::Empty);
        config.buffer.power_loss_protected = power_loss_protected;
        config.buffer.volatile_cache = volatile_cache;
        let mut drive = Drive::new(&config, 0).expect("no mistakes");
        let end = end_of(&mut drive, Instant::ZERO, write);
        match kind {
            Kind::Flush => end_of(&mut drive, end, request(Kind::Flush, 0, 0)) - end,
            _ => end - Instant::ZERO,
        }
    };
    let (buffered, programmed) = (Span::from_us(2), Span::from_us(1_000));
    assert_eq!(took(true, false, Kind::Write), buffered);
    assert_eq!(took(true, false, Kind::Flush), buffered);
    assert_eq!(took(false, true, Kind::Write), buffered);
    assert!(took(false, true, Kind::Flush) > programmed);
    assert!(took(false, false, Kind::Write) > programmed);
    // what was acknowledged on flash need not be flushed
    assert_eq!(took(false, false, Kind::Flush), buffered);
}

#[test]
fn requests_beyond_the_end_do_nothing() {
    let config = config(Initial::Empty);
    let mut drive = Drive::new(&config, 0).expect("no mistakes");
    let units = config.units();
    for (first, bytes, outcome) in [
        (units * UNIT, UNIT, Outcome::OutOfRange),
        (units * UNIT - UNIT, 2 * UNIT, Outcome::OutOfRange),
        (u64::MAX, 2, Outcome::OutOfRange),
        (0, 0, Outcome::Success),
    ] {
        let mut done = Vec::new();
        drive.submit(Instant::ZERO, Request { token: 9, kind: Kind::Write, first, bytes, tenant: 0 });
        assert_eq!(drive.next_event(), Some(Instant::ZERO));
        drive.advance(Instant::ZERO, &mut done);
        assert_eq!(done, [Done { token: 9, outcome }]);
    }
    assert_eq!(drive.counters().host_writes, 0);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let mut config = config(Initial::Empty);
    config.capacity = Bytes(4097);
    config.buffer.capacity = Bytes(0);
    nand(&mut config).geometry.planes = 9;
    let fields: Vec<_> =
        Drive::new(&config, 0).err().expect("no mistakes").iter().map(|bad| bad.field).collect();
    assert_eq!(fields, ["capacity", "buffer.capacity", "nand.geometry.planes"]);
    let mut config = self::config(Initial::Empty);
    config.capacity = Bytes(config.capacity.0 * 6 / 5);
    ftl(&mut config).watermarks = Watermarks { low: 2, urgent: 2 };
    let fields: Vec<_> =
        Drive::new(&config, 0).err().expect("no mistakes").iter().map(|bad| bad.field).collect();
    assert_eq!(fields, ["ftl.watermarks.low", "capacity"]);
}

/// Tokens and times of all ends of a mixed load, advanced also at times of which `extra` is the distance.
fn ends(config: &DriveConfig, seed: u64, extra: Option<u64>) -> Vec<(u64, u32)> {
    let mut drive = Drive::new(config, seed).expect("no mistakes");
    let mut dice = Dice(seed);
    let (mut ends, mut done) = (Vec::new(), Vec::new());
    let mut at = Instant::ZERO;
    let advance = |drive: &mut Drive, to: Instant, ends: &mut Vec<(u64, u32)>, done: &mut Vec<Done>| {
        while let Some(next) = drive.next_event().filter(|next| *next <= to) {
            drive.advance(next, done);
            ends.extend(done.drain(..).map(|done| (next.as_ps(), done.token)));
        }
    };
    for token in 0..1_500 {
        let to = at + Span::from_ns(dice.below(20_000));
        if let Some(extra) = extra {
            let mut stop = at;
            while stop + Span::from_ps(extra) < to {
                stop += Span::from_ps(extra);
                advance(&mut drive, stop, &mut ends, &mut done);
                drive.advance(stop, &mut done);
                assert_eq!(done, [], "nothing ends before it was announced");
            }
        }
        advance(&mut drive, to, &mut ends, &mut done);
        at = to;
        let kind = [Kind::Read, Kind::Write, Kind::Write, Kind::Trim][dice.below(4) as usize];
        let units = 1 + dice.below(6);
        drive.submit(at, Request { token, ..request(kind, dice.below(config.units() - units), units) });
    }
    advance(&mut drive, Instant::NEVER, &mut ends, &mut done);
    ends
}

/// Tokens and times of all ends of requests of these kinds, of which each is given up to `lead` ahead of its time; and what the drive has done.
fn ends_of(config: &DriveConfig, seed: u64, kinds: &[Kind], lead: u64) -> (Vec<(u64, u32)>, Counters) {
    let mut drive = Drive::new(config, seed).expect("no mistakes");
    let (mut dice, mut leads) = (Dice(seed), Dice(!seed));
    let mut given: Vec<(u64, u64, Request)> = Vec::new();
    let (mut at, mut next) = (0, 0);
    for token in 0..1_000 {
        let pause = if dice.below(4) == 0 { 60_000_000 } else { 4_000_000 };
        at += 1 + dice.below(pause);
        let kind = kinds[dice.below(kinds.len() as u64) as usize];
        let units = 1 + dice.below(4);
        // most lie close together or follow one another, so that they meet in the buffer and in what is read ahead; some lie outside
        let first = match dice.below(8) {
            0 => dice.below(config.units() + 1),
            1 => dice.below(512),
            _ => next,
        };
        next = (first + units) % config.units();
        let told = at.saturating_sub(leads.below(lead + 1));
        given.push((told, at, Request { token, ..request(kind, first, units) }));
    }
    given.sort_by_key(|(told, ..)| *told);
    let (mut ends, mut done) = (Vec::new(), Vec::new());
    let mut advance = |drive: &mut Drive, to: Instant| {
        while let Some(next) = drive.next_event().filter(|next| *next <= to) {
            drive.advance(next, &mut done);
            ends.extend(done.drain(..).map(|done| (next.as_ps(), done.token)));
        }
    };
    for (told, at, request) in given {
        advance(&mut drive, Instant::from_ps(told));
        if lead == 0 {
            drive.submit(Instant::from_ps(at), request);
        } else {
            let look = drive.submit_at(Instant::from_ps(at), request);
            assert!(drive.next_event().is_some_and(|next| next <= look));
        }
    }
    advance(&mut drive, Instant::NEVER);
    (ends, drive.counters())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(80))]

    /// Whatever is told when: it ends when it does if nothing is told ahead, whichever way is taken for reads alone, for writes alone, and for all.
    #[test]
    fn what_is_told_ahead_ends_when_it_does_otherwise(seed: u64, lead in 1_u64..40_000_000, kinds in 0_usize..5, medium in 0_usize..4) {
        let kinds: &[Kind] = [
            &[Kind::Read][..],
            &[Kind::Write],
            &[Kind::Read, Kind::Write],
            &[Kind::Read, Kind::Write, Kind::Flush, Kind::Trim, Kind::WriteZeroes],
            &[Kind::Write, Kind::Flush],
        ][kinds];
        let mut config = config([Initial::SteadyState, Initial::Empty, Initial::Sequential, Initial::Empty][medium]);
        config.encryption = (seed % 2 == 0).then_some(Encryption { latency: Span::from_ns(500), bytes_per_second: 4_000_000_000 });
        config.buffer.power_loss_protected = seed % 3 > 0;
        if medium == 2 {
            ftl(&mut config).read_ahead = Some(ReadAhead { streams: 2, trigger: 1, window: Bytes(65536) });
        } else if medium == 3 {
            config.medium = cross_point().medium;
        }
        let (told, otherwise) = (ends_of(&config, seed, kinds, lead), ends_of(&config, seed, kinds, 0));
        prop_assert_eq!(told.0.len(), 1_000);
        prop_assert_eq!(told, otherwise);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn a_seed_decides_everything_and_slices_nothing(seed: u64, slice in 1_000_u64..7_000_000) {
        let mut config = config(Initial::SteadyState);
        config.encryption = Some(Encryption { latency: Span::from_ns(500), bytes_per_second: 4_000_000_000 });
        let whole = ends(&config, seed, None);
        prop_assert_eq!(whole.len(), 1_500);
        prop_assert_eq!(&whole, &ends(&config, seed, None));
        prop_assert_eq!(&whole, &ends(&config, seed, Some(slice)));
    }

    #[test]
    fn no_read_is_faster_than_in_an_idle_drive(seed: u64, depth in 1_u32..64) {
        let config = config(Initial::SteadyState);
        let units = config.units();
        let mut drive = Drive::new(&config, seed).expect("no mistakes");
        let mut dice = Dice(seed);
        // the lower half is written, the upper half read: nothing comes from the buffer
        let (mut starts, mut done, mut now) = (std::collections::BTreeMap::new(), Vec::new(), Instant::ZERO);
        for token in 0..2_000 {
            while starts.len() >= depth as usize {
                now = drive.next_event().expect("requests are under way");
                drive.advance(now, &mut done);
                for end in done.drain(..) {
                    let (kind, start): (Kind, Instant) = starts.remove(&end.token).expect("it was started");
                    if kind == Kind::Read {
                        // what GC is moving at the time is read from where it is on its way
                        let (took, on_its_way) = (now - start, Span::from_ns(100));
                        let idle = Span::from_ns(290 + 45_000 + 2_880 + 100);
                        prop_assert!(took >= idle || took == on_its_way, "{took}");
                    }
                }
            }
            let (kind, from) = if dice.below(2) == 0 { (Kind::Read, units / 2) } else { (Kind::Write, 0) };
            starts.insert(token, (kind, now));
            drive.submit(now, Request { token, ..request(kind, from + dice.below(units / 2), 1) });
        }
        let now = rest(&mut drive);
        let (channels, dies) = drive.busy();
        prop_assert!(channels.iter().chain(&dies).all(|busy| *busy <= now.as_ps()));
    }
}

/// Mean time between requests of a closed loop \[ns\], when the drive has been at it for a while.
fn pace(config: &DriveConfig, kind: Kind, depth: u32) -> f64 {
    let mut drive = Drive::new(config, 1).expect("no mistakes");
    let mut dice = Dice(2);
    let units = config.units();
    let from = random(&mut drive, Instant::ZERO, kind, units, 4_000, depth, &mut dice);
    (random(&mut drive, from, kind, units, 8_000, depth, &mut dice) - from).as_ps() as f64 / 8e6
}

/// A name, a load, and what is changed.
type Change<'a> = (&'a str, Kind, &'a dyn Fn(&mut DriveConfig));

#[test]
fn what_is_better_is_not_slower() {
    let usual = || config(Initial::SteadyState);
    let with = |change: &dyn Fn(&mut DriveConfig)| {
        let mut config = usual();
        change(&mut config);
        config
    };
    let better: [Change<'_>; 6] = [
        ("sensing faster", Kind::Read, &|c| nand(c).timing.read = [Span::from_us(30); 4]),
        ("a faster bus", Kind::Read, &|c| nand(c).bus.megatransfers = 3200),
        ("cache reads", Kind::Read, &|c| assert!(std::mem::replace(&mut nand(c).timing.cache_read, true))),
        ("programming faster", Kind::Write, &|c| {
            nand(c).timing.program = Program::OneShot(Span::from_us(500))
        }),
        ("erasing faster", Kind::Write, &|c| nand(c).timing.erase = Span::from_us(1_000)),
        ("over-provisioning", Kind::Write, &|c| c.capacity = Bytes(c.capacity.0 / 8192 * 7168)),
    ];
    for (name, kind, change) in better {
        let (before, after) = (pace(&usual(), kind, 64), pace(&with(change), kind, 64));
        assert!(after <= before * 1.005, "{name}: {before} ns before, {after} ns after");
    }
    // and what is switched off is missed
    let worse: [Change<'_>; 3] = [
        ("cache reads", Kind::Read, &|c| nand(c).timing.cache_read = false),
        ("the table in DRAM", Kind::Read, &|c| {
            ftl(c).mapping = MappingTable::Cached { pages: 16, hit: Span::from_ns(100) };
        }),
        ("three channels", Kind::Read, &|c| {
            let geometry = &mut nand(c).geometry;
            (geometry.channels, geometry.chips) = (1, 8);
        }),
    ];
    for (name, kind, change) in worse {
        let (before, after) = (pace(&usual(), kind, 64), pace(&with(change), kind, 64));
        assert!(after > before * 1.005, "without {name}: {before} ns before, {after} ns after");
    }
}

#[test]
fn cache_programs_hide_the_bus() {
    let with = config(Initial::Empty);
    let mut without = with.clone();
    nand(&mut without).timing.cache_program = false;
    let write = |config: &DriveConfig| rate(config, 2_000, 16, 131_072, in_order(Kind::Write, 131_072));
    // six pages of 18 432 B at 1600 MB/s are 69 µs beside 1 ms in the array
    let gain = write(&with) / write(&without);
    assert!((1.04..1.09).contains(&gain), "{gain}");
}

/// Mean latency of reads \[ns\] beside a writer, each in its range.
fn read_latency(config: &DriveConfig, reads: core::ops::Range<u64>, writes: core::ops::Range<u64>) -> f64 {
    let mut drive = Drive::new(config, 1).expect("no mistakes");
    let mut dice = Dice(3);
    let (mut sum, mut ended, mut done) = (0, 0, Vec::new());
    let (mut start, mut now) = (Instant::ZERO, Instant::ZERO);
    let pick =
        |dice: &mut Dice, range: &core::ops::Range<u64>| range.start + dice.below(range.end - range.start);
    for _ in 0..if writes.is_empty() { 0 } else { 64 } {
        drive.submit(now, Request { token: 1, ..request(Kind::Write, pick(&mut dice, &writes), 8) });
    }
    drive.submit(now, Request { token: 0, ..request(Kind::Read, pick(&mut dice, &reads), 1) });
    while ended < 1_000 {
        now = drive.next_event().expect("requests are under way");
        drive.advance(now, &mut done);
        for end in done.drain(..) {
            if end.token == 0 {
                (sum, ended, start) = (sum + (now - start).as_ps(), ended + 1, now);
                drive.submit(now, Request { token: 0, ..request(Kind::Read, pick(&mut dice, &reads), 1) });
            } else {
                drive.submit(now, Request { token: 1, ..request(Kind::Write, pick(&mut dice, &writes), 8) });
            }
        }
    }
    sum as f64 / ended as f64 / 1000.0
}

#[test]
fn dies_of_ones_own_are_quiet_and_shared_ones_are_not() {
    let shared = config(Initial::SteadyState);
    let mut apart = shared.clone();
    apart.capacity = Bytes(shared.capacity.0 / 8192 * 8192);
    let half = Partition { capacity: Bytes(apart.capacity.0 / 2), dies: 4 };
    ftl(&mut apart).partitions = vec![half; 2];
    let middle = apart.units() / 2;
    let (mine, yours) = (0..middle, middle..apart.units() - 8);
    let alone = read_latency(&apart, mine.clone(), 0..0);
    let isolated = read_latency(&apart, mine.clone(), yours.clone());
    let disturbed = read_latency(&shared, mine, yours);
    println!(
        "a read takes {alone:.0} ns alone, {isolated:.0} ns beside a writer on other dies, {disturbed:.0} ns on the same"
    );
    // two channels are the neighbour's as well: what is left is his time on the bus
    assert!(isolated < alone * 1.3 && disturbed > alone * 1.5);
}

#[test]
fn suspending_helps_reads_and_bursts_are_bounded() {
    let config = config(Initial::SteadyState);
    let mut patient = config.clone();
    nand(&mut patient).timing.suspend = None;
    let units = config.units();
    let (with, without) =
        (read_latency(&config, 0..units, 0..units - 8), read_latency(&patient, 0..units, 0..units - 8));
    assert!(with * 2.0 < without, "{with} ns with, {without} ns without");
}

#[test]
fn reading_ahead_hides_the_flash_from_a_sequential_reader() {
    let config = config(Initial::Sequential);
    let mut ahead = config.clone();
    ftl(&mut ahead).read_ahead = Some(ReadAhead { streams: 4, trigger: 3, window: Bytes(1 << 20) });
    let without = rate(&config, 4_000, 1, 4096, in_order(Kind::Read, 4096));
    let with = rate(&ahead, 4_000, 1, 4096, in_order(Kind::Read, 4096));
    assert!(with > 8.0 * without, "{with} B/s with, {without} B/s without");
    // a random reader gets nothing, and loses nothing
    assert!((pace(&ahead, Kind::Read, 4) / pace(&config, Kind::Read, 4) - 1.0).abs() < 0.01);
}

#[test]
fn an_slc_cache_takes_a_burst_and_pays_later() {
    let mut config = config(Initial::Empty);
    config.capacity = Bytes(config.capacity.0 / 2 / UNIT * UNIT);
    let mut cached = config.clone();
    let us = Span::from_us;
    ftl(&mut cached).slc = Some(SlcCache { blocks: 8, read: us(25), program: us(200), erase: us(2_000) });
    let burst = |config: &DriveConfig| rate(config, 1_500, 16, 16_384, in_order(Kind::Write, 16_384));
    assert!(burst(&cached) > 1.3 * burst(&config), "{} {}", burst(&cached), burst(&config));
    let long = |config: &DriveConfig| rate(config, 20_000, 16, 16_384, in_order(Kind::Write, 16_384));
    assert!(long(&cached) < burst(&cached), "{} {}", long(&cached), burst(&cached));
    let mut drive = Drive::new(&cached, 1).expect("no mistakes");
    closed_loop(&mut drive, Instant::ZERO, 20_000, 16, in_order(Kind::Write, 16_384));
    assert!(drive.counters().folded_units > 0 && drive.counters().write_amplification() > 1.05);
}

#[test]
fn trimmed_data_are_not_moved() {
    let config = config(Initial::SteadyState);
    let units = config.units();
    let measure = |trimmed: u64| {
        let mut drive = Drive::new(&config, 1).expect("no mistakes");
        let mut dice = Dice(8);
        let now = if trimmed > 0 {
            end_of(&mut drive, Instant::ZERO, Request { token: 0, ..request(Kind::Trim, 0, trimmed) })
        } else {
            Instant::ZERO
        };
        let write = |drive: &mut Drive, dice: &mut Dice, now, n| {
            closed_loop(drive, now, n, 32, || request(Kind::Write, trimmed + dice.below(units - trimmed), 1))
        };
        let now = write(&mut drive, &mut dice, now, units / 2);
        let before = drive.counters();
        write(&mut drive, &mut dice, now, units / 4);
        amplification(&before, &drive.counters())
    };
    let (full, trimmed) = (measure(0), measure(units / 4));
    assert!(trimmed < full * 0.8, "{trimmed} after a trim, {full} without");
}

#[test]
fn cold_data_apart_from_hot_data_move_less() {
    let mut together = config(Initial::Sequential);
    together.capacity = Bytes(together.capacity.0 / 4);
    let geometry = &mut nand(&mut together).geometry;
    (geometry.channels, geometry.chips, geometry.blocks, geometry.pages) = (1, 2, 192, 18);
    ftl(&mut together).hot_cold = false;
    let mut apart = together.clone();
    ftl(&mut apart).hot_cold = true;
    // nineteen writes in twenty go to a tenth of the drive
    let measure = |config: &DriveConfig| {
        let units = config.units();
        let mut drive = Drive::new(config, 1).expect("no mistakes");
        let mut dice = Dice(4);
        let mut write = |drive: &mut Drive, now, times| {
            closed_loop(drive, now, times * units, 32, || {
                let unit = if dice.below(20) > 0 { dice.below(units / 10) } else { dice.below(units) };
                request(Kind::Write, unit, 1)
            })
        };
        let now = write(&mut drive, Instant::ZERO, 8);
        let before = drive.counters();
        write(&mut drive, now, 2);
        amplification(&before, &drive.counters())
    };
    let (mixed, separate) = (measure(&together), measure(&apart));
    assert!(separate < mixed * 0.95, "{separate} apart, {mixed} together");
}

#[test]
fn wear_is_levelled() {
    let measure = |lag: Option<u32>| {
        let mut config = config(Initial::Sequential);
        ftl(&mut config).wear.lag = lag;
        // nine tenths are never written again
        let hot = config.units() / 10;
        let mut drive = Drive::new(&config, 1).expect("no mistakes");
        random(&mut drive, Instant::ZERO, Kind::Write, hot, 8 * config.units(), 64, &mut Dice(1));
        drive.counters()
    };
    let (dynamic, fixed) = (measure(None), measure(Some(4)));
    assert_eq!(dynamic.wear_min, 0, "cold blocks stay where they are");
    // a block of cold data is moved between two of garbage, so levelling keeps up with half of the erases
    assert!(f64::from(fixed.wear_min) > 0.5 * fixed.wear_mean, "{} to {}", fixed.wear_min, fixed.wear_max);
    assert!(fixed.wear_max - fixed.wear_min < dynamic.wear_max - dynamic.wear_min);
    assert!(fixed.wear_units_moved > 0 && dynamic.wear_units_moved == 0);
    assert!((fixed.life_used - fixed.wear_mean / 3_000.0).abs() < 1e-12);
}

#[test]
fn energy_is_the_sum_of_what_was_done() {
    let config = config(Initial::Sequential);
    let mut drive = Drive::new(&config, 1).expect("no mistakes");
    let end = closed_loop(&mut drive, Instant::ZERO, 500, 8, in_order(Kind::Read, 131_072));
    let counters = drive.counters();
    assert_eq!(counters.page_reads, 500 * 8);
    // 60 µJ a page, 40 pJ a byte on the bus with its share of the spare area, 100 pJ a byte of the host
    let bytes = 500 * 131_072;
    assert_eq!(counters.bus_bytes, bytes * 9 / 8);
    let nanojoules = 500 * 8 * 60_000 + (bytes * 9 / 8 * 40 + bytes * 100) / 1000;
    assert_eq!(counters.work_nanojoules, nanojoules);
    // 5 W for as long as it took
    assert_eq!(counters.idle_nanojoules, end.as_ps() * 5 / 1000);
}

fn cross_point() -> DriveConfig {
    let mut config = config(Initial::Empty);
    config.medium = Medium::CrossPoint(CrossPoint {
        channels: 7,
        partitions: 16,
        line: Bytes(4096),
        read: Span::from_us(3),
        write: Span::from_us(6),
        bytes_per_second: 1_600_000_000,
        command: Span::from_ns(100),
        endurance: 1_000_000,
    });
    config
}

#[test]
fn a_medium_in_place_takes_the_same_time_whatever_came_before() {
    let config = cross_point();
    let mut drive = Drive::new(&config, 1).expect("no mistakes");
    let units = config.units();
    // command 100 ns, line 3 µs, 4096 B at 1.6 GB/s 2.56 µs
    let read = Span::from_ns(100 + 3_000 + 2_560);
    let first = end_of(&mut drive, Instant::ZERO, request(Kind::Read, 7, 1));
    assert_eq!(first - Instant::ZERO, read);
    let mut dice = Dice(1);
    random(&mut drive, first, Kind::Write, units, 20_000, 64, &mut dice);
    let now = rest(&mut drive);
    let end = end_of(&mut drive, now, request(Kind::Read, 7, 1));
    assert_eq!(end - now, read);
    let counters = drive.counters();
    assert_eq!((counters.page_programs, counters.gc_units_moved, counters.block_erases), (20_000, 0, 0));
    assert_eq!(counters.write_amplification(), 1.0);
    // lines of a request are read side by side: seven channels, one each
    let end = end_of(&mut drive, now + Span::from_us(100), request(Kind::Read, 0, 7));
    assert_eq!(end - (now + Span::from_us(100)), read);
}

#[test]
fn a_medium_in_place_is_bounded_by_its_partitions() {
    let config = cross_point();
    // 112 partitions of 100 ns + 6 µs + 2.56 µs less what overlaps: a line of 2.66 µs on each of 7 channels, or 8.66 µs in each partition
    let bytes = rate(&config, 40_000, 256, 4096, {
        let mut dice = Dice(6);
        let units = config.units();
        move || request(Kind::Write, dice.below(units), 1)
    });
    let bus = 7.0 * 4096.0 / 2.66e-6;
    // what is still in the buffer at the end, 1024 lines of 40 000, has not been waited for
    assert!(bytes < 1.03 * bus && bytes > 0.9 * bus, "{bytes} B/s of {bus}");
}
