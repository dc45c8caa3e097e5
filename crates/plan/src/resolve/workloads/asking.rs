//! Initiators, targets and load of a workload: its pairs, and the section of its kind.

use super::devices::{Named, Names, card_pairs, check_block_ports, check_shared, drive_pairs, who_asks};
use super::service::{cannot, check_block, check_dma, check_peers, check_program};
use crate::files::Configurations;
use crate::kind::{self, Asked, Kind, Who};
use crate::plan::{ComponentPlan, CxlRole, MemoryNode, Pair};
use crate::problem::Problem;
use crate::resolve::components::Machine;
use crate::resolve::transports::{RDMA, Tiny};
use crate::resolve::wiring::Wiring;
use lanetwin_document::fields::Fields;
use lanetwin_document::node::{Kind as NodeKind, Node};
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_ports::Value;
use lanetwin_units::Bytes;

/// The context in which workloads are read.
#[derive(Clone, Copy)]
pub(in crate::resolve) struct Place<'a> {
    pub machine: &'a Machine,
    pub wiring: &'a Wiring,
    /// The memory of hosts with CXL ports.
    pub nodes: &'a [MemoryNode],
    /// The contents of the files that they name.
    pub configurations: &'a Configurations,
}

/// Reads the pairs and the load of a workload.
pub(super) fn asked(
    kind: &'static Kind,
    node: &Node,
    fields: &mut Fields<'_>,
    place: Place<'_>,
    reports: &mut Reports,
) -> (Option<Vec<Pair>>, Option<Asked>) {
    if kind.who != Who::Cores {
        let pairs = match kind.who {
            Who::Cards => cards(fields, place, reports),
            Who::Peers => peers(fields, None, place, reports),
            Who::QueuePairs => peers(fields, Some(RDMA), place, reports),
            Who::HostsOrPeers if names_hosts(fields, place.machine) => peers(fields, None, place, reports),
            _ => drives(fields, place, reports),
        };
        let rooms = pairs.iter().flatten().filter_map(|pair| room(pair.target, place.machine));
        let to_hosts = kind.who == Who::HostsOrPeers && names_hosts(fields, place.machine);
        let asker = Asker { room: rooms.min(), peers: to_hosts, ..Asker::default() };
        let asked = section(kind, node, (fields, asker), place, reports);
        return (pairs, asked);
    }
    let host = Names { fields, machine: place.machine, reports }.cores();
    let Some(host) = host else { return (None, None) };
    // errors in the load are reported even if the host has one
    let is_host = check_cores(fields, &host, place.machine, reports);
    let asker = Asker { cores_of: Some(host.component), ..Asker::default() };
    let asked = section(kind, node, (fields, asker), place, reports);
    let itself = std::slice::from_ref(&host);
    // cores are their own initiators and targets
    (is_host.then(|| drive_pairs(itself, itself, |_, _| true)), asked)
}

/// Properties of the machine that are known before the section of a load is read.
#[derive(Clone, Copy, Default)]
pub(super) struct Asker {
    /// The host whose cores load and store, for loads of cores.
    pub(super) cores_of: Option<usize>,
    /// The size that it can reach of each of its targets, by the smallest.
    pub(super) room: Option<Bytes>,
    /// Whether its targets are hosts, to whose programs it sends.
    pub(super) peers: bool,
}

/// Size of a target that a block load can reach: one of its namespaces; `None` if it has no stated size.
pub(super) fn room(target: usize, machine: &Machine) -> Option<Bytes> {
    let params = &machine.plan(target)?.params.0;
    match (params.get("capacity"), params.get("namespaces")) {
        (Some(Value::Size(capacity)), Some(Value::Count(parts))) => Some(Bytes(capacity.0 / parts)),
        _ => None,
    }
}

/// Reads the section of a kind; keeps it with every default filled in.
pub(super) fn section(
    kind: &'static Kind,
    node: &Node,
    (workload, asker): (&mut Fields<'_>, Asker),
    place: Place<'_>,
    reports: &mut Reports,
) -> Option<Asked> {
    let Place { machine, nodes, configurations, .. } = place;
    let mut fields = Fields::open(node, &workload.at(kind.name), kind.keys, &[], reports)?;
    let Asker { cores_of, room, peers } = asker;
    let place = kind::Place { machine, nodes, configurations, cores_of, peers, room };
    let asked = (kind.read)(&mut fields, place, reports)?;
    workload.record(kind.name, fields.finish());
    Some(asked)
}

/// The pairs of cards and a host.
fn cards(fields: &mut Fields<'_>, place: Place<'_>, reports: &mut Reports) -> Option<Vec<Pair>> {
    let Place { machine, wiring, .. } = place;
    let mut names = Names { fields, machine, reports };
    let (cards, host) = (names.cards(), names.memory());
    let (cards, host) = (cards?, host?);
    cards.iter().for_each(|card| check_dma(fields, card, &host, machine, wiring, reports));
    Some(card_pairs(&cards, &host))
}

/// The pairs of hosts and drives.
fn drives(fields: &mut Fields<'_>, place: Place<'_>, reports: &mut Reports) -> Option<Vec<Pair>> {
    let Place { machine, wiring, .. } = place;
    let mut names = Names { fields, machine, reports };
    let (hosts, drives) = (names.hosts(), names.drives());
    let (hosts, drives) = (hosts?, drives?);
    let asked = who_asks(&hosts, &drives, wiring);
    // a link with errors may be the missing one
    if asked.is_none() && !reports.has_errors() {
        check_shared(&hosts, &drives, fields, machine, reports);
    }
    let asks = |host: &Named, drive: &Named| {
        asked.as_ref().is_none_or(|asked| asked.contains(&(host.component, drive.component)))
    };
    for host in &hosts {
        let own = drives.iter().filter(|drive| asks(host, drive));
        own.for_each(|drive| check_block(fields, host, drive, machine, wiring, reports));
    }
    check_block_ports(&drives, fields, machine, wiring, reports);
    Some(drive_pairs(&hosts, &drives, asks))
}

/// Whether the targets are hosts.
fn names_hosts(fields: &Fields<'_>, machine: &Machine) -> bool {
    let is_host = |node: &Node| {
        let name = node.text().unwrap_or_default();
        let found = machine.components.iter().find(|component| component.name == name);
        found.and_then(|found| found.plan.as_ref()).is_some_and(ComponentPlan::is_host)
    };
    let Some(written) = fields.written("target") else { return false };
    match &written.kind {
        NodeKind::List(items) => items.iter().all(is_host),
        _ => is_host(written),
    }
}

/// The pairs of hosts that send to each other, and the transport that their frames need room for.
fn peers(
    fields: &mut Fields<'_>,
    needs: Option<Tiny>,
    place: Place<'_>,
    reports: &mut Reports,
) -> Option<Vec<Pair>> {
    let Place { machine, wiring, .. } = place;
    let mut names = Names { fields, machine, reports };
    let (hosts, targets) = (names.hosts(), names.drives());
    let (hosts, targets) = (hosts?, targets?);
    for (key, named) in [("on", &hosts), ("target", &targets)] {
        for host in named {
            check_program(fields, (key, host), machine, wiring, reports);
        }
    }
    let asks = |host: &Named, target: &Named| host.component != target.component;
    let pairs = drive_pairs(&hosts, &targets, asks);
    if pairs.is_empty() {
        let [from, to] = [&hosts[0], &targets[0]].map(|named| machine.label(named.component));
        reports.add(Problem::NoPath { from, to }, targets[0].spot, &fields.at("target"));
    }
    for pair in &pairs {
        let spot = targets.iter().find(|target| target.component == pair.target).map(|target| target.spot);
        let place = (spot.unwrap_or_default(), fields.at("target"));
        check_peers(pair, needs, (place.0, &place.1), (machine, wiring), reports);
    }
    Some(pairs)
}

/// Whether the cores of a component can load and store; reports an error if not.
pub(super) fn check_cores(fields: &Fields<'_>, on: &Named, machine: &Machine, reports: &mut Reports) -> bool {
    let Some(plan) = machine.plan(on.component) else { return false };
    let is_host = plan.cxl_role() == Some(CxlRole::Host);
    if !is_host {
        let what = "has no cores that load and store: it is no `memory-host`";
        cannot(&fields.at("on"), on, plan, what, reports);
    }
    if fields.written("target").is_some() {
        let problem = Common::Exclusive { one: "memory", other: "target" };
        fields.fault("target", problem, reports);
    }
    is_host
}
