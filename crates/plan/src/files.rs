//! Files that a scenario names: configurations of Iometer, job files and logs of fio (and, read elsewhere, the channels
//! of links). Each is read once, understood once, and kept with the plan.
//!
//! ```text
//!  workloads.*.iometer.file ─┬─ `files:` of the scenario ─┐
//!  workloads.*.fio.file      └─ the file beside it ───────┴─► text ─ read ─► configuration, or what is wrong with it
//! ```
//!
//! A complete plan has the texts in `files:`, so that it runs wherever it is.

mod fio;

pub(crate) use fio::{Fio, NO_OPTIONS};

use crate::problem::add_finding;
use lanetwin_document::add_source;
use lanetwin_document::fields::{is_map, join, scalar};
use lanetwin_document::node::{Kind, Node};
use lanetwin_document::problem::Reports;
use lanetwin_load::{Finding, iometer};
use lanetwin_textfile::{Limit, read_bytes};
use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Where the files that a scenario names are.
#[derive(Clone, Default, Debug)]
pub struct Files {
    /// Names are paths from here; without it nothing is read.
    folder: Option<PathBuf>,
    /// Whether names may lead out of the folder.
    anywhere: bool,
    /// What has been read before.
    texts: BTreeMap<String, String>,
}

impl Files {
    /// Nowhere: a scenario that names one must have its text under `files:`.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }
    /// In the folder of this scenario, and below: one that somebody sent reads nothing else of whoever runs it.
    #[must_use]
    pub fn beside(scenario: &Path) -> Self {
        let folder = scenario.parent().unwrap_or_else(|| Path::new("")).to_path_buf();
        Self { folder: Some(folder), anywhere: false, texts: BTreeMap::new() }
    }
    /// The same, and names may lead out of the folder.
    #[must_use]
    pub fn anywhere(self) -> Self {
        Self { anywhere: true, ..self }
    }
    /// Here: texts by name, as [`Plan::files`](crate::Plan::files) has them.
    #[must_use]
    pub const fn of(texts: BTreeMap<String, String>) -> Self {
        Self { folder: None, anywhere: false, texts }
    }

    /// What findings call the file of this name; what it names in turn is beside it.
    pub(crate) fn place(&self, name: &str) -> String {
        self.folder.as_ref().map_or_else(|| name.to_owned(), |folder| folder.join(name).display().to_string())
    }

    /// What findings call the file of this name, and its text or why there is none.
    pub(crate) fn read(&self, name: &str) -> (String, Result<String, String>) {
        if let Some(text) = self.texts.get(name) {
            return (name.to_owned(), Ok(text.clone()));
        }
        let Some(folder) = &self.folder else {
            return (name.to_owned(), Err("it is not among the `files:` of the scenario".into()));
        };
        let path = folder.join(name);
        if !self.anywhere && !is_within(folder, &path) {
            let said = "it lies outside of the folder of the scenario; to read it all the same, run with `--outside`";
            return (path.display().to_string(), Err(said.into()));
        }
        let read = read_bytes(&path, Limit::Data).map(|bytes| iometer::decode(&bytes).to_string());
        (path.display().to_string(), read.map_err(|error| error.to_string()))
    }
}

/// Whether a path leads to something in a folder, whatever links are on the way; of what is not there, whether it
/// would.
fn is_within(folder: &Path, path: &Path) -> bool {
    let real = |path: &Path| if path.as_os_str().is_empty() { Path::new(".") } else { path }.canonicalize();
    match (real(folder), real(path)) {
        (Ok(folder), Ok(path)) => path.starts_with(folder),
        _ => path.strip_prefix(folder).is_ok_and(|name| {
            name.components().all(|step| matches!(step, Component::Normal(_) | Component::CurDir))
        }),
    }
}

/// A file that the section of a kind of workload names.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileOf {
    /// The key of the section.
    pub key: &'static str,
    /// Understands its text, or why there is none; findings call the file by the name that is given.
    pub read: fn(Result<&str, &str>, &str) -> Understood,
}

/// What a file says, unless something is wrong with it, and what is.
pub(crate) type Understood = (Option<Content>, Vec<Finding>);

/// What a file says, as whoever understands it has it.
pub(crate) type Content = Arc<dyn Any + Send + Sync>;

/// A file that was read.
#[derive(Debug)]
struct Found {
    text: Option<String>,
    /// None if something is wrong with it.
    content: Option<Content>,
}

/// What the files that the workloads of a scenario name say.
#[derive(Default, Debug)]
pub(crate) struct Configurations {
    /// By the kind of workload that understands them, and by name.
    files: BTreeMap<(&'static str, String), Found>,
    fio: fio::JobFiles,
}

/// Where texts are from: `files:` of the scenario, and what lies beside it.
type From<'a> = (&'a BTreeMap<String, String>, &'a Files);

impl Configurations {
    /// Reads every file that a workload of one of these documents names, of the kinds of workload that name one;
    /// reports what is wrong with it.
    pub(crate) fn read(
        documents: &[&Node],
        (files, kinds): (&Files, &[(&'static str, FileOf)]),
        sources: &mut Vec<String>,
        reports: &mut Reports,
    ) -> Self {
        let inline = documents.first().and_then(|document| texts(document, reports)).unwrap_or_default();
        let mut all = Self::default();
        for (kind, of) in kinds {
            for (name, path) in documents.iter().flat_map(|document| named(document, (kind, of.key))) {
                let place = all.files.entry((*kind, name.to_owned()));
                place.or_insert_with(|| found((of, name, &path), (&inline, files), sources, reports));
            }
        }
        all.fio = fio::JobFiles::read(documents, (&inline, files), sources, reports);
        all
    }
    /// The jobs of the file of this name; none if something is wrong with it, which has been reported.
    pub(crate) fn fio(&self, name: &str) -> Option<&Fio> {
        self.fio.file(name)
    }
    /// The job whose options stand at this place of the scenario; none if something is wrong with it, which has been
    /// reported.
    pub(crate) fn inline(&self, path: &str) -> Option<&Fio> {
        self.fio.inline(path)
    }
    /// What the file of this name says to a kind of workload; none if something is wrong with it, which has been
    /// reported.
    pub(crate) fn content<T: Any + Send + Sync>(&self, kind: &'static str, name: &str) -> Option<Arc<T>> {
        let content = self.files.get(&(kind, name.to_owned()))?.content.clone()?;
        Some(content.downcast().expect("a kind of workload reads its files in one way"))
    }
    /// Every text, by the name of its file.
    pub(crate) fn into_texts(self) -> BTreeMap<String, String> {
        let texts = self.files.into_iter().filter_map(|((_, name), found)| Some((name, found.text?)));
        texts.chain(self.fio.into_texts()).collect()
    }
}

/// Reads a file, and reports what is wrong with it.
fn found(
    (of, name, path): (&FileOf, &str, &str),
    (inline, files): From<'_>,
    sources: &mut Vec<String>,
    reports: &mut Reports,
) -> Found {
    let (shown, text) = match inline.get(name) {
        Some(text) => (name.to_owned(), Ok(text.clone())),
        None => files.read(name),
    };
    let (content, findings) = (of.read)(text.as_deref().map_err(String::as_str), &shown);
    let file = add_source(sources, shown).file;
    findings.iter().for_each(|finding| add_finding(reports, finding, file, path));
    Found { text: text.ok(), content }
}

/// The texts under `files:`.
fn texts(document: &Node, reports: &mut Reports) -> Option<BTreeMap<String, String>> {
    let section = document.get("files").filter(|node| node.kind != Kind::Null)?;
    is_map(section, "files", reports).then_some(())?;
    let read = |entry: &lanetwin_document::node::Entry| {
        let text = scalar(&entry.value, "the text of a file", &join("files", &entry.key), reports)?;
        Some((entry.key.clone(), text.to_owned()))
    };
    Some(section.entries().iter().filter_map(read).collect())
}

/// The files that the workloads of a document name under a key of a kind, and where they do.
fn named<'d>(
    document: &'d Node,
    (kind, key): (&'static str, &'static str),
) -> impl Iterator<Item = (&'d str, String)> {
    let workloads = document.get("workloads").map_or(&[][..], Node::entries);
    workloads.iter().filter_map(move |workload| {
        let name = workload.value.get(kind)?.get(key)?.text()?;
        Some((name, join(&join("workloads", &workload.key), &join(kind, key))))
    })
}
