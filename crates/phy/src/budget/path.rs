//! The paths through a segment from which an eye is computed: that of its own bits, and those of neighbours.
//!
//! ```text
//!   ours        TX ── before ── element ──────── behind ── RX
//!   far end     TX ── before ──╮                           |     its transmitter stands beside ours
//!                              ╰─ coupling ───── behind ── RX
//!   near end         TX beside RX ── behind, backwards ──╮
//!                              ╭──────────── coupling ───╯     its transmitter stands beside our receiver
//!                              ╰──────────────── behind ── RX
//! ```
//!
//! A neighbour's lane is taken to be of the same elements as ours, which is what lanes of one link are. The coupling
//! stands in the place of one of them, with its own reflections.

use super::Chain;
use crate::element::{Axis, Corner, Element, Library, Piece, reversed};
use crate::eye::{Channel, Redriver};
use crate::network::Network;
use crate::problem::{Finding, Problem};
use crate::transfer::Transfer;
use std::sync::Arc;

/// End of a segment at which a neighbour's transmitter is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// At the transmitter: far-end crosstalk.
    Far,
    /// At the receiver: near-end crosstalk.
    Near,
}

/// Coupling of a neighbour into a chain.
#[derive(Clone, PartialEq, Debug)]
pub struct Coupling {
    /// The item that it replaces.
    pub at: String,
    /// End at which the neighbour's transmitter is.
    pub end: End,
    /// From where the neighbour goes in to where it comes out, in our lane: two differential ports.
    pub network: Arc<Network>,
}

impl Chain {
    /// A segment as an eye is computed from it, without neighbours.
    ///
    /// # Errors
    /// As [`Chain::segment_network`].
    ///
    /// # Panics
    /// If there is no segment `index`.
    pub fn channel(
        &self,
        index: usize,
        library: &Library,
        corner: Corner,
        axis: &Axis,
        reference_ohm: f64,
    ) -> Result<Channel, Finding> {
        let pieces = self.pieces(index, library, corner)?.concat();
        let through = |pieces: &[Piece]| through(axis, pieces, reference_ohm);
        match stage(&pieces) {
            None => Ok(Channel::new(through(&pieces)?)),
            Some((at, redriver)) => {
                let (before, after) = (through(&pieces[..at])?, through(&pieces[at + 1..])?);
                Ok(Channel::new(before).with_redriver(redriver, after))
            }
        }
    }
    /// The way of a neighbour's bits to the receiver of a segment; none if what couples it is in another segment. A
    /// redriver on the way amplifies it as a small signal, without its compression.
    ///
    /// # Errors
    /// `PH024` for a place that is not there, `PH025` for one that passes nothing on as it is (a retimer, a redriver),
    /// else as [`Chain::segment_network`].
    ///
    /// # Panics
    /// If there is no segment `index`.
    pub fn coupled(
        &self,
        index: usize,
        coupling: &Coupling,
        (library, corner): (&Library, Corner),
        axis: &Axis,
        reference_ohm: f64,
    ) -> Result<Option<Transfer>, Finding> {
        let item = &self.items()[self.find(&coupling.at)?];
        if matches!(item.element, Element::Retimer(_) | Element::Redriver(_)) {
            let why = "nothing couples into it: name an element of the channel itself";
            return Err(Problem::CannotChange { name: item.name.clone(), why }.found());
        }
        let segments = self.segments();
        let Some(at) = segments[index].iter().position(|other| other.name == item.name) else {
            return Ok(None);
        };
        let between = Element::Network(coupling.network.clone()).pieces(library, corner)?.pieces;
        let items = self.pieces(index, library, corner)?;
        let behind = items[at + 1..].concat();
        let before = match coupling.end {
            End::Far => items[..at].concat(),
            End::Near => reversed(behind.clone()),
        };
        through(axis, &[before, between, behind].concat(), reference_ohm).map(Some)
    }
}

fn through(axis: &Axis, pieces: &[Piece], reference_ohm: f64) -> Result<Transfer, Finding> {
    let (network, _) = axis.cascade(pieces, reference_ohm)?;
    Ok(Transfer { step_hz: axis.grid().step_hz(), h: network.term(1, 0) })
}

/// The stage among the pieces of a segment, and its place.
fn stage(pieces: &[Piece]) -> Option<(usize, Redriver)> {
    pieces.iter().enumerate().find_map(|(at, piece)| match piece {
        Piece::Stage(stage) => Some((at, *stage)),
        _ => None,
    })
}
