//! Is a run the same whenever and however it is run: in debug and in release, with one thread or two, train by train or TLP by TLP?
//!
//! The digests of every scenario are recorded in `golden/digests.txt`. This file is run against the same record with optimisation and
//! assertions, and in the night without the one and without the other, so that all are equal. Every scenario in other ways takes
//! minutes without optimisation, and is skipped then. After a change that is meant to change results, `ACCEPT=1` rewrites the record.

mod tree;

use lanetwin_plan::Plan;
use lanetwin_stats::results::Results;
use lanetwin_world::{Granularity, Options};
use std::path::Path;
use std::sync::LazyLock;
use tree::{options, plan, plan_of, results, scenarios, substance};

/// Every scenario with two repeats, enough to pair them, by two threads and train by train: what other ways are held against.
static TWICE: LazyLock<Vec<(Plan, Results)>> = LazyLock::new(|| {
    let run = |file: &std::path::PathBuf| {
        let plan = plan_of(file, &["run.repeats=2"]);
        let results = results(&plan, &options(2, Granularity::Train));
        (plan, results)
    };
    scenarios().iter().map(run).collect()
});

#[test]
fn every_scenario_has_the_digest_that_is_on_record() {
    let line = |file: &std::path::PathBuf| {
        let results = results(&plan_of(file, &[]), &Options::default());
        assert!(results.complete && !results.rows.is_empty(), "{}", results.name);
        format!("{} {}\n", results.name, results.digest.expect("a simulation has a digest"))
    };
    let found: String = scenarios().iter().map(line).collect();
    let record = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/digests.txt");
    if std::env::var_os("ACCEPT").is_some() {
        std::fs::write(&record, &found).expect("the record can be written");
    }
    let recorded = std::fs::read_to_string(&record).unwrap_or_default();
    assert_eq!(
        found, recorded,
        "left: what the scenarios give now; right: the record. If the change is meant: make accept"
    );
}

#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn threads_do_not_change_a_result() {
    for (plan, two) in TWICE.iter() {
        let one = results(plan, &options(1, Granularity::Train));
        assert_eq!(substance(&one), substance(two), "{}", plan.name);
    }
}

/// The digest holds every delivery and every departure, so that equal digests are equal schedules.
#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn granularity_does_not_change_a_result() {
    for (plan, train) in TWICE.iter() {
        let tlp = results(plan, &options(2, Granularity::Tlp));
        assert_eq!(train.digest, tlp.digest, "{}", plan.name);
        assert_eq!(substance(train), substance(&tlp), "{}", plan.name);
    }
}

/// All scenarios of the tree draw addresses.
#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn another_seed_is_another_run() {
    for file in scenarios() {
        let plan = plan_of(&file, &["run.repeats=1"]);
        let digest = |seed| results(&plan, &Options { seed: Some(seed), ..Options::default() }).digest;
        assert_ne!(digest(1), digest(2), "{}", plan.name);
    }
}

#[test]
fn without_chance_the_seed_changes_nothing() {
    let text = "
about: Does a seed matter where nothing is drawn?
machine: {host: {part: generic-host-gen4}, card: {part: generic-dma-gen5}}
links: {slot: {from: host, to: card}}
workloads: {write: {dma: {operation: write, size: 4KiB, pattern: sequential, window: 1MiB, transfers: 300}, on: card}}
run: {repeats: 1}
";
    let plan = plan("still.yaml", text, &[]);
    let digest = |seed| results(&plan, &Options { seed: Some(seed), ..Options::default() }).digest;
    assert_eq!(digest(1), digest(2));
}
