//! The description of a channel: a chain of elements from root port to device, checked, and the questions it answers.
//!
//! ```text
//!  link.yaml ── document ──► Channel: a Chain of each variant ──► budget    loss by element, margin of each segment
//!  drive.s4p ── files ────►          its neighbours              ├► eye       height, width, bathtubs, at the mask's BER
//!                                    or Diagnostics              │
//!                                                                └► place     where one or two retimers may sit
//! ```
//!
//! A document is read with the machinery of scenarios, so its mistakes come all at once, with file, line and column:
//! `SC…` for what is wrong in any document, `CH…` for what is wrong with a channel, `PH…` for what is wrong with data.
//!
//! Not here: what a channel does (`lanetwin-phy`).
//!
//! ```
//! let text = "about: Does it fit?\ngen: 5\nchain:\n  - package: root-gen5\n  - {board: low-loss}\n  - package: endpoint-gen5\n";
//! let found = lanetwin_link_lab::channel::check_text(text);
//! assert_eq!(found.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>(), ["CH002"]);
//! ```

mod ber;
mod budget;
mod crosstalk;
mod document;
mod element;
mod eye;
mod files;
mod language;
mod problem;
mod receivers;
mod stress;
mod touchstone;
mod transmitter;

use crate::embedded::TEMPLATES;
use lanetwin_document::add_source;
use lanetwin_document::node::Spot;
use lanetwin_document::problem::{Diagnostic, Problem as Common, Reports};
use lanetwin_phy::DataRate;
use lanetwin_phy::budget::{Chain, Coupling};
use lanetwin_phy::element::{Corner, Library};
use lanetwin_phy::eye::Constants;
use lanetwin_textfile::{Limit, read_text};
use std::path::Path;

pub use ber::{Judge, SegmentEye};
pub use budget::{Budget, BudgetSegment, BudgetVariant, Place, PlaceVariant, Placed, Wish, budget, place};
pub use eye::{
    Contour, EyeAggressor, EyeAlone, EyeNumber, EyeRedriver, EyeReport, EyeSegment, EyeStress, EyeVariant,
    Progress, Watcher, eye,
};
pub use language::{DOCUMENT, ELEMENT, FAMILIES, KINDS};
pub use receivers::{Benches, RateEyes, ReceiverEye, receivers};
pub use touchstone::{FileReport, LaneReport, inspect, rewritten};
pub use transmitter::EyeCoefficients;

/// A channel that was understood.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The name of its file.
    pub name: String,
    /// The question.
    pub about: String,
    /// The file.
    pub path: String,
    /// Elements and budgets: those that are shipped, with the document's own.
    pub library: Library,
    /// Transmitter, receiver, mask, jitter and noise: those that are shipped, or the document's own.
    pub constants: Constants,
    /// Whether noise and jitter of eyes are calibrated.
    pub calibrated: bool,
    /// The variants, in the order of writing; one called `as-is` if there are none.
    pub variants: Vec<Variant>,
    /// What may not be as it was meant.
    pub warnings: Vec<Diagnostic>,
}

/// A variant of a channel.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Where it stands.
    pub(crate) spot: Spot,
    /// The rate of a lane.
    pub rate: DataRate,
    /// Which end of production, temperature and humidity.
    pub corner: Corner,
    /// What the transmitter is searched over.
    pub equalisation: Equalisation,
    /// The elements.
    pub chain: Chain,
    /// The neighbours.
    pub aggressors: Vec<Aggressor>,
}

/// What the transmitter of a channel is searched over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Equalisation {
    /// Its presets.
    Presets,
    /// Its presets, and all coefficients that it must accept.
    Coefficients,
}

/// A neighbour.
#[derive(Clone, PartialEq, Debug)]
pub struct Aggressor {
    /// Its name.
    pub name: String,
    /// The file that it is read from, as the document names it.
    pub file: String,
    /// What couples it in.
    pub coupling: Coupling,
}

/// Checks the text of a channel's description as if it stood beside no file: everything that is wrong with it.
///
/// Total: any text is answered, none panics.
#[must_use]
pub fn check_text(text: &str) -> Vec<Diagnostic> {
    match check(Path::new("link.yaml"), text, &[]) {
        Ok(channel) => channel.warnings,
        Err(found) => found,
    }
}

/// Checks the text of a channel's description as if it had been read from `path`, with the changes `sets`, each
/// `path=value`.
///
/// # Errors
/// Everything that is wrong; warnings alone are not an error (they are in [`Channel::warnings`]).
pub fn check(path: &Path, text: &str, sets: &[String]) -> Result<Channel, Vec<Diagnostic>> {
    document::check(path, text, sets)
}

/// Reads and checks the description at `path`.
///
/// # Errors
/// As [`check`]; `SC002` if the file cannot be read.
pub fn check_path(path: &Path, sets: &[String]) -> Result<Channel, Vec<Diagnostic>> {
    match read_text(path, Limit::Document) {
        Ok(text) => check(path, &text, sets),
        Err(error) => Err(lanetwin_document::unreadable(path, &error.to_string())),
    }
}

/// The templates that a description can be started from: name and text.
#[must_use]
pub fn templates() -> &'static [(&'static str, &'static str)] {
    TEMPLATES
}

impl Channel {
    /// A refusal that has its place in this channel's file.
    fn refused(
        &self,
        problem: impl lanetwin_document::problem::Complaint,
        spot: Spot,
        path: &str,
    ) -> Vec<Diagnostic> {
        let mut reports = Reports::default();
        let mut sources = Vec::new();
        let file = add_source(&mut sources, self.path.clone());
        reports.add(problem, Spot { file: file.file, ..spot }, path);
        reports.into_diagnostics(&sources)
    }
    /// A refusal about a variant.
    fn refused_in(
        &self,
        variant: &Variant,
        problem: impl lanetwin_document::problem::Complaint,
    ) -> Vec<Diagnostic> {
        self.refused(problem, variant.spot, &format!("variants.{}", variant.name))
    }
}

/// The file of constants that a document names, relative to it.
fn own_constants(document: &Path, named: &str, spot: Spot, reports: &mut Reports) -> Option<Constants> {
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
            reports.add(problem::Problem::Constants { file, said: error.to_string() }, spot, "constants");
            None
        }
    }
}

/// A library file that a document names.
fn own_library(
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
            reports.add(problem::Physical(finding), spot, "");
            None
        }
    }
}
