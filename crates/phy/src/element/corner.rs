//! Corners of production, temperature and humidity.

use serde::Serialize;

/// A corner of the range of production, temperature and humidity.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Corner {
    /// Minimum loss.
    Low,
    /// As stated.
    #[default]
    Nominal,
    /// Maximum loss.
    High,
}

impl Corner {
    /// Factor of the loss of an element that varies by ± `spread`.
    #[must_use]
    pub fn scale(self, spread: f64) -> f64 {
        match self {
            Self::Low => 1.0 - spread,
            Self::Nominal => 1.0,
            Self::High => 1.0 + spread,
        }
    }
}
