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
mod folder;

pub(crate) use fio::{Fio, NO_OPTIONS};
pub use folder::Files;

use crate::problem::add_finding;
use lanetwin_document::add_source;
use lanetwin_document::fields::{is_map, join, scalar};
use lanetwin_document::node::{Kind, Node};
use lanetwin_document::problem::Reports;
use lanetwin_load::Finding;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

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
