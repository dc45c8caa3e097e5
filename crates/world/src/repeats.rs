//! Which repeats of which cases are run, and which come behind them.
//!
//! ```text
//!  length stated ──────────► all repeats ──────────────────────────────┬─► more of them, if `run.until` says so
//!  until it is steady ─► two ─┬─ other events: there is chance ─► the rest ┘
//!                             └─ the same: one, which is measured for as long as all together
//! ```
//!
//! All variants of a case have the same repeats, so that each is paired with that of the baseline. What has no chance
//! in it would be the same five times; measured for longer it shows what its own course makes of its mean.

use super::loads::Overload;
use super::measure::Measured;
use super::until::{self, Repeated};
use lanetwin_plan::{Case, Plan, RunLength, Variant, WorkloadPlan};
use std::collections::BTreeMap;
use std::ops::Range;

/// So many repeats show whether there is chance in a case.
const TRIALS: u32 = 2;

/// One world to run.
#[derive(Clone, Copy)]
pub(super) struct Task<'a> {
    pub(super) variant: &'a Variant,
    pub(super) workload: &'a WorkloadPlan,
    pub(super) case: &'a Case,
    pub(super) repeat: u32,
    /// Whether it stands for all repeats, and is measured for as long as they are together.
    pub(super) alone: bool,
}

/// The repeats of a case in a variant.
pub(super) struct Repeats<'a> {
    /// The first of them.
    pub(super) task: Task<'a>,
    /// Whether those that are done say whether there is chance in it.
    on_trial: bool,
    /// How many there shall be.
    pub(super) wanted: usize,
    /// Those that were measured, in their order.
    pub(super) done: Vec<Measured>,
    /// What became of the others, but for those that were not begun.
    pub(super) overloads: Vec<Overload>,
}

impl Repeats<'_> {
    pub(super) fn is_whole(&self) -> bool {
        self.done.len() == self.wanted
    }
    pub(super) fn was_interrupted(&self) -> bool {
        self.done.len() + self.overloads.len() < self.wanted
    }
    /// Whether other random numbers change nothing.
    fn is_without_chance(&self) -> bool {
        self.is_whole() && self.done.windows(2).all(|pair| pair[0].digest == pair[1].digest)
    }
    /// One that is measured for longer takes the place of repeats that are all the same.
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
                let task = Task { variant, workload, case, repeat: 0, alone: false };
                Repeats { task, on_trial: false, wanted: 0, done: Vec::new(), overloads: Vec::new() }
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

/// The repeats that are run first: all, but two of what may be without chance, to see whether it is. Nobody has said
/// how long that is measured, and all variants have the same repeats.
pub(super) fn first_repeats(plan: &Plan, cases: &mut [Repeats<'_>]) -> Vec<(usize, Range<u32>)> {
    let mut wanted = Vec::new();
    for places in groups(cases) {
        let may_be = |place: &usize| {
            let Task { workload, case, .. } = cases[*place].task;
            // what is run whole has no longer course to show
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

/// What follows the first repeats: of what is without chance in every variant one that is measured for longer, of
/// everything else the other repeats.
pub(super) fn behind_trials(plan: &Plan, cases: &mut [Repeats<'_>]) -> Vec<(usize, Range<u32>)> {
    let mut wanted = Vec::new();
    for places in groups(cases) {
        let places: Vec<usize> = places.into_iter().filter(|place| cases[*place].on_trial).collect();
        let alone = places.iter().all(|place| cases[*place].is_without_chance());
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

/// The repeats that are added: see [`until`].
pub(super) fn further(plan: &Plan, cases: &[Repeats<'_>], seed: u64) -> Vec<(usize, Range<u32>)> {
    let Some(until) = plan.run.until else { return Vec::new() };
    let mut wanted = Vec::new();
    // more of what is without chance would tell nothing
    let can_tell = |place: &usize| cases[*place].is_whole() && !cases[*place].task.alone;
    for places in groups(cases).into_iter().filter(|places| places.iter().all(can_tell)) {
        let repeated = |place: &usize| {
            let Repeats { task: Task { variant, workload, case, .. }, done, .. } = &cases[*place];
            Repeated { variant: &variant.name, workload: &workload.name, case, done }
        };
        let variants: Vec<Repeated<'_>> = places.iter().map(repeated).collect();
        let repeats = until::more(plan, until, &variants, seed);
        wanted.extend(repeats.into_iter().flat_map(|repeats| {
            places.iter().map(move |place| (*place, repeats.clone())).collect::<Vec<_>>()
        }));
    }
    wanted
}
