//! The reference receiver of a generation, with everything that does not depend on the channel precomputed.

use super::constants::{Constants, Reference};
use super::ctle::Ctle;
use super::dfe::Dfe;
use super::fft::Inverse;
use super::grid::{self, Grid};
use super::jitter::Stress;
use super::mask::Mask;
use lanetwin_units::Generation;
use num_complex::Complex64;

/// The reference transmitter and receiver of a generation.
///
/// Building one takes a millisecond. It can be used for any number of channels and shared between threads.
#[derive(Clone, Debug)]
pub struct Receiver {
    pub(super) grid: Grid,
    pub(super) inverse: Inverse,
    /// Spectrum of a bit \[V\].
    pub(super) drive: Vec<f64>,
    pub(super) curves: Vec<Curve>,
    pub(super) dfe: Dfe,
    mask: Mask,
    stress: Stress,
}

/// A curve of the CTLE on the grid.
#[derive(Clone, Debug)]
pub struct Curve {
    pub ctle: Ctle,
    pub response: Vec<Complex64>,
    /// Power gain for the receiver's noise.
    pub noise_gain: f64,
}

impl Receiver {
    /// The receiver of a generation; `None` for Gen1 and Gen2, which have no adaptive equalisation.
    #[must_use]
    pub fn new(generation: Generation, constants: &Constants) -> Option<Self> {
        constants.of(generation).map(|reference| Self::of(Grid::of(generation), reference))
    }

    fn of(grid: Grid, reference: &Reference) -> Self {
        let curve = |ctle: Ctle| Curve {
            response: (0..grid.bins()).map(|bin| ctle.at(grid.frequency(bin))).collect(),
            noise_gain: ctle.noise_gain(reference.noise.bandwidth_hz.value),
            ctle,
        };
        let transmitter = &reference.transmitter;
        Self {
            grid,
            inverse: Inverse::new(grid.length()),
            drive: grid::drive(&grid, transmitter.swing_v.value, transmitter.rise_s.value),
            curves: reference.ctle.curves().into_iter().map(curve).collect(),
            dfe: Dfe::new(reference.dfe.limits_v.value.clone()),
            mask: Mask::of(reference),
            stress: Stress::of(reference),
        }
    }

    /// The eye mask.
    #[must_use]
    pub const fn mask(&self) -> Mask {
        self.mask
    }

    /// Noise and jitter by the constants, not calibrated.
    #[must_use]
    pub const fn stress(&self) -> Stress {
        self.stress
    }

    /// The unit interval \[s\].
    #[must_use]
    pub const fn ui_s(&self) -> f64 {
        self.grid.ui_s
    }

    /// The curves of its CTLE.
    pub fn ctle(&self) -> impl Iterator<Item = &Ctle> {
        self.curves.iter().map(|curve| &curve.ctle)
    }
}
