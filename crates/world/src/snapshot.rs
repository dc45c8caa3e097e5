//! A look at everything that a world counts, from which what comes behind is measured.

use super::components::Reports;
use super::world::World;
use lanetwin_models::roles::memory::Advised;
use lanetwin_ports::{CxlLinkUse, LinkReport};
use lanetwin_units::Instant;

/// What a world had counted when the measurement began.
pub(super) struct Snapshot {
    /// When that was.
    pub(super) at: Instant,
    pub(super) links: Vec<LinkReport>,
    /// What components said of themselves.
    pub(super) reports: Reports,
    pub(super) cxl: Vec<[CxlLinkUse; 2]>,
    /// What hosts have told memories of their pages.
    pub(super) advised: Advised,
}

impl Snapshot {
    /// The loads of the world count from now on, and everything else is noted as it is.
    pub(super) fn take(world: &mut World) -> Self {
        let at = world.kernel.now();
        world.reset(at);
        let (links, reports) = (world.links().usage(), world.reports());
        let (cxl, advised) = (world.cxl_report(at), world.advised());
        Self { at, links, reports, cxl, advised }
    }
}
