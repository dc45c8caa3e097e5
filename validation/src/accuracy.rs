//! Relative errors and their mean.

/// Relative error of `predicted` against `published` \[%\].
#[must_use]
pub fn error_pct(predicted: f64, published: f64) -> f64 {
    100.0 * (predicted - published) / published
}

/// The mean of the absolute errors \[%\]; `None` if there are none.
#[must_use]
pub fn mape(errors_pct: impl IntoIterator<Item = f64>) -> Option<f64> {
    let (sum, n) = errors_pct.into_iter().fold((0.0, 0), |(sum, n), error| (sum + error.abs(), n + 1));
    (n > 0).then(|| sum / f64::from(n))
}

/// The largest absolute error \[%\]; zero if there are none.
#[must_use]
pub fn worst(errors_pct: impl IntoIterator<Item = f64>) -> f64 {
    errors_pct.into_iter().fold(0.0, |worst, error| worst.max(error.abs()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_much_is_above_and_counts_as_much_as_too_little() {
        let errors = [error_pct(110.0, 100.0), error_pct(80.0, 100.0)];
        assert_eq!(errors, [10.0, -20.0]);
        assert_eq!(mape(errors), Some(15.0));
        assert_eq!(worst(errors), 20.0);
        assert_eq!(mape([]), None);
    }
}
