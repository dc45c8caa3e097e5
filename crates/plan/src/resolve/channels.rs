//! Channels that links name. Each description is read once, and each eye computed once, for all variants.

use crate::files::Files;
use lanetwin_document::add_source;
use lanetwin_document::fields::join;
use lanetwin_document::node::Node;
use lanetwin_document::problem::{Diagnostic, Problem, Reports};
use lanetwin_link_lab::channel::{self, Benches, Channel, Judge, RateEyes, SegmentEye};
use lanetwin_units::Generation;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

/// The eyes of a channel, or why there are none.
#[derive(Clone)]
pub(super) enum Eyes {
    Seen(Vec<SegmentEye>),
    Refused(Vec<Diagnostic>),
}

/// A variant of a description at a generation.
type Key = (String, String, Generation);

/// The descriptions that the links of a scenario name.
#[derive(Default)]
pub(super) struct Channels {
    read: BTreeMap<String, Found>,
    seen: RefCell<BTreeMap<Key, Eyes>>,
}

struct Found {
    text: Option<String>,
    source: u16,
    /// The channel; `None` after an error in the description.
    channel: Option<Channel>,
    judge: RefCell<Judge>,
}

impl Channels {
    /// Reads every description that the links of these documents name, and reports errors in it.
    pub(super) fn read(
        documents: &[&Node],
        files: &Files,
        sources: &mut Vec<String>,
        reports: &mut Reports,
    ) -> Self {
        let inline = |name: &str| {
            let text = documents.first()?.get("files")?.get(name)?.text()?;
            Some(text.to_owned())
        };
        let mut all = Self::default();
        for (name, link) in documents.iter().flat_map(|document| named(document)) {
            if all.read.contains_key(name) {
                continue;
            }
            let (shown, text) = match inline(name) {
                Some(text) => (files.place(name), Ok(text)),
                None => files.read(name),
            };
            let spot = add_source(sources, shown.clone());
            let (text, channel) = match text {
                Err(said) => {
                    let problem = Problem::Unreadable { file: shown, said };
                    reports.add(problem, spot, &join(&join("links", link), "channel"));
                    (None, None)
                }
                Ok(text) => {
                    let checked = channel::check_within(Path::new(&shown), &text, &files.reach());
                    let (channel, found) = match checked {
                        Ok(channel) => {
                            let found = channel.warnings.clone();
                            (Some(channel), found)
                        }
                        Err(found) => (None, found),
                    };
                    found.iter().for_each(|found| reports.add_found(found, spot.file));
                    (Some(text), channel)
                }
            };
            all.read.insert(
                name.to_owned(),
                Found { text, source: spot.file, channel, judge: RefCell::default() },
            );
        }
        all
    }

    /// The names of the variants of a description; `None` if it has errors, which were reported.
    pub(super) fn variants(&self, name: &str) -> Option<Vec<String>> {
        let channel = self.read.get(name)?.channel.as_ref()?;
        Some(channel.variants.iter().map(|variant| variant.name.clone()).collect())
    }

    /// The eyes of a variant of a valid description.
    pub(super) fn eyes(&self, name: &str, variant: &str, generation: Generation) -> Eyes {
        let key = (name.to_owned(), variant.to_owned(), generation);
        if let Some(eyes) = self.seen.borrow().get(&key) {
            return eyes.clone();
        }
        let found = &self.read[name];
        let channel = found.channel.as_ref().expect("its variants are known");
        let eyes = match found.judge.borrow_mut().eyes(channel, variant, generation) {
            Ok(eyes) => Eyes::Seen(eyes),
            Err(found) => Eyes::Refused(found),
        };
        self.seen.borrow_mut().insert(key, eyes.clone());
        eyes
    }

    /// The eyes of a variant of a valid description at every rate up to `generation`, as a link trains over them.
    pub(super) fn receivers(
        &self,
        name: &str,
        variant: &str,
        generation: Generation,
    ) -> Result<Vec<RateEyes>, Vec<Diagnostic>> {
        let channel = self.read[name].channel.as_ref().expect("its variants are known");
        let mut alone = Channel { variants: Vec::new(), ..channel.clone() };
        alone.variants.extend(channel.variants.iter().find(|known| known.name == variant).cloned());
        alone.variants[0].rate = generation.into();
        channel::receivers(&alone, &alone.variants[0], &Benches::of(&alone)?)
    }

    /// The source number of a description.
    pub(super) fn source(&self, name: &str) -> Option<u16> {
        self.read.get(name).map(|found| found.source)
    }

    /// Every text, by the name of its file.
    pub(super) fn into_texts(self) -> impl Iterator<Item = (String, String)> {
        self.read.into_iter().filter_map(|(name, found)| Some((name, found.text?)))
    }
}

/// The descriptions that the links of a document name, each with its link.
fn named(document: &Node) -> impl Iterator<Item = (&str, &str)> {
    let links = document.get("links").map_or(&[][..], Node::entries);
    links.iter().filter_map(|link| Some((link.value.get("channel")?.text()?, &*link.key)))
}
