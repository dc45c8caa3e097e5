//! Clones of a job that read the same blocks at the same time (in step): a trial in which they start at different
//! places.
//!
//! Clones of a job that read a file sequentially from the same place access the same dies at the same time. In a
//! machine with regular times they can stay in step, or drift apart, for longer than any measurement (decision 14),
//! and the measurement does not show it. So a short trial starts each clone at a place of its own. If the trial is
//! faster, the result depends on the clones staying in step, which nobody asked for. If it is slower, the clones are
//! fast because they read the same blocks, and that is what was asked for.

use super::measure::Measured;
use super::repeats::{Repeats, Task};
use lanetwin_plan::{Case, Offered};
use lanetwin_ports::Operation;
use lanetwin_stats::Histogram;
use lanetwin_stats::results::Condition;

/// Operations of the trial, as many as in the first stretch of any case, …
const OPERATIONS: u64 = 10_000;
/// … but no more than 1/8 of those of the case, as the trial may not have more than 1/8 of its events, …
const COST_PART: u64 = 8;
/// … and the trial is not run if that is less than this many times the operations in flight.
const ROUNDS: u64 = 4;
/// If the trial is faster by more than this share, clones in step have kept each other waiting (assumed: half of what
/// the rate may rise by in a steady measurement).
const OFF: f64 = 0.05;

/// What a case was not steady in if its rate changed.
const RATE: &str = "rate";

/// A trial run for a case.
pub(super) struct Trial {
    /// Index of the case.
    pub(super) place: usize,
    case: Case,
    events: u64,
}

/// Trials for all cases whose clones can start at different places, and that were judged steady, or not steady in their
/// rate: clones that drift in and out of step change that, too.
pub(super) fn trials(cases: &[Repeats<'_>]) -> Vec<Trial> {
    let trial = |(place, ran): (usize, &Repeats<'_>)| {
        let is_candidate = |one: &Measured| match one.steadiness.condition {
            Condition::Steady => true,
            Condition::NotSteady => one.steadiness.of == RATE,
            _ => false,
        };
        let load = &ran.task.case.load;
        let Offered::Outstanding(on_each) = load.offered() else { return None };
        let in_flight = u64::from(on_each) * ran.task.workload.pairs.len() as u64;
        let all: u64 = ran.done.iter().map(|one| one.load.tally().completed()).sum();
        let operations = OPERATIONS.min(all / COST_PART);
        let load = load.apart(operations).filter(|_| operations >= ROUNDS * in_flight)?;
        let tells = ran.is_whole() && !ran.done.is_empty() && ran.done.iter().all(is_candidate);
        let events = ran.done.iter().map(|one| one.events).sum::<u64>() / COST_PART;
        tells.then(|| Trial { place, case: Case { load, ..ran.task.case.clone() }, events })
    };
    cases.iter().enumerate().filter_map(trial).collect()
}

impl Trial {
    /// The world to run.
    pub(super) fn task<'a>(&'a self, cases: &[Repeats<'a>]) -> Task<'a> {
        Task {
            case: &self.case,
            repeat: 0,
            alone: false,
            events: Some(self.events),
            ..cases[self.place].task
        }
    }
}

/// Notes in a case that it depends on clones in step, if the trial shows that: in all of it if the trial was faster,
/// …
pub(super) fn tell(ran: &mut Repeats<'_>, apart: &Measured) {
    let together = ran.done.iter().map(rate).sum::<f64>() / ran.done.len() as f64;
    let more = rate(apart) / together - 1.0;
    if more > OFF {
        for one in &mut ran.done {
            one.steadiness = std::mem::take(&mut one.steadiness).in_step(more);
        }
    } else if more >= -OFF {
        tell_tails(ran, apart);
    }
}

/// … or only in the tails of its latencies, if the trial had the same rate and shorter tails. Clones that read the
/// same blocks at the same time are served in an order that takes seconds to change, while the link is full all the
/// time.
fn tell_tails(ran: &mut Repeats<'_>, apart: &Measured) {
    let mut together = Histogram::new();
    ran.done.iter().for_each(|one| together.merge(&one.load.reads.latency));
    let known = ran.done.iter_mut().flat_map(|one| &mut one.clumped[Operation::Read as usize]);
    for known in known {
        let of = |all: &Histogram| all.percentile(known.percent).map(|at| at.as_ps() as f64);
        if let Some((apart, together)) = of(&apart.load.reads.latency).zip(of(&together)) {
            known.beside_apart(apart, together);
        }
    }
}

/// Reads answered per second.
fn rate(measured: &Measured) -> f64 {
    measured.load.reads.operations_per_second(measured.load.time()).unwrap_or(0.0)
}
