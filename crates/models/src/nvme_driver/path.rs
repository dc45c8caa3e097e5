//! What a driver knows of its path, if it is one of several to a drive.

use crate::roles::nvme::Outage;
use lanetwin_units::Instant;

/// What a driver knows of its path.
#[derive(Clone, Debug)]
pub(super) struct Path {
    pub(super) outages: Vec<Outage>,
    pub(super) lost: bool,
    /// Whether a look at the oldest command is on its way.
    pub(super) watching: bool,
    /// How often the path was lost.
    pub(super) losses: u64,
    /// Regions of host memory of the rings and lists before those in use, which the drive may still write to.
    pub(super) retired: Vec<u64>,
}

impl Path {
    /// Whether the drive is there when the run starts. One that comes later is started when its link is up, and counts
    /// as lost until then.
    pub(super) fn is_there(&mut self, start: Instant) -> bool {
        self.lost = self.outages.iter().any(|outage| outage.from <= start && start < outage.until);
        !self.lost
    }
}
