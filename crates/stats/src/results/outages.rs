//! Outages of links: how long they took, and the generation, width and traffic of the link afterwards.

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
    /// Time at which it went down, from the start of the run \[s\].
    pub at_seconds: f64,
    /// Duration of the outage \[s\].
    pub seconds: f64,
    /// Cause of the outage (`hot-reset`); `None` if the scenario gives its duration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// Generation of the link after the outage.
    pub generation: u8,
    /// Lanes of the link after the outage.
    pub lanes: u8,
    /// Whether the link came back with the generation and lanes that the scenario declares.
    pub whole: bool,
    /// Traffic before the outage, since the last one or since the start of the run, in the busier direction \[B/s\].
    pub before_bytes_per_second: f64,
    /// Traffic after the outage, until the next one or the end of the measurement \[B/s\]; `None` if the link did not
    /// come back before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after_bytes_per_second: Option<f64>,
}
