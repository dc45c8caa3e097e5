//! What a request costs on a drive of 960 GB, reads and writes, whose garbage collection (GC) is at work. Not a test:
//! it prints times.
//!
//! `cargo bench -p lanetwin-media`.

#[path = "../tests/drives/mod.rs"]
mod drives;

use drives::{Dice, amplification, random, sixteen_dies};
use lanetwin_media::config::Initial;
use lanetwin_media::{Drive, Kind};
use lanetwin_units::Instant;
use rustix::time::{ClockId, clock_gettime};

/// The second load of writes is the one with GC: 16 dies write their free blocks first.
const LOADS: [(Kind, u64); 3] = [(Kind::Read, 500_000), (Kind::Write, 300_000), (Kind::Write, 500_000)];

/// What this thread has used \[ns\]: other programs on the machine do not count.
fn cpu_ns() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

fn main() {
    for op in [0.28, 0.07] {
        let config = sixteen_dies(op, Initial::STEADY_STATE);
        let units = config.units();
        let mut drive = Drive::new(&config, 1).expect("no mistakes");
        let (mut dice, mut now) = (Dice(5), Instant::ZERO);
        for (kind, requests) in LOADS {
            let (before, begin) = (drive.counters(), cpu_ns());
            now = random(&mut drive, now, kind, units, requests, 64, &mut dice);
            let (each, after) = ((cpu_ns() - begin) / requests as f64, drive.counters());
            let wa = if kind == Kind::Write { amplification(&before, &after) } else { 1.0 };
            println!(
                "over-provisioning {:2.0} %: {kind:5?} {each:5.0} ns a request, write amplification {wa:.2}",
                op * 100.0
            );
        }
    }
}
