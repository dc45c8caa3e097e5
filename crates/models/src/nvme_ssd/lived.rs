//! What a drive has lived through, and how much it can.

use lanetwin_media::Counters;
use lanetwin_ports::Params;

/// What a drive has lived through since the start of the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Lived {
    /// What the medium has done.
    pub counters: Counters,
    /// What the drive takes when it does nothing \[W\].
    pub idle_watts: f64,
    /// What the medium can be written with.
    pub endurance: Endurance,
    /// What host and controller have told each other.
    pub signals: Signals,
}

/// What host and controller have told each other, at all ports together.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Signals {
    /// Doorbells that were rung.
    pub doorbells: u64,
    /// Shadow doorbells that the controller has read.
    pub shadow_reads: u64,
    /// Completion queue entries.
    pub completions: u64,
    /// MSI-X vectors that were signalled.
    pub interrupts: u64,
}

/// How much a medium can be written before its blocks, or lines, have had the cycles they survive.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Endurance {
    /// Everything that can be programmed \[B\]: the raw medium, spare blocks among it, as often as a block survives.
    pub programmed_bytes: f64,
    /// What the host sees \[B\].
    pub capacity_bytes: f64,
}

impl Endurance {
    /// Of the medium that the parameters describe.
    pub(super) fn new(params: &Params) -> Self {
        let capacity_bytes = params.size("capacity").0 as f64;
        let programmed_bytes = if params.choice("medium") == "nand" {
            let counts = ["channels", "chips", "dies", "planes", "blocks", "pages"];
            let pages: f64 = counts.map(|of| params.count(&format!("nand.{of}")) as f64).iter().product();
            pages * params.size("nand.page").0 as f64 * params.count("ftl.endurance") as f64
        } else {
            capacity_bytes * params.count("cross-point.endurance") as f64
        };
        Self { programmed_bytes, capacity_bytes }
    }
    /// What the host can write \[B\] at this write amplification (TBW, as JESD218 counts it, for this load).
    #[must_use]
    pub fn host_bytes(&self, write_amplification: f64) -> f64 {
        self.programmed_bytes / write_amplification
    }
    /// How often a day the host can write the whole drive for so many years, at this write amplification (DWPD).
    #[must_use]
    pub fn drive_writes_per_day(&self, write_amplification: f64, years: f64) -> f64 {
        const DAYS_PER_YEAR: f64 = 365.0;
        self.host_bytes(write_amplification) / self.capacity_bytes / (years * DAYS_PER_YEAR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 16 TB of flash that survives 3000 cycles, 15 TB of it for the host: 48 PB of programs, 9.6 PB of writes at 5, 640 drive
    /// writes, 0.35 a day for five years.
    #[test]
    fn endurance_is_what_can_be_programmed_by_what_a_write_costs() {
        let endurance = Endurance { programmed_bytes: 16e12 * 3000.0, capacity_bytes: 15e12 };
        assert_eq!(endurance.host_bytes(5.0), 9.6e15);
        assert!((endurance.drive_writes_per_day(5.0, 5.0) - 640.0 / 1825.0).abs() < 1e-12);
    }
}
