//! Jitter and noise: disturbances of a receiver that do not come from the channel.

use super::constants::Reference;

/// Distance between the two sides of a Gaussian at 1e-12, in standard deviations: 2·7.034, as in Rj = (UTJ −
/// UDJ)/14.07.
const SIDES_AT_1E_12: f64 = 14.07;

/// Jitter of the sampling time against the signal: two Diracs and a Gaussian.
///
/// Data-dependent jitter is not included: it results from the channel in the eye itself.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Jitter {
    /// Distance between the two Diracs \[s\].
    pub deterministic_s: f64,
    /// The standard deviation \[s\].
    pub random_s: f64,
}

/// Noise and jitter at the receiver, in addition to the effects of the channel.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Stress {
    /// White noise at the receiver's input, before the CTLE, rms \[V\].
    pub noise_v: f64,
    /// Jitter.
    pub jitter: Jitter,
}

impl Stress {
    /// The stress by the constants of a generation: the transmitter's jitter with the reference clock's, the assumed
    /// noise.
    #[must_use]
    pub fn of(reference: &Reference) -> Self {
        let (total, deterministic) = (reference.jitter.total_s.value, reference.jitter.deterministic_s.value);
        let transmitter = (total - deterministic) / SIDES_AT_1E_12;
        let clock = reference.jitter.clock_s.value;
        let random_s = libm::sqrt(transmitter * transmitter + clock * clock);
        let jitter = Jitter { deterministic_s: deterministic, random_s };
        Self { noise_v: reference.noise.rms_v.value, jitter }
    }
}

/// An offset of the sampling time, and its probability.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Shift {
    /// In UI.
    pub ui: f64,
    /// The share of bits.
    pub weight: f64,
}

impl Jitter {
    /// The distribution as points to average over; their weights add up to 1.
    ///
    /// The trapezoidal rule on a smooth function that falls as a Gaussian: at steps of ¾ of its standard deviation the
    /// error is below 1e-15. The points reach to 12 standard deviations, past any bit error ratio that is told.
    pub(super) fn shifts(&self, ui_s: f64) -> Vec<Shift> {
        const STEP: f64 = 0.75;
        const STEPS: i32 = 16;
        let diracs: &[f64] = if self.deterministic_s == 0.0 { &[0.0] } else { &[-0.5, 0.5] };
        let gaussian: Vec<(f64, f64)> = if self.random_s == 0.0 {
            vec![(0.0, 1.0)]
        } else {
            let point = |step| f64::from(step) * STEP;
            (-STEPS..=STEPS).map(|step| (point(step), libm::exp(-0.5 * point(step) * point(step)))).collect()
        };
        let total: f64 = gaussian.iter().map(|(_, weight)| weight).sum::<f64>() * diracs.len() as f64;
        let shift = |dirac: f64, (sigmas, weight): (f64, f64)| Shift {
            ui: (dirac * self.deterministic_s + sigmas * self.random_s) / ui_s,
            weight: weight / total,
        };
        diracs.iter().flat_map(|&dirac| gaussian.iter().map(move |&point| shift(dirac, point))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::constants::Constants;
    use super::*;
    use lanetwin_units::Generation;

    #[test]
    fn random_jitter_of_the_transmitters_is_what_their_totals_leave() {
        for (generation, transmitter, clock) in
            [(Generation::Gen3, 1.37, 1.0), (Generation::Gen4, 0.444, 0.5), (Generation::Gen5, 0.222, 0.15)]
        {
            let stress = Stress::of(Constants::built_in().of(generation).unwrap());
            let known = libm::sqrt(transmitter * transmitter + clock * clock);
            assert!((stress.jitter.random_s * 1e12 / known - 1.0).abs() < 2e-3, "{generation:?}");
        }
    }

    #[test]
    fn points_have_the_moments_of_the_distribution() {
        for (deterministic_s, random_s) in [(3e-12, 0.5e-12), (0.0, 1e-12), (2e-12, 0.0), (0.0, 0.0)] {
            let shifts = Jitter { deterministic_s, random_s }.shifts(1e-12);
            let moment = |power: i32| {
                shifts.iter().map(|s| s.weight * (0..power).fold(1.0, |x, _| x * s.ui)).sum::<f64>()
            };
            let variance = deterministic_s * deterministic_s / 4.0 + random_s * random_s;
            assert!((moment(0) - 1.0).abs() < 1e-12 && moment(1).abs() < 1e-12);
            assert!((moment(2) - variance * 1e24).abs() < 1e-10, "{}", moment(2));
        }
    }
}
