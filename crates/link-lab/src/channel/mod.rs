//! The description of a channel: a chain of elements from root port to device, its checks, and its analyses.
//!
//! ```text
//!  link.yaml ── document ──► Channel: a Chain of each variant ──► budget    loss by element, margin of each segment
//!  drive.s4p ── files ────►          its neighbours              ├► eye       height, width, bathtubs, at the mask's BER
//!                                    or Diagnostics              │
//!                                                                └► place     where one or two retimers may sit
//! ```
//!
//! Descriptions are read like scenarios, so that all errors are reported at once, with file, line and column: `SC…` for
//! errors of any document, `CH…` for errors in a channel, `PH…` for errors in data.
//!
//! Not here: signals on a channel (`lanetwin-phy`).
//!
//! ```
//! let text = "about: Does it fit?\ngen: 5\nchain:\n  - package: root-gen5\n  - {board: low-loss}\n  - package: endpoint-gen5\n";
//! let found = lanetwin_link_lab::channel::check_text(text);
//! assert_eq!(found.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>(), ["CH002"]);
//! ```

mod ber;
mod budget;
mod calibrations;
mod catalogue;
mod crosstalk;
mod description;
mod document;
mod element;
mod equalised;
mod eye;
mod files;
mod language;
mod overrides;
mod problem;
mod receivers;
mod stress;
mod touchstone;
mod transmitter;

use crate::embedded::TEMPLATES;
use lanetwin_document::problem::Diagnostic;
use lanetwin_textfile::{Limit, Reach, read_text};
use std::path::Path;

pub use ber::{Judge, SegmentEye};
pub use budget::{
    Budget, BudgetSegment, BudgetVariant, Place, PlaceVariant, Placed, PlacementRequest, budget, place,
};
pub use catalogue::{Elements, elements};
pub use description::{Aggressor, Channel, Equalisation, Variant};
pub use equalised::{Answers, Turned};
pub use eye::{
    Contour, EyeAggressor, EyeAlone, EyeNumber, EyeRedriver, EyeReport, EyeSegment, EyeStress, EyeVariant,
    Progress, Watcher, eye,
};
pub use language::{DOCUMENT, ELEMENT, FAMILIES, KINDS};
pub use receivers::{Benches, RateEyes, ReceiverEye, receivers};
pub use touchstone::{FileReport, LaneReport, inspect, rewritten};
pub use transmitter::EyeCoefficients;

/// Checks the text of a channel's description, without a folder for its files. Returns every finding.
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
/// All errors; warnings alone are not an error (they are in [`Channel::warnings`]).
pub fn check(path: &Path, text: &str, sets: &[String]) -> Result<Channel, Vec<Diagnostic>> {
    document::check(path, text, sets, &Reach::Anywhere)
}

/// As [`check`] without changes, for a description that a scenario names; its files have to be within `reach`.
///
/// # Errors
/// As [`check`].
pub fn check_within(path: &Path, text: &str, reach: &Reach) -> Result<Channel, Vec<Diagnostic>> {
    document::check(path, text, &[], reach)
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

/// The templates for descriptions: name and text.
#[must_use]
pub fn templates() -> &'static [(&'static str, &'static str)] {
    TEMPLATES
}
