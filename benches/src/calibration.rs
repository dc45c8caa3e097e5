//! How fast the core is: what rates beside it are to be read with.

use crate::clock::{cpu_seconds, median};
use std::fmt;
use std::hint::black_box;

/// What a step of the calibration loop takes, measured between what is timed.
#[derive(Default)]
pub struct Calibration {
    /// CPU nanoseconds of a step, each time.
    pub ns: Vec<f64>,
}

impl Calibration {
    /// Measures once more: a loop that stays in registers, which shows the speed of the core, and nothing of its
    /// caches.
    pub fn measure(&mut self) {
        const STEPS: u32 = 50_000_000;
        let before = cpu_seconds();
        let mut x = black_box(0x9e37_79b9_7f4a_7c15_u64);
        for _ in 0..STEPS {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
        }
        black_box(x);
        self.ns.push((cpu_seconds() - before) * 1e9 / f64::from(STEPS));
    }
}

impl fmt::Display for Calibration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ns, least, most) = median(self.ns.clone());
        write!(f, "a step of the calibration loop {ns:.2} ns [{least:.2} .. {most:.2}]")
    }
}
