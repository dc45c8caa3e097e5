//! Groups of the elements of a library.

use crate::quantity::Dimension;
use serde::Serialize;

/// The groups of entries.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// Materials of boards; per length.
    Materials,
    /// Packages with their dies.
    Packages,
    /// Vias.
    Vias,
    /// Connectors.
    Connectors,
    /// Cables; per length.
    Cables,
    /// Retimers: their packages.
    Retimers,
    /// Redrivers: their packages, and the stage between them.
    Redrivers,
    /// Several of the others under one name.
    Kits,
}

impl Family {
    /// All groups.
    pub const ALL: [Self; 8] = [
        Self::Materials,
        Self::Packages,
        Self::Vias,
        Self::Connectors,
        Self::Cables,
        Self::Retimers,
        Self::Redrivers,
        Self::Kits,
    ];
    /// What one of them is called, and the key of an element that is one; of boards, by their material.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Materials => "material",
            Self::Packages => "package",
            Self::Vias => "via",
            Self::Connectors => "connector",
            Self::Cables => "cable",
            Self::Retimers => "retimer",
            Self::Redrivers => "redriver",
            Self::Kits => "kit",
        }
    }
    /// The dimensions of losses and delays.
    pub(super) const fn dimensions(self) -> (Dimension, Dimension) {
        match self {
            Self::Materials | Self::Cables => (Dimension::LossPerLength, Dimension::DelayPerLength),
            _ => (Dimension::Loss, Dimension::Delay),
        }
    }
}
