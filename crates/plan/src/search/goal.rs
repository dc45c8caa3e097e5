//! Objectives and limits, as they are written: `latency p99@lookups <= 200us`.

use serde::Serialize;

/// A metric of the results, or the cost or power of parts.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Quantity {
    /// The metric.
    pub metric: String,
    /// The workload; empty for all workloads with the metric.
    pub workload: String,
    /// The percentile, if one is given.
    pub percentile: Option<f64>,
}

/// The direction of an objective.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// The higher, the better.
    Maximize,
    /// The lower, the better.
    Minimize,
}

/// A quantity to maximise or minimise.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Objective {
    /// The quantity.
    pub quantity: Quantity,
    /// The direction.
    pub direction: Direction,
}

/// A quantity that has to stay on one side of a value.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Limit {
    /// The quantity.
    pub quantity: Quantity,
    /// Whether the bound is an upper one; otherwise it is a lower one.
    pub at_most: bool,
    /// The bound.
    pub bound: f64,
    /// The unit of the bound; empty for that of the results.
    pub unit: String,
}

impl Quantity {
    /// Reads `METRIC` or `METRIC pN`, either with `@WORKLOAD` after it.
    pub(super) fn read(text: &str) -> Option<Self> {
        let (metric, workload) = text.split_once('@').unwrap_or((text, ""));
        let (metric, workload) = (metric.trim(), workload.trim());
        if metric.is_empty() || (workload.is_empty() && text.contains('@')) {
            return None;
        }
        let tail = metric.rsplit_once(char::is_whitespace).and_then(|(metric, last)| {
            let percentile = number(last.strip_prefix('p')?).filter(|number| *number <= 100.0)?;
            Some((metric.trim_end(), percentile))
        });
        let (metric, percentile) = tail.map_or((metric, None), |(metric, number)| (metric, Some(number)));
        Some(Self { metric: metric.into(), workload: workload.into(), percentile })
    }
}

impl Limit {
    /// Reads a quantity, `<=` or `>=`, a number, and optionally its unit.
    pub(super) fn read(text: &str) -> Option<Self> {
        let at_most = text.split_once("<=").map(|sides| (sides, true));
        let ((quantity, bound), at_most) =
            at_most.or_else(|| text.split_once(">=").map(|sides| (sides, false)))?;
        let bound = bound.trim();
        let (value, unit) = (1..=bound.len())
            .rev()
            .filter(|end| bound.is_char_boundary(*end))
            .find_map(|end| Some((number(&bound[..end])?, bound[end..].trim())))?;
        let unit = (!unit.contains(char::is_whitespace)).then(|| unit.to_owned())?;
        Some(Self { quantity: Quantity::read(quantity)?, at_most, bound: value, unit })
    }
}

/// A number that begins with a digit: neither a sign nor a word.
fn number(text: &str) -> Option<f64> {
    let ends = text.starts_with(|c: char| c.is_ascii_digit()) && text.ends_with(|c: char| c.is_ascii_digit());
    ends.then(|| text.parse().ok()).flatten().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::{Limit, Quantity};

    #[test]
    fn a_metric_has_a_percentile_and_a_workload_if_they_are_said() {
        let read =
            |text: &str| Quantity::read(text).map(|found| (found.metric, found.workload, found.percentile));
        let of = |metric: &str, workload: &str, percentile| {
            Some((metric.to_owned(), workload.to_owned(), percentile))
        };
        assert_eq!(read("throughput"), of("throughput", "", None));
        assert_eq!(read("latency p99.9 @ lookups"), of("latency", "lookups", Some(99.9)));
        assert_eq!(read("read throughput"), of("read throughput", "", None));
        assert_eq!(read("latency p99x"), of("latency p99x", "", None));
        for wrong in ["", " @lookups", "latency@"] {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn a_limit_is_a_metric_a_side_and_a_number_with_its_unit() {
        let read = |text: &str| Limit::read(text).map(|found| (found.at_most, found.bound, found.unit));
        assert_eq!(read("latency p99@a <= 200us"), Some((true, 200.0, "us".into())));
        assert_eq!(read("throughput>=6.5e3 MB/s"), Some((false, 6500.0, "MB/s".into())));
        assert_eq!(read("cost <= 900"), Some((true, 900.0, String::new())));
        for wrong in
            ["cheap", "cost < 9", "cost <= ", "<= 9", "cost <= -1", "cost <= nan", "cost <= 9 big EUR"]
        {
            assert_eq!(read(wrong), None, "{wrong:?}");
        }
    }
}
