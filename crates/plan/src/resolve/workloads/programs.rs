//! `programs:` of a workload: programs on the cores of the initiating host, besides the load.
//!
//! A `root-complex` has the ports of a host, a `memory-host` its caches and memory. Programs beside a load combine the
//! two: their cores are those of the initiating host.

use super::asking::{Asker, Place, check_cores, section};
use super::devices::Names;
use crate::kind::{Asked, Kind, Who};
use crate::kinds::memory;
use crate::plan::{Case, ComponentPlan, Load, MemoryCase, Pair, ProgramsPlan};
use crate::problem::programs::Problem;
use crate::resolve::components::Machine;
use lanetwin_document::fields::Fields;
use lanetwin_document::problem::Reports;
use lanetwin_ports::Value;
use lanetwin_units::Span;
use std::collections::BTreeSet;

/// Reads the section, if there is one. Returns `None` after an error in it, which is reported.
pub(super) fn read(
    (fields, kind): (&mut Fields<'_>, &Kind),
    pairs: Option<&[Pair]>,
    place: Place<'_>,
    reports: &mut Reports,
) -> Option<Option<ProgramsPlan>> {
    if fields.written("programs").is_none() {
        return Some(None);
    }
    if !matches!(kind.who, Who::Hosts | Who::HostsOrPeers | Who::OneDrive) {
        fields.fault("programs", Problem::NoDrivers { kind: kind.name }, reports);
        return None;
    }
    let mut own = fields.section("programs", reports)?;
    let on = Names { fields: &mut own, machine: place.machine, reports }.cores()?;
    let is_host = check_cores(&own, &on, place.machine, reports);
    let node = own.written(memory::KIND.name)?;
    let asker = Asker { cores_of: Some(on.component), ..Asker::default() };
    let asked = section(&memory::KIND, node, (&mut own, asker), place, reports)?;
    let case = only_case(asked, &own, reports)?;
    if !is_host {
        return None;
    }
    check_cores_are_the_same((pairs?, on.component), &own, place.machine, reports)?;
    fields.record("programs", own.finish());
    Some(Some(ProgramsPlan { on: on.component, case }))
}

/// The only case of programs beside a load, which runs as long as the load.
fn only_case(asked: Asked, fields: &Fields<'_>, reports: &mut Reports) -> Option<Box<MemoryCase>> {
    let cases = asked.cases.len();
    let problem = match asked.cases.into_iter().next() {
        Some(Case { load: Load::Memory(case), .. }) if cases == 1 => match case.ends() {
            false => return Some(case),
            true => Problem::End,
        },
        _ => Problem::SeveralCases { cases },
    };
    fields.fault(memory::KIND.name, problem, reports);
    None
}

/// Reports cores that cannot be those of the initiating host, and cores that programs and drivers share in name only.
fn check_cores_are_the_same(
    (pairs, memory): (&[Pair], usize),
    fields: &Fields<'_>,
    machine: &Machine,
    reports: &mut Reports,
) -> Option<()> {
    let hosts: BTreeSet<usize> = pairs.iter().map(|pair| pair.on).collect();
    let Some((host, None)) = hosts.first().map(|first| (*first, hosts.iter().nth(1))) else {
        fields.fault("on", Problem::SeveralHosts { hosts: hosts.len() }, reports);
        return None;
    };
    let (asks, has) = (machine.plan(host)?, machine.plan(memory)?);
    let cores = |plan: &ComponentPlan| (plan.model.cores)(&plan.params);
    if cores(asks) != cores(has) {
        let [asks_cores, has_cores] = [cores(asks), cores(has)];
        let (host, memory) = (asks.name.clone(), has.name.clone());
        fields.fault("on", Problem::OtherCores { host, asks: asks_cores, memory, has: has_cores }, reports);
        return None;
    }
    if has.params.0.get("core.slice") == Some(&Value::Time(Span::ZERO)) {
        fields.fault("on", Problem::NoTurns { memory: has.name.clone(), host: asks.name.clone() }, reports);
    }
    Some(())
}
