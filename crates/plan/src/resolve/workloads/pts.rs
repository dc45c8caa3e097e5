//! `pts:` of a workload: a test of the SNIA Performance Test Specification (SSS PTS 2.0.1) through all sizes and mixes
//! on one drive.

use super::values::{choice, count, list, size, span};
use super::{Cases, transfers};
use crate::language::PTS;
use crate::plan::{
    BlockCase, Case, Load, Offered, Pair, Pattern, PtsCell, PtsPlan, PtsTest, SteadyRule, Tracked,
};
use crate::problem::Problem;
use crate::resolve::Machine;
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::node::Node;
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_document::quantity;
use lanetwin_ports::Value;
use lanetwin_units::{Bytes, Span};

/// What preconditioning may write: more is not what a person waits for.
const MOST_WRITTEN: u64 = 1 << 38;
/// A step is no shorter, …
const SHORTEST: Span = Span::from_us(10);
/// … and no longer.
const LONGEST: Span = Span::from_us(60_000_000);
/// Workload independent preconditioning writes this sequentially (PTS 2.0.1, test IOPS).
const PRECONDITION_SIZE: Bytes = Bytes(128 << 10);
/// What is tracked, if it is among the sizes.
const TRACKED_SIZE: Bytes = Bytes(4 << 10);

/// What a test is, beside what it asks.
pub(super) struct Read {
    pub cases: Cases,
    pub plan: Option<(PtsPlan, SteadyRule)>,
}

/// The sizes of a test \[B\], and its shares of reads \[%\], in the order of PTS 2.0.1.
const fn matrix(test: PtsTest) -> (&'static [u64], &'static [u32], u32) {
    match test {
        PtsTest::Iops => (
            &[1 << 20, 128 << 10, 64 << 10, 32 << 10, 16 << 10, 8 << 10, 4 << 10, 512],
            &[100, 95, 65, 50, 35, 5, 0],
            32,
        ),
        PtsTest::Throughput => (&[128 << 10], &[100, 0], 32),
        PtsTest::Latency => (&[8 << 10, 4 << 10, 512], &[100, 65, 0], 1),
    }
}

/// Reads the section.
pub(super) fn read(node: &Node, path: &str, reports: &mut Reports) -> Read {
    match test(node, path, reports) {
        Some((plan, rule, case, node)) => Read { cases: Some((vec![case], node)), plan: Some((plan, rule)) },
        None => Read { cases: None, plan: None },
    }
}

fn test(node: &Node, path: &str, reports: &mut Reports) -> Option<(PtsPlan, SteadyRule, Case, Node)> {
    let mut fields = Fields::open(node, path, PTS, &[], reports)?;
    let test = match choice(&mut fields, "test", reports)? {
        "throughput" => PtsTest::Throughput,
        "latency" => PtsTest::Latency,
        _ => PtsTest::Iops,
    };
    let (own_sizes, own_reads, own_depth) = matrix(test);
    let sizes = match fields.written("size") {
        Some(_) => transfers::sizes(&mut fields, reports)?,
        None => own_sizes.iter().map(|bytes| Bytes(*bytes)).collect(),
    };
    let reads: Vec<f64> = match fields.written("read") {
        Some(_) => list(&mut fields, "read", reports)?.iter().map(ratio).collect(),
        None => own_reads.iter().map(|percent| f64::from(*percent) / 100.0).collect(),
    };
    let depth = match fields.written("depth") {
        Some(_) => u32::try_from(count(&mut fields, "depth", reports)?).expect("declared as at most 65 536"),
        None => own_depth,
    };
    let (range, times) = (size(&mut fields, "span", reports)?, count(&mut fields, "precondition", reports)?);
    let (step, rounds) = (span(&mut fields, "step", reports)?, count(&mut fields, "rounds", reports)?);
    transfers::fits(&fields, &sizes, "span", range, reports);
    if !(SHORTEST..=LONGEST).contains(&step) {
        let [text, least, most] = [step, SHORTEST, LONGEST].map(|t| quantity::written(Value::Time(t)));
        fields.fault("step", Common::OutOfRange { text, least, most }, reports);
        return None;
    }
    let block = if test == PtsTest::Throughput { sizes[0] } else { PRECONDITION_SIZE };
    let written = range.0.saturating_mul(times);
    if written > MOST_WRITTEN {
        let [written, most] = [written, MOST_WRITTEN].map(|bytes| quantity::label(Value::Size(Bytes(bytes))));
        fields.fault("span", Problem::LongTest { written, most }, reports);
        return None;
    }
    let precondition = (times > 0).then(|| (block.min(range), written.div_ceil(block.min(range).0)));
    let pattern = if test == PtsTest::Throughput { Pattern::Sequential } else { Pattern::Random };
    let asks = |size: Bytes, read: f64| BlockCase {
        size,
        offered: Offered::Outstanding(depth),
        read,
        pattern,
        span: range,
        requests: 1,
    };
    let cell = |size: Bytes, read: f64| PtsCell { label: label(size, read), asks: asks(size, read) };
    // all sizes of a mix, then the next mix: as the loops of the specification are nested
    let cells: Vec<_> = reads.iter().flat_map(|read| sizes.iter().map(|size| cell(*size, *read))).collect();
    let least = reads.iter().copied().fold(1.0, f64::min);
    let smallest = sizes.iter().copied().min().unwrap_or(TRACKED_SIZE);
    let tracked_size = if sizes.contains(&TRACKED_SIZE) { TRACKED_SIZE } else { smallest };
    let is_tracked = |cell: &PtsCell| cell.asks.size == tracked_size && cell.asks.read <= least;
    let tracked = cells.iter().position(is_tracked)?;
    let of = match test {
        PtsTest::Iops => Tracked::Iops,
        PtsTest::Throughput => Tracked::Throughput,
        PtsTest::Latency => Tracked::Latency,
    };
    let rule = SteadyRule { of, round: step * cells.len() as u64, rounds: rounds as u32, least: 5 };
    let named = format!("PTS {}, tracks {}", test.name(), cells[tracked].label);
    let case = Case { label: named, axis: None, load: Load::Block(cells[tracked].asks) };
    Some((PtsPlan { test, cells, tracked, step, precondition }, rule, case, fields.finish()))
}

/// `4 KiB, 65/35`.
fn label(size: Bytes, read: f64) -> String {
    let percent = (read * 100.0).round();
    format!("{}, {percent}/{}", quantity::label(Value::Size(size)), 100.0 - percent)
}

fn ratio(said: &Said<Value>) -> f64 {
    match said.value {
        Value::Ratio(ratio) => ratio,
        other => unreachable!("`read` is declared as ratios, read as {other:?}"),
    }
}

/// Reports a test on what is not one NVMe drive.
pub(super) fn check(fields: &Fields<'_>, pairs: &[Pair], machine: &Machine, reports: &mut Reports) {
    let is_drive = |pair: &Pair| machine.plan(pair.target).is_some_and(|plan| plan.model.is_nvme);
    if pairs.len() != 1 || !pairs.iter().all(is_drive) {
        fields.fault("pts", Problem::NotOneDrive, reports);
    }
}
