//! What CXL links were busy with.

use serde::{Deserialize, Serialize};

/// What one direction of one CXL link was busy with; fractions of the time, 0 to 1, that sum to 1 but for the stall,
/// which is a part of `idle`.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct CxlUse {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The link's name.
    pub link: String,
    /// From where to where ("host → exp").
    pub direction: String,
    /// Slots with messages: requests, or responses.
    pub messages: f64,
    /// Slots of data.
    pub data: f64,
    /// Slots of flits that carried something in others.
    pub empty: f64,
    /// Flits that returned credits, and nothing else.
    pub credits: f64,
    /// Flits of retries, and those that were sent again.
    pub retry: f64,
    /// Flits of CXL.io.
    pub io: f64,
    /// Nothing, or what the physical layer needs.
    pub idle: f64,
    /// Messages waited for credits: the sum over both classes, which can wait at the same time.
    pub credit_stall: f64,
    /// Mean number of messages that wait for a flit.
    pub mean_queue: f64,
}
