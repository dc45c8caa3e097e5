//! Runs a plan: every variant, workload, case and repeat, on all cores, into one document.

use super::actions::outcome;
use super::bottleneck::{self, Limit};
use super::capsule::{Capsule, Crash};
use super::compare::verdicts;
use super::component_rows;
use super::format::FinishedCase;
use super::formats::{self, Exports};
use super::granularity::Granularity;
use super::in_step;
use super::loads::GivenUp;
use super::measure::{Measured, measure};
use super::outages;
use super::problem::{Problem, at_path, at_rate};
use super::relative::relatives;
use super::repeats::{Repeats, Task, additional, after_trials, cases, first_repeats};
use super::rows::rows;
use super::stages::Spent;
use super::stopping::{Stopping, was_stopped};
use super::switches;
use super::symptoms;
use super::unseen;
use super::window::Length;
use super::world::World;
use lanetwin_document::Diagnostic;
use lanetwin_kernel::mix;
use lanetwin_load::GaveUp;
use lanetwin_plan::{Plan, RunLength};
use lanetwin_ports::Operation;
use lanetwin_stats::Margin;
use lanetwin_stats::results::{
    Assumption, AssumptionKind, Bottleneck, Cost, CxlUse, Digest, Kind, Part, Repeat, Results, Row,
    ScenarioText, ScenarioWarning, SteadyState, Temperatures, Utilisation, Waterfall,
};
use lanetwin_stats::steady::SniaRule;
use lanetwin_units::{Instant, NumberKind};
use rayon::prelude::*;
use serde::Serialize;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The rule that ends rounds.
const SNIA_RULE: &str = "SNIA PTS 2.0.1";

/// How a plan is run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Replaces the plan's seed.
    pub seed: Option<u64>,
    /// How finely links are simulated.
    pub granularity: Granularity,
    /// Number of threads; all cores if `None`.
    pub threads: Option<usize>,
    /// The `--set` changes that led to the plan, for a capsule.
    pub sets: Vec<String>,
    /// Optional attachments to the results.
    pub exports: Exports,
}

/// Progress of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Progress {
    /// Worlds done.
    pub done: usize,
    /// Worlds in all.
    pub total: usize,
    /// Variant of the world that has just completed.
    pub variant: String,
    /// Its workload.
    pub workload: String,
    /// Its case.
    pub case: String,
}

/// Watches a run: receives its progress, and may cancel it.
pub trait Watcher: Sync {
    /// Another world has completed.
    fn progress(&self, progress: &Progress);
    /// Whether no further world shall be started: the run ends with the results it has.
    fn is_cancelled(&self) -> bool;
    /// A request that ends worlds that are running, too. Nobody makes it by default.
    fn stopping(&self) -> Stopping {
        Stopping::default()
    }
}

/// Runs a plan.
///
/// # Errors
/// If one of its worlds panics: a bug in lanetwin, with a capsule to reproduce it.
pub fn run(plan: &Plan, options: &Options, watcher: &dyn Watcher) -> Result<Results, Crash> {
    let seed = options.seed.unwrap_or(plan.run.seed);
    let begun = cpu_seconds();
    let mut cases = cases(plan);
    let mut wanted = first_repeats(plan, &mut cases);
    let (done, mut total) = (AtomicUsize::new(0), 0);
    while !wanted.is_empty() {
        let places: Vec<(usize, u32)> = wanted
            .into_iter()
            .flat_map(|(place, repeats)| repeats.map(move |repeat| (place, repeat)))
            .collect();
        total += places.len();
        let tasks: Vec<Task<'_>> =
            places.iter().map(|(place, repeat)| Task { repeat: *repeat, ..cases[*place].task }).collect();
        let one = |task: &Task<'_>| {
            watched(watcher, (&done, total), task, |stopping| {
                one_world(plan, options, (seed, stopping), task)
            })
        };
        let measured = on_all_cores(options.threads, &tasks, one)?;
        for ((place, _), outcome) in places.iter().zip(measured) {
            let case = &mut cases[*place];
            case.wanted += 1;
            match outcome {
                Some(Ok(measured)) => case.done.push(measured),
                Some(Err(given_up)) => case.given_up.push(given_up),
                None => {}
            }
        }
        wanted = after_trials(plan, &mut cases);
        // a case that is still on trial has run only two of its repeats
        if wanted.is_empty() {
            wanted = additional(plan, &cases, seed);
        }
    }
    let plain = Options { exports: Exports::default(), ..options.clone() };
    let trials = in_step::trials(&cases);
    let tasks: Vec<Task<'_>> = trials.iter().map(|trial| trial.task(&cases)).collect();
    total += tasks.len();
    let one = |task: &Task<'_>| {
        watched(watcher, (&done, total), task, |stopping| one_world(plan, &plain, (seed, stopping), task))
    };
    for (trial, outcome) in trials.iter().zip(on_all_cores(options.threads, &tasks, one)?) {
        if let Some(Ok(apart)) = outcome {
            in_step::tell(&mut cases[trial.place], &apart);
        }
    }
    let cost = Cost {
        cpu_seconds: cpu_seconds() - begun,
        peak_memory_bytes: peak_memory_bytes(),
        ..Cost::default()
    };
    Ok(document(plan, options, seed, cases, cost))
}

/// Runs a world unless the run is cancelled, and reports the progress. Returns `None` if it was not run to its end.
fn watched<T>(
    watcher: &dyn Watcher,
    (done, total): (&AtomicUsize, usize),
    task: &Task<'_>,
    world: impl FnOnce(Stopping) -> Result<Option<T>, Crash>,
) -> Result<Option<T>, Crash> {
    if watcher.is_cancelled() {
        return Ok(None);
    }
    let Some(result) = world(watcher.stopping())? else { return Ok(None) };
    watcher.progress(&Progress {
        done: done.fetch_add(1, Ordering::Relaxed) + 1,
        total,
        variant: task.variant.name.clone(),
        workload: task.workload.name.clone(),
        case: task.case.label.clone(),
    });
    Ok(Some(result))
}

/// The result of each task, in their order.
fn on_all_cores<T: Send>(
    threads: Option<usize>,
    tasks: &[Task<'_>],
    one: impl Fn(&Task<'_>) -> Result<T, Crash> + Sync + Send,
) -> Result<Vec<T>, Crash> {
    match rayon::ThreadPoolBuilder::new().num_threads(as_many(threads, tasks.len())).build() {
        Ok(pool) => {
            let all = pool.install(|| tasks.par_iter().map(one).collect::<Vec<_>>());
            all.into_iter().collect()
        }
        Err(_) => tasks.iter().map(one).collect(), // no threads to be had: one after the other
    }
}

/// The number of threads for a number of tasks, 0 for one per core: more threads than tasks would only be made.
fn as_many(threads: Option<usize>, tasks: usize) -> usize {
    threads.map_or(0, |threads| threads.min(tasks).max(1))
}

/// The seed of a repeat, from 0: the same for all variants, so that they are compared on the same random numbers.
#[must_use]
pub fn seed_of(seed: u64, repeat: u32) -> u64 {
    mix(seed.wrapping_add(u64::from(repeat)))
}

/// The outcome of one world.
type Outcome = Result<Measured, GivenUp>;

/// Returns `None` if the world was asked to stop before its end.
fn one_world(
    plan: &Plan,
    options: &Options,
    (seed, stopping): (u64, Stopping),
    task: &Task<'_>,
) -> Result<Option<Outcome>, Crash> {
    let seed = seed_of(seed, task.repeat);
    let mut world = World::new(task.variant, task.workload, task.case, seed);
    world.stopping = stopping;
    world.keeps_operations = options.exports.timeline && task.repeat == 0;
    if let Some(most) = options.exports.tlps.filter(|_| task.repeat == 0) {
        world.capture_tlps(usize::try_from(share(plan, most)).unwrap_or(usize::MAX));
    }
    world.decide_one_by_one(options.granularity == Granularity::Tlp);
    let repeats = if task.alone { 1 } else { plan.run.repeats };
    let follow = (task.repeat == 0).then_some(repeats);
    let grows = task.workload.length == RunLength::UntilSteady;
    let budget = plan.run.budget.events() / u64::from(repeats);
    let events = grows.then(|| task.events.map_or(budget, |most| most.min(budget)));
    let times = u64::from(if task.alone { plan.run.repeats } else { 1 });
    let length = Length { warm_up: plan.run.warm_up, events, repeats, times };
    let what = (task.case, task.workload.steady.as_ref(), task.workload.pts());
    let ran = catch_unwind(AssertUnwindSafe(|| measure(&mut world, what, length, follow)));
    if ran.as_ref().is_err_and(|payload| was_stopped(&**payload)) {
        return Ok(None);
    }
    ran.map(Some).map_err(|payload| {
        let crash = Crash::of(&world, text_of(&*payload));
        let capsule = Capsule {
            path: plan.path.clone(),
            text: plan.text.clone(),
            files: plan.files.clone(),
            sets: options.sets.clone(),
            variant: task.variant.name.clone(),
            workload: task.workload.name.clone(),
            case: task.case.label.clone(),
            seed,
            granularity: options.granularity,
            ..*crash.capsule
        };
        Crash { capsule: Box::new(capsule) }
    })
}

/// Number of TLPs to capture of each case, if `most` are captured of all cases together; at least one.
fn share(plan: &Plan, most: u64) -> u64 {
    let cases =
        plan.variants.iter().flat_map(|variant| &variant.workloads).map(|workload| workload.cases.len());
    (most / (cases.sum::<usize>() as u64).max(1)).max(1)
}

/// Files up to this size \[B\] are stored in the results with the scenario as well as in the plan; longer ones only
/// in the plan, which runs without the scenario.
const MOST_TWICE: usize = 32 << 10;

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}

fn document(plan: &Plan, options: &Options, seed: u64, cases: Vec<Repeats<'_>>, cost: Cost) -> Results {
    let mut results = Results::new(Kind::Simulated, &plan.name, env!("CARGO_PKG_VERSION"));
    results.about.clone_from(&plan.about);
    results.seed = Some(seed);
    results.complete = cases.iter().all(Repeats::is_whole);
    let interrupted = cases.iter().any(Repeats::was_interrupted);
    let first = cases.iter().find_map(|case| case.given_up.first());
    results.stopped = (!results.complete).then(|| {
        let why = match first.map(|first| first.why) {
            _ if interrupted => "interrupted",
            Some(GaveUp::NoTimePasses) => "no time passes",
            Some(GaveUp::Overloaded) | None => "overloaded",
        };
        why.into()
    });
    let short = plan.files.iter().filter(|(_, text)| text.len() <= MOST_TWICE);
    let files = short.map(|(name, text)| (name.clone(), text.clone())).collect();
    results.scenario = ScenarioText { path: plan.path.clone(), text: plan.text.clone(), files };
    results.plan = serde_json::to_value(plan).expect("a plan is a document");
    results.options = serde_json::json!({ "sets": options.sets, "granularity": options.granularity });
    results.warnings = plan.warnings.iter().map(warning).collect();
    results.warnings.extend(given_up(plan, &cases));
    results.warnings.extend(unseen::warnings(plan, &cases).iter().map(warning));
    results.warnings.extend(symptoms::warnings(plan, &cases).iter().map(warning));
    let (mut digest, mut formats) = (0_u64, formats::begin(options.exports));
    for ran in cases {
        for m in &ran.done {
            digest = mix(digest ^ m.digest);
            results.cost = Cost {
                events: results.cost.events + m.events,
                tlp_hops: results.cost.tlp_hops + m.tlp_hops,
                ..cost
            };
        }
        if ran.is_whole() {
            tell_case(&mut results, &ran.task, &ran.done);
            let Task { variant, workload, case, .. } = ran.task;
            let transits = switches::Of { plan, variant, workload: &workload.name, case: &case.label };
            results.switches.extend(transits.rows(&ran.done[0].transits));
            let ran = FinishedCase { variant, workload, case, repeats: &ran.done };
            formats.iter_mut().for_each(|format| format.add(&ran));
        }
    }
    formats.into_iter().for_each(|format| format.finish(plan.variants.len(), &mut results));
    results.digest = Some(Digest(digest));
    let baseline = &plan.variants[plan.compare.baseline].name;
    if let Some(margin) = Margin::new(plan.compare.equivalent_within) {
        results.verdicts = verdicts(&results.rows, baseline, margin, seed);
    }
    results.relative = relatives(plan, &results.rows, seed);
    tell_assumptions(&mut results, plan);
    results
}

/// Why loads gave up, of each case the first.
fn given_up(plan: &Plan, cases: &[Repeats<'_>]) -> Vec<ScenarioWarning> {
    let first = |ran: &Repeats<'_>| {
        let GivenUp { at, why, asked, answered } = *ran.given_up.first()?;
        let Task { variant, workload, case, .. } = &ran.task;
        let (case, variant) = (case.label.clone(), variant.name.clone());
        let (waiting, after) = (asked - answered, at.since(Instant::ZERO));
        Some(match why {
            GaveUp::Overloaded => {
                let problem = Problem::Overloaded { case, variant, waiting, answered, after };
                at_rate(&problem, plan, &workload.name)
            }
            GaveUp::NoTimePasses => {
                let problem = Problem::NoTimePasses { case, variant, after };
                at_path(&problem, plan, &format!("workloads.{}", workload.name))
            }
        })
    };
    let found: Vec<Diagnostic> = cases.iter().filter_map(first).collect();
    found.iter().map(warning).collect()
}

fn warning(found: &Diagnostic) -> ScenarioWarning {
    let Diagnostic { file, line, column, code, path, message, help, severity: _ } = found.clone();
    ScenarioWarning { code: code.into(), file, line, column, path, message, help }
}

/// A row of a deterministic case. Other random numbers would give the same value, so that its interval has no width
/// unless its parts differ.
fn certain(row: Row) -> Row {
    Row { low: row.low.or(Some(row.value)), high: row.high.or(Some(row.value)), ..row }
}

/// Adds all results of a case whose repeats are complete.
fn tell_case(results: &mut Results, task: &Task<'_>, repeats: &[Measured]) {
    let (variant, workload, case) = (&task.variant.name, &task.workload.name, &task.case.label);
    let told = rows(variant, workload, task.case, repeats);
    results.rows.extend(told.into_iter().map(|row| if task.alone { certain(row) } else { row }));
    let first = &repeats[0];
    for link in &first.links {
        results.utilisation.push(Utilisation {
            variant: variant.clone(),
            workload: workload.clone(),
            case: case.clone(),
            link: link.link.clone(),
            direction: link.direction.clone(),
            tlp: link.tlp,
            message: link.message,
            dllp: link.dllp,
            skp: link.skp,
            replay: link.replay,
            idle: link.idle(),
            credit_stall: link.credit_stall,
            down: link.down,
            mean_queue: link.mean_queue,
        });
    }
    for link in &first.cxl {
        results.cxl.push(CxlUse {
            variant: variant.clone(),
            workload: workload.clone(),
            case: case.clone(),
            link: link.link.clone(),
            direction: link.direction.clone(),
            messages: link.messages,
            data: link.data,
            empty: link.empty,
            credits: link.credits,
            retry: link.retry,
            io: link.io,
            idle: link.idle(),
            credit_stall: link.credit_stall,
            mean_queue: link.mean_queue,
        });
    }
    results.components.extend(component_rows::table((variant, workload, case), repeats));
    let names = (&**workload, &**case);
    let acted = first.acted.iter().map(|acted| outcome(acted, task.variant, names, &first.window));
    results.actions.extend(acted);
    results.outages.extend(outages::told(task, first));
    results.steady.extend(steady(task, repeats));
    let Limit { name, why, together } = bottleneck::name(task.case, first);
    let (variant, workload, case) = (variant.clone(), workload.clone(), case.clone());
    results.waterfalls.extend(waterfalls(task, repeats));
    for caching in first.components.iter().filter(|component| !component.temperatures.is_empty()) {
        let (variant, workload, case) = (variant.clone(), workload.clone(), case.clone());
        let (device, pages) = (caching.component.clone(), caching.temperatures.clone());
        results.temperatures.push(Temperatures { variant, workload, case, device, pages });
    }
    results.bottlenecks.push(Bottleneck { variant, workload, case, name, why, together });
}

/// Time of operations in each stage, over all repeats.
fn waterfalls(task: &Task<'_>, repeats: &[Measured]) -> Vec<Waterfall> {
    let (variant, workload, case) = (&*task.variant.name, &*task.workload.name, &*task.case.label);
    let mut kinds: Vec<(&Option<String>, Operation)> = Vec::new();
    for Spent { device, operation, .. } in repeats.iter().flat_map(|measured| &measured.spent) {
        if !kinds.contains(&(device, *operation)) {
            kinds.push((device, *operation));
        }
    }
    let several = |device: &Option<String>| kinds.iter().filter(|(other, _)| *other == device).count() > 1;
    let waterfall = |(device, operation): &(&Option<String>, Operation)| {
        let its = |spent: &&Spent| spent.device == **device && spent.operation == *operation;
        let found: Vec<&Repeat> = repeats
            .iter()
            .flat_map(|measured| measured.spent.iter().filter(its))
            .map(|spent| &spent.repeat)
            .collect();
        let name = if *operation == Operation::Read { "read" } else { "write" };
        let waterfall = Waterfall::of(variant, workload, case, &found).of_device((*device).clone());
        waterfall.of_operation(several(device).then_some(name))
    };
    kinds.iter().map(waterfall).collect()
}

/// The rounds of each repeat, if the workload goes in rounds.
fn steady(task: &Task<'_>, repeats: &[Measured]) -> Vec<SteadyState> {
    let limits = SniaRule::default();
    let Some(rule) = task.workload.steady else { return Vec::new() };
    let told = |(repeat, measured): (u32, &Measured)| {
        let rounds = measured.rounds.as_ref()?;
        Some(SteadyState {
            variant: task.variant.name.clone(),
            workload: task.workload.name.clone(),
            case: task.case.label.clone(),
            repeat,
            rule: SNIA_RULE.into(),
            of: rule.of.name().into(),
            round_seconds: rule.round.as_ps() as f64 * 1e-12,
            rounds: rounds.all.clone(),
            attained: rounds.attained(),
            range: rounds.found.map(|found| found.range),
            slope: rounds.found.map(|found| found.slope),
            range_limit: limits.range,
            slope_limit: limits.slope,
        })
    };
    (1..).zip(repeats).filter_map(told).collect()
}

fn tell_assumptions(results: &mut Results, plan: &Plan) {
    results.assumptions = plan
        .assumptions()
        .into_iter()
        .map(|a| Assumption {
            part: a.part,
            parameter: a.parameter,
            value: a.value,
            kind: if a.kind == NumberKind::Calibrated {
                AssumptionKind::Calibrated
            } else {
                AssumptionKind::Assumed
            },
            note: a.note,
            source: a.source,
        })
        .collect();
    results.not_modelled = plan.not_modelled();
    results.parts = plan
        .parts
        .values()
        .map(|part| Part {
            name: part.name.clone(),
            grade: part.grade.to_string(),
            validated: part.validated.clone().unwrap_or_default(),
        })
        .collect();
}

/// CPU time of this process \[s\].
fn cpu_seconds() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// Peak resident set of this process \[B\], if the system reports it (Linux, `VmHWM` of proc(5)).
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}

#[cfg(test)]
mod tests {
    use super::as_many;

    #[test]
    fn there_are_no_more_threads_than_tasks() {
        let asked = [None, Some(1), Some(2), Some(100_000), Some(usize::MAX)];
        assert_eq!(asked.map(|threads| as_many(threads, 12)), [0, 1, 2, 12, 12]);
        assert_eq!(as_many(Some(3), 0), 1);
    }
}
