//! Corners of production, temperature and humidity.

use serde::Serialize;

/// Which end of what production, temperature and humidity allow.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Corner {
    /// The least loss.
    Low,
    /// As stated.
    #[default]
    Nominal,
    /// The most loss.
    High,
}

impl Corner {
    /// What a loss is multiplied with, of an element that varies by ± `spread`.
    #[must_use]
    pub fn scale(self, spread: f64) -> f64 {
        match self {
            Self::Low => 1.0 - spread,
            Self::Nominal => 1.0,
            Self::High => 1.0 + spread,
        }
    }
}
