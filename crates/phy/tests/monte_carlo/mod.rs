//! A receiver that decides bit by bit: random bits, the pulse they arrive with, noise, jitter. It shares nothing with
//! the statistical eye but the pulse, the taps and the noise.

#![allow(dead_code, reason = "each test uses some of it")]

use lanetwin_phy::eye::{Eye, Jitter, Prepared};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::f64::consts::TAU;

/// Bits that are simulated one by one, nearly the whole record; the others must not count.
const BITS: usize = 960;
const BYTES: usize = BITS / 8;
/// Bits after the one that is decided.
const LATER: usize = 29;
const SAMPLES_PER_UI: usize = 16;
/// Phases to either side for which sums are kept.
const PHASES: usize = 10;

/// What eight bits add, for all values of the eight.
type Table = [[f64; 256]; BYTES];

pub struct Receiver {
    /// For each phase, what the bits around add.
    tables: Vec<Box<Table>>,
    sigma_v: f64,
    jitter: Jitter,
    ui_s: f64,
    random: Xoshiro256PlusPlus,
    spare: Option<f64>,
}

impl Receiver {
    pub fn new(channel: &Prepared, eye: &Eye, jitter: Jitter, seed: u64) -> Self {
        let pulse = channel.pulse(eye);
        let table = |phase: usize| {
            let at = eye.sampled_at() + phase - PHASES;
            // bit 0 is the last one sent, LATER the one that is decided
            let cursor = |bit: usize| {
                let value = pulse.samples[at + SAMPLES_PER_UI * bit - SAMPLES_PER_UI * LATER];
                let tap = bit.checked_sub(LATER + 1).and_then(|number| eye.dfe_v.get(number));
                value - tap.copied().unwrap_or(0.0)
            };
            let mut table = Box::new([[0.0; 256]; BYTES]);
            for (byte, sums) in table.iter_mut().enumerate() {
                for (value, sum) in sums.iter_mut().enumerate() {
                    let sign = |bit: usize| if value >> bit & 1 == 1 { 1.0 } else { -1.0 };
                    *sum = (0..8).map(|bit| sign(bit) * cursor(8 * byte + bit)).sum();
                }
            }
            table
        };
        let others: f64 = {
            let all: f64 = pulse.cursors(eye.sampled_at()).map(|c| c * c).sum();
            let first = eye.sampled_at() - SAMPLES_PER_UI * LATER;
            let near: f64 =
                (0..BITS).map(|bit| pulse.samples[first + SAMPLES_PER_UI * bit]).map(|c| c * c).sum();
            all - near
        };
        assert!(others < 2e-4 * eye.sigma_v * eye.sigma_v, "bits further away count: {others} V²");
        Self {
            tables: (0..=2 * PHASES).map(table).collect(),
            sigma_v: eye.sigma_v,
            jitter,
            ui_s: pulse.ui_s,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            spare: None,
        }
    }

    /// How many of so many bits are decided wrongly at the middle of the eye.
    pub fn errors(&mut self, bits: u64) -> u64 {
        let mut history = [0_u64; BITS / 64];
        for word in &mut history {
            *word = self.random.next_u64();
        }
        let mut fresh = 0;
        let mut errors = 0;
        for number in 0..bits {
            if number % 64 == 0 {
                fresh = self.random.next_u64();
            }
            shift_in(&mut history, fresh & 1);
            fresh >>= 1;
            let sent_one = history[0] >> LATER & 1 == 1;
            let voltage = self.voltage(&history) + self.sigma_v * self.normal();
            errors += u64::from((voltage > 0.0) != sent_one);
        }
        errors
    }

    fn voltage(&mut self, history: &[u64; BITS / 64]) -> f64 {
        if self.jitter.deterministic_s == 0.0 && self.jitter.random_s == 0.0 {
            return sum(&self.tables[PHASES], history);
        }
        let side = if self.random.next_u64() & 1 == 1 { 0.5 } else { -0.5 };
        let off = side * self.jitter.deterministic_s + self.jitter.random_s * self.normal();
        let place =
            (off / self.ui_s * SAMPLES_PER_UI as f64 + PHASES as f64).clamp(1.0, 2.0 * PHASES as f64 - 2.001);
        let (index, share) = (place as usize, place.fract());
        let [a, b, c, d] = [0, 1, 2, 3].map(|step| sum(&self.tables[index + step - 1], history));
        // Lagrange's cubic through four samples of the waveform
        let (s, t) = (share, share - 1.0);
        -a * s * t * (s - 2.0) / 6.0 + b * (s + 1.0) * t * (s - 2.0) / 2.0
            - c * (s + 1.0) * s * (s - 2.0) / 2.0
            + d * (s + 1.0) * s * t / 6.0
    }

    /// Box and Muller.
    fn normal(&mut self) -> f64 {
        if let Some(spare) = self.spare.take() {
            return spare;
        }
        let mut uniform = || ((self.random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64;
        let (radius, angle) = (libm::sqrt(-2.0 * libm::log(uniform())), TAU * uniform());
        let (sine, cosine) = libm::sincos(angle);
        self.spare = Some(radius * sine);
        radius * cosine
    }
}

fn shift_in(history: &mut [u64; BITS / 64], bit: u64) {
    let mut carry = bit;
    for word in history {
        let out = *word >> 63;
        *word = *word << 1 | carry;
        carry = out;
    }
}

fn sum(table: &Table, history: &[u64; BITS / 64]) -> f64 {
    table
        .iter()
        .enumerate()
        .map(|(byte, sums)| sums[(history[byte / 8] >> (byte % 8 * 8)) as usize & 255])
        .sum()
}

/// True if so many errors of so many bits are within three standard deviations of a ratio.
pub fn within_three_sigma(errors: u64, bits: u64, ber: f64) -> bool {
    let expected = ber * bits as f64;
    (errors as f64 - expected).abs() <= 3.0 * libm::sqrt(expected * (1.0 - ber))
}
