//! Job files of fio that a scenario names, what they include, and the logs that their jobs replay.

use super::folder::Files;
use crate::problem::{add_finding, add_finding_at};
use lanetwin_document::add_source;
use lanetwin_document::fields::join;
use lanetwin_document::node::{Kind, Node, Spot};
use lanetwin_document::problem::Reports;
use lanetwin_load::Finding;
use lanetwin_load::fio::iolog::{self, Log};
use lanetwin_load::fio::{self, Job, JobFile, Surroundings, Understood};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A job file that was understood.
#[derive(Debug)]
pub(crate) struct Fio {
    pub file: JobFile,
    /// The logs that its jobs name.
    logs: BTreeMap<String, Arc<Log>>,
}

impl Fio {
    /// The log that a job of the file of this name replays.
    pub(crate) fn log(&self, job: &Job, file: &str) -> Option<Arc<Log>> {
        let names = names(job.settings.read_iolog.as_deref()?, file);
        names.iter().find_map(|name| self.logs.get(name)).cloned()
    }
}

/// The job files of a scenario.
#[derive(Default, Debug)]
pub(super) struct JobFiles {
    /// By name; none if something is wrong with it.
    files: BTreeMap<String, Option<Fio>>,
    /// By the path of the section whose options they are.
    inline: BTreeMap<String, Option<Fio>>,
    texts: BTreeMap<String, String>,
}

/// Where texts are from: `files:` of the scenario, and what lies beside it.
type Sources<'a> = (&'a BTreeMap<String, String>, &'a Files);

impl JobFiles {
    /// Reads every file that a workload of one of these documents names; reports what is wrong with it.
    pub(super) fn read(
        documents: &[&Node],
        from: Sources<'_>,
        sources: &mut Vec<String>,
        reports: &mut Reports,
    ) -> Self {
        let mut all = Self::default();
        let workloads = documents.iter().flat_map(|d| d.get("workloads").map_or(&[][..], Node::entries));
        for workload in workloads {
            let Some(section) = workload.value.get("fio") else { continue };
            let path = join(&join("workloads", &workload.key), "fio");
            if let Some(name) = section.get("file").and_then(Node::text) {
                if !all.files.contains_key(name) {
                    let found = all.file_of(name, from, &path, sources, reports);
                    all.files.insert(name.to_owned(), found);
                }
            } else if matches!(section.kind, Kind::Map(_)) && !all.inline.contains_key(&path) {
                let (text, places) = text_of(&workload.key, section);
                if !places.is_empty() {
                    let found = all.inline_of(&text, &places, (from, section.spot, &path), reports);
                    all.inline.insert(path, found);
                }
            }
        }
        all
    }
    pub(super) fn file(&self, name: &str) -> Option<&Fio> {
        self.files.get(name)?.as_ref()
    }
    pub(super) fn inline(&self, path: &str) -> Option<&Fio> {
        self.inline.get(path)?.as_ref()
    }
    pub(super) fn into_texts(self) -> BTreeMap<String, String> {
        self.texts
    }

    /// A text by its name, with what findings call it; it is kept.
    fn text(&mut self, name: &str, (inline, files): Sources<'_>) -> (String, Result<String, String>) {
        let (shown, text) = match inline.get(name) {
            Some(text) => (name.to_owned(), Ok(text.clone())),
            None => files.read(name),
        };
        if let Ok(text) = &text {
            self.texts.insert(name.to_owned(), text.clone());
        }
        (shown, text)
    }

    fn file_of(
        &mut self,
        name: &str,
        from: Sources<'_>,
        path: &str,
        sources: &mut Vec<String>,
        reports: &mut Reports,
    ) -> Option<Fio> {
        let (shown, text) = self.text(name, from);
        let read = match text {
            Ok(text) => self.understand(&text, name, from),
            Err(said) => Err(vec![fio::unreadable(&said, name)]),
        };
        let (understood, findings) = match read {
            Ok(Understood { file, warnings }) => (Some(file), warnings),
            Err(findings) => (None, findings),
        };
        let mut tell = |finding: &Finding| {
            let called = if finding.file == name { shown.clone() } else { finding.file.clone() };
            let file = add_source(sources, called).file;
            add_finding(reports, finding, file, &join(path, "file"));
        };
        findings.iter().for_each(&mut tell);
        let file = understood?;
        let (logs, findings) = self.logs(&file, name, from);
        findings.iter().for_each(&mut tell);
        Some(Fio { logs: logs?, file: JobFile { file: shown, ..file } })
    }

    fn inline_of(
        &mut self,
        text: &str,
        places: &[(String, Spot)],
        (from, spot, path): (Sources<'_>, Spot, &str),
        reports: &mut Reports,
    ) -> Option<Fio> {
        // the lines of the text above the first option
        const ABOVE: usize = 3;
        let read = self.understand(text, "", from);
        let (understood, findings) = match read {
            Ok(Understood { file, warnings }) => (Some(file), warnings),
            Err(findings) => (None, findings),
        };
        let tell = |finding: &Finding, reports: &mut Reports| {
            let place = (finding.line as usize).checked_sub(ABOVE).and_then(|nth| places.get(nth));
            let (at, spot) = place.map_or((path.to_owned(), spot), |(key, spot)| (join(path, key), *spot));
            add_finding_at(reports, finding, spot, &at);
        };
        findings.iter().for_each(|finding| tell(finding, reports));
        let file = understood?;
        let (logs, findings) = self.logs(&file, "", from);
        findings.iter().for_each(|finding| add_finding_at(reports, finding, spot, path));
        Some(Fio { logs: logs?, file })
    }

    /// Reads a text; what it includes is kept, too.
    fn understand(&mut self, text: &str, name: &str, from: Sources<'_>) -> Result<Understood, Vec<Finding>> {
        let kept = RefCell::new(BTreeMap::new());
        let (inline, files) = from;
        let load = |name: &str| {
            let text = match inline.get(name) {
                Some(text) => text.clone(),
                None => files.read(name).1?,
            };
            kept.borrow_mut().insert(name.to_owned(), text.clone());
            Ok(text)
        };
        let read = fio::read(text, name, &Surroundings::nowhere(&load));
        self.texts.extend(kept.into_inner());
        read
    }

    /// The logs that the jobs of a file name, and what is wrong with them.
    fn logs(
        &mut self,
        file: &JobFile,
        name: &str,
        from: Sources<'_>,
    ) -> (Option<BTreeMap<String, Arc<Log>>>, Vec<Finding>) {
        let (mut logs, mut all, mut whole) = (BTreeMap::new(), Vec::new(), true);
        for given in file.jobs.iter().filter_map(|job| job.settings.read_iolog.as_deref()) {
            let names = names(given, name);
            if names.iter().any(|name| logs.contains_key(name)) {
                continue;
            }
            let texts: Vec<_> = names.iter().map(|name| (name.clone(), self.text(name, from))).collect();
            let found =
                texts.iter().find_map(|(name, (shown, text))| Some((name, shown, text.as_ref().ok()?)));
            let read = match (found, texts.first()) {
                (Some((name, shown, text)), _) => iolog::read(text, shown).map(|read| (name.clone(), read)),
                (None, Some((_, (shown, Err(said))))) => Err(vec![fio::unreadable(said, shown)]),
                (None, _) => Err(Vec::new()),
            };
            match read {
                Ok((name, (log, warnings))) => {
                    logs.insert(name, Arc::new(log));
                    all.extend(warnings);
                }
                Err(findings) => {
                    whole = false;
                    all.extend(findings);
                }
            }
        }
        (whole.then_some(logs), all)
    }
}

/// Where the log that is given as this may be: the first of several names, from the folder of the scenario or that of
/// the job file.
fn names(given: &str, file: &str) -> Vec<String> {
    let name = given.split(':').next().unwrap_or_default();
    let beside = file.rfind('/').map(|end| format!("{}{name}", &file[..=end]));
    [Some(name.to_owned()), beside].into_iter().flatten().collect()
}

/// The keys of the section `fio` that are no options of fio.
pub(crate) const NO_OPTIONS: [&str; 5] = ["file", "section", "capacity", "requests", "understood"];

/// The text of a job file whose only job has the options that stand in a scenario, and each option's place: line 3 is
/// the first of them.
fn text_of(workload: &str, node: &Node) -> (String, Vec<(String, Spot)>) {
    let mut text = format!("[{workload}]\ndirect=1\n");
    let mut places = Vec::new();
    for entry in node.entries().iter().filter(|entry| !NO_OPTIONS.contains(&&*entry.key)) {
        let Some(value) = entry.value.text() else { continue };
        let value = match value {
            "true" => "1",
            "false" => "0",
            value => value,
        };
        // one option cannot become two
        let value: String = value.chars().filter(|c| !c.is_control()).collect();
        text.push_str(&format!("{}={value}\n", entry.key));
        places.push((entry.key.clone(), entry.value.spot));
    }
    (text, places)
}
