//! A redriver: an analogue stage in the middle of a channel, which amplifies the signal without detecting bits.
//!
//! Unlike a retimer it also amplifies noise and intersymbol interference, and adds noise of its own. Near the limit of
//! its output it compresses. A statistical eye is linear and cannot show that; the stage then has the smaller gain at
//! its highest voltage (a hyperbolic tangent), and the eye is reported as an estimate.

use super::ctle::Ctle;
use super::ctle::one_zero_two_poles;

/// An analogue stage.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Redriver {
    /// Gain at 0 Hz \[dB\].
    pub dc_gain_db: f64,
    /// Gain between the poles over the gain at 0 Hz \[dB\].
    pub peaking_db: f64,
    /// The pole below which the gain falls to its value at 0 Hz \[Hz\].
    pub low_pole_hz: f64,
    /// The bandwidth, its upper pole \[Hz\].
    pub bandwidth_hz: f64,
    /// Noise at its input over its bandwidth, rms \[V\].
    pub noise_v: f64,
    /// The highest voltage that it can put out, to one side \[V\].
    pub output_limit_v: f64,
}

impl Redriver {
    /// Its transfer function, as a curve of gain and corner frequencies.
    #[must_use]
    pub fn curve(&self) -> Ctle {
        let ratio = |decibels: f64| libm::pow(10.0, decibels / 20.0);
        one_zero_two_poles(
            self.dc_gain_db,
            [self.low_pole_hz, self.bandwidth_hz],
            [ratio(-self.peaking_db), ratio(self.dc_gain_db + self.peaking_db)],
        )
    }

    /// Its gain at a frequency, to a small signal \[dB\].
    #[must_use]
    pub fn gain_db(&self, hertz: f64) -> f64 {
        10.0 * libm::log10(self.curve().at(hertz).norm_sqr())
    }

    /// Ratio of the gain to that of a small signal, at the output voltage of a linear stage \[V\]; 1 without
    /// compression.
    #[must_use]
    pub fn compression(&self, linear_output_v: f64) -> f64 {
        let drive = linear_output_v.abs() / self.output_limit_v;
        if drive < 1e-9 { 1.0 } else { libm::tanh(drive) / drive }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAGE: Redriver = Redriver {
        dc_gain_db: -2.0,
        peaking_db: 12.0,
        low_pole_hz: 4e9,
        bandwidth_hz: 25e9,
        noise_v: 0.5e-3,
        output_limit_v: 0.5,
    };

    #[test]
    fn gain_starts_at_dc_and_peaks_by_its_peaking() {
        let decibels = |f: f64| 10.0 * libm::log10(STAGE.curve().at(f).norm_sqr());
        assert!((decibels(0.0) + 2.0).abs() < 1e-9);
        assert!((STAGE.curve().gain_db() + 2.0).abs() < 1e-9);
        let wide = Redriver { bandwidth_hz: 1e15, ..STAGE };
        assert!((10.0 * libm::log10(wide.curve().at(1e12).norm_sqr()) - 10.0).abs() < 0.01);
    }

    #[test]
    fn a_small_signal_is_amplified_in_full_and_a_large_one_stays_below_the_limit() {
        assert!((STAGE.compression(0.01) - 1.0).abs() < 2e-4);
        assert_eq!(STAGE.compression(0.0), 1.0);
        assert!(STAGE.compression(5.0) * 5.0 <= 0.5);
        assert!(STAGE.compression(0.5) < STAGE.compression(0.25));
    }
}
