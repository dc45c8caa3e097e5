//! Metrics that the components of a machine report.

use lanetwin_units::Better;
use serde::{Deserialize, Serialize};

/// One metric of one component in one case: a counter, a gauge, or the share of a finite supply that was in use.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct ComponentMetric {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The component's name ("ssd").
    pub component: String,
    /// The metric's name ("row hits").
    pub metric: String,
    /// Its unit ("%"); empty for a number.
    pub unit: String,
    /// Which direction is better.
    pub better: Better,
    /// Its value, the mean over the repeats.
    pub value: f64,
}
