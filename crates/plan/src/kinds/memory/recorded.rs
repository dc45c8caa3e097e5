//! `trace:` – the memory accesses of a program, as a tool recorded them.

use super::host::On;
use super::placement::Placed;
use super::words::NAME;
use crate::files::{Configurations, Source, Understood};
use crate::kind::Asked;
use crate::plan::{Case, DeviceCache, Load, MemoryCase, MemoryProgram, RecordedCase};
use crate::values::{list, span};
use lanetwin_document::fields::Fields;
use lanetwin_document::node::{Node, Origin};
use lanetwin_document::quantity;
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_load::memory::{Dependence, MemoryTrace};
use lanetwin_ports::Value;
use lanetwin_units::Span;
use std::sync::Arc;

/// The key of the file.
pub(super) const KEY: &str = "trace";
/// Default time of an instruction (assumed: two per cycle of a core of 2.4 GHz, as long as nothing waits for memory).
const INSTRUCTION: Span = Span::from_ps(200);
/// Keys that only other programs have.
const OF_OTHERS: [&str; 8] =
    ["program", "stretches", "pattern", "mix", "working-set", "delay", "chaser", "hints"];

/// Parses a trace: its content, and the findings.
pub(super) fn understand(file: &Source<'_>) -> Understood {
    let read = match &file.text {
        Ok(text) => MemoryTrace::read(text, &file.shown),
        Err(said) => Err(vec![MemoryTrace::unreadable(said, &file.shown)]),
    };
    match read {
        Ok(trace) => (Some(Arc::new(trace)), Vec::new()),
        Err(findings) => (None, findings),
    }
}

/// The trace of a section, and the name of its file.
pub(super) fn read(
    fields: &mut Fields<'_>,
    configurations: &Configurations,
    reports: &mut Reports,
) -> Option<(Arc<MemoryTrace>, String)> {
    for key in OF_OTHERS {
        if fields.written(key).is_some_and(|node| node.origin != Origin::Default) {
            fields.fault(key, Common::Exclusive { one: KEY, other: key }, reports);
        }
    }
    let file = fields.text(KEY, reports)?.value;
    Some((configurations.content(NAME, &file)?, file))
}

/// The cases of a trace: every dependence on every placement.
pub(super) fn cases(
    fields: &mut Fields<'_>,
    (trace, file): (&Arc<MemoryTrace>, &str),
    (on, policies, cache): (On<'_>, &[Placed], DeviceCache),
    reports: &mut Reports,
) -> Option<Asked> {
    let dependences = dependences(trace, fields, reports);
    let instruction = instruction(fields, reports);
    let (dependences, instruction) = (dependences?, instruction?);
    let fits: Vec<bool> =
        policies.iter().map(|policy| on.fits((policy, &[]), trace.pages(), fields, reports)).collect();
    if fits.contains(&false) {
        return None;
    }
    let name = file.rsplit('/').next().unwrap_or(file);
    let label = |policy: &Placed, dependence| {
        let words =
            [(policies.len(), policy.label.as_str()), (dependences.len(), word(dependence))];
        let varied: Vec<&str> = words.into_iter().filter(|(n, _)| *n > 1).map(|(_, word)| word).collect();
        if varied.is_empty() { name.to_owned() } else { varied.join(", ") }
    };
    let case = |policy: &Placed, dependence| Case {
        label: label(policy, dependence),
        axis: None,
        load: Load::Memory(Box::new(MemoryCase {
            program: MemoryProgram::Recorded(RecordedCase {
                file: file.to_owned(),
                trace: Arc::clone(trace),
                dependence,
                instruction,
            }),
            mapping: policy.mapping.clone(),
            parts: Vec::new(),
            hints: None,
            against: (!std::ptr::eq(policy, &raw const policies[0])).then(|| label(&policies[0], dependence)),
            cache,
            steps: trace.steps(),
        })),
    };
    let all = policies.iter().flat_map(|policy| dependences.iter().map(|one| case(policy, *one)));
    Some(Asked::of(all.collect()))
}

/// Time of an instruction that does not wait for memory.
fn instruction(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Span> {
    if fields.written("instruction").is_some() {
        return span(fields, "instruction", reports);
    }
    fields.record("instruction", Node::scalar(quantity::written(Value::Time(INSTRUCTION))));
    Some(INSTRUCTION)
}

/// The dependences in the scenario; by default those of the trace, or else both bounds.
fn dependences(
    trace: &MemoryTrace,
    fields: &mut Fields<'_>,
    reports: &mut Reports,
) -> Option<Vec<Dependence>> {
    if fields.written("dependence").is_none() {
        let all = if trace.tells_dependence() {
            vec![Dependence::Recorded]
        } else {
            vec![Dependence::None, Dependence::All]
        };
        fields.record("dependence", Node::list(all.iter().map(|one| Node::scalar(key(*one)))));
        return Some(all);
    }
    let read = list(fields, "dependence", reports)?;
    let dependence = |value: &Value| match value {
        Value::Choice("none") => Dependence::None,
        Value::Choice("all") => Dependence::All,
        _ => Dependence::Recorded,
    };
    Some(read.iter().map(|said| dependence(&said.value)).collect())
}

/// The word for it in a scenario.
const fn key(dependence: Dependence) -> &'static str {
    match dependence {
        Dependence::Recorded => "recorded",
        Dependence::None => "none",
        Dependence::All => "all",
    }
}

/// The word for it in labels of cases.
const fn word(dependence: Dependence) -> &'static str {
    match dependence {
        Dependence::Recorded => "loads wait as recorded",
        Dependence::None => "no load waits for another",
        Dependence::All => "every load waits for the one before",
    }
}

impl RecordedCase {
    /// What the simulation of this trace leaves out.
    pub(crate) fn not_modelled(&self) -> Vec<String> {
        let mut list = vec![format!(
            "Of the program recorded in `{}`: where its threads waited for each other, and fetches of instructions. Pages that it touched lie side by side.",
            self.file
        )];
        if self.dependence != Dependence::Recorded {
            list.push("Which loads wait for others, which the trace does not say: the program is between the two bounds, no load and every load (`dependence`).".to_owned());
        }
        list
    }
}
