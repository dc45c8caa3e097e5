//! Rounds: a case that goes on until the last five are steady by the rule of the SNIA Performance Test Specification.
//!
//! ```text
//!  start ─ round 1 ─┬─ 2 ─┬─ 3 ─┬─ 4 ─┬─ 5 ─┬─ 6 ─┬─ …
//!                   │     └─────── measurement window: steady? ─ no: one more round ─ yes: these are the results
//! ```
//!
//! There is no warm-up: the rule is what ends it. What is measured is the last five rounds, steady or not (SSS PTS
//! 2.0.1, "Measurement Window").

use super::components::{Reports, added_to_ratio};
use super::snapshot::Snapshot;
use super::world::World;
use lanetwin_load::Results;
use lanetwin_plan::{SteadyRule, Tracked};
use lanetwin_stats::results::{Round, Steadiness};
use lanetwin_stats::steady::{SNIA_ROUNDS, SniaFound, SniaRule, snia_rule};
use lanetwin_units::Instant;
use std::collections::VecDeque;

/// The metric that rounds tell of all drives together, of whichever component reports it.
const WRITE_AMPLIFICATION: &str = "write amplification";

/// What the rounds of a run have shown.
#[derive(Clone, PartialEq, Debug)]
pub struct Rounds {
    /// Each of them.
    pub all: Vec<Round>,
    /// What the rule says of the last five; none if nothing was done in them.
    pub found: Option<SniaFound>,
}

impl Rounds {
    /// Whether the last five are steady.
    #[must_use]
    pub fn attained(&self) -> bool {
        self.found.is_some_and(|found| found.attained)
    }
    /// The same as other measurements say it.
    pub(super) fn steadiness(&self, of: Tracked) -> Steadiness {
        let found = self.found;
        match self.attained() {
            true => Steadiness::steady(),
            false => Steadiness::unsteady(of.name(), found.map(|f| f.range), found.map(|f| f.slope)),
        }
    }
}

/// What was counted in the rounds of the measurement window.
pub(super) struct InRounds {
    /// Everything as it was at the beginning of the first.
    pub(super) before: Snapshot,
    pub(super) end: Instant,
    /// Of each load.
    pub(super) results: Vec<Results>,
    /// All rounds.
    pub(super) rounds: Rounds,
}

/// Runs rounds until the last five are steady and there have been as many as there shall be, or as many as there may
/// be.
pub(super) fn run(world: &mut World, rule: &SteadyRule) -> InRounds {
    let mut window: VecDeque<(Snapshot, Vec<Results>)> = VecDeque::new();
    let mut rounds = Rounds { all: Vec::new(), found: None };
    while rounds.all.len() < rule.rounds as usize
        && !(rounds.attained() && rounds.all.len() >= rule.least as usize)
    {
        if window.len() == SNIA_ROUNDS {
            window.pop_front();
        }
        let before = Snapshot::take(world);
        world.kernel.run_until(before.at + rule.round);
        let results = world.results(world.kernel.now());
        rounds.all.push(round(&together(&results), &before.reports, &world.reports()));
        window.push_back((before, results));
        rounds.found = judged(&rounds.all, rule.of);
    }
    let end = world.kernel.now();
    let mut window = window.into_iter();
    let (before, mut results) = window.next().expect("there are five rounds at least");
    for (_, next) in window {
        results.iter_mut().zip(&next).for_each(|(sum, next)| sum.append(next));
    }
    InRounds { before, end, results, rounds }
}

/// The sum of what the loads have counted in the same window.
pub(super) fn together(results: &[Results]) -> Results {
    let (first, others) = results.split_first().expect("a world has a load");
    let mut sum = first.clone();
    others.iter().for_each(|other| sum.merge(other));
    sum
}

/// What the rule says of the last five rounds.
pub(super) fn judged(all: &[Round], of: Tracked) -> Option<SniaFound> {
    let last = &all[all.len().checked_sub(SNIA_ROUNDS)?..];
    let tracked = |round: &Round| match of {
        Tracked::Iops => round.iops,
        Tracked::Throughput => round.bytes_per_second,
        Tracked::Latency => round.latency_ns.unwrap_or(f64::NAN),
    };
    snia_rule(&last.iter().map(tracked).collect::<Vec<_>>(), SniaRule::default())
}

/// What was counted in a round.
pub(super) fn round(counted: &Results, before: &Reports, after: &Reports) -> Round {
    const PS_PER_SECOND: f64 = 1e12;
    const PS_PER_NS: f64 = 1e3;
    let seconds = counted.elapsed().as_ps() as f64 / PS_PER_SECOND;
    let per_second = |amount: u64| if seconds > 0.0 { amount as f64 / seconds } else { 0.0 };
    let mut latency = counted.reads.latency.clone();
    latency.merge(&counted.writes.latency);
    let [programmed, host] = added_to_ratio(WRITE_AMPLIFICATION, before, after);
    Round {
        iops: per_second(counted.reads.completed + counted.writes.completed),
        bytes_per_second: per_second(counted.reads.bytes + counted.writes.bytes),
        latency_ns: latency.mean_ps().map(|ps| ps / PS_PER_NS),
        p99_ns: latency.percentiles(&[99.0]).first().map(|(_, span)| span.as_ps() as f64 / PS_PER_NS),
        write_amplification: (host > 0).then(|| programmed as f64 / host as f64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rounds(iops: &[f64]) -> Vec<Round> {
        iops.iter().map(|iops| Round { iops: *iops, ..Round::default() }).collect()
    }

    #[test]
    fn the_last_five_rounds_are_judged_and_no_others() {
        let falling = rounds(&[500.0, 300.0, 200.0, 150.0, 120.0]);
        assert!(!judged(&falling, Tracked::Iops).expect("five rounds").attained);
        assert_eq!(judged(&falling[..4], Tracked::Iops), None);
        let settled = rounds(&[500.0, 300.0, 100.0, 101.0, 99.0, 100.0, 102.0]);
        let found = judged(&settled, Tracked::Iops).expect("five rounds");
        assert!(found.attained && (found.mean - 100.4).abs() < 1e-9);
        // nothing was answered: there is no mean to hold anything against
        assert_eq!(judged(&settled, Tracked::Latency), None);
    }
}
