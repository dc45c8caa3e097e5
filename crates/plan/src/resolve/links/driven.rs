//! Links from a block port to a drive on PCIe: connected by a driver on the host above the drive. In an assembly with a
//! host of its own, the driver runs on that host; it reaches a drive that is not below it over the network.

use super::ends::Named;
use crate::plan::{ComponentPlan, Driven, End};
use crate::problem::Problem;
use crate::problem::network::Problem as Offered;
use crate::resolve::components::Machine;
use crate::resolve::wiring::Wiring;
use lanetwin_document::fields::Fields;
use lanetwin_document::node::{Entry, Node, Origin};
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_ports::{Capability, Protocol, Value};

/// A link that needs a driver, before its host is known.
pub(super) struct Open<'a> {
    pub entry: &'a Entry,
    pub fields: Fields<'a>,
    pub from: End,
    pub drive: Named,
}

/// The end that is a drive, if the other is a block port and needs a driver for it; otherwise `None`.
pub(super) fn drive(ends: &[Option<Named>; 2], machine: &Machine) -> Option<usize> {
    let speaks_block = |named: &Named| {
        let plan = machine.plan(named.component)?;
        let meant = |port: &str| plan.ports.iter().find(|own| own.name == port || own.group == port);
        let only = || plan.ports.iter().all(|own| own.speaks == Protocol::Block).then(|| plan.ports.first());
        let port = named.port.as_deref().map_or_else(|| only().flatten(), meant)?;
        (port.speaks == Protocol::Block).then_some(())
    };
    let is_drive = |named: &Named| {
        let plan = machine.plan(named.component)?;
        let is = plan.has(Protocol::Pcie) && !plan.answers_blocks() && !plan.has(Protocol::Dma);
        (is && named.port.is_none() && !answers_nothing(plan)).then_some(())
    };
    let [from, to] = ends;
    let (from, to) = (from.as_ref()?, to.as_ref()?);
    // a component with errors may be a block port: then nothing is reported about the other end
    let may_ask = |named: &Named| machine.plan(named.component).is_none() || speaks_block(named).is_some();
    let is = |asks: &Named, answers: &Named| may_ask(asks) && is_drive(answers).is_some();
    if is(from, to) {
        return Some(1);
    }
    is(to, from).then_some(0)
}

/// Whether there is no block driver for this component.
fn answers_nothing(plan: &ComponentPlan) -> bool {
    plan.is_host() || plan.is_switch() || plan.model.has_memory
}

/// Completes a link whose drive is below a host.
pub(super) fn read(
    open: Open<'_>,
    machine: &Machine,
    wiring: &mut Wiring,
    reports: &mut Reports,
) -> Option<Node> {
    let Open { entry, mut fields, from, drive } = open;
    let plan = machine.plan(from.component)?;
    let port = format!("{}.{}", machine.label(from.component), plan.ports[from.port].name);
    let name = machine.label(drive.component);
    let above = wiring.links.iter().find(|link| link.far().component == drive.component);
    let Some(above) = above.map(|link| link.root_port.component) else {
        if !reports.has_errors() {
            let problem = Problem::NoPath { from: "a host".into(), to: name };
            reports.add(problem, drive.spot, &drive.path);
        }
        return None;
    };
    let beside = machine.host_beside(from.component).filter(|beside| *beside != above);
    let host = beside.unwrap_or(above);
    if beside.is_some() {
        wiring.shown.push((wiring.driven.len(), drive.spot, drive.path.clone()));
    } else if let Some(other) = wiring.driven.iter().find(|other| other.drive == drive.component) {
        let problem = Problem::BlockPortTaken { port: name, by: format!("link `{}`", other.name) };
        reports.add(problem, drive.spot, &drive.path);
        return None;
    }
    let origin = |key| fields.written(key).map_or(Origin::Default, |node| node.origin);
    let (from_origin, to_origin) = (origin("from"), origin("to"));
    fields.record("from", Node::scalar(port).by(from_origin));
    fields.record("to", Node::scalar(name).by(to_origin));
    wiring.driven.push(Driven { name: entry.key.clone(), from, drive: drive.component, host });
    Some(fields.finish())
}

/// Reports drives that a host should access over a network but does not reach, and drives that are exposed with
/// properties other than their own.
pub(in crate::resolve) fn check_shown(wiring: &Wiring, machine: &Machine, reports: &mut Reports) {
    for (place, spot, path) in &wiring.shown {
        let Driven { from, drive, host, .. } = wiring.driven[*place];
        let (shows, name) = (machine.label(from.component), machine.label(drive));
        if wiring.network.remote(host, drive).is_none() {
            // an unreachable subsystem was reported at its own place
            if wiring.network.is_unreached(drive) {
                continue;
            }
            let problem =
                Offered::NotShown { shows, drive: name, host: machine.components[host].name.clone() };
            reports.add(problem, *spot, path);
            continue;
        }
        let (Some(own), Some(drive)) = (machine.plan(from.component), machine.plan(drive)) else { continue };
        let value = |plan: &ComponentPlan, key| plan.params.0.get(key).copied();
        if !own.model.can(Capability::NvmeQueues) {
            continue;
        }
        for key in ["capacity", "block"] {
            let (Some(shown), Some(has)) = (value(own, key), value(drive, key)) else { continue };
            let fits = match (shown, has) {
                (Value::Size(shown), Value::Size(has)) => shown <= has,
                (shown, has) => shown == has,
            };
            if !fits {
                let [shown, has] = [shown, has].map(quantity::written);
                let (shows, drive) = (shows.clone(), name.clone());
                let problem = Offered::ShownOtherwise { shows, key, shown, drive, has };
                reports.add(problem, *spot, path);
            }
        }
    }
}
