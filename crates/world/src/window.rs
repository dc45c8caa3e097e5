//! A warm-up and the window behind it that is measured; if nobody has said how long it is, until it is steady.
//!
//! ```text
//!  start ─ warm-up ─┬─ stretch 1 ─ steady? ─ no ─┬─ stretch 2, twice as long ─ steady? ─ yes: this is the window
//! ```
//!
//! A stretch that was steady is made longer, once, if that settles the 99th percentiles of its latencies.
//!
//! What was measured before it was steady belongs to the warm-up, and so does a stretch at whose beginning reads and
//! writes had not found their balance; a last one that begins so is not steady. A write buffer that has been filling
//! meanwhile is filled. If the run time of the job is over before, all of it is the window; if the budget is spent
//! before, the last stretch is, with the one before if there is little of it.

mod length;
mod measured;
mod stretches;
mod warm_up;

pub(super) use length::Length;
pub(super) use measured::Window;

use super::pace::Pace;
use super::snapshot::Snapshot;
use super::world::World;
use lanetwin_plan::{Case, WarmUp};
use lanetwin_stats::results::Steadiness;
use stretches::{GROWTH, Stretches};
use warm_up::warm_up;

/// A warm-up, and a window behind it.
pub(super) fn run(world: &mut World, case: &Case, length: Length) -> Window {
    let is_whole = case.load.timing().is_whole;
    let ended = is_whole && world.memory.is_some();
    warm_up(world, case, if ended { WarmUp::Transfers(0) } else { length.warm_up });
    if ended {
        return whole_program(world);
    }
    // who says what comes before says in which state buffers are
    let fills = !is_whole && (length.events.is_some() || length.warm_up == WarmUp::Auto);
    let mut stretches = Stretches::begin(world, case);
    let mut times = length.times;
    loop {
        if fills {
            stretches.fill_early(world);
        }
        let events = length.events.filter(|_| !stretches.is_first());
        let mut steadiness = stretches.run(world, events);
        if is_whole {
            return stretches.finish(world, Steadiness::default());
        }
        let is_over = |world: &mut World, stretches: &Stretches<'_>| {
            let spent = length.events.is_some_and(|events| world.kernel.events() >= events);
            spent || stretches.is_over(world) || world.overload().is_some()
        };
        let mut over = is_over(world, &stretches);
        if !over && length.events.is_some() && !steadiness.is_unsteady() && stretches.balances(world) {
            continue;
        }
        if !over && !steadiness.is_unsteady() && times > 1 {
            stretches.go_on(world, std::mem::replace(&mut times, 1));
            continue;
        }
        if !over && !steadiness.is_unsteady() && length.events.is_some() {
            steadiness = stretches.settle_tails(world, length, steadiness);
            over = is_over(world, &stretches);
            if !over && !steadiness.is_unsteady() && stretches.balances(world) {
                continue;
            }
            steadiness = stretches.balanced(steadiness);
        }
        if over || !steadiness.is_unsteady() {
            return stretches.finish(world, steadiness);
        }
        if fills && stretches.fill(world) {
            continue;
        }
        if length.events.is_none() {
            return stretches.finish(world, steadiness);
        }
        stretches.go_on(world, GROWTH);
    }
}

/// A program from its beginning to its end.
fn whole_program(world: &mut World) -> Window {
    let before = Snapshot::take(world);
    let pace = Pace::begin(world);
    let end = world.run_to_end();
    let results = world.results(world.kernel.now());
    let steadiness = Steadiness::default();
    Window { before, end, results, ended: true, rounds: None, pace, steadiness, filling: None }
}
