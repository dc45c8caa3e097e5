//! Results as fio writes them: JSON and json+ (`stat.c`, `show_thread_status_json`).
//!
//! **Contents.** Every key that fio 3.33 writes, so that programs that read fio's results can read these. Quantities
//! that a simulation does not have are 0: submission latency (`slat_ns`; completion latency therefore covers all of the
//! latency), context switches, page faults, user time. `iodepth_level` is the mean number outstanding. The key
//! `lanetwin` states the origin of the numbers.
//!
//! **Runtimes** are whole milliseconds as in fio, at least 1, although virtual runs are often shorter. Rates are
//! computed over the exact time.

use super::job::{Given, Job};
use super::plat::Plat;
use crate::intervals::Moved;
use crate::results::{Results, Side};
use lanetwin_stats::Histogram;
use lanetwin_units::Span;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

const PS_PER_NS: f64 = 1e3;
const PS_PER_MS: u64 = 1_000_000_000;
const KIB: f64 = 1024.0;
const PERCENT: f64 = 100.0;
/// The version of fio whose format is written.
const FORMAT: &str = "fio-3.33";

/// Names and values, in their order.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Map<T>(pub Vec<(String, T)>);

impl<T: Serialize> Serialize for Map<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

/// A results file.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Document {
    #[serde(rename = "fio version")]
    version: &'static str,
    timestamp: u64,
    timestamp_ms: u64,
    time: &'static str,
    #[serde(rename = "global options")]
    globals: Map<String>,
    jobs: Vec<JobEntry>,
    disk_util: [u8; 0],
    lanetwin: Origin,
}

/// Origin of the numbers.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Origin {
    /// The version of lanetwin.
    pub version: String,
    /// How the jobs were sampled, and the time that the numbers cover.
    pub sampled: String,
    /// Options of the jobs that are not simulated.
    pub not_modelled: Vec<String>,
}

/// One entry of `jobs`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JobEntry {
    jobname: String,
    groupid: u32,
    error: u32,
    eta: u32,
    elapsed: u64,
    #[serde(rename = "job options")]
    options: Map<String>,
    read: Direction,
    write: Direction,
    trim: Direction,
    sync: Sync,
    job_runtime: u64,
    usr_cpu: f64,
    sys_cpu: f64,
    ctx: u64,
    majf: u64,
    minf: u64,
    iodepth_level: Map<f64>,
    iodepth_submit: Map<f64>,
    iodepth_complete: Map<f64>,
    latency_ns: Map<f64>,
    latency_us: Map<f64>,
    latency_ms: Map<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steadystate: Option<super::steady::JobEntry>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct Sync {
    total_ios: u64,
    lat_ns: Latency,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
struct Direction {
    io_bytes: u64,
    io_kbytes: u64,
    bw_bytes: u64,
    bw: u64,
    iops: f64,
    runtime: u64,
    total_ios: u64,
    short_ios: u64,
    drop_ios: u64,
    slat_ns: Latency,
    clat_ns: Latency,
    lat_ns: Latency,
    bw_min: u64,
    bw_max: u64,
    bw_agg: f64,
    bw_mean: f64,
    bw_dev: f64,
    bw_samples: u64,
    iops_min: u64,
    iops_max: u64,
    iops_mean: f64,
    iops_stddev: f64,
    iops_samples: u64,
}

#[derive(Clone, PartialEq, Debug, Default, Serialize)]
struct Latency {
    min: u64,
    max: u64,
    mean: f64,
    stddev: f64,
    #[serde(rename = "N")]
    n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    percentile: Option<Map<u64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bins: Option<Map<u64>>,
}

/// The results of one job, or of a group.
#[derive(Clone, Copy, Debug)]
pub struct FinishedJobs<'a> {
    /// The job, or the first of the group.
    pub job: &'a Job,
    /// Its name in the results.
    pub name: &'a str,
    /// The results of each repeat; at least one.
    pub repeats: &'a [&'a Results],
    /// Utilisation of the cores of its driver, from 0 to 1.
    pub busy: f64,
}

/// The two formats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// `--output-format=json`.
    Json,
    /// `--output-format=json+`: with every bucket of the latencies.
    JsonPlus,
}

/// A results file of these jobs.
#[must_use]
pub fn document(jobs: &[FinishedJobs<'_>], globals: &[Given], origin: Origin, format: Format) -> Document {
    Document {
        version: FORMAT,
        timestamp: 0,
        timestamp_ms: 0,
        time: "Thu Jan  1 00:00:00 1970",
        globals: options(globals),
        jobs: jobs.iter().map(|ran| ran.told(format)).collect(),
        disk_util: [],
        lanetwin: origin,
    }
}

/// Options in results: the last of each name.
fn options(given: &[Given]) -> Map<String> {
    let mut map: Vec<(String, String)> = Vec::new();
    for option in given {
        let value = option.value.clone().unwrap_or_else(|| "1".into());
        match map.iter_mut().find(|(name, _)| *name == option.name) {
            Some(entry) => entry.1 = value,
            None => map.push((option.name.clone(), value)),
        }
    }
    Map(map)
}

impl FinishedJobs<'_> {
    fn told(&self, format: Format) -> JobEntry {
        let s = &self.job.settings;
        let mut given = options(&self.job.given);
        // readers of fio's results expect these, even if they were not given
        let written = [("rw", s.rw.word.to_owned()), ("iodepth", s.iodepth.to_string())];
        let blocks = self.job.blocks()[usize::from(!s.rw.reads)].0;
        let more = [("numjobs", s.numjobs.to_string()), ("bs", blocks.to_string())];
        for (name, value) in written.into_iter().chain(more) {
            if !given.0.iter().any(|(known, _)| known == name) {
                given.0.push((name.to_owned(), value));
            }
        }
        let sum = Sum::of(self.repeats);
        let runtime = milliseconds(sum.elapsed);
        let (ns, us, ms) = shares(&sum);
        JobEntry {
            jobname: self.name.to_owned(),
            groupid: self.job.group,
            error: 0,
            eta: 0,
            elapsed: runtime.div_ceil(1000),
            options: given,
            read: sum.direction(0, &s.percentile_list, format),
            write: sum.direction(1, &s.percentile_list, format),
            trim: Direction::default(),
            sync: Sync { total_ios: 0, lat_ns: Latency::default() },
            job_runtime: runtime,
            usr_cpu: 0.0,
            sys_cpu: self.busy * PERCENT,
            ctx: 0,
            majf: 0,
            minf: 0,
            iodepth_level: levels(sum.outstanding, &["1", "2", "4", "8", "16", "32", ">=64"], 1.0),
            iodepth_submit: levels(1.0, &["0", "4", "8", "16", "32", "64", ">=64"], 4.0),
            iodepth_complete: levels(1.0, &["0", "4", "8", "16", "32", "64", ">=64"], 4.0),
            latency_ns: ns,
            latency_us: us,
            latency_ms: ms,
            steadystate: super::steady::told(s, &sum.moved, sum.width),
        }
    }
}

/// The shares of seven levels of depth \[%\]: 100 % for the level of this depth, 0 for the others.
fn levels(depth: f64, names: &[&str; 7], first: f64) -> Map<f64> {
    let mut most = first;
    let mut place = 0;
    while place < names.len() - 1 && depth > most * 1.5 {
        (most, place) = (most * 2.0, place + 1);
    }
    let share = |nth: usize| if nth == place { PERCENT } else { 0.0 };
    Map(names.iter().enumerate().map(|(nth, name)| ((*name).to_owned(), share(nth))).collect())
}

fn milliseconds(span: Span) -> u64 {
    span.as_ps().div_ceil(PS_PER_MS).max(1)
}

/// Totals of all repeats, as of one run with the length of all together.
struct Sum {
    sides: [Side; 2],
    elapsed: Span,
    outstanding: f64,
    /// Intervals of equal width.
    moved: Vec<Moved>,
    width: Span,
}

impl Sum {
    fn of(repeats: &[&Results]) -> Self {
        let mut sum = Self {
            sides: [Side::default(), Side::default()],
            elapsed: Span::ZERO,
            outstanding: 0.0,
            moved: Vec::new(),
            width: Span::ZERO,
        };
        // all are widened to the widest
        let intervals = || repeats.iter().filter_map(|results| results.intervals.as_ref());
        let widest = intervals().max_by_key(|intervals| intervals.width());
        for results in repeats {
            sum.sides[0].merge(&results.reads);
            sum.sides[1].merge(&results.writes);
            sum.elapsed += results.time();
            sum.outstanding += results.mean_outstanding().unwrap_or(0.0) / repeats.len() as f64;
            if let (Some(own), Some(widest)) = (&results.intervals, widest) {
                let mut own = own.clone();
                own.widen(widest.width());
                sum.width = own.width();
                sum.moved.extend(own.whole(results.elapsed()));
            }
        }
        sum
    }

    fn direction(&self, way: usize, percents: &[f64], format: Format) -> Direction {
        let side = &self.sides[way];
        if side.completed == 0 {
            return Direction::default();
        }
        let bytes = side.bits_per_second(self.elapsed).unwrap_or(0.0) / 8.0;
        let clat = latency(&side.latency, Some(percents), format);
        let seconds = self.width.as_ps() as f64 * 1e-12;
        let per_second = |of: &dyn Fn(&Moved) -> u64, scale: f64| {
            self.moved.iter().map(|moved| of(moved) as f64 / seconds / scale).collect::<Vec<f64>>()
        };
        let bw = Spread::of(&per_second(&|moved| moved.bytes[way], KIB));
        let iops = Spread::of(&per_second(&|moved| moved.operations[way], 1.0));
        Direction {
            io_bytes: side.bytes,
            io_kbytes: side.bytes >> 10,
            bw_bytes: bytes as u64,
            bw: (bytes / KIB) as u64,
            iops: side.operations_per_second(self.elapsed).unwrap_or(0.0),
            runtime: milliseconds(self.elapsed),
            total_ios: side.completed,
            short_ios: 0,
            drop_ios: 0,
            slat_ns: Latency::default(),
            lat_ns: Latency { percentile: None, bins: None, ..clat.clone() },
            clat_ns: clat,
            bw_min: bw.least as u64,
            bw_max: bw.most as u64,
            bw_agg: PERCENT,
            bw_mean: bw.mean,
            bw_dev: bw.deviation,
            bw_samples: bw.count,
            iops_min: iops.least as u64,
            iops_max: iops.most as u64,
            iops_mean: iops.mean,
            iops_stddev: iops.deviation,
            iops_samples: iops.count,
        }
    }
}

/// Spread of samples.
#[derive(Default)]
struct Spread {
    least: f64,
    most: f64,
    mean: f64,
    deviation: f64,
    count: u64,
}

impl Spread {
    fn of(samples: &[f64]) -> Self {
        if samples.is_empty() {
            return Self::default();
        }
        let count = samples.len() as f64;
        let mean = samples.iter().sum::<f64>() / count;
        let squares: f64 = samples.iter().map(|sample| (sample - mean) * (sample - mean)).sum();
        Self {
            least: samples.iter().copied().fold(f64::INFINITY, f64::min),
            most: samples.iter().copied().fold(0.0, f64::max),
            mean,
            deviation: if count > 1.0 { libm::sqrt(squares / (count - 1.0)) } else { 0.0 },
            count: samples.len() as u64,
        }
    }
}

fn latency(latency: &Histogram, percents: Option<&[f64]>, format: Format) -> Latency {
    let Some((mean_ps, count)) = latency.mean_ps().zip(Some(latency.count())) else {
        return Latency::default();
    };
    let ns = |span: Option<Span>| span.map_or(0, |span| span.as_ps() / 1000);
    let squares: f64 = latency
        .buckets()
        .map(|bucket| {
            let off = u64::midpoint(bucket.low.as_ps(), bucket.high.as_ps()) as f64 - mean_ps;
            off * off * bucket.count as f64
        })
        .sum();
    let deviation = if count > 1 { libm::sqrt(squares / (count - 1) as f64) } else { 0.0 };
    let plat = Plat::of(latency);
    let percentile = percents.map(|percents| {
        let mut percents = percents.to_vec();
        percents.sort_by(f64::total_cmp);
        let found = plat.percentiles(&percents);
        Map(percents.iter().map(|percent| format!("{percent:.6}")).zip(found).collect())
    });
    let bins = (format == Format::JsonPlus)
        .then(|| Map(plat.bins().map(|(ns, count)| (ns.to_string(), count)).collect()));
    Latency {
        min: ns(latency.min()),
        max: ns(latency.max()),
        mean: mean_ps / PS_PER_NS,
        stddev: deviation / PS_PER_NS,
        n: count,
        percentile,
        bins,
    }
}

/// The shares of latencies by upper bound, in nanoseconds, microseconds and milliseconds \[%\] (`io_u.c`,
/// `io_u_mark_latency`).
fn shares(sum: &Sum) -> (Map<f64>, Map<f64>, Map<f64>) {
    const BOUNDS: [u64; 10] = [2, 4, 10, 20, 50, 100, 250, 500, 750, 1000];
    let mut counts = [[0_u64; 12]; 3];
    let mut total = 0;
    for bucket in sum.sides.iter().flat_map(|side| side.latency.buckets()) {
        let ns = u64::midpoint(bucket.low.as_ps(), bucket.high.as_ps()) / 1000;
        let (unit, value) = match ns {
            0..1000 => (0, ns),
            1000..1_000_000 => (1, ns / 1000),
            _ => (2, ns / 1_000_000),
        };
        let place = BOUNDS.iter().position(|bound| value < *bound);
        let place = place.unwrap_or(if value < 2000 { 10 } else { 11 });
        counts[unit][place] += bucket.count;
        total += bucket.count;
    }
    let share = |count: u64| if total == 0 { 0.0 } else { PERCENT * count as f64 / total as f64 };
    let named = |unit: usize, names: usize| {
        let bounds = BOUNDS.iter().map(ToString::to_string);
        let all = bounds.chain(["2000".to_owned(), ">=2000".to_owned()]).take(names);
        Map(all.zip(counts[unit]).map(|(name, count)| (name, share(count))).collect())
    };
    (named(0, 10), named(1, 10), named(2, 12))
}
