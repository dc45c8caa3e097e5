//! What the tests of worlds share: the scenarios of the tree, and how they are run.
#![allow(dead_code, reason = "each test binary uses a part of it")]

use lanetwin_plan::{Catalogue, Files, Plan, check_with};
use lanetwin_stats::results::{Cost, Results};
use lanetwin_world::{Granularity, Options, Progress, Watcher, run};
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{LazyLock, Mutex};

/// Every file of `scenarios/`, in the order of names.
pub fn scenarios() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let entries = std::fs::read_dir(&folder).expect("the tree has scenarios");
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|file| file.extension().is_some_and(|ext| ext == "yaml"));
    files.sort();
    assert!(files.len() > 1, "{} holds {files:?}", folder.display());
    files
}

/// The plan of a scenario file, with changes.
pub fn plan_of(file: &Path, sets: &[&str]) -> Plan {
    let text = std::fs::read_to_string(file).expect("a scenario can be read");
    plan_with(
        &file.file_name().expect("a file").to_string_lossy(),
        &text,
        sets,
        &Files::beside(file).anywhere(),
    )
}

/// The plan of a text, with changes.
pub fn plan(path: &str, text: &str, sets: &[&str]) -> Plan {
    plan_with(path, text, sets, &Files::none())
}

fn plan_with(path: &str, text: &str, sets: &[&str], files: &Files) -> Plan {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let checked = check_with(Path::new(path), text, &sets, &Catalogue::built_in(), files);
    checked.plan.unwrap_or_else(|| panic!("{path}: {:#?}", checked.diagnostics))
}

/// Nobody watches.
pub struct Nobody;

impl Watcher for Nobody {
    fn progress(&self, _: &Progress) {}
    fn is_cancelled(&self) -> bool {
        false
    }
}

/// Runs a plan that nothing is wrong with.
pub fn results(plan: &Plan, options: &Options) -> Results {
    run(plan, options, &Nobody).unwrap_or_else(|crash| panic!("{}: {:#?}", plan.name, crash.capsule))
}

/// Every scenario of the tree with what it comes to, with all its repeats.
pub fn recorded() -> &'static [(Plan, Results)] {
    static RECORDED: LazyLock<Vec<(Plan, Results)>> = LazyLock::new(|| {
        let run = |file: &PathBuf| {
            let plan = plan_of(file, &[]);
            let results = results(&plan, &Options::default());
            assert!(results.complete && !results.rows.is_empty(), "{}", results.name);
            (plan, results)
        };
        scenarios().iter().map(run).collect()
    });
    &RECORDED
}

/// Every scenario of the tree with one repeat, by two threads and train by train: what other ways are held against.
pub fn once() -> &'static [(Plan, Results)] {
    static ONCE: LazyLock<Vec<(Plan, Results)>> = LazyLock::new(|| {
        let run = |file: &PathBuf| {
            let plan = plan_of(file, &["run.repeats=1"]);
            let results = results(&plan, &options(2, Granularity::Train));
            assert!(results.complete && !results.rows.is_empty(), "{}", results.name);
            (plan, results)
        };
        scenarios().iter().map(run).collect()
    });
    &ONCE
}

/// So many repeats of the last case of each workload, on the last variant: what is quick to run, and has the most in
/// flight.
pub fn in_short(file: &Path, repeats: u32) -> Plan {
    let mut plan = plan_of(file, &[&format!("run.repeats={repeats}")]);
    plan.variants.drain(..plan.variants.len() - 1);
    plan.compare.baseline = 0;
    for workload in plan.variants.iter_mut().flat_map(|variant| &mut variant.workloads) {
        workload.cases.drain(..workload.cases.len() - 1);
    }
    plan
}

/// What each of them comes to, in their order, found on all cores.
pub fn side_by_side<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, found) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let take = || {
        while let Some((place, one)) = Some(next.fetch_add(1, Relaxed)).and_then(|n| Some((n, all.get(n)?))) {
            let result = work(one);
            found.lock().expect("nobody else has failed").push((place, result));
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, NonZero::get);
    std::thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(take))));
    let mut found = found.into_inner().expect("nobody has failed");
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, result)| result).collect()
}

/// So many threads, TLP by TLP or not.
pub fn options(threads: usize, granularity: Granularity) -> Options {
    Options { threads: Some(threads), granularity, ..Options::default() }
}

/// The document without what it says of how it was made: what must be the same however that was.
pub fn substance(results: &Results) -> String {
    let same = Results { cost: Cost::default(), options: serde_json::Value::Null, ..results.clone() };
    same.to_json()
}
