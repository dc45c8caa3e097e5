//! What was measured.

use crate::buffers::Filling;
use crate::pace::Pace;
use crate::rounds::Rounds;
use crate::snapshot::Snapshot;
use lanetwin_load::Results;
use lanetwin_stats::results::Steadiness;
use lanetwin_units::Instant;

/// What was counted from one instant to another.
pub(crate) struct Window {
    /// Everything as it was at the beginning.
    pub(crate) before: Snapshot,
    pub(crate) end: Instant,
    /// Of each load.
    pub(crate) results: Vec<Results>,
    /// Whether it was over when a program had ended.
    pub(crate) ended: bool,
    pub(crate) rounds: Option<Rounds>,
    /// How it went on within it.
    pub(crate) pace: Pace,
    pub(crate) steadiness: Steadiness,
    /// The write buffer that was filled for it.
    pub(crate) filling: Option<Filling>,
}
