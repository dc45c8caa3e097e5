//! A medium that is written in place: 3D XPoint.

mod drives;

use drives::{Dice, cross_point, end_of, random, rate, request, rest};
use lanetwin_media::config::Medium;
use lanetwin_media::{Drive, DriveConfig, Kind, Request};
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

/// Cross-point of which five reads, and no more, can be commanded while one senses.
fn quick() -> DriveConfig {
    let mut config = cross_point();
    if let Medium::CrossPoint(medium) = &mut config.medium {
        (medium.read, medium.write) = (Span::from_ns(500), Span::from_ns(1500));
    }
    config
}

/// How long each request of a closed loop waits, `depth` at a time, in the order in which they end \[ps\].
fn waits(drive: &mut Drive, requests: u32, depth: u32, mut next: impl FnMut() -> Request) -> Vec<u64> {
    let (mut since, mut waits, mut now, mut done) = (Vec::new(), Vec::new(), Instant::ZERO, Vec::new());
    while waits.len() < requests as usize {
        while since.len() < requests as usize && since.len() - waits.len() < depth as usize {
            drive.submit(now, Request { token: since.len() as u32, ..next() });
            since.push(now);
        }
        now = drive.next_event().expect("requests are under way");
        drive.advance(now, &mut done);
        waits.extend(done.drain(..).map(|done| (now - since[done.token as usize]).as_ps()));
    }
    waits
}

/// Of the reads of a channel the one that came first goes, whatever its partition has: none waits for those behind it,
/// so that with 256 of them in flight all wait nearly alike, from early on.
#[test]
fn a_read_does_not_wait_for_those_that_came_later() {
    let config = quick();
    let (units, mut dice) = (config.units(), Dice(4));
    let mut drive = Drive::new(&config, 1).expect("no mistakes");
    let read = || request(Kind::Read, dice.below(units / 14) * 14, 14);
    let waits = waits(&mut drive, 40_000, 256, read);
    for part in waits[4_000..].chunks(12_000) {
        let (mut sorted, mean) = (part.to_vec(), part.iter().sum::<u64>() / part.len() as u64);
        sorted.sort_unstable();
        let [half, most] = [50, 99].map(|percent| sorted[sorted.len() * percent / 100]);
        assert!(half.abs_diff(mean) < mean / 10 && most < mean * 3 / 2, "{half} {mean} {most} ps");
    }
}

/// Until a write waits for the buffer nothing is drawn. Then the rounds of channels are, which hardly changes how long
/// requests wait.
#[test]
fn where_channels_are_in_their_rounds_is_drawn_when_the_buffer_is_first_full() {
    let mut config = quick();
    config.buffer.capacity = Bytes(64 * 4096);
    let units = config.units();
    let all = |seed, requests| {
        let mut drive = Drive::new(&config, seed).expect("no mistakes");
        let mut dice = Dice(3);
        waits(&mut drive, requests, 64, || {
            let kind = if dice.below(2) == 0 { Kind::Read } else { Kind::Write };
            request(kind, dice.below(units / 8) * 8, 8)
        })
    };
    assert_eq!(all(1, 8), all(2, 8), "the buffer has room for 8 of them");
    let all = [1, 2, 1].map(|seed| all(seed, 20_000));
    assert!(all[0] == all[2] && all[0] != all[1]);
    let [one, other] = [0, 1].map(|at| all[at].iter().sum::<u64>());
    assert!(one.abs_diff(other) < one / 100, "{one} {other} ps");
}
