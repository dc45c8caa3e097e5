//! The disturbance of a bit at one sampling time: the cursors of all other bits, and noise.
//!
//! X = Σ ±c_k + N(0, σ²), every sign a fair coin; a bit is lost when X exceeds its main cursor. Two bounds of that
//! probability cost one sum each and are never below it:
//!
//! | Bound | Of P(X > x) | Source |
//! |---|---|---|
//! | peak distortion | Q((x − Σ\|c_k\|)/σ) | Lucky, Bell System Technical Journal 44 (1965) 547: the worst bits there are |
//! | sub-Gaussian | exp(−x²/(2(Σc_k² + σ²))) | Hoeffding, J. Am. Stat. Assoc. 58 (1963) 13 |
//!
//! The first is close if noise dominates, the second if many small cursors do.

use super::normal;

/// The disturbance at one sampling time.
#[derive(Clone, PartialEq, Debug)]
pub struct Interference {
    /// The cursor of the bit itself \[V\].
    pub main_v: f64,
    /// The cursors of all other bits, of this lane and its neighbours \[V\].
    pub cursors_v: Vec<f64>,
    /// Standard deviation of the noise \[V\], above 0.
    pub sigma_v: f64,
}

impl Interference {
    /// Main cursor less the worst interference, without noise \[V\]: half the height of the worst-case eye.
    #[must_use]
    pub fn peak_distortion_v(&self) -> f64 {
        self.main_v - self.cursors_v.iter().map(|cursor| cursor.abs()).sum::<f64>()
    }

    /// Power of the cursors and the noise \[V²\].
    #[must_use]
    pub fn power(&self) -> f64 {
        self.cursors_v.iter().map(|cursor| cursor * cursor).sum::<f64>() + self.sigma_v * self.sigma_v
    }

    /// The smaller of both bounds of the bit error ratio.
    #[must_use]
    pub fn ber_bound(&self) -> f64 {
        let worst_bits = normal::upper_tail(self.peak_distortion_v() / self.sigma_v);
        let any_bits = libm::exp(-0.5 * self.main_v.max(0.0) * self.main_v.max(0.0) / self.power());
        worst_bits.min(any_bits).min(0.5)
    }
}

/// About the voltage that a disturbance exceeds with a given probability, from few sums: fit to rank, not to judge.
///
/// Chernoff: P(X > x) ≤ exp(K(s) − s·x) for every s > 0, so that x = (K(s) − ln P)/s for the s that makes it least.
/// Large s lead to peak distortion, the least one that is tried to the sub-Gaussian bound. To 1 % of ln cosh z, without
/// a transcendental: z²/(z + ln 2 + r/(1 + z/r + 0.37·z²)) with r = 2 − ln 2, exact at 0 and at infinity.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Quantile {
    /// −ln P.
    exponent: f64,
}

impl Quantile {
    /// For a probability of at most a half.
    pub fn of(probability: f64) -> Self {
        Self { exponent: -libm::log(probability) }
    }

    /// The voltage, from cursors and the variance of all that is taken for Gaussian \[V, V²\].
    pub fn voltage(&self, cursors: &[f64], variance: f64) -> f64 {
        const TRIALS: usize = 7;
        const RATIO: f64 = 1.5;
        let power = variance + cursors.iter().map(|cursor| cursor * cursor).sum::<f64>();
        let mut s = libm::sqrt(2.0 * self.exponent / power);
        let mut least = f64::INFINITY;
        for _ in 0..TRIALS {
            let bits: f64 = cursors.iter().map(|cursor| log_cosh(cursor.abs() * s)).sum();
            least = least.min((0.5 * variance * s * s + bits + self.exponent) / s);
            s *= RATIO;
        }
        least
    }
}

/// ln cosh z for z ≥ 0, to 1 %.
fn log_cosh(z: f64) -> f64 {
    const REST: f64 = 2.0 - core::f64::consts::LN_2;
    z * z / (z + core::f64::consts::LN_2 + REST / (1.0 + z / REST + 0.37 * z * z))
}

#[cfg(test)]
mod tests {
    use super::super::saddle::tail_by_saddle_point;
    use super::*;

    #[test]
    fn peak_distortion_is_the_sum_of_the_worst() {
        let found = Interference { main_v: 1.0, cursors_v: vec![0.25, -0.5], sigma_v: 0.1 };
        assert_eq!(found.peak_distortion_v(), 0.25);
        assert!((found.power() - 0.3225).abs() < 1e-15);
    }

    #[test]
    fn the_quantile_is_near_the_voltage_that_the_saddle_point_gives() {
        let cursors_v: Vec<f64> = (1..30).map(|k| 0.012 / f64::from(k * k)).collect();
        for sigma_v in [0.0003, 0.001, 0.003, 0.01] {
            let of = Interference { main_v: 0.0, cursors_v: cursors_v.clone(), sigma_v };
            let voltage = Quantile::of(1e-12).voltage(&cursors_v, sigma_v * sigma_v);
            let exact = (1..)
                .map(|step| f64::from(step) * 1e-5)
                .find(|&x| tail_by_saddle_point(&of, x) < 1e-12)
                .unwrap();
            assert!((voltage / exact - 1.0).abs() < 0.08, "σ {sigma_v}: {voltage} {exact}");
        }
    }

    #[test]
    fn log_cosh_without_transcendentals_is_right_to_a_per_cent() {
        for step in 1..400 {
            let z = f64::from(step) * 0.05;
            assert!((log_cosh(z) / libm::log(libm::cosh(z)) - 1.0).abs() < 0.01, "{z}");
        }
    }

    #[test]
    fn no_bound_is_below_the_probability() {
        for (main_v, sigma_v) in [(0.05, 0.004), (0.05, 0.001), (0.03, 0.002), (0.1, 0.01), (0.02, 0.01)] {
            let cursors_v: Vec<f64> = (1..30).map(|k| 0.012 / f64::from(k * k) + 0.0004).collect();
            let found = Interference { main_v, cursors_v, sigma_v };
            let exact = tail_by_saddle_point(&found, main_v);
            assert!(found.ber_bound() >= exact * 0.9, "{main_v} {sigma_v}: {} {exact}", found.ber_bound());
        }
    }
}
