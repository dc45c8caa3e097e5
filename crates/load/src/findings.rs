//! Findings of readers of foreign files: errors and warnings with place and remedy, in one form for all readers.

use lanetwin_problems::Complaint;
pub use lanetwin_problems::Severity;
pub(crate) use lanetwin_problems::problems;
use serde::Serialize;
use std::collections::BTreeSet;

/// A place in a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Debug)]
pub(crate) struct Place {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

/// An error or a warning, with its place and remedy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Finding {
    /// The file.
    pub file: String,
    /// Line, from 1; 0 if it concerns the whole file.
    pub line: u32,
    /// Column, from 1, in characters; 0 if it concerns the whole file.
    pub column: u32,
    /// `IO011`.
    pub code: &'static str,
    /// Whether it stops reading.
    pub severity: Severity,
    /// The section, and the item in it: `MANAGER LIST: Worker 1`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl std::fmt::Display for Finding {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = if self.severity == Severity::Error { "error" } else { "warning" };
        writeln!(f, "{severity}[{}] {}:{}:{}  {}", self.code, self.file, self.line, self.column, self.path)?;
        write!(f, "  {}\n  help: {}", self.message, self.help)
    }
}

/// A problem that can be given a place.
pub(crate) trait Found: Complaint {
    /// The problem as a finding.
    fn at(&self, place: Place, path: &str, file: &str) -> Finding {
        Finding {
            file: file.to_owned(),
            line: place.line,
            column: place.column,
            code: self.code(),
            severity: self.severity(),
            path: path.to_owned(),
            message: self.message(),
            help: self.help(),
        }
    }
}

impl<C: Complaint> Found for C {}

/// The findings so far, without duplicates.
#[derive(Default, Debug)]
pub(crate) struct Findings {
    found: BTreeSet<Finding>,
    errors: usize,
}

impl Findings {
    pub(crate) fn add(&mut self, finding: Finding) {
        let is_error = finding.severity == Severity::Error;
        self.errors += usize::from(self.found.insert(finding) && is_error);
    }
    /// Number of errors.
    pub(crate) const fn errors(&self) -> usize {
        self.errors
    }
    /// All of them, in the order of their places.
    pub(crate) fn into_vec(self) -> Vec<Finding> {
        self.found.into_iter().collect()
    }
}
