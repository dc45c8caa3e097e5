//! Random writes to a full drive are even: from the drawn steady state on, second by second, with blocks and pages as
//! drives for servers have them.

mod drives;

use drives::{Dice, amplification, analysed, real_blocks, unevenness, writes_by_window};
use lanetwin_media::config::Initial;
use lanetwin_media::{Drive, DriveConfig};
use lanetwin_units::{Instant, Span};

/// What so many windows of a second come to, without the first, in which the buffer fills.
struct Writes {
    counts: Vec<u64>,
    amplification: f64,
}

fn write(config: &DriveConfig, windows: usize, seed: u64) -> Writes {
    let mut drive = Drive::new(config, seed).expect("no mistakes");
    written(&mut drive, Instant::ZERO, config.units(), windows, &mut Dice(seed))
}

fn written(drive: &mut Drive, from: Instant, units: u64, windows: usize, dice: &mut Dice) -> Writes {
    let before = drive.counters();
    let second = Span::from_us(1_000_000);
    let mut counts = writes_by_window(drive, from, units, 128, (second, windows), dice);
    counts.remove(0);
    Writes { counts, amplification: amplification(&before, &drive.counters()) }
}

/// Holds a drive of four dies to a rate that is even within 3 %, and to the analysis.
fn even(over_provisioning: f64, windows: usize, seed: u64) {
    let config = real_blocks(4, over_provisioning, Initial::STEADY_STATE);
    let Writes { counts, amplification } = write(&config, windows, seed);
    let (off, uneven) = (amplification / analysed(&config) - 1.0, unevenness(&counts));
    println!(
        "{:4.0} %: {:6.0} /s, even within {:.1} %, write amplification {amplification:.3} ({:+.2} % of the analysis)",
        over_provisioning * 100.0,
        counts.iter().sum::<u64>() as f64 / counts.len() as f64,
        uneven * 100.0,
        off * 100.0
    );
    assert!(uneven < 0.03, "{over_provisioning}, seed {seed}: {counts:?}");
    assert!(off.abs() < 0.02, "{over_provisioning}, seed {seed}: {amplification}");
}

#[test]
fn every_second_of_random_writes_is_like_the_next() {
    even(0.07, 31, 1);
    [0.12, 0.20, 0.28].iter().for_each(|over_provisioning| even(*over_provisioning, 9, 1));
}

/// What is being collected when the drawn state begins has been read up to some page, and behind that is as full as it
/// was: pages are read for as many units from the first tenth of a second on.
#[test]
fn gc_finds_as_much_in_a_page_from_the_beginning_on() {
    let config = real_blocks(8, 0.12, Initial::STEADY_STATE);
    let in_a_page = |to_us: u64| {
        let mut drive = Drive::new(&config, 1).expect("no mistakes");
        let window = (Span::from_us(to_us), 1);
        writes_by_window(&mut drive, Instant::ZERO, config.units(), 128, window, &mut Dice(1));
        let counters = drive.counters();
        counters.gc_units_moved as f64 / counters.page_reads as f64
    };
    let (early, lived) = (in_a_page(100_000), in_a_page(3_000_000));
    assert!((early / lived - 1.0).abs() < 0.05, "{early} units in a page, {lived} later");
}

/// Dies that wait for garbage collection go round each by itself: from the second round on as many writes end in each
/// eighth of a round as in the next, which takes 24 ms. Were they in step, a third of that would end in some.
#[test]
fn dies_that_wait_for_collection_are_not_in_step() {
    let config = real_blocks(32, 0.104, Initial::STEADY_STATE);
    let (units, begin, eighth) = (config.units(), Span::from_us(8_000), Span::from_us(3_000));
    let mut counts = vec![0; 20];
    for seed in 1..=8 {
        let (mut drive, mut dice) = (Drive::new(&config, seed).expect("no mistakes"), Dice(seed));
        writes_by_window(&mut drive, Instant::ZERO, units, 64, (begin, 1), &mut dice);
        drive.await_collection();
        drive.fill_buffer();
        let from = Instant::ZERO + begin;
        let all = writes_by_window(&mut drive, from, units, 64, (eighth, 28), &mut dice);
        counts.iter_mut().zip(&all[8..]).for_each(|(sum, count)| *sum += count);
    }
    assert!(unevenness(&counts) < 0.5, "{counts:?}");
}

/// `cargo test --profile optimised -p lanetwin-media --test steady_writes -- --ignored --nocapture`
mod nightly {
    use super::drives::{nand, random};
    use super::*;
    use lanetwin_media::Kind;
    use lanetwin_media::config::UNIT;
    use lanetwin_units::Bytes;

    #[test]
    #[ignore = "takes minutes: make test-nightly"]
    fn every_second_is_like_the_next_whatever_the_seed() {
        for over_provisioning in [0.07, 0.12, 0.20, 0.28] {
            (1..=4).for_each(|seed| even(over_provisioning, 31, seed));
        }
    }

    /// The same drive, written from end to end and then over and over at random: it comes to the rate and the write
    /// amplification that the drawn state begins with.
    ///
    #[test]
    #[ignore = "takes minutes: make test-nightly"]
    fn what_is_drawn_is_what_is_lived() {
        for (dies, over_provisioning, blocks) in [(4, 0.07, 329), (2, 0.20, 1316)] {
            let of = |initial| {
                let mut config = real_blocks(dies, over_provisioning, initial);
                config.capacity = Bytes(config.capacity.0 / 1316 * blocks / UNIT * UNIT);
                nand(&mut config).geometry.blocks = blocks as u32;
                config
            };
            let lived = {
                let config = of(Initial::Sequential);
                let mut drive = Drive::new(&config, 1).expect("no mistakes");
                let (units, mut dice) = (config.units(), Dice(7));
                let now = random(&mut drive, Instant::ZERO, Kind::Write, units, 2 * units, 128, &mut dice);
                written(&mut drive, now, units, 61, &mut dice)
            };
            let drawn = write(&of(Initial::STEADY_STATE), 61, 1);
            let rate =
                |writes: &Writes| writes.counts.iter().sum::<u64>() as f64 / writes.counts.len() as f64;
            let amplified = drawn.amplification / lived.amplification - 1.0;
            let faster = rate(&drawn) / rate(&lived) - 1.0;
            println!(
                "{dies} dies of {blocks} blocks: lived {:.0} /s and {:.3}, drawn {:.0} /s ({:+.2} %) and {:.3} ({:+.2} %)",
                rate(&lived),
                lived.amplification,
                rate(&drawn),
                faster * 100.0,
                drawn.amplification,
                amplified * 100.0
            );
            assert!(faster.abs() < 0.03 && amplified.abs() < 0.03);
        }
    }
}
