//! The better direction of a quantity.

use serde::{Deserialize, Serialize};

/// The better direction of a quantity.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    /// Higher is better: throughput, hits.
    Higher,
    /// Lower is better: latency, errors, energy.
    Lower,
    /// Neither is better as such: the amount of work that was done, for example.
    #[default]
    Neither,
}
