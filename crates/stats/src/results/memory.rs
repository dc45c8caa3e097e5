//! What only loads of memory have: how fast each placement is beside the first, and how warm the pages of caches are.

use serde::{Deserialize, Serialize};

/// How fast a case is beside the one that it is held against: 1 is as fast.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Relative {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// What speed is: the metric ("throughput", "program time").
    pub metric: String,
    /// The variant of the other.
    pub baseline_variant: String,
    /// The case of the other: the same on the first placement, or the same of the first variant.
    pub baseline_case: String,
    /// How fast: 1.1 moves a tenth more in the same time, or takes 1/1.1 of the time.
    pub value: f64,
    /// Lower end of its interval; none of a single repeat.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end of its interval; none of a single repeat.
    #[serde(default)]
    pub high: Option<f64>,
}

/// How many cached pages of a device have which temperature at the end of a case: the accesses that the device counts
/// of a page, halved for each half-life since.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Temperatures {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The device.
    pub device: String,
    /// Pages of temperature 0, 1, 2 to 3, 4 to 7, ….
    pub pages: Vec<u64>,
}
