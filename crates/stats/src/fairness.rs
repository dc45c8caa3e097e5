//! Fairness: how evenly several users share a supply.

/// Jain's fairness index of the shares of several users: (Σx)² ÷ (n Σx²). It is 1 if all shares are equal, and *k*/*n*
/// if *k* of *n* users share everything equally; it has no unit. Returns `None` if all shares are zero.
///
/// Source: R. Jain, D.-M. Chiu, W. Hawe, "A Quantitative Measure of Fairness and Discrimination for Resource Allocation
/// in Shared Computer Systems", DEC Research Report TR-301, 1984.
///
/// ```
/// use lanetwin_stats::jain;
/// assert_eq!(jain(&[7.0, 7.0, 7.0]), Some(1.0));
/// assert_eq!(jain(&[5.0, 0.0, 0.0, 0.0]), Some(0.25));
/// assert_eq!(jain(&[0.0, 0.0]), None);
/// ```
#[must_use]
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_lies_between_one_user_and_all_and_knows_no_unit(shares in prop::collection::vec(1e-3..1e6_f64, 1..20)) {
            let index = jain(&shares).unwrap();
            prop_assert!(index >= 1.0 / shares.len() as f64 - 1e-12 && index <= 1.0 + 1e-12);
            let scaled: Vec<f64> = shares.iter().map(|share| share * 8.0).collect();
            prop_assert!((jain(&scaled).unwrap() - index).abs() < 1e-12);
        }
    }

    #[test]
    fn some_who_share_everything_are_as_fair_as_they_are_many() {
        for n in 1..=16_u32 {
            for k in 1..=n {
                let shares: Vec<f64> = (0..n).map(|i| if i < k { 3.0 } else { 0.0 }).collect();
                assert_eq!(jain(&shares), Some(f64::from(k) / f64::from(n)));
            }
        }
        assert_eq!(jain(&[]), None);
    }
}
