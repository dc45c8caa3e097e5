//! `latency-vs-size`: the latency of a pointer chase against the size of its array, in local DDR5 and in a CXL device.
//!
//! The plateaus are calibrated: a size for each level of cache, one for what a page walk and what the first-level TLB
//! cost, and 1 GB for each memory. What is predicted lies between: where each level ends, and how the curve gets from
//! one plateau to the next.
//!
//! **The mechanism of the knee.** A cycle through more lines than a cache of C lines has never hits under LRU. Under
//! random replacement a line is still there after the (1 - h) N misses of a cycle of N lines with probability h =
//! exp(-(1 - h) N / C): that is the closed form of this claim. The published curve falls off slowly, as that does. TLBs
//! are LRU, and their steps are sharp: at 0.75 MB and at 12 MB, where pages are more than 96 and more than 2048, the
//! curve has its next plateau at once. Both are seen only if pages come round in one order, one line of each at a time,
//! as LMBench's `-t` has it; a chase through lines in a random order would spread the steps over a decade. It rises
//! further once the last level is missed altogether: the entries of the page table, 1/512 of the array, leave the
//! second level, too. The run with LRU stands beside the prediction in the text.
//!
//! The device hangs on the host's port without a link: one load at a time sees nothing of a link but a constant, which
//! the plateau contains.

mod chase;
mod predictor;
#[cfg(test)]
mod tests;

use crate::accuracy;
use crate::claim::Role;
use crate::claim::{Cell, Outcome};
use crate::declaration::{Claim, Run};
use crate::sensitivity;
use crate::watch::Watch;
use chase::{BAR_PCT, FULL, chase, parts, plan};
use lanetwin_stats::results::Digest;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "latency-vs-size",
    about: "Load latency against array size, 512 B to 1 GB, in local DDR5 and in a CXL device: where caches and TLBs end.",
    cpu_seconds: 460,
    bar: "mean absolute error of the sizes that calibrate nothing below 8 %",
    run: Run::Own(run),
};

const SOURCE: &str =
    "LMBench on a Sapphire Rapids with a CXL ASIC device, from the scripts of CXL-DMSim (arXiv:2411.02282)";
const PUBLISHED: &str = include_str!("../../data/latency-vs-size/lmbench.csv");
/// The last level without the closed form's hits: what a size below it takes, 16 MB.
const IN_LLC: f64 = 16.0;
const LARGEST: f64 = 1024.0;

/// The sizes \[MB\] that plateaus are calibrated to: of DDR, and of the device.
const CALIBRATES: [&[f64]; 2] = [&[0.00049, 0.09375, 1.0, 3.0, 16.0, LARGEST], &[LARGEST]];
const MEMORIES: [&str; 2] = ["local DDR", "CXL ASIC"];

/// A row: array \[MB\], latency \[ns\] in each memory.
type Row = (f64, [f64; 2]);

fn published(text: &str) -> Vec<Row> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    reader
        .deserialize::<(f64, f64, f64)>()
        .map(|row| row.expect("the file is ours"))
        .map(|(mb, ddr, cxl)| (mb, [ddr, cxl]))
        .collect()
}

/// The share of hits of a cycle `times` as large as a cache with random replacement.
fn hits(times: f64) -> f64 {
    if times <= 1.0 {
        return 1.0;
    }
    (0..500).fold(0.0, |h: f64, _| (-(1.0 - h) * times).exp())
}

/// The closed form: a level's calibrated latency up to its size, and behind the last level a mixture of hits and
/// memory.
fn closed_form(rows: &[Row], memory: usize, mb: f64) -> f64 {
    let at = |size: f64, memory: usize| {
        rows.iter().find(|row| row.0 == size).expect("a size of the table").1[memory]
    };
    match mb {
        mb if mb <= 48.0 / 1024.0 => at(0.00049, 0),
        mb if mb <= 2.0 => at(0.09375, 0),
        mb => {
            let h = hits(mb / 105.0);
            h * at(IN_LLC, 0) + (1.0 - h) * at(LARGEST, memory)
        }
    }
}

fn case(memory: usize, mb: f64) -> String {
    format!("{}, {mb} MB", MEMORIES[memory])
}

/// Sizes of a memory and what a machine makes of each.
struct Ran {
    memory: usize,
    mb: f64,
    predicted: f64,
    digest: u64,
}

/// Every cell, beside what was run.
fn compare(rows: &[Row], ran: &[Ran]) -> Vec<Cell> {
    let cell = |ran: &Ran| {
        let Ran { memory, mb, predicted, digest } = *ran;
        let row = rows.iter().find(|row| row.0 == mb).expect("a size of the table");
        Cell {
            case: case(memory, mb),
            quantity: "load latency".into(),
            unit: "ns",
            published: row.1[memory],
            predicted,
            interval: (predicted, predicted),
            role: if CALIBRATES[memory].contains(&mb) { Role::Calibrated } else { Role::Predicted },
            baseline: Some(closed_form(rows, memory, mb)),
            source: SOURCE,
            digest: Digest(digest),
        }
    };
    ran.iter().map(cell).collect()
}

/// The mean error of the predicted cells \[%\], and that of the closed form.
fn errors(cells: &[Cell]) -> (f64, f64) {
    let predicted = || cells.iter().filter(|cell| cell.role == Role::Predicted);
    let error = |of: fn(&Cell) -> f64| {
        accuracy::mape(predicted().map(|cell| accuracy::error_pct(of(cell), cell.published)))
    };
    let closed = error(|cell| cell.baseline.unwrap_or(f64::NAN));
    (error(|cell| cell.predicted).unwrap_or(f64::INFINITY), closed.unwrap_or(f64::NAN))
}

fn is_met(cells: &[Cell]) -> bool {
    errors(cells).0 < BAR_PCT
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let rows = published(PUBLISHED);
    let as_it_is = plan(&[]).expect("the parts come with the program");
    let numbers = predictor::numbers();
    let total = 2 * rows.len() + sensitivity::steps(numbers.len());
    let mut ran = Vec::new();
    for memory in 0..MEMORIES.len() {
        for &(mb, _) in &rows {
            let (predicted, digest) = chase(parts(&as_it_is), mb, memory as u16, FULL);
            ran.push(Ran { memory, mb, predicted, digest });
            watch.step(total)?;
        }
    }
    let cells = compare(&rows, &ran);
    let (off, closed) = errors(&cells);
    let lru = plan(&["machine.host.llc.replacement=lru".into()]).expect("LRU is a replacement");
    let knee = [128.0, 256.0];
    let under_lru = knee.map(|mb| format!("{:.1}", chase(parts(&lru), mb, 0, FULL).0)).join(" and ");
    let told = |of: fn(&Cell) -> f64| {
        let at = |mb| cells.iter().find(|cell| cell.case == case(0, mb)).map_or(f64::NAN, of);
        knee.map(|mb| format!("{:.1}", at(mb))).join(" and ")
    };
    let (measured, random) = (told(|cell| cell.published), told(|cell| cell.predicted));
    let predictor = predictor::Predictor::new();
    let sensitivity_found = sensitivity::analyse(&numbers, &predictor::Predictor::bars(), &predictor, watch);
    let text = format!(
        "Mean absolute error {off:.1} % (closed form {closed:.1} %). Local DDR at 128 and 256 MB: measured {measured} ns, random replacement {random} ns, \
         LRU in the last level, all else equal, {under_lru} ns. {} They were moved on {} of the predicted sizes.",
        sensitivity_found.told(),
        predictor::ROWS.len(),
    );
    let predicted = ran.iter().filter(|ran| !CALIBRATES[ran.memory].contains(&ran.mb));
    let were: Vec<bool> = predicted.map(|ran| predictor::ROWS.contains(&(ran.memory, ran.mb))).collect();
    let effects = sensitivity_found.effects_among(&were);
    let met = is_met(&cells);
    Some(Outcome { cells, free_parameters: sensitivity_found.free, met, text, effects })
}
