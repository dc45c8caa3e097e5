//! Tables of published values, and the corresponding rows in the results of a built-in scenario.
//!
//! A table is a CSV file whose columns are the fields of [`Published`]; those with a default may be missing. Values are
//! in the units of the results.

use crate::accuracy;
use crate::claim::{Cell, Role};
use lanetwin_stats::Verdict;
use lanetwin_stats::results::{IometerMetric, Results, Row, VerdictRow};
use serde::Deserialize;

/// A published value, and its row in the results.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Published {
    /// The cell of the published table.
    pub(crate) case: String,
    /// The name of the quantity; by default that of its metric.
    #[serde(default)]
    pub(crate) quantity: Option<String>,
    /// The group of rows that it belongs to; conditions can be limited to groups.
    #[serde(default)]
    pub(crate) group: String,
    /// How it is computed from the results.
    #[serde(default)]
    pub(crate) how: How,
    /// The variant of the scenario.
    pub(crate) variant: String,
    /// The workload of the scenario.
    pub(crate) workload: String,
    /// The case of the workload, if it has several.
    #[serde(default)]
    pub(crate) label: Option<String>,
    /// The device or host; `None` for all together.
    #[serde(default)]
    pub(crate) device: Option<String>,
    /// The metric.
    pub(crate) metric: String,
    /// The percentile \[%\], if it is not the mean.
    #[serde(default)]
    pub(crate) percentile: Option<f64>,
    /// The other metric, variant or case that [`How`] needs.
    #[serde(default)]
    pub(crate) against: String,
    /// The position on the curve, for [`How::Curve`].
    #[serde(default)]
    pub(crate) at: Option<f64>,
    /// Its unit, as in the results.
    pub(crate) unit: String,
    /// The published value.
    pub(crate) published: f64,
    /// The meaning of the value for the device.
    #[serde(default)]
    pub(crate) bound: Bound,
    /// The role of the value for the model.
    pub(crate) role: Role,
    /// Maximum deviation of the prediction, or maximum excess over a bound \[%\].
    #[serde(default)]
    pub(crate) bar_pct: Option<f64>,
    /// The value of the closed form, which the claim's page explains.
    #[serde(default)]
    pub(crate) closed_form: Option<f64>,
    /// Whether it is used in the sensitivity analysis: `yes`, or empty.
    #[serde(default)]
    pub(crate) weighed: String,
    /// Known conditions: block, pattern, depth, jobs, state, link.
    #[serde(default)]
    pub(crate) conditions: String,
    /// The source; by default that of the claim.
    #[serde(default)]
    pub(crate) source: String,
    /// Why the prediction misses it, or which conditions were not published; may be empty.
    #[serde(default)]
    pub(crate) note: String,
}

/// The meaning of a published value for the device.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Bound {
    /// It was measured, or is stated for this device in this state.
    #[default]
    Value,
    /// It is stated for the best of a family, or for the best state, and no device exceeds it.
    AtMost,
}

/// How a value is computed from the rows of the results.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum How {
    /// One row.
    #[default]
    Value,
    /// The sum with another metric.
    Sum,
    /// The mean with another metric.
    Mean,
    /// The difference to another variant: this one minus the other.
    Less,
    /// The ratio to another variant.
    Ratio,
    /// The ratio to another case of the workload.
    CaseRatio,
    /// The ratio of another case of the workload to this one.
    InverseCaseRatio,
    /// The value at the point of the curve of all cases where another metric reaches [`Published::at`].
    Curve,
    /// The largest value of all cases of the workload.
    Peak,
    /// The ratio to the baseline, with the interval and the verdict of the scenario.
    Verdict,
    /// One of Iometer's own metrics.
    Iometer,
    /// Nothing in the results corresponds to it.
    NotCompared,
}

/// The value in the results that corresponds to a published value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Found {
    pub(crate) value: f64,
    /// The ends of the 95 % interval.
    pub(crate) interval: (f64, f64),
}

impl Found {
    const fn exactly(value: f64) -> Self {
        Self { value, interval: (value, value) }
    }
    fn between(a: Self, b: Self, share: f64) -> Self {
        let mix = |a: f64, b: f64| a + (b - a) * share;
        let interval = (mix(a.interval.0, b.interval.0), mix(a.interval.1, b.interval.1));
        Self { value: mix(a.value, b.value), interval }
    }
}

impl Published {
    /// The corresponding value in the results; `None` if it is not compared.
    ///
    /// # Panics
    /// If the results have no such row, or more than one where one is meant.
    pub(crate) fn found(&self, results: &Results) -> Option<Found> {
        let own = || self.read(results, &self.variant, self.label.as_deref(), &self.metric);
        let case = || self.read(results, &self.variant, Some(&self.against), &self.metric).value;
        let variant = || self.read(results, &self.against, self.label.as_deref(), &self.metric).value;
        let metric = || self.read(results, &self.variant, self.label.as_deref(), &self.against);
        Some(match self.how {
            How::Value => own(),
            How::Sum => Found::exactly(own().value + metric().value),
            How::Mean => Found::between(own(), metric(), 0.5),
            How::Less => Found::exactly(own().value - variant()),
            How::Ratio => Found::exactly(own().value / variant()),
            How::CaseRatio => Found::exactly(own().value / case()),
            How::InverseCaseRatio => Found::exactly(case() / own().value),
            How::Curve => self.on_curve(results),
            How::Verdict => {
                let judged = self.judged(results).unwrap_or_else(|| panic!("nobody judged {self:?}"));
                let ratio = 1.0 + judged.change;
                let end = |end: Option<f64>| end.map_or(ratio, |end| 1.0 + end);
                Found { value: ratio, interval: (end(judged.low), end(judged.high)) }
            }
            How::Iometer => self.of_iometer(results),
            How::Peak => self.rows(results, &self.variant, &self.metric).map(|row| self.of(row)).fold(
                Found::exactly(f64::NEG_INFINITY),
                |most, of| if of.value > most.value { of } else { most },
            ),
            How::NotCompared => return None,
        })
    }

    /// The variants of the scenario from which it is computed.
    pub(crate) fn variants(&self) -> impl Iterator<Item = &str> {
        let other = matches!(self.how, How::Less | How::Ratio).then_some(&*self.against);
        std::iter::once(&*self.variant).chain(other)
    }

    /// The case of the workload from which it is computed; `None` if it needs several, or the workload has only one.
    pub(crate) fn only_case(&self) -> Option<&str> {
        let is_of_others = matches!(self.how, How::CaseRatio | How::InverseCaseRatio);
        self.label.as_deref().filter(|_| !is_of_others)
    }

    /// The rows of the workload for a variant and a metric, one for each case.
    fn rows<'a>(
        &'a self,
        results: &'a Results,
        variant: &'a str,
        metric: &'a str,
    ) -> impl Iterator<Item = &'a Row> {
        results.rows.iter().filter(move |row| {
            row.device == self.device
                && (&*row.variant, &*row.workload, &*row.metric) == (variant, &*self.workload, metric)
        })
    }

    fn read(&self, results: &Results, variant: &str, label: Option<&str>, metric: &str) -> Found {
        let mut rows =
            self.rows(results, variant, metric).filter(|row| label.is_none_or(|label| row.case == label));
        let row = rows.next().unwrap_or_else(|| panic!("no {metric} of {variant}, {label:?} for {self:?}"));
        assert!(rows.next().is_none(), "one case is meant: {self:?}");
        self.of(row)
    }

    fn of(&self, row: &Row) -> Found {
        let is_ratio = matches!(self.how, How::Ratio | How::CaseRatio | How::InverseCaseRatio);
        assert!(is_ratio || row.unit == self.unit, "results are in {}: {self:?}", row.unit);
        let Some(percent) = self.percentile else {
            return Found {
                value: row.value,
                interval: (row.low.unwrap_or(row.value), row.high.unwrap_or(row.value)),
            };
        };
        let of = row.percentiles.iter().find(|(of, _)| *of == percent);
        Found::exactly(of.unwrap_or_else(|| panic!("no such percentile: {self:?}")).1)
    }

    /// The scenario's verdict that it is compared with, for [`How::Verdict`].
    fn judged<'a>(&self, results: &'a Results) -> Option<&'a VerdictRow> {
        let is_it = |row: &&VerdictRow| {
            let is_case = self.label.as_ref().is_none_or(|label| row.case == *label);
            is_case
                && (&*row.variant, &*row.workload, &*row.metric)
                    == (&*self.variant, &*self.workload, &*self.metric)
        };
        results.verdicts.iter().find(is_it).filter(|_| self.how == How::Verdict)
    }

    fn of_iometer(&self, results: &Results) -> Found {
        let is_it = |one: &&IometerMetric| {
            let own = (&*self.variant, &*self.workload, &*self.metric);
            one.of.is_empty() && (&*one.variant, &*one.workload, &*one.metric) == own
        };
        let one = results.iometer.iter().find(is_it).unwrap_or_else(|| panic!("Iometer has no {self:?}"));
        assert!(one.unit == self.unit, "Iometer's is in {}: {self:?}", one.unit);
        Found::exactly(one.value.unwrap_or_else(|| panic!("Iometer has no value: {self:?}")))
    }

    /// The metric at the point where the other metric reaches [`Published::at`], interpolated between two cases; beyond
    /// an end of the curve, the value at that end.
    fn on_curve(&self, results: &Results) -> Found {
        let at = self.at.unwrap_or_else(|| panic!("a place on a curve is missing: {self:?}"));
        let xs = self.rows(results, &self.variant, &self.against).map(|row| row.value);
        let ys = self.rows(results, &self.variant, &self.metric).map(|row| self.of(row));
        let mut points: Vec<(f64, Found)> = xs.zip(ys).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let last = points.last().unwrap_or_else(|| panic!("no curve: {self:?}")).1;
        let Some(next) = points.iter().position(|(x, _)| *x >= at) else { return last };
        let ((x0, low), (x1, high)) = (points[next.saturating_sub(1)], points[next]);
        let share = if x1 > x0 { ((at - x0) / (x1 - x0)).clamp(0.0, 1.0) } else { 0.0 };
        Found::between(low, high, share)
    }
}

/// A published row, and the value in the results.
pub(crate) struct Compared<'a> {
    pub(crate) published: &'a Published,
    pub(crate) predicted: f64,
    /// The relative error of the prediction \[%\]; positive if it is too high.
    pub(crate) error_pct: f64,
    /// The scenario's verdict, for [`How::Verdict`].
    pub(crate) verdict: Option<Verdict>,
}

impl Compared<'_> {
    /// Whether the prediction is within the row's bar. Without a bar, a value is always met, and a bound must not be
    /// exceeded.
    pub(crate) fn is_met(&self) -> bool {
        let Published { bound, bar_pct, .. } = *self.published;
        match bound {
            Bound::Value => bar_pct.is_none_or(|bar| self.error_pct.abs() <= bar),
            Bound::AtMost => self.error_pct <= bar_pct.unwrap_or(0.0),
        }
    }
    pub(crate) fn is_predicted(&self) -> bool {
        self.published.role == Role::Predicted && self.published.bound == Bound::Value
    }
    /// `PM9A3, random read, 16 in flight: 193 k/s beside 120 (+61.2 %)`, with the row's note.
    pub(crate) fn told(&self) -> String {
        let Published { case, quantity, unit, published, note, bound, .. } = self.published;
        let at_most = if *bound == Bound::AtMost { "at most " } else { "" };
        let what = quantity.as_ref().map_or(String::new(), |what| format!(", {what}"));
        let about = if note.is_empty() { String::new() } else { format!("; {note}") };
        format!(
            "{case}{what}: {} {unit} beside {at_most}{published} ({:+.1} %{about})",
            digits(self.predicted),
            self.error_pct
        )
    }
}

/// A number with at least three significant digits, or three decimals below 1.
fn digits(value: f64) -> String {
    let decimals = match value.abs() {
        value if value >= 100.0 => 0,
        value if value >= 10.0 => 1,
        value if value >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.decimals$}")
}

/// The rows of a table.
///
/// # Panics
/// If the text is not such a table.
pub(crate) fn published(text: &str) -> Vec<Published> {
    let rows = csv::Reader::from_reader(text.as_bytes()).into_deserialize();
    rows.map(|row| row.unwrap_or_else(|error| panic!("a published table is right: {error}"))).collect()
}

/// Every row that is compared, with the value in the results.
pub(crate) fn compared<'a>(results: &Results, published: &'a [Published]) -> Vec<Compared<'a>> {
    let beside = published.iter().filter_map(|published| {
        let predicted = published.found(results)?.value;
        let error_pct = accuracy::error_pct(predicted, published.published);
        let verdict = published.judged(results).map(|judged| judged.verdict);
        Some(Compared { published, predicted, error_pct, verdict })
    });
    beside.collect()
}

/// The cells of a report: all compared rows but bounds, for which an error has no meaning.
pub(crate) fn cells(results: &Results, published: &'static [Published], source: &'static str) -> Vec<Cell> {
    let values = published.iter().filter(|published| published.bound == Bound::Value);
    let cell = |published: &'static Published| {
        let Found { value, interval } = published.found(results)?;
        Some(Cell {
            case: published.case.clone(),
            quantity: published.quantity.clone().unwrap_or_else(|| published.metric.clone()),
            unit: &published.unit,
            published: published.published,
            predicted: value,
            interval,
            role: published.role,
            baseline: published.closed_form,
            source: if published.source.is_empty() { source } else { &published.source },
            digest: results.digest.expect("a simulation has a digest"),
        })
    };
    values.filter_map(cell).collect()
}
