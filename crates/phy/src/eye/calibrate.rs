//! Self-calibration: the noise and jitter with which a compliance channel just meets the mask.
//!
//! Many numbers of transmitter and receiver are known to members of the PCI-SIG only. What everybody knows is that the
//! worst channel allowed (36 dB for Gen5) is to give exactly the mask. So noise and deterministic jitter are solved for
//! it, and other channels are judged with the same stress: an error of the CTLE or the swing then acts on both and
//! cancels for the most part. Height falls with noise and width with jitter; random jitter stays as it is.
//!
//! A lossy channel may lose the height of the mask before jitter has taken its width down to the mask: jitter takes
//! height too. Then only the height is brought to the mask, by noise, the jitter stays as the constants have it, and
//! [`Calibration::opening`] says how wide the eye is. Height is what such a channel fails by.
//!
//! How the stress divides between noise and jitter is soft: on a line of 29 dB the settings that give the mask's height
//! give widths from 0.37 UI without deterministic jitter to 0.27 UI with 12 ps of it. Sizes that it decides, such as
//! how much jitter more a link would bear, are not to be read from it; whether a channel meets the mask is.
//!
//! The compliance channel is the caller's, and the calibration can only be as good. One that is smoother than real ones
//! gives a stress that real ones of the same loss fail: give it the reflections and neighbours that the channels have.

use super::jitter::{Jitter, Stress};
use super::mask::Opening;
use super::receiver::Receiver;
use super::search::Search;
use super::waves::Prepared;

/// Tolerance of the height \[share of the mask\].
const NEAR: f64 = 1e-3;
/// Minimum and maximum noise tried \[V\].
const LEAST_NOISE: f64 = 5e-5;
const MOST_NOISE: f64 = 0.1;
/// Steps of the search of one unknown.
const STEPS: u32 = 60;

/// Result of a calibration.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Calibration {
    /// Noise and jitter to judge other channels with.
    pub stress: Stress,
    /// The eye of the compliance channel with it: the mask's height, and its width or more.
    pub opening: Opening,
}

/// The mask cannot be met on this channel.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum CalibrationError {
    /// Even with hardly any noise (50 µV) and no deterministic jitter the eye is smaller than the mask.
    #[error("with hardly any noise the eye is {} V high and {} UI wide, less than the mask: not a compliance channel", .0.height_v, .0.width_ui)]
    TooLossy(Opening),
    /// With noise that brings the height to the mask the eye is too narrow, without any deterministic jitter.
    #[error("at the height of the mask the eye is {} UI wide, less than the mask, without any deterministic jitter", .0.width_ui)]
    TooNarrow(Opening),
    /// Noise of 0.1 V does not close the eye.
    #[error("no noise brings the eye down to the mask")]
    TooGood,
}

impl Receiver {
    /// The stress with which `compliance` gives height and, if it can, width of the mask.
    ///
    /// # Errors
    ///
    /// If no noise and deterministic jitter do.
    pub fn calibrate(&self, compliance: &Prepared) -> Result<Calibration, CalibrationError> {
        let bench = Bench { receiver: self, compliance, search: Search::thorough() };
        let best = bench.opening(&bench.stress(LEAST_NOISE, 0.0));
        if !self.mask().passes(best) {
            return Err(CalibrationError::TooLossy(best));
        }
        let sharp = bench.calibration(0.0).ok_or(CalibrationError::TooGood)?;
        if sharp.opening.width_ui < self.mask().width_ui * (1.0 - NEAR) {
            return Err(CalibrationError::TooNarrow(sharp.opening));
        }
        let excess = |jitter_s| {
            bench.calibration(jitter_s).map(|found| found.opening.width_ui / self.mask().width_ui - 1.0)
        };
        let both = falls_to_zero(excess, 0.0, self.ui_s(), 1.0 / 16.0)
            .and_then(|jitter_s| bench.calibration(jitter_s));
        // the height went first: keep the jitter of the constants if the channel bears it, or none
        let height_only = || bench.calibration(self.stress().jitter.deterministic_s).unwrap_or(sharp);
        Ok(both.unwrap_or_else(height_only))
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

    /// The calibration of the height at a deterministic jitter; `None` if no noise brings it to the mask.
    fn calibration(&self, jitter_s: f64) -> Option<Calibration> {
        let excess = |noise: f64| {
            Some(self.opening(&self.stress(noise, jitter_s)).height_v / self.receiver.mask().height_v - 1.0)
        };
        let stress = self.stress(falls_to_zero(excess, LEAST_NOISE, MOST_NOISE, 1.0 / 256.0)?, jitter_s);
        Some(Calibration { stress, opening: self.opening(&stress) })
    }
}

/// Where a falling function is 0, to within [`NEAR`]; `None` if it is not in the range, or ends before.
///
/// False position with the Illinois rule (Dowell and Jarratt, BIT 11 (1971) 168) between the last place that is above
/// and the first that is not, of places that double from `first`, a share of the range. The low end is looked at only
/// if that one is already below: it is where an eye is slowest to draw.
fn falls_to_zero(of: impl Fn(f64) -> Option<f64>, low: f64, high: f64, first: f64) -> Option<f64> {
    let mut last = None;
    let mut share = first;
    let (mut high, mut below) = loop {
        if share > 1.0 {
            return None;
        }
        let place = low + (high - low) * share;
        match of(place) {
            Some(found) if found > 0.0 => last = Some((place, found)),
            found => break (place, found?),
        }
        share *= 2.0;
    };
    let (mut low, mut above) = match last {
        Some(last) => last,
        None => (low, of(low).filter(|&found| found >= -NEAR)?),
    };
    for _ in 0..STEPS {
        let middle = (low * below - high * above) / (below - above);
        let found = of(middle)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_of_falling_functions_are_found_and_missing_ones_are_told() {
        let near = |found: Option<f64>, zero: f64| (found.unwrap() - zero).abs() < 2e-3;
        assert!(near(falls_to_zero(|x| Some(0.3 - x), 0.0, 1.0, 1.0 / 64.0), 0.3));
        assert!(near(
            falls_to_zero(|x| Some(if x < 0.7 { 0.7 - x } else { -1.0 }), 0.0, 1.0, 1.0 / 64.0),
            0.7
        ));
        assert!(near(falls_to_zero(|x| Some(libm::exp(-5.0 * x) - 0.5), 0.0, 1.0, 1.0 / 64.0), 0.138_6));
        assert_eq!(falls_to_zero(|x| Some(3.0 - x), 0.0, 1.0, 1.0 / 64.0), None);
        assert_eq!(falls_to_zero(|x| Some(-0.1 - x), 0.0, 1.0, 1.0 / 64.0), None);
        assert_eq!(falls_to_zero(|x| (x < 0.2).then_some(0.3 - x), 0.0, 1.0, 1.0 / 64.0), None);
    }
}
