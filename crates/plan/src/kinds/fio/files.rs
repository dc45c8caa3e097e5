//! fio job files that a scenario names, the files that they include, and the logs that their jobs replay.

use crate::files::{Content, FileOf, Placed, Section, Source, Understood};
use lanetwin_document::fields::join;
use lanetwin_document::node::{Node, Spot};
use lanetwin_load::Finding;
use lanetwin_load::fio::iolog::{self, Log};
use lanetwin_load::fio::{self, Job, JobFile, Surroundings};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The job file that a section of fio names, or the options that it has itself.
pub(super) const FILE: FileOf = FileOf { key: "file", read: of_file, options: Some(of_section) };

/// A parsed job file.
#[derive(Debug)]
pub(super) struct Fio {
    pub file: JobFile,
    /// The logs that its jobs name.
    logs: BTreeMap<String, Arc<Log>>,
}

impl Fio {
    /// The log that a job in the file of this name replays.
    pub(super) fn log(&self, job: &Job, file: &str) -> Option<Arc<Log>> {
        let names = names(job.settings.read_iolog.as_deref()?, file);
        names.iter().find_map(|name| self.logs.get(name)).cloned()
    }
}

/// Parses a job file: its jobs, and the findings.
fn of_file(source: &Source<'_>) -> Understood {
    let read = match &source.text {
        Ok(text) => read(text, source),
        Err(said) => Err(vec![fio::unreadable(said, source.name)]),
    };
    let fio::Understood { file, warnings } = match read {
        Ok(understood) => understood,
        Err(findings) => return (None, findings),
    };
    let (logs, findings) = logs(&file, source);
    let findings = warnings.into_iter().chain(findings).collect();
    let Some(logs) = logs else { return (None, findings) };
    let file = JobFile { file: source.shown.clone(), ..file };
    (Some(Arc::new(Fio { file, logs })), findings)
}

/// Parses the options in a section as one job, with the findings for each. Returns `None` if there are no options.
fn of_section(section: &Section<'_>, source: &Source<'_>) -> Option<(Option<Content>, Vec<Placed>)> {
    // lines of the text before the first option
    const ABOVE: usize = 3;
    let (text, places) = text_of(section.workload, section.node);
    if places.is_empty() {
        return None;
    }
    let whole = |finding| Placed { finding, spot: section.node.spot, path: section.path.clone() };
    let of_line = |finding: Finding| {
        let place = (finding.line as usize).checked_sub(ABOVE).and_then(|nth| places.get(nth));
        match place {
            Some((key, spot)) => Placed { finding, spot: *spot, path: join(&section.path, key) },
            None => whole(finding),
        }
    };
    let fio::Understood { file, warnings } = match read(&text, source) {
        Ok(understood) => understood,
        Err(findings) => return Some((None, findings.into_iter().map(of_line).collect())),
    };
    let (logs, findings) = logs(&file, source);
    let findings = warnings.into_iter().map(of_line).chain(findings.into_iter().map(whole)).collect();
    Some((logs.map(|logs| Arc::new(Fio { file, logs }) as Content), findings))
}

/// Parses a text; the files that it includes are kept, too.
fn read(text: &str, source: &Source<'_>) -> Result<fio::Understood, Vec<Finding>> {
    let load = |name: &str| source.further(name).1;
    fio::read(text, source.name, &Surroundings::nowhere(&load))
}

/// The logs that the jobs of a file name, and the findings.
fn logs(file: &JobFile, source: &Source<'_>) -> (Option<BTreeMap<String, Arc<Log>>>, Vec<Finding>) {
    let (mut logs, mut all, mut whole) = (BTreeMap::new(), Vec::new(), true);
    for given in file.jobs.iter().filter_map(|job| job.settings.read_iolog.as_deref()) {
        let names = names(given, source.name);
        if names.iter().any(|name| logs.contains_key(name)) {
            continue;
        }
        let texts: Vec<_> = names.iter().map(|name| (name.clone(), source.further(name))).collect();
        let found = texts.iter().find_map(|(name, (shown, text))| Some((name, shown, text.as_ref().ok()?)));
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

/// Possible names of a log given as `given`: the first of several names, relative to the folder of the scenario or to
/// that of the job file.
fn names(given: &str, file: &str) -> Vec<String> {
    let name = given.split(':').next().unwrap_or_default();
    let beside = file.rfind('/').map(|end| format!("{}{name}", &file[..=end]));
    [Some(name.to_owned()), beside].into_iter().flatten().collect()
}

/// The keys of the section `fio` that are not options of fio.
pub(super) const NO_OPTIONS: [&str; 5] = ["file", "section", "capacity", "requests", "understood"];

/// The text of a job file whose only job has the options in a scenario, and the place of each option; line 3 is the
/// first of them.
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
        // a value must not break into two options
        let value: String = value.chars().filter(|c| !c.is_control()).collect();
        text.push_str(&format!("{}={value}\n", entry.key));
        places.push((entry.key.clone(), entry.value.spot));
    }
    (text, places)
}
