//! Utilisation of CXL links.

use serde::{Deserialize, Serialize};

/// Utilisation of one direction of one CXL link: fractions of the time, 0 to 1. They sum to 1, except that
/// `credit_stall` is a part of `idle`.
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
    /// Slots that stayed empty in flits that carried something in other slots.
    pub empty: f64,
    /// Flits that only returned credits.
    pub credits: f64,
    /// Flits of the retry protocol, and flits that were sent again.
    pub retry: f64,
    /// Flits of CXL.io.
    pub io: f64,
    /// No flits, or overhead of the physical layer.
    pub idle: f64,
    /// Messages waited for credits: the sum over both classes, which may wait at the same time.
    pub credit_stall: f64,
    /// Mean number of messages that wait for a flit.
    pub mean_queue: f64,
}
