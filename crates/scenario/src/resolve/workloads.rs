//! `workloads:` – who asks what of whom, spread out into cases.

mod actions;
mod devices;
pub(crate) mod fio;
mod iometer;
mod memory;
mod pts;
mod steady;
mod takeover;

use super::links::Wiring;
use super::{Machine, check_name, queues};
use crate::fields::{Fields, Said, is_map, join};
use crate::files::Configurations;
use crate::language::{BLOCK, DMA, WORKLOAD};
use crate::node::{Entry, Node};
use crate::plan::{
    Arrivals, Axis, BlockCase, Cache, Case, ComponentPlan, DmaCase, DmaOperation, Load, MemoryNode, Offered,
    Pair, Pattern, WorkloadPlan,
};
use crate::problem::{Problem, Reports};
use crate::quantity;
use devices::{Named, Names, card_pairs, check_block_ports, check_shared, drive_pairs};
use lanetwin_ports::{Protocol, Value};
use lanetwin_units::{Bytes, Span};
use std::collections::BTreeSet;

/// More cases than this are a slip of the pen.
const MOST_CASES: usize = 10_000;

/// A load that asks for something less often than this, on average, is a slip of the unit.
const LONGEST_GAP_SECONDS: u64 = 60;

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
        reports.add(Problem::Empty { what: "there is no workload" }, node.spot, "workloads");
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
            fields.fault(other, Problem::Exclusive { one, other }, reports);
            return None;
        }
        [] => {
            Names { fields: &mut fields, machine: place.machine, reports }.cards();
            let about = "or `block:`, `fio:`, `iometer:`, `pts:` or `memory:`, with what is asked".into();
            reports.add(Problem::Missing { key: "dma".into(), about }, entry.spot, &path);
            return None;
        }
    };
    let at = fields.at(key);
    let mut pts = None;
    let (cases, pairs) = match key {
        "dma" => (dma(node, &at, reports), cards(&mut fields, place, reports)),
        "block" => (block(node, &at, reports), drives(&mut fields, place, reports)),
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

type Cases = Option<(Vec<Case>, Node)>;

fn cannot(path: &str, named: &Named, plan: &ComponentPlan, what: &str, reports: &mut Reports) {
    let problem = Problem::CannotServe { component: plan.name.clone(), what: what.into() };
    reports.add(problem, named.spot, path);
}

fn check_dma(
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

fn check_block(
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

fn dma(node: &Node, path: &str, reports: &mut Reports) -> Cases {
    let mut fields = Fields::open(node, path, DMA, &[], reports)?;
    let operation = match choice(&mut fields, "operation", reports) {
        Some("write") => Some(DmaOperation::Write),
        Some("mixed") => Some(DmaOperation::Mixed),
        other => other.map(|_| DmaOperation::Read),
    };
    let sizes = sizes(&mut fields, reports);
    let window = size(&mut fields, "window", reports);
    let pattern = pattern(&mut fields, reports);
    let cache = choice(&mut fields, "cache", reports)
        .map(|word| if word == "cold" { Cache::Cold } else { Cache::Warm });
    let offered = offered(&mut fields, "outstanding", reports);
    let transfers = count(&mut fields, "transfers", reports);
    let (sizes, window, offered) = (sizes?, window?, offered?);
    fits(&fields, &sizes, "window", window, reports);
    is_brisk(&fields, &sizes, &offered, reports);
    let (operation, pattern, cache, transfers) = (operation?, pattern?, cache?, transfers?);
    let cases = spread(&fields, "outstanding", &sizes, &offered, reports, |size, offered| {
        Load::Dma(DmaCase { operation, size, window, pattern, cache, offered, transfers })
    })?;
    Some((cases, fields.finish()))
}

fn block(node: &Node, path: &str, reports: &mut Reports) -> Cases {
    let mut fields = Fields::open(node, path, BLOCK, &[], reports)?;
    let sizes = sizes(&mut fields, reports);
    let offered = offered(&mut fields, "depth", reports);
    let read = match fields.one("read", reports) {
        Some(Said { value: Value::Ratio(ratio), .. }) => Some(ratio),
        _ => None,
    };
    let pattern = pattern(&mut fields, reports);
    let span = size(&mut fields, "span", reports);
    let requests = count(&mut fields, "requests", reports);
    let (sizes, span, offered) = (sizes?, span?, offered?);
    fits(&fields, &sizes, "span", span, reports);
    is_brisk(&fields, &sizes, &offered, reports);
    let (read, pattern, requests) = (read?, pattern?, requests?);
    let cases = spread(&fields, "depth", &sizes, &offered, reports, |size, offered| {
        Load::Block(BlockCase { size, offered, read, pattern, span, requests })
    })?;
    Some((cases, fields.finish()))
}

fn choice(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<&'static str> {
    match fields.one(key, reports)?.value {
        Value::Choice(word) => Some(word),
        other => unreachable!("`{key}` is declared as a choice, read as {other:?}"),
    }
}
fn pattern(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Pattern> {
    let word = choice(fields, "pattern", reports)?;
    Some(if word == "sequential" { Pattern::Sequential } else { Pattern::Random })
}
fn size(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<Bytes> {
    match fields.one(key, reports)?.value {
        Value::Size(size) => Some(size),
        other => unreachable!("`{key}` is declared as a size, read as {other:?}"),
    }
}
fn count(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<u64> {
    match fields.one(key, reports)?.value {
        Value::Count(count) => Some(count),
        other => unreachable!("`{key}` is declared as a count, read as {other:?}"),
    }
}

fn span(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<Span> {
    match fields.one(key, reports)?.value {
        Value::Time(time) => Some(time),
        other => unreachable!("`{key}` is declared as a time, read as {other:?}"),
    }
}

/// A list that must not be empty.
fn list(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<Vec<Said<Value>>> {
    let list = fields.many(key, reports)?;
    if list.is_empty() {
        fields.fault(key, Problem::Empty { what: "the list is empty" }, reports);
        return None;
    }
    Some(list)
}

/// The sizes of the transfers: at least a byte, and what a message can say.
fn sizes(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Vec<Bytes>> {
    let list = list(fields, "size", reports)?;
    let path = fields.at("size");
    let mut sizes = Vec::new();
    for said in &list {
        let Value::Size(Bytes(bytes)) = said.value else { unreachable!("`size` is declared as a size") };
        if bytes == 0 {
            reports.add(Problem::EmptyTransfer, said.spot, &path);
        } else if bytes > u64::from(u32::MAX) {
            let text = quantity::written(said.value);
            reports.add(
                Problem::OutOfRange { text, least: "1B".into(), most: "4294967295B".into() },
                said.spot,
                &path,
            );
        } else {
            sizes.push(Bytes(bytes));
        }
    }
    (sizes.len() == list.len()).then_some(sizes)
}

/// What is offered: a rate, or so many in flight (under `key`).
fn offered(fields: &mut Fields<'_>, key: &'static str, reports: &mut Reports) -> Option<Vec<Offered>> {
    if fields.written("rate").is_none() {
        let list = list(fields, key, reports)?;
        let in_flight = |said: &Said<Value>| match said.value {
            Value::Count(count) => {
                Offered::Outstanding(u32::try_from(count).expect("declared as at most 65 536"))
            }
            other => unreachable!("`{key}` is declared as counts, read as {other:?}"),
        };
        return Some(list.iter().map(in_flight).collect());
    }
    if fields.written(key).is_some() {
        fields.fault("rate", Problem::Exclusive { one: key, other: "rate" }, reports);
    }
    let rates = list(fields, "rate", reports);
    let arrivals = choice(fields, "arrivals", reports)?;
    let arrivals = if arrivals == "fixed" { Arrivals::Fixed } else { Arrivals::Poisson };
    let mut offered = Vec::new();
    for said in &rates? {
        match said.value {
            Value::Rate(0) => {
                let (least, most) = ("1B/s".into(), "any".into());
                let problem = Problem::OutOfRange { text: "0B/s".into(), least, most };
                reports.add(problem, said.spot, &fields.at("rate"));
                return None;
            }
            Value::Rate(bytes_per_second) => offered.push(Offered::Rate { bytes_per_second, arrivals }),
            other => unreachable!("`rate` is declared as rates, read as {other:?}"),
        }
    }
    Some(offered)
}

fn fits(fields: &Fields<'_>, sizes: &[Bytes], key: &'static str, room: Bytes, reports: &mut Reports) {
    let Some(largest) = sizes.iter().max().filter(|size| **size > room) else { return };
    let written = |size| quantity::written(Value::Size(size));
    let problem = Problem::WindowTooSmall { size: written(*largest), window: written(room), key };
    fields.fault(key, problem, reports);
}

/// Reports a rate at which hardly anything would ever be asked for.
fn is_brisk(fields: &Fields<'_>, sizes: &[Bytes], offered: &[Offered], reports: &mut Reports) {
    let Some(Bytes(largest)) = sizes.iter().max().copied() else { return };
    let least = largest.div_ceil(LONGEST_GAP_SECONDS);
    let rate = |offered: &Offered| match *offered {
        Offered::Rate { bytes_per_second, .. } => Some(bytes_per_second),
        Offered::Outstanding(_) => None,
    };
    if let Some(slowest) = offered.iter().filter_map(rate).min().filter(|rate| *rate < least) {
        let written = |rate| quantity::written(Value::Rate(rate));
        let problem =
            Problem::OutOfRange { text: written(slowest), least: written(least), most: "any".into() };
        fields.fault("rate", problem, reports);
    }
}

/// Every size with everything that is offered.
fn spread(
    fields: &Fields<'_>,
    closed: &'static str,
    sizes: &[Bytes],
    offered: &[Offered],
    reports: &mut Reports,
    load: impl Fn(Bytes, Offered) -> Load,
) -> Option<Vec<Case>> {
    let count = sizes.len().saturating_mul(offered.len());
    if count > MOST_CASES {
        fields.fault("size", Problem::TooMuch { cases: count, most: MOST_CASES }, reports);
        return None;
    }
    // a rate is told in the unit in which the throughput of such a load is told
    let (unit, bytes) = if closed == "outstanding" { ("Gb/s", 125e6) } else { ("MB/s", 1e6) };
    let in_unit = |bytes_per_second: u64| bytes_per_second as f64 / bytes;
    let axis = |name, value, unit| Some(Axis { name, value, unit, curve: String::new() });
    let axis = |size: Bytes, offered_here: Offered| match (sizes.len(), offered_here) {
        // the sizes are the axis; what is offered, if it varies, too, is a family of curves
        (2.., _) => axis("size", size.0 as f64, "B"),
        _ if offered.len() == 1 => None,
        (_, Offered::Outstanding(count)) => axis(closed, f64::from(count), ""),
        (_, Offered::Rate { bytes_per_second, .. }) => axis("rate", in_unit(bytes_per_second), unit),
    };
    let label = |size: Bytes, offered_here: Offered| {
        let size = quantity::label(Value::Size(size));
        match offered_here {
            _ if offered.len() == 1 => size,
            Offered::Outstanding(count) => format!("{size}, {count} in flight"),
            Offered::Rate { bytes_per_second, .. } => {
                format!("{size}, {} {unit} offered", in_unit(bytes_per_second))
            }
        }
    };
    let case = |size, offered| Case {
        label: label(size, offered),
        axis: axis(size, offered),
        load: load(size, offered),
    };
    Some(
        sizes
            .iter()
            .flat_map(|size| offered.iter().map(move |offered| (*size, *offered)))
            .map(|(s, o)| case(s, o))
            .collect(),
    )
}
