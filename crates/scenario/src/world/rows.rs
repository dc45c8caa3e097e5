//! Rows: what the repeats of a case have shown, as metrics with their uncertainty.

use super::measure::Measured;
use crate::plan::{Case, DmaOperation, Load};
use lanetwin_load::Side;
use lanetwin_stats::results::{Row, X};
use lanetwin_stats::{Confidence, Direction, Histogram, interval};

const PERCENTILES: [f64; 5] = [50.0, 90.0, 95.0, 99.0, 99.9];
const PS_PER_NS: f64 = 1e3;

/// A metric: its name, its unit, which way is better, its value in each repeat.
struct Metric {
    name: String,
    unit: &'static str,
    samples: Vec<f64>,
    percentiles: Vec<(f64, f64)>,
}

/// Which way a metric is better.
pub(super) fn better(metric: &str) -> Direction {
    if metric.contains("latency") || metric.contains("failed") {
        Direction::LowerIsBetter
    } else {
        Direction::HigherIsBetter
    }
}

/// The rows of a case, from its repeats.
pub(super) fn rows(variant: &str, workload: &str, case: &Case, repeats: &[Measured]) -> Vec<Row> {
    let axis = case.axis.map(|a| X { name: a.name.into(), value: a.value, unit: a.unit.into() });
    let row = |metric: Metric| {
        let mean = metric.samples.iter().sum::<f64>() / metric.samples.len() as f64;
        let interval = interval::mean(&metric.samples, Confidence::P95);
        Row {
            variant: variant.into(),
            workload: workload.into(),
            case: case.label.clone(),
            x: axis.clone(),
            metric: metric.name,
            unit: metric.unit.into(),
            value: mean,
            low: interval.map(|i| i.low()),
            high: interval.map(|i| i.high()),
            n: metric.samples.len() as u32,
            percentiles: metric.percentiles,
            samples: metric.samples,
        }
    };
    metrics(case, repeats).into_iter().map(row).collect()
}

fn metrics(case: &Case, repeats: &[Measured]) -> Vec<Metric> {
    let mut list = Vec::new();
    for (prefix, side) in sides(case) {
        let sides: Vec<&Side> = repeats.iter().map(side).collect();
        if sides.iter().any(|s| s.completed > 0) {
            list.extend(of_side(case, prefix, &sides, repeats));
        }
        list.extend(failures(prefix, &sides));
    }
    list
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

type Of = fn(&Measured) -> &Side;

/// The kinds of operation that a case has, with the prefix of their metrics.
fn sides(case: &Case) -> Vec<(&'static str, Of)> {
    let (read, write): (Of, Of) = (|m| &m.load.reads, |m| &m.load.writes);
    match case.load {
        Load::Dma(dma) => match dma.operation {
            DmaOperation::Read => vec![("", read)],
            DmaOperation::Write => vec![("", write)],
            DmaOperation::Mixed => vec![("read ", read), ("write ", write)],
        },
        Load::Block(block) if block.read >= 1.0 => vec![("", read)],
        Load::Block(block) if block.read <= 0.0 => vec![("", write)],
        Load::Block(_) => vec![("read ", read), ("write ", write)],
    }
}

fn of_side(case: &Case, prefix: &str, sides: &[&Side], repeats: &[Measured]) -> Vec<Metric> {
    let elapsed = |i: usize| repeats[i].load.elapsed();
    let per_repeat = |value: &dyn Fn(usize, &Side) -> f64| -> Vec<f64> {
        sides.iter().enumerate().map(|(i, side)| value(i, side)).collect()
    };
    let bits = |i: usize, side: &Side| side.bits_per_second(elapsed(i)).unwrap_or(0.0);
    let operations = |i: usize, side: &Side| side.operations_per_second(elapsed(i)).unwrap_or(0.0);
    let is_dma = matches!(case.load, Load::Dma(_));
    let (rate_name, rate_unit, rate_scale) =
        if is_dma { ("transfers", "M/s", 1e6) } else { ("IOPS", "k/s", 1e3) };
    let (bits_unit, bits_scale) = if is_dma { ("Gb/s", 1e9) } else { ("MB/s", 8e6) };
    let mut all = Histogram::new();
    sides.iter().for_each(|side| all.merge(&side.latency));
    let percentiles = all.percentiles(&PERCENTILES);
    let metric = |name: &str, unit, samples, percentiles| Metric {
        name: format!("{prefix}{name}"),
        unit,
        samples,
        percentiles,
    };
    vec![
        metric("throughput", bits_unit, per_repeat(&|i, s| bits(i, s) / bits_scale), Vec::new()),
        metric(rate_name, rate_unit, per_repeat(&|i, s| operations(i, s) / rate_scale), Vec::new()),
        metric(
            "latency",
            "ns",
            per_repeat(&|_, s| s.latency.mean_ps().unwrap_or(0.0) / PS_PER_NS),
            percentiles.into_iter().map(|(p, span)| (p, span.as_ps() as f64 / PS_PER_NS)).collect(),
        ),
    ]
}
