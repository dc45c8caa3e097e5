//! Lengths, capacitances and stated losses.

use crate::problem::{Finding, Problem};
use crate::quantity::INCH;
use serde::Serialize;

/// A length of a trace or a cable \[m\].
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Serialize)]
pub struct Length(f64);

impl Length {
    /// From metres.
    ///
    /// # Errors
    /// `PH021` if it is negative or not finite.
    pub fn metres(metres: f64) -> Result<Self, Finding> {
        if metres.is_finite() && metres >= 0.0 {
            return Ok(Self(metres));
        }
        Err(Problem::BadSize { what: "length", text: format!("{metres} m") }.found())
    }
    /// From inches.
    ///
    /// # Errors
    /// As [`Length::metres`].
    pub fn inches(inches: f64) -> Result<Self, Finding> {
        Self::metres(inches * INCH)
    }
    /// In metres.
    #[must_use]
    pub const fn as_metres(self) -> f64 {
        self.0
    }
}

/// A capacitance between P and N \[F\].
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Serialize)]
pub struct Capacitance(f64);

impl Capacitance {
    /// From femtofarads.
    ///
    /// # Errors
    /// `PH021` if it is negative or not finite.
    pub fn femtofarads(femtofarads: f64) -> Result<Self, Finding> {
        if femtofarads.is_finite() && femtofarads >= 0.0 {
            return Ok(Self(femtofarads * 1e-15));
        }
        Err(Problem::BadSize { what: "capacitance", text: format!("{femtofarads} fF") }.found())
    }
    /// In farads.
    #[must_use]
    pub const fn as_farads(self) -> f64 {
        self.0
    }
}

/// A loss at a frequency.
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug, Serialize)]
pub struct StatedLoss {
    decibels: f64,
    hertz: f64,
}

impl StatedLoss {
    /// A loss \[dB\] at a frequency \[Hz\].
    ///
    /// # Errors
    /// `PH021` if the loss is negative or not finite, or the frequency not above 0.
    pub fn new(decibels: f64, hertz: f64) -> Result<Self, Finding> {
        if decibels.is_finite() && decibels >= 0.0 && hertz.is_finite() && hertz > 0.0 {
            return Ok(Self { decibels, hertz });
        }
        Err(Problem::BadSize { what: "loss", text: format!("{decibels} dB at {hertz} Hz") }.found())
    }
    /// The loss \[dB\].
    #[must_use]
    pub const fn as_decibels(self) -> f64 {
        self.decibels
    }
    /// The frequency \[Hz\].
    #[must_use]
    pub const fn hertz(self) -> f64 {
        self.hertz
    }
}
