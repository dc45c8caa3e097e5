//! The run: every variant, workload, case and repeat, on all cores, into one document.

use super::actions::outcome;
use super::bottleneck;
use super::capsule::{Capsule, Crash};
use super::compare::verdicts;
use super::component_rows;
use super::format::FinishedCase;
use super::formats;
use super::granularity::Granularity;
use super::loads::Overload;
use super::measure::{Measured, measure};
use super::problem::{Problem, at_rate};
use super::relative::relatives;
use super::rows::rows;
use super::stages::Spent;
use super::switches;
use super::window::Length;
use super::world::World;
use lanetwin_document::Diagnostic;
use lanetwin_kernel::mix;
use lanetwin_plan::{Case, Plan, Variant, WorkloadPlan};
use lanetwin_ports::Operation;
use lanetwin_stats::Margin;
use lanetwin_stats::results::{
    Assumption, AssumptionKind, Bottleneck, Cost, CxlUse, Digest, Kind, Part, Repeat, Results, ScenarioText,
    ScenarioWarning, SteadyState, Temperatures, Utilisation, Waterfall,
};
use lanetwin_stats::steady::SniaRule;
use lanetwin_units::{Instant, NumberKind};
use rayon::prelude::*;
use serde::Serialize;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whose rule it is that rounds go by.
const SNIA_RULE: &str = "SNIA PTS 2.0.1";

/// How a plan is run.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Options {
    /// Instead of the plan's seed.
    pub seed: Option<u64>,
    /// How finely links are simulated.
    pub granularity: Granularity,
    /// How many threads; all cores if none.
    pub threads: Option<usize>,
    /// The changes that made the plan, for a capsule.
    pub sets: Vec<String>,
}

/// How far a run is.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Progress {
    /// Worlds done.
    pub done: usize,
    /// Worlds in all.
    pub total: usize,
    /// Of the one that has just been done.
    pub variant: String,
    /// Its workload.
    pub workload: String,
    /// Its case.
    pub case: String,
}

/// Who watches a run: is told how far it is, and may stop it.
pub trait Watcher: Sync {
    /// Another world is done.
    fn progress(&self, progress: &Progress);
    /// Whether the run shall end with what it has.
    fn is_cancelled(&self) -> bool;
}

/// One world to run.
#[derive(Clone, Copy)]
struct Task<'a> {
    variant: &'a Variant,
    workload: &'a WorkloadPlan,
    case: &'a Case,
    repeat: u32,
}

/// Runs a plan.
///
/// # Errors
/// If one of its worlds breaks: a bug of ours, with a capsule to bring it back.
pub fn run(plan: &Plan, options: &Options, watcher: &dyn Watcher) -> Result<Results, Crash> {
    let seed = options.seed.unwrap_or(plan.run.seed);
    let begun = cpu_seconds();
    let tasks = tasks(plan);
    let done = AtomicUsize::new(0);
    let one = |task: &Task<'_>| -> Option<Result<Outcome, Crash>> {
        if watcher.is_cancelled() {
            return None;
        }
        let result = one_world(plan, options, seed, task);
        let progress = Progress {
            done: done.fetch_add(1, Ordering::Relaxed) + 1,
            total: tasks.len(),
            variant: task.variant.name.clone(),
            workload: task.workload.name.clone(),
            case: task.case.label.clone(),
        };
        watcher.progress(&progress);
        Some(result)
    };
    let all = |tasks: &[Task<'_>]| tasks.par_iter().map(one).collect::<Vec<_>>();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(options.threads.unwrap_or(0)).build();
    let measured = match pool {
        Ok(pool) => pool.install(|| all(&tasks)),
        Err(_) => tasks.iter().map(one).collect(), // no threads to be had: one after the other
    };
    let measured = measured.into_iter().map(Option::transpose).collect::<Result<Vec<_>, Crash>>()?;
    let cost = Cost {
        cpu_seconds: cpu_seconds() - begun,
        peak_memory_bytes: peak_memory_bytes(),
        ..Cost::default()
    };
    Ok(document(plan, options, seed, &tasks, measured, cost))
}

fn tasks(plan: &Plan) -> Vec<Task<'_>> {
    let mut tasks = Vec::new();
    for variant in &plan.variants {
        for workload in &variant.workloads {
            for case in &workload.cases {
                tasks.extend((0..plan.run.repeats).map(|repeat| Task { variant, workload, case, repeat }));
            }
        }
    }
    tasks
}

/// The seed of a repeat, from 0: the same for all variants, so that they are compared on the same random numbers.
#[must_use]
pub fn seed_of(seed: u64, repeat: u32) -> u64 {
    mix(seed.wrapping_add(u64::from(repeat)))
}

/// What became of a world.
type Outcome = Result<Measured, Overload>;

fn one_world(plan: &Plan, options: &Options, seed: u64, task: &Task<'_>) -> Result<Outcome, Crash> {
    let seed = seed_of(seed, task.repeat);
    let mut world = World::new(task.variant, task.workload, task.case, seed);
    world.decide_one_by_one(options.granularity == Granularity::Tlp);
    let follow = (task.repeat == 0).then_some(plan.run.repeats);
    let length = Length { warm_up: plan.run.warm_up, events: None };
    let what = (task.case, task.workload.steady.as_ref(), task.workload.pts());
    let ran = catch_unwind(AssertUnwindSafe(|| measure(&mut world, what, length, follow)));
    ran.map_err(|payload| {
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

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a panic without a message".into())
}

fn document(
    plan: &Plan,
    options: &Options,
    seed: u64,
    tasks: &[Task<'_>],
    measured: Vec<Option<Outcome>>,
    cost: Cost,
) -> Results {
    let mut results = Results::new(Kind::Simulated, &plan.name, env!("CARGO_PKG_VERSION"));
    results.about.clone_from(&plan.about);
    results.seed = Some(seed);
    results.complete = measured.iter().all(|ran| matches!(ran, Some(Ok(_))));
    let interrupted = measured.iter().any(Option::is_none);
    results.stopped =
        (!results.complete).then(|| if interrupted { "interrupted" } else { "overloaded" }.into());
    results.scenario =
        ScenarioText { path: plan.path.clone(), text: plan.text.clone(), files: plan.files.clone() };
    results.plan = serde_json::to_value(plan).expect("a plan is a document");
    results.options = serde_json::json!({ "sets": options.sets, "granularity": options.granularity });
    results.warnings = plan.warnings.iter().map(warning).collect();
    results.warnings.extend(overloads(plan, tasks, &measured));
    let repeats = plan.run.repeats as usize;
    let (mut digest, mut formats) = (0_u64, formats::begin());
    let mut measured = measured.into_iter();
    for tasks in tasks.chunks(repeats) {
        let whole: Vec<Measured> = measured.by_ref().take(repeats).flatten().flatten().collect();
        for m in &whole {
            digest = mix(digest ^ m.digest);
            results.cost = Cost {
                events: results.cost.events + m.events,
                tlp_hops: results.cost.tlp_hops + m.tlp_hops,
                ..cost
            };
        }
        if whole.len() == repeats {
            tell_case(&mut results, &tasks[0], &whole);
            let Task { variant, workload, case, .. } = tasks[0];
            let ran = FinishedCase { variant, workload, case, repeats: &whole };
            formats.iter_mut().for_each(|format| format.add(&ran));
            let transits = switches::Of { plan, variant, workload: &workload.name, case: &case.label };
            results.switches.extend(transits.rows(&whole[0].transits));
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

/// The first overload of each case.
fn overloads(plan: &Plan, tasks: &[Task<'_>], measured: &[Option<Outcome>]) -> Vec<ScenarioWarning> {
    let repeats = plan.run.repeats as usize;
    let first = |(tasks, ran): (&[Task<'_>], &[Option<Outcome>])| {
        let overload = ran.iter().flatten().find_map(|ran| ran.as_ref().err())?;
        let Task { variant, workload, case, .. } = &tasks[0];
        let problem = Problem::Overloaded {
            case: case.label.clone(),
            variant: variant.name.clone(),
            waiting: overload.asked - overload.answered,
            answered: overload.answered,
            after: overload.at.since(Instant::ZERO),
        };
        Some(at_rate(&problem, plan, &workload.name))
    };
    let found: Vec<Diagnostic> =
        tasks.chunks(repeats).zip(measured.chunks(repeats)).filter_map(first).collect();
    found.iter().map(warning).collect()
}

fn warning(found: &Diagnostic) -> ScenarioWarning {
    let Diagnostic { file, line, column, code, path, message, help, severity: _ } = found.clone();
    ScenarioWarning { code: code.into(), file, line, column, path, message, help }
}

/// Everything about one case whose repeats are all done.
fn tell_case(results: &mut Results, task: &Task<'_>, repeats: &[Measured]) {
    let (variant, workload, case) = (&task.variant.name, &task.workload.name, &task.case.label);
    results.rows.extend(rows(variant, workload, task.case, repeats));
    let first = &repeats[0];
    for link in &first.links {
        results.utilisation.push(Utilisation {
            variant: variant.clone(),
            workload: workload.clone(),
            case: case.clone(),
            link: link.link.clone(),
            direction: link.direction.clone(),
            tlp: link.tlp,
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
    results.steady.extend(steady(task, repeats));
    let (name, why) = bottleneck::name(task.case, first);
    let (variant, workload, case) = (variant.clone(), workload.clone(), case.clone());
    results.waterfalls.extend(waterfalls(task, repeats));
    for caching in first.components.iter().filter(|component| !component.temperatures.is_empty()) {
        let (variant, workload, case) = (variant.clone(), workload.clone(), case.clone());
        let (device, pages) = (caching.component.clone(), caching.temperatures.clone());
        results.temperatures.push(Temperatures { variant, workload, case, device, pages });
    }
    results.bottlenecks.push(Bottleneck { variant, workload, case, name, why });
}

/// Where operations spent their time, over all repeats; where loads of memory did that were followed.
fn waterfalls(task: &Task<'_>, repeats: &[Measured]) -> Vec<Waterfall> {
    let (variant, workload, case) = (&*task.variant.name, &*task.workload.name, &*task.case.label);
    let mut kinds: Vec<(&Option<String>, Operation)> = Vec::new();
    for Spent { device, operation, .. } in repeats.iter().flat_map(|measured| &measured.spent) {
        if !kinds.contains(&(device, *operation)) {
            kinds.push((device, *operation));
        }
    }
    let several = |device: &Option<String>| kinds.iter().filter(|(other, _)| *other == device).count() > 1;
    let operations = kinds.iter().map(|(device, operation)| {
        let its = |spent: &&Spent| spent.device == **device && spent.operation == *operation;
        let found: Vec<&Repeat> = repeats
            .iter()
            .flat_map(|measured| measured.spent.iter().filter(its))
            .map(|spent| &spent.repeat)
            .collect();
        let name = if *operation == Operation::Read { "read" } else { "write" };
        let waterfall = Waterfall::of(variant, workload, case, &found).of_device((*device).clone());
        waterfall.of_operation(several(device).then_some(name))
    });
    let loads = repeats[0].loads.iter().map(|(node, repeat)| {
        Waterfall::of(variant, workload, case, &[repeat]).of_device(Some(node.clone()))
    });
    operations.chain(loads).collect()
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

/// CPU time of this process \[s\], if the system tells.
fn cpu_seconds() -> f64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    t.tv_sec as f64 + t.tv_nsec as f64 * 1e-9
}

/// The most memory that this process has held, its peak resident set \[B\], if the system tells (Linux, `VmHWM` of
/// proc(5)).
fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
}
