//! Adds repeats until the 99th percentiles of a case are settled, if that costs little.
//!
//! A single repeat shows how its slowest operations cluster in time, and is made as long as that requires
//! (`window::stretches`). How much repeats differ from each other is known only after several of them.
//!
//! ```text
//!  repeats 1…5 of all variants ─► 99th percentiles settled? yes, or more would hardly help, or too dear: done
//!                                     ▲            no: as many repeats again, up to four times as many
//!                                     └────────────┘
//! ```

use super::measure::Measured;
use super::rows::rows;
use super::tails::{Known, TAIL, beside_normal};
use super::until::Repeated;
use lanetwin_plan::Plan;
use lanetwin_stats::results::Row;
use lanetwin_stats::tail::SETTLED;
use std::ops::Range;

/// With fewer repeats than this the author wants a quick answer: none are added.
const LEAST_REPEATS: u32 = 5;
/// At most this many times the repeats that the scenario states, …
const MOST_TIMES: u32 = 4;
/// … and all of them together cost no more than 1/3 of the budget.
const COST_PART: u64 = 3;
/// If a percentile would still be off by more than this many times its limit after the most repeats, it is reported
/// as not settled instead. The estimate from few repeats is itself uncertain by a half.
const HOPE: f64 = 2.0;

/// The repeats to add to the same case of all variants. Returns `None` if the percentiles are settled, or if more
/// repeats would cost too much or hardly help.
pub(super) fn more(plan: &Plan, variants: &[Repeated<'_>]) -> Option<Range<u32>> {
    let done = variants.iter().map(|one| one.done.len()).min()? as u32;
    let most = plan.run.repeats.saturating_mul(MOST_TIMES);
    let effort = |one: &Repeated<'_>| one.done.iter().map(|measured| measured.effort).sum::<u64>();
    let spent = variants.iter().map(effort).max()?;
    let next = done..done.saturating_mul(2).min(most);
    // the next repeats cost as much as those that are done
    let affordable = spent.saturating_mul(2) <= plan.run.budget.events() / COST_PART;
    if plan.run.repeats < LEAST_REPEATS || next.is_empty() || !affordable {
        return None;
    }
    let mut sides = variants.iter().flat_map(|one| unsettled(one)).peekable();
    sides.peek()?;
    let shrinks = narrower(done, most);
    sides.all(|side| side.is_none_or(|side| side * shrinks <= HOPE * SETTLED)).then_some(next)
}

/// Relative half-widths of the intervals of all unsettled percentiles; `None` for a percentile without an interval.
/// Empty for a case that was not steady, or whose length is stated.
fn unsettled(one: &Repeated<'_>) -> Vec<Option<f64>> {
    // repeats say nothing about effects that last longer than any of them
    let bunches = |one: &Measured| one.clumped.iter().flatten().any(Known::may_bunch);
    if !one.done.iter().all(Measured::is_any_time) || one.done.iter().any(bunches) {
        return Vec::new();
    }
    let told = rows(one.variant, one.workload, one.case, one.done);
    let is_open = |row: &&Row| {
        let is_steady = row.steady.as_ref().is_some_and(|steady| !steady.is_unsteady());
        row.device.is_none() && is_steady && row.unsettled.contains(&TAIL)
    };
    told.iter().filter(is_open).map(side).collect()
}

/// The larger half-width of the interval of a row's 99th percentile, relative to the percentile.
fn side(row: &Row) -> Option<f64> {
    let (_, at) = row.percentiles.iter().find(|(percent, _)| *percent == TAIL)?;
    let (_, low, high) = row.percentile_intervals.iter().find(|(percent, ..)| *percent == TAIL)?;
    (*at > 0.0).then(|| (at - low).max(high - at) / at)
}

/// How much narrower an interval becomes with `most` repeats instead of `done`, Student's t included.
fn narrower(done: u32, most: u32) -> f64 {
    (f64::from(done) / f64::from(most)).sqrt() * beside_normal(most) / beside_normal(done)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: a half, and 2.093 for 2.776 of Student's t.
    #[test]
    fn four_times_as_many_repeats_leave_less_than_half_of_an_interval() {
        assert!((narrower(5, 20) - 0.377).abs() < 0.001, "{}", narrower(5, 20));
    }

    #[test]
    fn a_percentile_is_off_by_its_wider_side() {
        let mut row = Row { percentiles: vec![(50.0, 1.0), (TAIL, 100.0)], ..Row::default() };
        assert_eq!(side(&row), None);
        row.percentile_intervals = vec![(TAIL, 95.0, 130.0)];
        assert_eq!(side(&row), Some(0.3));
    }
}
