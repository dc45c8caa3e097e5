//! A medium that is written in place: 3D XPoint.

mod drives;

use drives::{Dice, closed_loop, cross_point, end_of, random, rate, request, rest};
use lanetwin_media::{Drive, Kind};
use lanetwin_units::{Bytes, Instant, Span};

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

/// Until a write waits for the buffer nothing is drawn. Then the rounds of channels are, which hardly changes how much
/// they do.
#[test]
fn where_channels_are_in_their_rounds_is_drawn_when_the_buffer_is_first_full() {
    let mut config = cross_point();
    config.buffer.capacity = Bytes(64 * 4096);
    let units = config.units();
    let end = |seed, requests| {
        let mut drive = Drive::new(&config, seed).expect("no mistakes");
        let mut dice = Dice(3);
        closed_loop(&mut drive, Instant::ZERO, requests, 64, || {
            let kind = if dice.below(10) < 7 { Kind::Read } else { Kind::Write };
            request(kind, dice.below(units / 8) * 8, 8)
        })
    };
    assert_eq!(end(1, 8), end(2, 8), "the buffer has room for 8 of them");
    let ends = [1, 2, 1].map(|seed| (end(seed, 20_000) - Instant::ZERO).as_ps());
    assert!(ends[0] == ends[2] && ends[0] != ends[1], "{ends:?}");
    assert!(ends[0].abs_diff(ends[1]) < ends[0] / 100, "{ends:?}");
}
