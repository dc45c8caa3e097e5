//! `steady-state:` of a workload: rounds until it is steady.

use crate::kind::Kind;
use crate::plan::{Case, SteadyRule, Tracked};
use crate::problem::Problem;
use crate::values::{choice, count};
use lanetwin_document::fields::Fields;
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_document::quantity;
use lanetwin_ports::Value;
use lanetwin_units::Span;

/// Shortest round, …
const SHORTEST: Span = Span::from_us(1);
/// … and longest round.
const LONGEST: Span = Span::from_us(60_000_000);

/// Reads the section, if there is one. Returns `None` after an error in it, which is reported.
pub(super) fn read(
    fields: &mut Fields<'_>,
    kind: &Kind,
    cases: &[Case],
    reports: &mut Reports,
) -> Option<Option<SteadyRule>> {
    if fields.written("steady-state").is_none() {
        return Some(None);
    }
    let is_whole = |case: &Case| case.load.timing().is_whole;
    let what = match kind.rounds {
        true => cases.iter().any(is_whole).then(|| "a log that is replayed".to_owned()),
        false => Some(format!("a workload of `{}`", kind.name)),
    };
    if let Some(what) = what {
        fields.fault("steady-state", Problem::NoRounds { what }, reports);
        return None;
    }
    let mut section = fields.section("steady-state", reports)?;
    let of = choice(&mut section, "of", reports);
    let round = section.one("round", reports).map(|said| match said.value {
        Value::Time(time) => time,
        other => unreachable!("`round` is declared as a time, read as {other:?}"),
    });
    let rounds = count(&mut section, "rounds", reports);
    let least = count(&mut section, "least", reports);
    let (of, round, rounds, least) = (of?, round?, rounds?, least?);
    if least > rounds {
        let [text, least, most] = [least, 5, rounds].map(|n| quantity::written(Value::Count(n)));
        section.fault("least", Common::OutOfRange { text, least, most }, reports);
        return None;
    }
    if !(SHORTEST..=LONGEST).contains(&round) {
        let [text, least, most] = [round, SHORTEST, LONGEST].map(|t| quantity::written(Value::Time(t)));
        section.fault("round", Common::OutOfRange { text, least, most }, reports);
        return None;
    }
    fields.record("steady-state", section.finish());
    let of = match of {
        "throughput" => Tracked::Throughput,
        "latency" => Tracked::Latency,
        _ => Tracked::Iops,
    };
    Some(Some(SteadyRule { of, round, rounds: rounds as u32, least: least as u32 }))
}
