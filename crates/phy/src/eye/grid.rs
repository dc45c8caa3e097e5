//! The grid in time and frequency for the pulses of one generation, and the interpolation of a measured channel on it.
//!
//! 16 samples per UI, and a record of 32 ns, which is longer than any echo in a server, so that no echo wraps around.
//! The delay of a channel is removed first: the remaining phase changes slowly with frequency and can be interpolated,
//! and the delay does not matter to an eye.

use super::pulse_error::PulseError;
use crate::Transfer;
use core::f64::consts::{PI, TAU};
use lanetwin_units::Generation;
use num_complex::Complex64;

/// Samples per UI.
pub const SAMPLES_PER_UI: usize = 16;
/// The record \[ns\].
const RECORD_NS: u64 = 32;
/// Upper end of the spectrum, in units of the symbol rate.
const HIGHEST_RATES: usize = 4;
/// The share of the spectrum over which it is tapered to 0, to avoid ringing.
const TAPER: f64 = 0.15;

/// The grid of one generation.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Grid {
    /// The unit interval \[s\].
    pub ui_s: f64,
    /// UIs of the record; a power of two.
    pub periods: usize,
}

impl Grid {
    /// The grid for the symbol rate of a generation.
    pub fn of(generation: Generation) -> Self {
        let rate = generation.megatransfers();
        let periods = (rate * RECORD_NS).div_ceil(1000) as usize;
        Self { ui_s: 1e-6 / rate as f64, periods: periods.next_power_of_two() }
    }

    /// Samples of the record.
    pub const fn length(&self) -> usize {
        self.periods * SAMPLES_PER_UI
    }

    /// Frequencies of the spectrum, with 0; what is above does not count.
    pub const fn bins(&self) -> usize {
        self.periods * HIGHEST_RATES
    }

    /// The frequency of a bin \[Hz\].
    pub fn frequency(&self, bin: usize) -> f64 {
        bin as f64 / (self.ui_s * self.periods as f64)
    }

    /// A channel at the frequencies of this grid, without its delay; 0 above its last frequency.
    pub fn sample(&self, transfer: &Transfer) -> Result<Vec<Complex64>, PulseError> {
        check(transfer, 0.5 / self.ui_s)?;
        let undelayed = without_delay(&transfer.h);
        let last = (undelayed.len() - 1) as f64;
        let fade_to = last.min(self.frequency(self.bins()) / transfer.step_hz);
        let steps = |bin: usize| self.frequency(bin) / transfer.step_hz;
        let value = |bin| match steps(bin) {
            place if place > last => Complex64::new(0.0, 0.0),
            place => between(&undelayed, place) * fade(place / fade_to),
        };
        Ok((0..self.bins()).map(value).collect())
    }
}

fn check(transfer: &Transfer, nyquist: f64) -> Result<(), PulseError> {
    if !(transfer.step_hz > 0.0 && transfer.step_hz.is_finite()) || transfer.h.len() < 4 {
        return Err(PulseError::NoGrid { step_hz: transfer.step_hz, points: transfer.h.len() });
    }
    if let Some(index) = transfer.h.iter().position(|value| !value.re.is_finite() || !value.im.is_finite()) {
        return Err(PulseError::NotFinite { index });
    }
    let highest_hz = transfer.step_hz * (transfer.h.len() - 1) as f64;
    if highest_hz < nyquist {
        return Err(PulseError::BandTooNarrow { highest_hz, nyquist_hz: nyquist });
    }
    Ok(())
}

/// The same with the phase turned back by the mean step of it.
fn without_delay(h: &[Complex64]) -> Vec<Complex64> {
    let turn: Complex64 = h.windows(2).map(|pair| pair[1] * pair[0].conj()).sum();
    let angle = libm::atan2(turn.im, turn.re);
    let back = |index: usize| {
        let (sine, cosine) = libm::sincos(-(index as f64) * angle);
        Complex64::new(cosine, sine)
    };
    h.iter().enumerate().map(|(index, value)| value * back(index)).collect()
}

/// A cubic (Catmull-Rom) through the four neighbours; the spectrum of a real signal goes on as its own conjugate below
/// 0.
fn between(h: &[Complex64], place: f64) -> Complex64 {
    let index = (place as usize).min(h.len() - 1);
    let share = place - index as f64;
    if share == 0.0 {
        return h[index];
    }
    let at = |index: usize| h[index.min(h.len() - 1)];
    let before = if index == 0 { h[1].conj() } else { h[index - 1] };
    cubic([before, at(index), at(index + 1), at(index + 2)], share)
}

fn cubic([a, b, c, d]: [Complex64; 4], share: f64) -> Complex64 {
    let slope = |low: Complex64, high: Complex64| (high - low) * 0.5;
    let (from, to, rise) = (slope(a, c), slope(b, d), c - b);
    let square = rise * 3.0 - from * 2.0 - to;
    let third = from + to - rise * 2.0;
    b + (from + (square + third * share) * share) * share
}

/// 1 up to the last stretch of the band, then half a cosine down to 0.
fn fade(share: f64) -> f64 {
    let into = (share - (1.0 - TAPER)) / TAPER;
    if into <= 0.0 { 1.0 } else { 0.5 + 0.5 * libm::cos(PI * into.min(1.0)) }
}

/// Spectrum of a bit, scaled so that the inverse transform is in volts: a UI long, edges of the rise time, swing to one
/// side.
pub fn drive(grid: &Grid, swing_v: f64, rise_s: f64) -> Vec<f64> {
    // 10 % to 90 % of a Gaussian step are 2.563 of its standard deviations
    let sigma = rise_s / 2.563_103_131_089_201;
    let level = 0.5 * swing_v * SAMPLES_PER_UI as f64;
    let at = |bin: usize| {
        let frequency = grid.frequency(bin);
        let x = PI * frequency * grid.ui_s;
        let sinc = if bin == 0 { 1.0 } else { libm::sin(x) / x };
        let edge = TAU * frequency * sigma;
        level * sinc * libm::exp(-0.5 * edge * edge)
    };
    (0..grid.bins()).map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delayed_low_pass(step_hz: f64, points: usize, delay: f64) -> Transfer {
        let at = |index: usize| {
            let f = index as f64 * step_hz;
            let (sine, cosine) = libm::sincos(-TAU * f * delay);
            Complex64::new(cosine, sine) / Complex64::new(1.0, f / 5e9)
        };
        Transfer { step_hz, h: (0..points).map(at).collect() }
    }

    #[test]
    fn a_channel_on_another_grid_is_the_same_channel() {
        let grid = Grid::of(Generation::Gen5);
        let (coarse, fine) =
            (delayed_low_pass(10e6, 5001, 7e-9), delayed_low_pass(31.25e6 / 4.0, 6401, 7e-9));
        let (coarse, fine) = (grid.sample(&coarse).unwrap(), grid.sample(&fine).unwrap());
        // without its delay the phase is known but for one constant delay; compare magnitudes and steps of phase
        for bin in 1..1300 {
            let (a, b) = (coarse[bin], fine[bin]);
            assert!((a.norm_sqr() / b.norm_sqr() - 1.0).abs() < 1e-6, "bin {bin}");
        }
    }

    #[test]
    fn grids_have_sixteen_samples_and_32_ns() {
        for (generation, periods) in
            [(Generation::Gen3, 256), (Generation::Gen4, 512), (Generation::Gen5, 1024)]
        {
            let grid = Grid::of(generation);
            assert_eq!((grid.periods, grid.length()), (periods, periods * 16));
            assert!((grid.frequency(1) - 31.25e6).abs() < 1.0);
        }
    }

    #[test]
    fn what_is_no_channel_is_refused() {
        let grid = Grid::of(Generation::Gen5);
        let good = delayed_low_pass(10e6, 5001, 1e-9);
        let refused = |change: &dyn Fn(&mut Transfer)| {
            let mut bad = good.clone();
            change(&mut bad);
            grid.sample(&bad).unwrap_err()
        };
        assert!(matches!(refused(&|bad| bad.step_hz = 0.0), PulseError::NoGrid { .. }));
        assert!(matches!(refused(&|bad| bad.h.truncate(1000)), PulseError::BandTooNarrow { .. }));
        assert_eq!(refused(&|bad| bad.h[7].im = f64::NAN), PulseError::NotFinite { index: 7 });
    }
}
