//! Where the time of one I/O went, stage by stage, summing exactly.

use lanetwin_units::Span;
use serde::{Deserialize, Serialize};

/// Picoseconds in the document's unit of a waterfall, the nanosecond.
const PS_PER_NS: f64 = 1000.0;

/// The latency of an I/O by stage \[ns, three decimals\]; in picoseconds the stages sum exactly to the total.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Waterfall {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// Which node of memory served it; none of an I/O.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Always `ns`.
    pub unit: String,
    /// The whole latency \[ns\].
    pub total: f64,
    /// Its parts in the order in which they happened.
    pub stages: Vec<Stage>,
    /// How often the I/O waited for something to cross each link, one way: what an ns more of flight would add to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<Crossings>,
}

/// How often an I/O waited for something to cross a link.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Crossings {
    /// The link's name.
    pub link: String,
    /// How often, one way or the other.
    pub times: u32,
}

/// One stage of a waterfall.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Stage {
    /// Where, and what ("card: issue").
    pub name: String,
    /// How long \[ns\].
    pub value: f64,
}

impl Waterfall {
    /// A waterfall whose total is the sum of its stages.
    #[must_use]
    pub fn of<N: Into<String>>(
        variant: impl Into<String>,
        workload: impl Into<String>,
        case: impl Into<String>,
        stages: impl IntoIterator<Item = (N, Span)>,
    ) -> Self {
        let mut total = Span::ZERO;
        let stages = stages
            .into_iter()
            .map(|(name, length)| {
                total += length;
                Stage { name: name.into(), value: nanoseconds(length) }
            })
            .collect();
        let (variant, workload, case) = (variant.into(), workload.into(), case.into());
        let (total, crossings) = (nanoseconds(total), Vec::new());
        Self { variant, workload, case, device: None, unit: "ns".into(), total, stages, crossings }
    }

    /// The same of a load that this node of memory served.
    #[must_use]
    pub fn of_device(self, device: String) -> Self {
        Self { device: Some(device), ..self }
    }

    /// The same with so many crossings of each link.
    #[must_use]
    pub fn with_crossings(self, crossings: Vec<Crossings>) -> Self {
        Self { crossings, ..self }
    }

    /// Whether the stages sum exactly to the total, in picoseconds.
    ///
    /// ```
    /// use lanetwin_stats::results::Waterfall;
    /// use lanetwin_units::Span;
    /// let stages = [("issue", Span::from_ps(100)), ("wire", Span::from_ps(200))];
    /// let mut waterfall = Waterfall::of("as-is", "read", "64 B", stages);
    /// assert!(waterfall.is_exact()); // although 0.1 + 0.2 is not 0.3
    /// waterfall.total += 0.001;
    /// assert!(!waterfall.is_exact());
    /// ```
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let stages: Option<i128> = self.stages.iter().map(|stage| picoseconds(stage.value)).sum();
        stages.is_some() && stages == picoseconds(self.total)
    }
}

/// Exact to the picosecond up to 2⁵³ ps, two and a half hours.
pub(super) fn nanoseconds(length: Span) -> f64 {
    length.as_ps() as f64 / PS_PER_NS
}

fn picoseconds(nanoseconds: f64) -> Option<i128> {
    let ps = (nanoseconds * PS_PER_NS).round();
    // the conversion of a float saturates, so what is not finite has to be refused first
    ps.is_finite().then_some(ps as i128)
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn a_stage_that_is_no_number_is_not_exact() {
        let mut waterfall = Waterfall::of("", "", "", [("a", Span::from_ps(1))]);
        waterfall.stages[0].value = f64::NAN;
        assert!(!waterfall.is_exact());
    }

    #[test]
    fn long_and_short_stages_together_are_exact() {
        let stages = (0..1_000).map(|i| (format!("s{i}"), Span::from_ps(i * i * 7_777_777 + 1)));
        let waterfall = Waterfall::of("", "", "", stages);
        assert!(waterfall.is_exact());
        assert_eq!(waterfall.stages.len(), 1_000);
    }
}
