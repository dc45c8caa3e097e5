//! Rows: the metrics of a case from its repeats, with their uncertainty.

use super::balance::still_found;
use super::batch::{Batch, across, mean_latencies};
use super::buffers::{Filling, behind_filling};
use super::component_rows;
use super::measure::{Measured, parts, parts_tell};
use super::memory::rows as memory;
use super::metric::Metric;
use super::tails::{Clumped, PERCENTILES, pooled};
use lanetwin_load::{Answered, Results, Side, Tally};
use lanetwin_plan::{Case, Load, Programs};
use lanetwin_stats::results::{Row, X};
use lanetwin_stats::{Histogram, jain, tail};
use lanetwin_units::{Better, Span};

/// The percentile of the maximum, reported if the last of several devices matters.
const LONGEST: f64 = 100.0;
const PS_PER_NS: f64 = 1e3;

/// The rows of a case, from its repeats: of all devices together, then of each device and of each host, if there are
/// several.
pub(super) fn rows(variant: &str, workload: &str, case: &Case, repeats: &[Measured]) -> Vec<Row> {
    if !repeats[0].cells.is_empty() {
        return cells(variant, workload, case, repeats);
    }
    let mut rows = of_devices(variant, workload, case, repeats);
    let loads: Vec<&Results> = repeats.iter().map(|measured| &measured.load).collect();
    rows.iter_mut().for_each(|row| stands_for(row, repeats, &loads));
    rows
}

/// Notes in a row how much simulated time and how many operations it rests on.
fn stands_for(row: &mut Row, repeats: &[Measured], counted: &[&Results]) {
    let seconds = counted.iter().map(|results| results.elapsed().as_ps() as f64 * 1e-12).sum::<f64>();
    row.seconds = Some(seconds / counted.len() as f64);
    let operations = counted.iter().map(|results| results.tally().completed()).sum();
    row.operations = Some(if operations == 0 { loads_from_caches(repeats) } else { operations });
    let mut told = repeats.iter().map(|measured| &measured.steadiness);
    let worst = told.clone().find(|told| told.is_unsteady()).or_else(|| told.next());
    let filling: Vec<&Filling> = repeats.iter().filter_map(|measured| measured.filling.as_ref()).collect();
    let behind = behind_filling(&filling, seconds / counted.len() as f64);
    let behind = behind.or_else(|| still_found(&parts(repeats)));
    row.steady = behind.filter(|_| worst.is_some_and(|told| !told.is_unsteady())).or_else(|| worst.cloned());
}

/// Number of loads, if caches served all of them and memory moved nothing.
fn loads_from_caches(repeats: &[Measured]) -> u64 {
    repeats.iter().filter_map(|measured| Some(measured.memory.as_ref()?.found().all())).sum()
}

fn of_devices(variant: &str, workload: &str, case: &Case, repeats: &[Measured]) -> Vec<Row> {
    let axis = case.axis.as_ref();
    let axis =
        axis.map(|a| X { name: a.name.into(), value: a.value, unit: a.unit.into(), curve: a.curve.clone() });
    let row =
        |device: Option<&str>, metric: Metric| row((variant, workload, case), (device, axis.clone()), metric);
    let devices = &repeats[0].devices;
    let percents = [&PERCENTILES[..], if devices.is_empty() { &[] } else { &[LONGEST] }].concat();
    let parts = parts(repeats);
    let clumped: Vec<&Clumped> = repeats.iter().map(|measured| &measured.clumped).collect();
    let clumped = if parts_tell(repeats) { pooled(&clumped) } else { Clumped::default() };
    let always = !devices.is_empty();
    let told = CaseRows { case, percents: &percents, always, parts: &parts, clumped };
    let together: Vec<&Results> = repeats.iter().map(|measured| &measured.load).collect();
    let mut rows: Vec<Row> = match case.load {
        Load::Memory(_) => {
            let metrics = memory::metrics(repeats).into_iter();
            metrics.map(|(of, metric)| row(of.as_deref(), metric)).collect()
        }
        _ => {
            let own = told.metrics(&together).into_iter().map(|metric| row(None, metric));
            own.chain(memory::beside(repeats).into_iter().map(|(of, metric)| row(Some(&of), metric)))
                .collect()
        }
    };
    if case.load.is_even() {
        rows.extend(fairness(repeats).map(|metric| row(None, metric)));
    }
    rows.extend(component_rows::metrics(repeats).into_iter().map(|(of, metric)| row(Some(&of), metric)));
    let told = CaseRows { parts: &[], clumped: Clumped::default(), ..told };
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

/// The rows of a test of the SNIA PTS: every cell is a case; rows of components belong to the case as a whole.
fn cells(variant: &str, workload: &str, case: &Case, repeats: &[Measured]) -> Vec<Row> {
    let mut rows = Vec::new();
    for (place, (cell, _)) in repeats[0].cells.iter().enumerate() {
        let own: Vec<&Results> = repeats.iter().map(|measured| &measured.cells[place].1).collect();
        let (parts, clumped) = (&[][..], Clumped::default());
        let told = CaseRows { case: cell, percents: &PERCENTILES, always: false, parts, clumped };
        // the specification states one number for a mix, over reads and writes
        let both: Vec<Side> = own.iter().map(|results| together(results)).collect();
        let both: Vec<&Side> = both.iter().collect();
        let metrics = told.of_side("", Way::Read, &both, &own).into_iter().chain(failures("", &both));
        rows.extend(metrics.map(|metric| {
            let mut row = row((variant, workload, cell), (None, None), metric);
            stands_for(&mut row, repeats, &own);
            row
        }));
    }
    let own = component_rows::metrics(repeats).into_iter();
    let loads: Vec<&Results> = repeats.iter().map(|measured| &measured.load).collect();
    rows.extend(own.map(|(of, metric)| {
        let mut row = row((variant, workload, case), (Some(&*of), None), metric);
        stands_for(&mut row, repeats, &loads);
        row
    }));
    rows
}

/// Reads and writes together.
fn together(results: &Results) -> Side {
    let mut both = results.reads.clone();
    both.merge(&results.writes);
    both
}

/// A row, of one device or of all together.
fn row(
    (variant, workload, case): (&str, &str, &Case),
    (device, x): (Option<&str>, Option<X>),
    metric: Metric,
) -> Row {
    let mean = metric.samples.iter().sum::<f64>() / metric.samples.len() as f64;
    let interval = metric.interval(mean).map(|interval| interval.of_what(&metric.samples));
    let unsettled = unsettled(&metric.percentiles, &metric.percentile_intervals);
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
        unsettled,
        percentile_intervals: metric.percentile_intervals,
        samples: metric.samples,
        ..Row::default()
    }
}

/// The percentiles that are not known well enough; the maximum is not checked.
fn unsettled(percentiles: &[(f64, f64)], intervals: &[(f64, f64, f64)]) -> Vec<f64> {
    let interval = |percent: f64| {
        let found = intervals.iter().find(|(of, ..)| *of == percent);
        found.map(|(_, low, high)| (*low, *high))
    };
    let told = percentiles.iter().filter(|(percent, _)| *percent < LONGEST);
    told.filter(|(percent, value)| !tail::is_settled(*value, interval(*percent))).map(|(p, _)| *p).collect()
}

/// How evenly devices share the total throughput of reads and writes ([`jain`]).
fn fairness(repeats: &[Measured]) -> Option<Metric> {
    let index = |measured: &Measured| {
        let devices = measured.devices.iter();
        jain(&devices.map(|(_, results)| results.bits_per_second().unwrap_or(0.0)).collect::<Vec<_>>())
    };
    let samples = repeats.iter().map(index).collect::<Option<Vec<_>>>()?;
    Some(Metric::new("fairness", "", Better::Higher, samples))
}

/// How the rows of a case are made.
struct CaseRows<'a> {
    case: &'a Case,
    /// The percentiles of the latency.
    percents: &'a [f64],
    /// Whether rows are made even without operations: one of several devices may get none.
    always: bool,
    /// Equal parts of each repeat, if they show the uncertainty of its means.
    parts: &'a [&'a [Batch]],
    /// How the slowest operations cluster in time, if known.
    clumped: Clumped,
}

/// The share of operations that failed. Returns `None` if none did.
fn failures(prefix: &str, sides: &[&Side]) -> Option<Metric> {
    let failed = |side: &&Side| side.corrupt + side.aborted;
    if sides.iter().all(|side| failed(side) == 0) {
        return None;
    }
    let share = |side: &&Side| 100.0 * failed(side) as f64 / (failed(side) + side.completed) as f64;
    let samples = sides.iter().map(|side| if failed(side) == 0 { 0.0 } else { share(side) }).collect();
    Some(Metric::new(format!("{prefix}failed"), "%", Better::Lower, samples))
}

/// Rate and duration of connections that were opened, used and closed; empty if there were none.
fn connections(repeats: &[&Results]) -> Vec<Metric> {
    let made: Option<Vec<&Histogram>> =
        repeats.iter().map(|results| results.connections.as_deref()).collect();
    let Some(made) = made else { return Vec::new() };
    let a_second =
        |(made, results): (&&Histogram, &&Results)| made.count() as f64 / seconds(results.elapsed());
    let rates = made.iter().zip(repeats).map(a_second).map(|rate| rate / 1e3).collect();
    let times = made.iter().map(|made| made.mean_ps().unwrap_or(0.0) / PS_PER_NS).collect();
    vec![
        Metric::new("connections", "k/s", Better::Higher, rates),
        Metric::new("connection time", "ns", Better::Lower, times),
    ]
}

/// A kind of operation.
#[derive(Clone, Copy)]
enum Way {
    Read,
    Write,
}

impl Way {
    const fn of(self, results: &Results) -> &Side {
        match self {
            Self::Read => &results.reads,
            Self::Write => &results.writes,
        }
    }
    const fn within(self, tally: &Tally) -> &Answered {
        match self {
            Self::Read => &tally.reads,
            Self::Write => &tally.writes,
        }
    }
}

fn seconds(time: Span) -> f64 {
    time.as_ps() as f64 * 1e-12
}

/// The kinds of operation that a case has, with the prefix of their metrics.
fn sides(case: &Case) -> Vec<(&'static str, Way)> {
    let (read, write) = (Way::Read, Way::Write);
    match case.load.kinds() {
        (true, false) => vec![("", read)],
        (false, true) => vec![("", write)],
        _ => vec![("read ", read), ("write ", write)],
    }
}

impl CaseRows<'_> {
    /// The metrics of one device, or of all together, from the counters of each repeat.
    fn metrics(&self, repeats: &[&Results]) -> Vec<Metric> {
        let mut list = Vec::new();
        for (prefix, way) in sides(self.case) {
            let sides: Vec<&Side> = repeats.iter().map(|results| way.of(results)).collect();
            if self.always || sides.iter().any(|s| s.completed > 0) {
                list.extend(self.of_side(prefix, way, &sides, repeats));
            }
            list.extend(failures(prefix, &sides));
        }
        if self.case.load.network().is_some() {
            list.extend(connections(repeats));
        }
        list
    }

    fn of_side(&self, prefix: &str, way: Way, sides: &[&Side], repeats: &[&Results]) -> Vec<Metric> {
        let time = |i: usize| repeats[i].time();
        let per_repeat = |value: &dyn Fn(usize, &Side) -> f64| -> Vec<f64> {
            sides.iter().enumerate().map(|(i, side)| value(i, side)).collect()
        };
        let bits = |i: usize, side: &Side| side.bits_per_second(time(i)).unwrap_or(0.0);
        let operations = |i: usize, side: &Side| side.operations_per_second(time(i)).unwrap_or(0.0);
        let is_dma = self.case.load.is_dma();
        let network = self.case.load.network();
        let transacts = network.is_some_and(Programs::reply);
        let (rate_name, rate_unit, rate_scale) = match network {
            _ if is_dma => ("transfers", "M/s", 1e6),
            None => ("IOPS", "k/s", 1e3),
            Some(_) if transacts => ("transactions", "k/s", 1e3),
            Some(_) => ("transfers", "k/s", 1e3),
        };
        let (bits_unit, bits_scale) = if is_dma { ("Gb/s", 1e9) } else { ("MB/s", 8e6) };
        let latencies: Vec<&Histogram> = sides.iter().map(|side| &side.latency).collect();
        let metric =
            |name: &str, unit, better, samples| Metric::new(format!("{prefix}{name}"), unit, better, samples);
        let rates = per_repeat(&|i, s| operations(i, s) / rate_scale);
        let within = |amount: fn(&Answered) -> u64, scale: f64| -> Vec<f64> {
            let a_second = |batch: &Batch| amount(way.within(&batch.tally)) as f64 / seconds(batch.time());
            across(self.parts, |batch| Some(a_second(batch) / scale))
        };
        let name = if transacts { "request throughput" } else { "throughput" };
        let throughput = metric(name, bits_unit, Better::Higher, per_repeat(&|i, s| bits(i, s) / bits_scale))
            .with_batches(within(|side| side.bytes * 8, bits_scale));
        let rate = metric(rate_name, rate_unit, Better::Higher, rates)
            .with_batches(within(|side| side.completed, rate_scale));
        // the first metric is the rate for transactions, and the payload for everything else
        let mut list = match transacts {
            true => vec![rate, throughput.restating()],
            false => vec![throughput, rate.restating()],
        };
        if latencies.iter().any(|one| !one.is_empty()) {
            let mean = per_repeat(&|_, s| s.latency.mean_ps().unwrap_or(0.0) / PS_PER_NS);
            let latency = metric("latency", "ns", Better::Lower, mean);
            let within = mean_latencies(self.parts, |tally| way.within(tally));
            let clumps = &self.clumped[way as usize];
            list.push(latency.with_batches(within).with_percentiles(&latencies, self.percents, clumps));
        }
        list
    }
}
