//! A metric of the repeats of a case, declared where it is made.

use lanetwin_stats::steady::batch_means;
use lanetwin_stats::{Confidence, Interval, interval};
use lanetwin_units::Better;
use std::borrow::Cow;

/// Neighbours that resemble each other more are taken to resemble each other so much: what ten parts say of it is
/// uncertain itself.
const MOST_ALIKE: f64 = 0.8;

/// A metric: its name, its unit, which way is better, its value in each repeat.
pub(crate) struct Metric {
    pub(crate) name: Cow<'static, str>,
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    /// Whether it says again what another metric says.
    pub(crate) restates: bool,
    pub(crate) samples: Vec<f64>,
    /// Its value in equal parts of the only repeat, if there is only one and it has parts.
    pub(crate) batches: Vec<f64>,
    pub(crate) percentiles: Vec<(f64, f64)>,
}

impl Metric {
    /// A metric without percentiles, that says what no other says.
    pub(crate) fn new(
        name: impl Into<Cow<'static, str>>,
        unit: &'static str,
        better: Better,
        samples: Vec<f64>,
    ) -> Self {
        Self {
            name: name.into(),
            unit,
            better,
            restates: false,
            samples,
            batches: Vec::new(),
            percentiles: Vec::new(),
        }
    }
    /// The same with percentiles of a distribution.
    pub(crate) fn with_percentiles(self, percentiles: Vec<(f64, f64)>) -> Self {
        Self { percentiles, ..self }
    }
    /// The same with its value in equal parts of the only repeat.
    pub(crate) fn with_batches(self, batches: Vec<f64>) -> Self {
        Self { batches, ..self }
    }
    /// The interval of its mean: over the repeats, or over parts of the only one. Parts that resemble their neighbours
    /// count for fewer (as of an autoregressive process of the first order).
    pub(crate) fn interval(&self, value: f64) -> Option<Interval> {
        if self.samples.len() > 1 {
            return interval::mean(&self.samples, Confidence::P95);
        }
        let means = batch_means(&self.batches, self.batches.len(), Confidence::P95)?;
        let alike = means.lag1.clamp(0.0, MOST_ALIKE);
        let half = means.interval.width() / 2.0 * ((1.0 + alike) / (1.0 - alike)).sqrt();
        Interval::around(value, half)
    }
    /// The same, which says in other units, or of a part, what another metric says.
    pub(crate) fn restating(self) -> Self {
        Self { restates: true, ..self }
    }
}
