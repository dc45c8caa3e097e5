//! Stretches of a run, each following the one before and twice as long, until one is steady.
//!
//! A write buffer that fills up is filled at once; then the stretch starts again.

use super::length::Length;
use super::measured::Window;
use super::warm_up::operations_before;
use crate::buffers::{Filled, Filling, LONG, Rise};
use crate::components::write_buffer_of;
use crate::pace::Pace;
use crate::slices::{Stop, run_until};
use crate::snapshot::Snapshot;
use crate::tails::times_until_settled;
use crate::world::World;
use lanetwin_kernel::ComponentId;
use lanetwin_load::Results;
use lanetwin_plan::{Case, Timing};
use lanetwin_stats::results::Steadiness;
use lanetwin_units::Instant;

/// A stretch that was not steady is followed by one this many times as long.
pub(super) const GROWTH: u64 = 2;
/// A stretch that the budget of events has cut to less than 1/4 of its length is not a window by itself.
const LEAST_PART: u64 = 4;
/// The first half of this many operations shows whether a buffer fills up. If more operations came before the
/// stretch, half as many as those are needed, because the interval between looks grows with the time the run has
/// taken.
const TELLING: u64 = 10_000;

/// Number of operations, of a stretch of `length`, that show whether a buffer fills up.
fn early(length: u64, answered: u64) -> u64 {
    length.min(TELLING.max(answered)) / 2
}

/// A steady stretch is made at most this many times as long to settle the tails of its latencies: the price of a
/// percentile, compared with that of a mean; …
const TAILS_MOST: u64 = 6;
/// … a cheap one at most this many times as long, provided that all of it costs no more than 1/6 of the budget of
/// events.
const TAILS_MOST_OF_CHEAP: u64 = 24;
const CHEAP_PART: u64 = 6;
/// If tails would need more than this many times the longest stretch allowed, they are reported as not settled. The
/// estimate from ten parts is itself uncertain by a half.
const TAILS_HOPE: u64 = 2;

/// How many times as long a stretch may become for its tails, if there were `events` events up to its end.
fn tails_most(events: u64, budget: Option<u64>) -> u64 {
    let cheap = budget.map_or(0, |budget| budget / CHEAP_PART / events.max(1));
    cheap.clamp(TAILS_MOST, TAILS_MOST_OF_CHEAP)
}

/// At most this many stretches are discarded because reads and writes had not found their balance.
const BALANCED_MOST: u32 = 3;

/// Stretches of a run, each following the one before.
pub(super) struct Stretches<'a> {
    case: &'a Case,
    /// The earlier stretches, from the first on; they were not steady.
    past: Vec<(Snapshot, Vec<Results>)>,
    before: Snapshot,
    pace: Pace,
    /// Operations answered before the last stretch began, and the number of operations that it is to have.
    answered: u64,
    wanted: u64,
    /// Operations that may still be measured, of a job that ends.
    left: Option<u64>,
    /// Whether the budget of events has cut the last stretch short.
    is_stump: bool,
    /// Number of stretches that were run to their ends.
    runs: u32,
    /// Whether a stretch was made longer for its tails.
    tails_asked: bool,
    /// Number of stretches that began out of balance.
    balanced: u32,
    /// Number of past stretches when buffers were last filled.
    past_filling: usize,
    /// Drives whose buffers have been filled, and those of them whose buffers have been emptied since.
    filled: Vec<ComponentId>,
    emptied: Vec<ComponentId>,
    /// The filled buffer that would have taken longest to fill.
    fills_last: Option<Filled>,
    begin: Instant,
    deadline: Option<Instant>,
}

impl<'a> Stretches<'a> {
    pub(super) fn begin(world: &mut World, case: &'a Case) -> Self {
        let before = Snapshot::take(world);
        let (begin, pace) = (before.at, Pace::begin(world));
        let Timing { longest, most, .. } = case.load.timing();
        let mut stretches = Self {
            case,
            past: Vec::new(),
            before,
            pace,
            answered: 0,
            wanted: case.load.operations(),
            left: most,
            is_stump: false,
            runs: 0,
            tails_asked: false,
            balanced: 0,
            past_filling: 0,
            filled: Vec::new(),
            emptied: Vec::new(),
            fills_last: None,
            begin,
            deadline: longest.map(|longest| begin + longest),
        };
        stretches.aim(world);
        stretches
    }
    /// Whether no stretch has been run to its end.
    pub(super) fn is_first(&self) -> bool {
        self.runs == 0
    }
    /// Begins a stretch.
    fn aim(&mut self, world: &mut World) {
        self.answered = world.progress().1;
        self.pace.keep_some(self.length());
        self.pace.look_halfway(&self.before, self.answered + self.length() / 2);
    }
    /// Number of operations of the current stretch.
    fn length(&self) -> u64 {
        self.left.map_or(self.wanted, |left| left.min(self.wanted)).max(1)
    }
    fn run_to(&mut self, world: &mut World, operations: u64, events: Option<u64>) {
        let stop = Stop { answered: self.answered + operations, deadline: self.deadline, events };
        run_until(world, &stop, Some(&mut self.pace));
    }
    /// Runs the first part of a stretch and fills the buffers that fill up in it; then the stretch starts again. It
    /// also starts again if a buffer was almost full before and has become full in it, provided that the job goes on
    /// for long. In a short job, what the buffer took in is part of the answer.
    pub(super) fn fill_early(&mut self, world: &mut World) {
        self.run_to(world, early(self.length(), self.answered), None);
        if !self.fill(world)
            && self.goes_on_for_long(world)
            && self.pace.rises().iter().any(|(_, r)| r.has_filled())
        {
            let results = world.results(world.kernel.now());
            self.leave(world, results);
            self.past_filling = self.past.len();
            self.aim(world);
        }
    }
    /// Fills the buffers that have been filling up in the last stretch, and empties those that were filled and keep
    /// draining. If there are any, a stretch of the same length starts again. Returns whether there were any.
    pub(super) fn fill(&mut self, world: &mut World) -> bool {
        let elapsed = seconds_between(self.before.at, world.kernel.now());
        let left = self.seconds_left(world, elapsed);
        let results = world.results(world.kernel.now());
        let rises = self.pace.rises();
        let empties = world.empty_buffers(&rises, &self.filled, &mut self.emptied);
        let newly = world.fill_buffers(&rises, elapsed, left, &mut self.filled);
        let fills = empties || !newly.is_empty();
        if fills {
            self.fills_last =
                newly.iter().copied().chain(self.fills_last).max_by(|a, b| a.seconds.total_cmp(&b.seconds));
            // a die goes on from its drawn state; it has to take one program before it is in the state that lasts
            let is_new = |(drive, _): &&(ComponentId, Rise)| newly.iter().any(|new| new.drive == *drive);
            let round = rises.iter().filter(is_new).map(|(_, rise)| rise.round()).fold(0.0, f64::max);
            let all = world.progress().1;
            let done = (all - self.answered) as f64;
            let most = left.map_or(f64::INFINITY, |left| left / LONG * done / elapsed);
            let operations = (done * round).min(most) as u64;
            let answered = all + operations_before(world, self.case).max(operations);
            run_until(world, &Stop { answered, deadline: self.deadline, events: None }, None);
            self.leave(world, results);
            self.past_filling = self.past.len();
            self.aim(world);
        }
        fills
    }
    /// Whether the job goes on for [`LONG`] times as long as the stretch has taken.
    fn goes_on_for_long(&self, world: &mut World) -> bool {
        let elapsed = seconds_between(self.before.at, world.kernel.now());
        self.seconds_left(world, elapsed).is_none_or(|left| elapsed * LONG <= left)
    }
    /// Time left of the job \[s\], at the rate of the last `elapsed` seconds. Returns `None` if the job has no stated
    /// length.
    fn seconds_left(&self, world: &mut World, elapsed: f64) -> Option<f64> {
        let done = (world.progress().1 - self.answered) as f64;
        let by_count = self.left_at(world).map(|left| left as f64 / done * elapsed);
        let by_time = self.deadline.map(|deadline| seconds_between(world.kernel.now(), deadline));
        by_count.into_iter().chain(by_time).min_by(f64::total_cmp)
    }
    /// Runs the stretch, or the rest of it, and judges it.
    pub(super) fn run(&mut self, world: &mut World, events: Option<u64>) -> Steadiness {
        let wanted = self.length();
        self.run_to(world, wanted, events);
        self.runs += 1;
        let done = world.progress().1 - self.answered;
        self.is_stump = done < wanted / LEAST_PART;
        self.pace.judged(&self.before, self.case.load.offered().is_drawn(), world)
    }
    /// If reads and writes had not found their balance when the last stretch began, starts another of the same length
    /// after it, at most [`BALANCED_MOST`] times. Returns whether it did.
    pub(super) fn balances(&mut self, world: &mut World) -> bool {
        let anew = self.balanced < BALANCED_MOST && self.pace.begins_otherwise();
        if anew {
            self.balanced += 1;
            let results = world.results(world.kernel.now());
            self.leave(world, results);
            self.aim(world);
        }
        anew
    }
    /// Runs the first part of a stretch, and starts the stretch again if reads and writes had not found their balance
    /// at its beginning, provided that the job goes on for long. Where a buffer became full just before, nothing fills
    /// and rates stay, but reads wait longer for a while.
    pub(super) fn balance_early(&mut self, world: &mut World) {
        loop {
            let part = early(self.length(), self.answered);
            if part as f64 * LONG > self.length() as f64 {
                return;
            }
            self.run_to(world, part, None);
            if !self.goes_on_for_long(world) || !self.balances(world) {
                return;
            }
            self.past_filling = self.past.len();
        }
    }
    /// The steadiness of the last stretch: not steady if reads and writes had not found their balance when it began.
    pub(super) fn balanced(&self, steadiness: Steadiness) -> Steadiness {
        if steadiness.is_unsteady() || !self.pace.begins_otherwise() {
            return steadiness;
        }
        Steadiness::unsteady("balance of reads and writes", None, None)
    }
    /// Makes the last stretch, which was steady, as much longer as its latency tails need to settle, and judges it
    /// again. Does so once, and only if the tails can settle within the limit.
    pub(super) fn settle_tails(
        &mut self,
        world: &mut World,
        length: Length,
        steadiness: Steadiness,
    ) -> Steadiness {
        if std::mem::replace(&mut self.tails_asked, true) {
            return steadiness;
        }
        let (once, mut steadiness) = (self.wanted, steadiness);
        let mut longer = 1;
        let most = tails_most(world.effort(), length.events);
        while longer < most && !steadiness.is_unsteady() && !self.is_over(world) {
            let times = [longer, longer + 1, TAILS_HOPE * most].map(|all| all as f64 / longer as f64);
            let needed = times_until_settled(&self.pace, length.repeats, &times);
            if needed.is_none_or(|needed| needed <= 1.0) {
                break;
            }
            longer += 1;
            // a balance that is found this slowly shows in a longer stretch
            self.balanced = 0;
            self.wanted = once.saturating_mul(longer);
            self.pace.look_halfway(&self.before, self.answered + self.length() / 2);
            steadiness = self.run(world, length.events);
        }
        steadiness
    }
    /// Whether the job is over, by its number of operations or its run time.
    pub(super) fn is_over(&self, world: &mut World) -> bool {
        self.left_at(world) == Some(0) || self.deadline.is_some_and(|deadline| world.kernel.now() >= deadline)
    }
    /// Operations of the job that are left now.
    fn left_at(&self, world: &mut World) -> Option<u64> {
        let done = world.progress().1 - self.answered;
        self.left.map(|left| left.saturating_sub(done))
    }
    /// Follows the last stretch with another, `times` times as long.
    pub(super) fn go_on(&mut self, world: &mut World, times: u64) {
        let results = world.results(world.kernel.now());
        self.leave(world, results);
        self.wanted = self.wanted.saturating_mul(times);
        self.aim(world);
    }
    /// Moves the last stretch, with its results, to the past.
    fn leave(&mut self, world: &mut World, results: Vec<Results>) {
        self.left = self.left_at(world);
        let before = Snapshot::take(world);
        self.past.push((std::mem::replace(&mut self.before, before), results));
        self.pace.reset(world);
    }
    /// Number of stretches, counted from the last, that make up the window.
    fn stretches_that_count(&self, world: &mut World) -> usize {
        let all = self.past.len() + 1;
        match (self.is_over(world), self.is_stump) {
            // a window across the filling of a buffer would have a gap
            (true, _) => all - self.past_filling,
            (false, true) => (all - self.past_filling).min(2),
            (false, false) => 1,
        }
    }
    /// The write buffer that was filled, unless the job has a stated run time.
    fn filling(&self, world: &mut World) -> Option<Filling> {
        let filled = self.fills_last.filter(|_| self.deadline.is_none())?;
        let of = write_buffer_of(&world.reports(), filled.drive)?;
        Some(Filling { of, seconds: filled.seconds, share: filled.share })
    }
    /// The window: the last stretch, or everything since buffers were last filled if the whole job was run.
    pub(super) fn finish(mut self, world: &mut World, steadiness: Steadiness) -> Window {
        let end = world.kernel.now();
        let mut steadiness = steadiness;
        let mut results = world.results(end);
        let stretches = self.stretches_that_count(world);
        if stretches > 1 {
            self.past.push((self.before, results));
            let mut past = std::mem::take(&mut self.past).into_iter().rev().take(stretches).rev();
            (self.before, results) = past.next().expect("there was a stretch before");
            for (_, next) in past {
                results.iter_mut().zip(&next).for_each(|(sum, next)| sum.append(next));
            }
            self.pace.take_last(stretches);
            steadiness = self.pace.judged(&self.before, self.case.load.offered().is_drawn(), world);
        }
        if let Some((longest, deadline)) = self.case.load.timing().longest.zip(self.deadline) {
            let share = (end - self.begin).as_ps() as f64 / longest.as_ps() as f64;
            steadiness = steadiness.of_job_that_goes_on(seconds_between(end, deadline));
            steadiness.of_run_time = Some(share.min(1.0));
        }
        let filling = self.filling(world);
        let (before, pace) = (self.before, self.pace);
        Window { before, end, results, ended: false, rounds: None, pace, steadiness, filling }
    }
}

/// Time between two instants \[s\]; 0 if `to` is the earlier.
fn seconds_between(from: Instant, to: Instant) -> f64 {
    if to > from { (to - from).as_ps() as f64 * 1e-12 } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 80,000 operations of equal times came before: one look in 625, so that 40,000 have 64. 5,000 had 8, fewer than a
    /// rise has parts.
    #[test]
    fn a_buffer_is_watched_longer_where_a_run_is_looked_at_seldom() {
        assert_eq!(early(800_000, 80_000), 40_000);
        assert_eq!([early(10_000, 1_000), early(100, 1_000)], [5_000, 50]);
        assert!(early(800_000, 80_000) / (80_000 / 128) > Rise::PARTS as u64);
    }

    /// By hand: a sixth of 6 million events is room for ten times 100 000.
    #[test]
    fn tails_of_what_costs_little_may_take_longer() {
        assert_eq!([1, 100_000, 5_000_000].map(|events| tails_most(events, Some(6_000_000))), [24, 10, 6]);
        assert_eq!(tails_most(1, None), TAILS_MOST);
    }
}
