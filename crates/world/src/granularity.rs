//! How finely links are simulated.

use serde::{Deserialize, Serialize};

/// How finely links are simulated: the results are the same.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Granularity {
    /// Many TLPs in one step, where that is safe.
    #[default]
    Train,
    /// One TLP in each step: slower.
    Tlp,
}
