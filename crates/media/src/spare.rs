//! Over-provisioning of a flash drive, and the resulting write amplification of greedy garbage collection (GC).

use crate::config::{DriveConfig, Medium, UNIT, Victim};
use crate::ftl::Layout;

/// The over-provisioning of a flash drive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spare {
    /// Raw flash capacity divided by the drive's capacity, less one.
    pub nominal: f64,
    /// Usable flash capacity divided by the drive's capacity, less one: without the SLC cache and the space that GC
    /// keeps on each die (its low watermark, half of each open block, and half a victim).
    pub effective: f64,
    /// Write amplification of uniform random writes to all of a full drive without trim, by the analysis of greedy
    /// GC; `None` with an SLC cache, or with another victim policy.
    pub write_amplification: Option<f64>,
}

impl Spare {
    /// Of a drive. Returns `None` if it is written in place, if GC keeps more than there is, or if it cannot be
    /// built.
    #[must_use]
    pub fn of(config: &DriveConfig) -> Option<Self> {
        let Medium::Nand(nand, ftl) = &config.medium else { return None };
        if !config.mistakes().is_empty() {
            return None;
        }
        let g = &nand.geometry;
        let layout = Layout::new(nand, ftl.allocation);
        let die = layout.in_theory(ftl);
        let room = u64::from(die.blocks) * u64::from(die.block);
        let units = config.capacity.0 as f64 / UNIT as f64 / f64::from(layout.dies);
        let kept = room.checked_sub(die.reserve()).filter(|kept| *kept as f64 > units)?;
        let is_analysed = ftl.victim == Victim::Greedy && ftl.slc.is_none();
        Some(Self {
            nominal: g.capacity().0 as f64 / config.capacity.0 as f64 - 1.0,
            effective: kept as f64 / units - 1.0,
            write_amplification: is_analysed.then(|| die.steady_state(units).write_amplification()),
        })
    }
}
