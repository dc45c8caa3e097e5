//! `machine:` – its components, and checks for components that are unconnected or unused.

pub(super) mod assemblies;
mod component;

use super::components::{Machine, Slot};
use super::wiring::Wiring;
use crate::catalogue::Catalogue;
use crate::plan::{ComponentPlan, End, LinkPlan, WorkloadPlan};
use crate::problem::Problem;
use assemblies::Expanded;
use component::component;
use lanetwin_document::fields::{check_name, is_map, join};
use lanetwin_document::node::Node;
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_ports::Protocol;

/// Reads the section. Returns the machine, and the section with every default filled in.
pub(super) fn read(node: &Node, catalogue: &Catalogue, reports: &mut Reports) -> Option<(Machine, Node)> {
    if !is_map(node, "machine", reports) {
        return None;
    }
    if node.entries().is_empty() {
        reports.add(Common::Empty { what: "the machine has no component" }, node.spot, "machine");
        return None;
    }
    let mut components = Vec::new();
    let mut complete = Vec::new();
    let mut found = Vec::new();
    for entry in node.entries() {
        let path = join("machine", &entry.key);
        check_name(&entry.key, entry.spot, &path, reports);
        if let Some(assembly) = assemblies::of(&entry.value, catalogue) {
            let Expanded { slots, assembled, complete: node } =
                assemblies::expand(entry, (assembly, components.len()), catalogue, reports);
            components.extend(slots);
            found.push(assembled);
            complete.push((entry.key.clone(), node));
            continue;
        }
        let plan = component(entry, &path, catalogue, reports).map(|(plan, node)| {
            complete.push((entry.key.clone(), node));
            plan
        });
        components.push(Slot { name: entry.key.clone(), spot: entry.spot, plan });
    }
    Some((Machine { components, assemblies: found }, Node::map(complete)))
}

/// Reports ports that must be connected and are not.
pub(super) fn report_unconnected(
    machine: &Machine,
    wiring: &Wiring,
    workloads: &[WorkloadPlan],
    reports: &mut Reports,
) {
    for (component, slot) in machine.components.iter().enumerate() {
        let Some(plan) = &slot.plan else { continue };
        // without workloads, a program outside may still send requests
        let asked = workloads.is_empty() || workloads.iter().any(|load| load.uses(component));
        let blocks = plan.ports.iter().filter(|port| port.speaks == Protocol::Block).count();
        for (port, declared) in plan.ports.iter().enumerate() {
            let needed = match declared.speaks {
                Protocol::Pcie => !declared.many,
                // a wrapper forwards requests, so both of its sides are needed unless a workload uses one; a device
                // with memory and a block port sends requests for lines that its memory does not hold
                Protocol::Block if plan.answers_blocks() => {
                    blocks > 1 && !(asked && port == 0) || plan.has(Protocol::Cxl)
                }
                Protocol::Block => true,
                Protocol::Dma | Protocol::Cpu | Protocol::Inside | Protocol::Cxl | Protocol::Ethernet => {
                    false
                }
            };
            if needed && !wiring.taken.contains_key(&End { component, port }) {
                let port = format!("{}.{}", slot.name, declared.name);
                reports.add(Problem::Unconnected { port }, slot.spot, &join("machine", &slot.name));
            }
        }
    }
}

/// The code of a component that nothing uses.
pub(super) const IDLE: &str = "SC106";

/// Reports components that nothing uses.
pub(super) fn report_idle(
    machine: &Machine,
    wiring: &Wiring,
    workloads: &[WorkloadPlan],
    reports: &mut Reports,
) {
    for (index, slot) in machine.components.iter().enumerate() {
        let asked = workloads.iter().any(|load| load.uses(index));
        let joined =
            wiring.joins.iter().any(|join| join.from.component == index || join.to.component == index)
                || wiring.driven.iter().any(|driven| driven.from.component == index || driven.drive == index)
                || wiring.cxl.iter().any(|link| link.is_at(index))
                || wiring.network.is_at(index);
        let host = slot.plan.as_ref().is_some_and(ComponentPlan::is_host);
        if !asked && !joined && !host && !forwards(index, machine, wiring) {
            reports.add(Problem::Idle { name: slot.name.clone() }, slot.spot, &join("machine", &slot.name));
        }
    }
}

/// Whether a switch forwards anything: whether it has two links.
fn forwards(component: usize, machine: &Machine, wiring: &Wiring) -> bool {
    let is_its = |link: &&LinkPlan| [link.from, link.to].iter().any(|end| end.component == component);
    machine.plan(component).is_some_and(ComponentPlan::is_switch)
        && wiring.links.iter().filter(is_its).count() > 1
}
