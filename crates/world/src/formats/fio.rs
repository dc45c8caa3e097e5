//! Results of a phase of a job file in fio's own output formats.
//!
//! All repeats are reported together, as one run that lasted as long as all of them.

use crate::format::{FinishedCase, Format, Writer};
use crate::measure::Measured;
use lanetwin_load::Results as Counts;
use lanetwin_load::fio::Job;
use lanetwin_load::fio::output::{self, Origin, document};
use lanetwin_plan::FioCase;
use lanetwin_stats::results::{Attachment, Results};
use std::collections::BTreeSet;

/// The name that drivers give their cores.
const CORES: &str = "cores";
/// The folder of the files.
const FOLDER: &str = "fio";

pub(super) const FORMAT: Format = || Box::<FioWriter>::default();

/// The output files of all cases, in both formats of fio.
///
/// They are laid out as programs that plot fio's results expect them: a folder for each variant, workload and block
/// size, and the file `RW-IODEPTH-NUMJOBS.json`.
#[derive(Default)]
struct FioWriter {
    /// Names of files that are in use.
    taken: BTreeSet<String>,
    files: Vec<Attachment>,
}

impl Writer for FioWriter {
    fn add(&mut self, ran: &FinishedCase<'_>) {
        let Some(case) = ran.case.load.blocks() else { return };
        let told = CaseRows { ran, case };
        let base = told.name(&mut self.taken);
        let file = |folder: &str, format| {
            let text = serde_json::to_string_pretty(&told.document(format)).expect("results are a document");
            let (before, name) = base.rsplit_once('/').expect("a file in folders");
            Attachment { name: format!("{before}/{folder}{name}.json"), text: text + "\n" }
        };
        self.files.extend([file("", output::Format::Json), file("plus/", output::Format::JsonPlus)]);
    }

    fn finish(self: Box<Self>, _: usize, results: &mut Results) {
        results.attachments.extend(self.files);
    }
}

struct CaseRows<'a> {
    ran: &'a FinishedCase<'a>,
    case: &'a FioCase,
}

impl CaseRows<'_> {
    /// A path for the file, without extension, that no other file has.
    fn name(&self, taken: &mut BTreeSet<String>) -> String {
        let first = &self.case.jobs[0].job;
        let settings = &first.settings;
        let bytes = first.blocks()[usize::from(!settings.rw.reads)].0;
        let block = if bytes.is_multiple_of(1024) { format!("{}k", bytes / 1024) } else { bytes.to_string() };
        let folder = format!("{FOLDER}/{}/{}/{block}", self.ran.variant.name, self.ran.workload.name);
        let name = format!("{folder}/{}-{}-{}", settings.rw.word, settings.iodepth, settings.numjobs);
        let names = std::iter::once(name.clone()).chain((2..).map(|nth| format!("{name}-{nth}")));
        let free = names.into_iter().find(|name| !taken.contains(name)).expect("there are numbers enough");
        taken.insert(free.clone());
        free
    }

    fn document(&self, format: output::Format) -> output::Document {
        let entries = self.entries();
        let repeats: Vec<Vec<&Counts>> = entries.iter().map(|(name, _)| self.results(name)).collect();
        let busy = self.busy();
        let jobs: Vec<output::FinishedJobs<'_>> = entries
            .iter()
            .zip(&repeats)
            .map(|((name, job), repeats)| output::FinishedJobs { job, name, repeats, busy })
            .collect();
        document(&jobs, &self.case.globals, self.origin(), format)
    }

    /// The entries of the output, each with its first job.
    fn entries(&self) -> Vec<(String, &Job)> {
        let first = &self.ran.repeats[0];
        if first.devices.is_empty() {
            let job = &*self.case.jobs[0].job;
            let name = self.case.clones().first().map_or_else(String::new, |(_, _, name)| name.clone());
            return vec![(name, job)];
        }
        let job = |name: &str| {
            // the name of the job is followed by that of the device, if there are several, and then that of the host
            let ends = name.match_indices('@').map(|(end, _)| end).chain([name.len()]);
            let found = ends.filter_map(|end| self.case.jobs_of(&name[..end]).first().copied()).next_back();
            found.map_or(&*self.case.jobs[0].job, |found| &*found.job)
        };
        first.devices.iter().map(|(name, _)| (name.clone(), job(name))).collect()
    }

    fn results(&self, name: &str) -> Vec<&Counts> {
        let of = |measured: &'_ Measured| -> Option<usize> {
            measured.devices.iter().position(|(device, _)| device == name)
        };
        let own = |measured: &'_ Measured| of(measured);
        self.ran
            .repeats
            .iter()
            .map(|measured| own(measured).map_or(&measured.load, |place| &measured.devices[place].1))
            .collect()
    }

    /// Mean utilisation of the drivers' cores.
    fn busy(&self) -> f64 {
        let cores = || self.ran.repeats.iter().flat_map(|measured| &measured.limits);
        let used: Vec<f64> = cores().filter(|used| used.name == CORES).map(|used| used.share).collect();
        if used.is_empty() { 0.0 } else { used.iter().sum::<f64>() / used.len() as f64 }
    }

    fn origin(&self) -> Origin {
        let mut not_modelled: Vec<String> =
            self.case.jobs.iter().flat_map(|job| job.job.not_modelled.iter().cloned()).collect();
        not_modelled.sort();
        not_modelled.dedup();
        Origin {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            sampled: self.case.sampled(self.ran.repeats.len(), self.ran.workload.length),
            not_modelled,
        }
    }
}
