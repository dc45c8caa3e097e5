//! Ethernet cables, and the network that they form, which must not contain loops.

use super::outages;
use crate::kind::Components;
use crate::plan::{CablePlan, ComponentPlan, End, Network};
use crate::problem::network::Problem;
use lanetwin_document::fields::{Fields, join};
use lanetwin_document::node::{Node, Spot};
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_fabric::ethernet::spec::Rate;
use lanetwin_ports::{Protocol, Value};

/// The keys that a cable can have.
pub(super) const KEYS: [&str; 5] = ["from", "to", "rate", "cable", "down"];
/// The longest cable for which the line models are meant \[m\]: single-mode fibre without amplifiers.
const LONGEST_METRES: u64 = 80_000;

/// A cable between these ports.
pub(super) fn cable(
    fields: &mut Fields<'_>,
    name: &str,
    ends: [(End, Option<&ComponentPlan>, String); 2],
    reports: &mut Reports,
) -> Option<CablePlan> {
    let [from, to] = ends.each_ref().map(|(end, ..)| *end);
    let ports = ends.map(|(_, plan, port)| (plan.map_or(Rate::G400, most), port));
    let (rate, metres) = (rate(fields, ports, reports), metres(fields, reports));
    let down = outages::of_cable(fields, reports);
    Some(CablePlan { name: name.to_owned(), from, to, rate: rate?, metres: metres?, down: down? })
}

/// The given rate, or the best that both ends have; each comes with the name of its port.
fn rate(fields: &mut Fields<'_>, ports: [(Rate, String); 2], reports: &mut Reports) -> Option<Rate> {
    let (best, port) = ports.into_iter().min()?;
    let Some(node) = fields.written("rate") else {
        fields.record("rate", Node::scalar(format!("{}Gb/s", best.gbps())));
        return Some(best);
    };
    let Value::Rate(bytes) = fields.one("rate", reports)?.value else { return None };
    let Some(rate) = Rate::ALL.into_iter().find(|rate| rate.bytes_per_second() == bytes) else {
        let known = Rate::ALL.map(|rate| format!("{}Gb/s", rate.gbps()));
        let known = quoted(known.iter().map(|text| &**text));
        let text = node.text().unwrap_or_default().to_owned();
        fields.fault("rate", Problem::NotARate { text, known }, reports);
        return None;
    };
    if rate > best {
        let has = format!("{}Gb/s", best.gbps());
        fields.fault("rate", Problem::FasterThanPort { port, has }, reports);
        return None;
    }
    fields.record("rate", Node::scalar(format!("{}Gb/s", rate.gbps())).by(node.origin));
    Some(rate)
}

/// `3m`
fn metres(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<u64> {
    let said = fields.text("cable", reports)?;
    let number = said.value.strip_suffix('m').and_then(|number| number.parse().ok());
    let metres = number.filter(|metres| *metres <= LONGEST_METRES);
    if metres.is_none() {
        let hint = format!("a length in whole metres, such as `3m`, up to {LONGEST_METRES}m");
        fields.fault("cable", Common::Quantity { text: said.value, hint }, reports);
    }
    metres
}

/// The highest rate of a component's Ethernet ports.
fn most(plan: &ComponentPlan) -> Rate {
    let said = match plan.params.0.get("ethernet.rate") {
        Some(Value::Choice(gbps)) => gbps.parse().ok().and_then(Rate::from_gbps),
        _ => None,
    };
    said.unwrap_or(Rate::G400)
}

/// Reports cables that cannot exist together; `spot` has the place and the name of a component.
pub(super) fn check(
    network: &Network,
    machine: &dyn Components,
    spot: impl Fn(usize) -> (Spot, String),
    reports: &mut Reports,
) {
    let is_switch = |component| machine.plan(component).is_some_and(ComponentPlan::is_ethernet_switch);
    let wires = network.wires(is_switch);
    let routes = |switch: usize| {
        let plan = machine.plan(wires.switches[switch]);
        !plan.is_some_and(|plan| plan.params.0.get("routes") == Some(&Value::Flag(false)))
    };
    if let Some(circle) = wires.topology.bridge_loop(routes) {
        let names: Vec<String> = circle.iter().map(|switch| machine.label(wires.switches[*switch])).collect();
        let (spot, name) = spot(wires.switches[circle[0]]);
        let circle = quoted(names.iter().map(|name| &**name));
        reports.add(Problem::BridgeLoop { circle }, spot, &join("machine", &name));
    }
}

/// Whether an end without a named port means an Ethernet port, which follows from the other end.
pub(super) fn speaks_ethernet(plan: &ComponentPlan, port: Option<&str>) -> bool {
    match port {
        Some(name) => {
            let named = plan.ports.iter().find(|port| port.name == name || port.group == name);
            named.is_some_and(|port| port.speaks == Protocol::Ethernet)
        }
        None => plan.is_ethernet_switch(),
    }
}
