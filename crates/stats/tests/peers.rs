//! Does a stranger agree? Numbers computed once with SciPy 1.17.1.

use lanetwin_stats::bootstrap::Method;
use lanetwin_stats::{Change, Confidence, paired_ratio};

/// Skewed pairs, the last two of the variant far out.
const BASELINE: [f64; 10] = [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0];
const VARIANT: [f64; 10] = [2.0, 1.0, 5.0, 4.0, 9.0, 6.0, 20.0, 8.0, 10.0, 31.0];

fn change(n: usize, seed: u64) -> Change {
    paired_ratio(&BASELINE[..n], &VARIANT[..n], Confidence::P95, seed).expect("the pairs are positive")
}

/// `scipy.stats.bootstrap((b, v), log(mean v) − log(mean b), paired=True, method="BCa", n_resamples=400000)` at the
/// confidence level 1 − 2 Φ(−t(0.975, 9) √(10/9)), to which the expansion amounts.
#[test]
fn the_bootstrap_interval_is_scipys() {
    let (low, high) = (0.107_630_664, 0.991_366_758);
    for seed in 0..10 {
        let range = change(10, seed);
        assert_eq!(range.method(), Method::Bca);
        let range = range.log_interval().unwrap();
        // 10,000 resamples put about 100 beyond each end: the ends wander by some hundredths of the width
        assert!((range.low() - low).abs() < 0.05 * (high - low), "{range:?} with seed {seed}");
        assert!((range.high() - high).abs() < 0.05 * (high - low), "{range:?} with seed {seed}");
    }
}

/// `scipy.stats.t` on vᵢ/mean v − bᵢ/mean b.
#[test]
fn the_interval_and_probability_by_student_are_scipys() {
    let five = change(5, 1);
    assert_eq!(five.method(), Method::Student);
    let range = five.log_interval().unwrap();
    assert!((range.low() + 0.149_304_463_848_969_56).abs() < 1e-13);
    assert!((range.high() - 0.822_248_937_091_395_5).abs() < 1e-13);
    assert!((five.p_value().unwrap() - 0.126_818_308_151_084_97).abs() < 1e-13);
    assert!((change(10, 1).p_value().unwrap() - 0.023_554_912_844_556_998).abs() < 1e-13);
}
