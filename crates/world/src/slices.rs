//! A run in slices of time, looked at behind each.

use super::pace::Pace;
use super::world::World;
use lanetwin_units::{Instant, Span};

/// A run is looked at after slices of this share of its past, at least.
const SLICE_PART: u64 = 32;
const SLICE_LEAST: Span = Span::from_us(5);
/// What is answered is noted so many times in a slice.
const LOOKS: u64 = 4;
/// If nothing is answered for an hour, nothing ever will be: the load is stuck. Nothing in a machine takes as long.
const PATIENCE: Span = Span::from_us(3_600_000_000);

/// When a run is over.
pub(super) struct Stop {
    /// So many operations have been answered since the start, …
    pub(super) answered: u64,
    /// … or it is so late, …
    pub(super) deadline: Option<Instant>,
    /// … or so many events have been handled.
    pub(super) events: Option<u64>,
}

/// Runs for one slice. Slices depend on the time alone, and cannot change the run.
pub(super) fn run_slice(world: &mut World) {
    let until = world.kernel.now() + slice(world);
    world.kernel.run_until(until);
}

/// How long the next slice is.
pub(super) fn slice(world: &World) -> Span {
    SLICE_LEAST.max(Span::from_ps(world.kernel.now().as_ps() / SLICE_PART))
}

/// The same, looked at within.
fn run_to(world: &mut World, until: Instant, pace: &mut Option<&mut Pace>) {
    let Some(pace) = pace else {
        world.kernel.run_until(until);
        return;
    };
    let (begin, all) = (world.kernel.now(), (until - world.kernel.now()).as_ps());
    for nth in 1..=LOOKS {
        world.kernel.run_until(begin + Span::from_ps(all * nth / LOOKS));
        pace.look(world);
    }
}

/// Runs until it is over, to the end of a slice, or to the deadline.
pub(super) fn run_until(world: &mut World, stop: &Stop, mut pace: Option<&mut Pace>) {
    let mut last = (world.progress().1, world.kernel.now());
    let is_early = |now: Instant| stop.deadline.is_none_or(|deadline| now < deadline);
    while last.0 < stop.answered && is_early(world.kernel.now()) {
        if world.overload().is_some() || stop.events.is_some_and(|most| world.kernel.events() >= most) {
            return;
        }
        let (now, slice) = (world.kernel.now(), slice(world));
        match stop.deadline {
            Some(deadline) if deadline - now <= slice => {
                run_to(world, deadline, &mut pace);
                return;
            }
            _ => run_to(world, now + slice, &mut pace),
        }
        let done = world.progress().1;
        let now = world.kernel.now();
        if done > last.0 {
            last = (done, now);
        }
        let stuck = world.kernel.next_event().is_none() || now - last.1 > PATIENCE;
        assert!(
            done >= stop.answered || !stuck,
            "nothing is answered any more: {done} of {} operations are done",
            stop.answered
        );
    }
}
