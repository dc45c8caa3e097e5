//! Channels made by formula: lines by the loss law IL(f) = k1·√f + k2·f with causal phase, and mismatch between them.

#![allow(dead_code, reason = "each test uses some of it")]

use lanetwin_phy::Transfer;
use num_complex::Complex64;
use std::f64::consts::TAU;

/// 10 MHz to 50 GHz, as vector network analysers give it.
pub const STEP_HZ: f64 = 10e6;
pub const POINTS: usize = 5001;
/// The frequency at which losses are told: Nyquist of Gen5.
pub const NYQUIST_HZ: f64 = 16e9;
const NEPER_DB: f64 = 8.685_889_638_065_036;

/// A line.
#[derive(Clone, Copy)]
pub struct Line {
    /// Loss at 16 GHz \[dB\].
    pub loss_db: f64,
    /// The share of it that goes with √f, by skin effect; the rest goes with f.
    pub skin: f64,
    /// Delay \[s\].
    pub delay_s: f64,
}

impl Line {
    pub fn new(loss_db: f64) -> Self {
        Self { loss_db, skin: 0.4, delay_s: 0.15e-9 * loss_db }
    }

    /// Propagation: attenuation and phase at a frequency. Skin effect is (1 + j)·√f; a dielectric of constant loss
    /// angle disperses with the logarithm of frequency, as causality demands.
    pub fn at(&self, frequency: f64) -> Complex64 {
        if frequency == 0.0 {
            return Complex64::new(1.0, 0.0);
        }
        let share = frequency / NYQUIST_HZ;
        let nepers = self.loss_db / NEPER_DB;
        let skin = nepers * self.skin * share.sqrt();
        let dielectric = nepers * (1.0 - self.skin) * share;
        let dispersion = dielectric * std::f64::consts::FRAC_2_PI * libm::log(100e9 / frequency);
        let phase = TAU * frequency * self.delay_s + skin + dispersion;
        let (sine, cosine) = libm::sincos(-phase);
        Complex64::new(cosine, sine) * libm::exp(-skin - dielectric)
    }
}

fn sampled(at: impl Fn(f64) -> Complex64) -> Transfer {
    Transfer { step_hz: STEP_HZ, h: (0..POINTS).map(|index| at(index as f64 * STEP_HZ)).collect() }
}

/// A smooth line.
pub fn smooth(loss_db: f64) -> Transfer {
    let line = Line::new(loss_db);
    sampled(|f| line.at(f))
}

/// Lines in a row with a reflection coefficient between each two, as at connectors: every pair of joints echoes once.
pub fn cascade(lines: &[Line], reflection: f64) -> Transfer {
    sampled(|f| {
        let parts: Vec<Complex64> = lines.iter().map(|line| line.at(f)).collect();
        let through: Complex64 = parts.iter().product();
        // an inductive or capacitive joint reflects in proportion to frequency, until it reflects its all
        let gamma = reflection * (f / NYQUIST_HZ).min(1.5);
        let mut echoes = Complex64::new(1.0, 0.0);
        for first in 0..parts.len() {
            for last in first + 1..parts.len() - 1 {
                let between: Complex64 = parts[first + 1..=last].iter().product();
                echoes += between * between * (gamma * gamma);
            }
        }
        through * echoes
    })
}

/// Coupling of a neighbour: so much below its own channel at 16 GHz \[dB\], and rising with frequency.
pub fn far_end(through: &Transfer, below_db: f64) -> Transfer {
    let level = libm::pow(10.0, -below_db / 20.0);
    let couple = |(index, value): (usize, &Complex64)| {
        let share = index as f64 * STEP_HZ / NYQUIST_HZ;
        value * Complex64::new(0.0, level * share.min(2.0))
    };
    Transfer { step_hz: STEP_HZ, h: through.h.iter().enumerate().map(couple).collect() }
}

/// Near-end coupling: straight from a transmitter beside the receiver.
pub fn near_end(level_db: f64) -> Transfer {
    let level = libm::pow(10.0, -level_db / 20.0);
    let short = Line::new(2.0);
    sampled(|f| short.at(f) * Complex64::new(0.0, level * (f / NYQUIST_HZ).min(2.0)))
}
