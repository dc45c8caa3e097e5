//! The outcome of a claim.

use lanetwin_stats::results::Digest;
use serde::{Deserialize, Serialize};

/// The outcome of a claim.
pub(crate) struct Outcome {
    pub(crate) cells: Vec<Cell>,
    pub(crate) free_parameters: Vec<FreeParameter>,
    /// Whether the bar is met, regardless of whether the claim counts as a prediction.
    pub(crate) met: bool,
    pub(crate) text: String,
    /// The effects of moving assumptions, if they were moved.
    pub(crate) effects: Vec<Effect>,
}

/// A row before its errors are known.
#[derive(Clone, Debug)]
pub(crate) struct Cell {
    pub(crate) case: String,
    pub(crate) quantity: String,
    pub(crate) unit: &'static str,
    pub(crate) published: f64,
    pub(crate) predicted: f64,
    /// The ends of the model's 95 % interval.
    pub(crate) interval: (f64, f64),
    pub(crate) role: Role,
    /// The value of the closed form.
    pub(crate) baseline: Option<f64>,
    pub(crate) source: &'static str,
    pub(crate) digest: Digest,
}

/// The role of a published number for the model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The model was given the number.
    Input,
    /// A parameter was fitted to it.
    Calibrated,
    /// The model was neither given the number nor fitted to it.
    Predicted,
}

/// The effect of moving one assumption on each predicted row: an ablation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Effect {
    /// The assumption.
    pub mechanism: String,
    /// The end of its range to which it was moved.
    pub end: String,
    /// The change of each predicted row, in the order of the rows \[%\]; NaN (`null`) for a row for which it was not
    /// moved.
    pub changes_pct: Vec<f64>,
}

/// A number of the model that was neither measured nor published.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FreeParameter {
    /// Its part.
    pub part: String,
    /// Its name.
    pub name: String,
    /// Its value with its unit.
    pub value: String,
    /// The measurement that it was calibrated to; `None` if it is assumed.
    #[serde(default)]
    pub calibrated_to: Option<String>,
}
