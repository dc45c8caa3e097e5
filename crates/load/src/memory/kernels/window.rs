//! The part of a long run that is simulated, and the uncertainty of its mean.
//!
//! A class E kernel makes about 10¹² steps. [`Window::Stretches`] simulates disjoint stretches of equal length instead,
//! spread over one iteration by systematic sampling: the iteration is cut into `count` parts of equal weight (about the
//! same number of lines), and a stretch begins at the same share of each part, drawn from the seed. All threads are in
//! the same loop at the same time, as barriers would keep them.
//!
//! The mean over stretches estimates the mean over the run, and the differences between stretches give its error:
//! [`sampled`] computes batch means with a stretch as batch. The interval does not include one error: caches lack the
//! lines that an earlier part of the same loop would have left in them, so that the first lines of a stretch miss more
//! often. A stretch should be several times as long as the reuse distances of interest; doubling the length shows
//! whether it is long enough.

use lanetwin_kernel::Stream;
use lanetwin_stats::Confidence;
use lanetwin_stats::steady::{BatchMeans, batch_means};

/// The part of a run that is simulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Window {
    /// The whole run.
    Whole,
    /// Disjoint stretches.
    Stretches {
        /// Number of stretches.
        count: u32,
        /// The length of each stretch for each thread \[steps\].
        steps: u64,
    },
}

impl Window {
    /// Whether it has no steps.
    pub(super) const fn is_empty(self) -> bool {
        matches!(self, Self::Stretches { count: 0, .. } | Self::Stretches { steps: 0, .. })
    }
}

/// Where a stretch begins.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Place {
    /// Index of the loop in the body.
    pub(super) of: usize,
    /// Share of the loop before it, from 0 to 1.
    pub(super) share: f64,
}

/// Places of `count` stretches in loops of these weights.
pub(super) fn places(weights: &[u64], count: u32, seed: u64) -> Vec<Place> {
    let total: u64 = weights.iter().sum();
    let start = 1.0 - Stream::new(seed, "kernels", "window").unit();
    let place = |stretch: u32| {
        let at = (f64::from(stretch) + start) / f64::from(count) * total as f64;
        let mut before = 0.0;
        for (of, weight) in weights.iter().enumerate() {
            let weight = *weight as f64;
            if at < before + weight {
                return Place { of, share: (at - before) / weight };
            }
            before += weight;
        }
        Place { of: 0, share: 0.0 }
    };
    (0..count).map(place).collect()
}

/// The mean of one value for each stretch, with its 95 % interval; `None` for fewer than two stretches.
#[must_use]
pub fn sampled(stretches: &[f64]) -> Option<BatchMeans> {
    batch_means(stretches, stretches.len(), Confidence::P95)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stretches_are_spread_by_weight() {
        let places = places(&[100, 300, 0, 600], 10, 1);
        let in_loop = |of| places.iter().filter(|place| place.of == of).count();
        assert_eq!([0, 1, 2, 3].map(in_loop), [1, 3, 0, 6]);
        assert!(places.iter().all(|place| (0.0..1.0).contains(&place.share)));
        assert_ne!(places, super::places(&[100, 300, 0, 600], 10, 2), "the start is drawn");
    }

    #[test]
    fn an_interval_needs_two_stretches() {
        assert!(sampled(&[1.0]).is_none());
        let means = sampled(&[1.0, 3.0]).expect("two");
        assert!((means.mean - 2.0).abs() < 1e-12 && means.interval.contains(2.0));
    }
}
