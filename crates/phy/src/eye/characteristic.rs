//! The tail of the disturbance by its characteristic function, for comparison alone.
//!
//! A product of cosines and one sum over frequencies is neat, and its terms have both signs: they cancel down to the
//! rounding of doubles, about 1e-17, and then give noise, even below 0. An answer below [`FLOOR`] is therefore refused.
//! The other two methods have no such floor.

use super::interference::Interference;
use core::f64::consts::PI;

/// Below this the answer would be rounding.
pub const FLOOR: f64 = 1e-14;

/// The tail lies below what this method can tell.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the tail lies below 1e-14, where sums of both signs hold rounding only; use the convolution")]
pub struct TooDeep;

/// P(X > `x`) \[V\] by inverting the characteristic function on a grid (Gil-Pelaez, Biometrika 38 (1951) 481).
///
/// P = ½ − (1/π)·Σ φ(t)·sin(t·x)/t at odd multiples of half a step, whose error are tails a period further out.
///
/// # Errors
///
/// If the tail is below 1e-14.
pub fn tail_by_characteristic_function(of: &Interference, x: f64) -> Result<f64, TooDeep> {
    let span =
        2.0 * (of.cursors_v.iter().map(|cursor| cursor.abs()).sum::<f64>() + 12.0 * of.sigma_v + x.abs());
    let step = PI / span;
    // where the noise has taken the characteristic function below the rounding of the sum
    let terms = (9.0 / of.sigma_v / step).ceil() as u64;
    let term = |number: u64| {
        let t = (number as f64 + 0.5) * 2.0 * step;
        let noise = libm::exp(-0.5 * (t * of.sigma_v) * (t * of.sigma_v));
        of.cursors_v.iter().fold(noise, |product, cursor| product * libm::cos(cursor * t)) * libm::sin(t * x)
            / t
    };
    let sum: f64 = (0..terms).map(term).sum();
    let tail = 0.5 - sum * 2.0 * step / PI;
    if tail < FLOOR { Err(TooDeep) } else { Ok(tail) }
}

#[cfg(test)]
mod tests {
    use super::super::{Distribution, normal};
    use super::*;

    #[test]
    fn it_agrees_where_it_may_and_is_refused_below() {
        let of = |sigma_v| Interference {
            main_v: 0.02,
            cursors_v: (1..20).map(|k| 0.005 / f64::from(k)).collect(),
            sigma_v,
        };
        for (sigma, x) in [(3e-3, 0.01), (1.5e-3, 0.015)] {
            let (neat, direct) = (
                tail_by_characteristic_function(&of(sigma), x).unwrap(),
                Distribution::of(&of(sigma)).tail(x),
            );
            assert!((neat / direct - 1.0).abs() < 0.02, "σ {sigma}: {neat} {direct}");
        }
        assert_eq!(tail_by_characteristic_function(&of(0.8e-3), 0.025), Err(TooDeep));
        assert!(Distribution::of(&of(0.8e-3)).tail(0.025) > 0.0);
    }

    #[test]
    fn noise_alone_is_the_normal_tail() {
        let noise = Interference { main_v: 0.0, cursors_v: vec![], sigma_v: 1.0 };
        let found = tail_by_characteristic_function(&noise, 5.0).unwrap();
        assert!((found / normal::upper_tail(5.0) - 1.0).abs() < 1e-6, "{found}");
    }
}
