//! Tails of the normal distribution, and the scale on which tails are interpolated.

/// Minimum bit error ratio that is reported: below it, effects outside the model dominate.
pub const LEAST_BER: f64 = 1e-40;

/// P(Z > z) of a standard normal Z.
pub fn upper_tail(z: f64) -> f64 {
    0.5 * libm::erfc(z * core::f64::consts::FRAC_1_SQRT_2)
}

/// The density of a standard normal.
pub fn density(z: f64) -> f64 {
    libm::exp(-0.5 * z * z) / libm::sqrt(core::f64::consts::TAU)
}

/// The u with `probability` = ½·exp(−u²/2), 0 from a half on.
///
/// Close to the number of standard deviations of a normal tail, and almost straight where a bathtub is steep: what lies
/// between two phases is interpolated on it.
pub fn depth(probability: f64) -> f64 {
    let probability = probability.clamp(LEAST_BER, 0.5);
    libm::sqrt(-2.0 * libm::log(2.0 * probability))
}

/// The probability of a depth; a half at 0 and below.
pub fn probability(depth: f64) -> f64 {
    0.5 * libm::exp(-0.5 * depth.max(0.0) * depth.max(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tails_of_the_tables() {
        // Abramowitz & Stegun, table 26.1 and 26.2
        assert!((upper_tail(1.0) - 0.158_655_253_931_457).abs() < 1e-14);
        assert!((upper_tail(7.034_484) / 1e-12 - 1.0).abs() < 1e-4);
        assert!((density(0.0) - 0.398_942_280_401_433).abs() < 1e-14);
    }

    #[test]
    fn depth_and_probability_undo_each_other() {
        for exponent in 1..40 {
            let p = libm::pow(10.0, -f64::from(exponent));
            assert!((probability(depth(p)) / p - 1.0).abs() < 1e-12);
        }
        assert_eq!((depth(0.7), probability(-1.0)), (0.0, 0.5));
        assert_eq!(depth(0.0), depth(LEAST_BER));
    }
}
