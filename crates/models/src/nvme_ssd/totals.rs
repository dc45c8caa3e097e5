//! Counters of a drive, and its endurance.

use crate::nvme_front::Signals;
use lanetwin_kernel::{Metric, Report, State};
use lanetwin_media::{Counters, Spare, Stocks};
use lanetwin_ports::Params;
use lanetwin_units::Better;

const POWER: Metric = Metric::new("drive power", "W", Better::Lower);
const PER_WATT: Metric = Metric::new("drive throughput per watt", "MB/s/W", Better::Higher);
const UNWRITTEN: Metric = Metric::new("reads of what was never written", "%", Better::Neither)
    .if_any("reads of what was never written");
const AMPLIFICATION: Metric = Metric::new("write amplification", "", Better::Lower);
const NOMINAL: Metric = Metric::new("over-provisioning, nominal", "%", Better::Higher);
const EFFECTIVE: Metric = Metric::new("over-provisioning, effective", "%", Better::Higher);
const ANALYSED: Metric =
    Metric::new("write amplification of uniform random writes, analysis", "", Better::Lower);
const MOVED: Metric = Metric::new("moved by the drive", "MB/s", Better::Lower);
const ERASED: Metric = Metric::new("blocks erased", "1/s", Better::Lower);
const ENDURANCE: Metric = Metric::new("endurance (TBW)", "TB", Better::Higher);
const DRIVE_WRITES: Metric = Metric::new("drive writes per day, 5 years", "/d", Better::Higher);

const NJ_PER_J: f64 = 1e9;
const MB: f64 = 1e6;
const TB: f64 = 1e12;
/// Size of a unit of the FTL \[B\].
const UNIT_BYTES: f64 = 4096.0;
/// Period for which drive writes per day are reported \[years\]: the usual warranty.
const YEARS: f64 = 5.0;

/// Counters of a drive since the start of the run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Totals {
    /// Counters of the medium.
    pub counters: Counters,
    /// Idle power \[W\].
    pub idle_watts: f64,
    /// Endurance of the medium.
    pub endurance: Endurance,
    /// Over-provisioning, if it is flash.
    pub spare: Option<Spare>,
    /// Counters of signals between host and controller.
    pub signals: Signals,
}

impl Totals {
    /// Time to do all work so far at this power \[ps\].
    pub(super) fn in_use_ps(&self, milliwatts: u64) -> u128 {
        const PS_PER_NJ_AT_ONE_MW: u128 = 1_000_000;
        u128::from(self.counters.work_nanojoules) * PS_PER_NJ_AT_ONE_MW / u128::from(milliwatts.max(1))
    }
    /// Reports its metrics. Those of the medium's writes are left out if nothing was written.
    pub(super) fn report(&self, report: &mut Report) {
        self.report_energy(report);
        self.report_unwritten(report);
        self.signals.report(report);
        self.report_writes(report);
        self.report_spare(report);
    }
    fn report_energy(&self, report: &mut Report) {
        let (idle_watts, counters) = (self.idle_watts, &self.counters);
        let watts = move |nanojoules: u64, seconds: f64| nanojoules as f64 / NJ_PER_J / seconds + idle_watts;
        report.derived(POWER, &[counters.work_nanojoules], move |added, seconds| {
            Some(watts(added[0], seconds))
        });
        let bytes = counters.host_bytes_read + counters.host_bytes_written;
        report.derived(PER_WATT, &[counters.work_nanojoules, bytes], move |added, seconds| {
            let watts = watts(added[0], seconds);
            Some(if watts > 0.0 { added[1] as f64 / seconds / watts / MB } else { 0.0 })
        });
    }
    /// Share of the units read by the host that were never written, which need no flash access; left out if nothing
    /// was read. A partial read of a unit counts as one of the whole unit.
    fn report_unwritten(&self, report: &mut Report) {
        let totals = [self.counters.unwritten_units_read, self.counters.host_bytes_read];
        report.derived(UNWRITTEN, &totals, |added, _| {
            (added[1] > 0).then(|| (added[0] as f64 * UNIT_BYTES / added[1] as f64 * 100.0).min(100.0))
        });
    }
    /// Parameters behind write amplification, if garbage collection has moved units.
    fn report_spare(&self, report: &mut Report) {
        let Some(Spare { nominal, effective, write_amplification }) = self.spare else { return };
        let moved = [self.counters.gc_units_moved];
        report.derived(NOMINAL, &moved, move |added, _| (added[0] > 0).then_some(nominal * 100.0));
        report.derived(EFFECTIVE, &moved, move |added, _| (added[0] > 0).then_some(effective * 100.0));
        report.derived(ANALYSED, &moved, move |added, _| write_amplification.filter(|_| added[0] > 0));
    }
    fn report_writes(&self, report: &mut Report) {
        let (c, endurance) = (&self.counters, self.endurance);
        let host = c.host_units_programmed;
        let moved = c.gc_units_moved + c.wear_units_moved + c.folded_units + c.padding_units;
        let amplification = |added: &[u64]| (added[1] > 0).then(|| added[0] as f64 / added[1] as f64);
        let written = [host + moved, host];
        report.ratio(AMPLIFICATION, written, 1.0);
        report.derived(MOVED, &written, |added, seconds| {
            (added[1] > 0).then(|| (added[0] - added[1]) as f64 * UNIT_BYTES / seconds / MB)
        });
        report.derived(ERASED, &[c.block_erases, host], |added, seconds| {
            (added[1] > 0).then(|| added[0] as f64 / seconds)
        });
        report.derived(ENDURANCE, &written, move |added, _| {
            Some(endurance.host_bytes(amplification(added)?) / TB)
        });
        report.derived(DRIVE_WRITES, &written, move |added, _| {
            Some(endurance.drive_writes_per_day(amplification(added)?, YEARS))
        });
    }
}

impl Totals {
    /// Reports states that have to be in balance: garbage collection needs its share of all programs; before there is
    /// any, erased pages are used up, those of the SLC cache first; and energy saved under a power limit is used up.
    pub(super) fn report_stocks(&self, stocks: Stocks, report: &mut Report) {
        let c = &self.counters;
        let part = c.gc_units_moved + c.wear_units_moved + c.folded_units + c.padding_units;
        let whole = c.host_units_programmed + part;
        report.state("garbage collection", State::Share { part, whole });
        let reserves = [
            ("SLC cache", stocks.before_folding),
            ("free blocks", stocks.free),
            ("saved power", stocks.saved_power),
        ];
        for (name, left) in reserves {
            if let Some(left) = left {
                report.state(name, State::Reserve { left });
            }
        }
    }
}

/// Amount of data that can be written to a medium before its blocks, or lines, have used up their cycles.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Endurance {
    /// Everything that can be programmed \[B\]: the raw medium, spare blocks among it, as often as a block survives.
    pub programmed_bytes: f64,
    /// Capacity visible to the host \[B\].
    pub capacity_bytes: f64,
}

impl Endurance {
    /// Of the medium described by the parameters.
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
    /// Bytes that the host can write at this write amplification (TBW, as JESD218 counts it, for this load).
    #[must_use]
    pub fn host_bytes(&self, write_amplification: f64) -> f64 {
        self.programmed_bytes / write_amplification
    }
    /// Full drive writes per day over `years` years at this write amplification (DWPD).
    #[must_use]
    pub fn drive_writes_per_day(&self, write_amplification: f64, years: f64) -> f64 {
        const DAYS_PER_YEAR: f64 = 365.0;
        self.host_bytes(write_amplification) / self.capacity_bytes / (years * DAYS_PER_YEAR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 16 TB of flash that survives 3000 cycles, 15 TB of it for the host: 48 PB of programs, 9.6 PB of writes
    /// at 5, 640 drive writes, 0.35 a day for five years.
    #[test]
    fn endurance_is_what_can_be_programmed_by_what_a_write_costs() {
        let endurance = Endurance { programmed_bytes: 16e12 * 3000.0, capacity_bytes: 15e12 };
        assert_eq!(endurance.host_bytes(5.0), 9.6e15);
        assert!((endurance.drive_writes_per_day(5.0, 5.0) - 640.0 / 1825.0).abs() < 1e-12);
    }
}
