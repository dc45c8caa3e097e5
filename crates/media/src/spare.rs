//! What a flash drive has more than it shows to the host, and what greedy garbage collection (GC) makes of it.

use crate::config::{DriveConfig, Medium, UNIT, Victim};
use crate::ftl::Layout;

/// The over-provisioning of a flash drive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Spare {
    /// All flash over the capacity, less one.
    pub nominal: f64,
    /// What can hold data or garbage over the capacity, less one: without the SLC cache and what GC keeps of each die,
    /// its low watermark, half of each block that is being written, and half a victim.
    pub effective: f64,
    /// What the analysis of greedy GC says of uniform random writes all over a full drive without trim; none with an
    /// SLC cache, or if victims are chosen otherwise.
    pub write_amplification: Option<f64>,
}

impl Spare {
    /// Of a drive; none if it is written in place, if GC keeps more than there is, or if it cannot be built.
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
