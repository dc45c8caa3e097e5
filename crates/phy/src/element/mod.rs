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
mod corner;
mod law;
mod library;
mod number;
mod piece;
mod sizes;
mod stage;

use crate::network::Network;
use crate::problem::Finding;
use std::sync::Arc;

pub use axis::Axis;
pub use corner::Corner;
pub use law::Law;
pub use library::{Entry, Family, Library};
pub use number::{Confidence, Number};
use piece::of_network;
pub(crate) use piece::{Line, Piece, Pieces, reversed};
pub use sizes::{Capacitance, Length};

/// Between two terminations of 50 Ω.
const DIFFERENTIAL_OHM: f64 = 100.0;

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
