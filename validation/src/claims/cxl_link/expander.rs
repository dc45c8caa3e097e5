//! The expander of the claim: the published rows, what is fitted to them, and a cell for each.

use super::world::{self, Load, Machine, Measured};
use crate::claim::Cell;
use crate::claim::Role;
use lanetwin_cxl::spec::closed_form;
use lanetwin_ports::Value;
use lanetwin_stats::Confidence;
use lanetwin_stats::interval;
use lanetwin_stats::results::Digest;
use lanetwin_units::{Generation, Span, Width};
use rayon::prelude::*;
use serde::Deserialize;

pub(super) const SOURCE: &str =
    "Mess simulator, curve set cxl: detailed simulation of an x8 Gen5 expander with Micron technology";
pub(super) const TABLE: &str = include_str!("../../../data/cxl-mess/curves.csv");
pub(super) const SATURATION_PCT: f64 = 0.3;
pub(super) const LATENCY_PCT: f64 = 10.0;
pub(super) const LINES: u64 = 20_000;
/// Reads at least, whose latency is measured.
pub(super) const READS: u64 = 2_400;
pub(super) const SEEDS: [u64; 3] = [1, 2, 3];
/// Rows that something was fitted to.
pub(super) const IDLE: (u64, f64) = (100, 0.32);
pub(super) const ARRANGEMENT: (u64, f64) = (100, 21.33);
pub(super) const DRAIN: (u64, f64) = (2, 12.8);
/// What the fits choose from: channels and ranks; the time without reads after which writes are drained.
pub(super) const ARRANGEMENTS: [(u64, u64); 4] = [(2, 1), (2, 2), (4, 1), (4, 2)];
pub(super) const DRAINS: [Span; 3] = [Span::from_ns(50), Span::from_ns(200), Span::from_us(1)];

#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
pub(super) struct Row {
    pub(super) read_pct: u64,
    #[serde(rename = "bw_GBps")]
    pub(super) bandwidth: f64,
    pub(super) latency_ns: f64,
}

impl Row {
    pub(super) fn is(&self, key: (u64, f64)) -> bool {
        (self.read_pct, self.bandwidth) == key
    }
    /// Lines of a run, with enough reads.
    pub(super) fn lines(&self) -> u64 {
        LINES.max(READS * 100 / self.read_pct)
    }
    /// A line every so often, a whole number of 100 ps, as the published loads are.
    pub(super) fn period(&self) -> Span {
        Span::from_ps((640.0 / self.bandwidth).round() as u64 * 100)
    }
}

pub(super) fn table() -> Vec<Row> {
    csv::Reader::from_reader(TABLE.as_bytes())
        .into_deserialize()
        .map(|row| row.expect("the table is whole"))
        .collect()
}

/// Whether the row is the last of its share, which is the saturated device.
pub(super) fn is_saturated(rows: &[Row], row: &Row) -> bool {
    rows.iter().filter(|other| other.read_pct == row.read_pct).all(|other| other.bandwidth <= row.bandwidth)
}

pub(super) fn row(rows: &[Row], key: (u64, f64)) -> Row {
    *rows.iter().find(|row| row.is(key)).expect("a row of the table")
}

/// How much is simulated.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort<'a> {
    pub(super) seeds: &'a [u64],
    /// So many times fewer lines than the claim has.
    pub(super) shorter: u64,
    /// Rounds in which the latency without load is calibrated.
    pub(super) rounds: u32,
}

pub(super) const FULL: Effort<'static> = Effort { seeds: &SEEDS, shorter: 1, rounds: 4 };

/// The mean over the seeds.
pub(super) fn latency(machine: &Machine, row: &Row, effort: Effort<'_>) -> (f64, Vec<Measured>) {
    let load = |seed: &u64| Load {
        read_pct: row.read_pct,
        period: Some(row.period()),
        lines: row.lines() / effort.shorter,
        seed: *seed,
    };
    let seeds = effort.seeds;
    let all: Vec<Measured> = seeds.iter().map(|seed| world::run(machine, load(seed))).collect();
    (all.iter().map(|one| one.latency_ns).sum::<f64>() / all.len() as f64, all)
}

/// The same machine with latencies of the expander such that the idle row comes out: the nearest of some rounds, since
/// a refresh that falls between other lines moves the mean a little.
pub(super) fn calibrated(machine: &Machine, rows: &[Row], effort: Effort<'_>) -> Machine {
    let idle = row(rows, IDLE);
    let ways = ["request-latency", "answer-latency"];
    let mut best = (f64::INFINITY, machine.clone());
    let mut next = machine.clone();
    for _ in 0..effort.rounds {
        let off = idle.latency_ns - latency(&next, &idle, effort).0;
        let total: f64 = ways.iter().map(|way| next.params().time(way).as_ps() as f64).sum();
        if off.abs() < best.0 {
            best = (off.abs(), next.clone());
        }
        let half = ((total + off * 1e3) / 2.0).max(0.0).round() as u64;
        next = ways.iter().fold(next, |machine, way| machine.set(way, Value::Time(Span::from_ps(half))));
    }
    best.1
}

/// The candidate whose row comes out nearest, and what each gives \[ns\].
pub(super) fn nearest(candidates: Vec<Machine>, rows: &[Row], key: (u64, f64)) -> (usize, Machine, Vec<f64>) {
    let target = row(rows, key);
    let tried: Vec<(Machine, f64)> = candidates
        .into_par_iter()
        .map(|machine| {
            let machine = calibrated(&machine, rows, FULL);
            let (got, _) = latency(&machine, &target, FULL);
            (machine, got)
        })
        .collect();
    let gives: Vec<f64> = tried.iter().map(|(_, got)| *got).collect();
    let error = |n: &usize| (gives[*n] - target.latency_ns).abs();
    let best = (0..gives.len()).min_by(|a, b| error(a).total_cmp(&error(b))).expect("there are candidates");
    (best, tried[best].0.clone(), gives)
}

/// The expander before anything is fitted: what is assumed of the memory stands here.
pub(super) fn assumed() -> Machine {
    // Lines without locality: an open row would be the wrong one.
    Machine::new().set("dram.page", Value::Choice("closed"))
}

pub(super) fn arranged(machine: &Machine, (channels, ranks): (u64, u64)) -> Machine {
    machine.set("dram.channels", Value::Count(channels)).set("dram.ranks", Value::Count(ranks))
}

/// What was fitted, and to what.
pub(super) struct Fitted {
    pub(super) machine: Machine,
    pub(super) arrangement: usize,
    pub(super) drain: usize,
    pub(super) text: String,
}

pub(super) fn fit(rows: &[Row]) -> Fitted {
    let candidates = ARRANGEMENTS.iter().map(|arrangement| arranged(&assumed(), *arrangement)).collect();
    let (arrangement, machine, first) = nearest(candidates, rows, ARRANGEMENT);
    let candidates = DRAINS.iter().map(|drain| machine.set("dram.write-idle", Value::Time(*drain))).collect();
    let (drain, machine, second) = nearest(candidates, rows, DRAIN);
    let list = |values: &[f64]| values.iter().map(|ns| format!("{ns:.1}")).collect::<Vec<_>>().join(", ");
    let text = format!(
        "At 100 % reads and 21.33 GB/s (published 113.7 ns) 2 × 1, 2 × 2, 4 × 1 and 4 × 2 channels × ranks give {} ns; at 2 % and \
         12.8 GB/s (119.2 ns) draining after 50 ns, 200 ns and 1 µs without reads gives {} ns.",
        list(&first),
        list(&second)
    );
    Fitted { machine, arrangement, drain, text }
}

pub(super) fn saturation(machine: &Machine, row: &Row, effort: Effort<'_>) -> Cell {
    let lines = 2 * LINES / effort.shorter;
    let load = |seed| Load { read_pct: row.read_pct, period: None, lines, seed };
    let all: Vec<Measured> = effort.seeds.iter().map(|seed| world::run(machine, load(*seed))).collect();
    let got: Vec<f64> = all.iter().map(|one| one.bandwidth).collect();
    let share = row.read_pct as f64 / 100.0;
    let baseline = closed_form::bandwidth(Generation::Gen5, Width::X8, true, share) / 1e9;
    cell(row, "saturation", "GB/s", row.bandwidth, &got, all[0].digest, Role::Predicted, Some(baseline))
}

#[allow(clippy::too_many_arguments, reason = "a cell has as many columns")]
pub(super) fn cell(
    row: &Row,
    quantity: &str,
    unit: &'static str,
    published: f64,
    got: &[f64],
    digest: Digest,
    role: Role,
    baseline: Option<f64>,
) -> Cell {
    let predicted = got.iter().sum::<f64>() / got.len() as f64;
    let confidence = Confidence::new(0.95).expect("a level below one");
    let around = interval::mean(got, confidence).map_or((predicted, predicted), |of| (of.low(), of.high()));
    let load = if quantity == "saturation" { String::new() } else { format!(", {} GB/s", row.bandwidth) };
    Cell {
        case: format!("{} % reads{load}", row.read_pct),
        quantity: quantity.into(),
        unit,
        published,
        predicted,
        interval: around,
        role,
        baseline,
        source: SOURCE,
        digest,
    }
}

pub(super) fn under_load(machine: &Machine, row: &Row, effort: Effort<'_>) -> Cell {
    let (_, all) = latency(machine, row, effort);
    let got: Vec<f64> = all.iter().map(|one| one.latency_ns).collect();
    let fitted = [IDLE, ARRANGEMENT, DRAIN].iter().any(|key| row.is(*key));
    let role = if fitted { Role::Calibrated } else { Role::Predicted };
    cell(row, "latency", "ns", row.latency_ns, &got, all[0].digest, role, None)
}

/// The cell of a row: of the saturated device, or of a load.
pub(super) fn cell_of(machine: &Machine, rows: &[Row], row: &Row, effort: Effort<'_>) -> Cell {
    let of = if is_saturated(rows, row) { saturation } else { under_load };
    of(machine, row, effort)
}
