//! The measured window of a run.

use crate::buffers::Filling;
use crate::pace::Pace;
use crate::rounds::Rounds;
use crate::snapshot::Snapshot;
use lanetwin_load::Results;
use lanetwin_stats::results::Steadiness;
use lanetwin_units::Instant;

/// Counters from one instant to another.
pub(crate) struct Window {
    /// State at the beginning.
    pub(crate) before: Snapshot,
    pub(crate) end: Instant,
    /// Results of each load.
    pub(crate) results: Vec<Results>,
    /// Whether the window ended because a program ended.
    pub(crate) ended: bool,
    pub(crate) rounds: Option<Rounds>,
    /// Course of the measurement.
    pub(crate) pace: Pace,
    pub(crate) steadiness: Steadiness,
    /// The write buffer that was filled for the measurement.
    pub(crate) filling: Option<Filling>,
}
