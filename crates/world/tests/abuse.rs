//! Does a run stand what it is asked: more than can be served, many variants, many repeats, a plan that is run again?

use crate::tree::{plan, results};
use lanetwin_plan::{Catalogue, Files, check_with};
use lanetwin_stats::results::Results;
use lanetwin_world::Options;
use std::path::Path;

/// A card in a slot; `rest` takes the place of what comes after the links.
fn card(rest: &str) -> String {
    "about: What does a card do to a slot?
machine: {host: {part: generic-host-gen4}, card: {part: generic-dma-gen5}}
links: {slot: {from: host, to: card, width: x16}}
"
    .to_owned()
        + rest
}
fn run_of(rest: &str) -> Results {
    results(&plan("card.yaml", &card(rest), &[]), &Options::default())
}

#[test]
fn an_open_loop_that_is_overloaded_stops_with_a_code_and_its_place() {
    let found = run_of(
        "workloads:
  calm: {dma: {operation: read, size: 4KiB, outstanding: 4, transfers: 50}, on: card}
  flood: {dma: {operation: read, size: 64B, rate: 100TB/s, transfers: 100}, on: card}
run: {repeats: 1}
",
    );
    assert_eq!((found.complete, found.stopped.as_deref()), (false, Some("overloaded")));
    let [told] = &found.warnings[..] else { panic!("{:#?}", found.warnings) };
    assert_eq!((&*told.code, told.line, &*told.path), ("RU001", 6, "workloads.flood.dma.rate"));
    assert!(told.message.contains("overloaded in `64 B`"), "{told:?}");
    // what was served is told
    assert!(!found.rows.is_empty() && found.rows.iter().all(|row| row.workload == "calm"));
}

/// A disk that takes no time has no rate: the load says so instead of going on for ever, and other loads are told.
#[test]
fn a_load_that_is_answered_without_time_passing_stops_with_a_code() {
    let text = "about: How fast is nothing?\nmachine: {host: {part: generic-host-gen4}, disk: {part: null-device}, late: {part: fixed-latency-device}}\n\
        workloads:\n  calm: {block: {size: 4KiB, depth: 4, requests: 50}, on: host, target: late}\n  \
        read: {block: {size: 4KiB, depth: 4, requests: 50}, on: host, target: disk}\n";
    let found = results(&plan("null.yaml", text, &[]), &Options::default());
    assert_eq!((found.complete, found.stopped.as_deref()), (false, Some("no time passes")));
    let [told] = &found.warnings[..] else { panic!("{:#?}", found.warnings) };
    assert_eq!((&*told.code, &*told.path), ("RU002", "workloads.read"));
    assert!(!found.rows.is_empty() && found.rows.iter().all(|row| row.workload == "calm"));
}

#[test]
fn a_rate_that_is_served_is_no_overload() {
    let found = run_of("workloads: {read: {dma: {size: 4KiB, rate: 10GB/s, transfers: 500}, on: card}}\n");
    assert!(found.complete && found.warnings.is_empty(), "{:?}", found.warnings);
}

#[test]
fn a_written_plan_has_the_digest_of_its_run() {
    let text = card(
        "workloads:
  zulu: {dma: {operation: read, size: [4KiB, 64B], outstanding: 8, transfers: 60}, on: card}
  alpha: {dma: {operation: write, size: 1KiB, outstanding: 2, transfers: 60}, on: card}
variants: {wide: {}, narrow: {links.slot.width: x4}, medium: {links.slot.width: x8}}
compare: {baseline: medium}
run: {repeats: 2, seed: 5}
",
    );
    let first = results(&plan("card.yaml", &text, &[]), &Options::default());
    let written = serde_json::to_string(&first.plan).expect("JSON");
    let again = results(&plan("plan.yaml", &written, &[]), &Options::default());
    assert_eq!(first.digest, again.digest);
    let order = |results: &Results| results.rows.iter().map(|row| row.variant.clone()).collect::<Vec<_>>();
    assert_eq!((order(&first), &*order(&first)[0]), (order(&again), "wide"));
}

#[test]
fn what_the_check_doubts_the_run_tells() {
    let found = run_of(
        "workloads: {read: {dma: {size: 64B, transfers: 20}, on: card}}
variants: {a: {}, b: {}}
run: {repeats: 1}
",
    );
    assert_eq!(found.warnings.iter().map(|told| &*told.code).collect::<Vec<_>>(), ["SC104"]);
    assert!(found.complete && found.warnings[0].help.contains("remove it"), "{:?}", found.warnings);
}

/// The codes of what is wrong with a card in a slot.
fn codes(rest: &str) -> Vec<String> {
    let checked = check_with(Path::new("a.yaml"), &card(rest), &[], &Catalogue::built_in(), &Files::none());
    checked.diagnostics.iter().map(|found| format!("{} {}", found.code, found.path)).collect()
}

#[test]
fn variants_change_what_there_is_and_nothing_else() {
    let of = |variant: &str| {
        codes(&format!(
            "workloads: {{read: {{dma: {{size: 64B}}, on: card}}}}\nvariants: {{a: {{}}, b: {variant}}}\n"
        ))
    };
    assert_eq!(of("{widht: x4}"), ["SC030 variants.b.widht"]);
    assert_eq!(of("{linsk.slot.width: x4}"), ["SC030 variants.b.linsk.slot.width"]);
    assert_eq!(of("{run: {repeats: 3}}"), ["SC040 variants.b.run"]);
    assert_eq!(of("{machine: }"), ["SC006 machine"]);
    // a machine of which nothing is asked is one, but it is said
    assert_eq!(of("{workloads: null}"), ["SC111 "]);
    assert_eq!(of("{links.slot.width: x4}"), [""; 0]);
}
