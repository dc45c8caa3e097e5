//! Checks that targets can serve the load, and that links lead to them.

use super::devices::Named;
use crate::plan::{ComponentPlan, End, LinkPlan, Pair, PeerPath, Peers};
use crate::problem::Problem;
use crate::problem::network::Problem as Offered;
use crate::problem::partitions::Problem as Apart;
use crate::resolve::components::Machine;
use crate::resolve::transports::Tiny;
use crate::resolve::wiring::Wiring;
use lanetwin_document::fields::Fields;
use lanetwin_document::node::Spot;
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_ports::{Capability, Protocol, Value};
use lanetwin_units::Bytes;
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
    if wiring.network.remote(on.component, target.component).is_some() {
        return;
    }
    if wiring.network.subsystems.iter().any(|own| own.host == on.component) {
        let name = machine.label(on.component);
        reports.add(Offered::TargetHost { name }, on.spot, &fields.at("on"));
        return;
    }
    if wiring.driven.iter().any(|driven| driven.host == on.component) {
        cannot(&fields.at("on"), on, host, "runs a driver for a block port, and no other beside it", reports);
    }
    if disk.answers_blocks() {
        return;
    }
    let is_adapter = disk.model.can(Capability::Rdma);
    let other = disk.model.has_memory || disk.is_switch() || disk.has(Protocol::Dma) || is_adapter;
    if other || !disk.has(Protocol::Pcie) {
        cannot(&fields.at("target"), target, disk, "answers no block requests", reports);
        return;
    }
    check_path(fields, on, target, machine, wiring, reports);
}

/// Reports components that run no programs.
pub(super) fn check_program(
    fields: &Fields<'_>,
    (key, named): (&str, &Named),
    machine: &Machine,
    wiring: &Wiring,
    reports: &mut Reports,
) {
    let Some(host) = machine.plan(named.component) else { return };
    if !host.is_host() {
        cannot(&fields.at(key), named, host, "runs no programs: it is no host", reports);
    } else if wiring.driven.iter().any(|driven| driven.host == named.component) {
        let what = "runs a driver for a block port, and no program beside it";
        cannot(&fields.at(key), named, host, what, reports);
    }
}

/// Reports hosts that do not reach each other, frames that are too small for what the hosts need, and switches that
/// drop their full frames.
pub(super) fn check_peers(
    pair: &Pair,
    needs: Option<Tiny>,
    (spot, path): (Spot, &str),
    (machine, wiring): (&Machine, &Wiring),
    reports: &mut Reports,
) {
    if reports.has_errors() {
        return;
    }
    let plan = |component: usize| machine.plan(component);
    let components = machine.components.len();
    let peers = Peers { plan: &plan, components, links: &wiring.links, network: &wiring.network };
    let [from, to] = [pair.on, pair.target].map(|component| machine.label(component));
    let written = |bytes: u32| quantity::written(Value::Size(Bytes(bytes.into())));
    let found = peers.path([pair.on, pair.target]);
    if let (Some(PeerPath { adapters, frames, .. }), Some(Tiny { what, least })) = (found, needs)
        && frames < least
    {
        let small = adapters.into_iter().find(|adapter| peers.mtu(*adapter) == frames);
        let name = machine.label(small.unwrap_or(adapters[0]));
        let (mtu, least) = (written(frames), written(least));
        return reports.add(Offered::TinyMtu { name, mtu, what, least }, spot, path);
    }
    match found {
        None => reports.add(Problem::NoPath { from, to }, spot, path),
        Some(PeerPath { narrow: Some((switch, mtu)), frames, .. }) => {
            let (switch, has, needed) = (machine.label(switch), written(mtu), written(frames));
            let name = format!("`{to}`");
            reports.add(Offered::BlackHole { from, name, switch, has, needed }, spot, path);
        }
        Some(_) => {}
    }
}

/// Reports if no links lead from one component to another, unless a link with errors might.
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
    let ways = Ways { machine, wiring };
    if ways.reached(from.component, |here| !is_host(here)).contains(&to.component) {
        return;
    }
    let (from_name, to_name) = (name(from), name(to));
    if ways.reached(from.component, |_| true).contains(&to.component) {
        let problem = Problem::NotPeers { from: from_name, to: to_name };
        reports.add(problem, to.spot, &fields.at("target"));
    } else if let Some(owner) = wiring.partitions.owner(to.component, machine) {
        let problem = Apart::OtherHost { from: from_name, to: to_name, owner };
        reports.add(problem, to.spot, &fields.at("target"));
    } else {
        reports.add(Problem::NoPath { from: from_name, to: to_name }, from.spot, &fields.at("on"));
    }
}

/// A component; for a switch, as seen in the hierarchy below this root port.
type Node = (usize, Option<End>);

/// The graph of links.
struct Ways<'a> {
    machine: &'a Machine,
    wiring: &'a Wiring,
}

impl Ways<'_> {
    /// The components that links reach from one, through components that `lets_through` accepts.
    fn reached(&self, from: usize, lets_through: impl Fn(usize) -> bool) -> BTreeSet<usize> {
        let mut reached = BTreeSet::from([(from, None)]);
        let mut next = vec![(from, None)];
        while let Some(here) = next.pop() {
            let (component, _) = here;
            for link in self.wiring.links.iter().filter(|_| component == from || lets_through(component)) {
                let [a, b] = self.ends(link);
                for (near, far) in [(a, b), (b, a)] {
                    if near == here && reached.insert(far) {
                        next.push(far);
                    }
                }
            }
        }
        reached.into_iter().map(|(component, _)| component).collect()
    }

    /// The ends of a link. A shared switch counts as one node for each host.
    fn ends(&self, link: &LinkPlan) -> [Node; 2] {
        [link.from, link.to].map(|end| {
            let is_switch = self.machine.plan(end.component).is_some_and(ComponentPlan::is_switch);
            (end.component, is_switch.then_some(link.root_port))
        })
    }
}
