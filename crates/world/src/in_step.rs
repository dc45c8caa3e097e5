//! Clones that read the same in step: a trial in which they begin apart.
//!
//! Clones of a job that read a file one block after another from the same place on ask the same dies at the same time.
//! In a machine of regular times they can stay so, or come apart, for longer than anything is measured (decision 14),
//! and nothing in what was measured tells. So a short trial lets them begin at places of their own. If that answers
//! more, the result rests on the clients' keeping step, which nobody has asked for. If it answers less, reading the
//! same is what makes them quick, and that is what was asked for.

use super::measure::Measured;
use super::repeats::{Repeats, Task};
use lanetwin_plan::{Case, Offered};
use lanetwin_ports::Operation;
use lanetwin_stats::Histogram;
use lanetwin_stats::results::Condition;

/// Operations of the trial, as of the first stretch of any case, …
const OPERATIONS: u64 = 10_000;
/// … but no more than such a part of all that it stands beside. It costs no more than that, either, …
const COST_PART: u64 = 8;
/// … and is not run where that would be less than so many times those in flight.
const ROUNDS: u64 = 4;
/// By more than so much more is answered apart where clones have kept each other waiting (assumed: half of what the
/// rate of a steady time may rise by).
const OFF: f64 = 0.05;

/// A trial beside a case.
pub(super) struct Trial {
    /// The place of the case among all.
    pub(super) place: usize,
    case: Case,
    events: u64,
}

/// The trials of all cases that need one: what was measured of them is steady as far as it tells.
pub(super) fn trials(cases: &[Repeats<'_>]) -> Vec<Trial> {
    let trial = |(place, ran): (usize, &Repeats<'_>)| {
        let is_steady = |one: &Measured| one.steadiness.condition == Condition::Steady;
        let load = &ran.task.case.load;
        let Offered::Outstanding(on_each) = load.offered() else { return None };
        let in_flight = u64::from(on_each) * ran.task.workload.pairs.len() as u64;
        let all: u64 = ran.done.iter().map(|one| one.load.tally().completed()).sum();
        let operations = OPERATIONS.min(all / COST_PART);
        let load = load.apart(operations).filter(|_| operations >= ROUNDS * in_flight)?;
        let tells = ran.is_whole() && !ran.done.is_empty() && ran.done.iter().all(is_steady);
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

/// Says of a case that it rests on clients in step, if a trial shows that: all of it if they are quicker apart, …
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

/// … or the tails of its latencies, if they are as quick and none of them waits as long. Who reads the same at the same
/// time is served in an order that it takes seconds to get out of, while the link is full all the time.
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

/// Reads that are answered in a second.
fn rate(measured: &Measured) -> f64 {
    measured.load.reads.operations_per_second(measured.load.time()).unwrap_or(0.0)
}
