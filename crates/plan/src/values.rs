//! Values of keys that several kinds of load have, in their declared types.

use crate::kind::Place;
use crate::plan::Pattern;
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::node::Node;
use lanetwin_document::problem::{Problem, Reports};
use lanetwin_document::quantity;
use lanetwin_ports::Value;
use lanetwin_units::{Bytes, Span};

pub(crate) fn choice(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<&'static str> {
    match fields.one(key, reports)?.value {
        Value::Choice(word) => Some(word),
        other => unreachable!("`{key}` is declared as a choice, read as {other:?}"),
    }
}
pub(crate) fn pattern(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Pattern> {
    let word = choice(fields, "pattern", reports)?;
    Some(if word == "sequential" { Pattern::Sequential } else { Pattern::Random })
}
pub(crate) fn size(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<Bytes> {
    match fields.one(key, reports)?.value {
        Value::Size(size) => Some(size),
        other => unreachable!("`{key}` is declared as a size, read as {other:?}"),
    }
}
/// Size of each target that is used: the given one, or all of the smallest target; without any sizes, `else_`.
pub(crate) fn room(
    fields: &mut Fields<'_>,
    key: &str,
    place: Place<'_>,
    else_: Bytes,
    reports: &mut Reports,
) -> Option<Bytes> {
    if fields.written(key).is_some() {
        return size(fields, key, reports);
    }
    let room = place.room.unwrap_or(else_);
    fields.record(key, Node::scalar(quantity::written(Value::Size(room))));
    Some(room)
}
pub(crate) fn count(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<u64> {
    match fields.one(key, reports)?.value {
        Value::Count(count) => Some(count),
        other => unreachable!("`{key}` is declared as a count, read as {other:?}"),
    }
}

/// Least number of operations measured if none is given.
const SAMPLE: u64 = 10_000;

/// Number of operations measured: the given one, or at least the default.
pub(crate) fn sample(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<u64> {
    if fields.written(key).is_some() { count(fields, key, reports) } else { Some(SAMPLE) }
}

/// The problem of a time that is out of bounds.
pub(crate) fn out_of_range(time: Span, least: Span, most: Span) -> Problem {
    let written = |time| quantity::written(Value::Time(time));
    Problem::OutOfRange { text: written(time), least: written(least), most: written(most) }
}

/// A value that is declared as a time.
pub(crate) fn time(value: Value) -> Span {
    if let Value::Time(time) = value { time } else { unreachable!("declared as a time, read as {value:?}") }
}
pub(crate) fn span(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<Span> {
    match fields.one(key, reports)?.value {
        Value::Time(time) => Some(time),
        other => unreachable!("`{key}` is declared as a time, read as {other:?}"),
    }
}

/// A list that must not be empty.
pub(crate) fn list(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<Vec<Said<Value>>> {
    let list = fields.many(key, reports)?;
    if list.is_empty() {
        fields.fault(key, Problem::Empty { what: "the list is empty" }, reports);
        return None;
    }
    Some(list)
}
