//! A uniform frequency grid from 0 Hz.

use crate::problem::{Finding, Problem};

const MOST_POINTS: usize = 1 << 21;

/// Frequencies 0, step, 2·step …
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Grid {
    step_hz: f64,
    points: usize,
}

impl Grid {
    /// From the step \[Hz\] and the last frequency \[Hz\], which is rounded up to a whole number of steps.
    ///
    /// # Errors
    /// `PH023` for a step or a number of points that cannot be.
    pub fn new(step_hz: f64, last_hz: f64) -> Result<Self, Finding> {
        let bad = |why| Err(Problem::BadGrid { why }.found());
        if !step_hz.is_finite() || step_hz <= 0.0 {
            return bad("the step is not above 0 Hz");
        }
        // a last frequency that is a multiple but for rounding is not one step more
        let steps = (last_hz / step_hz * (1.0 - 1e-12)).ceil();
        if !(1.0..MOST_POINTS as f64).contains(&steps) {
            return bad("it has too few or too many points");
        }
        Ok(Self { step_hz, points: steps as usize + 1 })
    }
    /// Step between frequencies \[Hz\].
    #[must_use]
    pub const fn step_hz(&self) -> f64 {
        self.step_hz
    }
    /// Number of frequencies.
    #[must_use]
    pub const fn points(&self) -> usize {
        self.points
    }
    /// The last frequency \[Hz\].
    #[must_use]
    pub fn last_hz(&self) -> f64 {
        self.step_hz * (self.points - 1) as f64
    }
    /// All frequencies \[Hz\].
    #[must_use]
    pub fn frequencies(&self) -> Vec<f64> {
        (0..self.points).map(|k| self.step_hz * k as f64).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_frequency_is_on_the_grid() {
        let grid = Grid::new(10e6, 40e9).unwrap();
        assert_eq!((grid.points(), grid.last_hz()), (4001, 40e9));
        assert_eq!(Grid::new(0.1, 0.3).unwrap().points(), 4);
        assert_eq!(Grid::new(3.0, 10.0).unwrap().last_hz(), 12.0);
    }

    #[test]
    fn a_grid_that_cannot_be_is_refused() {
        for (step, last) in
            [(0.0, 1.0), (-1.0, 1.0), (f64::NAN, 1.0), (1.0, f64::NAN), (1.0, 0.0), (1.0, 1e12)]
        {
            assert_eq!(Grid::new(step, last).unwrap_err().code, "PH023", "{step} {last}");
        }
    }
}
