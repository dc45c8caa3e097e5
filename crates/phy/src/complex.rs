//! Complex numbers with the transcendentals of the pinned library: the same on every machine.

use num_complex::Complex64;

pub(crate) const ZERO: Complex64 = Complex64::new(0.0, 0.0);
pub(crate) const ONE: Complex64 = Complex64::new(1.0, 0.0);

/// The magnitude.
pub(crate) fn magnitude(z: Complex64) -> f64 {
    z.norm_sqr().sqrt()
}

/// The phase \[rad\], −π to π.
pub(crate) fn phase(z: Complex64) -> f64 {
    libm::atan2(z.im, z.re)
}

/// e^(jφ).
pub(crate) fn turn(radians: f64) -> Complex64 {
    let (sin, cos) = libm::sincos(radians);
    Complex64::new(cos, sin)
}

/// A magnitude and a phase \[rad\].
pub(crate) fn polar(magnitude: f64, radians: f64) -> Complex64 {
    turn(radians) * magnitude
}

/// A ratio of amplitudes as decibels; −∞ for 0.
#[must_use]
pub fn decibels(ratio: f64) -> f64 {
    20.0 * libm::log10(ratio)
}

/// Decibels as a ratio of amplitudes.
#[must_use]
pub fn ratio(decibels: f64) -> f64 {
    libm::exp(decibels * (core::f64::consts::LN_10 / 20.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decibels_are_of_amplitudes() {
        assert!((decibels(0.1) + 20.0).abs() < 1e-12);
        assert!((ratio(-20.0) - 0.1).abs() < 1e-15);
        assert_eq!(decibels(0.0), f64::NEG_INFINITY);
    }

    #[test]
    fn polar_and_back() {
        let z = polar(2.0, 1.0);
        assert!((magnitude(z) - 2.0).abs() < 1e-15 && (phase(z) - 1.0).abs() < 1e-15);
    }
}
