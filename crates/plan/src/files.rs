//! Files that the workloads of a scenario name (files of channels are read elsewhere). Each is read once, parsed once,
//! and kept with the plan.
//!
//! ```text
//!  workloads.*.KIND: FILE ──► workloads.*.KIND.file
//!
//!  workloads.*.KIND.file ─┬─ `files:` of the scenario ─┐
//!                         └─ the file beside it ───────┴─► text ─ FileOf::read ─► content, or what is wrong with it
//!  workloads.*.KIND without a file ───────────────────────────── FileOf::options ─┘
//! ```
//!
//! Only the kind of workload that declares a format can parse it ([`FileOf`]). A new format is added in the file of its
//! kind, with `file: Some(…)` in its declaration.
//!
//! A complete plan has the texts in `files:`, so that it runs without the files.

mod folder;

pub use folder::Files;

use crate::problem::{add_finding, add_finding_at};
use lanetwin_document::add_source;
use lanetwin_document::fields::{is_map, join, scalar};
use lanetwin_document::node::{Entry, Kind, Node, Spot};
use lanetwin_document::problem::Reports;
use lanetwin_load::Finding;
use std::any::Any;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A file that the section of a workload kind names, or whose content the section itself has.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FileOf {
    /// The key of the section that names the file.
    pub key: &'static str,
    /// Parses a file, or reports why it is missing.
    pub read: fn(&Source<'_>) -> Understood,
    /// Parses a section that names no file, if it can have the content itself. Returns `None` if the section has none.
    pub options: Option<Options>,
}

/// The content of a section in place of a file, unless it has errors, and the findings.
pub(crate) type Options = fn(&Section<'_>, &Source<'_>) -> Option<(Option<Content>, Vec<Placed>)>;

/// The content of a file, unless it has errors, and the findings.
pub(crate) type Understood = (Option<Content>, Vec<Finding>);

/// Parsed content, of a type that its kind of workload knows.
pub(crate) type Content = Arc<dyn Any + Send + Sync>;

/// A file to be parsed, with access to further files that it names.
#[derive(Debug)]
pub(crate) struct Source<'a> {
    /// Its name in the scenario; empty for a section that is its own file.
    pub name: &'a str,
    /// Its name in findings.
    pub shown: String,
    /// Its text, or why it could not be read.
    pub text: Result<String, String>,
    from: From<'a>,
    /// The texts read so far, by name.
    texts: RefCell<BTreeMap<String, String>>,
}

/// A section that may have the content of a file itself.
#[derive(Debug)]
pub(crate) struct Section<'a> {
    /// The name of its workload.
    pub workload: &'a str,
    pub node: &'a Node,
    pub path: String,
}

/// A finding in a section, with its place.
#[derive(Debug)]
pub(crate) struct Placed {
    pub finding: Finding,
    pub spot: Spot,
    pub path: String,
}

/// The parsed files of all workloads of a scenario.
#[derive(Default, Debug)]
pub(crate) struct Configurations {
    /// By the kind of workload that parses them; `None` if a file has errors.
    contents: BTreeMap<(&'static str, Named), Option<Content>>,
    texts: BTreeMap<String, String>,
}

/// The origin of a content: a file by its name, or a section by its path and contents, which variants may change.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Named {
    File(String),
    Section { path: String, text: String },
}

impl Named {
    fn section(path: &str, node: &Node) -> Self {
        Self::Section { path: path.to_owned(), text: node.to_yaml() }
    }
}

/// Where texts come from: `files:` of the scenario, and the folder beside it.
type From<'a> = (&'a BTreeMap<String, String>, &'a Files);

impl<'a> Source<'a> {
    /// A file.
    fn file(name: &'a str, from: From<'a>) -> Self {
        let texts = RefCell::default();
        let mut source = Self { name, shown: String::new(), text: Ok(String::new()), from, texts };
        (source.shown, source.text) = source.further(name);
        source
    }
    /// A section that is its own file.
    fn section(from: From<'a>) -> Self {
        Self { name: "", shown: String::new(), text: Ok(String::new()), from, texts: RefCell::default() }
    }
    /// Reads another file by its name: its name in findings, and its text or why it could not be read.
    pub(crate) fn further(&self, name: &str) -> (String, Result<String, String>) {
        let (inline, files) = self.from;
        let (shown, text) = match inline.get(name) {
            Some(text) => (name.to_owned(), Ok(text.clone())),
            None => files.read(name),
        };
        if let Ok(text) = &text {
            self.texts.borrow_mut().insert(name.to_owned(), text.clone());
        }
        (shown, text)
    }
}

impl Configurations {
    /// Reads every file that the workloads of these documents name, and reports errors in it.
    pub(crate) fn read(
        documents: &[&Node],
        (files, kinds): (&Files, &[(&'static str, FileOf)]),
        sources: &mut Vec<String>,
        reports: &mut Reports,
    ) -> Self {
        let inline = documents.first().and_then(|document| texts(document, reports)).unwrap_or_default();
        let (mut all, from) = (Self::default(), (&inline, files));
        for (kind, of) in kinds {
            for section in documents.iter().flat_map(|document| sections(document, kind)) {
                if let Some(name) = section.node.get(of.key).and_then(Node::text) {
                    all.file((kind, of), name, (from, &section.path), (&mut *sources, &mut *reports));
                } else if let (Some(options), Kind::Map(_)) = (of.options, &section.node.kind) {
                    all.section((kind, options), &section, from, reports);
                }
            }
        }
        all
    }
    /// The content of the file of this name, for a kind of workload; `None` if the file has errors, which were
    /// reported.
    pub(crate) fn content<T: Any + Send + Sync>(&self, kind: &'static str, name: &str) -> Option<Arc<T>> {
        self.of(kind, Named::File(name.to_owned()))
    }
    /// The content of the section at this path, for a kind of workload; `None` if the section has errors, which were
    /// reported.
    pub(crate) fn content_of_section<T: Any + Send + Sync>(
        &self,
        kind: &'static str,
        (path, node): (&str, &Node),
    ) -> Option<Arc<T>> {
        self.of(kind, Named::section(path, node))
    }
    fn of<T: Any + Send + Sync>(&self, kind: &'static str, named: Named) -> Option<Arc<T>> {
        let content = self.contents.get(&(kind, named))?.clone()?;
        Some(content.downcast().expect("a kind of workload reads its files in one way"))
    }
    /// Every text, by the name of its file.
    pub(crate) fn into_texts(self) -> BTreeMap<String, String> {
        self.texts
    }

    /// Reads a file, unless it was read before, and reports errors in it.
    fn file(
        &mut self,
        (kind, of): (&'static str, &FileOf),
        name: &str,
        (from, path): (From<'_>, &str),
        (sources, reports): (&mut Vec<String>, &mut Reports),
    ) {
        let key = (kind, Named::File(name.to_owned()));
        if self.contents.contains_key(&key) {
            return;
        }
        let source = Source::file(name, from);
        let (content, findings) = (of.read)(&source);
        for finding in &findings {
            let called = if finding.file == name { &source.shown } else { &finding.file };
            let file = add_source(sources, called.clone()).file;
            add_finding(reports, finding, file, &join(path, of.key));
        }
        self.contents.insert(key, content);
        self.texts.extend(source.texts.into_inner());
    }

    /// Reads a section in place of a file, unless it was read before, and reports errors in it.
    fn section(
        &mut self,
        (kind, options): (&'static str, Options),
        section: &Section<'_>,
        from: From<'_>,
        reports: &mut Reports,
    ) {
        let key = (kind, Named::section(&section.path, section.node));
        if self.contents.contains_key(&key) {
            return;
        }
        let source = Source::section(from);
        let Some((content, findings)) = options(section, &source) else { return };
        for Placed { finding, spot, path } in &findings {
            add_finding_at(reports, finding, *spot, path);
        }
        self.contents.insert(key, content);
        self.texts.extend(source.texts.into_inner());
    }
}

/// Expands sections that consist of the name of a file: `fio: jobs.fio` becomes `fio: {file: jobs.fio}`.
pub(crate) fn write_out(document: &mut Node, kinds: &[(&'static str, FileOf)]) {
    let workloads = document.entries_mut().into_iter().flatten().filter(|entry| entry.key == "workloads");
    let keys = workloads
        .filter_map(|entry| entry.value.entries_mut())
        .flatten()
        .filter_map(|workload| workload.value.entries_mut())
        .flatten();
    for section in keys {
        let Some((_, of)) = kinds.iter().find(|(kind, _)| *kind == section.key) else { continue };
        let node = &mut section.value;
        if let Kind::Scalar(name) = &mut node.kind {
            let name =
                Node { spot: node.spot, origin: node.origin, kind: Kind::Scalar(std::mem::take(name)) };
            node.kind = Kind::Map(vec![Entry::new(of.key.to_owned(), name)]);
        }
    }
}

/// The texts under `files:`.
fn texts(document: &Node, reports: &mut Reports) -> Option<BTreeMap<String, String>> {
    let section = document.get("files").filter(|node| node.kind != Kind::Null)?;
    is_map(section, "files", reports).then_some(())?;
    let read = |entry: &Entry| {
        let text = scalar(&entry.value, "the text of a file", &join("files", &entry.key), reports)?;
        Some((entry.key.clone(), text.to_owned()))
    };
    Some(section.entries().iter().filter_map(read).collect())
}

/// The sections of a kind in the workloads of a document.
fn sections<'d>(document: &'d Node, kind: &'static str) -> impl Iterator<Item = Section<'d>> {
    let workloads = document.get("workloads").map_or(&[][..], Node::entries);
    workloads.iter().filter_map(move |workload| {
        let node = workload.value.get(kind)?;
        let path = join(&join("workloads", &workload.key), kind);
        Some(Section { workload: &workload.key, node, path })
    })
}
