//! `cxl-link`: bandwidth and latency of an x8 CXL expander under load, as a detailed simulation of Micron has them.
//!
//! The link is as it is by default: every number of it is the standard's, or moves nothing. **Saturation** at three shares of reads follows
//! from the packing of flits alone. **Latency under load** needs the memory behind the link too, of which the publication says nothing.
//!
//! | what | from |
//! |---|---|
//! | latency without load | calibrated: the lowest row of 100 % reads; it sets the expander's two latencies, the same for all rows |
//! | channels and ranks of DRAM | calibrated: one row of 100 % reads chooses among four arrangements |
//! | when writes are drained | calibrated: one row of 2 % reads chooses among three times |
//! | outstanding lines | input: 256, by Little's law from the saturated row of 100 % reads |
//! | the load | input: a line every n × 100 ps, as the bandwidths of the rows are |
//! | random lines, rows closed after use, DDR5-4800, and the rest of the memory | assumed: moved to the ends of their ranges, and counted as free where that moves a row by more than 1 % |
//!
//! Every other row is predicted, but which things are assumed and fitted was settled with all rows in view (docs/validation.md). Latencies of saturated rows are what their outstanding lines make of them, and are inputs.

mod world;

use super::{Cell, Claim, Outcome};
use crate::accuracy;
use crate::report::{Effect, FreeParameter, Role};
use crate::watch::Watch;
use lanetwin_cxl::spec::closed_form;
use lanetwin_ports::{CxlLinkSpec, Value};
use lanetwin_stats::Confidence;
use lanetwin_stats::interval;
use lanetwin_stats::results::Digest;
use lanetwin_units::{Bytes, Generation, Span, Width};
use rayon::prelude::*;
use serde::Deserialize;
use world::{Addresses, Load, Machine, Measured};

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "cxl-link",
    about: "Saturation of an x8 CXL expander at three shares of reads, and latency under load.",
    bar: "saturation within 0.3 %; each latency under load within 10 %",
    run,
};

const SOURCE: &str =
    "Mess simulator, curve set cxl: detailed simulation of an x8 Gen5 expander with Micron technology";
const TABLE: &str = include_str!("../../data/cxl-mess/curves.csv");
const SATURATION_PCT: f64 = 0.3;
const LATENCY_PCT: f64 = 10.0;
/// A parameter whose move changes no row by more than this is not free.
const MOVES_PCT: f64 = 1.0;
const LINES: u64 = 20_000;
/// Reads at least, whose latency is measured.
const READS: u64 = 2_400;
const SEEDS: [u64; 3] = [1, 2, 3];
/// Rows that assumptions are moved on: low, middle and high load of each share.
const PROBES: [(u64, f64); 9] = [
    (100, 12.8),
    (100, 24.6),
    (100, 26.65),
    (46, 12.8),
    (46, 26.65),
    (46, 35.53),
    (2, 6.4),
    (2, 14.22),
    (2, 22.85),
];

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

/// The mean over the seeds.
fn latency(machine: &Machine, row: &Row, seeds: &[u64]) -> (f64, Vec<Measured>) {
    let load = |seed: &u64| Load {
        read_pct: row.read_pct,
        period: Some(row.period()),
        lines: row.lines(),
        seed: *seed,
    };
    let all: Vec<Measured> = seeds.iter().map(|seed| world::run(machine, load(seed))).collect();
    (all.iter().map(|one| one.latency_ns).sum::<f64>() / all.len() as f64, all)
}

/// The same machine with latencies of the expander such that the idle row comes out: the nearest of some rounds, since a refresh that falls between
/// other lines moves the mean a little.
fn calibrated(machine: &Machine, rows: &[Row]) -> Machine {
    const ROUNDS: usize = 4;
    let idle = row(rows, IDLE);
    let ways = ["request-latency", "answer-latency"];
    let mut best = (f64::INFINITY, machine.clone());
    let mut next = machine.clone();
    for _ in 0..ROUNDS {
        let off = idle.latency_ns - latency(&next, &idle, &SEEDS).0;
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
            let machine = calibrated(&machine, rows);
            let (got, _) = latency(&machine, &target, &SEEDS);
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

/// An assumption at one end of its range.
struct Move {
    name: &'static str,
    value: &'static str,
    end: &'static str,
    change: fn(Machine) -> Machine,
}

fn on_link(mut machine: Machine, change: impl FnOnce(&mut CxlLinkSpec)) -> Machine {
    change(&mut machine.link);
    machine
}

/// What is moved. Ranges: the other choices where there are choices; half and double of a size; what products have.
#[rustfmt::skip]
const MOVES: [Move; 18] = [
    Move { name: "addresses", value: "random", end: "sequential", change: |mut m| { m.addresses = Addresses::Sequential; m } },
    Move { name: "dram.page", value: "closed", end: "open", change: |m| m.set("dram.page", Value::Choice("open")) },
    Move { name: "dram.speed", value: "ddr5-4800", end: "ddr4-3200", change: |m| m.set("dram.speed", Value::Choice("ddr4-3200")) },
    Move { name: "dram.speed", value: "ddr5-4800", end: "ddr5-6400", change: |m| m.set("dram.speed", Value::Choice("ddr5-6400")) },
    Move { name: "dram.refresh", value: "all-bank", end: "none", change: |m| m.set("dram.refresh", Value::Choice("none")) },
    Move { name: "dram.write-high", value: "32", end: "24", change: |m| m.set("dram.write-high", Value::Count(24)) },
    Move { name: "dram.write-high", value: "32", end: "44", change: |m| m.set("dram.write-high", Value::Count(44)) },
    Move { name: "dram.write-low", value: "8", end: "0", change: |m| m.set("dram.write-low", Value::Count(0)) },
    Move { name: "dram.write-low", value: "8", end: "16", change: |m| m.set("dram.write-low", Value::Count(16)) },
    Move { name: "dram.interleave", value: "256B", end: "64B", change: |m| m.set("dram.interleave", Value::Size(Bytes(64))) },
    Move { name: "dram.read-queue", value: "32", end: "16", change: |m| m.set("dram.read-queue", Value::Count(16)) },
    Move { name: "tracker", value: "256", end: "128", change: |m| m.set("tracker", Value::Count(128)) },
    Move { name: "link ports", value: "25 ns round trip", end: "half", change: |m| on_link(m, |link| { link.transmit = [Span::from_ps(3_125); 2]; link.receive = link.transmit; }) },
    Move { name: "link ports", value: "25 ns round trip", end: "double", change: |m| on_link(m, |link| { link.transmit = [Span::from_ps(12_500); 2]; link.receive = link.transmit; }) },
    Move { name: "flight", value: "1 ns", end: "6 ns", change: |m| on_link(m, |link| link.flight = Span::from_ns(6)) },
    Move { name: "SKP ordered sets", value: "on", end: "off", change: |m| on_link(m, |link| link.skp = false) },
    Move { name: "credits", value: "256", end: "128", change: |m| on_link(m, |link| for of in &mut link.credits { (of.no_data, of.data) = (128, 128); }) },
    Move { name: "credit flush", value: "32 ns", end: "0 ns", change: |m| on_link(m, |link| link.credit_flush = Span::ZERO) },
];

/// What every move changes, of each probe \[%\]; each with a new latency without load.
fn effects(base: &Machine, rows: &[Row]) -> Vec<Effect> {
    let probe = |machine: &Machine| PROBES.map(|key| latency(machine, &row(rows, key), &SEEDS[..1]).0);
    let before = probe(base);
    MOVES
        .par_iter()
        .map(|one| {
            let after = probe(&calibrated(&(one.change)(base.clone()), rows));
            let changes = after.iter().zip(before).map(|(after, before)| 100.0 * (after / before - 1.0));
            Effect { mechanism: one.name.into(), end: one.end.into(), changes_pct: changes.collect() }
        })
        .collect()
}

fn free_parameters(fitted: &Fitted, effects: &[Effect]) -> Vec<FreeParameter> {
    let parameter = |name: &str, value: String, to: Option<&str>| FreeParameter {
        part: if name.starts_with("dram") || name.contains("latency") { "expander" } else { "link and load" }
            .into(),
        name: name.into(),
        value,
        calibrated_to: to.map(Into::into),
    };
    let (channels, ranks) = ARRANGEMENTS[fitted.arrangement];
    let half = fitted.machine.params().time("request-latency");
    let mut free = vec![
        parameter(
            "request-latency, answer-latency",
            format!("{half} each"),
            Some("100 % reads at 0.32 GB/s"),
        ),
        parameter(
            "dram.channels, dram.ranks",
            format!("{channels}, {ranks}"),
            Some("100 % reads at 21.33 GB/s"),
        ),
        parameter("dram.write-idle", DRAINS[fitted.drain].to_string(), Some("2 % reads at 12.8 GB/s")),
    ];
    for (one, effect) in MOVES.iter().zip(effects) {
        let moves = accuracy::worst(effect.changes_pct.iter().copied()) > MOVES_PCT;
        if moves && free.iter().all(|other| other.name != one.name) {
            free.push(parameter(one.name, one.value.into(), None));
        }
    }
    free
}

fn saturation(machine: &Machine, row: &Row) -> Cell {
    let load = |seed| Load { read_pct: row.read_pct, period: None, lines: 2 * LINES, seed };
    let all = SEEDS.map(|seed| world::run(machine, load(seed)));
    let share = row.read_pct as f64 / 100.0;
    let baseline = closed_form::bandwidth(Generation::Gen5, Width::X8, true, share) / 1e9;
    cell(
        row,
        "saturation",
        "GB/s",
        row.bandwidth,
        &all.map(|one| one.bandwidth),
        all[0].digest,
        Role::Predicted,
        Some(baseline),
    )
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

fn under_load(machine: &Machine, row: &Row) -> Cell {
    let (_, all) = latency(machine, row, &SEEDS);
    let got: Vec<f64> = all.iter().map(|one| one.latency_ns).collect();
    let fitted = [IDLE, ARRANGEMENT, DRAIN].iter().any(|key| row.is(*key));
    let role = if fitted { Role::Calibrated } else { Role::Predicted };
    cell(row, "latency", "ns", row.latency_ns, &got, all[0].digest, role, None)
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    const STEPS: usize = 4;
    let rows = table();
    let fitted = fit(&rows);
    watch.step(STEPS)?;
    let (full, loaded): (Vec<Row>, Vec<Row>) = rows.iter().partition(|row| is_saturated(&rows, row));
    let mut cells: Vec<Cell> = full.par_iter().map(|row| saturation(&fitted.machine, row)).collect();
    let error = |cell: &Cell| accuracy::error_pct(cell.predicted, cell.published);
    let of_saturation = accuracy::worst(cells.iter().map(error));
    watch.step(STEPS)?;
    let latencies: Vec<Cell> = loaded.par_iter().map(|row| under_load(&fitted.machine, row)).collect();
    let is_predicted = |cell: &&Cell| cell.role == Role::Predicted;
    let of_latency = accuracy::worst(latencies.iter().filter(is_predicted).map(error));
    cells.extend(latencies);
    watch.step(STEPS)?;
    let effects = effects(&fitted.machine, &rows);
    watch.step(STEPS)?;
    let free_parameters = free_parameters(&fitted, &effects);
    let text = format!(
        "Saturation is off by {of_saturation:.2} % at most and rests on no fitted or assumed number; latency under load by {of_latency:.1} %. {}",
        fitted.text
    );
    let met = of_saturation <= SATURATION_PCT && of_latency <= LATENCY_PCT;
    Some(Outcome { cells, free_parameters, met, text, effects })
}

#[cfg(test)]
mod tests;
