//! The continuous-time linear equaliser (CTLE): a high pass of few zeros and poles, in a family of DC gains.
//!
//! | Form | Generations | H(s) |
//! |---|---|---|
//! | one zero, two poles | 3, 4 | ωp2·(s + ωp1·A) / ((s + ωp1)(s + ωp2)) |
//! | two zeros, four poles | 5 | ωp3·ωp4·(s + ωz1)(s + ωz2) / ((s + ωp1)(s + ωp2)(s + ωp3)(s + ωp4)), ωz2 = A·ωp1·ωp2/ωz1 |
//!
//! A is the gain at DC, below 1. The first form is the one of R&S's RTP manual ("first order, fixed poles"); the second
//! is unconfirmed. Exchanging one for the other has changed no verdict in trials: the noise matters more.

use lanetwin_units::Number;
use num_complex::Complex64;
use serde::Deserialize;

/// The curves of a reference receiver.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields, tag = "form", rename_all = "kebab-case", rename_all_fields = "kebab-case")]
pub enum CtleFamily {
    /// Gen3 and Gen4.
    OneZeroTwoPoles {
        /// The lower pole \[Hz\].
        low_pole_hz: Number,
        /// The upper pole \[Hz\].
        high_pole_hz: Number,
        /// The gains at DC \[dB\].
        gains_db: Number<Vec<f64>>,
    },
    /// Gen5.
    TwoZerosFourPoles {
        /// The first zero \[Hz\].
        zero_hz: Number,
        /// The first pole over the first zero.
        first_pole_ratio: Number,
        /// The second pole \[Hz\].
        second_pole_hz: Number,
        /// The third and the fourth pole \[Hz\].
        last_poles_hz: Number,
        /// The gains at DC \[dB\].
        gains_db: Number<Vec<f64>>,
    },
}

/// One curve.
#[derive(Clone, PartialEq, Debug)]
pub struct Ctle {
    gain_db: f64,
    /// Corner frequencies \[Hz\].
    zeros: Vec<f64>,
    poles: Vec<f64>,
    scale: f64,
}

impl CtleFamily {
    /// The gains at DC that can be chosen.
    #[must_use]
    pub const fn gains_db(&self) -> &Number<Vec<f64>> {
        match self {
            Self::OneZeroTwoPoles { gains_db, .. } | Self::TwoZerosFourPoles { gains_db, .. } => gains_db,
        }
    }

    /// All numbers that must be greater than zero.
    pub(super) fn corners(&self) -> impl Iterator<Item = f64> {
        let corners = match self {
            Self::OneZeroTwoPoles { low_pole_hz, high_pole_hz, .. } => {
                vec![low_pole_hz.value, high_pole_hz.value]
            }
            Self::TwoZerosFourPoles { zero_hz, first_pole_ratio, second_pole_hz, last_poles_hz, .. } => {
                vec![zero_hz.value, first_pole_ratio.value, second_pole_hz.value, last_poles_hz.value]
            }
        };
        corners.into_iter()
    }

    /// The corner numbers in the order of the file, to be moved in a what-if.
    pub fn corners_mut(&mut self) -> Vec<&mut f64> {
        match self {
            Self::OneZeroTwoPoles { low_pole_hz, high_pole_hz, .. } => {
                vec![&mut low_pole_hz.value, &mut high_pole_hz.value]
            }
            Self::TwoZerosFourPoles { zero_hz, first_pole_ratio, second_pole_hz, last_poles_hz, .. } => vec![
                &mut zero_hz.value,
                &mut first_pole_ratio.value,
                &mut second_pole_hz.value,
                &mut last_poles_hz.value,
            ],
        }
    }

    /// The curves, in the order of the gains.
    #[must_use]
    pub fn curves(&self) -> Vec<Ctle> {
        self.gains_db().value.iter().map(|&gain_db| self.curve(gain_db)).collect()
    }

    /// The curve of this form with a gain at DC \[dB\].
    #[must_use]
    pub fn curve(&self, gain_db: f64) -> Ctle {
        let dc = libm::pow(10.0, gain_db / 20.0);
        match self {
            Self::OneZeroTwoPoles { low_pole_hz, high_pole_hz, .. } => {
                one_zero_two_poles(gain_db, [low_pole_hz.value, high_pole_hz.value], [dc, 1.0])
            }
            Self::TwoZerosFourPoles { zero_hz, first_pole_ratio, second_pole_hz, last_poles_hz, .. } => {
                let first = first_pole_ratio.value * zero_hz.value;
                let (second, last) = (second_pole_hz.value, last_poles_hz.value);
                Ctle {
                    gain_db,
                    zeros: vec![zero_hz.value, dc * first * second / zero_hz.value],
                    poles: vec![first, second, last, last],
                    scale: last * last,
                }
            }
        }
    }
}

/// The form of one zero: poles \[Hz\], gain at DC over the gain between the poles, gain between the poles.
pub fn one_zero_two_poles(gain_db: f64, [low, high]: [f64; 2], [dc, between]: [f64; 2]) -> Ctle {
    Ctle { gain_db, zeros: vec![low * dc], poles: vec![low, high], scale: high * between }
}

impl Ctle {
    /// The gain at DC \[dB\].
    #[must_use]
    pub const fn gain_db(&self) -> f64 {
        self.gain_db
    }

    /// The transfer function at a frequency \[Hz\].
    #[must_use]
    pub fn at(&self, frequency: f64) -> Complex64 {
        // s over 2π: every corner and the scale are in Hz too, and the factors of 2π cancel
        let corner = |hertz: f64| Complex64::new(hertz, frequency);
        let above =
            self.zeros.iter().fold(Complex64::new(self.scale, 0.0), |product, &zero| product * corner(zero));
        self.poles.iter().fold(above, |quotient, &pole| quotient / corner(pole))
    }

    /// Power gain for noise that is white over a band from 0 to `bandwidth_hz` \[Hz\].
    #[must_use]
    pub fn noise_gain(&self, bandwidth_hz: f64) -> f64 {
        const STEPS: u32 = 2000;
        // midpoints: the curves are smooth over a step
        let power = |step: u32| self.at((f64::from(step) + 0.5) / f64::from(STEPS) * bandwidth_hz).norm_sqr();
        (0..STEPS).map(power).sum::<f64>() / f64::from(STEPS)
    }
}

#[cfg(test)]
mod tests {
    use super::super::constants::Constants;
    use lanetwin_units::Generation;

    fn decibels(power: f64) -> f64 {
        10.0 * libm::log10(power)
    }

    #[test]
    fn the_gain_at_dc_is_the_name_of_the_curve() {
        for generation in [Generation::Gen3, Generation::Gen4, Generation::Gen5] {
            for curve in Constants::built_in().of(generation).unwrap().ctle.curves() {
                assert!((decibels(curve.at(0.0).norm_sqr()) - curve.gain_db()).abs() < 1e-9, "{curve:?}");
            }
        }
    }

    #[test]
    fn the_counts_are_those_of_the_generations() {
        let curves = |generation| Constants::built_in().of(generation).unwrap().ctle.curves().len();
        assert_eq!([Generation::Gen3, Generation::Gen4, Generation::Gen5].map(curves), [7, 7, 11]);
    }

    #[test]
    fn less_gain_at_dc_is_the_same_gain_far_above() {
        for (generation, nyquist) in
            [(Generation::Gen3, 4e9), (Generation::Gen4, 8e9), (Generation::Gen5, 16e9)]
        {
            let curves = Constants::built_in().of(generation).unwrap().ctle.curves();
            let boost = |index: usize| {
                decibels(curves[index].at(nyquist).norm_sqr()) - decibels(curves[index].at(0.0).norm_sqr())
            };
            let (mildest, strongest) = (boost(0), boost(curves.len() - 1));
            assert!(
                mildest > 2.0 && strongest > mildest + 4.0,
                "{generation:?}: {mildest} dB, {strongest} dB"
            );
            let far = |index: usize| decibels(curves[index].at(1e12).norm_sqr());
            assert!((far(0) - far(curves.len() - 1)).abs() < 0.1, "{generation:?}");
        }
    }

    #[test]
    fn a_first_order_low_pass_has_its_known_noise_bandwidth() {
        // with the zero on the low pole (gain 0 dB) one pole is left: π/2·f over a band far above it
        let family = Constants::built_in().of(Generation::Gen4).unwrap().ctle.clone();
        let gain = family.curve(0.0).noise_gain(16e12);
        assert!((gain * 16e12 / (core::f64::consts::FRAC_PI_2 * 16e9) - 1.0).abs() < 2e-3, "{gain}");
    }
}
