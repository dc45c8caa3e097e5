//! Pieces of an element that the axis can compute.

use super::law::Law;
use crate::eye::Redriver;
use crate::network::Network;
use crate::problem::{Finding, Problem};
use std::sync::Arc;

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
pub(super) fn of_network(network: &Arc<Network>) -> Result<Pieces, Finding> {
    if network.ports() != 2 {
        return Err(Problem::PortsDiffer { left: 2, right: network.ports() }.found());
    }
    Ok(Pieces { pieces: vec![Piece::Network(network.clone())], impedance_ohm: network.reference()[0] })
}
