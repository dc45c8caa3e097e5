//! Single operations of the first repeat of every case, stage by stage, for whoever draws timelines.
//!
//! Times are those of the simulated machine, in whole picoseconds; the stages of an operation follow each other without
//! a gap and sum to its latency.

use crate::format::{FinishedCase, Format, Writer};
use lanetwin_ports::Operation;
use lanetwin_stats::results::{Attachment, Results};
use lanetwin_units::Instant;
use serde::Serialize;

/// The file.
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
    /// From when to when it was measured \[ps\].
    window: [u64; 2],
    operations: Vec<Followed>,
}

/// One of them.
#[derive(Serialize)]
struct Followed {
    what: &'static str,
    /// Of which device, where there are several.
    device: Option<String>,
    /// When it was asked \[ps\].
    at: u64,
    /// How long it was in each stage, one after the other \[ps\].
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
