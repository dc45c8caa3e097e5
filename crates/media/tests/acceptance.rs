//! Write amplification, the steady state and memory, for a build with optimisation; skipped without.

mod drives;

use drives::{Dice, amplification, large, random, small};
use lanetwin_media::config::Initial;
use lanetwin_media::theory::{Die, fluid};
use lanetwin_media::{Drive, Kind};
use lanetwin_units::Instant;

/// Units of a block of the small drive, and blocks of a die.
const BLOCK: u32 = 2 * 33 * 4;
const BLOCKS: u32 = 256;

/// Writes the drive `fills` times over at random, then measures over one more; write amplification and occupancy.
fn amplify(over_provisioning: f64, initial: Initial, fills: u64) -> (f64, Vec<u32>) {
    let config = small(over_provisioning, initial);
    let mut drive = Drive::new(&config, 3).expect("no mistakes");
    let units = config.units();
    let mut dice = Dice(11);
    let now = random(&mut drive, Instant::ZERO, Kind::Write, units, fills * units, 64, &mut dice);
    let before = drive.counters();
    random(&mut drive, now, Kind::Write, units, units, 64, &mut dice);
    (amplification(&before, &drive.counters()), drive.occupancy())
}

/// The largest distance between quantiles of two samples, as a share of a block.
fn apart(one: &mut [u32], other: &mut [u32]) -> f64 {
    one.sort_unstable();
    other.sort_unstable();
    let quantile = |sorted: &[u32], q: usize| f64::from(sorted[q * (sorted.len() - 1) / 20]);
    (0..=20).map(|q| (quantile(one, q) - quantile(other, q)).abs() / f64::from(BLOCK)).fold(0.0, f64::max)
}

#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn write_amplification_is_that_of_the_analysis_and_the_drawn_steady_state_that_of_brute_force() {
    println!("over-provisioning  brute force  analysis          fluid  drawn             quantiles");
    for op in [0.07, 0.10, 0.12, 0.15, 0.20, 0.28, 0.40] {
        let (brute, mut lived) = amplify(op, Initial::Sequential, 3);
        let (drawn, _) = amplify(op, Initial::STEADY_STATE, 0);
        let mut state = Drive::new(&small(op, Initial::STEADY_STATE), 5).expect("no mistakes").occupancy();
        // of each of four dies one block is being collected, and is not counted in the drive that lived
        state.sort_unstable();
        state.drain(..4);
        let apart = apart(&mut lived, &mut state);
        let die = Die { block: BLOCK, blocks: BLOCKS, low: 3, open: 2, grain: 1 };
        let units = small(op, Initial::Empty).units() as f64 / 4.0;
        let analysis = die.steady_state(units).write_amplification();
        let (off, short) = (brute / analysis - 1.0, drawn / brute - 1.0);
        println!(
            "{:15.0} % {brute:12.3} {analysis:9.3} ({:+.2} %) {:6.3} {drawn:6.3} ({:+.2} %) {:9.2} %",
            op * 100.0,
            off * 100.0,
            fluid(1.0 / (1.0 + op)),
            short * 100.0,
            apart * 100.0
        );
        assert!(off.abs() < 0.02, "the analysis is 2 % off at {op}");
        assert!(short.abs() < 0.02 && apart < 0.02, "the drawn state is 2 % off at {op}");
    }
}

/// Resident memory of this process \[B\]; none where the kernel does not tell.
fn resident() -> Option<u64> {
    let pages = std::fs::read_to_string("/proc/self/statm").ok()?;
    Some(pages.split(' ').nth(1)?.parse::<u64>().ok()? * 4096)
}

/// 15.36 TB in the steady state, and so many random writes.
fn fill_a_large_drive(writes: u64) {
    let config = large(Initial::STEADY_STATE);
    let units = config.units();
    let before = resident();
    let mut drive = Drive::new(&config, 1).expect("no mistakes");
    random(&mut drive, Instant::ZERO, Kind::Write, units, writes, 64, &mut Dice(5));
    let counters = drive.counters();
    println!("{writes} writes, write amplification {:.2}", counters.write_amplification());
    assert!(counters.gc_units_moved > writes / 4, "GC is at work");
    if let (Some(before), Some(after)) = (before, resident()) {
        println!("{} MB of memory", (after - before) / 1_000_000);
        assert!(after - before < 2_000_000_000);
    }
}

#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn a_large_drive_takes_little_memory() {
    fill_a_large_drive(1_000_000);
}

/// What takes long however it is built.
mod nightly {
    #[test]
    #[ignore = "takes a minute: make test-nightly"]
    fn ten_million_writes_to_a_large_drive_take_less_than_two_gigabytes() {
        super::fill_a_large_drive(10_000_000);
    }
}
