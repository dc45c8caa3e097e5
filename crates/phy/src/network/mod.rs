//! S-parameters: response of a network to waves at its ports, at each frequency.
//!
//! ```text
//!   touchstone ──► Network ──► Pairing ──► differential Network ──► on a Grid ──► cascade ──► Transfer
//!                  n ports     who is P, N    2 ports, 100 Ω         from 0 Hz
//! ```
//!
//! A network has one real reference resistance for each port, the same at all frequencies.

mod cascade;
mod grid;
mod mixed;
mod pairing;
mod renormalise;
mod resample;
mod sparameters;

pub use cascade::cascade;
pub(crate) use cascade::join_two_ports;
pub use grid::Grid;
pub use mixed::{Block, MixedMode};
pub(crate) use mixed::{Mode, single_ended};
pub use pairing::{Lane, Pair, Pairing};
pub(crate) use renormalise::{Waves, of_admittance, of_hybrid, of_impedance, of_inverse_hybrid, scattering};
pub use sparameters::Network;
pub(crate) use sparameters::{MOST_PORTS, is_resistance};
