//! What a channel is made of: dies, packages, traces, vias, connectors, cables, or files of S-parameters.
//!
//! Every parametric element is a line with losses, between capacitances if it has some:
//!
//! ```text
//!   o──┬──[ Z, delay, IL(f) = k1·√f + k2·f ]──┬──o
//!   C near                                 C far
//! ```
//!
//! Losses bring their phase: skin effect as k1·√f·(1 + j), dielectric loss with the logarithmic dispersion of
//! Djordjević and Sarkar (IEEE Trans. EMC 43, 2001). A line without it would answer before it is asked.
//!
//! All of it is differential: impedances and capacitances are between P and N. Numbers come from a [`Library`].
//!
//! Not here: crosstalk between parametric lanes, roughness beyond what the law fits, temperature other than as a
//! corner.

mod axis;
mod law;
mod library;
mod stage;

use crate::eye::Redriver;
use crate::network::Network;
use crate::problem::{Finding, Problem};
use crate::quantity::INCH;
use serde::Serialize;
use std::sync::Arc;

pub use axis::Axis;
pub use law::Law;
pub use library::{Confidence, Entry, Family, Library, Number};

/// Between two terminations of 50 Ω.
const DIFFERENTIAL_OHM: f64 = 100.0;

/// Which end of what production, temperature and humidity allow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Corner {
    /// The least loss.
    Low,
    /// As stated.
    #[default]
    Nominal,
    /// The most loss.
    High,
}

impl Corner {
    /// What a loss is multiplied with, of an element that varies by ± `spread`.
    #[must_use]
    pub fn scale(self, spread: f64) -> f64 {
        match self {
            Self::Low => 1.0 - spread,
            Self::Nominal => 1.0,
            Self::High => 1.0 + spread,
        }
    }
}

/// A length of a trace or a cable \[m\].
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Serialize)]
pub struct Length(f64);

impl Length {
    /// From metres.
    ///
    /// # Errors
    /// `PH021` if it is negative or not finite.
    pub fn metres(metres: f64) -> Result<Self, Finding> {
        if metres.is_finite() && metres >= 0.0 {
            return Ok(Self(metres));
        }
        Err(Problem::BadSize { what: "length", text: format!("{metres} m") }.found())
    }
    /// From inches.
    ///
    /// # Errors
    /// As [`Length::metres`].
    pub fn inches(inches: f64) -> Result<Self, Finding> {
        Self::metres(inches * INCH)
    }
    /// In metres.
    #[must_use]
    pub const fn as_metres(self) -> f64 {
        self.0
    }
}

/// A capacitance between P and N \[F\].
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Serialize)]
pub struct Capacitance(f64);

impl Capacitance {
    /// From femtofarads.
    ///
    /// # Errors
    /// `PH021` if it is negative or not finite.
    pub fn femtofarads(femtofarads: f64) -> Result<Self, Finding> {
        if femtofarads.is_finite() && femtofarads >= 0.0 {
            return Ok(Self(femtofarads * 1e-15));
        }
        Err(Problem::BadSize { what: "capacitance", text: format!("{femtofarads} fF") }.found())
    }
    /// In farads.
    #[must_use]
    pub const fn as_farads(self) -> f64 {
        self.0
    }
}

/// What an element is.
#[derive(Clone, PartialEq, Debug)]
pub enum Element {
    /// The pads of a die by themselves, beside a package that is a file.
    Die(Capacitance),
    /// A package with its die; the die is on the outer side of the segment.
    Package(String),
    /// A trace on a board, of a material.
    Trace(String, Length),
    /// A via.
    Via(String),
    /// A connector.
    Connector(String),
    /// A cable, with its ends.
    Cable(String, Length),
    /// A differential network: two ports.
    Network(Arc<Network>),
    /// A retimer: the channel ends here and another begins.
    Retimer(String),
    /// A redriver: an analogue stage between two sides of a package; the channel goes on.
    Redriver(String),
}

/// A piece that the axis can compute.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Piece {
    /// A capacitance between P and N \[F\].
    Shunt(f64),
    /// A line.
    Line(Line),
    /// Data.
    Network(Arc<Network>),
    /// The stage of a redriver: matched at both sides, and nothing comes back through it.
    Stage(Redriver),
}

/// A line with losses.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Line {
    /// Its loss as a whole.
    pub(crate) law: Law,
    /// Its delay at 10 GHz \[s\].
    pub(crate) delay_s: f64,
    /// Its impedance \[Ω\].
    pub(crate) impedance_ohm: f64,
}

impl Piece {
    /// The loss between terminations that match \[dB\]; none outside the data of a network.
    pub(crate) fn loss_db(&self, hertz: f64, impedance_ohm: f64) -> Option<f64> {
        match self {
            Self::Shunt(farad) => Some(shunt_loss_db(*farad, impedance_ohm, hertz)),
            Self::Line(line) => Some(line.law.loss_db(hertz)),
            Self::Network(network) => network.loss_db(1, 0, hertz),
            Self::Stage(stage) => Some(-stage.gain_db(hertz)),
        }
    }
}

/// The loss of a capacitance across a line: |1 + jωCZ/2|.
pub(crate) fn shunt_loss_db(farad: f64, impedance_ohm: f64, hertz: f64) -> f64 {
    let half = core::f64::consts::PI * hertz * farad * impedance_ohm;
    10.0 * libm::log10(1.0 + half * half)
}

/// The pieces of an element, near end first, with the impedance in which its losses are stated \[Ω\].
pub(crate) struct Pieces {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) impedance_ohm: f64,
}

impl Pieces {
    /// The loss of the whole between terminations that match \[dB\].
    pub(crate) fn loss_db(&self, hertz: f64) -> Option<f64> {
        self.pieces.iter().map(|piece| piece.loss_db(hertz, self.impedance_ohm)).sum()
    }
    pub(crate) fn reversed(self) -> Self {
        Self { pieces: reversed(self.pieces), ..self }
    }
}

/// Pieces as a wave in the other direction meets them. A redriver stands in the way of that wave, too: each direction
/// of a lane has its own.
pub(crate) fn reversed(pieces: Vec<Piece>) -> Vec<Piece> {
    let turned = |piece| match piece {
        Piece::Network(network) => {
            Piece::Network(Arc::new(network.picked(&[1, 0]).expect("a piece of data has two ports")))
        }
        other => other,
    };
    pieces.into_iter().rev().map(turned).collect()
}

/// A network as it is, with its losses in its own reference.
fn of_network(network: &Arc<Network>) -> Result<Pieces, Finding> {
    if network.ports() != 2 {
        return Err(Problem::PortsDiffer { left: 2, right: network.ports() }.found());
    }
    Ok(Pieces { pieces: vec![Piece::Network(network.clone())], impedance_ohm: network.reference()[0] })
}

impl Element {
    /// Where in the library it is described; none for data.
    pub(crate) fn entry(&self) -> Option<(Family, &str)> {
        Some(match self {
            Self::Package(name) => (Family::Packages, name),
            Self::Trace(name, _) => (Family::Materials, name),
            Self::Via(name) => (Family::Vias, name),
            Self::Connector(name) => (Family::Connectors, name),
            Self::Cable(name, _) => (Family::Cables, name),
            Self::Retimer(name) => (Family::Retimers, name),
            Self::Redriver(name) => (Family::Redrivers, name),
            Self::Die(_) | Self::Network(_) => return None,
        })
    }
    /// What it is computed from; of a retimer, its package with the die on the near side; of a redriver, the stage
    /// between its package on either side.
    ///
    /// # Errors
    /// `PH020` for a name that the library does not have, `PH017` for data that are no two-port.
    pub(crate) fn pieces(&self, library: &Library, corner: Corner) -> Result<Pieces, Finding> {
        let (family, name) = match (self, self.entry()) {
            (Self::Network(network), _) => return of_network(network),
            (Self::Die(capacitance), _) => {
                let pieces = vec![Piece::Shunt(capacitance.as_farads())];
                return Ok(Pieces { pieces, impedance_ohm: DIFFERENTIAL_OHM });
            }
            (_, entry) => entry.expect("everything else has an entry"),
        };
        let entry = library.entry(family, name)?;
        let metres = match self {
            Self::Trace(_, length) | Self::Cable(_, length) => length.as_metres(),
            _ => 1.0,
        };
        let mut made = entry.pieces(metres, corner);
        if let Some(end) = &entry.ends {
            let end = library.entry(Family::Connectors, end)?.pieces(1.0, corner).pieces;
            made.pieces = [end.clone(), made.pieces, end].concat();
        }
        if let Some(stage) = &entry.stage {
            let stage = vec![Piece::Stage(stage.redriver(corner))];
            made.pieces = [reversed(made.pieces.clone()), stage, made.pieces].concat();
        }
        Ok(made)
    }
}
