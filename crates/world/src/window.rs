//! A warm-up, and the measured window after it. Without a stated length the window grows until it is steady.
//!
//! ```text
//!  start ─ warm-up ─┬─ stretch 1 ─ steady? ─ no ─┬─ stretch 2, twice as long ─ steady? ─ yes: this is the window
//! ```
//!
//! A steady stretch is made longer, once, if that settles the 99th percentiles of its latencies.
//!
//! Stretches before the first steady one belong to the warm-up. So does a stretch at the start of which reads and
//! writes had not found their balance; if the last stretch starts so, the case is not steady. Of a stated length, which
//! is one stretch, the first part is judged in the same way. A write buffer that fills up meanwhile is filled at once.
//! If the run time of the job ends first, all of it is the window. If the budget of events is spent first, the last
//! stretch is the window, together with the one before if the last is short.

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

/// Runs the warm-up and the window after it.
pub(super) fn run(world: &mut World, case: &Case, length: Length) -> Window {
    let is_whole = case.load.timing().is_whole;
    let ended = is_whole && world.memory.is_some();
    warm_up(world, case, if ended { WarmUp::Transfers(0) } else { length.warm_up });
    if ended {
        return whole_program(world);
    }
    // a scenario that states what comes first states the level of the buffers by it
    let fills = !is_whole && (length.events.is_some() || length.warm_up == WarmUp::Auto);
    let mut stretches = Stretches::begin(world, case);
    let mut times = length.times;
    loop {
        if fills {
            stretches.fill_early(world);
            if length.events.is_none() {
                stretches.balance_early(world);
            }
        }
        let events = length.events.filter(|_| !stretches.is_first());
        let mut steadiness = stretches.run(world, events);
        if is_whole {
            return stretches.finish(world, Steadiness::default());
        }
        let is_over = |world: &mut World, stretches: &Stretches<'_>| {
            let spent = length.events.is_some_and(|events| world.effort() >= events);
            spent || stretches.is_over(world) || world.given_up().is_some()
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

/// Runs a program from its beginning to its end.
fn whole_program(world: &mut World) -> Window {
    let before = Snapshot::take(world);
    let pace = Pace::begin(world);
    let end = world.run_to_end();
    let results = world.results(world.kernel.now());
    let steadiness = Steadiness::default();
    Window { before, end, results, ended: true, rounds: None, pace, steadiness, filling: None }
}
