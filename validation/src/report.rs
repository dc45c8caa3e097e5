//! The report: rows, and a summary of each claim.

use crate::accuracy;
use crate::claim::{Effect, FreeParameter, Outcome, Role};
use crate::claims::Claim;
use lanetwin_stats::results::Digest;
use serde::Serialize;

/// The name of the format and its major version.
pub const SCHEMA: &str = "lanetwin-validation/1";

/// Predictions compared with published numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The version of lanetwin.
    pub version: &'static str,
    /// Whether it contains every requested claim.
    pub complete: bool,
    /// A summary of each claim.
    pub claims: Vec<Summary>,
    /// Every published value that is compared; bounds are not among them.
    pub rows: Vec<Row>,
}

/// One published number and the prediction for it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The claim's name.
    pub claim: &'static str,
    /// The cell of the table.
    pub case: String,
    /// The quantity compared.
    pub quantity: String,
    /// The unit of all values of this row.
    pub unit: &'static str,
    /// The published value.
    pub published: f64,
    /// The predicted value.
    pub predicted: f64,
    /// The lower end of the model's 95 % interval; the prediction itself if it is not random.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Relative error of the prediction \[%\].
    pub error_pct: f64,
    /// The role of the published number for the model.
    pub role: Role,
    /// Number of the claim's free parameters.
    pub free_parameters: usize,
    /// Relative error of the closed form \[%\]; `None` if there is none.
    pub baseline_error_pct: Option<f64>,
    /// The source of the published number.
    pub source: &'static str,
    /// The digest of the simulation.
    pub run_digest: Digest,
}

/// The summary of a claim.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// The claim's name.
    pub claim: &'static str,
    /// What it claims, in a sentence.
    pub about: &'static str,
    /// The bar that has to be met.
    pub bar: &'static str,
    /// Whether the bar is met, and the claim is a prediction.
    pub met: bool,
    /// Whether there are more predicted rows than free parameters; otherwise the claim is not called a prediction.
    pub is_prediction: bool,
    /// Number of predicted rows.
    pub predicted_rows: usize,
    /// Mean absolute error of the predicted rows \[%\].
    pub mape: f64,
    /// Mean absolute error of the closed form on the predicted rows that it covers \[%\].
    pub baseline_mape: Option<f64>,
    /// The numbers that count: all assumed or calibrated ones, or with a sensitivity analysis those that move a row.
    pub free_parameters: Vec<FreeParameter>,
    /// The findings, in sentences.
    pub text: String,
    /// The effects of assumptions on the predicted rows, if they were moved.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects: Vec<Effect>,
}

impl Report {
    pub(crate) fn new() -> Self {
        let version = env!("CARGO_PKG_VERSION");
        Self { schema: SCHEMA, version, complete: true, claims: Vec::new(), rows: Vec::new() }
    }

    pub(crate) fn add(&mut self, claim: &Claim, outcome: Outcome) {
        let Outcome { cells, free_parameters, met, text, effects } = outcome;
        let rows: Vec<Row> = cells
            .into_iter()
            .map(|cell| Row {
                claim: claim.name,
                error_pct: accuracy::error_pct(cell.predicted, cell.published),
                baseline_error_pct: cell.baseline.map(|b| accuracy::error_pct(b, cell.published)),
                case: cell.case,
                quantity: cell.quantity,
                unit: cell.unit,
                published: cell.published,
                predicted: cell.predicted,
                low: cell.interval.0,
                high: cell.interval.1,
                role: cell.role,
                free_parameters: free_parameters.len(),
                source: cell.source,
                run_digest: cell.digest,
            })
            .collect();
        let predicted = || rows.iter().filter(|row| row.role == Role::Predicted);
        let is_prediction = predicted().count() > free_parameters.len();
        self.claims.push(Summary {
            claim: claim.name,
            about: claim.about,
            bar: claim.bar,
            met: met && is_prediction,
            is_prediction,
            predicted_rows: predicted().count(),
            mape: accuracy::mape(predicted().map(|row| row.error_pct)).unwrap_or(f64::NAN),
            baseline_mape: accuracy::mape(predicted().filter_map(|row| row.baseline_error_pct)),
            free_parameters,
            text,
            effects,
        });
        self.rows.extend(rows);
    }
}
