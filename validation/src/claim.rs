//! What a claim finds.

use lanetwin_stats::results::Digest;
use serde::{Deserialize, Serialize};

/// What a claim has found.
pub(crate) struct Outcome {
    pub(crate) cells: Vec<Cell>,
    pub(crate) free_parameters: Vec<FreeParameter>,
    /// Whether the bar is met, given that the claim predicts at all.
    pub(crate) met: bool,
    pub(crate) text: String,
    /// What moving an assumption does, where that was tried.
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
    /// What the closed form says.
    pub(crate) baseline: Option<f64>,
    pub(crate) source: &'static str,
    pub(crate) digest: Digest,
}

/// What a number was to the model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The model was given it.
    Input,
    /// A parameter was fitted to it.
    Calibrated,
    /// The model has never seen it.
    Predicted,
}

/// What moving one assumption does to each predicted row: an ablation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Effect {
    /// What is assumed.
    pub mechanism: String,
    /// To which end of its range it was moved.
    pub end: String,
    /// What that changes, for each predicted row in the order of the rows \[%\]; NaN (`null`) for a row in which it was
    /// not moved.
    pub changes_pct: Vec<f64>,
}

/// A number of the model that nobody measured or published.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FreeParameter {
    /// The part that has it.
    pub part: String,
    /// Its name.
    pub name: String,
    /// Its value with its unit.
    pub value: String,
    /// What it was calibrated to; none if it is assumed.
    #[serde(default)]
    pub calibrated_to: Option<String>,
}
