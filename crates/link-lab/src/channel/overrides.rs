//! Constants and libraries of a document's own.

use super::problem::{Physical, Problem};
use lanetwin_document::add_source;
use lanetwin_document::node::Spot;
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_phy::element::Library;
use lanetwin_phy::eye::Constants;
use lanetwin_textfile::{Limit, read_text};
use std::path::Path;

/// The file of constants that a document names, relative to it.
pub(super) fn own_constants(
    document: &Path,
    named: &str,
    spot: Spot,
    reports: &mut Reports,
) -> Option<Constants> {
    let path = document.parent().map_or_else(|| named.into(), |folder| folder.join(named));
    let file = path.display().to_string();
    let text = match read_text(&path, Limit::Document) {
        Ok(text) => text,
        Err(error) => {
            reports.add(Common::Unreadable { file, said: error.to_string() }, spot, "constants");
            return None;
        }
    };
    match Constants::read(&text) {
        Ok(constants) => Some(constants),
        Err(error) => {
            reports.add(Problem::Constants { file, said: error.to_string() }, spot, "constants");
            None
        }
    }
}

/// A library file that a document names.
pub(super) fn own_library(
    path: &Path,
    named: Spot,
    sources: &mut Vec<String>,
    reports: &mut Reports,
) -> Option<Library> {
    let text = match read_text(path, Limit::Document) {
        Ok(text) => text,
        Err(error) => {
            let file = path.display().to_string();
            reports.add(Common::Unreadable { file, said: error.to_string() }, named, "library");
            return None;
        }
    };
    let spot = add_source(sources, path.display().to_string());
    match Library::read(&text) {
        Ok(library) => Some(library),
        Err(finding) => {
            let spot = Spot { line: finding.line, column: finding.column, ..spot };
            reports.add(Physical(finding), spot, "");
            None
        }
    }
}
