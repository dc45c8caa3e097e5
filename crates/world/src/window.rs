//! A warm-up and the window behind it that is measured; if nobody has said how long it is, until it is steady.
//!
//! ```text
//!  start ─ warm-up ─┬─ stretch 1 ─ steady? ─ no ─┬─ stretch 2, twice as long ─ steady? ─ yes: this is the window
//! ```
//!
//! What was measured before it was steady belongs to the warm-up. If the run time of the job is over before, all of it
//! is the window; if the budget is spent before, the last stretch is, with the one before if there is little of it.

use super::pace::Pace;
use super::rounds::Rounds;
use super::snapshot::Snapshot;
use super::world::World;
use lanetwin_load::Results;
use lanetwin_plan::{Case, Offered, Timing, WarmUp};
use lanetwin_stats::results::Steadiness;
use lanetwin_units::{Instant, Span};

/// The warm-up is at least so many operations …
const WARM_UP_LEAST: u64 = 64;
/// … this part of those that are measured …
const WARM_UP_PART: u64 = 10;
/// … and so many times those in flight, so that the first of them are long gone.
const WARM_UP_ROUNDS: u64 = 4;
/// A run is looked at after slices of this share of its past, at least.
const SLICE_PART: u64 = 32;
const SLICE_LEAST: Span = Span::from_us(5);
/// What is answered is noted so many times in a slice.
const LOOKS: u64 = 4;
/// If nothing is answered for an hour, nothing ever will be: the load is stuck. Nothing in a machine takes as long.
const PATIENCE: Span = Span::from_us(3_600_000_000);
/// A stretch that was not steady is followed by one so many times as long.
const GROWTH: u64 = 2;
/// A stretch that the budget has cut down to less than this part is no window by itself.
const LEAST_PART: u64 = 4;

/// How long a case is measured.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Length {
    /// What comes before.
    pub(super) warm_up: WarmUp,
    /// Until it is steady or the world has had so many events; none if it is as long as somebody said.
    pub(super) events: Option<u64>,
}

/// What was counted from one instant to another.
pub(super) struct Window {
    /// Everything as it was at the beginning.
    pub(super) before: Snapshot,
    pub(super) end: Instant,
    /// Of each load.
    pub(super) results: Vec<Results>,
    /// Whether it was over when a program had ended.
    pub(super) ended: bool,
    pub(super) rounds: Option<Rounds>,
    /// How it went on within it.
    pub(super) pace: Pace,
    pub(super) steadiness: Steadiness,
}

/// When a stretch is over.
struct Stop {
    /// So many operations have been answered since the start, …
    answered: u64,
    /// … or it is so late, …
    deadline: Option<Instant>,
    /// … or so many events have been handled.
    events: Option<u64>,
}

/// A warm-up, and a window behind it.
pub(super) fn run(world: &mut World, case: &Case, length: Length) -> Window {
    let is_whole = case.load.timing().is_whole;
    let ended = is_whole && world.memory.is_some();
    warm_up(world, case, if ended { WarmUp::Transfers(0) } else { length.warm_up });
    if ended {
        return whole_program(world);
    }
    let mut stretches = Stretches::begin(world, case);
    loop {
        let events = length.events.filter(|_| !stretches.past.is_empty());
        let steadiness = stretches.run(world, events);
        let spent = length.events.is_none_or(|events| world.kernel.events() >= events);
        let is_over = spent || stretches.is_over(world) || world.overload().is_some();
        if is_whole {
            return stretches.finish(world, Steadiness::default());
        }
        if is_over || !steadiness.is_unsteady() {
            return stretches.finish(world, steadiness);
        }
        stretches.go_on(world);
    }
}

/// Stretches of a run, each behind the one before.
struct Stretches<'a> {
    case: &'a Case,
    /// Those that were not steady, from the first on.
    past: Vec<(Snapshot, Vec<Results>)>,
    before: Snapshot,
    pace: Pace,
    /// Operations of the next one.
    wanted: u64,
    /// Operations that may be measured at most: those of jobs that end.
    left: Option<u64>,
    /// Whether the budget has left little of the last one.
    is_stump: bool,
    begin: Instant,
    deadline: Option<Instant>,
}

impl<'a> Stretches<'a> {
    fn begin(world: &mut World, case: &'a Case) -> Self {
        let before = Snapshot::take(world);
        let (begin, pace) = (before.at, Pace::begin(world));
        let Timing { longest, most, .. } = case.load.timing();
        let deadline = longest.map(|longest| begin + longest);
        let (wanted, left) = (case.load.operations(), most);
        Self { case, past: Vec::new(), before, pace, wanted, left, is_stump: false, begin, deadline }
    }
    /// Runs a stretch, and judges it.
    fn run(&mut self, world: &mut World, events: Option<u64>) -> Steadiness {
        let wanted = self.left.map_or(self.wanted, |left| left.min(self.wanted)).max(1);
        let answered = world.progress().1;
        self.pace.look_halfway(&self.before, answered + wanted / 2);
        run_until(
            world,
            &Stop { answered: answered + wanted, deadline: self.deadline, events },
            Some(&mut self.pace),
        );
        let done = world.progress().1 - answered;
        self.left = self.left.map(|left| left.saturating_sub(done));
        self.is_stump = done < wanted / LEAST_PART;
        self.pace.judged(&self.before, self.case.load.offered().is_drawn(), world)
    }
    /// Whether what the job says is over.
    fn is_over(&self, world: &World) -> bool {
        self.left == Some(0) || self.deadline.is_some_and(|deadline| world.kernel.now() >= deadline)
    }
    /// Behind the stretch that was run comes another.
    fn go_on(&mut self, world: &mut World) {
        let results = world.results(world.kernel.now());
        let before = Snapshot::take(world);
        self.past.push((std::mem::replace(&mut self.before, before), results));
        self.pace.reset(world);
        self.wanted = self.wanted.saturating_mul(GROWTH);
    }
    /// How many of the stretches, the last ones, are the window.
    fn stretches_that_count(&self, world: &World) -> usize {
        let all = self.past.len() + 1;
        match (self.is_over(world), self.is_stump) {
            (true, _) => all,
            (false, true) => all.min(2),
            (false, false) => 1,
        }
    }
    /// The window: the last stretch, or everything if the whole job was run.
    fn finish(mut self, world: &mut World, steadiness: Steadiness) -> Window {
        let end = world.kernel.now();
        let mut steadiness = steadiness;
        let mut results = world.results(end);
        let stretches = self.stretches_that_count(world);
        if stretches > 1 {
            self.past.push((self.before, results));
            let mut past = self.past.into_iter().rev().take(stretches).rev();
            (self.before, results) = past.next().expect("there was a stretch before");
            for (_, next) in past {
                results.iter_mut().zip(&next).for_each(|(sum, next)| sum.append(next));
            }
            self.pace.take_last(stretches);
            steadiness = self.pace.judged(&self.before, self.case.load.offered().is_drawn(), world);
        }
        if let Some(longest) = self.case.load.timing().longest {
            let share = (end - self.begin).as_ps() as f64 / longest.as_ps() as f64;
            steadiness.of_run_time = Some(share.min(1.0));
        }
        if let Some(seconds) = seconds_left(self.left, self.deadline, (&self.before, end), &results) {
            steadiness = steadiness.of_job_that_goes_on(seconds);
        }
        let (before, pace) = (self.before, self.pace);
        Window { before, end, results, ended: false, rounds: None, pace, steadiness }
    }
}

/// How much longer the job goes on after `end` \[s\], until it has made the rest of its operations at the rate of
/// what was measured, or its run time is over; none if nobody has said how long it is.
fn seconds_left(
    operations: Option<u64>,
    deadline: Option<Instant>,
    (before, end): (&Snapshot, Instant),
    results: &[Results],
) -> Option<f64> {
    let seconds = |span: Span| span.as_ps() as f64 * 1e-12;
    let answered: u64 = results.iter().map(|one| one.reads.completed + one.writes.completed).sum();
    let by_count = operations.map(|left| left as f64 / answered as f64 * seconds(end - before.at));
    let by_time = deadline.map(|deadline| if deadline > end { seconds(deadline - end) } else { 0.0 });
    by_count.into_iter().chain(by_time).min_by(f64::total_cmp)
}

/// A program from its beginning to its end.
fn whole_program(world: &mut World) -> Window {
    let before = Snapshot::take(world);
    let pace = Pace::begin(world);
    let end = world.run_to_end();
    let results = world.results(world.kernel.now());
    let steadiness = Steadiness::default();
    Window { before, end, results, ended: true, rounds: None, pace, steadiness }
}

fn warm_up(world: &mut World, case: &Case, warm_up: WarmUp) {
    let answered = match warm_up {
        WarmUp::Transfers(n) => n,
        WarmUp::Auto => {
            let devices = (world.loads.len() / case.load.threads().len().max(1)).max(1);
            let in_flight = u64::from(in_flight(case)) * devices as u64;
            let wanted = case.load.operations();
            WARM_UP_LEAST.max(wanted / WARM_UP_PART).max(WARM_UP_ROUNDS * in_flight)
        }
    };
    let deadline = case.load.timing().ramp.map(|ramp| Instant::ZERO + ramp);
    run_until(world, &Stop { answered, deadline, events: None }, None);
}

/// How many operations each load keeps in flight.
fn in_flight(case: &Case) -> u32 {
    match case.load.offered() {
        Offered::Outstanding(n) => n,
        Offered::Rate { .. } => 1,
    }
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
fn run_until(world: &mut World, stop: &Stop, mut pace: Option<&mut Pace>) {
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
