//! Power limit of a drive: host requests wait while the drive has used more energy than allowed.
//!
//! A bucket of energy fills at the power that the limit leaves above idle, up to the energy of [`BURST`]; every
//! operation is charged to it, including garbage collection. Requests pass while the bucket is not overdrawn.
//! Operations that have begun are never held, so that it may be overdrawn; it is then refilled before the next
//! request passes. Over any time much longer than that burst a drive takes no more than its limit.

use crate::config::{DriveConfig, Energy, Medium};

/// Capacity of the bucket, as time at the allowed power \[ps\]: 10 ms; assumed. The limits of form factors and power
/// states are means over a second.
const BURST: u64 = 10_000_000_000;

/// Parts in which the saved energy is reported; a single operation is less than one.
const PARTS: u64 = 256;

/// Operations so far that cost energy.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub(crate) struct Work {
    /// Pages of one plane (or lines) that were read.
    pub(crate) page_reads: u64,
    /// Pages of one plane (or lines) that were programmed, with all bits of their cells.
    pub(crate) page_programs: u64,
    /// Pages of one plane that were programmed with one bit a cell.
    pub(crate) slc_programs: u64,
    /// Blocks of one plane that were erased.
    pub(crate) block_erases: u64,
    /// Bytes on flash buses.
    pub(crate) bus_bytes: u64,
    /// Bytes through the controller.
    pub(crate) host_bytes: u64,
}

/// Energies of a drive's operations.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Costs {
    energy: Energy,
    /// A page program of one plane with one bit a cell \[pJ\].
    slc_program: u64,
}

impl Costs {
    /// A program with one bit a cell takes the current of another, and so as much less energy for each page as it is
    /// shorter.
    pub(crate) fn of(config: &DriveConfig) -> Self {
        let energy = config.energy;
        let slc_program = match &config.medium {
            Medium::Nand(nand, ftl) => ftl.slc.map_or(energy.program, |slc| {
                let (least, most) =
                    (u128::from(slc.program.as_ps()), nand.timing.page_program().as_ps().max(1));
                (u128::from(energy.program) * least / u128::from(most)) as u64
            }),
            Medium::CrossPoint(_) => energy.program,
        };
        Self { energy, slc_program }
    }

    /// Power when idle \[mW\].
    pub(crate) const fn idle_milliwatts(&self) -> u64 {
        self.energy.idle_milliwatts
    }
}

impl Work {
    /// Their energy \[pJ\].
    pub(crate) fn picojoules(&self, Costs { energy, slc_program }: &Costs) -> u128 {
        let costs = [
            (self.page_reads, energy.read),
            (self.page_programs, energy.program),
            (self.slc_programs, *slc_program),
            (self.block_erases, energy.erase),
            (self.bus_bytes, energy.bus_byte),
            (self.host_bytes, energy.host_byte),
        ];
        costs.iter().map(|(count, each)| u128::from(*count) * u128::from(*each)).sum()
    }
}

/// Keeps a drive within its power limit.
#[derive(Clone, Debug)]
pub(crate) struct Governor {
    /// Power that the limit leaves for work \[mW, which is fJ/ps\].
    allowed: u64,
    /// Level of the bucket at `at`; negative if overdrawn \[fJ\].
    level: i128,
    /// Energy charged so far \[pJ\].
    paid: u128,
    at: u64,
}

impl Governor {
    /// For a drive that may use `allowed` mW for work, more than zero.
    pub(crate) fn new(allowed: u64) -> Self {
        Self { allowed, level: i128::from(allowed) * i128::from(BURST), paid: 0, at: 0 }
    }

    /// Level of the bucket at `now` \[ps\] after all work, of `picojoules` in total, has been charged \[fJ\].
    fn level_at(&self, now: u64, picojoules: u128) -> i128 {
        let allowed = i128::from(self.allowed);
        let filled = self.level + allowed * i128::from(now - self.at);
        let added = (picojoules - self.paid) as i128 * 1000;
        filled.min(allowed * i128::from(BURST)) - added
    }

    /// Level of the bucket in [`PARTS`] parts, rounded up.
    pub(crate) fn saved(&self, now: u64, picojoules: u128) -> u64 {
        let full = i128::from(self.allowed) * i128::from(BURST);
        (self.level_at(now, picojoules).max(0) * i128::from(PARTS) + full - 1).div_euclid(full) as u64
    }

    /// Charges all work up to `now` [ps], of `picojoules` since the drive was made.
    pub(crate) fn pay(&mut self, now: u64, picojoules: u128) {
        self.level = self.level_at(now, picojoules);
        (self.at, self.paid) = (now, picojoules);
    }

    /// Time to refill the energy of this work \[ps\].
    pub(crate) fn pays_in(&self, picojoules: u128) -> u64 {
        (picojoules * 1000).div_ceil(u128::from(self.allowed)) as u64
    }

    /// Whether a request may pass, as of the last charge.
    pub(crate) fn lets_pass(&self) -> bool {
        self.level >= 0
    }

    /// When the bucket is no longer overdrawn, if nothing else is charged until then \[ps\].
    pub(crate) fn paid_back_at(&self) -> u64 {
        let owed = self.level.min(0).unsigned_abs();
        self.at + owed.div_ceil(u128::from(self.allowed)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 2 W for work are 20 mJ of burst; 120 mJ at once leave 100 mJ to pay back, which takes 50 ms.
    #[test]
    fn what_is_overdrawn_is_paid_back_before_the_next_request() {
        let mut governor = Governor::new(2_000);
        governor.pay(0, 20_000_000_000);
        assert!(governor.lets_pass());
        governor.pay(0, 120_000_000_000);
        assert!(!governor.lets_pass());
        assert_eq!((governor.paid_back_at(), governor.saved(0, 120_000_000_000)), (50_000_000_000, 0));
        governor.pay(50_000_000_000, 120_000_000_000);
        assert!(governor.lets_pass());
    }

    #[test]
    fn no_more_is_saved_up_than_a_burst() {
        let mut governor = Governor::new(2_000);
        assert_eq!(
            [0, 1_000, 10_000_000_000, 20_000_000_000].map(|spent| governor.saved(0, spent)),
            [256, 256, 128, 0]
        );
        governor.pay(1_000_000_000_000, 0);
        governor.pay(1_000_000_000_000, 20_000_000_001);
        assert!(!governor.lets_pass());
    }
}
