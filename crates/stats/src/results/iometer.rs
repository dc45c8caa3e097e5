//! Results in the metrics of Iometer.

use serde::{Deserialize, Serialize};

/// One of Iometer's metrics of one case: all repeats taken together, as one test.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct IometerMetric {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The manager, the worker (`HOST/Worker 1`) or its target (`HOST/Worker 1@ssd`) to which the metric belongs; empty
    /// for the total over all.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// The family to which Iometer assigns it ("Megabytes per Second").
    pub family: String,
    /// Its name in Iometer ("Total MBs per Second (Decimal)").
    pub metric: String,
    /// Its unit ("MB/s"); empty for a count.
    pub unit: String,
    /// Its value; `None` if it is not modelled.
    pub value: Option<f64>,
    /// Why there is no value, in a sentence; empty if there is one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub not_modelled: String,
}

/// A file in the format of another program.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Attachment {
    /// Its name, with or without folders: letters, digits, `-`, `_` and `.`, and `/` between them ("iometer-with.csv",
    /// "fio/gen4/rand/4k/randread-1-1.json").
    pub name: String,
    /// Its text, whole.
    pub text: String,
}
