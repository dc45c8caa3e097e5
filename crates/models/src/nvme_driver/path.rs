//! A driver's state as one of several paths to a drive.

use crate::roles::nvme::Outage;
use lanetwin_units::Instant;

/// A driver's state of its path.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) outages: Vec<Outage>,
    pub(super) lost: bool,
    /// Whether a check of the oldest command is scheduled.
    pub(super) watching: bool,
    /// Number of losses of the path.
    pub(super) losses: u64,
    /// Regions of host memory of the rings and lists before those in use, which the drive may still write to.
    pub(super) retired: Vec<u64>,
}

impl Path {
    /// Whether the drive is present when the run starts. Otherwise it is started when its link is up, and the path
    /// counts as lost until then.
    pub(super) fn is_there(&mut self, start: Instant) -> bool {
        self.lost = self.outages.iter().any(|outage| outage.from <= start && start < outage.until);
        !self.lost
    }
}
