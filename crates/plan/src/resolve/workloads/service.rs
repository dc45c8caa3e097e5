//! Whether who is asked can serve it, and whether links lead there.

use super::devices::Named;
use crate::plan::ComponentPlan;
use crate::problem::Problem;
use crate::resolve::Machine;
use crate::resolve::links::Wiring;
use lanetwin_document::fields::Fields;
use lanetwin_document::problem::Reports;
use lanetwin_ports::Protocol;
use std::collections::BTreeSet;

pub(super) fn cannot(path: &str, named: &Named, plan: &ComponentPlan, what: &str, reports: &mut Reports) {
    let problem = Problem::CannotServe { component: plan.name.clone(), what: what.into() };
    reports.add(problem, named.spot, path);
}

pub(super) fn check_dma(
    fields: &Fields<'_>,
    on: &Named,
    target: &Named,
    machine: &Machine,
    wiring: &Wiring,
    reports: &mut Reports,
) {
    let (Some(device), Some(memory)) = (machine.plan(on.component), machine.plan(target.component)) else {
        return;
    };
    if !device.has(Protocol::Dma) {
        cannot(&fields.at("on"), on, device, "takes no DMA commands", reports);
    }
    if !memory.model.has_memory {
        cannot(&fields.at("target"), target, memory, "has no memory to read or write", reports);
    }
    check_path(fields, on, target, machine, wiring, reports);
}

pub(super) fn check_block(
    fields: &Fields<'_>,
    on: &Named,
    target: &Named,
    machine: &Machine,
    wiring: &Wiring,
    reports: &mut Reports,
) {
    let (Some(host), Some(disk)) = (machine.plan(on.component), machine.plan(target.component)) else {
        return;
    };
    if !host.is_host() {
        cannot(&fields.at("on"), on, host, "runs no driver: it is no host", reports);
    }
    if wiring.driven.iter().any(|driven| driven.host == on.component) {
        cannot(&fields.at("on"), on, host, "runs a driver for a block port, and no other beside it", reports);
    }
    if disk.has(Protocol::Block) {
        return;
    }
    let other = disk.model.has_memory || disk.is_switch() || disk.has(Protocol::Dma);
    if other || !disk.has(Protocol::Pcie) {
        cannot(&fields.at("target"), target, disk, "answers no block requests", reports);
        return;
    }
    check_path(fields, on, target, machine, wiring, reports);
}

/// Reports if no links lead from one component to another. Links that were not understood may: then nothing is said.
fn check_path(
    fields: &Fields<'_>,
    from: &Named,
    to: &Named,
    machine: &Machine,
    wiring: &Wiring,
    reports: &mut Reports,
) {
    if reports.has_errors() {
        return;
    }
    let is_host = |component: usize| machine.plan(component).is_some_and(ComponentPlan::is_host);
    let name = |named: &Named| machine.components[named.component].name.clone();
    if reached(from.component, wiring, |here| !is_host(here)).contains(&to.component) {
        return;
    }
    let (from_name, to_name) = (name(from), name(to));
    if reached(from.component, wiring, |_| true).contains(&to.component) {
        let problem = Problem::NotPeers { from: from_name, to: to_name };
        reports.add(problem, to.spot, &fields.at("target"));
    } else {
        reports.add(Problem::NoPath { from: from_name, to: to_name }, from.spot, &fields.at("on"));
    }
}

/// What links lead to from a component, by way of such as let through.
fn reached(from: usize, wiring: &Wiring, lets_through: impl Fn(usize) -> bool) -> BTreeSet<usize> {
    let mut reached = BTreeSet::from([from]);
    let mut next = vec![from];
    while let Some(here) = next.pop() {
        for link in wiring.links.iter().filter(|_| here == from || lets_through(here)) {
            let ends = [link.from.component, link.to.component];
            for (a, b) in [(ends[0], ends[1]), (ends[1], ends[0])] {
                if a == here && reached.insert(b) {
                    next.push(b);
                }
            }
        }
    }
    reached
}
