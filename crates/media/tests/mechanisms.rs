//! What each mechanism of a flash drive is good for: with it and without it, which way things move and how far.

mod drives;

use drives::{
    Dice, amplification, closed_loop, eight_dies, end_of, ftl, in_order, nand, random, rate, request,
};
use lanetwin_media::config::{Frees, Initial, MappingTable, Partition, Program, ReadAhead, UNIT};
use lanetwin_media::{CommandExtent, Drive, DriveConfig, Kind, Request};
use lanetwin_units::{Bytes, Instant, Span, Spread};

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
    let usual = || eight_dies(Initial::STEADY_STATE);
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
    let with = eight_dies(Initial::Empty);
    let mut without = with.clone();
    nand(&mut without).timing.cache_program = false;
    let write = |config: &DriveConfig| rate(config, 2_000, 16, 131_072, in_order(Kind::Write, 131_072));
    // six pages of 18 432 B at 1600 MB/s are 69 µs beside 1 ms in the array
    let gain = write(&with) / write(&without);
    assert!((1.04..1.09).contains(&gain), "{gain}");
}

/// Eight dies take 96 KiB each in 1 ms, 786 MB/s, and a channel carries such a program in 69 µs.
#[test]
fn a_buffer_below_a_stripe_writes_as_fast_as_the_flash_if_registers_hold_what_is_programmed() {
    let write = |capacity: u64, frees: Frees| {
        let mut config = eight_dies(Initial::Empty);
        (config.buffer.capacity, config.buffer.frees) = (Bytes(capacity << 10), frees);
        rate(&config, 2_000, 16, 131_072, in_order(Kind::Write, 131_072)) / 1e6
    };
    let flash = 8.0 * 98_304.0 / 1_000.0;
    let warned = |capacity: u64, frees: Frees| {
        let mut config = eight_dies(Initial::Empty);
        (config.buffer.capacity, config.buffer.frees) = (Bytes(capacity << 10), frees);
        config.limits().len()
    };
    assert_eq!([64, 256, 1024].map(|capacity| warned(capacity, Frees::Loaded)), [1, 0, 0]);
    assert_eq!([64, 256, 1024].map(|capacity| warned(capacity, Frees::Programmed)), [1, 1, 0]);
    for capacity in [256, 512, 4096] {
        let loaded = write(capacity, Frees::Loaded);
        assert!(
            (loaded / flash - 1.0).abs() < 0.03,
            "{capacity} KiB, until loaded: {loaded} MB/s of {flash}"
        );
        // all that is in the buffer is on its way to a die or in one, for as long as that takes
        let held = (capacity as f64 * 1.024 / 1_069.0 * 1e3).min(flash);
        let programmed = write(capacity, Frees::Programmed);
        assert!(
            programmed < held * 1.03 && programmed > 0.6 * held,
            "{capacity} KiB, until programmed: {programmed} MB/s of {held}"
        );
    }
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
    let shared = eight_dies(Initial::STEADY_STATE);
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
    let config = eight_dies(Initial::STEADY_STATE);
    let mut patient = config.clone();
    nand(&mut patient).timing.suspend = None;
    let units = config.units();
    let (with, without) =
        (read_latency(&config, 0..units, 0..units - 8), read_latency(&patient, 0..units, 0..units - 8));
    assert!(with * 2.0 < without, "{with} ns with, {without} ns without");
}

#[test]
fn reading_ahead_hides_the_flash_from_a_sequential_reader() {
    let config = eight_dies(Initial::Sequential);
    let mut ahead = config.clone();
    ftl(&mut ahead).read_ahead = Some(ReadAhead { streams: 4, trigger: 3, window: Bytes(1 << 20) });
    let without = rate(&config, 4_000, 1, 4096, in_order(Kind::Read, 4096));
    let with = rate(&ahead, 4_000, 1, 4096, in_order(Kind::Read, 4096));
    assert!(with > 8.0 * without, "{with} B/s with, {without} B/s without");
    // a random reader gets nothing, and loses nothing
    assert!((pace(&ahead, Kind::Read, 4) / pace(&config, Kind::Read, 4) - 1.0).abs() < 0.01);
}

/// A closed loop of commands of `command` units that come in parts of `part` units, in an order of the dice: the time
/// at its end \[ps\], and the units that were read ahead.
fn in_parts(
    config: &DriveConfig,
    (command, part): (u64, u64),
    depth: u32,
    dice: &mut Dice,
    mut place: impl FnMut(&mut Dice) -> u64,
) -> (f64, u64) {
    let mut drive = Drive::new(config, 1).expect("no mistakes");
    let mut parts: Vec<Request> = Vec::new();
    let end = closed_loop(&mut drive, Instant::ZERO, 400 * command / part, depth, || {
        if parts.is_empty() {
            let first = place(dice);
            let part_of = Some(CommandExtent { first: first * UNIT, bytes: command * UNIT });
            for offset in (0..command).step_by(part as usize) {
                parts.push(Request { part_of, ..request(Kind::Read, first + offset, part) });
            }
        }
        let next = dice.below(parts.len() as u64) as usize;
        parts.swap_remove(next)
    });
    (end.as_ps() as f64, drive.counters().read_ahead_units)
}

#[test]
fn a_command_in_parts_is_no_sequence_and_commands_in_order_are_one() {
    let config = eight_dies(Initial::Sequential);
    let mut ahead = config.clone();
    ftl(&mut ahead).read_ahead = Some(ReadAhead { streams: 8, trigger: 4, window: Bytes(1 << 20) });
    // commands of 1 MiB keep all dies busy by themselves
    let cases = [(1, 16, 4, 64, 0.25), (2, 32, 4, 8, 0.5), (3, 32, 1, 32, 0.25), (4, 256, 8, 1, 1.02)];
    for (seed, command, part, depth, most) in cases {
        let places = config.units() / command;
        let time = |config: &DriveConfig| {
            let random = |dice: &mut Dice| dice.below(places) * command;
            in_parts(config, (command, part), depth, &mut Dice(seed), random)
        };
        let ((without, _), (with, units)) = (time(&config), time(&ahead));
        assert!((with / without - 1.0).abs() < 0.01, "{command} units: {with} ps with, {without} ps without");
        assert_eq!(units, 0, "read ahead of random commands of {command}");
        let time = |config: &DriveConfig| {
            let mut all = (0..places).cycle();
            let in_order = |_: &mut Dice| all.next().expect("it has no end") * command;
            in_parts(config, (command, part), (command / part) as u32, &mut Dice(seed), in_order)
        };
        let ((without, _), (with, units)) = (time(&config), time(&ahead));
        assert!(with < most * without, "{command} units in order: {with} ps with, {without} ps without");
        assert!(units >= 390 * command, "{units} units read ahead of {command} in order");
    }
}

/// Two readers in step go through the same data in order; what they ask for at about the same time comes in any order,
/// and makes more sequences than two.
#[test]
fn what_was_read_ahead_for_one_reader_is_not_read_again_for_another() {
    const COMMAND: u64 = 4;
    const COMMANDS: u64 = 2_000;
    let mut config = eight_dies(Initial::Sequential);
    let window = Bytes(1 << 20);
    ftl(&mut config).read_ahead = Some(ReadAhead { streams: 8, trigger: 4, window });
    let mut drive = Drive::new(&config, 1).expect("no mistakes");
    let (mut next, mut dice, mut asked) = (0, Dice(5), Vec::new());
    closed_loop(&mut drive, Instant::ZERO, 2 * COMMANDS, 64, || {
        if asked.is_empty() {
            asked.extend((next..next + 8).flat_map(|command| [command; 2]));
            next += 8;
        }
        let command = asked.swap_remove(dice.below(asked.len() as u64) as usize);
        request(Kind::Read, command * COMMAND, COMMAND)
    });
    let units = drive.counters().read_ahead_units;
    let all = COMMANDS * COMMAND + window.0 / UNIT;
    assert!(units > all / 2 && units <= all, "{units} units read ahead of {all}");
}

#[test]
fn trimmed_data_are_not_moved() {
    let config = eight_dies(Initial::STEADY_STATE);
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
    let mut together = eight_dies(Initial::Sequential);
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
        let mut config = eight_dies(Initial::Sequential);
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
    let config = eight_dies(Initial::Sequential);
    let mut drive = Drive::new(&config, 1).expect("no mistakes");
    let end = closed_loop(&mut drive, Instant::ZERO, 500, 8, in_order(Kind::Read, 131_072));
    let counters = drive.counters();
    assert_eq!(counters.page_reads, 500 * 8);
    // 3 µJ a page, 40 pJ a byte on the bus with its share of the spare area, 100 pJ a byte of the host
    let bytes = 500 * 131_072;
    assert_eq!(counters.bus_bytes, bytes * 9 / 8);
    let nanojoules = 500 * 8 * 3_000 + (bytes * 9 / 8 * 40 + bytes * 100) / 1000;
    assert_eq!(counters.work_nanojoules, nanojoules);
    // 5 W for as long as it took
    assert_eq!(counters.idle_nanojoules, end.as_ps() * 5 / 1000);
}

/// The mean over runs of some seconds, that of the bucket's first filling aside; and what is held is not lost.
#[test]
fn a_drive_takes_no_more_power_than_its_limit_and_as_much_if_it_can() {
    for (kind, requests) in [(Kind::Read, 20_000), (Kind::Write, 6_000)] {
        let watts = |limit_milliwatts: Option<u64>| {
            let mut config = eight_dies(Initial::Sequential);
            config.energy.limit_milliwatts = limit_milliwatts;
            let mut drive = Drive::new(&config, 1).expect("no mistakes");
            let wrap = config.capacity.0 / 131_072 * 131_072;
            let mut next = in_order(kind, 131_072);
            let end = closed_loop(&mut drive, Instant::ZERO, requests, 8, || {
                let request = next();
                Request { first: request.first % wrap, ..request }
            });
            let counters = drive.counters();
            (counters.work_nanojoules + counters.idle_nanojoules) as f64 * 1e3 / end.as_ps() as f64
        };
        let free = watts(None);
        let limit = 5.0 + (free - 5.0) / 3.0;
        let held = watts(Some((limit * 1e3) as u64));
        assert!((held / limit - 1.0).abs() < 0.02, "{kind:?}: {held} W of {limit}, {free} without");
        assert_eq!(
            watts(Some((free * 2e3) as u64)),
            free,
            "{kind:?}: a limit that is not reached does nothing"
        );
    }
}

/// By hand: 8 dies of 6 pages of 20 µJ, and 16 KiB with their share of the spare area at 40 pJ a byte for each page.
#[test]
fn a_program_on_every_die_keeps_requests_waiting_for_as_long_as_its_power_takes() {
    let after = |kind, part: f64, requests, spread| {
        let mut config = eight_dies(Initial::Sequential);
        config.spread = spread;
        let run = |config: &DriveConfig| {
            let mut drive = Drive::new(config, 1).expect("no mistakes");
            let end = closed_loop(&mut drive, Instant::ZERO, requests, 8, in_order(kind, 131_072));
            let watts = drive.counters().work_nanojoules as f64 * 1e3 / end.as_ps() as f64;
            (drive.buffered().unpaid, watts)
        };
        let (unpaid, watts) = run(&config);
        assert_eq!(unpaid, 0, "no limit holds it");
        let allowed = (watts * part * 1e3) as u64;
        config.energy.limit_milliwatts = Some(config.energy.idle_milliwatts + allowed);
        let picojoules = 8.0 * 6.0 * (20e6 + 16_384.0 * 9.0 / 8.0 * 40.0);
        (run(&config).0, picojoules * 1e3 / allowed as f64)
    };
    let (unpaid, by_hand) = after(Kind::Write, 0.9, 6_000, Spread::NONE);
    assert!((unpaid as f64 / by_hand - 1.0).abs() < 1e-3, "{unpaid} ps, {by_hand} by hand");
    assert_eq!(after(Kind::Read, 0.9, 20_000, Spread::NONE).0, 0, "no die programs");
    assert_eq!(after(Kind::Write, 2.0, 6_000, Spread::NONE).0, 0, "there is power left");
    let varies = Spread::new(0.01, 3, "ssd", "array");
    assert_eq!(after(Kind::Write, 0.9, 6_000, varies).0, 0, "programs do not stay together");
}

#[test]
fn reads_of_what_was_never_written_are_counted_and_touch_no_flash() {
    let read = |initial| {
        let mut config = eight_dies(initial);
        // reading ahead would read more than was asked for
        ftl(&mut config).read_ahead = None;
        let mut drive = Drive::new(&config, 1).expect("no mistakes");
        let now = end_of(&mut drive, Instant::ZERO, request(Kind::Write, 4, 2));
        closed_loop(&mut drive, now, 100, 1, in_order(Kind::Read, 4096));
        drive.counters()
    };
    let (empty, full) = (read(Initial::Empty), read(Initial::Sequential));
    assert_eq!((empty.unwritten_units_read, empty.page_reads), (98, 0), "two of them wait in the buffer");
    assert_eq!(full.unwritten_units_read, 0);
}
