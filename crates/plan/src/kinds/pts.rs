//! `pts:` of a workload: a test of the SNIA Performance Test Specification (SSS PTS 2.0.1), over all its sizes and
//! mixes, on one drive.

use crate::kind::{Asked, Kind, Place, Who};
use crate::plan::{BlockCase, Case, Load, Offered, Pattern, PtsCell, PtsPlan, PtsTest, SteadyRule, Tracked};
use crate::problem::Problem;
use crate::cases;
use crate::values::{choice, count, list, size, span};
use crate::words::{Field, Holds, count as whole, field, one_of, optional, required};
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_document::quantity;
use lanetwin_ports::{Dimension, Value};
use lanetwin_units::{Bytes, Span};

/// Maximum size that preconditioning may write, to limit the time that a run takes.
const MOST_WRITTEN: u64 = 1 << 38;
/// Shortest step, …
const SHORTEST: Span = Span::from_us(10);
/// … and longest step.
const LONGEST: Span = Span::from_us(60_000_000);
/// Size of the sequential writes of workload independent preconditioning (PTS 2.0.1, test IOPS).
const PRECONDITION_SIZE: Bytes = Bytes(128 << 10);
/// Size of the tracked cell, if it is among the sizes.
const TRACKED_SIZE: Bytes = Bytes(4 << 10);

pub(crate) const KIND: Kind = Kind {
    name: "pts",
    about: "a test of the SNIA Performance Test Specification through all sizes and mixes on one drive",
    keys: KEYS,
    who: Who::OneDrive,
    rounds: false,
    file: None,
    read,
};

const KEYS: &[Field] = &[
    field(
        "test",
        one_of(&["iops", "throughput", "latency"]),
        "iops",
        "which: IOPS, throughput (TP) or latency (LAT)",
    ),
    optional("size", Holds::Many(Dimension::Size), "the block sizes; otherwise those of the test"),
    optional("read", Holds::Many(Dimension::Ratio), "the shares of reads; otherwise those of the test"),
    optional(
        "depth",
        Holds::One(whole(1, 65_536)),
        "requests in flight; otherwise 32, for `latency` 1 (the specification leaves it to the operator)",
    ),
    required("span", Holds::One(Dimension::Size), "the active range: the part of the drive that is used"),
    field(
        "precondition",
        Holds::One(whole(0, 100)),
        "2",
        "how many times the active range is written sequentially before the rounds",
    ),
    field(
        "step",
        Holds::One(Dimension::Time),
        "100ms",
        "how long each size and mix lasts in a round, in virtual time",
    ),
    field(
        "rounds",
        Holds::One(whole(5, 1000)),
        "25",
        "how many rounds there are at most, if it does not become steady before",
    ),
];

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

fn read(fields: &mut Fields<'_>, _: Place<'_>, reports: &mut Reports) -> Option<Asked> {
    let test = match choice(fields, "test", reports)? {
        "throughput" => PtsTest::Throughput,
        "latency" => PtsTest::Latency,
        _ => PtsTest::Iops,
    };
    let (own_sizes, own_reads, own_depth) = matrix(test);
    let sizes = match fields.written("size") {
        Some(_) => cases::sizes(fields, reports)?,
        None => own_sizes.iter().map(|bytes| Bytes(*bytes)).collect(),
    };
    let reads: Vec<f64> = match fields.written("read") {
        Some(_) => list(fields, "read", reports)?.iter().map(ratio).collect(),
        None => own_reads.iter().map(|percent| f64::from(*percent) / 100.0).collect(),
    };
    let depth = match fields.written("depth") {
        Some(_) => u32::try_from(count(fields, "depth", reports)?).expect("declared as at most 65 536"),
        None => own_depth,
    };
    let (range, times) = (size(fields, "span", reports)?, count(fields, "precondition", reports)?);
    let (step, rounds) = (span(fields, "step", reports)?, count(fields, "rounds", reports)?);
    cases::fits(fields, &sizes, "span", range, reports);
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
    // all sizes of a mix, then the next mix, as the specification nests the loops
    let cells: Vec<_> = reads.iter().flat_map(|read| sizes.iter().map(|size| cell(*size, *read))).collect();
    let least = reads.iter().copied().fold(1.0, f64::min);
    let smallest = sizes.iter().copied().min().unwrap_or(TRACKED_SIZE);
    let tracked_size = if sizes.contains(&TRACKED_SIZE) { TRACKED_SIZE } else { smallest };
    let is_tracked = |cell: &PtsCell| cell.asks.size == tracked_size && cell.asks.read <= least;
    let tracked = cells.iter().position(is_tracked)?;
    let rule = SteadyRule { of: tracked_of(test), round: step * cells.len() as u64, rounds: rounds as u32, least: 5 };
    let named = format!("PTS {}, tracks {}", test.name(), cells[tracked].label);
    let load = Load::of_blocks(PtsPlan { test, cells, tracked, step, precondition });
    Some(Asked { cases: vec![Case { label: named, axis: None, load }], rounds: Some(rule) })
}

/// The metric of the tracked cell that decides whether a test is steady.
const fn tracked_of(test: PtsTest) -> Tracked {
    match test {
        PtsTest::Iops => Tracked::Iops,
        PtsTest::Throughput => Tracked::Throughput,
        PtsTest::Latency => Tracked::Latency,
    }
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
