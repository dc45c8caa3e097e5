//! The SLC cache of a drive: how long it takes a burst, and what folding it leaves, beside closed forms.

mod drives;

use drives::{closed_loop, eight_dies, ftl, in_order, rate, request};
use lanetwin_media::config::{Initial, SlcCache, UNIT};
use lanetwin_media::{Drive, DriveConfig, Kind};
use lanetwin_units::{Bytes, Instant, Span};

/// No cache yet; one bit a cell is programmed in 200 µs.
const SLC: SlcCache = SlcCache {
    blocks: 0,
    borrowed: 0,
    fold_at: 50,
    fold_idle: None,
    read: Span::from_us(25),
    program: Span::from_us(200),
    erase: Span::from_us(2_000),
};

/// What so many commands of 128 KiB in order take from `now` on \[s\], and when they have ended.
fn burst(drive: &mut Drive, now: Instant, first: u64, commands: u64) -> (f64, Instant) {
    let mut at = first;
    let end = closed_loop(drive, now, commands, 32, || {
        at += 32;
        request(Kind::Write, at - 32, 32)
    });
    ((end - now).as_ps() as f64 / 1e12, end)
}

/// Eight dies take 32 KiB each in 200 µs with one bit a cell, and 96 KiB in 1 ms with three.
#[test]
fn a_cache_that_is_not_folded_takes_its_size_and_no_more() {
    let mut config = eight_dies(Initial::Empty);
    config.capacity = Bytes(config.capacity.0 / 2 / UNIT * UNIT);
    config.buffer.capacity = Bytes(1 << 20);
    ftl(&mut config).slc = Some(SlcCache { blocks: 12, fold_at: 100, ..SLC });
    let mut drive = Drive::new(&config, 1).expect("no mistakes");
    // a block of 576 units holds a third of them
    let commands = 8 * 12 * 192 / 32;
    let (cached, now) = burst(&mut drive, Instant::ZERO, 0, commands);
    let (direct, _) = burst(&mut drive, now, commands * 32, commands);
    let bytes = (commands * 131_072) as f64;
    let [fast, slow] = [8.0 * 32_768.0 / 200e-6, 8.0 * 98_304.0 / 1e-3];
    assert!((cached * fast / bytes - 1.0).abs() < 0.03, "{} MB/s of {fast}", bytes / cached / 1e6);
    assert!((direct * slow / bytes - 1.0).abs() < 0.03, "{} MB/s of {slow}", bytes / direct / 1e6);
    assert_eq!(drive.counters().folded_units, 0);
}

/// 20 µJ for a page in a third of 1 ms are 12 µJ in 200 µs; 40 pJ a byte on the bus and 100 pJ a byte of the host.
#[test]
fn a_program_with_one_bit_a_cell_costs_as_much_less_as_it_is_shorter() {
    let mut config = eight_dies(Initial::Empty);
    config.capacity = Bytes(config.capacity.0 / 2 / UNIT * UNIT);
    ftl(&mut config).slc = Some(SlcCache { blocks: 12, fold_at: 100, ..SLC });
    let mut drive = Drive::new(&config, 1).expect("no mistakes");
    burst(&mut drive, Instant::ZERO, 0, 100);
    let counters = drive.counters();
    assert!(counters.page_programs > 0 && counters.folded_units == 0);
    let bytes = counters.bus_bytes * 40 + counters.host_bytes_written * 100;
    assert_eq!(counters.work_nanojoules, (counters.page_programs * 12_000_000 + bytes) / 1000);
}

#[test]
fn a_cache_that_is_folded_in_idle_time_takes_the_next_burst_as_it_took_the_first() {
    let mut config = eight_dies(Initial::Empty);
    config.capacity = Bytes(config.capacity.0 / 2 / UNIT * UNIT);
    config.buffer.capacity = Bytes(1 << 20);
    let commands = 8 * 12 * 192 / 32;
    let bursts = |fold_idle: Option<Span>| {
        let mut config = config.clone();
        ftl(&mut config).slc = Some(SlcCache { blocks: 12, fold_at: 100, fold_idle, ..SLC });
        let mut drive = Drive::new(&config, 1).expect("no mistakes");
        let (first, end) = burst(&mut drive, Instant::ZERO, 0, commands);
        drive.catch_up(end + Span::from_us(2_000_000));
        let folded = drive.counters().folded_units;
        let (second, _) = burst(&mut drive, end + Span::from_us(2_000_000), commands * 32, commands);
        (first, second, folded)
    };
    let (first, second, folded) = bursts(Some(Span::from_us(100_000)));
    // what the host wrote last is still on its way to the dies when it is told so
    assert!(folded > commands * 32 * 99 / 100 && folded <= commands * 32, "{folded} of {}", commands * 32);
    assert!((second / first - 1.0).abs() < 0.03, "{first} s, then {second} s");
    for idle in [None, Some(Span::from_us(3_000_000))] {
        let (first, second, folded) = bursts(idle);
        assert!(folded == 0 && second > first * 1.5, "{first} s, then {second} s, {folded} folded");
    }
}

/// Row by row of 32 KiB: 200 µs with one bit a cell; to be folded it is read (25 µs, and 23 µs on the bus), programmed
/// with three bits (a third of 1 ms), and a 24th of a block of the cache is erased (2 ms).
#[test]
fn a_cache_that_folds_under_load_lasts_for_its_share_and_then_passes_what_it_folds() {
    let mut config = eight_dies(Initial::Empty);
    config.capacity = Bytes(config.capacity.0 / 2 / UNIT * UNIT);
    config.buffer.capacity = Bytes(1 << 20);
    ftl(&mut config).slc = Some(SlcCache { blocks: 12, fold_at: 50, ..SLC });
    let mut drive = Drive::new(&config, 1).expect("no mistakes");
    let half = 8 * 6 * 192 / 32;
    let (cached, now) = burst(&mut drive, Instant::ZERO, 0, half);
    let (folding, _) = burst(&mut drive, now, half * 32, 6 * half);
    let rate = |commands: u64, seconds: f64| (commands * 131_072) as f64 / seconds;
    let row = [200.0, 25.0 + 23.0 + 1_000.0 / 3.0 + 2_000.0 / 24.0];
    let [fast, slow] = [row[0], row[0] + row[1]].map(|us| 8.0 * 32_768.0 / us * 1e6);
    // 1.5 of the first 38 MB are in the buffer and in registers at its end
    assert!((rate(half, cached) / fast - 1.0).abs() < 0.05, "{} B/s of {fast}", rate(half, cached));
    assert!((rate(6 * half, folding) / slow - 1.0).abs() < 0.08, "{} B/s of {slow}", rate(6 * half, folding));
}

/// A program of the host earns the folding of one: parts of the time in which a third of a block of each die is folded
/// are alike, though blocks are folded whole and all dies began together.
#[test]
fn what_a_cache_passes_while_it_folds_is_even() {
    let mut config = eight_dies(Initial::Empty);
    config.capacity = Bytes(config.capacity.0 / 2 / UNIT * UNIT);
    config.buffer.capacity = Bytes(1 << 20);
    ftl(&mut config).slc = Some(SlcCache { blocks: 12, fold_at: 50, ..SLC });
    let mut drive = Drive::new(&config, 1).expect("no mistakes");
    let third = 8 * 64 / 32;
    let (_, mut now) = burst(&mut drive, Instant::ZERO, 0, 24 * third);
    let mut parts = [0.0; 24];
    for (number, part) in (24..).zip(&mut parts) {
        (*part, now) = burst(&mut drive, now, number * third * 32, third);
    }
    let mean = parts.iter().sum::<f64>() / 24.0;
    // a third of them have an erase of a block of every die, 2 ms, in them
    assert!(parts.iter().all(|part| (part / mean - 1.0).abs() < 0.3), "{parts:?} s, {mean} s in the mean");
}

/// What a cache borrows is what is free, less what GC keeps: little of a full drive, and most of an empty one.
#[test]
fn a_cache_that_borrows_is_as_large_as_what_is_free() {
    let cached = |initial: Initial| {
        let mut config = eight_dies(initial);
        config.buffer.capacity = Bytes(1 << 20);
        ftl(&mut config).slc = Some(SlcCache { borrowed: 48, fold_at: 100, ..SLC });
        let mut drive = Drive::new(&config, 1).expect("no mistakes");
        let (mut now, mut blocks, mut first) = (Instant::ZERO, 0, 0);
        // a block of every die at a time, until it takes longer than with one bit a cell
        loop {
            let (took, end) = burst(&mut drive, now, first, 48);
            if took > 1.25 * 192.0 / 8.0 * 200e-6 {
                return blocks;
            }
            (now, blocks, first) = (end, blocks + 1, first + 48 * 32);
        }
    };
    // 40 of 48 blocks are full; a reserve of 3 and half of 2 open ones and of a victim
    let (full, empty) = (cached(Initial::Sequential), cached(Initial::Empty));
    assert!((2..=3).contains(&full), "{full} blocks of a full drive");
    assert!((42..=43).contains(&empty), "{empty} blocks of an empty one");
}

#[test]
fn an_slc_cache_takes_a_burst_and_pays_later() {
    let mut config = eight_dies(Initial::Empty);
    config.capacity = Bytes(config.capacity.0 / 2 / UNIT * UNIT);
    let mut cached = config.clone();
    ftl(&mut cached).slc = Some(SlcCache { blocks: 8, ..SLC });
    let burst = |config: &DriveConfig| rate(config, 1_500, 16, 16_384, in_order(Kind::Write, 16_384));
    assert!(burst(&cached) > 1.3 * burst(&config), "{} {}", burst(&cached), burst(&config));
    let long = |config: &DriveConfig| rate(config, 20_000, 16, 16_384, in_order(Kind::Write, 16_384));
    assert!(long(&cached) < burst(&cached), "{} {}", long(&cached), burst(&cached));
    let mut drive = Drive::new(&cached, 1).expect("no mistakes");
    closed_loop(&mut drive, Instant::ZERO, 20_000, 16, in_order(Kind::Write, 16_384));
    assert!(drive.counters().folded_units > 0 && drive.counters().write_amplification() > 1.05);
}
