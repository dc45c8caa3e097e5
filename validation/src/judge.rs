//! The conditions that the rows of a claim have to meet.

use crate::accuracy;
use crate::claim::FreeParameter;
use crate::table::{Bound, Compared};
use lanetwin_stats::Verdict;
use serde::Deserialize;

/// A condition on some of the rows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Judge {
    /// The prefix of the groups that it covers; empty for all rows.
    #[serde(default)]
    of: String,
    #[serde(flatten)]
    test: Test,
}

/// The condition.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Test {
    /// Maximum absolute error of a prediction \[%\].
    Worst(f64),
    /// Maximum mean of the absolute errors of predictions \[%\].
    Mean(f64),
    /// Whether the mean error has to be below that of the closed form.
    BelowClosedForm(bool),
    /// Minimum share of rows, including bounds, that are within their own bars \[%\].
    Share(f64),
    /// Whether upper bounds have to hold.
    Bounds(bool),
    /// Maximum absolute deviation of every row, in its own unit.
    Within(f64),
    /// Whether all rows have to be judged equivalent by their scenario, or none.
    Equivalent(bool),
    /// Maximum number of calibrated numbers.
    Calibrated(usize),
}

impl Judge {
    fn is_of(&self, row: &Compared<'_>) -> bool {
        row.published.group.starts_with(&self.of)
    }

    /// Whether the condition is met, and the finding in a sentence.
    pub(crate) fn verdict(&self, rows: &[Compared<'_>], free: &[FreeParameter]) -> (bool, String) {
        let meant: Vec<&Compared<'_>> = rows.iter().filter(|row| self.is_of(row)).collect();
        let errors = || meant.iter().filter(|row| row.is_predicted()).map(|row| row.error_pct);
        let mean = accuracy::mape(errors()).unwrap_or(f64::NAN);
        let (met, told) = match self.test {
            Test::Worst(bar) => {
                let worst = accuracy::worst(errors());
                (worst <= bar, format!("largest error {worst:.2} % of {bar} %"))
            }
            Test::Mean(bar) => (mean <= bar, format!("mean error {mean:.2} % of {bar} %")),
            Test::BelowClosedForm(wanted) => {
                let closed = closed_form(&meant);
                ((mean < closed) == wanted, format!("mean error {mean:.1} %, closed form {closed:.1} %"))
            }
            Test::Share(bar) => {
                let met = meant.iter().filter(|row| row.is_met()).count();
                let enough = 100.0 * met as f64 >= bar * meant.len() as f64;
                (enough, format!("{met} of {} rows within their bars", meant.len()))
            }
            Test::Bounds(wanted) => {
                let of: Vec<_> = meant.iter().filter(|row| row.published.bound == Bound::AtMost).collect();
                let kept = of.iter().filter(|row| row.is_met()).count();
                ((kept == of.len()) == wanted, format!("{kept} of {} upper bounds kept", of.len()))
            }
            Test::Within(bar) => {
                let off = |row: &&&Compared<'_>| (row.predicted - row.published.published).abs() <= bar;
                let near = meant.iter().filter(off).count();
                (near == meant.len(), format!("{near} of {} within {bar}", meant.len()))
            }
            Test::Equivalent(wanted) => {
                let equivalent = meant.iter().filter(|row| row.verdict == Some(Verdict::Equivalent)).count();
                let met = equivalent == if wanted { meant.len() } else { 0 };
                (met, format!("{equivalent} of {} equivalent", meant.len()))
            }
            Test::Calibrated(most) => {
                let calibrated = free.iter().filter(|number| number.calibrated_to.is_some()).count();
                (calibrated <= most, format!("{calibrated} calibrated numbers of {most}"))
            }
        };
        let of = if self.of.is_empty() { String::new() } else { format!("{}: ", self.of) };
        (met, format!("{of}{told}, {}", if met { "met" } else { "missed" }))
    }
}

fn closed_form(rows: &[&Compared<'_>]) -> f64 {
    let predicted = rows.iter().filter(|row| row.is_predicted());
    let error = |row: &&Compared<'_>| {
        row.published.closed_form.map(|says| accuracy::error_pct(says, row.published.published))
    };
    accuracy::mape(predicted.filter_map(error)).unwrap_or(f64::NAN)
}
