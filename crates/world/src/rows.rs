//! Rows: what the repeats of a case have shown, as metrics with their uncertainty.

use super::drives;
use super::measure::Measured;
use super::memory;
use lanetwin_load::{Results, Side};
use lanetwin_plan::{Case, DmaOperation, Load};
use lanetwin_stats::results::{Row, X};
use lanetwin_stats::{Confidence, Direction, Histogram, interval, jain};

const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];
/// The percentile that is the longest of all: told where the last of several devices matters.
const LONGEST: f64 = 100.0;
const PS_PER_NS: f64 = 1e3;

/// A metric: its name, its unit, which way is better, its value in each repeat.
pub(super) struct Metric {
    pub(super) name: String,
    pub(super) unit: &'static str,
    pub(super) samples: Vec<f64>,
    pub(super) percentiles: Vec<(f64, f64)>,
}

/// Which way a metric is better.
pub(super) fn better(metric: &str) -> Direction {
    const LOWER: [&str; 10] = [
        "asked again",
        "latency",
        "failed",
        "amplification",
        "moved",
        "erased",
        "power",
        "program time",
        "doorbells",
        "interrupts",
    ];
    if LOWER.iter().any(|word| metric.contains(word)) {
        Direction::LowerIsBetter
    } else {
        Direction::HigherIsBetter
    }
}

/// The rows of a case, from its repeats: of all devices together, then of each, if there are several.
pub(super) fn rows(variant: &str, workload: &str, case: &Case, repeats: &[Measured]) -> Vec<Row> {
    if !repeats[0].cells.is_empty() {
        return cells(variant, workload, case, repeats);
    }
    let axis = case.axis.as_ref();
    let axis =
        axis.map(|a| X { name: a.name.into(), value: a.value, unit: a.unit.into(), curve: a.curve.clone() });
    let row =
        |device: Option<&str>, metric: Metric| row((variant, workload, case), (device, axis.clone()), metric);
    let devices = &repeats[0].devices;
    let percents = [&PERCENTILES[..], if devices.is_empty() { &[] } else { &[LONGEST] }].concat();
    let told = Told { case, percents: &percents, always: !devices.is_empty() };
    let together: Vec<&Results> = repeats.iter().map(|measured| &measured.load).collect();
    let mut rows: Vec<Row> = match case.load {
        Load::Memory(_) => {
            let metrics = memory::metrics(repeats).into_iter();
            metrics.map(|(of, metric)| row(of.as_deref(), metric)).collect()
        }
        _ => told.metrics(&together).into_iter().map(|metric| row(None, metric)).collect(),
    };
    // jobs of fio are different by intention
    if !matches!(case.load, Load::Fio(_)) {
        rows.extend(fairness(repeats).map(|metric| row(None, metric)));
    }
    rows.extend(memory::device_metrics(repeats).into_iter().map(|(of, metric)| row(Some(&of), metric)));
    for (place, drive) in repeats[0].drives.iter().enumerate() {
        let metrics = drives::metrics(repeats, place);
        rows.extend(metrics.into_iter().map(|metric| row(Some(&drive.drive), metric)));
    }
    rows.extend(retried(repeats).into_iter().map(|(device, metric)| row(Some(&device), metric)));
    for (place, (device, _)) in devices.iter().enumerate() {
        let own: Vec<&Results> = repeats.iter().map(|measured| &measured.devices[place].1).collect();
        rows.extend(told.metrics(&own).into_iter().map(|metric| row(Some(device), metric)));
    }
    rows
}

/// The rows of a test of the SNIA PTS: every cell is a case, and the drive is told of under the case as a whole.
fn cells(variant: &str, workload: &str, case: &Case, repeats: &[Measured]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (place, (cell, _)) in repeats[0].cells.iter().enumerate() {
        let own: Vec<&Results> = repeats.iter().map(|measured| &measured.cells[place].1).collect();
        let told = Told { case: cell, percents: &PERCENTILES, always: false };
        // the specification has one number for a mix, reads and writes together
        let both: Vec<Side> = own.iter().map(|results| together(results)).collect();
        let both: Vec<&Side> = both.iter().collect();
        let metrics = told.of_side("", &both, &own).into_iter().chain(failures("", &both));
        rows.extend(metrics.map(|metric| row((variant, workload, cell), (None, None), metric)));
    }
    for (place, drive) in repeats[0].drives.iter().enumerate() {
        let of_drive = |metric| row((variant, workload, case), (Some(&*drive.drive), None), metric);
        rows.extend(drives::metrics(repeats, place).into_iter().map(of_drive));
    }
    rows
}

/// Reads and writes.
fn together(results: &Results) -> Side {
    let mut both = results.reads.clone();
    both.merge(&results.writes);
    both
}

/// A row, of a device or of all together.
fn row(
    (variant, workload, case): (&str, &str, &Case),
    (device, x): (Option<&str>, Option<X>),
    metric: Metric,
) -> Row {
    let mean = metric.samples.iter().sum::<f64>() / metric.samples.len() as f64;
    let interval = interval::mean(&metric.samples, Confidence::P95);
    Row {
        variant: variant.into(),
        workload: workload.into(),
        case: case.label.clone(),
        device: device.map(Into::into),
        x,
        metric: metric.name,
        unit: metric.unit.into(),
        value: mean,
        low: interval.map(|i| i.low()),
        high: interval.map(|i| i.high()),
        n: metric.samples.len() as u32,
        percentiles: metric.percentiles,
        samples: metric.samples,
    }
}

/// How many requests were asked again on another path, or later, where any were in any repeat.
fn retried(repeats: &[Measured]) -> Vec<(String, Metric)> {
    let of = |place: usize| repeats.iter().map(move |measured| measured.retried[place].1 as f64);
    let some = |(place, (device, _)): (usize, &(String, u64))| {
        let samples: Vec<f64> = of(place).collect();
        let metric = Metric { name: "asked again".into(), unit: "", samples, percentiles: Vec::new() };
        metric.samples.iter().any(|retried| *retried > 0.0).then(|| (device.clone(), metric))
    };
    repeats[0].retried.iter().enumerate().filter_map(some).collect()
}

/// How evenly several devices share what all of them move ([`jain`]): of their throughputs, reads and writes together.
fn fairness(repeats: &[Measured]) -> Option<Metric> {
    let index = |measured: &Measured| {
        let devices = measured.devices.iter();
        jain(&devices.map(|(_, results)| results.bits_per_second().unwrap_or(0.0)).collect::<Vec<_>>())
    };
    let samples = repeats.iter().map(index).collect::<Option<Vec<_>>>()?;
    Some(Metric { name: "fairness".into(), unit: "", samples, percentiles: Vec::new() })
}

/// How a case is told.
struct Told<'a> {
    case: &'a Case,
    /// Which percentiles of the latency.
    percents: &'a [f64],
    /// Whether it is told, too, if nothing was done: one of several devices may get nothing.
    always: bool,
}

/// The share of operations that were not answered as asked, if there are any.
fn failures(prefix: &str, sides: &[&Side]) -> Option<Metric> {
    let failed = |side: &&Side| side.corrupt + side.aborted;
    if sides.iter().all(|side| failed(side) == 0) {
        return None;
    }
    let share = |side: &&Side| 100.0 * failed(side) as f64 / (failed(side) + side.completed) as f64;
    let samples = sides.iter().map(|side| if failed(side) == 0 { 0.0 } else { share(side) }).collect();
    Some(Metric { name: format!("{prefix}failed"), unit: "%", samples, percentiles: Vec::new() })
}

type Of = fn(&Results) -> &Side;

/// The kinds of operation that a case has, with the prefix of their metrics.
fn sides(case: &Case) -> Vec<(&'static str, Of)> {
    let (read, write): (Of, Of) = (|r| &r.reads, |r| &r.writes);
    match case.load {
        Load::Dma(dma) => match dma.operation {
            DmaOperation::Read => vec![("", read)],
            DmaOperation::Write => vec![("", write)],
            DmaOperation::Mixed => vec![("read ", read), ("write ", write)],
        },
        Load::Block(block) if block.read >= 1.0 => vec![("", read)],
        Load::Block(block) if block.read <= 0.0 => vec![("", write)],
        Load::Iometer(ref case) if case.kinds() == (true, false) => vec![("", read)],
        Load::Iometer(ref case) if case.kinds() == (false, true) => vec![("", write)],
        Load::Fio(ref case) if case.kinds() == (true, false) => vec![("", read)],
        Load::Fio(ref case) if case.kinds() == (false, true) => vec![("", write)],
        Load::Block(_) | Load::Iometer(_) | Load::Fio(_) | Load::Memory(_) => {
            vec![("read ", read), ("write ", write)]
        }
    }
}

impl Told<'_> {
    /// The metrics of one device, or of all together, from what was counted in each repeat.
    fn metrics(&self, repeats: &[&Results]) -> Vec<Metric> {
        let mut list = Vec::new();
        for (prefix, side) in sides(self.case) {
            let sides: Vec<&Side> = repeats.iter().map(|results| side(results)).collect();
            if self.always || sides.iter().any(|s| s.completed > 0) {
                list.extend(self.of_side(prefix, &sides, repeats));
            }
            list.extend(failures(prefix, &sides));
        }
        list
    }

    fn of_side(&self, prefix: &str, sides: &[&Side], repeats: &[&Results]) -> Vec<Metric> {
        let time = |i: usize| repeats[i].time();
        let per_repeat = |value: &dyn Fn(usize, &Side) -> f64| -> Vec<f64> {
            sides.iter().enumerate().map(|(i, side)| value(i, side)).collect()
        };
        let bits = |i: usize, side: &Side| side.bits_per_second(time(i)).unwrap_or(0.0);
        let operations = |i: usize, side: &Side| side.operations_per_second(time(i)).unwrap_or(0.0);
        let is_dma = self.case.load.is_dma();
        let (rate_name, rate_unit, rate_scale) =
            if is_dma { ("transfers", "M/s", 1e6) } else { ("IOPS", "k/s", 1e3) };
        let (bits_unit, bits_scale) = if is_dma { ("Gb/s", 1e9) } else { ("MB/s", 8e6) };
        let mut all = Histogram::new();
        sides.iter().for_each(|side| all.merge(&side.latency));
        let percentiles = all.percentiles(self.percents);
        let metric = |name: &str, unit, samples, percentiles| Metric {
            name: format!("{prefix}{name}"),
            unit,
            samples,
            percentiles,
        };
        let mut list = vec![
            metric("throughput", bits_unit, per_repeat(&|i, s| bits(i, s) / bits_scale), Vec::new()),
            metric(rate_name, rate_unit, per_repeat(&|i, s| operations(i, s) / rate_scale), Vec::new()),
        ];
        if !all.is_empty() {
            let mean = per_repeat(&|_, s| s.latency.mean_ps().unwrap_or(0.0) / PS_PER_NS);
            let tails = percentiles.into_iter().map(|(p, span)| (p, span.as_ps() as f64 / PS_PER_NS));
            list.push(metric("latency", "ns", mean, tails.collect()));
        }
        list
    }
}
