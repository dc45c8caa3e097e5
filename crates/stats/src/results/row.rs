//! A row: one metric of one case.

use super::steadiness::Steadiness;
use lanetwin_units::Better;
use serde::{Deserialize, Serialize};

/// One metric of one case.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name within the workload ("64 B").
    pub case: String,
    /// The one of several devices to which it belongs; `None` for all devices together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Position of the case on the axis of a sweep; `None` outside a sweep.
    #[serde(default)]
    pub x: Option<X>,
    /// What was measured ("throughput").
    pub metric: String,
    /// Its unit ("Gb/s").
    pub unit: String,
    /// Which direction is better; a metric without one is not judged.
    #[serde(default)]
    pub better: Better,
    /// Whether it restates another row of the case, in other units or for a part of it. It is then not judged beside
    /// that row.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restates: bool,
    /// Its value, the mean over the repeats.
    pub value: f64,
    /// Lower end of the interval: over the repeats or, for a single repeat, over batches of its measurement. For steady
    /// loads without a stated length it is the wider of both, since repeats that begin alike may share an error. `None`
    /// for a single repeat without batches.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end of the interval, likewise.
    #[serde(default)]
    pub high: Option<f64>,
    /// Number of repeats.
    pub n: u32,
    /// Simulated length of the measurement, averaged over the repeats \[s\]; `None` for measured hardware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Number of operations measured, in all repeats together: I/Os, transfers, lines of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Whether the metric was steady during the measurement, in every repeat; `None` for measured hardware.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steadiness>,
    /// Pairs of percent and value, in the row's unit; empty if the metric has no distribution.
    #[serde(default)]
    pub percentiles: Vec<(f64, f64)>,
    /// Percent, lower and upper end of the interval of each percentile, in the row's unit. Percentiles with too few
    /// operations are left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentile_intervals: Vec<(f64, f64, f64)>,
    /// Percentiles that are not settled: the interval reaches more than 10 % to one side, or there is none. Empty for
    /// measured hardware.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsettled: Vec<f64>,
    /// The value in each repeat, in the order of the repeats; a paired comparison needs them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub samples: Vec<f64>,
}

/// A point on the axis of a sweep.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct X {
    /// What is swept ("size").
    pub name: String,
    /// Its value.
    pub value: f64,
    /// Its unit ("B").
    pub unit: String,
    /// The curve to which it belongs, if several share the axis; otherwise empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub curve: String,
}
