//! Which repeats of each case are run, and in which rounds.
//!
//! ```text
//!  stated length ───────► all repeats ───────────────────────────────────┬─► additional ones if `run.until` asks for them
//!  until steady ─► two ─┬─ they differ: random ─► the remaining repeats ─┘
//!                       └─ equal digests: deterministic ─► one, as long as all repeats together
//! ```
//!
//! All variants of a case have the same number of repeats, because each repeat is paired with that of the baseline. A
//! deterministic case would give the same result in every repeat; run once and longer, it shows how much its mean still
//! varies over time. If `run.until` is not given, additional repeats settle percentiles.

use super::loads::GivenUp;
use super::measure::Measured;
use super::settle;
use super::until::{self, Repeated};
use lanetwin_plan::{Case, Plan, RunLength, Variant, WorkloadPlan};
use std::collections::BTreeMap;
use std::ops::Range;

/// How many repeats show whether a case is deterministic.
const TRIALS: u32 = 2;

/// One world to run.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) variant: &'a Variant,
    pub(super) workload: &'a WorkloadPlan,
    pub(super) case: &'a Case,
    pub(super) repeat: u32,
    /// Whether this one run replaces all repeats of a deterministic case, and is as long as they are together.
    pub(super) alone: bool,
    /// So many events at most, where somebody says it of this one.
    pub(super) events: Option<u64>,
}

/// The repeats of a case in a variant.
pub(super) struct Repeats<'a> {
    /// The first of them.
    pub(super) task: Task<'a>,
    /// Whether the first [`TRIALS`] repeats are still to show whether the case is deterministic.
    on_trial: bool,
    /// How many repeats there will be.
    pub(super) wanted: usize,
    /// The repeats that were measured, in their order.
    pub(super) done: Vec<Measured>,
    /// The repeats in which a load gave up. Those that are neither here nor in `done` were not started.
    pub(super) given_up: Vec<GivenUp>,
}

impl Repeats<'_> {
    pub(super) fn is_whole(&self) -> bool {
        self.done.len() == self.wanted
    }
    pub(super) fn was_interrupted(&self) -> bool {
        self.done.len() + self.given_up.len() < self.wanted
    }
    /// Whether all repeats have the same digest, so that random numbers have no effect.
    fn is_deterministic(&self) -> bool {
        self.is_whole() && self.done.windows(2).all(|pair| pair[0].digest == pair[1].digest)
    }
    /// Discards the equal repeats: one longer run takes their place.
    fn begin_anew(&mut self) {
        self.task.alone = true;
        self.wanted = 0;
        self.done.clear();
    }
}

/// Every case of every variant, in the order of writing.
pub(super) fn cases(plan: &Plan) -> Vec<Repeats<'_>> {
    let mut cases = Vec::new();
    for variant in &plan.variants {
        for workload in &variant.workloads {
            cases.extend(workload.cases.iter().map(|case| {
                let task = Task { variant, workload, case, repeat: 0, alone: false, events: None };
                Repeats { task, on_trial: false, wanted: 0, done: Vec::new(), given_up: Vec::new() }
            }));
        }
    }
    cases
}

/// The places of each case: one for each variant.
fn groups(cases: &[Repeats<'_>]) -> Vec<Vec<usize>> {
    let mut groups: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (place, case) in cases.iter().enumerate() {
        let name = (&*case.task.workload.name, &*case.task.case.label);
        groups.entry(name).or_default().push(place);
    }
    groups.into_values().collect()
}

/// The repeats of the first round: all of them, or [`TRIALS`] of a case that may be deterministic. Only cases without a
/// stated length are tried, since only those can be measured for longer.
pub(super) fn first_repeats(plan: &Plan, cases: &mut [Repeats<'_>]) -> Vec<(usize, Range<u32>)> {
    let mut wanted = Vec::new();
    for places in groups(cases) {
        let may_be = |place: &usize| {
            let Task { workload, case, .. } = cases[*place].task;
            // a load that is run to its end cannot be measured for longer
            let is_whole = case.load.timing().is_whole;
            workload.length == RunLength::UntilSteady && workload.steady.is_none() && !is_whole
        };
        let on_trial = plan.run.repeats > TRIALS && places.iter().all(may_be);
        for place in places {
            cases[place].on_trial = on_trial;
            wanted.push((place, 0..if on_trial { TRIALS } else { plan.run.repeats }));
        }
    }
    wanted.sort_by_key(|(place, _)| *place);
    wanted
}

/// The second round: one longer run of each case that is deterministic in every variant, the remaining repeats of the
/// others.
pub(super) fn after_trials(plan: &Plan, cases: &mut [Repeats<'_>]) -> Vec<(usize, Range<u32>)> {
    let mut wanted = Vec::new();
    for places in groups(cases) {
        let places: Vec<usize> = places.into_iter().filter(|place| cases[*place].on_trial).collect();
        let alone = places.iter().all(|place| cases[*place].is_deterministic());
        for place in places {
            cases[place].on_trial = false;
            if alone {
                cases[place].begin_anew();
            }
            wanted.push((place, if alone { 0..1 } else { TRIALS..plan.run.repeats }));
        }
    }
    wanted
}

/// Additional repeats that `run.until` asks for, or that settle percentiles: see [`until`] and [`settle`].
pub(super) fn additional(plan: &Plan, cases: &[Repeats<'_>], seed: u64) -> Vec<(usize, Range<u32>)> {
    let mut wanted = Vec::new();
    // more repeats of a deterministic case would give the same results
    let can_tell = |place: &usize| cases[*place].is_whole() && !cases[*place].task.alone;
    for places in groups(cases).into_iter().filter(|places| places.iter().all(can_tell)) {
        let repeated = |place: &usize| {
            let Repeats { task: Task { variant, workload, case, .. }, done, .. } = &cases[*place];
            Repeated { variant: &variant.name, workload: &workload.name, case, done }
        };
        let variants: Vec<Repeated<'_>> = places.iter().map(repeated).collect();
        let repeats = match plan.run.until {
            Some(until) => until::more(plan, until, &variants, seed),
            None => settle::more(plan, &variants),
        };
        wanted.extend(repeats.into_iter().flat_map(|repeats| {
            places.iter().map(move |place| (*place, repeats.clone())).collect::<Vec<_>>()
        }));
    }
    wanted
}
