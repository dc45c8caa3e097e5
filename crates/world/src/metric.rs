//! A metric of the repeats of a case, declared where it is computed.

use crate::tails::{Known, sectioned};
use lanetwin_stats::steady::batch_means;
use lanetwin_stats::{Confidence, Histogram, Interval, interval, tail};
use lanetwin_units::Better;
use std::borrow::Cow;

const PS_PER_NS: f64 = 1e3;

/// A metric: its name, its unit, which way is better, its value in each repeat.
pub(crate) struct Metric {
    pub(crate) name: Cow<'static, str>,
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    /// Whether it restates another metric.
    pub(crate) restates: bool,
    pub(crate) samples: Vec<f64>,
    /// Its value in equal parts of the repeats, each averaged over the repeats, if they have parts.
    pub(crate) batches: Vec<f64>,
    pub(crate) percentiles: Vec<(f64, f64)>,
    /// Percent, lower end, upper end.
    pub(crate) percentile_intervals: Vec<(f64, f64, f64)>,
}

impl Metric {
    /// A metric without percentiles that does not restate another.
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
            percentile_intervals: Vec::new(),
        }
    }
    /// Adds its values in equal parts of the repeats.
    pub(crate) fn with_batches(self, batches: Vec<f64>) -> Self {
        Self { batches, ..self }
    }
    /// Adds the percentiles of a latency \[ns\] over all repeats together. The uncertainty of a percentile follows
    /// from how the values beyond it cluster in time, or, if that is unknown, from how the means of the parts differ.
    pub(crate) fn with_percentiles(self, repeats: &[&Histogram], percents: &[f64], known: &[Known]) -> Self {
        let mut all = Histogram::new();
        repeats.iter().for_each(|one| all.merge(one));
        let percentiles = all.percentiles(percents);
        let percentiles = percentiles.into_iter().map(|(p, at)| (p, at.as_ps() as f64 / PS_PER_NS)).collect();
        let in_ps: Vec<f64> = self.batches.iter().map(|mean| mean * PS_PER_NS).collect();
        let variance = all.variance_ps().unwrap_or(0.0);
        let of_means = tail::values_for_one(&in_ps, all.count(), variance) * neighbours(&self.batches);
        let interval = |percent: f64| {
            let known = known.iter().find(|known| known.percent == percent);
            let each = known.map_or(of_means, Known::each);
            let of_share = tail::interval(repeats, percent, each, Confidence::P95);
            let found = of_share.or_else(|| by_sections(&all, repeats, known?))?;
            let at = all.percentile(percent).map_or(0.0, |at| at.as_ps() as f64);
            let ends = (found.low(), found.high());
            let goes_to = known.into_iter().flat_map(|known| known.goes_to(at));
            let ends = goes_to.fold(ends, |(low, high), to| (low.min(to), high.max(to)));
            Some((percent, ends.0 / PS_PER_NS, ends.1 / PS_PER_NS))
        };
        let told = percents.iter().filter(|percent| **percent < 100.0);
        let percentile_intervals = told.filter_map(|percent| interval(*percent)).collect();
        Self { percentiles, percentile_intervals, ..self }
    }
    /// The interval of its mean, over the repeats or over their parts, whichever is wider: repeats that start from
    /// the same state share its error.
    pub(crate) fn interval(&self, value: f64) -> Option<Interval> {
        let between = interval::mean(&self.samples, Confidence::P95).filter(|_| self.samples.len() > 1);
        let parts = batch_means(&self.batches, self.batches.len(), Confidence::P95);
        let within = parts.and_then(|means| {
            Interval::around(value, means.interval.width() / 2.0 * neighbours(&self.batches).sqrt())
        });
        between.into_iter().chain(within).max_by(|a, b| a.width().total_cmp(&b.width()))
    }
    /// Marks it as restating another metric, in other units or for a part.
    pub(crate) fn restating(self) -> Self {
        Self { restates: true, ..self }
    }
}

/// The interval of a percentile from the parts of repeats or from the repeats, whichever is wider \[ps\].
fn by_sections(all: &Histogram, repeats: &[&Histogram], known: &Known) -> Option<Interval> {
    let at = |of: &Histogram| of.percentile(known.percent).map(|at| at.as_ps() as f64);
    let whole = at(all)?;
    let within = known.half_by_parts(whole)?;
    let of_repeats = repeats.iter().map(|one| at(one)).collect::<Option<Vec<_>>>()?;
    let between = sectioned(&of_repeats, whole).unwrap_or(0.0);
    Interval::around(whole, within.max(between)).map(|interval| interval.of_what(&of_repeats))
}

/// Number of parts that together count as one independent part, because neighbouring parts are correlated (as in a
/// first-order autoregressive process).
fn neighbours(parts: &[f64]) -> f64 {
    tail::neighbours(batch_means(parts, parts.len(), Confidence::P95).map_or(0.0, |means| means.lag1))
}
