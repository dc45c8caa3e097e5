//! The published curves, and those of the model beside them.

use super::world::{self, Length, Point, Threads, Traffic};
use crate::claim::Cell;
use crate::claim::Role;
use lanetwin_media::dram::{Config, PagePolicy, Speed};
use lanetwin_stats::results::Digest;
use lanetwin_units::{Bytes, Span};

pub(super) const BAR_PCT: f64 = 10.0;
pub(super) const SOURCE: &str =
    "Mess benchmark, MareNostrum 5, Sapphire Rapids with DDR5: data/dram-curves/spr_ddr5.csv";
pub(super) const CURVES: &str = include_str!("../../../data/dram-curves/spr_ddr5.csv");
pub(super) const SHARES: [&str; 4] = ["100", "75", "67", "51"];
/// Mean times between two lines of a thread \[ns\], from the lightest load to the heaviest.
pub(super) const DELAYS_NS: [u64; 11] = [2000, 160, 90, 60, 45, 35, 28, 23, 19, 16, 0];

/// A published curve.
#[derive(Clone)]
pub(super) struct Curve {
    pub(super) share: &'static str,
    /// Lines written for each line read.
    pub(super) stores: f64,
    /// Bandwidth \[GB/s\] and latency \[ns\]; the first is idle.
    pub(super) points: Vec<(f64, f64)>,
}

impl Curve {
    pub(super) fn is_of_all_reads(&self) -> bool {
        self.share == "100"
    }
    /// Whether the latency of the point calibrates something: the idle ones, which are nearly the same, and the top of
    /// the curve of all reads.
    pub(super) fn calibrates(&self, point: usize) -> bool {
        point == 0 || self.is_of_all_reads() && point == self.points.len() - 1
    }
}

/// The published curves.
pub(super) fn published() -> Vec<Curve> {
    let mut reader = csv::Reader::from_reader(CURVES.as_bytes());
    let rows = reader.deserialize::<(String, f64, f64, f64)>().map(|row| row.expect("our own file is sound"));
    let rows: Vec<_> = rows.collect();
    let curve = |share: &&'static str| {
        let rows: Vec<_> = rows.iter().filter(|row| row.0 == *share).collect();
        let reads = rows.iter().map(|row| row.1).sum::<f64>() / rows.len() as f64;
        let mut points: Vec<_> = rows.iter().map(|row| (row.2, row.3)).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Curve { share, stores: (1.0 - reads) / reads, points }
    };
    SHARES.iter().map(curve).collect()
}

/// The memory of the socket: what is not in the name of its DIMMs is assumed. [`predictor`] says it once more, in the
/// words of a scenario.
pub(super) fn memory() -> Config {
    let mut config = Config::new(Speed::Ddr5_4800, 8, Bytes(128 << 30));
    config.mapping.interleave = Bytes(INTERLEAVE);
    config.page = PagePolicy::Closed;
    config.queues.waiting = 1 << 16;
    config
}

pub(super) const INTERLEAVE: u64 = 128;

/// What is simulated, and how long.
#[derive(Clone)]
pub(super) struct Setup {
    pub(super) config: Config,
    pub(super) threads: Threads,
    pub(super) length: Length,
    /// Instead of what the idle latency says.
    pub(super) fixed: Option<Span>,
    /// Instead of what Little's law says.
    pub(super) outstanding: Option<u64>,
    /// Mean times between two lines of a thread \[ns\], from the lightest load to the heaviest.
    pub(super) delays: &'static [u64],
}

impl Setup {
    /// That of the claim.
    pub(super) fn full() -> Self {
        Self {
            config: memory(),
            threads: Threads::ASSUMED,
            length: Length::FULL,
            fixed: None,
            outstanding: None,
            delays: &DELAYS_NS,
        }
    }
}

/// What was simulated: the points of each curve, and what was calibrated before.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Ran {
    pub(super) curves: Vec<Vec<Point>>,
    pub(super) fixed: Span,
    pub(super) outstanding: u64,
}

/// Calibrates, and simulates every curve. `step` is told of each run, and can end it all.
pub(super) fn simulate(
    setup: &Setup,
    published: &[Curve],
    step: &mut dyn FnMut() -> Option<()>,
) -> Option<Ran> {
    let Setup { config, threads, length, delays, .. } = setup;
    let reads = published.iter().find(|curve| curve.is_of_all_reads()).expect("a curve of all reads");
    let (idle, top) = (reads.points[0].1, reads.points[reads.points.len() - 1]);
    let by_little = (top.0 * top.1 / 64.0).round() as u64;
    let outstanding = setup.outstanding.unwrap_or(by_little);
    let run = |stores, delay, fixed| {
        let delay = Span::from_ns(delay);
        world::run(config, Traffic { stores, delay, outstanding, fixed, threads: *threads, length: *length })
    };
    let beside = || (idle - run(reads.stores, delays[0], Span::ZERO).latency_ns) * 1e3;
    let fixed = setup.fixed.unwrap_or_else(|| Span::from_ps(beside().max(0.0) as u64));
    step()?;
    let mut curves = Vec::new();
    for curve in published {
        let mut points = Vec::new();
        for delay in *delays {
            points.push(run(curve.stores, *delay, fixed));
            step()?;
        }
        curves.push(points);
    }
    Some(Ran { curves, fixed, outstanding })
}

/// The latency of the model's curve at a bandwidth, and half of its interval; that of its top beyond.
pub(super) fn latency_at(model: &[Point], gigabytes: f64) -> (f64, f64) {
    let mut before = model[0];
    for point in model {
        if point.gigabytes >= gigabytes {
            let wide = point.gigabytes - before.gigabytes;
            let part = if wide > 0.0 { (gigabytes - before.gigabytes).max(0.0) / wide } else { 0.0 };
            let between = |a: f64, b: f64| a + (b - a) * part;
            return (between(before.latency_ns, point.latency_ns), between(before.half_ns, point.half_ns));
        }
        before = *point;
    }
    let top = model.iter().max_by(|a, b| a.gigabytes.total_cmp(&b.gigabytes)).unwrap_or(&model[0]);
    (top.latency_ns, top.half_ns)
}

pub(super) fn cells(curve: &Curve, model: &[Point]) -> Vec<Cell> {
    let digest = Digest(model.iter().fold(0, |sum, point| lanetwin_kernel::mix(sum ^ point.trace)));
    let cell = |quantity: &str, unit, published, (predicted, half): (f64, f64), role, case: String| Cell {
        case,
        quantity: quantity.into(),
        unit,
        published,
        predicted,
        interval: (predicted - half, predicted + half),
        role,
        baseline: None,
        source: SOURCE,
        digest,
    };
    let latency = |(n, (gigabytes, published)): (usize, &(f64, f64))| {
        let role = if curve.calibrates(n) { Role::Calibrated } else { Role::Predicted };
        let found = latency_at(model, *gigabytes);
        cell(
            "latency",
            "ns",
            *published,
            found,
            role,
            format!("{} % reads, {gigabytes:.1} GB/s", curve.share),
        )
    };
    let mut cells: Vec<Cell> = curve.points.iter().enumerate().map(latency).collect();
    let most = |points: &mut dyn Iterator<Item = f64>| points.fold(0.0, f64::max);
    let published = most(&mut curve.points.iter().map(|point| point.0));
    let predicted = most(&mut model.iter().map(|point| point.gigabytes));
    let peak = format!("{} % reads, saturated", curve.share);
    cells.push(cell("bandwidth", "GB/s", published, (predicted, 0.0), Role::Predicted, peak));
    cells
}

/// Every cell of every curve.
pub(super) fn compare(published: &[Curve], ran: &Ran) -> Vec<Cell> {
    published.iter().zip(&ran.curves).flat_map(|(curve, model)| cells(curve, model)).collect()
}
