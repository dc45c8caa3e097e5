//! What a drive must do, whatever it is made of: times that a person can work out, and what holds for any load.

mod drives;

use drives::{Dice, cross_point, eight_dies, end_of, ftl, nand, request, rest};
use lanetwin_media::config::{Encryption, Initial, ReadAhead, SlcCache, UNIT, Watermarks};
use lanetwin_media::{Counters, Done, Drive, DriveConfig, Kind, Outcome, Request};
use lanetwin_units::{Bytes, Instant, Span, Spread};
use proptest::prelude::*;

/// By hand: tCS 20 + 6 tWC 150 + tWB 100 + tRR 20 = 290 ns of command; tR by the page's place in its word line; a unit
/// of 4 KiB with its share of the spare area is 4608 B, at 1600 MB/s 2880 ns; 100 ns in the map.
#[test]
fn a_read_of_an_idle_drive_takes_what_its_parts_take() {
    let config = eight_dies(Initial::Sequential);
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

/// The command, the bus and the map take what they take; tR of 45 µs is drawn.
#[test]
fn a_spread_is_of_the_array_alone_and_keeps_the_mean() {
    let mut config = eight_dies(Initial::Sequential);
    config.spread = Spread::new(0.02, 3, "ssd", "array");
    let mut drive = Drive::new(&config, 0).expect("no mistakes");
    let (mut now, mut times) = (Instant::ZERO, Vec::new());
    for _ in 0..2_000 {
        let end = end_of(&mut drive, now, request(Kind::Read, 0, 1));
        times.push((end - now).as_ps());
        now = end;
    }
    let fixed = 290_000 + 2_880_000 + 100_000;
    let (least, most) = (fixed + 44_100_000 - 2, fixed + 45_900_000 + 2);
    assert!(times.iter().all(|time| (least..=most).contains(time)));
    // evenly over ±900 ns: a standard error of 12 ns, of which this is five
    assert!((times.iter().sum::<u64>() / 2_000).abs_diff(fixed + 45_000_000) < 60_000);
    assert!(times.iter().collect::<std::collections::BTreeSet<_>>().len() > 1_900);
}

#[test]
fn a_write_is_acknowledged_where_it_is_safe() {
    let write = request(Kind::Write, 5, 1);
    let took = |power_loss_protected, volatile_cache, kind| {
        let mut config = eight_dies(Initial::Empty);
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
    let config = eight_dies(Initial::Empty);
    let mut drive = Drive::new(&config, 0).expect("no mistakes");
    let units = config.units();
    for (first, bytes, outcome) in [
        (units * UNIT, UNIT, Outcome::OutOfRange),
        (units * UNIT - UNIT, 2 * UNIT, Outcome::OutOfRange),
        (u64::MAX, 2, Outcome::OutOfRange),
        (0, 0, Outcome::Success),
    ] {
        let mut done = Vec::new();
        drive.submit(
            Instant::ZERO,
            Request { token: 9, kind: Kind::Write, first, bytes, tenant: 0, part_of: None },
        );
        assert_eq!(drive.next_event(), Some(Instant::ZERO));
        drive.advance(Instant::ZERO, &mut done);
        assert_eq!(done, [Done { token: 9, outcome }]);
    }
    assert_eq!(drive.counters().host_writes, 0);
}

#[test]
fn all_mistakes_are_told_at_once() {
    let mut config = eight_dies(Initial::Empty);
    config.capacity = Bytes(4097);
    config.buffer.capacity = Bytes(0);
    nand(&mut config).geometry.planes = 9;
    let fields: Vec<_> =
        Drive::new(&config, 0).err().expect("no mistakes").iter().map(|bad| bad.field).collect();
    assert_eq!(fields, ["capacity", "buffer.capacity", "nand.geometry.planes"]);
    let mut config = eight_dies(Initial::Empty);
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

/// Tokens and times of all ends of requests of these kinds, of which each is given up to `lead` ahead of its time; and
/// what the drive has done.
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
        // most lie close together or follow one another, so that they meet in the buffer and in what is read ahead;
        // some lie outside
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

    /// Whatever is told when: it ends when it does if nothing is told ahead, whichever way is taken for reads alone,
    /// for writes alone, and for all.
    #[test]
    fn early_submission_keeps_completion_times(seed: u64, lead in 1_u64..40_000_000, kinds in 0_usize..5, medium in 0_usize..4) {
        let kinds: &[Kind] = [
            &[Kind::Read][..],
            &[Kind::Write],
            &[Kind::Read, Kind::Write],
            &[Kind::Read, Kind::Write, Kind::Flush, Kind::Trim, Kind::WriteZeroes],
            &[Kind::Write, Kind::Flush],
        ][kinds];
        let mut config = eight_dies([Initial::STEADY_STATE, Initial::Empty, Initial::Sequential, Initial::Empty][medium]);
        config.encryption = (seed % 2 == 0).then_some(Encryption { latency: Span::from_ns(500), bytes_per_second: 4_000_000_000 });
        config.buffer.power_loss_protected = seed % 3 > 0;
        config.energy.limit_milliwatts = (seed % 5 < 2).then_some(config.energy.idle_milliwatts + 1 + seed % 97);
        config.spread = if seed % 7 < 3 { Spread::new(0.05, seed, "ssd", "array") } else { Spread::NONE };
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
        let mut config = eight_dies(Initial::STEADY_STATE);
        config.energy.limit_milliwatts = (seed % 2 == 0).then_some(config.energy.idle_milliwatts + 1 + seed % 97);
        config.encryption = Some(Encryption { latency: Span::from_ns(500), bytes_per_second: 4_000_000_000 });
        config.spread = if seed % 5 < 3 { Spread::new(0.02, seed, "ssd", "array") } else { Spread::NONE };
        let us = Span::from_us;
        let cache = SlcCache {
            blocks: 0,
            borrowed: 4,
            fold_at: 60,
            fold_idle: (seed % 3 > 0).then_some(us(5)),
            read: us(25),
            program: us(200),
            erase: us(2_000),
        };
        ftl(&mut config).slc = (seed % 4 > 0).then_some(cache);
        let whole = ends(&config, seed, None);
        prop_assert_eq!(whole.len(), 1_500);
        prop_assert_eq!(&whole, &ends(&config, seed, None));
        prop_assert_eq!(&whole, &ends(&config, seed, Some(slice)));
    }

    #[test]
    fn no_read_is_faster_than_in_an_idle_drive(seed: u64, depth in 1_u32..64) {
        let config = eight_dies(Initial::STEADY_STATE);
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
