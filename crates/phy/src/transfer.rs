//! The differential through transfer function of a channel: what channels give and eyes take.

use num_complex::Complex64;

/// The differential through transfer function SDD21 on a uniform grid from 0 Hz.
#[derive(Clone, PartialEq, Debug)]
pub struct Transfer {
    /// From one frequency to the next \[Hz\]; the first is 0.
    pub step_hz: f64,
    /// The transfer function at 0, step, 2·step …
    pub h: Vec<Complex64>,
}
