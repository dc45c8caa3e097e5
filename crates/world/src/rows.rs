//! Rows: what the repeats of a case have shown, as metrics with their uncertainty.

use super::component_rows;
use super::measure::Measured;
use super::memory;
use super::metric::Metric;
use lanetwin_load::{Results, Side};
use lanetwin_plan::{Case, Load};
use lanetwin_stats::results::{Row, X};
use lanetwin_stats::{Confidence, Histogram, interval, jain};
use lanetwin_units::Better;

const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];
/// The percentile that is the longest of all: told where the last of several devices matters.
const LONGEST: f64 = 100.0;
const PS_PER_NS: f64 = 1e3;

/// The rows of a case, from its repeats: of all devices together, then of each and of each
/// host, if there are several.
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
    if case.load.is_even() {
        rows.extend(fairness(repeats).map(|metric| row(None, metric)));
    }
    rows.extend(component_rows::metrics(repeats).into_iter().map(|(of, metric)| row(Some(&of), metric)));
    for (place, (device, _)) in devices.iter().enumerate() {
        let own: Vec<&Results> = repeats.iter().map(|measured| &measured.devices[place].1).collect();
        rows.extend(told.metrics(&own).into_iter().map(|metric| row(Some(device), metric)));
    }
    for (place, (host, _)) in repeats[0].hosts.iter().enumerate() {
        let own: Vec<&Results> = repeats.iter().map(|measured| &measured.hosts[place].1).collect();
        rows.extend(told.metrics(&own).into_iter().map(|metric| row(Some(host), metric)));
    }
    rows
}

/// The rows of a test of the SNIA PTS: every cell is a case, and components are told of under the case as a whole.
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
    let own = component_rows::metrics(repeats).into_iter();
    rows.extend(own.map(|(of, metric)| row((variant, workload, case), (Some(&*of), None), metric)));
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
        metric: metric.name.into_owned(),
        unit: metric.unit.into(),
        better: metric.better,
        restates: metric.restates,
        value: mean,
        low: interval.map(|i| i.low()),
        high: interval.map(|i| i.high()),
        n: metric.samples.len() as u32,
        percentiles: metric.percentiles,
        samples: metric.samples,
    }
}

/// How evenly several devices share what all of them move ([`jain`]): of their throughputs, reads and writes together.
fn fairness(repeats: &[Measured]) -> Option<Metric> {
    let index = |measured: &Measured| {
        let devices = measured.devices.iter();
        jain(&devices.map(|(_, results)| results.bits_per_second().unwrap_or(0.0)).collect::<Vec<_>>())
    };
    let samples = repeats.iter().map(index).collect::<Option<Vec<_>>>()?;
    Some(Metric::new("fairness", "", Better::Higher, samples))
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
    Some(Metric::new(format!("{prefix}failed"), "%", Better::Lower, samples))
}

type Of = fn(&Results) -> &Side;

/// The kinds of operation that a case has, with the prefix of their metrics.
fn sides(case: &Case) -> Vec<(&'static str, Of)> {
    let (read, write): (Of, Of) = (|r| &r.reads, |r| &r.writes);
    match case.load.kinds() {
        (true, false) => vec![("", read)],
        (false, true) => vec![("", write)],
        _ => vec![("read ", read), ("write ", write)],
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
        let metric =
            |name: &str, unit, better, samples| Metric::new(format!("{prefix}{name}"), unit, better, samples);
        let rates = per_repeat(&|i, s| operations(i, s) / rate_scale);
        let mut list = vec![
            metric("throughput", bits_unit, Better::Higher, per_repeat(&|i, s| bits(i, s) / bits_scale)),
            metric(rate_name, rate_unit, Better::Higher, rates).restating(),
        ];
        if !all.is_empty() {
            let mean = per_repeat(&|_, s| s.latency.mean_ps().unwrap_or(0.0) / PS_PER_NS);
            let tails = percentiles.into_iter().map(|(p, span)| (p, span.as_ps() as f64 / PS_PER_NS));
            let latency = metric("latency", "ns", Better::Lower, mean);
            list.push(latency.with_percentiles(tails.collect()));
        }
        list
    }
}
