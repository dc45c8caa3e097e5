//! Links that went down and came back: how long that took, at which rate and width, and what they carried then.

use serde::{Deserialize, Serialize};

/// An outage of a link, in the first repeat of a case.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct LinkOutage {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The link's name.
    pub link: String,
    /// When it went down, from the start of the run \[s\].
    pub at_seconds: f64,
    /// For how long \[s\].
    pub seconds: f64,
    /// What took it down (`hot-reset`); none if the scenario says how long it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// The generation and the lanes that it came back with.
    pub generation: u8,
    /// The lanes.
    pub lanes: u8,
    /// Whether that is what the link was declared with.
    pub whole: bool,
    /// What it carried before, since it was up last or since the start of the run, in its busier direction \[B/s\].
    pub before_bytes_per_second: f64,
    /// What it carried from then on, until it went down again or the measurement ended \[B/s\]; none if it was not up
    /// again before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_bytes_per_second: Option<f64>,
}
