//! Crosstalk: the bits of neighbours, at the phase with the greatest disturbance.
//!
//! Neighbours have the same symbol rate and an unknown phase. Each has the phase with its greatest power, over the
//! whole eye.

use super::channel::Aggressor;
use super::grid::SAMPLES_PER_UI;

/// One neighbour after the CTLE.
#[derive(Clone, PartialEq, Debug)]
pub struct Crosstalk {
    /// Contribution of each of its bits \[V\].
    pub cursors: Vec<f64>,
    /// Their power \[V²\].
    pub power: f64,
}

impl Crosstalk {
    /// From the neighbour's record after the CTLE, without its transmitter's equalisation.
    pub fn of(record: &[f64], aggressor: &Aggressor) -> Self {
        let length = record.len();
        let at = |index: usize| {
            let (next, last) =
                ((index + SAMPLES_PER_UI) % length, (index + length - SAMPLES_PER_UI) % length);
            aggressor.ffe.before * record[next]
                + aggressor.ffe.main() * record[index]
                + aggressor.ffe.after * record[last]
        };
        let cursors = |phase: usize| (phase..length).step_by(SAMPLES_PER_UI).map(at);
        let power = |phase: usize| cursors(phase).map(|cursor| cursor * cursor).sum::<f64>();
        let mut worst = (0, power(0));
        for phase in 1..SAMPLES_PER_UI {
            let found = power(phase);
            if found > worst.1 {
                worst = (phase, found);
            }
        }
        Self { cursors: cursors(worst.0).collect(), power: worst.1 }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ffe::PRESETS;
    use super::*;
    use crate::Transfer;

    #[test]
    fn the_worst_phase_is_taken() {
        let mut record = vec![0.0; 64];
        record[5] = 1.0;
        record[21] = -2.0;
        record[7] = 2.1;
        let transfer = Transfer { step_hz: 1.0, h: vec![] };
        let found = Crosstalk::of(&record, &Aggressor { transfer: transfer.clone(), ffe: PRESETS[4] });
        assert_eq!((found.cursors, found.power), (vec![1.0, -2.0, 0.0, 0.0], 5.0));
        let preshoot = Crosstalk::of(&record, &Aggressor { transfer, ffe: PRESETS[5] });
        assert_eq!(preshoot.cursors[0], 0.9 + 0.2);
    }
}
