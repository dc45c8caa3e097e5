//! Checks that need the whole file: references, and missing sections.

use super::super::config::{IDLE, Worker};
use super::super::lines::Place;
use super::super::problem::Problem;
use super::Parts;
use super::reader::{Assigned, Reader, quoted, short};

/// Longer lists of names are truncated in messages.
const MOST_NAMES: usize = 8;

impl Reader<'_> {
    pub(super) fn check(&mut self, parts: &Parts) {
        self.check_assigned(parts);
        // missing sections are reported only if the file is otherwise correct
        if self.found.errors() == 0 {
            self.check_sections(parts);
        }
    }
    fn check_assigned(&mut self, parts: &Parts) {
        let specs = parts.specs.as_deref().unwrap_or_default();
        let names = specs.iter().map(|found| found.spec.name.as_str());
        let mut known = quoted(names.take(MOST_NAMES));
        if specs.len() > MOST_NAMES {
            known.push_str(", …");
        }
        for Assigned { spec, worker, is_disk, path, place } in std::mem::take(&mut self.assigned) {
            self.path = path;
            let found = specs.iter().find(|found| found.spec.name.eq_ignore_ascii_case(&spec));
            let replies = found.is_some_and(|found| found.spec.lines.iter().any(|line| line.reply > 0));
            let (spec, worker) = (short(&spec), short(&worker));
            if found.is_none() && !spec.eq_ignore_ascii_case(IDLE) {
                self.report(&Problem::UnknownSpec { spec, worker, known: known.clone() }, place);
            } else if replies && is_disk {
                self.report(&Problem::ReplyOnDisk { spec, worker }, place);
            }
        }
        self.path.clear();
    }
    /// Reports missing sections, except for a library, which has specifications only.
    fn check_sections(&mut self, parts: &Parts) {
        if parts.managers.is_some() && parts.setup.is_none() {
            let so = "nothing says how long to run";
            self.report(&Problem::MissingSection { section: "TEST SETUP", so }, Place::default());
        }
        if parts.setup.is_some() && parts.managers.is_none() {
            let so = "no worker is there to run";
            self.report(&Problem::MissingSection { section: "MANAGER LIST", so }, Place::default());
        }
    }
    /// Checks a worker that has been read.
    pub(super) fn check_worker(&mut self, worker: &Worker, place: Place) {
        let name = short(&worker.name);
        if self.cut.is_some() {
            return;
        }
        let why = match (worker.specs.is_empty(), worker.targets.is_empty()) {
            (false, false) => return,
            (true, false) => "it has no access specification",
            (false, true) => "it has no target",
            (true, true) => "it has neither access specifications nor targets",
        };
        self.report(&Problem::IdleWorker { worker: name.clone(), why }, place);
    }
}
