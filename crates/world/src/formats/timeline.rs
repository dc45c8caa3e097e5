//! Single operations of the first repeat of every case, stage by stage, for programs that draw timelines.
//!
//! Times are those of the simulated machine, in whole picoseconds; the stages of an operation follow each other without
//! a gap and sum to its latency.

use crate::format::{FinishedCase, Format, Writer};
use lanetwin_ports::Operation;
use lanetwin_stats::results::{Attachment, Results};
use lanetwin_units::Instant;
use serde::Serialize;

/// Name of the file.
const NAME: &str = "timeline.json";

pub(super) const FORMAT: Format = || Box::<TimelineWriter>::default();

#[derive(Default)]
struct TimelineWriter {
    cases: Vec<Case>,
}

/// The operations of a case.
#[derive(Serialize)]
struct Case {
    variant: String,
    workload: String,
    case: String,
    /// Begin and end of the measurement \[ps\].
    window: [u64; 2],
    operations: Vec<Followed>,
}

/// One operation.
#[derive(Serialize)]
struct Followed {
    what: &'static str,
    /// Name of the device, if there are several.
    device: Option<String>,
    /// When the operation was issued \[ps\].
    at: u64,
    /// Time spent in each stage, in order \[ps\].
    stages: Vec<(String, u64)>,
}

impl Writer for TimelineWriter {
    fn add(&mut self, ran: &FinishedCase<'_>) {
        let first = &ran.repeats[0];
        let mut operations = Vec::new();
        for spent in &first.spent {
            let what = if spent.operation == Operation::Read { "read" } else { "write" };
            operations.extend(spent.followed.iter().map(|one| Followed {
                what,
                device: spent.device.clone(),
                at: since_start(one.asked),
                stages: one.stages.iter().map(|(name, span)| (name.to_string(), span.as_ps())).collect(),
            }));
        }
        operations.sort_by_key(|one| one.at);
        self.cases.push(Case {
            variant: ran.variant.name.clone(),
            workload: ran.workload.name.clone(),
            case: ran.case.label.clone(),
            window: [since_start(first.window.start), since_start(first.window.end)],
            operations,
        });
    }

    fn finish(self: Box<Self>, _: usize, results: &mut Results) {
        let text = serde_json::to_string(&self.cases).expect("operations are a document");
        results.attachments.push(Attachment { name: NAME.into(), text: text + "\n" });
    }
}

fn since_start(at: Instant) -> u64 {
    (at - Instant::ZERO).as_ps()
}
