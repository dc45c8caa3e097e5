//! `dram-curves`: the bandwidth and the latency under load of the DDR5 of a Sapphire Rapids socket, from timing tables.
//!
//! ```text
//!   idle latency ──► what a load takes beside the memory (calibrated) ─┐
//!   top of the all-read curve, Little's law ──► lines under way ───────┤
//!   DDR5-4800, eight channels, x8, one rank: timing table ─────────────┴─► latency at every published bandwidth, peaks
//! ```
//!
//! The machine is [`world`]: the controllers of `media::dram` and threads that keep so many lines under way, without caches. The latency at a published bandwidth
//! is that of the model's curve there. Not here: prefetchers, the mesh between cores and memory controllers, whatever else makes the
//! latency of an idle machine.

mod world;

use super::{Cell, Claim, Outcome};
use crate::accuracy;
use crate::report::{FreeParameter, Role};
use crate::watch::Watch;
use lanetwin_media::dram::{Config, PagePolicy, Speed};
use lanetwin_stats::results::Digest;
use lanetwin_units::{Bytes, Span};
use world::{Point, Traffic};

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "dram-curves",
    about: "Latency at every bandwidth of eight channels of DDR5-4800, from all reads to as many writes as reads.",
    bar: "mean error of the predicted latencies below 10 %",
    run,
};

const BAR_PCT: f64 = 10.0;
const SOURCE: &str =
    "Mess benchmark, MareNostrum 5, Sapphire Rapids with DDR5: data/dram-curves/spr_ddr5.csv";
const CURVES: &str = include_str!("../../data/dram-curves/spr_ddr5.csv");
const SHARES: [&str; 4] = ["100", "75", "67", "51"];
/// Mean times between two lines of a thread \[ns\], from the lightest load to the heaviest.
const DELAYS_NS: [u64; 11] = [2000, 160, 90, 60, 45, 35, 28, 23, 19, 16, 0];

/// A published curve.
struct Curve {
    share: &'static str,
    /// Lines written for each line read.
    stores: f64,
    /// Bandwidth \[GB/s\] and latency \[ns\]; the first is idle.
    points: Vec<(f64, f64)>,
}

/// The published curve of a read share.
fn curve(share: &'static str) -> Curve {
    let mut reader = csv::Reader::from_reader(CURVES.as_bytes());
    let rows = reader.deserialize::<(String, f64, f64, f64)>().map(|row| row.expect("our own file is sound"));
    let rows: Vec<_> = rows.filter(|row| row.0 == share).collect();
    let reads = rows.iter().map(|row| row.1).sum::<f64>() / rows.len() as f64;
    let mut points: Vec<_> = rows.iter().map(|row| (row.2, row.3)).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    Curve { share, stores: (1.0 - reads) / reads, points }
}

/// The memory of the socket: what is not in the name of its DIMMs is assumed.
fn memory() -> Config {
    let mut config = Config::new(Speed::Ddr5_4800, 8, Bytes(128 << 30));
    config.mapping.interleave = Bytes(INTERLEAVE);
    config.page = PagePolicy::Closed;
    config.queues.waiting = 1 << 16;
    config
}

const INTERLEAVE: u64 = 128;

/// The numbers that are assumed or calibrated, and move a row.
fn free_parameters(fixed: Span, outstanding: u64) -> Vec<FreeParameter> {
    let q = memory().queues;
    let free = |name: &str, value: String, calibrated_to: Option<&str>| FreeParameter {
        part: "memory".into(),
        name: name.into(),
        value,
        calibrated_to: calibrated_to.map(Into::into),
    };
    vec![
        free("latency beside the memory", fixed.to_string(), Some("the idle latency of all reads")),
        free(
            "lines under way",
            outstanding.to_string(),
            Some("the top of the curve of all reads, by Little's law"),
        ),
        free("interleave", format!("{INTERLEAVE} B"), None),
        free("page policy", "closed".into(), None),
        free("read queue", q.reads.to_string(), None),
        free("write queue", q.writes.to_string(), None),
        free("high mark of writes", q.high.to_string(), None),
        free("low mark of writes", q.low.to_string(), None),
        free("idle time before writes", q.idle.to_string(), None),
    ]
}

/// The latency of the model's curve at a bandwidth, and half of its interval; that of its top beyond.
fn latency_at(model: &[Point], gigabytes: f64) -> (f64, f64) {
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

fn cells(curve: &Curve, model: &[Point]) -> Vec<Cell> {
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
    let all_reads = curve.share == "100";
    let last = curve.points.len() - 1;
    let latency = |(n, (gigabytes, published)): (usize, &(f64, f64))| {
        let is_given = n == 0 || all_reads && n == last;
        let role = if is_given { Role::Calibrated } else { Role::Predicted };
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

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let total = 1 + SHARES.len() * DELAYS_NS.len();
    let config = memory();
    let reads = curve("100");
    let (idle, top) = (reads.points[0].1, reads.points[reads.points.len() - 1]);
    let outstanding = (top.0 * top.1 / 64.0).round() as u64;
    let lightest = Span::from_ns(DELAYS_NS[0]);
    let alone = Traffic { stores: reads.stores, delay: lightest, outstanding, fixed: Span::ZERO };
    let fixed = Span::from_ps(((idle - world::run(&config, alone).latency_ns) * 1e3).max(0.0) as u64);
    watch.step(total)?;
    let mut all = Vec::new();
    for share in SHARES {
        let curve = curve(share);
        let mut model = Vec::new();
        for delay in DELAYS_NS.map(Span::from_ns) {
            model.push(world::run(&config, Traffic { stores: curve.stores, delay, outstanding, fixed }));
            watch.step(total)?;
        }
        all.extend(cells(&curve, &model));
    }
    let mean = |part: &str| {
        let rows = all.iter().filter(|cell| cell.role == Role::Predicted && cell.quantity == "latency");
        let rows = rows.filter(|cell| cell.case.starts_with(part));
        accuracy::mape(rows.map(|cell| accuracy::error_pct(cell.predicted, cell.published)))
            .unwrap_or(f64::NAN)
    };
    let by_share: Vec<String> =
        SHARES.iter().map(|share| format!("{share} % reads {:.1} %", mean(&format!("{share} %")))).collect();
    let text = format!(
        "Mean error of predicted latencies {:.1} %: {}. {outstanding} lines under way and {fixed} beside the memory are calibrated. \
         The model's peaks are those of the DRAM alone: nothing between cores and controllers limits them.",
        mean(""),
        by_share.join(", ")
    );
    let met = mean("") < BAR_PCT;
    Some(Outcome {
        cells: all,
        free_parameters: free_parameters(fixed, outstanding),
        met,
        text,
        effects: Vec::new(),
    })
}
