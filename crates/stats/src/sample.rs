//! Mean and spread of a handful of floats, in one fixed order of additions.
//!
//! Every sum is taken over deviations from the first value. Equal values then have *exactly* that value as mean and
//! *exactly* zero spread, which a plain sum divided by `n` does not guarantee (three times 0.1 is not 0.3).

/// The arithmetic mean; `None` for no values.
pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    let first = *values.first()?;
    let deviations: f64 = values.iter().map(|value| value - first).sum();
    Some(first + deviations / values.len() as f64)
}

/// The mean of a resample in which `values[i]` occurs `times[i]` times, `total` draws in all.
///
/// Summed in index order, whatever the order of the draws, so that equal resamples have equal means.
pub(crate) fn weighted_mean(values: &[f64], times: &[u32], total: u32) -> f64 {
    let first = values[0];
    let deviations: f64 = values.iter().zip(times).map(|(value, &n)| f64::from(n) * (value - first)).sum();
    first + deviations / f64::from(total)
}

/// Unbiased estimate of the variance (divisor `n − 1`); `None` for fewer than two values.
pub(crate) fn variance(values: &[f64]) -> Option<f64> {
    if values.len() < 2 {
        return None;
    }
    let centre = mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre) * (value - centre)).sum();
    Some(squares / (values.len() - 1) as f64)
}

/// The standard error of the mean; `None` for fewer than two values.
pub(crate) fn standard_error(values: &[f64]) -> Option<f64> {
    Some(libm::sqrt(variance(values)? / values.len() as f64))
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn equal_values_have_their_own_mean_and_no_spread() {
        for n in 1..50 {
            let values = vec![0.1; n];
            assert_eq!(mean(&values), Some(0.1));
            assert_eq!(variance(&values), (n > 1).then_some(0.0));
        }
    }

    #[test]
    fn nothing_has_no_mean_and_one_value_no_spread() {
        assert_eq!(mean(&[]), None);
        assert_eq!(variance(&[3.0]), None);
        assert_eq!(standard_error(&[3.0]), None);
    }

    #[test]
    fn spread_of_the_first_five_squares() {
        let squares = [1.0, 4.0, 9.0, 16.0, 25.0];
        assert_eq!(mean(&squares), Some(11.0));
        assert_eq!(variance(&squares), Some(93.5)); // (100 + 49 + 4 + 25 + 196) / 4
        assert_eq!(weighted_mean(&squares, &[0, 2, 0, 0, 3], 5), 16.6);
    }
}
