//! Stretches of a run, each behind the one before and twice as long, until one is steady.
//!
//! A write buffer that fills up is filled, not waited for: the stretch begins anew.

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

/// A stretch that was not steady is followed by one so many times as long.
pub(super) const GROWTH: u64 = 2;
/// A stretch that the budget has cut down to less than this part is no window by itself.
const LEAST_PART: u64 = 4;
/// In the first half of so many operations it shows whether a buffer fills up; where more came before, in half as many
/// as those: how often a run is looked at follows from how long it has been going on.
const TELLING: u64 = 10_000;

/// In how many of so many operations it shows whether a buffer fills up.
fn early(length: u64, answered: u64) -> u64 {
    length.min(TELLING.max(answered)) / 2
}

/// A stretch that was steady is made so many times as long at most to settle the tails of its latencies: the price of a
/// percentile, beside that of the means; …
const TAILS_MOST: u64 = 6;
/// … one that costs little more times, as long as all of it costs no more than such a part of the budget.
const TAILS_MOST_OF_CHEAP: u64 = 24;
const CHEAP_PART: u64 = 6;
/// Tails that would take more than so many times as long as they may get are told as not settled instead: what ten
/// parts say of it is itself uncertain by a half.
const TAILS_HOPE: u64 = 2;

/// How many times as long a stretch is made for its tails at most, if up to its end there were so many events.
fn tails_most(events: u64, budget: Option<u64>) -> u64 {
    let cheap = budget.map_or(0, |budget| budget / CHEAP_PART / events.max(1));
    cheap.clamp(TAILS_MOST, TAILS_MOST_OF_CHEAP)
}

/// So many stretches at most are left behind because reads and writes had not found their balance.
const BALANCED_MOST: u32 = 3;

/// Stretches of a run, each behind the one before.
pub(super) struct Stretches<'a> {
    case: &'a Case,
    /// Those that were not steady, from the first on.
    past: Vec<(Snapshot, Vec<Results>)>,
    before: Snapshot,
    pace: Pace,
    /// Operations that had been answered when the last one began, and how many it has.
    answered: u64,
    wanted: u64,
    /// Operations that may be measured at most: those of jobs that end.
    left: Option<u64>,
    /// Whether the budget has left little of the last one.
    is_stump: bool,
    /// How many have been run to their ends.
    runs: u32,
    /// Whether one of them was made longer for its tails.
    tails_asked: bool,
    /// How many of them have begun out of balance.
    balanced: u32,
    /// How many there were when buffers were filled last.
    past_filling: usize,
    /// Drives whose buffers have been filled, and those of them whose buffers have been emptied since.
    filled: Vec<ComponentId>,
    emptied: Vec<ComponentId>,
    /// The one whose buffer would have taken longest to fill.
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
    /// Whether none was run to its end.
    pub(super) fn is_first(&self) -> bool {
        self.runs == 0
    }
    /// A stretch begins.
    fn aim(&mut self, world: &mut World) {
        self.answered = world.progress().1;
        self.pace.keep_some(self.length());
        self.pace.look_halfway(&self.before, self.answered + self.length() / 2);
    }
    /// Operations of the stretch that began last.
    fn length(&self) -> u64 {
        self.left.map_or(self.wanted, |left| left.min(self.wanted)).max(1)
    }
    fn run_to(&mut self, world: &mut World, operations: u64, events: Option<u64>) {
        let stop = Stop { answered: self.answered + operations, deadline: self.deadline, events };
        run_until(world, &stop, Some(&mut self.pace));
    }
    /// Runs the first half of a stretch, and fills the buffers that fill up in it; then the stretch begins anew. So it
    /// does behind buffers that were almost full before and have become so in it, if the job goes on for long: else
    /// what they have swallowed is part of the answer.
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
    /// Fills the buffers that have been filling up in the stretch that was run, and empties those that were filled and
    /// fall; if there are any, a stretch as long begins anew.
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
            // each die goes on from where it was drawn, and takes a program, before they are as they will be
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
    /// Whether the job goes on for many times as long as the stretch has taken.
    fn goes_on_for_long(&self, world: &mut World) -> bool {
        let elapsed = seconds_between(self.before.at, world.kernel.now());
        self.seconds_left(world, elapsed).is_none_or(|left| elapsed * LONG <= left)
    }
    /// How much longer the job goes on \[s\], at the rate of the last seconds; none if nobody has said how long it is.
    fn seconds_left(&self, world: &mut World, elapsed: f64) -> Option<f64> {
        let done = (world.progress().1 - self.answered) as f64;
        let by_count = self.left_at(world).map(|left| left as f64 / done * elapsed);
        let by_time = self.deadline.map(|deadline| seconds_between(world.kernel.now(), deadline));
        by_count.into_iter().chain(by_time).min_by(f64::total_cmp)
    }
    /// Runs a stretch, or the rest of it, and judges it.
    pub(super) fn run(&mut self, world: &mut World, events: Option<u64>) -> Steadiness {
        let wanted = self.length();
        self.run_to(world, wanted, events);
        self.runs += 1;
        let done = world.progress().1 - self.answered;
        self.is_stump = done < wanted / LEAST_PART;
        self.pace.judged(&self.before, self.case.load.offered().is_drawn(), world)
    }
    /// Whether reads and writes had not found their balance when the stretch that was run began: another one, as long,
    /// begins behind it then, up to so many times.
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
    /// How steady the stretch that was run is, if nothing but the balance of reads and writes can still take that away.
    pub(super) fn balanced(&self, steadiness: Steadiness) -> Steadiness {
        if steadiness.is_unsteady() || !self.pace.begins_otherwise() {
            return steadiness;
        }
        Steadiness::unsteady("balance of reads and writes", None, None)
    }
    /// Makes the stretch that was run, and was steady, as much longer as settles the tails of its latencies, and judges
    /// it anew; does so once, and not in vain.
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
        let most = tails_most(world.kernel.events(), length.events);
        while longer < most && !steadiness.is_unsteady() && !self.is_over(world) {
            let times = [longer, longer + 1, TAILS_HOPE * most].map(|all| all as f64 / longer as f64);
            let needed = times_until_settled(&self.pace, length.repeats, &times);
            if needed.is_none_or(|needed| needed <= 1.0) {
                break;
            }
            longer += 1;
            // a balance that is found this slowly shows in what is longer
            self.balanced = 0;
            self.wanted = once.saturating_mul(longer);
            self.pace.look_halfway(&self.before, self.answered + self.length() / 2);
            steadiness = self.run(world, length.events);
        }
        steadiness
    }
    /// Whether what the job says is over.
    pub(super) fn is_over(&self, world: &mut World) -> bool {
        self.left_at(world) == Some(0) || self.deadline.is_some_and(|deadline| world.kernel.now() >= deadline)
    }
    /// Operations of the job that are left now.
    fn left_at(&self, world: &mut World) -> Option<u64> {
        let done = world.progress().1 - self.answered;
        self.left.map(|left| left.saturating_sub(done))
    }
    /// Behind the stretch that was run comes another, so many times as long.
    pub(super) fn go_on(&mut self, world: &mut World, times: u64) {
        let results = world.results(world.kernel.now());
        self.leave(world, results);
        self.wanted = self.wanted.saturating_mul(times);
        self.aim(world);
    }
    /// The stretch that was run, with these results, belongs to the past.
    fn leave(&mut self, world: &mut World, results: Vec<Results>) {
        self.left = self.left_at(world);
        let before = Snapshot::take(world);
        self.past.push((std::mem::replace(&mut self.before, before), results));
        self.pace.reset(world);
    }
    /// How many of the stretches, the last ones, are the window.
    fn stretches_that_count(&self, world: &mut World) -> usize {
        let all = self.past.len() + 1;
        match (self.is_over(world), self.is_stump) {
            // between what came before buffers were filled and what came behind something was left out
            (true, _) => all - self.past_filling,
            (false, true) => (all - self.past_filling).min(2),
            (false, false) => 1,
        }
    }
    /// The write buffer that was filled, if that would have taken time that nobody has stated.
    fn filling(&self, world: &mut World) -> Option<Filling> {
        let filled = self.fills_last.filter(|_| self.deadline.is_none())?;
        let of = write_buffer_of(&world.reports(), filled.drive)?;
        Some(Filling { of, seconds: filled.seconds, share: filled.share })
    }
    /// The window: the last stretch, or everything since buffers were filled if the whole job was run.
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

/// How long it is from one to the other \[s\]; nothing if the other comes first.
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
