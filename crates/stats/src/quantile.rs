//! Tails and quantiles of the normal, Student's t and the binomial distribution, the same on every machine.
//!
//! All transcendentals come from the pinned pure-Rust `libm`. Quantiles are found by bisection of the tail down to two
//! neighbouring floats, so that a quantile is as accurate as its tail, and there is no table of coefficients to get
//! wrong.
//!
//! Sources of the formulas: Abramowitz & Stegun 26.2.29 (normal), 26.5.8 (continued fraction of the incomplete beta
//! function), 26.5.24 (binomial), 26.7.1 (Student's t).

/// Terms of the continued fraction; it needs about √max(a, b), so this reaches parameters of 10¹⁰.
const TERMS: u32 = 200_000;

/// P(Z > z) of a standard normal Z.
pub(crate) fn normal_upper(z: f64) -> f64 {
    0.5 * libm::erfc(z / core::f64::consts::SQRT_2)
}

/// P(Z < z) of a standard normal Z.
pub(crate) fn normal_lower(z: f64) -> f64 {
    normal_upper(-z)
}

/// The z with P(Z < z) = `probability`; infinite at 0 and 1.
///
/// Exactly antisymmetric about one half wherever `1 − probability` is exact.
#[must_use]
pub fn normal_quantile(probability: f64) -> f64 {
    if probability <= 0.0 {
        return f64::NEG_INFINITY;
    }
    if probability > 0.5 {
        return -normal_quantile(1.0 - probability);
    }
    if probability == 0.5 {
        return 0.0;
    }
    -bisect(|z| normal_upper(z) > probability, 0.0, 40.0)
}

/// P(T > t) of Student's T with `freedom` degrees of freedom.
pub(crate) fn student_upper(t: f64, freedom: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - student_upper(-t, freedom);
    }
    // t² may overflow to infinity; the tail is then correctly 0
    0.5 * incomplete_beta(freedom / 2.0, 0.5, freedom / (freedom + t * t))
}

/// The t ≥ 0 with P(|T| > t) = `outside`, for `outside` in (0, 1].
pub(crate) fn student_two_sided(outside: f64, freedom: f64) -> f64 {
    let mut high = 1.0;
    while student_upper(high, freedom) > outside / 2.0 && high < 1e150 {
        high *= 2.0;
    }
    bisect(|t| student_upper(t, freedom) > outside / 2.0, 0.0, high)
}

/// P(X ≥ k) of a binomial X: `n` trials, each a success with probability `p`.
pub(crate) fn binomial_at_least(k: u64, n: u64, p: f64) -> f64 {
    match k {
        0 => 1.0,
        k if k > n => 0.0,
        k => incomplete_beta(k as f64, (n - k) as f64 + 1.0, p),
    }
}

/// The regularised incomplete beta function I_x(a, b).
fn incomplete_beta(a: f64, b: f64, x: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front =
        libm::lgamma(a + b) - libm::lgamma(a) - libm::lgamma(b) + a * libm::log(x) + b * libm::log1p(-x);
    // the fraction converges fast only left of the mean; right of it the mirror image does
    if x < (a + 1.0) / (a + b + 2.0) {
        libm::exp(front) * beta_fraction(a, b, x) / a
    } else {
        1.0 - libm::exp(front) * beta_fraction(b, a, 1.0 - x) / b
    }
}

/// The continued fraction of the incomplete beta function, by the modified Lentz recurrence.
fn beta_fraction(a: f64, b: f64, x: f64) -> f64 {
    let away_from_zero = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut upper = 1.0;
    let mut lower = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = lower;
    for term in 1..=TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut factor = 1.0;
        for coefficient in [even, odd] {
            lower = 1.0 / away_from_zero(1.0 + coefficient * lower);
            upper = away_from_zero(1.0 + coefficient / upper);
            factor = upper * lower;
            fraction *= factor;
        }
        if (factor - 1.0).abs() < 1e-16 {
            break;
        }
    }
    fraction
}

/// The point of `[low, high]` where `left_of` turns from true to false, to the last float.
fn bisect(left_of: impl Fn(f64) -> bool, mut low: f64, mut high: f64) -> f64 {
    loop {
        let middle = low + (high - low) / 2.0;
        if middle <= low || middle >= high {
            return high;
        }
        if left_of(middle) { low = middle } else { high = middle }
    }
}

#[cfg(test)]
mod test {
    use super::*;
    use core::f64::consts::PI;

    fn close(found: f64, expected: f64, relative: f64) {
        assert!((found - expected).abs() <= relative * expected.abs(), "{found} is not {expected}");
    }

    #[test]
    fn student_agrees_with_its_closed_forms() {
        for outside in [0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.001] {
            let p: f64 = 1.0 - outside / 2.0;
            close(student_two_sided(outside, 1.0), libm::tan(PI * (p - 0.5)), 1e-12); // Cauchy
            let two = (2.0 * p - 1.0) * libm::sqrt(2.0 / (4.0 * p * (1.0 - p)));
            close(student_two_sided(outside, 2.0), two, 1e-12);
            let four_alpha = libm::sqrt(4.0 * p * (1.0 - p));
            let four = 2.0 * libm::sqrt(libm::cos(libm::acos(four_alpha) / 3.0) / four_alpha - 1.0);
            close(student_two_sided(outside, 4.0), four, 1e-12);
        }
    }

    #[test]
    fn student_agrees_with_the_printed_table() {
        // NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, column 0.975
        let table = [(3, 3.182), (5, 2.571), (9, 2.262), (19, 2.093), (29, 2.045), (60, 2.000), (100, 1.984)];
        for (freedom, t) in table {
            assert!((student_two_sided(0.05, f64::from(freedom)) - t).abs() < 0.0005, "{freedom}");
        }
    }

    #[test]
    fn normal_agrees_with_the_printed_table() {
        // NIST/SEMATECH e-Handbook, 1.3.6.7.1, to its printed digits; 1.959964 is the usual 95 % point
        close(normal_lower(1.0), 0.841_344_746_068_543, 1e-14);
        close(normal_quantile(0.975), 1.959_963_984_540_054, 1e-14);
        close(normal_quantile(1e-9), -5.997_807_015_007_67, 1e-12);
        assert_eq!(normal_quantile(0.5), 0.0);
        assert_eq!(normal_quantile(0.25), -normal_quantile(0.75));
        assert_eq!(normal_quantile(0.0), f64::NEG_INFINITY);
        assert_eq!(normal_quantile(1.0), f64::INFINITY);
    }

    #[test]
    fn student_tends_to_the_normal_as_its_expansion_says() {
        // Abramowitz & Stegun 26.7.5, the first two terms
        let z = normal_quantile(0.975);
        for freedom in [1e4, 1e5, 1e6] {
            close(student_two_sided(0.05, freedom), z + z * (z * z + 1.0) / (4.0 * freedom), 1e-7);
        }
    }

    #[test]
    fn binomial_tail_is_the_sum_of_its_terms() {
        for n in 1..=30u64 {
            for p in [0.001, 0.1, 0.5, 0.99] {
                // P(X = i) by the recurrence over i, from (1 − p)ⁿ, then summed from above
                let mut term = (0..n).fold(1.0, |product, _| product * (1.0 - p));
                let mut terms = vec![term];
                for i in 1..=n {
                    term *= (n - i + 1) as f64 / i as f64 * p / (1.0 - p);
                    terms.push(term);
                }
                for k in 0..=n {
                    let expected: f64 = terms[k as usize..].iter().rev().sum();
                    let found = binomial_at_least(k, n, p);
                    assert!((found - expected).abs() <= 1e-12 + 1e-9 * expected, "{k} of {n} at {p}");
                }
                assert_eq!(binomial_at_least(n + 1, n, p), 0.0);
            }
        }
    }

    #[test]
    fn binomial_tail_of_a_billion_trials_is_that_of_the_normal() {
        let n = 1_000_000_000u64;
        let deviation = libm::sqrt(n as f64 * 0.25);
        let k = n / 2 + (2.0 * deviation) as u64;
        close(binomial_at_least(k, n, 0.5), normal_upper(2.0), 1e-3);
    }
}
