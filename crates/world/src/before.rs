//! A look at everything that a world counts, from which what comes behind is measured.

use super::loads::shown;
use super::memory::DeviceLived;
use super::paths::PathCounts;
use super::wire::World;
use lanetwin_kernel::Supply;
use lanetwin_models::memory_host::Advised;
use lanetwin_models::nvme_ssd::Lived;
use lanetwin_ports::{CxlLinkUse, LinkReport};
use lanetwin_units::Instant;

/// A component, what it has only so many of, and what was used of that.
pub(super) type Counted = (String, String, Supply);

/// What had been counted when counting began.
pub(super) struct Before {
    /// When that was.
    pub(super) at: Instant,
    pub(super) links: Vec<LinkReport>,
    pub(super) supplies: Vec<Counted>,
    pub(super) lived: Vec<(String, Lived)>,
    pub(super) cxl: Vec<[CxlLinkUse; 2]>,
    pub(super) devices: Vec<Option<DeviceLived>>,
    /// What hosts have told memories of their pages.
    pub(super) advised: Advised,
    /// What has become of requests to drives with several ports, by what joins their paths.
    pub(super) paths: Vec<PathCounts>,
}

impl Before {
    /// The loads of the world count from now on, and everything else is noted as it is.
    pub(super) fn look(world: &mut World) -> Self {
        let at = world.kernel.now();
        world.reset(at);
        let (links, supplies) = (world.links().report(), supplies(world));
        let (lived, cxl) = (world.lived(), world.cxl_report(at));
        let (devices, advised) = (world.devices_lived(at), world.advised());
        let paths = world.path_counts().into_iter().map(|(_, counts)| counts).collect();
        Self { at, links, supplies, lived, cxl, devices, advised, paths }
    }
}

/// What every component has only so many of.
pub(super) fn supplies(world: &World) -> Vec<Counted> {
    let mut list = Vec::new();
    world.kernel.supplies(&mut |path, name, supply| list.push((shown(path), name.to_owned(), supply)));
    list
}
