//! The statistical eye: the probability of a bit error, for a sampling time and a threshold.
//!
//! At each of a UI's 16 phases the disturbance has its distribution; between phases the probability is interpolated on
//! the scale of [`normal::depth`](super::normal::depth), on which a bathtub is nearly straight; jitter averages over
//! times. A one is lost when main cursor and disturbance stay below the threshold, a zero by symmetry at the opposite
//! threshold.

use super::convolution::Distribution;
use super::grid::SAMPLES_PER_UI;
use super::interference::Interference;
use super::jitter::{Jitter, Shift};
use super::normal;

/// An eye at every sampling time and threshold.
#[derive(Clone, PartialEq, Debug)]
pub struct StatisticalEye {
    phases: Vec<Phase>,
    shifts: Vec<Shift>,
}

#[derive(Clone, PartialEq, Debug)]
struct Phase {
    main_v: f64,
    disturbance: Distribution,
}

/// The depths of all phases at one threshold.
pub(super) struct Row(Vec<f64>);

impl StatisticalEye {
    /// The eye of disturbances a sixteenth of a UI apart, the middle one where the receiver means to sample.
    ///
    /// # Panics
    ///
    /// If there is no phase, or a phase without noise.
    #[must_use]
    pub fn new(phases: &[Interference], jitter: &Jitter, ui_s: f64) -> Self {
        assert!(!phases.is_empty(), "an eye needs a phase");
        let phase = |of: &Interference| Phase { main_v: of.main_v, disturbance: Distribution::of(of) };
        Self { phases: phases.iter().map(phase).collect(), shifts: jitter.shifts(ui_s) }
    }

    /// The share of ones that are lost, sampling `at_ui` from the middle with a threshold \[V\]; at most a half.
    #[must_use]
    pub fn ones_lost(&self, at_ui: f64, threshold_v: f64) -> f64 {
        self.averaged(&self.row(threshold_v), at_ui)
    }

    /// The bit error ratio, sampling `at_ui` from the middle with a threshold \[V\].
    ///
    /// Never below 1e-40, where effects outside the model dominate.
    #[must_use]
    pub fn ber(&self, at_ui: f64, threshold_v: f64) -> f64 {
        0.5 * (self.ones_lost(at_ui, threshold_v) + self.ones_lost(at_ui, -threshold_v))
    }

    /// Range of the eye to either side of the middle \[UI\].
    #[must_use]
    pub fn reach_ui(&self) -> f64 {
        (self.phases.len() / 2) as f64 / SAMPLES_PER_UI as f64
    }

    /// A voltage that no bit reaches \[V\].
    pub(super) fn reach_v(&self) -> f64 {
        self.phases.iter().map(|phase| phase.main_v.abs() + phase.disturbance.reach_v()).fold(0.0, f64::max)
    }

    pub(super) fn row(&self, threshold_v: f64) -> Row {
        let depth = |phase: &Phase| normal::depth(phase.disturbance.tail(phase.main_v - threshold_v));
        Row(self.phases.iter().map(depth).collect())
    }

    /// Jitter averages over sampling times.
    pub(super) fn averaged(&self, row: &Row, at_ui: f64) -> f64 {
        let middle = (self.phases.len() / 2) as f64;
        let lost = |shift: &Shift| {
            let place = (at_ui + shift.ui) * SAMPLES_PER_UI as f64 + middle;
            shift.weight * normal::probability(row.at(place))
        };
        self.shifts.iter().map(lost).sum()
    }
}

impl Row {
    /// The depth at a place between phases: a cubic through four of them, not above the higher neighbour.
    fn at(&self, place: f64) -> f64 {
        let last = self.0.len() - 1;
        let place = place.clamp(0.0, last as f64);
        let index = place as usize;
        let share = place - index as f64;
        let depth = |index: usize| self.0[index.min(last)];
        let [a, b, c, d] = [depth(index.saturating_sub(1)), depth(index), depth(index + 1), depth(index + 2)];
        let (from, to, rise) = (0.5 * (c - a), 0.5 * (d - b), c - b);
        let cubic =
            b + (from + (3.0 * rise - 2.0 * from - to + (from + to - 2.0 * rise) * share) * share) * share;
        cubic.clamp(b.min(c), b.max(c))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHARP: Jitter = Jitter { deterministic_s: 0.0, random_s: 0.0 };

    /// A bit that is a triangle of two UIs: at the middle all of it, at the edge half of it and half of a neighbour's.
    fn triangle(sigma_v: f64) -> Vec<Interference> {
        (-10..=10)
            .map(|step| {
                let off = f64::from(step) / 16.0;
                Interference {
                    main_v: 0.1 * (1.0 - f64::abs(off)),
                    cursors_v: vec![0.1 * off.abs()],
                    sigma_v,
                }
            })
            .collect()
    }

    #[test]
    fn at_a_phase_without_jitter_it_is_the_distribution() {
        let phases = triangle(0.02);
        let eye = StatisticalEye::new(&phases, &SHARP, 1e-12);
        for (index, phase) in phases.iter().enumerate() {
            let at = (index as f64 - 10.0) / 16.0;
            let direct = Distribution::of(phase).tail(phase.main_v - 0.005);
            assert!((eye.ones_lost(at, 0.005) / direct.min(0.5) - 1.0).abs() < 1e-9, "{at}");
        }
        assert!(
            (eye.ber(0.0, 0.01) - 0.5 * (eye.ones_lost(0.0, 0.01) + eye.ones_lost(0.0, -0.01))).abs() < 1e-18
        );
    }

    #[test]
    fn jitter_of_two_diracs_is_the_mean_of_two_times() {
        let phases = triangle(0.01);
        let sharp = StatisticalEye::new(&phases, &SHARP, 1e-12);
        let two = Jitter { deterministic_s: 0.25e-12, random_s: 0.0 };
        let blurred = StatisticalEye::new(&phases, &two, 1e-12);
        let mean = 0.5 * (sharp.ber(0.125, 0.0) + sharp.ber(-0.125, 0.0));
        assert!((blurred.ber(0.0, 0.0) / mean - 1.0).abs() < 1e-12);
    }

    #[test]
    fn random_jitter_fills_the_eye_from_its_edges() {
        let phases = triangle(0.012);
        let ber = |random_s| {
            StatisticalEye::new(&phases, &Jitter { deterministic_s: 0.0, random_s }, 1e-12).ber(0.0, 0.0)
        };
        assert!(ber(0.0) < ber(0.02e-12) && ber(0.02e-12) < ber(0.08e-12), "{} {}", ber(0.0), ber(0.08e-12));
    }
}
