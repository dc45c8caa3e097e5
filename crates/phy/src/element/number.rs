//! A number of a library, with where it comes from.

use lanetwin_units::NumberKind;
use serde::{Deserialize, Serialize};

/// How sure the number is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Recollection: nothing that can be cited confirms it.
    Unconfirmed,
    /// Somebody who cites nobody says so.
    Secondary,
    /// Follows from data that can be cited.
    Computed,
    /// A document that can be cited says so.
    Sourced,
}

/// A number as it is written, with where it comes from.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// `0.45dB/in`.
    pub value: String,
    /// What kind of number it is.
    pub kind: NumberKind,
    /// The document, or the reason.
    pub source: String,
    /// How sure it is.
    pub confidence: Confidence,
    /// What it was fitted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What else is worth knowing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A number in its unit, and as it was written.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Known {
    pub(crate) value: f64,
    pub(crate) number: Number,
}
