//! `workloads:` – initiators, targets and loads, expanded into cases.

mod actions;
mod asking;
mod devices;
mod programs;
mod service;
mod steady;
mod takeover;

use super::components::Machine;
use super::queues;
use crate::kind::{Asked, Kind, Who};
use crate::kinds::KINDS;
use crate::language::WORKLOAD;
use crate::plan::{Case, Load, Pair, RunLength, WorkloadPlan};
use crate::problem::Problem;
pub(super) use asking::Place;
use asking::{asked, room};
use devices::Names;
use lanetwin_document::fields::{Fields, check_name, is_map, join};
use lanetwin_document::node::{self, Entry, Node};
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_document::quantity;
use lanetwin_ports::{Capability, Value};

/// The keys for the number of operations measured, which may be left out.
const SAMPLES: [&str; 3] = ["requests", "transfers", "lines"];

/// Whether the length of a workload's measurement is given.
fn length(kind: &Kind, workload: &Node) -> RunLength {
    let section = workload.get(kind.name);
    let said =
        |key: &&str| section.and_then(|section| section.get(key)).is_some_and(|n| n.kind != node::Kind::Null);
    let is_open = kind.keys.iter().any(|field| SAMPLES.contains(&field.name) && field.default.is_none());
    if is_open && !SAMPLES.iter().any(said) { RunLength::UntilSteady } else { RunLength::Stated }
}

/// Reads the section. Returns the workloads, and the section with every default filled in.
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
    // reads all of them before the first error ends it
    let read: Vec<_> = node.entries().iter().map(read).collect();
    let read: Vec<(WorkloadPlan, Node)> = read.into_iter().collect::<Option<_>>()?;
    let (plans, nodes): (Vec<_>, Vec<_>) = read.into_iter().unzip();
    let named: Vec<_> = plans.iter().map(|plan: &WorkloadPlan| plan.name.clone()).zip(nodes).collect();
    Some((plans, Node::map(named)))
}

fn workload(entry: &Entry, place: Place<'_>, reports: &mut Reports) -> Option<(WorkloadPlan, Node)> {
    let path = join("workloads", &entry.key);
    check_name(&entry.key, entry.spot, &path, reports);
    let mut fields = Fields::open(&entry.value, &path, WORKLOAD, &[], reports)?;
    let (kind, node) = kind(&mut fields, entry, place.machine, reports)?;
    let (pairs, asked) = asked(kind, node, &mut fields, place, reports);
    let cases = asked.as_ref().map_or(&[][..], |asked| &asked.cases);
    let steady = steady::read(&mut fields, kind, cases, reports);
    let takeover = takeover::read(&mut fields, pairs.as_deref(), reports);
    let actions = actions::read(&mut fields, pairs.as_deref(), place.machine, reports);
    let programs = programs::read((&mut fields, kind), pairs.as_deref(), place, reports);
    let (pairs, Asked { mut cases, rounds }, steady) = (pairs?, asked?, steady?);
    deal(&mut cases, &pairs);
    let (takeover, actions, programs) = (takeover?, actions?, programs?);
    if kind.who == Who::OneDrive {
        check_one_drive((&fields, kind.name), &pairs, place.machine, reports);
    }
    report_beyond((&fields, kind.name), (&pairs, &cases), place.machine, reports);
    report_unmatched((&fields, kind.name), (&pairs, &cases), reports);
    let steady = steady.or(rounds);
    let (name, length) = (entry.key.clone(), length(kind, &entry.value));
    let plan = WorkloadPlan { name, pairs, cases, length, steady, takeover, programs, actions };
    queues::report(&fields, (&plan, kind.name), (place.machine, &place.wiring.network), reports);
    Some((plan, fields.finish()))
}

/// Gives threads on several targets their share of one of them, where these share their requests.
fn deal(cases: &mut [Case], pairs: &[Pair]) {
    let hosts: Vec<usize> = pairs.iter().map(|pair| pair.on).collect();
    for case in cases {
        if let Load::Blocks(blocks) = &case.load
            && let Some(dealt) = blocks.dealt(&hosts)
        {
            case.load = Load::Blocks(dealt);
        }
    }
}

/// The kind of a workload, and its section; reports an error if there is no such section, or more than one.
fn kind<'n>(
    fields: &mut Fields<'n>,
    entry: &Entry,
    machine: &Machine,
    reports: &mut Reports,
) -> Option<(&'static Kind, &'n Node)> {
    let kinds: Vec<_> = KINDS.iter().filter_map(|kind| Some((kind, fields.written(kind.name)?))).collect();
    match kinds[..] {
        [only] => return Some(only),
        [(one, _), (other, _), ..] => {
            Names { fields, machine, reports }.cards();
            fields.fault(other.name, Common::Exclusive { one: one.name, other: other.name }, reports);
        }
        [] => {
            Names { fields, machine, reports }.cards();
            let names: Vec<String> = KINDS.iter().map(|kind| format!("`{}:`", kind.name)).collect();
            let others = names[1..names.len() - 1].join(", ");
            let about = format!("or {others} or {}, with what is asked", names[names.len() - 1]);
            reports.add(Common::Missing { key: KINDS[0].name.into(), about }, entry.spot, &fields.path);
        }
    }
    None
}

/// Reports a block load that reaches beyond the end of a drive or of its namespaces.
fn report_beyond(
    (fields, key): (&Fields<'_>, &'static str),
    (pairs, cases): (&[Pair], &[Case]),
    machine: &Machine,
    reports: &mut Reports,
) {
    let span = |case: &Case| if let Load::Blocks(blocks) = &case.load { blocks.demand().span } else { None };
    let Some(span) = cases.iter().filter_map(span).max() else { return };
    for pair in pairs {
        let Some(room) = room(pair.target, machine) else { continue };
        if span > room {
            let (span, room) = (quantity::label(Value::Size(span)), quantity::label(Value::Size(room)));
            let problem = Problem::BeyondCapacity { span, drive: pair.device.clone(), room };
            fields.fault(key, problem, reports);
        }
    }
}

/// Reports once a load whose own targets cannot be matched with those of the scenario.
fn report_unmatched(
    (fields, key): (&Fields<'_>, &'static str),
    (pairs, cases): (&[Pair], &[Case]),
    reports: &mut Reports,
) {
    let hosts: Vec<usize> = pairs.iter().map(|pair| pair.on).collect();
    let file =
        |case: &Case| if let Load::Blocks(blocks) = &case.load { blocks.unmatched(&hosts) } else { None };
    if let Some(file) = cases.iter().find_map(file) {
        fields.fault(key, Problem::OtherTargets { file, targets: pairs.len() }, reports);
    }
}

/// Reports a workload for one NVMe drive that is used on something else.
fn check_one_drive(
    (fields, key): (&Fields<'_>, &'static str),
    pairs: &[Pair],
    machine: &Machine,
    reports: &mut Reports,
) {
    let is_drive =
        |pair: &Pair| machine.plan(pair.target).is_some_and(|plan| plan.model.can(Capability::NvmeQueues));
    if pairs.len() != 1 || !pairs.iter().all(is_drive) {
        fields.fault(key, Problem::NotOneDrive, reports);
    }
}
