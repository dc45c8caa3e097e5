//! What stands against a bit at one sampling time: the cursors of all other bits, and noise.
//!
//! X = Σ ±c_k + N(0, σ²), every sign a fair coin; a bit is lost when X exceeds its main cursor. Two bounds of that
//! probability cost one sum each and are never below it:
//!
//! | Bound | Of P(X > x) | Source |
//! |---|---|---|
//! | peak distortion | Q((x − Σ\|c_k\|)/σ) | Lucky, Bell System Technical Journal 44 (1965) 547: the worst bits there are |
//! | sub-Gaussian | exp(−x²/(2(Σc_k² + σ²))) | Hoeffding, J. Am. Stat. Assoc. 58 (1963) 13 |
//!
//! The first is close where noise rules, the second where many small cursors do.

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
    /// What the worst bits leave of the main cursor, without noise \[V\]: half the height of the worst-case eye.
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
        normal::probability(depth_bound(self.peak_distortion_v() / self.sigma_v, self.main_v / libm::sqrt(self.power())))
            .min(0.5)
    }
}

/// The larger of both bounds on the scale of [`normal::depth`]: worst case over σ, main cursor over root of power.
///
/// exp(−q²/2) is ½·exp(−u²/2) with u² = q² − 2·ln 2.
pub fn depth_bound(worst_case: f64, signal_to_noise: f64) -> f64 {
    let peak = if worst_case > 0.0 { normal::depth(normal::upper_tail(worst_case)) } else { 0.0 };
    let q = signal_to_noise.max(0.0);
    let gaussian = libm::sqrt((q * q - 2.0 * core::f64::consts::LN_2).max(0.0));
    peak.max(gaussian)
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
    fn no_bound_is_below_the_probability() {
        for (main_v, sigma_v) in [(0.05, 0.004), (0.05, 0.001), (0.03, 0.002), (0.1, 0.01), (0.02, 0.01)] {
            let cursors_v: Vec<f64> = (1..30).map(|k| 0.012 / f64::from(k * k) + 0.0004).collect();
            let found = Interference { main_v, cursors_v, sigma_v };
            let exact = tail_by_saddle_point(&found, main_v);
            assert!(found.ber_bound() >= exact * 0.9, "{main_v} {sigma_v}: {} {exact}", found.ber_bound());
        }
    }
}
