//! The elements of the library, as a document.

use super::document::rate_of;
use super::overrides::own_library;
use super::problem::{Physical, Problem};
use lanetwin_document::node::Spot;
use lanetwin_document::problem::{Diagnostic, Reports};
use lanetwin_phy::DataRate;
use lanetwin_phy::catalogue::Listed;
use lanetwin_phy::element::Library;
use lanetwin_textfile::Reach;
use serde::Serialize;
use std::path::Path;

/// The elements of a library.
#[derive(Clone, Debug, Serialize)]
pub struct Elements {
    /// `link-elements`.
    pub kind: &'static str,
    /// The rate at which losses are given.
    pub rate: DataRate,
    /// Half its symbol rate \[Hz\].
    pub nyquist_hz: f64,
    /// Family by family.
    pub elements: Vec<Listed>,
}

/// The built-in elements, and those of the user's file, with their losses at a rate: `5`, `gen5`, `32GT/s`.
///
/// # Errors
/// `CH008` for an unknown rate, `PH022` for a file that is not a library, `SC002` for one that cannot be read, `PH020`
/// for an element of it that uses an unknown material.
pub fn elements(rate: &str, own: Option<&Path>) -> Result<Elements, Vec<Diagnostic>> {
    let mut library = Library::standard().clone();
    let (mut reports, mut sources) = (Reports::default(), Vec::new());
    let known = rate_of(rate);
    if known.is_none() {
        reports.add(Problem::Rate { text: rate.into() }, Spot::default(), "gen");
    }
    let read = own.and_then(|path| {
        let file = lanetwin_document::add_source(&mut sources, path.display().to_string());
        own_library(path, (file, &Reach::Anywhere), &mut sources, &mut reports)
    });
    if let Some(read) = read {
        library.extend(read);
    }
    let listed = known.map(|rate| (rate, library.listed(rate.nyquist_hz())));
    match listed {
        Some((rate, Ok(elements))) if !reports.has_errors() => {
            return Ok(Elements { kind: "link-elements", rate, nyquist_hz: rate.nyquist_hz(), elements });
        }
        Some((_, Err(finding))) => reports.add(Physical(finding), Spot::default(), ""),
        _ => {}
    }
    Err(reports.into_diagnostics(&sources))
}
