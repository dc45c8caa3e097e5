//! The folder of the files that a scenario names.

use lanetwin_load::iometer;
use lanetwin_textfile::{Limit, Reach, read_bytes};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where the files that a scenario names are found.
#[derive(Clone, Default, Debug)]
pub struct Files {
    /// Names are relative to this folder; without it no file is read.
    pub(super) folder: Option<PathBuf>,
    /// Whether names may lead out of the folder.
    pub(super) anywhere: bool,
    /// Texts that were read before.
    pub(super) texts: BTreeMap<String, String>,
}

impl Files {
    /// No files: a scenario that names one must have its text under `files:`.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }
    /// Files in the folder of this scenario and below. A scenario from somebody else can read no other files.
    #[must_use]
    pub fn beside(scenario: &Path) -> Self {
        let folder = scenario.parent().unwrap_or_else(|| Path::new("")).to_path_buf();
        Self { folder: Some(folder), anywhere: false, texts: BTreeMap::new() }
    }
    /// The same, but names may lead out of the folder.
    #[must_use]
    pub fn anywhere(self) -> Self {
        Self { anywhere: true, ..self }
    }
    /// The given texts by name, as in [`Plan::files`](crate::Plan::files).
    #[must_use]
    pub const fn of(texts: BTreeMap<String, String>) -> Self {
        Self { folder: None, anywhere: false, texts }
    }

    /// Where the names in a file that the scenario names may lead.
    pub(crate) fn reach(&self) -> Reach {
        if self.anywhere { Reach::Anywhere } else { Reach::Below(self.folder.clone().unwrap_or_default()) }
    }

    /// The name of a file in findings; files that it names in turn are relative to it.
    pub(crate) fn place(&self, name: &str) -> String {
        self.folder.as_ref().map_or_else(|| name.to_owned(), |folder| folder.join(name).display().to_string())
    }

    /// The name of a file in findings, and its text or why it could not be read.
    pub(crate) fn read(&self, name: &str) -> (String, Result<String, String>) {
        if let Some(text) = self.texts.get(name) {
            return (name.to_owned(), Ok(text.clone()));
        }
        let Some(folder) = &self.folder else {
            return (name.to_owned(), Err("it is not among the `files:` of the scenario".into()));
        };
        let path = folder.join(name);
        if let Err(out) = self.reach().check(&path) {
            return (path.display().to_string(), Err(out.to_string()));
        }
        let read = read_bytes(&path, Limit::Data).map(|bytes| iometer::decode(&bytes).to_string());
        (path.display().to_string(), read.map_err(|error| error.to_string()))
    }
}
