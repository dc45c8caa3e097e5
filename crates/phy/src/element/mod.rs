//! Elements of a channel: dies, packages, traces, vias, connectors, cables, or files of S-parameters.
//!
//! A [`Kit`] is several elements under one name; a stated loss is a board with that loss.
//!
//! Every parametric element is a lossy line, between capacitances if it has any:
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
mod family;
mod kit;
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
pub use family::Family;
pub use kit::Kit;
use kit::Part;
pub use law::Law;
pub use library::{Entry, Library};
pub use number::{Confidence, Number};
use piece::of_network;
pub(crate) use piece::{Line, Piece, Pieces, reversed};
pub use sizes::{Capacitance, Length, StatedLoss};

/// Between two terminations of 50 Ω.
const DIFFERENTIAL_OHM: f64 = 100.0;
/// The material whose curve of loss, delay and impedance a stated loss has.
const STATED_AS: &str = "low-loss";

/// An element.
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
    /// Several elements under one name.
    Kit(String),
    /// A loss that is known as a whole, as of a channel that was measured at one frequency: a board with that loss,
    /// `assumed` to be of [`Family::Materials`], `low-loss`. What is stated does not vary with the corner.
    Stated(StatedLoss),
}

impl Element {
    /// Where in the library it and what it is made of are described, kits apart; nothing for data.
    ///
    /// # Errors
    /// `PH020` for a name that the library does not have.
    pub(crate) fn entries(&self, library: &Library) -> Result<Vec<(Family, String)>, Finding> {
        if let Self::Kit(name) = self {
            let parts = library.kit(name)?.parts().map(|part| Self::from(part.clone()).entries(library));
            return Ok(parts.collect::<Result<Vec<_>, _>>()?.concat());
        }
        let Some((family, name)) = self.entry() else { return Ok(Vec::new()) };
        let ends = library.entry(family, name)?.ends.clone().map(|end| (Family::Connectors, end));
        Ok([(family, name.to_owned())].into_iter().chain(ends).collect())
    }
    fn entry(&self) -> Option<(Family, &str)> {
        Some(match self {
            Self::Package(name) => (Family::Packages, name),
            Self::Trace(name, _) => (Family::Materials, name),
            Self::Via(name) => (Family::Vias, name),
            Self::Connector(name) => (Family::Connectors, name),
            Self::Cable(name, _) => (Family::Cables, name),
            Self::Retimer(name) => (Family::Retimers, name),
            Self::Redriver(name) => (Family::Redrivers, name),
            Self::Stated(_) => (Family::Materials, STATED_AS),
            Self::Die(_) | Self::Network(_) | Self::Kit(_) => return None,
        })
    }
    /// What it is computed from; of a retimer, its package with the die on the near side; of a redriver, the stage
    /// between its package on either side.
    ///
    /// # Errors
    /// `PH020` for a name that the library does not have, `PH017` for data that are no two-port.
    pub(crate) fn pieces(&self, library: &Library, corner: Corner) -> Result<Pieces, Finding> {
        if let Self::Kit(name) = self {
            return of_kit(library.kit(name)?, library, corner);
        }
        let (family, name) = match (self, self.entry()) {
            (Self::Network(network), _) => return of_network(network),
            (Self::Die(capacitance), _) => {
                let pieces = vec![Piece::Shunt(capacitance.as_farads())];
                return Ok(Pieces { pieces, impedance_ohm: DIFFERENTIAL_OHM });
            }
            (_, entry) => entry.expect("everything else has an entry"),
        };
        let entry = library.entry(family, name)?;
        let (metres, corner) = match self {
            Self::Trace(_, length) | Self::Cable(_, length) => (length.as_metres(), corner),
            Self::Stated(loss) => (entry.metres_of(*loss), Corner::Nominal),
            _ => (1.0, corner),
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

impl From<Part> for Element {
    fn from(part: Part) -> Self {
        match part {
            Part::Board(name, length) => Self::Trace(name, length),
            Part::Cable(name, length) => Self::Cable(name, length),
            Part::Via(name) => Self::Via(name),
            Part::Connector(name) => Self::Connector(name),
        }
    }
}

/// The elements of a kit, in a chain.
fn of_kit(kit: &Kit, library: &Library, corner: Corner) -> Result<Pieces, Finding> {
    let parts = kit.parts().map(|part| Element::from(part.clone()).pieces(library, corner));
    let parts = parts.collect::<Result<Vec<_>, _>>()?;
    let impedance_ohm = parts.first().map_or(DIFFERENTIAL_OHM, |part| part.impedance_ohm);
    Ok(Pieces { pieces: parts.into_iter().flat_map(|part| part.pieces).collect(), impedance_ohm })
}
