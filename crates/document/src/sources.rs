//! The names of the texts that a document is read from, by number.

use crate::node::Spot;
use crate::problem::{Diagnostic, Problem, Reports};
use std::path::Path;

/// Adds a source, and returns the spot for the whole of it.
///
/// # Panics
/// If there are more than 65 536 sources.
pub fn add_source(sources: &mut Vec<String>, name: String) -> Spot {
    let file = u16::try_from(sources.len()).expect("fewer than 65 536 files are read");
    sources.push(name);
    Spot { file, line: 0, column: 0 }
}

/// The finding for a document that cannot be read; `said` is the reason.
#[must_use]
pub fn unreadable(path: &Path, said: &str) -> Vec<Diagnostic> {
    let file = path.display().to_string();
    let mut reports = Reports::default();
    let spot = add_source(&mut Vec::new(), file.clone());
    reports.add(Problem::Unreadable { file: file.clone(), said: said.to_owned() }, spot, "");
    reports.into_diagnostics(&[file])
}
