//! A medium that is written in place: 3D XPoint.

mod drives;

use drives::{Dice, cross_point, end_of, random, rate, request, rest};
use lanetwin_media::{Drive, Kind};
use lanetwin_units::{Instant, Span};

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
    // 112 partitions of 100 ns + 6 µs + 2.56 µs less what overlaps: a line of 2.66 µs on each of 7 channels, or 8.66 µs
    // in each partition
    let bytes = rate(&config, 40_000, 256, 4096, {
        let mut dice = Dice(6);
        let units = config.units();
        move || request(Kind::Write, dice.below(units), 1)
    });
    let bus = 7.0 * 4096.0 / 2.66e-6;
    // what is still in the buffer at the end, 1024 lines of 40 000, has not been waited for
    assert!(bytes < 1.03 * bus && bytes > 0.9 * bus, "{bytes} B/s of {bus}");
}
