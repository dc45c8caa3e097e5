//! Map of units that have been written or unmapped since the initial state.

use super::overlay::{LARGEST, Overlay};

/// The place of a unit that was unmapped.
pub const UNMAPPED: u64 = LARGEST;

/// Up to this many units are kept in a plain table: 128 MiB.
const DENSE: u64 = 1 << 24;

/// Map from units to places.
#[derive(Debug)]
pub enum Map {
    /// An entry for each unit, for a small drive.
    Dense(Vec<u64>),
    /// An entry for each unit in the map.
    Sparse(Overlay),
}

/// Entry of a unit that is not in the map.
const UNTOUCHED: u64 = u64::MAX;

impl Map {
    /// An empty map of `units` units.
    pub fn new(units: u64) -> Self {
        if units <= DENSE {
            Self::Dense(vec![UNTOUCHED; units as usize])
        } else {
            Self::Sparse(Overlay::new())
        }
    }
    /// The place of a unit, if it is in the map.
    #[inline]
    pub fn get(&self, unit: u32) -> Option<u64> {
        match self {
            Self::Dense(table) => Some(table[unit as usize]).filter(|place| *place != UNTOUCHED),
            Self::Sparse(overlay) => overlay.get(unit),
        }
    }
    /// Loads the entry of a unit into the CPU's cache.
    #[inline]
    pub fn warm(&self, unit: u32) {
        match self {
            Self::Dense(table) => {
                core::hint::black_box(table[unit as usize]);
            }
            Self::Sparse(overlay) => overlay.warm(unit),
        }
    }
    /// Sets the place of a unit. Returns its previous place, if it was in the map.
    #[inline]
    pub fn set(&mut self, unit: u32, place: u64) -> Option<u64> {
        match self {
            Self::Dense(table) => {
                Some(core::mem::replace(&mut table[unit as usize], place)).filter(|place| *place != UNTOUCHED)
            }
            Self::Sparse(overlay) => overlay.set(unit, place),
        }
    }
}
