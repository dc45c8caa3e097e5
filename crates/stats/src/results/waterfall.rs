//! Waterfalls: the time of operations by stage, summing exactly.

use lanetwin_units::Span;
use serde::{Deserialize, Serialize};

/// Picoseconds in a nanosecond, the document's unit for a waterfall.
const PS_PER_NS: f64 = 1000.0;

/// The mean latency of operations by stage \[ns\], along the critical path. The means come from integer sums over every
/// operation measured, unless there were very many ([`Waterfall::followed`]). In each repeat the sums of the stages
/// equal the total exactly.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Waterfall {
    /// The variant's name.
    pub variant: String,
    /// The workload's name.
    pub workload: String,
    /// The case's name.
    pub case: String,
    /// The one of several devices, or the memory node, that served the operations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// `read` or `write`, where a case has both.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Always `ns`.
    pub unit: String,
    /// The mean latency \[ns\]: the mean over the repeats of each repeat's mean.
    pub total: f64,
    /// Its parts in the order in which they happened.
    pub stages: Vec<Stage>,
    /// Number of operations in the sums of each repeat.
    #[serde(default)]
    pub operations: Vec<u64>,
    /// Number of operations that were followed. In a long run each stands for several, and the shares of stages are an
    /// estimate.
    #[serde(default)]
    pub followed: Vec<u64>,
    /// Total latency of the operations of each repeat \[ps\].
    #[serde(default)]
    pub totals_ps: Vec<u64>,
    /// Mean number of times that an operation waited for a crossing of each link, one way: a nanosecond more of flight
    /// time adds that many nanoseconds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub crossings: Vec<Crossings>,
}

/// How often an operation waited for a crossing of a link.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Crossings {
    /// The link's name.
    pub link: String,
    /// Mean number of crossings, in both directions together.
    pub times: f64,
}

/// One stage of a waterfall.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize)]
pub struct Stage {
    /// Component and stage ("card: issue").
    pub name: String,
    /// Mean time in the stage, counting operations that skipped it as 0 \[ns\].
    pub value: f64,
    /// The median of a sample of the operations \[ns\]; medians of stages do not sum to anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p50: Option<f64>,
    /// The 99th percentile of the sample \[ns\].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p99: Option<f64>,
    /// Total time of the operations of each repeat in this stage \[ps\].
    #[serde(default)]
    pub sums_ps: Vec<u64>,
}

/// The time that the operations of one repeat spent in one stage.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StageOfRepeat {
    /// Component and stage.
    pub name: String,
    /// Total time \[ps\].
    pub ps: u64,
    /// Median and 99th percentile over a sample of the operations.
    pub percentiles: Option<(Span, Span)>,
}

/// The time that the operations of one repeat spent, stage by stage.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Repeat {
    /// Number of operations.
    pub operations: u64,
    /// Number of operations that were followed.
    pub followed: u64,
    /// In the order in which they happened.
    pub stages: Vec<StageOfRepeat>,
    /// Total number of crossings of each link that they waited for.
    pub crossings: Vec<(String, u64)>,
}

impl Repeat {
    /// A repeat with one operation, which may stand for several.
    #[must_use]
    pub fn of_one(stages: Vec<(String, Span)>, crossings: Vec<(String, u64)>) -> Self {
        let stage =
            |(name, length): (String, Span)| StageOfRepeat { name, ps: length.as_ps(), percentiles: None };
        Self { operations: 1, followed: 1, stages: stages.into_iter().map(stage).collect(), crossings }
    }
}

impl Waterfall {
    /// The waterfall of all repeats that have operations.
    #[must_use]
    pub fn of(variant: &str, workload: &str, case: &str, repeats: &[&Repeat]) -> Self {
        let repeats: Vec<&Repeat> = repeats.iter().copied().filter(|repeat| repeat.operations > 0).collect();
        let mut stages: Vec<Stage> = Vec::new();
        for (i, repeat) in repeats.iter().enumerate() {
            let mut place = 0;
            for stage in &repeat.stages {
                let known = stages.iter().position(|known| known.name == stage.name);
                if known.is_none() {
                    let sums_ps = vec![0; repeats.len()];
                    stages.insert(place, Stage { name: stage.name.clone(), sums_ps, ..Stage::default() });
                }
                let own = known.unwrap_or(place);
                stages[own].sums_ps[i] += stage.ps;
                if let Some((median, tail)) = stage.percentiles {
                    let share = |span: Span| nanoseconds(span) / repeats.len() as f64;
                    stages[own].p50 = Some(stages[own].p50.unwrap_or(0.0) + share(median));
                    stages[own].p99 = Some(stages[own].p99.unwrap_or(0.0) + share(tail));
                }
                place = own + 1;
            }
        }
        let operations: Vec<u64> = repeats.iter().map(|repeat| repeat.operations).collect();
        stages.iter_mut().for_each(|stage| stage.value = mean_ns(&stage.sums_ps, &operations));
        let sum = |repeat: &&Repeat| repeat.stages.iter().map(|stage| stage.ps).sum();
        let totals_ps: Vec<u64> = repeats.iter().map(sum).collect();
        let mut crossed: Vec<(&String, f64)> = Vec::new();
        for (link, times) in repeats.iter().flat_map(|repeat| &repeat.crossings) {
            match crossed.iter_mut().find(|(known, _)| *known == link) {
                Some((_, sum)) => *sum += *times as f64,
                None => crossed.push((link, *times as f64)),
            }
        }
        let all = operations.iter().sum::<u64>().max(1) as f64;
        let crossing = |(link, times): (&String, f64)| Crossings { link: link.clone(), times: times / all };
        Self {
            variant: variant.into(),
            workload: workload.into(),
            case: case.into(),
            device: None,
            operation: None,
            unit: "ns".into(),
            total: mean_ns(&totals_ps, &operations),
            stages,
            followed: repeats.iter().map(|repeat| repeat.followed).collect(),
            operations,
            totals_ps,
            crossings: crossed.into_iter().map(crossing).collect(),
        }
    }

    /// The same for the operations that this device, or memory node, has served.
    #[must_use]
    pub fn of_device(self, device: Option<String>) -> Self {
        Self { device, ..self }
    }

    /// The same for operations of this kind.
    #[must_use]
    pub fn of_operation(self, operation: Option<&str>) -> Self {
        Self { operation: operation.map(Into::into), ..self }
    }

    /// Whether the stages sum exactly to the total in every repeat.
    ///
    /// ```
    /// use lanetwin_stats::results::{Repeat, Waterfall};
    /// use lanetwin_units::Span;
    /// let stages = vec![("issue".into(), Span::from_ps(100)), ("wire".into(), Span::from_ps(200))];
    /// let mut waterfall = Waterfall::of("as-is", "read", "64 B", &[&Repeat::of_one(stages, Vec::new())]);
    /// assert!(waterfall.is_exact() && waterfall.total == 0.3);
    /// waterfall.totals_ps[0] += 1;
    /// assert!(!waterfall.is_exact());
    /// ```
    #[must_use]
    pub fn is_exact(&self) -> bool {
        let of = |repeat: usize| self.stages.iter().map(move |stage| stage.sums_ps.get(repeat).copied());
        (0..self.totals_ps.len())
            .all(|repeat| of(repeat).sum::<Option<u64>>() == Some(self.totals_ps[repeat]))
    }
}

/// The mean over the repeats of the mean time per operation \[ns\].
fn mean_ns(sums_ps: &[u64], operations: &[u64]) -> f64 {
    let means = sums_ps.iter().zip(operations).map(|(ps, n)| *ps as f64 / *n as f64 / PS_PER_NS);
    means.sum::<f64>() / operations.len().max(1) as f64
}

/// Exact to the picosecond up to 2⁵³ ps, two and a half hours.
pub(super) fn nanoseconds(length: Span) -> f64 {
    length.as_ps() as f64 / PS_PER_NS
}

#[cfg(test)]
mod test {
    use super::*;

    fn repeat(operations: u64, stages: &[(&str, u64)]) -> Repeat {
        let stage =
            |(name, ps): &(&str, u64)| StageOfRepeat { name: (*name).into(), ps: *ps, percentiles: None };
        Repeat {
            operations,
            followed: operations,
            stages: stages.iter().map(stage).collect(),
            crossings: vec![("slot".into(), 3)],
        }
    }

    /// By hand: (100 + 300) / 2 + 3000 / 1 over two repeats; a stage that only the second has stands behind the one
    /// before it.
    #[test]
    fn the_mean_of_repeats_has_the_stages_of_all_in_order() {
        let (a, b) =
            (repeat(2, &[("a", 100_000), ("c", 300_000)]), repeat(1, &[("a", 1_000), ("b", 2_999_000)]));
        let waterfall = Waterfall::of("", "", "", &[&a, &b, &Repeat::default()]);
        let names: Vec<&str> = waterfall.stages.iter().map(|stage| &*stage.name).collect();
        assert_eq!(names, ["a", "b", "c"]);
        assert_eq!((waterfall.total, &*waterfall.operations), (1600.0, &[2, 1][..]));
        assert_eq!(waterfall.crossings, [Crossings { link: "slot".into(), times: 2.0 }]);
        assert!(waterfall.is_exact());
    }

    #[test]
    fn long_and_short_stages_together_are_exact() {
        let stages = (0..1_000).map(|i| (format!("s{i}"), Span::from_ps(i * i * 7_777_777 + 1)));
        let mut waterfall = Waterfall::of("", "", "", &[&Repeat::of_one(stages.collect(), Vec::new())]);
        assert!(waterfall.is_exact());
        waterfall.stages[17].sums_ps[0] -= 1;
        assert!(!waterfall.is_exact());
        assert_eq!(waterfall.stages.len(), 1_000);
    }
}
