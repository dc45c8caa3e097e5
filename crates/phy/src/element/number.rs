//! A number of a library, with its source.

use lanetwin_units::NumberKind;
use serde::{Deserialize, Serialize};

/// Confidence in a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Recollection: nothing that can be cited confirms it.
    Unconfirmed,
    /// A statement without a citation.
    Secondary,
    /// Follows from data that can be cited.
    Computed,
    /// Stated in a document that can be cited.
    Sourced,
}

/// A number as it is written, with its source.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// `0.45dB/in`.
    pub value: String,
    /// Kind of the number.
    pub kind: NumberKind,
    /// The document, or the reason.
    pub source: String,
    /// Confidence in it.
    pub confidence: Confidence,
    /// Data to which it was fitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Additional remarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A number in its unit, and as it was written.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Known {
    pub(crate) value: f64,
    pub(crate) number: Number,
}
