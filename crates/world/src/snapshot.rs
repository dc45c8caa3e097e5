//! State of all counters of a world at the start of a measurement.

use super::components::Reports;
use super::world::World;
use lanetwin_models::roles::memory::Advised;
use lanetwin_ports::{CxlLinkUse, LinkReport};
use lanetwin_units::Instant;

/// Counters of a world when the measurement began.
pub(super) struct Snapshot {
    /// When it began.
    pub(super) at: Instant,
    pub(super) links: Vec<LinkReport>,
    /// Reports of the components.
    pub(super) reports: Reports,
    pub(super) cxl: Vec<[CxlLinkUse; 2]>,
    /// Hints that hosts have given memories about their pages.
    pub(super) advised: Advised,
}

impl Snapshot {
    /// Resets the counters of the loads and notes all other counters.
    pub(super) fn take(world: &mut World) -> Self {
        let at = world.kernel.now();
        world.reset(at);
        let (links, reports) = (world.links().usage(), world.reports());
        let (cxl, advised) = (world.cxl_report(at), world.advised());
        Self { at, links, reports, cxl, advised }
    }
}
