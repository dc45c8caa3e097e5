//! Better, worse, equivalent or inconclusive: the verdict that follows from an interval of a relative change.
//!
//! ```text
//!             −X %      0     +X %            (higher is better)
//!   worse  ├──┤ ┆       ┆       ┆
//!   worse     ├─┆───┤   ┆       ┆             zero is out, and it does not all lie inside the margin
//!   equivalent  ┆  ├────┆──┤    ┆             all inside: also when zero is out, a real but negligible change
//!   inconclusive┆     ├─┆───────┆──┤          neither
//!   better      ┆       ┆  ├────┆──┤
//! ```
//!
//! Equivalence is a claim that needs evidence: the *absence* of a significant difference is inconclusive, never
//! equivalent. With a 95 % interval the rule is two one-sided tests at 2.5 % (Schuirmann, J. Pharmacokinet. Biopharm.
//! 15, 1987).
//!
//! **The margin is one of ratios**: ±X stands for 1/(1+X) … 1+X, as 80 % … 125 % in bioequivalence. Equivalence then
//! does not depend on which of two variants is the baseline; at 2 % the lower end is −1.96 %.
//!
//! **Several metrics.** [`judge_family`] applies Holm's correction to better and worse, but not to equivalence: "all of
//! these are equivalent" is false as soon as one is not, so that it needs no correction (Berger, Technometrics 24,
//! 1982).
//!
//! ```
//! use lanetwin_stats::{Direction, Interval, Margin, Verdict, verdict::judge};
//! let margin = Margin::new(0.02).unwrap();
//! let slower = Interval::new(0.031, 0.038);
//! assert_eq!(judge(slower, margin, Direction::LowerIsBetter), Verdict::Worse);
//! assert_eq!(judge(slower, margin, Direction::HigherIsBetter), Verdict::Better);
//! assert_eq!(judge(Interval::new(-0.03, 0.03), margin, Direction::HigherIsBetter), Verdict::Inconclusive);
//! ```

use core::fmt;

use lanetwin_units::Better;
use serde::{Deserialize, Serialize};

use crate::bootstrap::Change;
use crate::confidence::{Confidence, Interval};

/// The verdict on a variant.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// The variant is better than the baseline.
    Better,
    /// The variant is worse than the baseline.
    Worse,
    /// The variant differs from the baseline by no more than the margin.
    Equivalent,
    /// The repeats do not decide.
    Inconclusive,
}

impl Verdict {
    /// The verdict if baseline and variant are exchanged.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Better => Self::Worse,
            Self::Worse => Self::Better,
            same => same,
        }
    }
    /// The word in results and reports.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Better => "better",
            Self::Worse => "worse",
            Self::Equivalent => "equivalent",
            Self::Inconclusive => "inconclusive",
        }
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

/// Which direction of a metric is better.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Throughput, I/Os per second.
    HigherIsBetter,
    /// Latency, energy, errors.
    LowerIsBetter,
}

impl Direction {
    /// The direction of a metric; `None` if neither is better.
    #[must_use]
    pub const fn of(better: Better) -> Option<Self> {
        match better {
            Better::Higher => Some(Self::HigherIsBetter),
            Better::Lower => Some(Self::LowerIsBetter),
            Better::Neither => None,
        }
    }
}

/// The relative change that is negligible: 0.02 is "within ±2 %".
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Margin(f64);

impl Margin {
    /// A margin as a fraction, finite and not negative; `None` otherwise. Zero accepts only what is identical.
    #[must_use]
    pub fn new(fraction: f64) -> Option<Self> {
        (fraction >= 0.0 && fraction.is_finite()).then_some(Self(fraction))
    }
    /// The margin as a fraction.
    #[must_use]
    pub const fn fraction(self) -> f64 {
        self.0
    }
    /// The relative changes inside the margin: 1/(1+X) − 1 to X.
    #[must_use]
    pub fn range(self) -> Interval {
        Interval::new(-self.0 / (1.0 + self.0), self.0).expect("a margin is not negative")
    }
}

/// The verdict on one metric, from the interval of its relative change; inconclusive if there is none.
#[must_use]
pub fn judge(change: Option<Interval>, margin: Margin, direction: Direction) -> Verdict {
    let Some(change) = change else {
        return Verdict::Inconclusive;
    };
    let negligible = margin.range();
    if negligible.contains(change.low()) && negligible.contains(change.high()) {
        return Verdict::Equivalent;
    }
    if change.contains(0.0) {
        return Verdict::Inconclusive;
    }
    let risen = change.low() > 0.0;
    if risen == (direction == Direction::HigherIsBetter) { Verdict::Better } else { Verdict::Worse }
}

/// The verdicts on several metrics of one comparison, with Holm's correction of better and worse.
///
/// `confidence` is that of the intervals; `1 − confidence` is the probability of *any* false better or worse.
#[must_use]
pub fn judge_family(metrics: &[(Change, Margin, Direction)], confidence: Confidence) -> Vec<Verdict> {
    let single: Vec<Verdict> = metrics.iter().map(|&(c, m, d)| judge(c.interval(), m, d)).collect();
    if metrics.len() < 2 {
        return single;
    }
    // a single repeat proves nothing, so it counts as a probability of one
    let p_values: Vec<f64> = metrics.iter().map(|(change, ..)| change.p_value().unwrap_or(1.0)).collect();
    let corrected = |(verdict, p): (Verdict, f64)| match verdict {
        Verdict::Better | Verdict::Worse if p > confidence.outside() => Verdict::Inconclusive,
        kept => kept,
    };
    single.into_iter().zip(holm(&p_values)).map(corrected).collect()
}

/// Probabilities adjusted by Holm's step-down method (Scand. J. Stat. 6, 1979), in the order given.
///
/// Rejecting where the adjusted value is at most α keeps the probability of any false rejection at α, whatever the
/// dependence between the metrics. NaN counts as 1.
///
/// ```
/// use lanetwin_stats::verdict::holm;
/// assert_eq!(holm(&[0.01, 0.04, 0.03]), [0.03, 0.06, 0.06]);
/// ```
#[must_use]
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let p = |index: usize| if p_values[index].is_nan() { 1.0 } else { p_values[index].clamp(0.0, 1.0) };
    let mut ascending: Vec<usize> = (0..p_values.len()).collect();
    ascending.sort_by(|&a, &b| p(a).total_cmp(&p(b)));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut so_far: f64 = 0.0;
    for (rejected_before, index) in ascending.into_iter().enumerate() {
        let hypotheses_left = (p_values.len() - rejected_before) as f64;
        so_far = so_far.max(1.0f64.min(hypotheses_left * p(index)));
        adjusted[index] = so_far;
    }
    adjusted
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::bootstrap::paired_ratio;
    use Direction::{HigherIsBetter, LowerIsBetter};

    fn verdict(low: f64, high: f64, margin: f64) -> Verdict {
        judge(Interval::new(low, high), Margin::new(margin).unwrap(), HigherIsBetter)
    }

    #[test]
    fn each_picture_of_the_module_page() {
        assert_eq!(verdict(-0.05, -0.03, 0.02), Verdict::Worse);
        assert_eq!(verdict(-0.03, -0.01, 0.02), Verdict::Worse);
        assert_eq!(verdict(-0.01, 0.01, 0.02), Verdict::Equivalent);
        assert_eq!(verdict(-0.01, 0.03, 0.02), Verdict::Inconclusive);
        assert_eq!(verdict(0.01, 0.03, 0.02), Verdict::Better);
        assert_eq!(verdict(0.005, 0.01, 0.02), Verdict::Equivalent); // significant and negligible
    }

    /// Positive controls: none of these may come out equivalent.
    #[test]
    fn what_must_not_be_equivalent_is_not() {
        assert_eq!(verdict(0.0201, 0.0202, 0.02), Verdict::Better); // just outside the margin
        assert_eq!(verdict(-0.0201, -0.0199, 0.02), Verdict::Worse);
        assert_eq!(verdict(-0.5, 0.5, 0.02), Verdict::Inconclusive); // no evidence either way
        assert_eq!(verdict(0.0, 0.0201, 0.02), Verdict::Inconclusive);
        assert_eq!(verdict(0.0, 1e-12, 0.0), Verdict::Inconclusive); // nothing but identity is within ±0 %
        assert_eq!(judge(None, Margin::new(9.9).unwrap(), HigherIsBetter), Verdict::Inconclusive);
        assert_eq!(verdict(f64::NEG_INFINITY, f64::INFINITY, 0.02), Verdict::Inconclusive);
    }

    /// The same from repeats: a real change of 3 %, too few repeats, and noise as large as the margin.
    #[test]
    fn repeats_that_must_not_be_equivalent_are_not() {
        let within_2 = Margin::new(0.02).unwrap();
        let of = |baseline: &[f64], variant: &[f64]| {
            let change = paired_ratio(baseline, variant, Confidence::P95, 7).unwrap();
            judge(change.interval(), within_2, LowerIsBetter)
        };
        let quiet = [546.0, 547.0, 545.0, 546.5, 545.5];
        assert_eq!(of(&quiet, &quiet.map(|ns| ns * 1.03)), Verdict::Worse);
        assert_eq!(of(&quiet, &quiet.map(|ns| ns / 1.03)), Verdict::Better);
        assert_eq!(of(&quiet[..1], &quiet[..1]), Verdict::Inconclusive);
        assert_eq!(
            of(&[500.0, 600.0, 550.0, 520.0, 580.0], &[590.0, 510.0, 560.0, 585.0, 505.0]),
            Verdict::Inconclusive
        );
        assert_eq!(of(&quiet, &quiet.map(|ns| ns + 1.0)), Verdict::Equivalent); // and the negative control
    }

    #[test]
    fn identical_is_equivalent_at_any_margin() {
        assert_eq!(verdict(0.0, 0.0, 0.0), Verdict::Equivalent);
    }

    #[test]
    fn impossible_margins_are_refused() {
        assert_eq!([-0.1, f64::NAN, f64::INFINITY].map(Margin::new), [None; 3]);
    }

    #[test]
    fn holm_is_monotone_and_capped() {
        assert_eq!(holm(&[]), [] as [f64; 0]);
        assert_eq!(holm(&[0.5, 0.9]), [1.0, 1.0]);
        assert_eq!(holm(&[f64::NAN, 0.01]), [1.0, 0.02]);
        assert_eq!(holm(&[0.25, 0.25, 0.0]), [0.5, 0.5, 0.0]);
    }

    #[test]
    fn a_weak_change_among_many_metrics_is_not_proven() {
        let baseline = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0];
        let weak = [101.5, 101.0, 101.0, 101.0, 101.5, 100.5]; // one percent, significant alone
        let strong = baseline.map(|value| value * 1.5);
        let entry = |variant: &[f64]| {
            let change = paired_ratio(&baseline, variant, Confidence::P95, 3).unwrap();
            (change, Margin::new(0.001).unwrap(), HigherIsBetter)
        };
        let alone = judge_family(&[entry(&weak)], Confidence::P95);
        let many = judge_family(&[entry(&weak), entry(&strong), entry(&weak), entry(&weak)], Confidence::P95);
        assert_eq!(alone, [Verdict::Better]);
        assert_eq!(many[..2], [Verdict::Inconclusive, Verdict::Better]);
    }
}
