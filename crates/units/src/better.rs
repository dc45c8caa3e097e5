//! Which way of a quantity is the good one.

use serde::{Deserialize, Serialize};

/// Which way of a quantity is the good one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// More is better: throughput, hits.
    Higher,
    /// Less is better: latency, errors, energy.
    Lower,
    /// Neither is better as such: how much of something was done.
    #[default]
    Neither,
}
