//! `ana:` of a subsystem: changes in the asymmetric namespace access state of its ports.

use crate::plan::{AccessPlan, PortOffer};
use crate::problem::network::Problem;
use lanetwin_document::fields::{Fields, Said};
use lanetwin_document::problem::Reports;
use lanetwin_models::roles::nvmeof::Access;
use lanetwin_ports::Value;
use lanetwin_units::Instant;

/// Reads the changes, in the order of time; `names` has the name of each port.
pub(super) fn read(
    fields: &mut Fields<'_>,
    (ports, names): (&[PortOffer], &[String]),
    reports: &mut Reports,
) -> Option<Vec<AccessPlan>> {
    if fields.written("ana").is_none() {
        return Some(Vec::new());
    }
    let mut items = fields.list("ana", reports)?;
    let read: Vec<_> = items.iter_mut().map(|item| one(item, (ports, names), reports)).collect();
    fields.record_list("ana", items);
    if let ([_], [port]) = (ports, names) {
        fields.fault("ana", Problem::StateOfOne { port: port.clone() }, reports);
        return None;
    }
    let mut all: Vec<AccessPlan> = read.into_iter().collect::<Option<_>>()?;
    all.sort_by_key(|change| change.at);
    Some(all)
}

fn one(
    item: &mut Fields<'_>,
    (ports, names): (&[PortOffer], &[String]),
    reports: &mut Reports,
) -> Option<AccessPlan> {
    let at = match item.one("at", reports)?.value {
        Value::Time(at) => Instant::ZERO + at,
        other => unreachable!("`at` is declared as a time, read as {other:?}"),
    };
    let access = match item.one("state", reports)?.value {
        Value::Choice("optimized") => Access::Optimized,
        Value::Choice("non-optimized") => Access::NonOptimized,
        _ => Access::Inaccessible,
    };
    let Said { value, spot, .. } = item.text("port", reports)?;
    let place = names.iter().position(|name| *name == value);
    let Some(port) = place.and_then(|place| ports.get(place)) else {
        reports.add(Problem::NotOneOfPorts { name: value }, spot, &item.at("port"));
        return None;
    };
    Some(AccessPlan { at, adapter: port.adapter, access })
}
