//! Is a run the same whenever and however it is run: in debug and in release, with one thread or two, train by train or
//! TLP by TLP?
//!
//! The digest of every scenario, that of its first repeat and a few rows are recorded in `golden/runs.txt`, and what
//! they come to has to keep the laws of `laws/`. With every change the first repeats are run, at night all of them,
//! with optimisation and assertions, without the one and without the other, so that all are equal. Scenarios in other
//! ways take minutes without optimisation, and are skipped then. After a change that is meant to change results,
//! `ACCEPT=1` runs all repeats and rewrites the record.

mod laws;
mod record;
mod tree;

use lanetwin_plan::Plan;
use lanetwin_stats::results::Results;
use lanetwin_world::{Granularity, Options};
use record::{first_digest, moved, record};
use std::path::{Path, PathBuf};
use tree::{in_short, once, options, plan, recorded, results, scenarios, substance};

fn file() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/runs.txt")
}

/// What is to be on record of every scenario, from all its repeats.
fn found() -> String {
    let both = recorded().iter().zip(once());
    both.map(|((_, whole), (_, first))| record(whole, first)).collect()
}

/// Repeats differ by their seeds alone: what moves a digest moves that of the first one.
#[test]
fn every_scenario_has_the_digest_that_is_on_record() {
    if std::env::var_os("ACCEPT").is_some() {
        std::fs::write(file(), found()).expect("the record can be written");
    }
    let recorded = std::fs::read_to_string(file()).unwrap_or_default();
    let digests = |(plan, results): &(Plan, Results)| {
        let digest = results.digest.as_ref().expect("a simulation has a digest").to_string();
        (plan.name.clone(), digest)
    };
    let [is, was]: [Vec<(String, String)>; 2] =
        [once().iter().map(digests).collect(), first_digest(&recorded).collect()];
    // all repeats of all of them, to tell which figures moved
    assert!(is == was, "{}If the change is meant: make accept", moved(&recorded, &found()));
}

#[test]
fn what_moved_is_told_with_both_values() {
    let before = "a 0123\n  x / read / 4 KiB: read throughput 10.0000 GB/s ± 0.1, p99 3 ns\nb 4567\nc 89ab\n  x / y / z: latency 5 ns\n";
    let after = "a 3210\n  x / read / 4 KiB: read throughput 12.5000 GB/s ± 0.1, p99 3 ns\nc ba98\n  x / y / z: latency 5 ns\nd cdef\n";
    let told = "\
a: 0123 → 3210
  x / read / 4 KiB: read throughput 10.0000 GB/s ± 0.1, p99 3 ns → 12.5000 GB/s ± 0.1, p99 3 ns (+25.00 %)
c: 89ab → ba98
  no row of the record moved
d: is new
b: is gone
";
    assert_eq!(moved(before, after), told);
    assert_eq!(moved(after, after), "");
}

fn found_by_name(name: &str) -> PathBuf {
    scenarios().into_iter().find(|file| file.ends_with(name)).expect("a scenario of this name")
}

/// A world is one thread, whatever it is of: what threads share are worlds, which are put together in their order.
#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn threads_do_not_change_a_result() {
    for file in ["demo.yaml", "tenants.yaml", "nvmeof.yaml"].map(found_by_name) {
        let plan = in_short(&file, 3);
        let [one, three] = [1, 3].map(|threads| results(&plan, &options(threads, Granularity::Train)));
        assert_eq!(substance(&one), substance(&three), "{}", plan.name);
    }
}

mod nightly {
    use super::*;

    #[test]
    #[ignore = "all repeats of every scenario: make nightly"]
    fn every_scenario_has_the_digest_of_all_its_repeats_and_the_rows_that_are_on_record() {
        let (found, recorded) = (found(), std::fs::read_to_string(file()).unwrap_or_default());
        assert!(found == recorded, "{}If the change is meant: make accept", moved(&recorded, &found));
    }

    #[test]
    #[ignore = "of all repeats: make nightly"]
    fn the_laws_hold_of_all_repeats() {
        laws::hold(recorded());
    }

    #[test]
    #[ignore = "the same of every scenario: make nightly"]
    fn threads_do_not_change_a_result_of_any_scenario() {
        for (plan, two) in once() {
            let one = results(plan, &options(1, Granularity::Train));
            assert_eq!(substance(&one), substance(two), "{}", plan.name);
        }
    }

    #[test]
    #[ignore = "the same of every case: make nightly"]
    fn granularity_does_not_change_a_result_of_any_case() {
        for (plan, train) in once() {
            assert_is_the_same_in_tlps(plan, train);
        }
    }

    /// All scenarios of the tree draw addresses, but those that replay a trace and one that reads in order.
    #[test]
    #[ignore = "the same of every scenario: make nightly"]
    fn another_seed_is_another_run_of_any_scenario() {
        let draws = |plan: &Plan| {
            !["trace", "memory-trace", "link-cycles-drive", "network-stream", "rdma"].contains(&&*plan.name)
        };
        for (plan, first) in once().iter().filter(|(plan, _)| draws(plan)) {
            let other = Options { seed: Some(plan.run.seed + 1), ..Options::default() };
            assert_ne!(first.digest, results(plan, &other).digest, "{}", plan.name);
        }
    }
}

/// The digest holds every delivery and every departure, so that equal digests are equal schedules: those of every
/// scenario for a while are compared in `worlds.rs`, here it is the document, of one scenario of each kind.
#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn granularity_does_not_change_a_result() {
    let kinds = [
        "demo.yaml",
        "errors.yaml",
        "nvmeof.yaml",
        "cmm-h.yaml",
        "drive-commands.yaml",
        "network-stream.yaml",
    ];
    for file in kinds.map(found_by_name) {
        let plan = in_short(&file, 1);
        let train = results(&plan, &options(2, Granularity::Train));
        assert_is_the_same_in_tlps(&plan, &train);
    }
}

fn assert_is_the_same_in_tlps(plan: &Plan, train: &Results) {
    let tlp = results(plan, &options(2, Granularity::Tlp));
    assert_eq!(train.digest, tlp.digest, "{}", plan.name);
    assert_eq!(substance(train), substance(&tlp), "{}", plan.name);
}

/// Random addresses, arrivals, garbage collection and the lines of a memory are drawn anew.
#[test]
#[ignore = "takes minutes without optimisation: make test-rust"]
fn another_seed_is_another_run() {
    for file in ["demo.yaml", "retimer.yaml", "nvmeof.yaml", "cmm-h.yaml"].map(found_by_name) {
        let plan = in_short(&file, 1);
        let digest = |seed| results(&plan, &Options { seed: Some(seed), ..Options::default() }).digest;
        assert_ne!(digest(plan.run.seed), digest(plan.run.seed + 1), "{}", plan.name);
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
