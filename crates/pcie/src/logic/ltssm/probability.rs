//! What an eye's height means for training, in closed form: bit errors, the chance to hear eight clean training sets,
//! the chance to lock and to equalise.
//!
//! | quantity | closed form |
//! |---|---|
//! | bit error ratio of a height *h* | *Q*(7.034 + *h* / per_sigma) |
//! | eight clean training sets at once | (1 − BER)^(8·128) |
//! | no such run among *N* sets | (1 − *p*⁸)^((*N* − 8) / *m*), *p* = (1 − BER)^128, *m* the mean length of an attempt |
//!
//! At 32 GT/s a window of 24 ms holds 5.9 million sets, so that a lane still locks at a bit error ratio of 1e-2. The
//! simulated link draws from the same formulas, so what it counts can be compared with them.

use super::channel::LaneEye;
use super::ordered_sets::set_bits;
use lanetwin_units::{Generation, Span};

/// The standard deviations that leave [`REFERENCE_BER`](super::channel::REFERENCE_BER).
const REFERENCE_DEVIATIONS: f64 = 7.034_483_825;

/// The bits of a training set that must be right for it to be heard: 16 symbols of 8 bits, coded or scrambled.
const SET_DATA_BITS: f64 = 128.0;

/// P(Z > z) of a standard normal Z.
#[must_use]
pub fn upper_tail(z: f64) -> f64 {
    0.5 * libm::erfc(z * core::f64::consts::FRAC_1_SQRT_2)
}

impl LaneEye {
    /// The bit error ratio when the height is this \[mV\].
    #[must_use]
    pub fn ber_at(&self, height_mv: f64) -> f64 {
        upper_tail(REFERENCE_DEVIATIONS + height_mv / self.per_sigma_mv)
    }
    /// The height at which the bit error ratio is this \[mV\]: what is to be missing of the eye.
    ///
    /// # Panics
    /// If the ratio is not between 0 and a half.
    #[must_use]
    pub fn height_for(&self, ber: f64) -> f64 {
        assert!(ber > 0.0 && ber <= 0.5, "a bit error ratio between 0 and a half");
        let (mut low, mut high) = (0.0, 40.0);
        while high - low > 1e-12 {
            let middle = 0.5 * (low + high);
            if upper_tail(middle) > ber { low = middle } else { high = middle }
        }
        (0.5 * (low + high) - REFERENCE_DEVIATIONS) * self.per_sigma_mv
    }
    /// An eye of which the heights at two bit error ratios are known \[mV\]: at 1e-12 and at 1e-6.
    ///
    /// # Panics
    /// If the eye is not higher at 1e-6.
    #[must_use]
    pub fn from_heights(at_1e_12_mv: f64, at_1e_6_mv: f64) -> Self {
        assert!(at_1e_6_mv > at_1e_12_mv, "an eye is higher where more errors are allowed");
        let deviations = REFERENCE_DEVIATIONS - 4.753_424_308;
        Self::new(at_1e_12_mv, (at_1e_6_mv - at_1e_12_mv) / deviations)
    }
}

/// The chance that so many bits in a row are right.
#[must_use]
pub fn clean(ber: f64, bits: f64) -> f64 {
    if ber >= 1.0 { 0.0 } else { libm::exp(bits * libm::log1p(-ber)) }
}

/// The chance that so many consecutive training sets are right.
#[must_use]
pub fn clean_sets(ber: f64, count: u32) -> f64 {
    clean(ber, SET_DATA_BITS * f64::from(count))
}

/// Waiting for a run of successes: the chance of a run at once, and the mean number of trials that a failed attempt
/// takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Runs {
    /// The length of the run \[trials\].
    pub length: f64,
    /// The chance that an attempt succeeds.
    pub success: f64,
    /// The mean length of one that does not \[trials\].
    pub attempt: f64,
}

impl Runs {
    /// Runs of `length` trials, each of which is right with probability `trial`.
    #[must_use]
    pub fn new(length: u32, trial: f64) -> Self {
        let length = f64::from(length);
        let success = libm::pow(trial, length);
        let failing = 1.0 - success;
        // the mean of a geometric distribution that ends with the run
        let attempt = if failing < 1e-9 || trial >= 1.0 {
            0.5 * (length + 1.0)
        } else {
            (1.0 / (1.0 - trial) - length * success / failing).clamp(1.0, length)
        };
        Self { length, success, attempt }
    }
    /// Runs of training sets on a lane.
    #[must_use]
    pub fn of_sets(count: u32, ber: f64) -> Self {
        Self::new(count, clean(ber, SET_DATA_BITS))
    }
    /// The chance that there is no run among so many trials.
    #[must_use]
    pub fn none_in(&self, trials: f64) -> f64 {
        if trials < self.length {
            return 1.0;
        }
        let attempts = 1.0 + (trials - self.length) / self.attempt;
        if self.success >= 1.0 { 0.0 } else { libm::exp(attempts * libm::log1p(-self.success)) }
    }
}

/// The chance that a lane with this bit error ratio hears `count` consecutive training sets within `window`.
#[must_use]
pub fn hears(ber: f64, count: u32, window: Span, generation: Generation) -> f64 {
    let per_second = generation.megatransfers() as f64 * 1e6 / set_bits(generation) as f64;
    let trials = window.as_ps() as f64 * 1e-12 * per_second;
    1.0 - Runs::of_sets(count, ber).none_in(trials)
}

/// The mean of `of(height)` over what adaptation makes of a height: normal, with this standard deviation \[mV\].
///
/// By Simpson's rule over ±8 standard deviations.
#[must_use]
pub fn over_adaptation(height_mv: f64, sigma_mv: f64, of: impl Fn(f64) -> f64) -> f64 {
    if sigma_mv <= 0.0 {
        return of(height_mv);
    }
    const STEPS: u32 = 1600;
    let (from, step) = (-8.0, 16.0 / f64::from(STEPS));
    let density = |z: f64| libm::exp(-0.5 * z * z) / libm::sqrt(core::f64::consts::TAU);
    let sum: f64 = (0..=STEPS)
        .map(|i| {
            let z = from + step * f64::from(i);
            let weight = if i == 0 || i == STEPS { 1.0 } else { f64::from(2 + 2 * (i % 2)) };
            weight * density(z) * of(height_mv + sigma_mv * z)
        })
        .sum();
    sum * step / 3.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures of the design's table: eight clean sets 0.90 at 1e-4, 0.36 at 1e-3, 3e-5 at 1e-2; a window of 24 ms
    /// at 32 GT/s fails in 38 % at 1.5e-2 and in 99 % at 2e-2.
    #[test]
    fn locking_fails_where_it_is_known_to() {
        assert!((clean_sets(1e-4, 8) - 0.90).abs() < 0.005);
        assert!((clean_sets(1e-3, 8) - 0.36).abs() < 0.005);
        assert!((clean_sets(1e-2, 8) / 3.4e-5 - 1.0).abs() < 0.01);
        let fails = |ber| 1.0 - hears(ber, 8, Span::from_us(24_000), Generation::Gen5);
        assert!(fails(1e-2) < 1e-9);
        assert!((fails(1.5e-2) - 0.38).abs() < 0.01, "{}", fails(1.5e-2));
        assert!((fails(2e-2) - 0.99).abs() < 0.01, "{}", fails(2e-2));
    }

    #[test]
    fn heights_and_ratios_undo_each_other() {
        let eye = LaneEye::new(5.0, 2.0);
        assert!((eye.ber_at(0.0) / 1e-12 - 1.0).abs() < 1e-6);
        for ber in [0.4, 1e-2, 1e-4, 1e-12, 1e-20] {
            assert!((eye.ber_at(eye.height_for(ber)) / ber - 1.0).abs() < 1e-6, "{ber}");
        }
        let fitted = LaneEye::from_heights(15.0, 20.0);
        assert!((fitted.ber_at(fitted.height_for(1e-6)) / 1e-6 - 1.0).abs() < 1e-6);
        // five more millivolts are open at 1e-6: as much may be lost before it is 1e-6
        assert!((fitted.height_for(1e-6) + 5.0).abs() < 1e-6, "{}", fitted.height_for(1e-6));
    }

    /// Against the exact recursion for the first run of r successes.
    #[test]
    fn the_chance_of_no_run_is_that_of_the_recursion() {
        for (trial, trials) in [(0.5_f64, 2000_usize), (0.145, 400_000), (0.9, 60)] {
            let r = 8;
            let mut none = vec![1.0_f64; trials + 1];
            let end = |p: f64| libm::pow(p, f64::from(r));
            for n in r as usize..=trials {
                none[n] = if n == r as usize {
                    1.0 - end(trial)
                } else {
                    none[n - 1] - none[n - r as usize - 1] * (1.0 - trial) * end(trial)
                };
            }
            let exact = none[trials];
            let got = Runs::new(r, trial).none_in(trials as f64);
            assert!((got - exact).abs() < 0.02 * exact.max(0.02), "{trial}: {got} {exact}");
        }
    }

    #[test]
    fn adaptation_averages_over_a_normal() {
        let above = |h: f64| if h < 0.0 { 1.0 } else { 0.0 };
        assert!((over_adaptation(3.0, 1.5, above) - upper_tail(2.0)).abs() < 2e-3);
        assert!((over_adaptation(3.0, 1.5, |h| h) - 3.0).abs() < 1e-9);
        assert_eq!(over_adaptation(3.0, 0.0, |h| h), 3.0);
    }
}
