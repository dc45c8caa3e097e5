//! Runs a world in slices of time and checks it after each.

use super::pace::Pace;
use super::world::World;
use lanetwin_units::{Instant, Span};

/// A slice is at least this share of the time that has passed.
const SLICE_PART: u64 = 32;
const SLICE_LEAST: Span = Span::from_us(5);
/// Number of looks at the counters in each slice.
const LOOKS: u64 = 4;
/// If nothing is answered for an hour, the load is stuck: no operation of a machine takes that long.
const PATIENCE: Span = Span::from_us(3_600_000_000);

/// When a run stops.
pub(super) struct Stop {
    /// After this many operations since the start have been answered, …
    pub(super) answered: u64,
    /// … or at this time, …
    pub(super) deadline: Option<Instant>,
    /// … or when the run has cost this many events.
    pub(super) events: Option<u64>,
}

/// Runs one slice. Slices depend on time alone and cannot change the run.
pub(super) fn run_slice(world: &mut World) {
    let until = world.kernel.now() + slice(world);
    world.kernel.run_until(until);
}

/// Length of the next slice.
pub(super) fn slice(world: &World) -> Span {
    SLICE_LEAST.max(Span::from_ps(world.kernel.now().as_ps() / SLICE_PART))
}

/// Runs to `until`, with looks in between.
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

/// Runs until `stop` holds, checked at the end of each slice, or exactly to the deadline.
pub(super) fn run_until(world: &mut World, stop: &Stop, mut pace: Option<&mut Pace>) {
    let mut last = (world.progress().1, world.kernel.now());
    let is_early = |now: Instant| stop.deadline.is_none_or(|deadline| now < deadline);
    while last.0 < stop.answered && is_early(world.kernel.now()) {
        world.stopping.heed();
        if world.given_up().is_some() || stop.events.is_some_and(|most| world.effort() >= most) {
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
            done >= stop.answered || !stuck || world.given_up().is_some(),
            "nothing is answered any more: {done} of {} operations are done",
            stop.answered
        );
    }
}
