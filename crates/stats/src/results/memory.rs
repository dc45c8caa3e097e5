//! Results of memory loads only: the speed of each placement relative to the first, and the temperatures of cached
//! pages.

use serde::{Deserialize, Serialize};

/// The speed of a case relative to a baseline: 1 is as fast.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Relative {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The metric by which speed is compared ("throughput", "program time").
    pub metric: String,
    /// The variant of the baseline.
    pub baseline_variant: String,
    /// The case of the baseline: the same case on the first placement, or of the first variant.
    pub baseline_case: String,
    /// The relative speed: 1.1 moves a tenth more in the same time, or takes 1/1.1 of the time.
    pub value: f64,
    /// Lower end of its interval; `None` for a single repeat.
    #[serde(default)]
    pub low: Option<f64>,
    /// Upper end of its interval; `None` for a single repeat.
    #[serde(default)]
    pub high: Option<f64>,
}

/// Number of a device's cached pages by temperature at the end of a case. The temperature of a page is the number of
/// accesses to it that the device has counted, halved for each half-life since.
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
    /// Number of pages of temperature 0, 1, 2 to 3, 4 to 7, ….
    pub pages: Vec<u64>,
}
