//! `disconnect:` of a subsystem: times at which hosts disconnect on purpose.

use crate::plan::{LeavePlan, PortOffer};
use crate::problem::network::Problem;
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::problem::Reports;
use lanetwin_ports::Value;
use lanetwin_units::{Instant, Span};

/// Finds the host that is named at a path.
pub(super) type FindHost<'a> = dyn Fn(&Said<String>, &str, &mut Reports) -> Option<usize> + 'a;

/// Reads these times, in order; `names` has the name of each port.
pub(super) fn read(
    fields: &mut Fields<'_>,
    (ports, names): (&[PortOffer], &[String]),
    find: &FindHost<'_>,
    reports: &mut Reports,
) -> Option<Vec<LeavePlan>> {
    if fields.written("disconnect").is_none() {
        return Some(Vec::new());
    }
    let mut items = fields.list("disconnect", reports)?;
    let read: Vec<_> = items.iter_mut().map(|item| one(item, (ports, names), find, reports)).collect();
    fields.record_list("disconnect", items);
    let mut all: Vec<LeavePlan> = read.into_iter().collect::<Option<_>>()?;
    all.sort_by_key(|leave| leave.at);
    Some(all)
}

fn time(item: &mut Fields<'_>, key: &'static str, reports: &mut Reports) -> Option<Span> {
    match item.one(key, reports)?.value {
        Value::Time(time) => Some(time),
        other => unreachable!("`{key}` is declared as a time, read as {other:?}"),
    }
}

fn one(
    item: &mut Fields<'_>,
    (ports, names): (&[PortOffer], &[String]),
    find: &FindHost<'_>,
    reports: &mut Reports,
) -> Option<LeavePlan> {
    let at = Instant::ZERO + time(item, "at", reports)?;
    let managed = item.one("removal", reports)?.value == Value::Choice("managed");
    let host = match item.written("host") {
        None => None,
        Some(_) => {
            let said = item.text("host", reports)?;
            Some(find(&said, &item.at("host"), reports)?)
        }
    };
    let port = match item.written("port") {
        None => None,
        Some(_) => {
            let Said { value, spot, .. } = item.text("port", reports)?;
            let found = names.iter().position(|name| *name == value).and_then(|place| ports.get(place));
            let Some(port) = found else {
                reports.add(Problem::NotOneOfPorts { name: value }, spot, &item.at("port"));
                return None;
            };
            Some(port.adapter)
        }
    };
    let back = match item.written("for") {
        None => None,
        Some(_) => Some(at + time(item, "for", reports)?),
    };
    if let (Some(_), [_], [port]) = (back, ports, names) {
        item.fault("for", Problem::BackOverOne { port: port.clone() }, reports);
        return None;
    }
    Some(LeavePlan { at, host, adapter: port, managed, back })
}
