//! Steadiness: whether the metric of a row was steady during the measurement.

use core::fmt;

use serde::{Deserialize, Serialize};

/// The condition of a measurement.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Neither the rate nor what components report changed by more than the rule allows.
    Steady,
    /// Something did change by more: a longer run would have another result.
    NotSteady,
    /// The job has a beginning and an end and was measured as a whole, so that there is no longer run.
    #[default]
    Whole,
}

/// Whether a measurement was steady, by the rule of the SNIA PTS over five windows of it: the range is at most 20 % of
/// the mean, and the best line rises by at most 10 % of it. In addition, a level (a buffer's, for example) may change
/// by at most 2 % of what passes through it, and a reserve has to last ten times as long as the measurement.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Steadiness {
    /// The condition.
    pub condition: Condition,
    /// The quantity that changed most relative to its limit ("rate", "ssd: write buffer"), or the reserve that limits
    /// how long it stays steady ("ssd: free blocks"); empty if it was steady.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// Largest less least of five windows, as a share of their mean; `None` for levels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<f64>,
    /// Rise of the best line through the windows, as a share of their mean; for a level, its change as a share of what
    /// passed through it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<f64>,
    /// Share of the job's stated run time that was simulated, if it states one. The rest equals the measurement only if
    /// that was steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_run_time: Option<f64>,
    /// How long it stays steady \[s\]: the time for which a reserve lasts at this rate, at least ten times the length
    /// of the measurement. If the job goes on for longer, it is not steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_seconds: Option<f64>,
    /// The time until it becomes steady \[s\]. The measurement holds after that; a job that ends before, or not much
    /// later, has another result.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begins_seconds: Option<f64>,
    /// Relative gain in throughput if clients that read the same data in step began at different places.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<f64>,
}

impl Steadiness {
    /// Steady.
    #[must_use]
    pub fn steady() -> Self {
        Self { condition: Condition::Steady, ..Self::default() }
    }
    /// Steady for `seconds`, until the reserve `of` is used up.
    #[must_use]
    pub fn lasting(of: impl Into<String>, seconds: f64) -> Self {
        Self { condition: Condition::Steady, of: of.into(), lasts_seconds: Some(seconds), ..Self::default() }
    }
    /// The same for a job that goes on for `seconds` after the measurement: not steady if the reserve is used up before
    /// its end.
    #[must_use]
    pub fn of_job_that_goes_on(self, seconds: f64) -> Self {
        let ends_before = self.lasts_seconds.is_some_and(|lasts| lasts < seconds);
        if ends_before { Self { condition: Condition::NotSteady, ..self } } else { self }
    }
    /// Not steady before `of` is full, after `seconds`; the measurement shows the time after that.
    #[must_use]
    pub fn behind(of: impl Into<String>, seconds: f64) -> Self {
        let condition = Condition::NotSteady;
        Self { condition, of: of.into(), begins_seconds: Some(seconds), ..Self::default() }
    }
    /// Not steady because of `of`.
    #[must_use]
    pub fn unsteady(of: impl Into<String>, range: Option<f64>, slope: Option<f64>) -> Self {
        Self { condition: Condition::NotSteady, of: of.into(), range, slope, ..Self::default() }
    }
    /// The same where clients read the same data in step; `apart` is the relative gain if they began apart.
    #[must_use]
    pub fn in_step(self, apart: f64) -> Self {
        let condition = Condition::NotSteady;
        Self { condition, of: "clones in step".into(), apart: Some(apart), lasts_seconds: None, ..self }
    }
    /// Whether the measurement was not steady.
    #[must_use]
    pub fn is_unsteady(&self) -> bool {
        self.condition == Condition::NotSteady
    }
    /// What changed, and by how much; empty if nothing did.
    #[must_use]
    pub fn why(&self) -> String {
        let percent = |name: &str, value: Option<f64>| {
            value.map(|value| format!("{name} {:.0} %", 100.0 * value)).unwrap_or_default()
        };
        let gone = self.lasts_seconds.map(|seconds| format!("gone in {seconds:.3} s")).unwrap_or_default();
        let full =
            self.begins_seconds.map(|seconds| format!("full after {seconds:.3} s")).unwrap_or_default();
        let apart = self
            .apart
            .map(|share| format!("{:+.0} % if they begin apart", 100.0 * share))
            .unwrap_or_default();
        let parts = [percent("range", self.range), percent("slope", self.slope), gone, full, apart];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { self.of.clone() } else { format!("{}: {}", self.of, parts.join(", ")) }
    }
}

impl fmt::Display for Steadiness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.condition {
            Condition::Steady => match self.lasts_seconds {
                Some(seconds) => write!(f, "steady for {seconds:.3} s ({})", self.of),
                None => f.write_str("steady"),
            },
            Condition::Whole => f.write_str("whole"),
            Condition::NotSteady => write!(f, "NOT STEADY ({})", self.why()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_steady_says_why() {
        let rate = Steadiness::unsteady("rate", Some(0.314), Some(0.24));
        assert_eq!(rate.to_string(), "NOT STEADY (rate: range 31 %, slope 24 %)");
        let few = Steadiness::unsteady("too few to tell", None, None);
        assert_eq!(few.to_string(), "NOT STEADY (too few to tell)");
        let fills = Steadiness::behind("ssd: write buffer", 4.7);
        assert_eq!(fills.to_string(), "NOT STEADY (ssd: write buffer: full after 4.700 s)");
        let in_step = Steadiness::steady().in_step(1.387);
        assert_eq!(in_step.to_string(), "NOT STEADY (clones in step: +139 % if they begin apart)");
        assert!(in_step.is_unsteady());
        assert_eq!(Steadiness::steady().to_string(), "steady");
        let for_a_time = Steadiness::lasting("ssd: free blocks", 41.25);
        assert_eq!(for_a_time.to_string(), "steady for 41.250 s (ssd: free blocks)");
        assert!(!for_a_time.is_unsteady());
        assert_eq!(for_a_time.clone().of_job_that_goes_on(40.0), for_a_time);
        let gone = for_a_time.of_job_that_goes_on(42.0);
        assert_eq!(gone.to_string(), "NOT STEADY (ssd: free blocks: gone in 41.250 s)");
    }
}
