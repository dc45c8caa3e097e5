//! One long run: the end of its warm-up, and an interval of its mean that allows for correlation of neighbours.
//!
//! ```text
//!  observations ─► mser5() ─► discard the first d ─► batch_means() ─► mean ± t · s/√k
//!  ▂▃▅▆▇█▇█▇█▇█▇█  └ warm ┘   ▇█▇█▇█▇█▇█▇█           ┃b₁┃b₂┃b₃┃…┃bₖ┃
//! ```
//!
//! **MSER-5** (White, "An effective truncation heuristic for bias reduction in simulation output", Simulation 69(6),
//! 1997; White, Cobb & Spratt, WSC 2000) averages the series in fives and cuts where the squared standard error of what
//! is left is least. A cut in the second half means that the run never settled, and is an error, not an answer.
//!
//! **Batch means** (Law, Simulation Modeling and Analysis, 5th ed., section 9.5.3): means of long consecutive batches
//! are nearly independent, so Student's t applies to them.
//!
//! Two published rules about the rounds or seconds of a test: [`snia_rule`] and [`fio_rule`].
//!
//! ```
//! use lanetwin_stats::{Confidence, steady};
//! let run: Vec<f64> = (0..400).map(|i| if i < 60 { f64::from(i) } else { 100.0 + f64::from(i % 7) }).collect();
//! let warm = steady::mser5(&run).unwrap();
//! assert_eq!(warm, 60);
//! let means = steady::batch_means(&run[warm..], 20, Confidence::P95).unwrap();
//! assert!(means.interval.contains(103.0) && means.interval.width() < 0.5);
//! ```

mod rules;

pub use rules::{FioFound, FioRule, Measure, SNIA_ROUNDS, SniaFound, SniaRule, fio_rule, snia_rule};

use crate::confidence::{Confidence, Interval};
use crate::sample;

/// Observations averaged into one before the search, the 5 of MSER-5.
pub const MSER_BATCH: usize = 5;

/// Batches below which a cut would be chosen by noise (assumed: ten).
pub const MSER_LEAST_BATCHES: usize = 10;

/// Batches at the end that are not candidates for the cut: the error of a few similar values is accidentally small
/// (Hoad, Robinson & Davies, "Automated selection of warm-up length", J. Oper. Res. Soc. 61, 2010).
const TAIL_BATCHES: usize = 5;

/// The usual number of batches: with 10 to 30 batches little is lost by batching (Schmeiser, Oper. Res. 30, 1982).
pub const BATCHES: usize = 20;

/// Why no warm-up could be found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NotSteady {
    /// The series is too short.
    #[error("{observations} observations are too few to find the end of the warm-up; {needed} are needed")]
    TooShort {
        /// Number of observations.
        observations: usize,
        /// Least number of observations needed.
        needed: usize,
    },
    /// The best cut lies in the second half of the series: the run was still warming up, or drifts.
    #[error(
        "no steady state: the best cut would discard {discarded} of {observations} observations; run longer"
    )]
    NeverSettled {
        /// Observations before that cut.
        discarded: usize,
        /// Number of observations.
        observations: usize,
    },
    /// An observation is NaN or infinite.
    #[error("observation {index} is not a finite number")]
    NotFinite {
        /// Index of the observation, from 0.
        index: usize,
    },
}

/// How many observations at the start belong to the warm-up (a multiple of five), by MSER-5.
///
/// A constant series has no warm-up. Of several equally good cuts the earliest is taken.
///
/// # Errors
/// If the series is too short, does not settle, or has a value that is not finite.
pub fn mser5(observations: &[f64]) -> Result<usize, NotSteady> {
    if let Some(index) = observations.iter().position(|value| !value.is_finite()) {
        return Err(NotSteady::NotFinite { index });
    }
    let needed = MSER_BATCH * MSER_LEAST_BATCHES;
    if observations.len() < needed {
        return Err(NotSteady::TooShort { observations: observations.len(), needed });
    }
    let batches: Vec<f64> = observations.chunks_exact(MSER_BATCH).filter_map(sample::mean).collect();
    let errors = squared_errors_from_each(&batches);
    let candidates = &errors[..=batches.len() - TAIL_BATCHES];
    let mut best = 0;
    for (cut, error) in candidates.iter().enumerate() {
        if *error < candidates[best] {
            best = cut;
        }
    }
    let discarded = best * MSER_BATCH;
    if best > batches.len() / 2 {
        return Err(NotSteady::NeverSettled { discarded, observations: observations.len() });
    }
    Ok(discarded)
}

/// The MSER statistic of the values from each d on: Σ (x − mean)² / (n − d)².
///
/// Runs from the back with Welford's recurrence: one pass, and no difference of large sums.
fn squared_errors_from_each(values: &[f64]) -> Vec<f64> {
    let mut errors = vec![0.0; values.len()];
    let (mut mean, mut squares) = (0.0, 0.0);
    for (kept, (value, error)) in values.iter().zip(&mut errors).rev().enumerate() {
        let n = (kept + 1) as f64;
        let away = value - mean;
        mean += away / n;
        squares += away * (value - mean);
        *error = squares / (n * n);
    }
    errors
}

/// A mean with an interval that allows for correlation of neighbours.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct BatchMeans {
    /// The mean of all batches.
    pub mean: f64,
    /// Student's interval of that mean, with `batches − 1` degrees of freedom.
    pub interval: Interval,
    /// Number of batches.
    pub batches: usize,
    /// Observations in each batch.
    pub batch_size: usize,
    /// Correlation of a batch with the next, −1 to 1. Well above 2/√batches, the batches are too short and the interval
    /// is too narrow.
    pub lag1: f64,
}

/// The mean of a steady series from `batches` equal, consecutive batches.
///
/// Observations that do not fill a batch are dropped at the front, where a rest of the warm-up would be. `None` for
/// fewer than two batches, for fewer observations than batches, and for values that are not finite.
#[must_use]
pub fn batch_means(observations: &[f64], batches: usize, confidence: Confidence) -> Option<BatchMeans> {
    if batches < 2 || observations.len() < batches {
        return None;
    }
    let batch_size = observations.len() / batches;
    let kept = &observations[observations.len() - batch_size * batches..];
    let means: Vec<f64> = kept.chunks_exact(batch_size).filter_map(sample::mean).collect();
    Some(BatchMeans {
        mean: sample::mean(&means)?,
        interval: crate::interval::mean(&means, confidence)?,
        batches,
        batch_size,
        lag1: lag1(&means)?,
    })
}

/// The best line through equidistant values.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Trend {
    /// Its rise from the first value to the last.
    pub rise: f64,
    /// The standard error of the rise, if the residuals are independent of each other.
    pub error: f64,
}

/// The best line through a series, by least squares. `None` for fewer than three values.
#[must_use]
pub fn trend(values: &[f64]) -> Option<Trend> {
    let n = values.len() as f64;
    if values.len() < 3 {
        return None;
    }
    let (mean, middle) = (sample::mean(values)?, (n - 1.0) / 2.0);
    let at = |(i, value): (usize, &f64)| (i as f64 - middle, value - mean);
    let spread: f64 = values.iter().enumerate().map(at).map(|(x, _)| x * x).sum();
    let slope = values.iter().enumerate().map(at).map(|(x, y)| x * y).sum::<f64>() / spread;
    let squares: f64 =
        values.iter().enumerate().map(at).map(|(x, y)| (y - slope * x) * (y - slope * x)).sum();
    let error = (squares / (n - 2.0) / spread).sqrt();
    Some(Trend { rise: slope * (n - 1.0), error: error * (n - 1.0) })
}

/// Correlation of each value with the next; 0 for a constant series.
fn lag1(values: &[f64]) -> Option<f64> {
    let centre = sample::mean(values)?;
    let squares: f64 = values.iter().map(|value| (value - centre) * (value - centre)).sum();
    let products: f64 = values.windows(2).map(|pair| (pair[0] - centre) * (pair[1] - centre)).sum();
    Some(if squares == 0.0 { 0.0 } else { products / squares })
}

#[cfg(test)]
mod test {
    use super::*;

    /// A sawtooth around `level`: not constant, and with no randomness to be lucky with.
    fn sawtooth(n: usize, level: f64) -> Vec<f64> {
        (0..n).map(|i| level + (i * 7 % 11) as f64 * 0.1).collect()
    }

    /// By hand: 1, 2, 4, 5 have the line 3 ± 1.4 x; away from it by 0.1, −0.3, 0.3 and −0.1, 0.2 squared over two
    /// degrees of freedom and Σ x² = 5.
    #[test]
    fn the_best_line_rises_by_its_slope() {
        let Trend { rise, error } = trend(&[1.0, 2.0, 4.0, 5.0]).expect("four values");
        assert!((rise - 4.2).abs() < 1e-12 && (error - 3.0 * (0.2_f64 / 2.0 / 5.0).sqrt()).abs() < 1e-12);
        assert_eq!(trend(&[7.0; 5]), Some(Trend { rise: 0.0, error: 0.0 }));
        assert_eq!(trend(&[1.0, 2.0]), None);
    }

    #[test]
    fn a_step_is_cut_where_it_is() {
        for warm in [0, 5, 50, 200] {
            let mut run = vec![0.0; warm];
            run.extend(sawtooth(500, 40.0));
            assert_eq!(mser5(&run), Ok(warm));
        }
    }

    #[test]
    fn a_ramp_without_an_end_never_settles() {
        let mut late = sawtooth(400, 0.0);
        late.extend(vec![50.0; 100]);
        assert_eq!(mser5(&late), Err(NotSteady::NeverSettled { discarded: 400, observations: 500 }));
    }

    #[test]
    fn a_constant_run_has_no_warm_up() {
        assert_eq!(mser5(&[0.1; 50]), Ok(0));
        assert_eq!(mser5(&[0.1; 49]), Err(NotSteady::TooShort { observations: 49, needed: 50 }));
        let mut broken = [0.1; 50];
        broken[7] = f64::NAN;
        assert_eq!(mser5(&broken), Err(NotSteady::NotFinite { index: 7 }));
    }

    #[test]
    fn the_statistic_is_its_definition() {
        let values = sawtooth(40, 3.0);
        for (cut, found) in squared_errors_from_each(&values).into_iter().enumerate() {
            let kept = &values[cut..];
            let n = kept.len() as f64;
            let mean = kept.iter().sum::<f64>() / n;
            let expected = kept.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / (n * n);
            assert!((found - expected).abs() < 1e-12, "{cut}");
        }
    }

    #[test]
    fn batches_drop_the_odd_ones_at_the_front() {
        let means = batch_means(&[99.0, 1.0, 3.0, 5.0, 7.0], 2, Confidence::P95).unwrap();
        assert_eq!((means.mean, means.batch_size, means.batches), (4.0, 2, 2));
        assert_eq!(means.lag1, -0.5);
        let constant = batch_means(&[0.1; 100], BATCHES, Confidence::P95).unwrap();
        assert_eq!((constant.interval, constant.lag1), (Interval::new(0.1, 0.1).unwrap(), 0.0));
    }

    #[test]
    fn too_little_gives_nothing() {
        assert_eq!(batch_means(&[1.0, 2.0], 1, Confidence::P95), None);
        assert_eq!(batch_means(&[1.0, 2.0], 3, Confidence::P95), None);
        assert_eq!(batch_means(&[1.0, f64::NAN], 2, Confidence::P95), None);
    }
}
