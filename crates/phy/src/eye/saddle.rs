//! The tail of the disturbance by the saddle point: near exact at any depth, and linear in the number of cursors.
//!
//! Lugannani and Rice, Advances in Applied Probability 12 (1980) 475: with the cumulant generating function K(s) =
//! σ²s²/2 + Σ ln cosh(c_k·s) and K'(s) = x, P(X > x) = Q(w) + φ(w)·(1/u − 1/w), w = √(2(s·x − K(s))), u = s·√K''(s).
//! Shares no step with the direct convolution, and is its cross-check.

use super::interference::Interference;
use super::normal;
use core::f64::consts::LN_2;

/// P(X > `x`) of the disturbance \[V\].
#[must_use]
pub fn tail_by_saddle_point(of: &Interference, x: f64) -> f64 {
    if x < 0.0 {
        return 1.0 - tail_by_saddle_point(of, -x);
    }
    let s = saddle(of, x);
    let (k, _, second) = cumulants(of, s);
    let w = libm::sqrt((2.0 * (s * x - k)).max(0.0));
    // at the mean both corrections become infinite and cancel; X is symmetric there
    if w < 1e-4 {
        return 0.5 - w * normal::density(0.0);
    }
    let u = s * libm::sqrt(second);
    normal::upper_tail(w) + normal::density(w) * (1.0 / u - 1.0 / w)
}

/// K(s), K'(s) and K''(s).
fn cumulants(of: &Interference, s: f64) -> (f64, f64, f64) {
    let variance = of.sigma_v * of.sigma_v;
    let mut sums = (0.5 * variance * s * s, variance * s, variance);
    for &cursor in &of.cursors_v {
        let z = (cursor * s).abs();
        let decay = libm::exp(-2.0 * z);
        let tanh = (1.0 - decay) / (1.0 + decay);
        // ln cosh z without overflow
        sums.0 += z + libm::log1p(decay) - LN_2;
        sums.1 += cursor.abs() * tanh;
        sums.2 += cursor * cursor * (1.0 - tanh * tanh);
    }
    sums
}

/// The s ≥ 0 with K'(s) = x. K' rises from 0, at least as fast as σ²·s and at most as fast as its slope at 0.
fn saddle(of: &Interference, x: f64) -> f64 {
    let (mut low, mut high) = (x / of.power(), x / (of.sigma_v * of.sigma_v));
    let mut s = low;
    for _ in 0..100 {
        let (_, first, second) = cumulants(of, s);
        if first < x {
            low = low.max(s)
        } else {
            high = high.min(s)
        }
        let newton = s - (first - x) / second;
        let next = if newton > low && newton < high { newton } else { 0.5 * (low + high) };
        if (next - s).abs() <= 1e-12 * s {
            return next;
        }
        s = next;
    }
    s
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_cursors_it_is_the_normal_tail() {
        let noise = Interference { main_v: 0.0, cursors_v: vec![], sigma_v: 2.0 };
        for z in [0.0, 0.5, 3.0, 7.0, 15.0] {
            let found = tail_by_saddle_point(&noise, 2.0 * z);
            assert!((found / normal::upper_tail(z) - 1.0).abs() < 1e-9, "{z}: {found}");
        }
    }

    #[test]
    fn one_cursor_is_two_normal_tails() {
        let one = Interference { main_v: 0.0, cursors_v: vec![0.5], sigma_v: 1.0 };
        for x in [1.0, 4.0, 8.0] {
            let exact = 0.5 * (normal::upper_tail(x - 0.5) + normal::upper_tail(x + 0.5));
            assert!((tail_by_saddle_point(&one, x) / exact - 1.0).abs() < 0.01, "{x}");
        }
        assert!((tail_by_saddle_point(&one, -1.0) + tail_by_saddle_point(&one, 1.0) - 1.0).abs() < 1e-12);
    }
}
