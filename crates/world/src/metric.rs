//! A metric of the repeats of a case, declared where it is made.

use lanetwin_units::Better;
use std::borrow::Cow;

/// A metric: its name, its unit, which way is better, its value in each repeat.
pub(crate) struct Metric {
    pub(crate) name: Cow<'static, str>,
    pub(crate) unit: &'static str,
    pub(crate) better: Better,
    /// Whether it says again what another metric says.
    pub(crate) restates: bool,
    pub(crate) samples: Vec<f64>,
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
        Self { name: name.into(), unit, better, restates: false, samples, percentiles: Vec::new() }
    }
    /// The same with percentiles of a distribution.
    pub(crate) fn with_percentiles(self, percentiles: Vec<(f64, f64)>) -> Self {
        Self { percentiles, ..self }
    }
    /// The same, which says in other units, or of a part, what another metric says.
    pub(crate) fn restating(self) -> Self {
        Self { restates: true, ..self }
    }
}
