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
    /// Of which of several devices it tells; none of all of them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Where the case lies on the axis of a sweep; none outside one.
    #[serde(default)]
    pub x: Option<X>,
    /// What was measured ("throughput").
    pub metric: String,
    /// Its unit ("Gb/s").
    pub unit: String,
    /// Which way is the good one; a metric that does not say is not judged.
    #[serde(default)]
    pub better: Better,
    /// Whether it says again, in other units or of a part, what another row of the case says: it is then not judged
    /// beside that.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub restates: bool,
    /// Its value, the mean over the repeats.
    pub value: f64,
    /// Lower end of the interval: over the repeats; of a single one, over batches of what it has measured. Of
    /// steady loads of no stated length the wider of both: repeats that begin alike may be off alike. None where a
    /// single repeat has no batches.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end of the interval, likewise.
    #[serde(default)]
    pub high: Option<f64>,
    /// How many repeats.
    pub n: u32,
    /// How long was measured, in simulated time, on average over the repeats \[s\]; none of a measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// How many operations were measured, in all repeats together: I/Os, transfers, lines of memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    /// Whether what it tells was steady while it was measured, in every repeat; none of a measurement.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steady: Option<Steadiness>,
    /// Pairs of percent and value, in the row's unit; empty if the metric has no distribution.
    #[serde(default)]
    pub percentiles: Vec<(f64, f64)>,
    /// Percent, lower and upper end of the interval of each percentile that enough operations stand behind, in the
    /// row's unit; of the others there is none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub percentile_intervals: Vec<(f64, f64, f64)>,
    /// The percentiles that are not settled: their intervals reach more than 10 % to a side, or there is none. None is
    /// told of a measurement.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsettled: Vec<f64>,
    /// The value in each repeat, in the order of the repeats: what a paired comparison needs.
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
    /// Which of several curves over the same axis it is on; empty if there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub curve: String,
}
