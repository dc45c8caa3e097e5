//! How much of the modelled world a row stands for: whether what it tells was steady while it was measured.

use core::fmt;

use serde::{Deserialize, Serialize};

/// What can be said of the time that was measured.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Condition {
    /// Neither the rate nor what components report changed by more than the rule allows.
    Steady,
    /// Something did: a longer run would say something else.
    NotSteady,
    /// It has a beginning and an end, and all of it was measured: there is no longer run.
    #[default]
    Whole,
}

/// Whether what was measured was steady, by the rule of the SNIA PTS over five windows of it: the largest less the
/// least is at most 20 % of the mean, and the best line rises by at most 10 % of it. What fills up or runs empty
/// changes by at most 2 % of what passes through it; what is used up lasts ten times as long as was measured.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Steadiness {
    /// What can be said.
    pub condition: Condition,
    /// What changed most beside what is allowed ("rate", "ssd: write buffer"), or what it was steady only as long as
    /// there is any ("ssd: free blocks"); empty if it was steady.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub of: String,
    /// The largest less the least of five windows, as a share of their mean; none of what is in balance or not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub range: Option<f64>,
    /// What the best line through the windows rises by, as a share of their mean; of what fills up or runs empty, by
    /// which share of what passed through it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slope: Option<f64>,
    /// Which share of the run time that the job states was simulated, if it states one: the rest is like what was
    /// measured only where that is steady.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of_run_time: Option<f64>,
    /// How long it stays so \[s\]: what was measured uses something up that lasts so long at this rate, at least ten
    /// times as long as was measured. It is not steady if the job says that it goes on for longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_seconds: Option<f64>,
    /// How long it takes until it is so \[s\]: what was measured holds behind that, and a job that ends before, or not
    /// much later, comes to something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begins_seconds: Option<f64>,
    /// How much more is answered, as a share, if those that read the same in step begin at places of their own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub apart: Option<f64>,
}

impl Steadiness {
    /// Steady.
    #[must_use]
    pub fn steady() -> Self {
        Self { condition: Condition::Steady, ..Self::default() }
    }
    /// Steady for so long, until there is no more of this.
    #[must_use]
    pub fn lasting(of: impl Into<String>, seconds: f64) -> Self {
        Self { condition: Condition::Steady, of: of.into(), lasts_seconds: Some(seconds), ..Self::default() }
    }
    /// The same of a job that goes on for so long behind what was measured \[s\]: not steady if what it uses up is gone
    /// before.
    #[must_use]
    pub fn of_job_that_goes_on(self, seconds: f64) -> Self {
        let ends_before = self.lasts_seconds.is_some_and(|lasts| lasts < seconds);
        if ends_before { Self { condition: Condition::NotSteady, ..self } } else { self }
    }
    /// What was measured is so only when this has become full, after so many seconds.
    #[must_use]
    pub fn behind(of: impl Into<String>, seconds: f64) -> Self {
        let condition = Condition::NotSteady;
        Self { condition, of: of.into(), begins_seconds: Some(seconds), ..Self::default() }
    }
    /// Not steady, because of this.
    #[must_use]
    pub fn unsteady(of: impl Into<String>, range: Option<f64>, slope: Option<f64>) -> Self {
        Self { condition: Condition::NotSteady, of: of.into(), range, slope, ..Self::default() }
    }
    /// The same where clients read the same in step: if they begin apart, so much more is answered, as a share.
    #[must_use]
    pub fn in_step(self, apart: f64) -> Self {
        let condition = Condition::NotSteady;
        Self { condition, of: "clones in step".into(), apart: Some(apart), lasts_seconds: None, ..self }
    }
    /// Whether something changed.
    #[must_use]
    pub fn is_unsteady(&self) -> bool {
        self.condition == Condition::NotSteady
    }
    /// What changed by how much; empty if nothing did.
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
