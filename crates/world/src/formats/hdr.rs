//! Latencies in the log format of HdrHistogram: an interval for each repeat, tagged with the case and the kind of
//! operation.
//!
//! Values are picoseconds, in the buckets in which they were counted (three digits), so that a reader gets the counts
//! and percentiles of the results. Each interval has the simulated time at which it was measured.

use crate::format::{FinishedCase, Format, Writer};
use hdrhistogram::Histogram as Buckets;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use lanetwin_ports::Operation;
use lanetwin_stats::Histogram;
use lanetwin_stats::results::{Attachment, Results};
use lanetwin_units::Instant;
use std::ops::Range;
use std::time::Duration;

/// Name of the file.
const NAME: &str = "latency.hlog";
/// Significant digits of the buckets: those with which latencies are counted.
const DIGITS: u8 = 3;
/// The log states the largest value of an interval in milliseconds.
const PS_PER_MS: f64 = 1e9;

pub(super) const FORMAT: Format = || Box::<HdrWriter>::default();

#[derive(Default)]
struct HdrWriter {
    intervals: Vec<Interval>,
}

/// The latencies of one kind of operation in one repeat.
struct Interval {
    tag: String,
    window: Range<Instant>,
    latencies: Histogram,
}

impl Writer for HdrWriter {
    fn add(&mut self, ran: &FinishedCase<'_>) {
        let of = [ran.variant.name.as_str(), &ran.workload.name, &ran.case.label];
        for measured in ran.repeats {
            let mut put = |what: &str, latencies: &Histogram| {
                if !latencies.is_empty() {
                    let (window, latencies) = (measured.window.clone(), latencies.clone());
                    self.intervals.push(Interval { tag: tag(&of, what), window, latencies });
                }
            };
            put("read", &measured.load.side(Operation::Read).latency);
            put("write", &measured.load.side(Operation::Write).latency);
            if let Some(program) = measured.memory.as_ref().and_then(|memory| memory.told()) {
                put("load", &program.loads);
            }
        }
    }

    fn finish(self: Box<Self>, _: usize, results: &mut Results) {
        let text = log(&self.intervals);
        results.attachments.push(Attachment { name: NAME.into(), text });
    }
}

/// `VARIANT/WORKLOAD/CASE/read`: a tag has neither spaces nor commas.
fn tag(of: &[&str], what: &str) -> String {
    let words = of.iter().chain([&what]).filter(|word| !word.is_empty());
    let joined = words.copied().collect::<Vec<_>>().join("/");
    joined.chars().map(|c| if c.is_whitespace() || c == ',' { '_' } else { c }).collect()
}

fn log(intervals: &[Interval]) -> String {
    let (mut text, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let mut builder = IntervalLogWriterBuilder::new();
    builder.add_comment("lanetwin: latencies in picoseconds, at the simulated time; maxima in milliseconds");
    builder.with_max_value_divisor(PS_PER_MS);
    let mut writer =
        builder.begin_log_with(&mut text, &mut serializer).expect("memory takes what is written to it");
    for Interval { tag, window, latencies } in intervals {
        let begin = Duration::from_nanos((window.start - Instant::ZERO).as_ps() / 1000);
        let length = Duration::from_nanos((window.end - window.start).as_ps() / 1000);
        let tag = Tag::new(tag).expect("neither spaces nor commas are in it");
        writer
            .write_histogram(&opened(latencies), begin, length, Some(tag))
            .expect("memory takes what is written to it");
    }
    drop(writer);
    String::from_utf8(text).expect("a log is ASCII but for its tags, which are text")
}

/// The same counts as a histogram of the library.
fn opened(latencies: &Histogram) -> Buckets<u64> {
    let mut buckets = Buckets::new(DIGITS).expect("three digits are within 0..=5");
    buckets.auto(true);
    for bucket in latencies.buckets() {
        let counted = buckets.record_n(bucket.high.as_ps(), bucket.count);
        counted.expect("an automatic histogram grows up to u64::MAX");
    }
    buckets
}
