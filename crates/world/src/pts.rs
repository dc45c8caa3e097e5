//! A test of the SNIA Performance Test Specification: a purged drive, preconditioning, then rounds over all sizes and
//! mixes until the tracked cell is steady.
//!
//! ```text
//!  precondition ─ round 1: every cell, one after the other ─┬─ 2 ─┬─ 3 ─┬─ 4 ─┬─ 5 ─┬─ …
//!                                                           measurement window: the last five, steady or not
//! ```
//!
//! A cell of the matrix is the sum of its steps in the five rounds of the measurement window (SSS PTS 2.0.1).

use super::rounds::{InRounds, Rounds, judged, round};
use super::snapshot::Snapshot;
use super::world::World;
use lanetwin_load::{Little, Results};
use lanetwin_plan::{PtsPlan, SteadyRule};
use lanetwin_stats::steady::SNIA_ROUNDS;
use std::collections::VecDeque;

/// Results of a round, and the state before it.
struct Past {
    before: Snapshot,
    cells: Vec<Results>,
}

/// Runs rounds until the last five are steady or the most rounds allowed are done. Returns the counters of the last
/// five rounds, and those of each cell.
pub(super) fn run(world: &mut World, plan: &PtsPlan, rule: &SteadyRule) -> (InRounds, Vec<Results>) {
    let mut window: VecDeque<Past> = VecDeque::new();
    let mut rounds = Rounds { all: Vec::new(), found: None };
    // counters of the drive in the first round begin after its first step, because only then is the preconditioning
    // over
    let mut ended = Vec::new();
    await_steps(world, plan, &mut ended, 1);
    while rounds.all.len() < rule.rounds as usize && !rounds.attained() {
        if window.len() == SNIA_ROUNDS {
            window.pop_front();
        }
        let before = Snapshot::take(world);
        await_steps(world, plan, &mut ended, plan.cells.len());
        let cells: Vec<Results> = ended.drain(..plan.cells.len()).collect();
        rounds.all.push(round(&cells[plan.tracked], &before.reports, &world.reports()));
        window.push_back(Past { before, cells });
        rounds.found = judged(&rounds.all, rule.of);
    }
    let end = world.kernel.now();
    let mut window = window.into_iter();
    let Past { before, mut cells } = window.next().expect("there are five rounds at least");
    for past in window {
        cells.iter_mut().zip(&past.cells).for_each(|(sum, next)| sum.join(next));
    }
    // a step begins with nothing in flight, so that the estimate of rates by Little's law from few operations
    // (`Results::time`) does not hold: rates are taken over the whole time
    cells.iter_mut().for_each(|cell| cell.little = Little { area_ps: 0, residence_ps: 0 });
    let mut all = cells[0].clone();
    cells[1..].iter().for_each(|cell| all.join(cell));
    let results = vec![all];
    (InRounds { before, end, results, rounds }, cells)
}

/// Runs until `count` steps are over, to the end of a slice as long as a step.
fn await_steps(world: &mut World, plan: &PtsPlan, ended: &mut Vec<Results>, count: usize) {
    let load = world.loads[0].id;
    while ended.len() < count {
        assert!(world.kernel.next_event().is_some(), "a load that goes in steps has no end");
        let until = world.kernel.now() + plan.step;
        world.kernel.run_until(until);
        ended.extend(world.load(load).take_ended());
    }
}
