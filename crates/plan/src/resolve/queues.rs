//! What a workload asks of an NVMe drive that will not show what was meant: parts of blocks, more in flight than its
//! queue has room for, a sample of writes that its buffer swallows, priorities that nobody heeds.

use super::Machine;
use crate::plan::{Case, ComponentPlan, Load, Offered, WorkloadPlan};
use crate::problem::Problem;
use lanetwin_document::fields::Fields;
use lanetwin_document::node::Origin;
use lanetwin_document::problem::Reports;
use lanetwin_document::quantity;
use lanetwin_load::fio::Job;
use lanetwin_ports::Value;
use lanetwin_units::Bytes;

/// What one load of a case has in flight at most, and what all of them write before the case ends, if they only write.
struct Asked {
    depth: u64,
    /// \[B\]; none if there are reads, or only one request at a time: then latency is the question.
    written: Option<u64>,
}

/// A sample shows what the flash takes if it is this many times what the buffer takes.
const BUFFERS: u64 = 2;

/// Reports each once for a workload.
pub(super) fn report(
    fields: &Fields<'_>,
    (workload, key): (&WorkloadPlan, &str),
    machine: &Machine,
    reports: &mut Reports,
) {
    let WorkloadPlan { pairs, cases, steady, .. } = workload;
    let drives = pairs.iter().filter_map(|pair| {
        let plan = machine.plan(pair.target).filter(|plan| plan.model.is_nvme)?;
        Some((&*pair.device, plan, machine.plan(pair.on)?))
    });
    for (drive, plan, host) in drives {
        let params = &plan.params;
        let asked: Vec<Asked> = cases.iter().filter_map(asked).collect();
        let room = entries(plan, host) - 1;
        if let Some(depth) = asked.iter().map(|asked| asked.depth).max().filter(|depth| *depth > room) {
            fields.fault(key, Problem::DeeperThanQueue { depth, drive: drive.into(), room }, reports);
        }
        let block = if params.choice("block") == "512B" { 512 } else { 4096 };
        if let Some(size) = cases.iter().find_map(|case| in_part(case, block)) {
            let [size, block] = [size, block].map(|bytes| quantity::written(Value::Size(Bytes(bytes))));
            fields.fault(key, Problem::PartOfBlock { size, drive: drive.into(), block }, reports);
        }
        let buffer = params.size("buffer").0;
        // rounds are as long as the scenario says, whatever that is in requests
        let least = asked.iter().filter_map(|asked| asked.written).min().filter(|_| steady.is_none());
        if let Some(written) = least.filter(|written| *written < BUFFERS * buffer) {
            let [written, buffer] = [written, buffer].map(|bytes| quantity::label(Value::Size(Bytes(bytes))));
            fields.fault(key, Problem::WritesFitBuffer { written, drive: drive.into(), buffer }, reports);
        }
        if let Some(job) = cases.iter().find_map(with_priority).filter(|_| takes_turns(plan, host)) {
            fields.fault(key, Problem::UnheededPriority { job, drive: drive.into() }, reports);
        }
    }
}

/// The size of an I/O of a case that is no whole number of blocks \[B\].
fn in_part(case: &Case, block: u64) -> Option<u64> {
    let sizes: Vec<u64> = match &case.load {
        Load::Block(load) => vec![load.size.0],
        Load::Fio(fio) => fio.jobs.iter().flat_map(|job| sizes_of(&job.job)).collect(),
        Load::Dma(_) | Load::Iometer(_) | Load::Memory(_) => Vec::new(),
    };
    sizes.into_iter().find(|size| !size.is_multiple_of(block))
}

/// The sizes of the I/Os of a job: of a range its least, of which all are multiples.
fn sizes_of(job: &Job) -> impl Iterator<Item = u64> {
    let settings = &job.settings;
    let asked = [settings.rw.reads, settings.rw.writes].into_iter().enumerate().filter(|(_, asked)| *asked);
    let replays = settings.read_iolog.is_some();
    asked.filter(move |_| !replays).flat_map(|(way, _)| {
        let split = settings.bssplit[way].iter().map(|(bytes, _)| *bytes);
        split.chain([job.blocks()[way].0])
    })
}

/// A job that says a priority, if there is one.
fn with_priority(case: &Case) -> Option<String> {
    let Load::Fio(fio) = &case.load else { return None };
    let job = fio.jobs.iter().find(|job| job.job.settings.prioclass > 0)?;
    Some(job.job.name().to_owned())
}

/// Whether the controller takes commands from its queues in turn, although nobody says so: whoever does knows what it
/// is about.
fn takes_turns(drive: &ComponentPlan, host: &ComponentPlan) -> bool {
    drive.software("driver.arbitration", host) == Some((Value::Choice("round-robin"), Origin::Default))
}

/// Entries of a queue: what the driver wants, as far as the controller allows it (MQES).
fn entries(drive: &ComponentPlan, host: &ComponentPlan) -> u64 {
    let allowed = drive.params.count("queues.entries");
    match drive.software("driver.queue-entries", host) {
        Some((Value::Count(wanted), _)) => allowed.min(wanted),
        _ => allowed,
    }
}

fn asked(case: &Case) -> Option<Asked> {
    match &case.load {
        Load::Block(block) => {
            let Offered::Outstanding(depth) = block.offered else { return None };
            let depth = u64::from(depth);
            let writes = block.read == 0.0 && depth > 1;
            Some(Asked { depth, written: writes.then_some(block.requests * block.size.0) })
        }
        Load::Fio(fio) => {
            let jobs = || fio.jobs.iter().map(|job| &job.job);
            let depth = jobs().map(|job| u64::from(job.settings.iodepth)).max()?;
            let writes = jobs()
                .all(|job| !job.settings.rw.reads && job.settings.rw.writes && job.settings.iodepth > 1);
            let most = jobs().map(|job| job.blocks()[1].1).max()?;
            Some(Asked { depth, written: writes.then_some(fio.requests * most) })
        }
        Load::Dma(_) | Load::Iometer(_) | Load::Memory(_) => None,
    }
}
