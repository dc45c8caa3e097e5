//! `cxl-link`: bandwidth and latency of an x8 CXL expander under load, as a detailed simulation of Micron has them.
//!
//! The link is as it is by default; what of it nobody confirms is moved like everything else ([`predictor`]).
//! **Saturation** at three shares of reads follows from the packing of flits alone. **Latency under load** needs the
//! memory behind the link too, of which the publication says nothing.
//!
//! | what | from |
//! |---|---|
//! | latency without load | calibrated: the lowest row of 100 % reads; it sets the expander's two latencies, the same for all rows |
//! | channels and ranks of DRAM | calibrated: one row of 100 % reads chooses among four arrangements |
//! | when writes are drained | calibrated: one row of 2 % reads chooses among three times |
//! | outstanding lines | input: 256, by Little's law from the saturated row of 100 % reads |
//! | the load | input: a line every n × 100 ps, as the bandwidths of the rows are |
//! | random lines, rows closed after use, DDR5-4800, and the rest of the memory | assumed: moved to the ends of their ranges, and counted as free where that moves a row by more than a tenth of its bar |
//!
//! Every other row is predicted, but which things are assumed and fitted was settled with all rows in view
//! (docs/validation.md). Latencies of saturated rows are what their outstanding lines make of them, and are inputs.

mod predictor;
#[cfg(test)]
mod tests;
mod world;

use crate::accuracy;
use crate::claim::Role;
use crate::claim::{Cell, Claim, Outcome};
use crate::sensitivity;
use crate::watch::Watch;
use lanetwin_cxl::spec::closed_form;
use lanetwin_ports::Value;
use lanetwin_stats::Confidence;
use lanetwin_stats::interval;
use lanetwin_stats::results::Digest;
use lanetwin_units::{Generation, Span, Width};
use rayon::prelude::*;
use serde::Deserialize;
use world::{Load, Machine, Measured};

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "cxl-link",
    about: "Saturation of an x8 CXL expander at three shares of reads, and latency under load.",
    cpu_seconds: 11,
    bar: "saturation within 0.3 %; each latency under load within 10 %",
    run,
};

const SOURCE: &str =
    "Mess simulator, curve set cxl: detailed simulation of an x8 Gen5 expander with Micron technology";
const TABLE: &str = include_str!("../../data/cxl-mess/curves.csv");
const SATURATION_PCT: f64 = 0.3;
const LATENCY_PCT: f64 = 10.0;
const LINES: u64 = 20_000;
/// Reads at least, whose latency is measured.
const READS: u64 = 2_400;
const SEEDS: [u64; 3] = [1, 2, 3];
/// Rows that something was fitted to.
const IDLE: (u64, f64) = (100, 0.32);
const ARRANGEMENT: (u64, f64) = (100, 21.33);
const DRAIN: (u64, f64) = (2, 12.8);
/// What the fits choose from: channels and ranks; the time without reads after which writes are drained.
const ARRANGEMENTS: [(u64, u64); 4] = [(2, 1), (2, 2), (4, 1), (4, 2)];
const DRAINS: [Span; 3] = [Span::from_ns(50), Span::from_ns(200), Span::from_us(1)];

#[derive(Clone, Copy, PartialEq, Debug, Deserialize)]
struct Row {
    read_pct: u64,
    #[serde(rename = "bw_GBps")]
    bandwidth: f64,
    latency_ns: f64,
}

impl Row {
    fn is(&self, key: (u64, f64)) -> bool {
        (self.read_pct, self.bandwidth) == key
    }
    /// Lines of a run, with enough reads.
    fn lines(&self) -> u64 {
        LINES.max(READS * 100 / self.read_pct)
    }
    /// A line every so often, a whole number of 100 ps, as the published loads are.
    fn period(&self) -> Span {
        Span::from_ps((640.0 / self.bandwidth).round() as u64 * 100)
    }
}

fn table() -> Vec<Row> {
    csv::Reader::from_reader(TABLE.as_bytes())
        .into_deserialize()
        .map(|row| row.expect("the table is whole"))
        .collect()
}

/// Whether the row is the last of its share, which is the saturated device.
fn is_saturated(rows: &[Row], row: &Row) -> bool {
    rows.iter().filter(|other| other.read_pct == row.read_pct).all(|other| other.bandwidth <= row.bandwidth)
}

fn row(rows: &[Row], key: (u64, f64)) -> Row {
    *rows.iter().find(|row| row.is(key)).expect("a row of the table")
}

/// How much is simulated.
#[derive(Clone, Copy, Debug)]
struct Effort<'a> {
    seeds: &'a [u64],
    /// So many times fewer lines than the claim has.
    shorter: u64,
    /// Rounds in which the latency without load is calibrated.
    rounds: u32,
}

const FULL: Effort<'static> = Effort { seeds: &SEEDS, shorter: 1, rounds: 4 };

/// The mean over the seeds.
fn latency(machine: &Machine, row: &Row, effort: Effort<'_>) -> (f64, Vec<Measured>) {
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
fn calibrated(machine: &Machine, rows: &[Row], effort: Effort<'_>) -> Machine {
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
fn nearest(candidates: Vec<Machine>, rows: &[Row], key: (u64, f64)) -> (usize, Machine, Vec<f64>) {
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
fn assumed() -> Machine {
    // Lines without locality: an open row would be the wrong one.
    Machine::new().set("dram.page", Value::Choice("closed"))
}

fn arranged(machine: &Machine, (channels, ranks): (u64, u64)) -> Machine {
    machine.set("dram.channels", Value::Count(channels)).set("dram.ranks", Value::Count(ranks))
}

/// What was fitted, and to what.
struct Fitted {
    machine: Machine,
    arrangement: usize,
    drain: usize,
    text: String,
}

fn fit(rows: &[Row]) -> Fitted {
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

fn saturation(machine: &Machine, row: &Row, effort: Effort<'_>) -> Cell {
    let lines = 2 * LINES / effort.shorter;
    let load = |seed| Load { read_pct: row.read_pct, period: None, lines, seed };
    let all: Vec<Measured> = effort.seeds.iter().map(|seed| world::run(machine, load(*seed))).collect();
    let got: Vec<f64> = all.iter().map(|one| one.bandwidth).collect();
    let share = row.read_pct as f64 / 100.0;
    let baseline = closed_form::bandwidth(Generation::Gen5, Width::X8, true, share) / 1e9;
    cell(row, "saturation", "GB/s", row.bandwidth, &got, all[0].digest, Role::Predicted, Some(baseline))
}

#[allow(clippy::too_many_arguments, reason = "a cell has as many columns")]
fn cell(
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

fn under_load(machine: &Machine, row: &Row, effort: Effort<'_>) -> Cell {
    let (_, all) = latency(machine, row, effort);
    let got: Vec<f64> = all.iter().map(|one| one.latency_ns).collect();
    let fitted = [IDLE, ARRANGEMENT, DRAIN].iter().any(|key| row.is(*key));
    let role = if fitted { Role::Calibrated } else { Role::Predicted };
    cell(row, "latency", "ns", row.latency_ns, &got, all[0].digest, role, None)
}

/// The cell of a row: of the saturated device, or of a load.
fn cell_of(machine: &Machine, rows: &[Row], row: &Row, effort: Effort<'_>) -> Cell {
    let of = if is_saturated(rows, row) { saturation } else { under_load };
    of(machine, row, effort)
}

/// The largest errors of what is predicted \[%\]: of saturation, and of latencies.
fn worst(cells: &[Cell]) -> (f64, f64) {
    let of = |quantity: &str| {
        let meant = cells.iter().filter(|cell| cell.role == Role::Predicted && cell.quantity == quantity);
        accuracy::worst(meant.map(|cell| accuracy::error_pct(cell.predicted, cell.published)))
    };
    (of("saturation"), of("latency"))
}

fn is_met(cells: &[Cell]) -> bool {
    let (saturation, latency) = worst(cells);
    saturation <= SATURATION_PCT && latency <= LATENCY_PCT
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let rows = table();
    let fitted = fit(&rows);
    let numbers = predictor::numbers(&fitted);
    let steps = 3 + sensitivity::steps(numbers.len());
    watch.step(steps)?;
    let (full, loaded): (Vec<Row>, Vec<Row>) = rows.iter().partition(|row| is_saturated(&rows, row));
    let machine = &fitted.machine;
    let mut cells: Vec<Cell> = full.par_iter().map(|row| saturation(machine, row, FULL)).collect();
    watch.step(steps)?;
    cells.extend(loaded.par_iter().map(|row| under_load(machine, row, FULL)).collect::<Vec<_>>());
    watch.step(steps)?;
    let predictor = predictor::Predictor::new(&rows, &fitted);
    let sensitivity_found = sensitivity::analyse(&numbers, &predictor::Predictor::bars(), &predictor, watch);
    let (of_saturation, of_latency) = worst(&cells);
    let text = format!(
        "Saturation is off by {of_saturation:.2} % at most, and nothing was fitted to it; latency under load by {of_latency:.1} %. {} {} They were moved on \
         {} rows: saturation, and a low, a middle and a high load of each share.",
        fitted.text,
        sensitivity_found.told(),
        predictor::ROWS.len(),
    );
    let met = is_met(&cells);
    let of_rows = full.iter().chain(&loaded);
    let predicted = of_rows.zip(&cells).filter(|(_, cell)| cell.role == Role::Predicted);
    let were: Vec<bool> = predicted.map(|(row, _)| predictor::is_analysed(&rows, row)).collect();
    let effects = sensitivity_found.effects_among(&were);
    Some(Outcome { cells, free_parameters: sensitivity_found.free, met, text, effects })
}
