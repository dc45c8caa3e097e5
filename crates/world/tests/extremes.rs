//! Does every machine that passes the check also run? Random machines with the least, the most and other legal values
//! of their parameters either get what is wrong said, or give a complete result: none panics, none stands still.

use crate::tree::{Nobody, options};
use lanetwin_models::{block_endpoint, dma_requester, memory_endpoint, root_complex, switch};
use lanetwin_plan::{Catalogue, check};
use lanetwin_ports::{Dimension, Model};
use lanetwin_world::{Granularity, run};
use proptest::prelude::*;
use std::path::Path;

const MACHINE: &str = "
about: Does it run?
machine:
  host: {part: generic-host-gen4}
  card: {part: generic-dma-gen5}
  ssd: {part: generic-nvme-gen4}
links:
  slot: {from: host, to: card}
  bay: {from: host, to: ssd}
workloads:
  mixed: {dma: {operation: mixed, size: 1000B, window: 64KiB, outstanding: 9, transfers: 40}, on: card}
  open: {dma: {size: 64B, rate: 10MB/s, transfers: 40}, on: card}
  block: {block: {size: 4KiB, depth: 3, read: 50%, requests: 20}, on: host, target: ssd}
run: {repeats: 1}
";

/// The same behind switches, with a neighbour.
const SWITCHED: &str = "
about: Does it run behind switches?
machine:
  host: {part: generic-host-gen4}
  top: {model: switch}
  low: {model: switch}
  card: {part: generic-dma-gen5}
  memory: {part: generic-memory-endpoint-gen5}
  ssd: {part: generic-nvme-gen4}
links:
  up: {from: host, to: top}
  slot: {from: top, to: low}
  bay: {from: low, to: card}
  next: {from: top, to: memory}
  drive: {from: low, to: ssd}
workloads:
  mixed: {dma: {operation: mixed, size: 1000B, window: 64KiB, outstanding: 9, transfers: 40}, on: card, target: host}
  peer: {dma: {operation: mixed, size: 1000B, window: 64KiB, outstanding: 9, transfers: 40}, on: card, target: memory}
  block: {block: {size: 4KiB, depth: 3, read: 50%, requests: 20}, on: host, target: ssd}
run: {repeats: 1}
";

const MODELS: &[(&str, &Model)] =
    &[("host", &root_complex::MODEL), ("card", &dma_requester::MODEL), ("ssd", &block_endpoint::MODEL)];
const SWITCHED_MODELS: &[(&str, &Model)] = &[
    ("top", &switch::MODEL),
    ("low", &switch::MODEL),
    ("memory", &memory_endpoint::MODEL),
    ("host", &root_complex::MODEL),
];

/// Legal values of a parameter, the ends of its range among them.
fn values(dimension: Dimension) -> Vec<String> {
    let list = |values: &[&str]| values.iter().map(|value| (*value).to_owned()).collect();
    match dimension {
        Dimension::Time => list(&["0ns", "1ps", "33ns", "7us", "1ms"]),
        Dimension::Size => list(&["0B", "1B", "64B", "128B", "256B", "300B", "4KiB", "1GiB"]),
        Dimension::Rate => list(&["0GB/s", "1MB/s", "1GB/s", "100GB/s"]),
        Dimension::Count { least, most } => {
            // a machine with as much of everything as can be said is right, and slow
            let most = most.min(5_000);
            [least, least + 1, (least + 16).min(most), most].iter().map(u64::to_string).collect()
        }
        Dimension::Ratio => list(&["0", "1e-6", "50%", "1"]),
        Dimension::Flag => list(&["true", "false"]),
        Dimension::Choice(words) | Dimension::ChoiceOrRatio(words) => list(words),
    }
}

/// `path=value`, for a parameter of one of the components or a key of one of the links.
fn changes(models: &[(&str, &Model)]) -> impl Strategy<Value = String> + use<> {
    let mut all = Vec::new();
    for (name, model) in models {
        for param in model.all_params() {
            let change = |value| format!("machine.{name}.{}={value}", param.name);
            all.push(values(param.dimension).into_iter().map(change).collect::<Vec<_>>());
        }
    }
    let link: [(&str, &[&str]); 10] = [
        ("gen", &["1", "2", "3", "5"]),
        ("width", &["x1", "x2", "x4"]),
        ("mps", &["128B", "512B"]),
        ("clocking", &["srns", "sris"]),
        ("propagation", &["0ns", "1us", "100us"]),
        ("ber", &["1e-9", "1e-5", "1e-4", "1"]),
        ("dllp", &["each", "off"]),
        ("skp", &["on", "off"]),
        ("weight", &["1", "2", "128"]),
        ("down", &["[]", "[{at: 1us, for: 10us}]", "[{at: 0ns, for: 1ms}, {at: 1ms, for: 1ps}]"]),
    ];
    for (key, values) in link {
        for name in ["slot", "bay"] {
            all.push(values.iter().map(|value| format!("links.{name}.{key}={value}")).collect());
        }
    }
    proptest::sample::select(all).prop_flat_map(proptest::sample::select)
}

/// A machine either has an error that is said, or runs to the end, and equally in both granularities.
fn is_refused_or_runs(machine: &str, sets: &[String]) -> Result<(), TestCaseError> {
    let checked = check(Path::new("extremes.yaml"), machine, sets, &Catalogue::built_in());
    let Some(plan) = checked.plan else {
        let errors = checked.diagnostics.iter().filter(|found| found.code.starts_with("SC0")).count();
        prop_assert!(errors > 0, "no plan, and nothing said: {sets:?}");
        return Ok(());
    };
    let results = run(&plan, &options(1, Granularity::Train), &Nobody);
    let results = results.map_err(|crash| TestCaseError::fail(format!("{sets:?}: {:#?}", crash.capsule)))?;
    prop_assert!(results.complete && !results.rows.is_empty(), "{sets:?}");
    let tlp = run(&plan, &options(1, Granularity::Tlp), &Nobody).expect("as before");
    prop_assert_eq!(results.digest, tlp.digest, "{:?}", sets);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 80, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_passes_the_check_runs(sets in prop::collection::vec(changes(MODELS), 1..6)) {
        is_refused_or_runs(MACHINE, &sets)?;
    }

    #[test]
    fn what_passes_the_check_runs_behind_switches(sets in prop::collection::vec(changes(SWITCHED_MODELS), 1..6)) {
        is_refused_or_runs(SWITCHED, &sets)?;
    }
}
