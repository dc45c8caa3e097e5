//! The report: rows, and what they amount to.

use crate::accuracy;
use crate::claim::{Effect, FreeParameter, Outcome, Role};
use crate::claims::Claim;
use lanetwin_stats::results::Digest;
use serde::Serialize;

/// The name of the format and its major version.
pub const SCHEMA: &str = "lanetwin-validation/1";

/// Predictions set against published numbers.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// The version of lanetwin that predicted.
    pub version: &'static str,
    /// Whether every claim that was asked for is here.
    pub complete: bool,
    /// What the rows amount to, claim by claim.
    pub claims: Vec<Summary>,
    /// Every cell of every table.
    pub rows: Vec<Row>,
}

/// One published number and what the model says.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The claim's name.
    pub claim: &'static str,
    /// Which cell of the table.
    pub case: String,
    /// What is compared.
    pub quantity: String,
    /// The unit of all values of this row.
    pub unit: &'static str,
    /// What was published.
    pub published: f64,
    /// What the model says.
    pub predicted: f64,
    /// The lower end of the model's 95 % interval; the prediction itself if nothing in it is random.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// How far the prediction is above what was published \[%\].
    pub error_pct: f64,
    /// What the published number was to the model.
    pub role: Role,
    /// How many assumed or calibrated numbers the model had; of claims that moved them to the ends of ranges, how many
    /// of them move a row.
    pub free_parameters: usize,
    /// How far the closed form is above what was published \[%\]; none if there is no closed form.
    pub baseline_error_pct: Option<f64>,
    /// Where the published number is from.
    pub source: &'static str,
    /// The digest of the simulation.
    pub run_digest: Digest,
}

/// What the rows of a claim amount to.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    /// The claim's name.
    pub claim: &'static str,
    /// What it claims.
    pub about: &'static str,
    /// What has to hold.
    pub bar: &'static str,
    /// Whether it does.
    pub met: bool,
    /// Whether there are more predicted rows than free parameters; if not, nothing here is called predicted.
    pub is_prediction: bool,
    /// How many rows are predicted.
    pub predicted_rows: usize,
    /// Mean absolute error of the predicted rows \[%\].
    pub mape: f64,
    /// Mean absolute error of the closed form on the predicted rows that it covers \[%\].
    pub baseline_mape: Option<f64>,
    /// Every number of the model that was assumed or calibrated.
    pub free_parameters: Vec<FreeParameter>,
    /// What was found, in sentences.
    pub text: String,
    /// What assumptions do to the predicted rows, if they were moved.
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
