//! What has been written or unmapped since the initial state.

use super::overlay::{LARGEST, Overlay};

/// The place of a unit that was unmapped.
pub const UNMAPPED: u64 = LARGEST;

/// Up to this many units are kept in a plain table \[units\]: 128 MiB.
const DENSE: u64 = 1 << 24;

/// From units to places.
#[derive(Debug)]
pub enum Map {
    /// An entry for each unit, of a small drive.
    Dense(Vec<u64>),
    /// An entry for each unit that was touched.
    Sparse(Overlay),
}

/// An entry of a unit that was not touched.
const UNTOUCHED: u64 = u64::MAX;

impl Map {
    /// Nothing is known of any of `units`.
    pub fn new(units: u64) -> Self {
        if units <= DENSE {
            Self::Dense(vec![UNTOUCHED; units as usize])
        } else {
            Self::Sparse(Overlay::new())
        }
    }
    /// The place of a unit, if it was touched.
    #[inline]
    pub fn get(&self, unit: u32) -> Option<u64> {
        match self {
            Self::Dense(table) => Some(table[unit as usize]).filter(|place| *place != UNTOUCHED),
            Self::Sparse(overlay) => overlay.get(unit),
        }
    }
    /// Brings the entry of a unit near.
    #[inline]
    pub fn warm(&self, unit: u32) {
        match self {
            Self::Dense(table) => {
                core::hint::black_box(table[unit as usize]);
            }
            Self::Sparse(overlay) => overlay.warm(unit),
        }
    }
    /// Sets the place of a unit; what it was, if it was touched.
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
