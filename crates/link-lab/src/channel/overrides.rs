//! Constants and libraries of a document's own.

use super::problem::{Physical, Problem};
use lanetwin_document::add_source;
use lanetwin_document::node::Spot;
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_phy::element::Library;
use lanetwin_phy::eye::Constants;
use lanetwin_textfile::{Limit, Reach, read_text};
use std::path::Path;

/// The file of constants that a document names, relative to it.
pub(super) fn own_constants(
    (document, reach): (&Path, &Reach),
    named: &str,
    spot: Spot,
    reports: &mut Reports,
) -> Option<Constants> {
    let path = document.parent().map_or_else(|| named.into(), |folder| folder.join(named));
    let file = path.display().to_string();
    let text = match text_of(&path, reach) {
        Ok(text) => text,
        Err(said) => {
            reports.add(Common::Unreadable { file, said }, spot, "constants");
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

/// The text of a file within reach, or why there is none.
fn text_of(path: &Path, reach: &Reach) -> Result<String, String> {
    reach.check(path).map_err(|out| out.to_string())?;
    read_text(path, Limit::Document).map_err(|error| error.to_string())
}

/// A library file that a document names.
pub(super) fn own_library(
    path: &Path,
    (named, reach): (Spot, &Reach),
    sources: &mut Vec<String>,
    reports: &mut Reports,
) -> Option<Library> {
    let text = match text_of(path, reach) {
        Ok(text) => text,
        Err(said) => {
            let file = path.display().to_string();
            reports.add(Common::Unreadable { file, said }, named, "library");
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
