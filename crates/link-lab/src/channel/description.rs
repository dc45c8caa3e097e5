//! A channel that was understood: what every question about it starts from.

use lanetwin_document::add_source;
use lanetwin_document::node::Spot;
use lanetwin_document::problem::{Complaint, Diagnostic, Reports};
use lanetwin_phy::DataRate;
use lanetwin_phy::budget::{Chain, Coupling};
use lanetwin_phy::element::{Corner, Library};
use lanetwin_phy::eye::Constants;

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

impl Channel {
    /// A refusal that has its place in this channel's file.
    pub(super) fn refused(&self, problem: impl Complaint, spot: Spot, path: &str) -> Vec<Diagnostic> {
        let mut reports = Reports::default();
        let mut sources = Vec::new();
        let file = add_source(&mut sources, self.path.clone());
        reports.add(problem, Spot { file: file.file, ..spot }, path);
        reports.into_diagnostics(&sources)
    }
    /// A refusal about a variant.
    pub(super) fn refused_in(&self, variant: &Variant, problem: impl Complaint) -> Vec<Diagnostic> {
        self.refused(problem, variant.spot, &format!("variants.{}", variant.name))
    }
}
