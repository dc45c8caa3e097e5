//! What NVMe drives did while they were measured: write amplification, garbage collection, wear, energy.

use super::measure::Measured;
use super::rows::Metric;
use super::wire::World;
use lanetwin_models::nvme_ssd::{Lived, NvmeSsd, Signals};
use lanetwin_units::Span;

/// What a drive did while it was measured.
#[derive(Clone, PartialEq, Debug)]
pub struct DriveUse {
    /// The drive.
    pub drive: String,
    /// Units that were programmed for each unit that the host wrote; none if it wrote nothing to the medium.
    pub write_amplification: Option<f64>,
    /// What garbage collection and wear levelling moved \[B/s\].
    pub moved_bytes_per_second: f64,
    /// Blocks of a plane that were erased \[1/s\].
    pub erases_per_second: f64,
    /// The mean power \[W\].
    pub watts: f64,
    /// What the host read and wrote, for each watt \[B/s/W\].
    pub bytes_per_second_per_watt: f64,
    /// What the host can write before the flash is worn out \[B\], if it goes on as it did; none if it wrote nothing to the medium.
    pub host_endurance_bytes: Option<f64>,
    /// The same as whole drives a day for five years.
    pub drive_writes_per_day: Option<f64>,
    /// Doorbells rung, shadow doorbells read, and interrupts, for each command that ended; none if none did.
    pub signals: Option<[f64; 3]>,
}

const PS_PER_SECOND: f64 = 1e12;
const NJ_PER_J: f64 = 1e9;
/// What an FTL maps \[B\].
const UNIT_BYTES: f64 = 4096.0;
/// The time that drive writes per day are told for \[years\]: the usual warranty.
const YEARS: f64 = 5.0;

impl World {
    /// What each drive has lived through so far.
    pub(super) fn lived(&mut self) -> Vec<(String, Lived)> {
        let drives = self.drives.clone();
        let now = self.kernel.now();
        let lived = |(name, id)| Some((name, self.kernel.component::<NvmeSsd>(id)?.lived(now)?));
        drives.into_iter().filter_map(lived).collect()
    }
}

/// What happened between two looks at the same drive.
pub(super) fn drive_use(before: &Lived, (drive, after): (String, Lived), elapsed: Span) -> DriveUse {
    let (b, a) = (&before.counters, &after.counters);
    let seconds = elapsed.as_ps() as f64 / PS_PER_SECOND;
    let host = a.host_units_programmed - b.host_units_programmed;
    let moved = |c: &lanetwin_models::nvme_ssd::Counters| {
        c.gc_units_moved + c.wear_units_moved + c.folded_units + c.padding_units
    };
    let extra = moved(a) - moved(b);
    let joules = (a.work_nanojoules - b.work_nanojoules) as f64 / NJ_PER_J;
    let watts = joules / seconds + after.idle_watts;
    let bytes = |c: &lanetwin_models::nvme_ssd::Counters| c.host_bytes_read + c.host_bytes_written;
    let rate = (bytes(a) - bytes(b)) as f64 / seconds;
    let write_amplification = (host > 0).then(|| (host + extra) as f64 / host as f64);
    DriveUse {
        drive,
        write_amplification,
        host_endurance_bytes: write_amplification.map(|wa| after.endurance.host_bytes(wa)),
        drive_writes_per_day: write_amplification.map(|wa| after.endurance.drive_writes_per_day(wa, YEARS)),
        signals: signals(&before.signals, &after.signals),
        moved_bytes_per_second: extra as f64 * UNIT_BYTES / seconds,
        erases_per_second: (a.block_erases - b.block_erases) as f64 / seconds,
        watts,
        bytes_per_second_per_watt: if watts > 0.0 { rate / watts } else { 0.0 },
    }
}

/// What was told between two looks, for each command.
fn signals(before: &Signals, after: &Signals) -> Option<[f64; 3]> {
    let of = |signals: &Signals| [signals.doorbells, signals.shadow_reads, signals.interrupts];
    let commands = after.completions - before.completions;
    let (before, after) = (of(before), of(after));
    (commands > 0).then(|| [0, 1, 2].map(|i| (after[i] - before[i]) as f64 / commands as f64))
}

/// The metrics of the drive number `place`, from what it did in each repeat.
pub(super) fn metrics(repeats: &[Measured], place: usize) -> Vec<Metric> {
    let each = |name: &str, unit, of: &dyn Fn(&DriveUse) -> Option<f64>| {
        let samples =
            repeats.iter().map(|measured| of(measured.drives.get(place)?)).collect::<Option<Vec<_>>>()?;
        Some(Metric { name: name.to_owned(), unit, samples, percentiles: Vec::new() })
    };
    let writes = repeats.iter().all(|m| m.drives.get(place).is_some_and(|d| d.write_amplification.is_some()));
    let shadowed =
        repeats.iter().any(|m| m.drives.get(place).and_then(|d| d.signals).is_some_and(|s| s[1] > 0.0));
    let always = [
        each("drive power", "W", &|d| Some(d.watts)),
        each("drive throughput per watt", "MB/s/W", &|d| Some(d.bytes_per_second_per_watt / 1e6)),
        each("doorbells", "/command", &|d| d.signals.map(|signals| signals[0])),
        each("shadow doorbells read", "/command", &|d| {
            d.signals.map(|signals| signals[1]).filter(|_| shadowed)
        }),
        each("interrupts", "/command", &|d| d.signals.map(|signals| signals[2])),
    ];
    let if_written = [
        each("write amplification", "", &|d| d.write_amplification),
        each("moved by the drive", "MB/s", &|d| Some(d.moved_bytes_per_second / 1e6)),
        each("blocks erased", "1/s", &|d| Some(d.erases_per_second)),
        each("endurance (TBW)", "TB", &|d| d.host_endurance_bytes.map(|bytes| bytes / 1e12)),
        each("drive writes per day, 5 years", "/d", &|d| d.drive_writes_per_day),
    ];
    always.into_iter().chain(if_written.into_iter().filter(|_| writes)).flatten().collect()
}
