//! Slowing the drives to what was measured without the switch, and what follows with it.

use super::machine::{Moved, Switch, Workload, run};
use super::mechanism::{Brake, Mechanism};

/// Drives that are asked at once.
const DRIVES: f64 = 5.0;
/// What a 4GFC port carries at most \[B/s\]: where the search for a rate begins.
const PORT: f64 = 413e6;
/// Steps of the search, and the relative error at which it ends.
const STEPS: usize = 10;
const CLOSE: f64 = 0.002;

/// What a row gives on a machine.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Prediction {
    /// Without the switch: calibrated.
    pub(super) without: Moved,
    /// With it: predicted.
    pub(super) with: Moved,
    /// How slow the drives are: the access time \[s\], or the rate \[B/s\].
    pub(super) slow: f64,
}

/// Slows the drives until the machine without the switch moves `target` B/s. It may not reach that: then they are as
/// fast as they can be.
pub(super) fn calibrate(workload: Workload, mechanism: &Mechanism, target: f64) -> (f64, Moved) {
    let rate = mechanism.brake == Brake::Rate;
    let mut slow = if rate {
        PORT.min(target / DRIVES)
    } else {
        (2.0 * DRIVES * 1_048_576.0) * (1.0 / target - 1.0 / (DRIVES * PORT))
    };
    slow = slow.max(0.0);
    let mut moved = run(workload, Switch::Without, &mechanism.setup(slow));
    for _ in 0..STEPS {
        let got = moved.bytes_per_second;
        if (got / target - 1.0).abs() < CLOSE {
            break;
        }
        slow = if rate {
            // no medium is slower for being faster than its port
            (slow * target / got).min(2.0 * PORT)
        } else {
            // what an access takes on a drive, on average, less what it should
            let each = DRIVES * workload.mean_bytes() * f64::from(mechanism.outstanding);
            (slow + (each / target - each / got) / f64::from(mechanism.outstanding)).max(0.0)
        };
        moved = run(workload, Switch::Without, &mechanism.setup(slow));
    }
    (slow, moved)
}

/// The prediction of a row on a machine, calibrated to `target` B/s without the switch.
pub(super) fn predict(workload: Workload, mechanism: &Mechanism, target: f64) -> Prediction {
    let (slow, without) = calibrate(workload, mechanism, target);
    let with = run(workload, Switch::With, &mechanism.setup(slow));
    Prediction { without, with, slow }
}

/// The same where the machine without the switch has been calibrated before.
pub(super) fn predict_again(workload: Workload, mechanism: &Mechanism, base: &Prediction) -> Prediction {
    let with = run(workload, Switch::With, &mechanism.setup(base.slow));
    Prediction { with, ..*base }
}
