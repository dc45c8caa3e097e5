//! A checked channel, the input of all analyses.

use lanetwin_document::add_source;
use lanetwin_document::node::Spot;
use lanetwin_document::problem::{Complaint, Diagnostic, Reports};
use lanetwin_phy::DataRate;
use lanetwin_phy::budget::{Chain, Coupling};
use lanetwin_phy::element::{Corner, Library};
use lanetwin_phy::eye::Constants;

/// A checked channel.
#[derive(Clone, Debug)]
pub struct Channel {
    /// The name of its file.
    pub name: String,
    /// The description's question.
    pub about: String,
    /// The file.
    pub path: String,
    /// Elements and budgets: the built-in ones, and the document's own.
    pub library: Library,
    /// Transmitter, receiver, mask, jitter and noise: the built-in constants, or the document's own.
    pub constants: Constants,
    /// Whether noise and jitter are calibrated for eyes.
    pub calibrated: bool,
    /// The variants, in the order of the document; one called `as-is` if there are none.
    pub variants: Vec<Variant>,
    /// Warnings: what may not be as the author meant it.
    pub warnings: Vec<Diagnostic>,
}

/// A variant of a channel.
#[derive(Clone, Debug)]
pub struct Variant {
    /// Its name.
    pub name: String,
    /// Its place in the document.
    pub(crate) spot: Spot,
    /// The rate of a lane.
    pub rate: DataRate,
    /// Corner of production, temperature and humidity.
    pub corner: Corner,
    /// The settings of the transmitter that are searched.
    pub equalisation: Equalisation,
    /// The elements.
    pub chain: Chain,
    /// The neighbours.
    pub aggressors: Vec<Aggressor>,
}

/// The settings of a channel's transmitter that are searched.
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
    /// Its file, as the document names it.
    pub file: String,
    /// Its coupling.
    pub coupling: Coupling,
}

impl Channel {
    /// An error with its place in this channel's file.
    pub(super) fn refused(&self, problem: impl Complaint, spot: Spot, path: &str) -> Vec<Diagnostic> {
        let mut reports = Reports::default();
        let mut sources = Vec::new();
        let file = add_source(&mut sources, self.path.clone());
        reports.add(problem, Spot { file: file.file, ..spot }, path);
        reports.into_diagnostics(&sources)
    }
    /// An error in a variant.
    pub(super) fn refused_in(&self, variant: &Variant, problem: impl Complaint) -> Vec<Diagnostic> {
        self.refused(problem, variant.spot, &format!("variants.{}", variant.name))
    }
}
