//! `run.until`: adds repeats until the compared metrics are known precisely enough.
//!
//! ```text
//!  repeats 1…5 of all variants ─► intervals ─► narrow enough, or the verdict is decided? yes: done
//!                                     ▲            no: as many repeats again, unless the budget is spent
//!                                     └────────────┘
//! ```
//!
//! All variants of a case have the same repeats, so that each is paired with that of the baseline. Whether repeats
//! are added depends on results and numbers of events alone, and so not on the machine that runs the simulation.

use super::compare::verdicts;
use super::measure::Measured;
use super::rows::rows;
use lanetwin_plan::{Case, Plan, Until};
use lanetwin_stats::results::{Row, VerdictRow};
use lanetwin_stats::{Margin, Verdict};
use lanetwin_units::Better;
use std::ops::Range;

/// Largest number of repeats of a case.
const MOST_REPEATS: u32 = 10_000;

/// A case of a variant, with its completed repeats.
pub(super) struct Repeated<'a> {
    pub(super) variant: &'a str,
    pub(super) workload: &'a str,
    pub(super) case: &'a Case,
    pub(super) done: &'a [Measured],
}

/// The repeats to add to the same case of all variants. Returns `None` if the metrics are known precisely enough, or
/// if the budget is spent.
pub(super) fn more(plan: &Plan, until: Until, variants: &[Repeated<'_>], seed: u64) -> Option<Range<u32>> {
    let done = variants.iter().map(|one| one.done.len()).min()? as u32;
    let effort = |one: &Repeated<'_>| one.done.iter().map(|measured| measured.effort).sum::<u64>();
    let spent = variants.iter().map(effort).max()?;
    // the next repeats cost as much as those that are done
    let affordable = spent.saturating_mul(2) <= plan.run.budget.events();
    let next = done..done.saturating_mul(2).min(MOST_REPEATS);
    (affordable && !next.is_empty() && !is_known(plan, until, variants, seed)).then_some(next)
}

fn is_known(plan: &Plan, until: Until, variants: &[Repeated<'_>], seed: u64) -> bool {
    let of = |one: &Repeated<'_>| rows(one.variant, one.workload, one.case, one.done);
    let rows: Vec<Row> = variants.iter().flat_map(of).collect();
    let baseline = &plan.variants[plan.compare.baseline].name;
    let margin = Margin::new(plan.compare.equivalent_within);
    let verdicts = margin.map_or_else(Vec::new, |margin| verdicts(&rows, baseline, margin, seed));
    rows.iter().filter(|row| is_compared(row)).all(|row| is_narrow(row, until) || is_decided(row, &verdicts))
}

/// Whether a row is compared: the load as a whole, and no restated metric.
fn is_compared(row: &Row) -> bool {
    row.device.is_none() && !row.restates && row.better != Better::Neither
}

/// Whether its interval is narrow enough; a single value without an interval is not.
fn is_narrow(row: &Row, until: Until) -> bool {
    match (row.low, row.high) {
        (Some(low), Some(high)) => (row.value - low).max(high - row.value) <= until.within * row.value.abs(),
        _ => row.n > 1,
    }
}

/// Whether every verdict on the row is decided; false if there is no verdict on it.
fn is_decided(row: &Row, verdicts: &[VerdictRow]) -> bool {
    let its = |verdict: &&VerdictRow| {
        let is_either = verdict.variant == row.variant || verdict.baseline == row.variant;
        is_either && verdict.metric == row.metric
    };
    let mut its = verdicts.iter().filter(its).peekable();
    its.peek().is_some() && its.all(|verdict| verdict.verdict != Verdict::Inconclusive)
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_stats::results::Spread;

    fn row(low: f64, high: f64) -> Row {
        let (low, high) = (Some(low), Some(high));
        Row { variant: "a".into(), metric: "latency".into(), value: 100.0, low, high, n: 5, ..Row::default() }
    }

    #[test]
    fn an_interval_is_narrow_enough_at_the_limit_and_not_beyond() {
        let until = Until { within: 0.02 };
        assert!(is_narrow(&row(98.0, 102.0), until));
        assert!(!is_narrow(&row(97.9, 102.0), until));
        let alone = Row { n: 1, low: None, high: None, ..row(0.0, 0.0) };
        assert!(!is_narrow(&alone, until));
    }

    #[test]
    fn a_wide_interval_is_enough_once_every_verdict_on_it_is_decided() {
        let verdict = |variant: &str, verdict| VerdictRow {
            metric: "latency".into(),
            baseline: "a".into(),
            variant: variant.into(),
            verdict,
            workload: String::new(),
            case: String::new(),
            change: 0.0,
            low: None,
            high: None,
            margin: 0.02,
            not_steady: String::new(),
            spread: Spread::Repeats,
            judged_together: 0,
        };
        let worse = verdict("b", Verdict::Worse);
        assert!(is_decided(&row(0.0, 200.0), std::slice::from_ref(&worse)));
        assert!(!is_decided(&row(0.0, 200.0), &[worse, verdict("c", Verdict::Inconclusive)]));
        assert!(!is_decided(&row(0.0, 200.0), &[]));
    }
}
