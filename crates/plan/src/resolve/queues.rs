//! Doubtful requests of a workload to an NVMe drive: parts of blocks, more in flight than the queue holds, priorities
//! that the controller ignores, cores that the host lacks.

use super::components::Machine;
use crate::plan::{Case, ComponentPlan, Demand, Load, Network, Step, WorkloadPlan};
use crate::problem::Problem;
use crate::problem::network::Problem as Offered;
use lanetwin_document::fields::Fields;
use lanetwin_document::node::Origin;
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_ports::{Capability, Value};
use lanetwin_units::Bytes;
use std::collections::{BTreeMap, BTreeSet};

/// Reports each of these once for a workload.
pub(super) fn report(
    fields: &Fields<'_>,
    (workload, key): (&WorkloadPlan, &str),
    (machine, network): (&Machine, &Network),
    reports: &mut Reports,
) {
    let WorkloadPlan { pairs, cases, .. } = workload;
    let demand =
        |case: &Case| if let Load::Blocks(blocks) = &case.load { Some(blocks.demand()) } else { None };
    let asked: Vec<Demand> = cases.iter().filter_map(demand).collect();
    let hosts: BTreeSet<usize> = pairs.iter().map(|pair| pair.on).collect();
    for host in hosts.into_iter().filter_map(|host| machine.plan(host)) {
        report_cores(host, &asked, (fields, key), reports);
    }
    let drives = pairs.iter().filter_map(|pair| {
        let plan = machine.plan(pair.target).filter(|plan| plan.model.can(Capability::NvmeQueues))?;
        Some((&*pair.device, plan, (machine.plan(pair.on)?, network.remote(pair.on, pair.target))))
    });
    let mut shallow: BTreeMap<(u64, u64), Vec<&str>> = BTreeMap::new();
    for (drive, plan, (host, remote)) in drives {
        let params = &plan.params;
        let target = remote.and_then(|remote| machine.plan(remote.target));
        let room = target.map_or_else(|| entries(plan, host), |target| capsules(host, target)) - 1;
        if let Some(depth) = asked.iter().filter_map(|asked| asked.depth).max().filter(|depth| *depth > room)
        {
            match target {
                Some(_) => shallow.entry((depth, room)).or_default().push(drive),
                None => {
                    let drive = drive.into();
                    fields.fault(key, Problem::DeeperThanQueue { depth, drive, room }, reports);
                }
            }
        }
        let block = if params.choice("block") == "512B" { 512 } else { 4096 };
        if let Some(Step { what, hint, .. }) = part_of_block(&asked, block) {
            let (drive, block) = (drive.into(), quantity::written(Value::Size(Bytes(block))));
            fields.fault(key, Problem::PartOfBlock { what, drive, block, hint }, reports);
        }
        let prior = asked.iter().find_map(|asked| asked.priority.clone());
        if let Some(job) = prior.filter(|_| takes_turns(plan, host)) {
            fields.fault(key, Problem::UnheededPriority { job, drive: drive.into() }, reports);
        }
    }
    for ((depth, room), drives) in shallow {
        fields.fault(key, Offered::DeeperThanCapsules { depth, drives: named(&drives), room }, reports);
    }
}

/// The first of what is asked that is no whole number of blocks: a size, or what decides where requests begin.
fn part_of_block(asked: &[Demand], block: u64) -> Option<Step> {
    let size = |&bytes: &u64| Step {
        bytes,
        what: format!("an I/O of {}", quantity::written(Value::Size(Bytes(bytes)))),
        hint: "",
    };
    let sizes = asked.iter().flat_map(|asked| asked.sizes.iter().map(size));
    let steps = asked.iter().flat_map(|asked| asked.steps.iter().cloned());
    sizes.chain(steps).find(|step| !step.bytes.is_multiple_of(block))
}

/// The first of these drives, and the number of the others.
fn named(drives: &[&str]) -> String {
    let others = drives.iter().collect::<BTreeSet<_>>().len() - 1;
    match others {
        0 => format!("`{}`", drives[0]),
        _ => format!("each of `{}` and {others} more", drives[0]),
    }
}

/// Reports jobs that are pinned to cores that their host does not have.
fn report_cores(
    host: &ComponentPlan,
    asked: &[Demand],
    (fields, key): (&Fields<'_>, &str),
    reports: &mut Reports,
) {
    let has = (host.model.cores)(&host.params);
    let mut told = BTreeSet::new();
    for (job, cores) in asked.iter().flat_map(|asked| &asked.pinned) {
        let missing: Vec<String> =
            cores.iter().filter(|core| u64::from(**core) >= has).map(u32::to_string).collect();
        if missing.is_empty() || !told.insert(job) {
            continue;
        }
        let has = match has {
            0 => "does not say how many it has: each load has a core of its own".to_owned(),
            _ if missing.len() == cores.len() => format!("has {has}: it runs on all of them"),
            _ => format!("has {has}: it runs on the others"),
        };
        let (job, cores, host) = (job.clone(), missing.join(", "), host.name.clone());
        fields.fault(key, Problem::CoresNotThere { job, cores, host, has }, reports);
    }
}

/// Whether the controller serves its queues round robin by default. If the author has set it, no warning is needed.
fn takes_turns(drive: &ComponentPlan, host: &ComponentPlan) -> bool {
    drive.software("driver.arbitration", host) == Some((Value::Choice("round-robin"), Origin::Default))
}

/// Entries of a queue over a network: the host's setting, limited by the target.
fn capsules(host: &ComponentPlan, target: &ComponentPlan) -> u64 {
    let said = |plan: &ComponentPlan, name| match plan.params.0.get(name) {
        Some(Value::Count(entries)) => *entries,
        _ => 128,
    };
    said(host, "driver.rdma.queue-entries").min(said(target, "target.queue-entries"))
}

/// Entries of a queue: the driver's setting, limited by the controller (MQES).
fn entries(drive: &ComponentPlan, host: &ComponentPlan) -> u64 {
    let allowed = drive.params.count("queues.entries");
    match drive.software("driver.queue-entries", host) {
        Some((Value::Count(wanted), _)) => allowed.min(wanted),
        _ => allowed,
    }
}
