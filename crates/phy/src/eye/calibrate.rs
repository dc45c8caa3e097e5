//! Self-calibration: the noise and jitter with which a compliance channel just meets the mask.
//!
//! Many numbers of transmitter and receiver are known to members of the PCI-SIG only. What everybody knows is that the
//! worst channel allowed (36 dB for Gen5) is to give exactly the mask. So noise and deterministic jitter are solved for it,
//! and other channels are judged with the same stress: an error of the CTLE or the swing then acts on both and cancels for
//! the most part. Height falls with noise and width with jitter; random jitter stays as it is.
//!
//! The compliance channel is the caller's, and the calibration can only be as good. One that is smoother than real ones
//! gives a stress that real ones of the same loss fail: give it the reflections and neighbours that the channels have.

use super::jitter::{Jitter, Stress};
use super::mask::Opening;
use super::receiver::Receiver;
use super::search::Search;
use super::waves::Prepared;

/// How near the height must come \[share of the mask\].
const NEAR: f64 = 1e-3;
/// The least noise that is tried \[V\], and the most.
const LEAST_NOISE: f64 = 1e-6;
const MOST_NOISE: f64 = 0.1;
/// Steps of the search of one unknown.
const STEPS: u32 = 60;

/// The mask cannot be met exactly on this channel.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum CalibrationError {
    /// Even without noise and deterministic jitter the eye is smaller than the mask.
    #[error("without noise the eye is {} V high and {} UI wide, less than the mask: not a compliance channel", .0.height_v, .0.width_ui)]
    TooLossy(Opening),
    /// With noise that brings the height to the mask the eye is too narrow, without any deterministic jitter.
    #[error("at the height of the mask the eye is {} UI wide, less than the mask, without any deterministic jitter", .0.width_ui)]
    TooNarrow(Opening),
    /// Noise of 0.1 V or jitter of a UI do not close the eye.
    #[error("no noise and jitter bring the eye down to the mask")]
    TooGood,
}

impl Receiver {
    /// The stress with which `compliance` gives height and width of the mask.
    ///
    /// # Errors
    ///
    /// If no noise and deterministic jitter do.
    pub fn calibrate(&self, compliance: &Prepared) -> Result<Stress, CalibrationError> {
        let bench = Bench { receiver: self, compliance, search: Search::default() };
        let none = bench.stress(LEAST_NOISE, 0.0);
        let best = bench.opening(&none);
        if !self.mask().passes(best) {
            return Err(CalibrationError::TooLossy(best));
        }
        let without = bench.noise_for(0.0).ok_or(CalibrationError::TooGood)?;
        let opening = bench.opening(&bench.stress(without, 0.0));
        if opening.width_ui < self.mask().width_ui * (1.0 - NEAR) {
            return Err(CalibrationError::TooNarrow(opening));
        }
        // too much jitter for any noise counts as too narrow
        let excess = |jitter_s: f64| match bench.noise_for(jitter_s) {
            Some(noise) => bench.opening(&bench.stress(noise, jitter_s)).width_ui / self.mask().width_ui - 1.0,
            None => -1.0,
        };
        let jitter = falls_to_zero(excess, 0.0, self.ui_s()).ok_or(CalibrationError::TooGood)?;
        let noise = bench.noise_for(jitter).ok_or(CalibrationError::TooGood)?;
        Ok(bench.stress(noise, jitter))
    }
}

struct Bench<'a> {
    receiver: &'a Receiver,
    compliance: &'a Prepared,
    search: Search,
}

impl Bench<'_> {
    fn stress(&self, noise_v: f64, deterministic_s: f64) -> Stress {
        let random_s = self.receiver.stress().jitter.random_s;
        Stress { noise_v, jitter: Jitter { deterministic_s, random_s } }
    }

    fn opening(&self, stress: &Stress) -> Opening {
        self.receiver.search(self.compliance, stress, &self.search).opening
    }

    /// The noise with which the height is the mask's at a deterministic jitter; `None` if there is none.
    fn noise_for(&self, jitter_s: f64) -> Option<f64> {
        let excess = |noise: f64| {
            self.opening(&self.stress(noise, jitter_s)).height_v / self.receiver.mask().height_v - 1.0
        };
        falls_to_zero(excess, LEAST_NOISE, MOST_NOISE)
    }
}

/// Where a falling function is 0, to within [`NEAR`]; `None` if it is not in the range.
///
/// False position with the Illinois rule (Dowell and Jarratt, BIT 11 (1971) 168) after the range has been narrowed by
/// quarters from below, as the function is flat far above.
fn falls_to_zero(of: impl Fn(f64) -> f64, low: f64, high: f64) -> Option<f64> {
    let (mut low, mut above) = (low, of(low));
    if above < -NEAR {
        return None;
    }
    let (mut high, mut below) = first_below(&of, low, high)?;
    for _ in 0..STEPS {
        let middle = (low * below - high * above) / (below - above);
        let found = of(middle);
        if found.abs() <= NEAR || (high - low) <= 1e-6 * high {
            return Some(middle);
        }
        if found > 0.0 {
            (low, above) = (middle, found);
            below *= 0.5;
        } else {
            (high, below) = (middle, found);
            above *= 0.5;
        }
    }
    Some(0.5 * (low + high))
}

/// The first of some growing places above `low` where the function is not above 0.
fn first_below(of: &impl Fn(f64) -> f64, low: f64, high: f64) -> Option<(f64, f64)> {
    let mut place = low + (high - low) / 256.0;
    while place <= high {
        let found = of(place);
        if found <= 0.0 {
            return Some((place, found));
        }
        place = low + (place - low) * 2.0;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_falling_functions_are_found_and_missing_ones_are_told() {
        let near = |found: Option<f64>, zero: f64| (found.unwrap() - zero).abs() < 2e-3;
        assert!(near(falls_to_zero(|x| 0.3 - x, 0.0, 1.0), 0.3));
        assert!(near(falls_to_zero(|x| if x < 0.7 { 0.7 - x } else { -1.0 }, 0.0, 1.0), 0.7));
        assert!(near(falls_to_zero(|x| libm::exp(-5.0 * x) - 0.5, 0.0, 1.0), 0.138_6));
        assert_eq!(falls_to_zero(|x| 3.0 - x, 0.0, 1.0), None);
        assert_eq!(falls_to_zero(|x| -0.1 - x, 0.0, 1.0), None);
    }
}
