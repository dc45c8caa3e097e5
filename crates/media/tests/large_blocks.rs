//! A drive that is written at random in blocks larger than a unit of the map: they lie side by side, and garbage
//! collection leaves them so. Skipped without optimisation.

mod drives;

use drives::{Dice, amplification, analysed, closed_loop, rest, small};
use lanetwin_media::config::{Initial, UNIT};
use lanetwin_media::{Drive, DriveConfig, Kind, Request};
use lanetwin_units::{Bytes, Instant};

/// Reads or writes of whole blocks anywhere on a drive, eight at a time; when they have ended.
fn anywhere(
    drive: &mut Drive,
    from: Instant,
    kind: Kind,
    (units, at_once): (u64, u64),
    blocks: u64,
) -> Instant {
    let mut dice = Dice(11);
    closed_loop(drive, from, blocks, 8, || Request {
        token: 0,
        kind,
        first: dice.below(units / at_once) * at_once * UNIT,
        bytes: at_once * UNIT,
        tenant: 0,
        part_of: None,
    })
}

/// What a drive does in such a state.
struct Seen {
    amplification: f64,
    /// Pages that a read of a block senses.
    senses: f64,
    /// Seconds that writes and reads of a block take, many at a time.
    write: f64,
    read: f64,
}

/// A drive that is written over so many times, and then looked at.
fn look(config: &DriveConfig, at_once: u64, fills: u64) -> Seen {
    let mut drive = Drive::new(config, 3).expect("no mistakes");
    let units = config.units();
    let (whole, blocks) = ((units, at_once), units / at_once);
    let lived = anywhere(&mut drive, Instant::ZERO, Kind::Write, whole, fills * blocks);
    let rested = lived.max(rest(&mut drive));
    let before = drive.counters();
    let read = anywhere(&mut drive, rested, Kind::Read, whole, blocks / 4);
    let between = drive.counters();
    let written = anywhere(&mut drive, read, Kind::Write, whole, blocks);
    Seen {
        amplification: amplification(&between, &drive.counters()),
        senses: (between.page_reads - before.page_reads) as f64 / (blocks / 4) as f64,
        write: (written - read).as_ps() as f64 * 1e-12 / blocks as f64,
        read: (read - rested).as_ps() as f64 * 1e-12 / (blocks / 4) as f64,
    }
}

#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn a_drawn_state_has_blocks_side_by_side_as_a_drive_has_that_was_written_in_them() {
    println!("KiB at once   amplification: lived  drawn  analysis   pages a read: lived  drawn");
    for at_once in [1, 2, 4, 8] {
        let written = Bytes(at_once * UNIT);
        let of = |initial| small(0.2, initial);
        let drawn_config = of(Initial::SteadyState { written });
        let lived = look(&of(Initial::Sequential), at_once, 3);
        let drawn = look(&drawn_config, at_once, 0);
        let analysis = analysed(&drawn_config);
        println!(
            "{:11} {:20.3} {:6.3} {analysis:9.3} {:21.3} {:6.3}",
            at_once * UNIT / 1024,
            lived.amplification,
            drawn.amplification,
            lived.senses,
            drawn.senses
        );
        let alike = |one: f64, other: f64| (one / other - 1.0).abs() < 0.02;
        assert!(alike(lived.amplification, analysis) && alike(drawn.amplification, analysis));
        assert!(alike(lived.senses, drawn.senses));
        assert!(alike(lived.write, drawn.write) && alike(lived.read, drawn.read));
    }
}
