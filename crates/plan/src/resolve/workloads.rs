//! `workloads:` – who asks what of whom, spread out into cases.

mod actions;
mod devices;
pub(crate) mod fio;
mod iometer;
mod memory;
mod pts;
mod service;
mod steady;
mod takeover;
mod transfers;
mod values;

use super::links::Wiring;
use super::{Machine, check_name, queues};
use crate::files::Configurations;
use crate::language::WORKLOAD;
use crate::plan::{Case, Load, MemoryNode, Pair, WorkloadPlan};
use crate::problem::Problem;
use devices::{Names, card_pairs, check_block_ports, check_shared, drive_pairs};
use lanetwin_document::fields::{Fields, is_map, join};
use lanetwin_document::node::{Entry, Node};
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_document::quantity;
use lanetwin_ports::Value;
use lanetwin_units::Bytes;
use service::{check_block, check_dma};

/// More cases than this are a slip of the pen.
const MOST_CASES: usize = 10_000;

/// What the workloads of a variant are about.
#[derive(Clone, Copy)]
pub(super) struct Place<'a> {
    pub machine: &'a Machine,
    pub wiring: &'a Wiring,
    /// The memory of hosts with CXL ports.
    pub nodes: &'a [MemoryNode],
    /// What the files that they name say.
    pub configurations: &'a Configurations,
}

/// The cases of a workload, and what it asks for with every default filled in.
type Cases = Option<(Vec<Case>, Node)>;

/// Reads the section; the workloads, and the section with every default filled in.
pub(super) fn read(
    node: &Node,
    place: Place<'_>,
    reports: &mut Reports,
) -> Option<(Vec<WorkloadPlan>, Node)> {
    if !is_map(node, "workloads", reports) {
        return None;
    }
    if node.entries().is_empty() {
        reports.add(Common::Empty { what: "there is no workload" }, node.spot, "workloads");
        return None;
    }
    let read = |entry| workload(entry, place, reports);
    // all of them, before the first that is wrong ends it
    let read: Vec<_> = node.entries().iter().map(read).collect();
    let read: Vec<(WorkloadPlan, Node)> = read.into_iter().collect::<Option<_>>()?;
    let (plans, nodes): (Vec<_>, Vec<_>) = read.into_iter().unzip();
    let named: Vec<_> = plans.iter().map(|plan: &WorkloadPlan| plan.name.clone()).zip(nodes).collect();
    Some((plans, Node::map(named)))
}

/// The kinds of workload: one key of them is written.
const KINDS: [&str; 6] = ["dma", "block", "fio", "iometer", "pts", "memory"];

fn workload(entry: &Entry, place: Place<'_>, reports: &mut Reports) -> Option<(WorkloadPlan, Node)> {
    let path = join("workloads", &entry.key);
    check_name(&entry.key, entry.spot, &path, reports);
    let mut fields = Fields::open(&entry.value, &path, WORKLOAD, &[], reports)?;
    let kinds: Vec<_> = KINDS.iter().filter_map(|key| Some((*key, fields.written(key)?))).collect();
    let (key, node) = match kinds[..] {
        [only] => only,
        [(one, _), (other, _), ..] => {
            Names { fields: &mut fields, machine: place.machine, reports }.cards();
            fields.fault(other, Common::Exclusive { one, other }, reports);
            return None;
        }
        [] => {
            Names { fields: &mut fields, machine: place.machine, reports }.cards();
            let about = "or `block:`, `fio:`, `iometer:`, `pts:` or `memory:`, with what is asked".into();
            reports.add(Common::Missing { key: "dma".into(), about }, entry.spot, &path);
            return None;
        }
    };
    let at = fields.at(key);
    let mut pts = None;
    let (cases, pairs) = match key {
        "dma" => (transfers::dma(node, &at, reports), cards(&mut fields, place, reports)),
        "block" => (transfers::block(node, &at, reports), drives(&mut fields, place, reports)),
        "fio" => (fio::read(node, &at, place.configurations, reports), drives(&mut fields, place, reports)),
        "iometer" => {
            (iometer::read(node, &at, place.configurations, reports), drives(&mut fields, place, reports))
        }
        "pts" => {
            let read = pts::read(node, &at, reports);
            pts = read.plan;
            (read.cases, drives(&mut fields, place, reports))
        }
        _ => cores(&mut fields, (node, &at), place, reports),
    };
    let cases = cases.map(|(cases, node)| {
        fields.record(key, node);
        cases
    });
    let steady = steady::read(&mut fields, key, cases.as_deref().unwrap_or_default(), reports);
    let takeover = takeover::read(&mut fields, pairs.as_deref(), reports);
    let actions = actions::read(&mut fields, pairs.as_deref(), place.machine, reports);
    let (pairs, cases, steady) = (pairs?, cases?, steady?);
    let (takeover, actions) = (takeover?, actions?);
    let (pts, rule) = pts.unzip();
    if pts.is_some() {
        pts::check(&fields, &pairs, place.machine, reports);
    }
    report_beyond((&fields, key), (&pairs, &cases), place.machine, reports);
    let steady = steady.or(rule);
    let plan = WorkloadPlan { name: entry.key.clone(), pairs, cases, steady, takeover, pts, actions };
    queues::report(&fields, (&plan, key), place.machine, reports);
    Some((plan, fields.finish()))
}

/// Reports a load of blocks that reaches beyond the end of a drive, or of its namespaces.
fn report_beyond(
    (fields, key): (&Fields<'_>, &'static str),
    (pairs, cases): (&[Pair], &[Case]),
    machine: &Machine,
    reports: &mut Reports,
) {
    let of_block = |case: &Case| if let Load::Block(block) = case.load { Some(block.span) } else { None };
    let Some(span) = cases.iter().filter_map(of_block).max() else { return };
    for pair in pairs {
        let Some(plan) = machine.plan(pair.target) else { continue };
        let (Some(Value::Size(capacity)), Some(Value::Count(parts))) =
            (plan.params.0.get("capacity"), plan.params.0.get("namespaces"))
        else {
            continue;
        };
        let room = Bytes(capacity.0 / parts);
        if span > room {
            let (span, room) = (quantity::label(Value::Size(span)), quantity::label(Value::Size(room)));
            let problem = Problem::BeyondCapacity { span, drive: pair.device.clone(), room };
            fields.fault(key, problem, reports);
        }
    }
}

/// Who asks whom: cards a host.
fn cards(fields: &mut Fields<'_>, place: Place<'_>, reports: &mut Reports) -> Option<Vec<Pair>> {
    let Place { machine, wiring, .. } = place;
    let mut names = Names { fields, machine, reports };
    let (cards, host) = (names.cards(), names.memory());
    let (cards, host) = (cards?, host?);
    cards.iter().for_each(|card| check_dma(fields, card, &host, machine, wiring, reports));
    Some(card_pairs(&cards, &host))
}

/// Who asks whom: hosts drives.
fn drives(fields: &mut Fields<'_>, place: Place<'_>, reports: &mut Reports) -> Option<Vec<Pair>> {
    let Place { machine, wiring, .. } = place;
    let mut names = Names { fields, machine, reports };
    let (hosts, drives) = (names.hosts(), names.drives());
    let (hosts, drives) = (hosts?, drives?);
    check_shared(&hosts, &drives, fields, machine, reports);
    for host in &hosts {
        drives.iter().for_each(|drive| check_block(fields, host, drive, machine, wiring, reports));
    }
    check_block_ports(&drives, fields, machine, wiring, reports);
    Some(drive_pairs(&hosts, &drives))
}

/// What the cores of a host load and store: they ask themselves.
fn cores(
    fields: &mut Fields<'_>,
    (node, at): (&Node, &str),
    place: Place<'_>,
    reports: &mut Reports,
) -> (Cases, Option<Vec<Pair>>) {
    let Place { machine, nodes, .. } = place;
    let host = Names { fields, machine, reports }.cores();
    let Some(host) = host else { return (None, None) };
    // what is wrong with the load is told, too, where something is wrong with the host
    let is_host = memory::check_host(fields, &host, machine, reports);
    let asked = memory::Asked { machine, nodes, host: host.component };
    let cases = memory::read(node, at, asked, reports);
    if !is_host {
        return (None, None);
    }
    (cases, Some(drive_pairs(std::slice::from_ref(&host), std::slice::from_ref(&host))))
}
