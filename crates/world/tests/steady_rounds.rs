//! Rounds until a drive is steady, and the power of one that reads.

use crate::tree::{plan, plan_of, results};
use lanetwin_plan::check_text;
use lanetwin_stats::results::{Results, SteadyState};
use lanetwin_stats::steady::{SNIA_ROUNDS, SniaRule, snia_rule};
use lanetwin_world::Options;
use std::path::Path;

fn run(name: &str, sets: &[&str]) -> Results {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    results(&plan_of(&file, sets), &Options::default())
}

fn of<'r>(results: &'r Results, variant: &str) -> &'r SteadyState {
    results.steady.iter().find(|steady| steady.variant == variant).expect("every variant goes in rounds")
}

/// A purged drive is fast until its blocks have been written once, and becomes steady when garbage collection has found
/// its pace: at the rate that its spare blocks allow, and only where the rule says so.
#[test]
fn a_purged_drive_becomes_steady_at_the_rate_of_its_spare_blocks() {
    let results = run("long/steady-state.yaml", &[]);
    for steady in &results.steady {
        let iops: Vec<f64> = steady.rounds.iter().map(|round| round.iops).collect();
        assert!(steady.attained, "{}: {iops:?}", steady.variant);
        let found = snia_rule(&iops, SniaRule::default()).expect("enough rounds");
        assert!(found.attained && found.rounds == iops.len(), "it ends with the first five that are steady");
        assert!(iops.len() > SNIA_ROUNDS && iops[0] > 1.5 * found.mean, "{}: {iops:?}", steady.variant);
        let amplification = |place: usize| steady.rounds[place].write_amplification.expect("it wrote");
        assert!(amplification(0) < 1.1 && amplification(iops.len() - 1) > 1.15);
        // all other results are those of the window
        let row = |metric: &str| {
            let is_it = |row: &&lanetwin_stats::results::Row| {
                row.variant == steady.variant && row.metric == metric && row.device.is_none()
            };
            results.rows.iter().find(is_it).expect("a row").value
        };
        assert!(
            (row("IOPS") * 1e3 / found.mean - 1.0).abs() < 0.005,
            "{} k/s, {}/s",
            row("IOPS"),
            found.mean
        );
    }
    let mean = |variant: &str| {
        let rounds = &of(&results, variant).rounds;
        rounds[rounds.len() - SNIA_ROUNDS..].iter().map(|round| round.iops).sum::<f64>() / SNIA_ROUNDS as f64
    };
    assert!(mean("little-spare") < 0.8 * mean("spare"));
}

#[test]
fn what_is_not_steady_says_so_after_as_many_rounds_as_there_may_be() {
    let results = run(
        "long/steady-state.yaml",
        &["workloads.wsat.steady-state.rounds=5", "workloads.wsat.steady-state.of=latency"],
    );
    for steady in &results.steady {
        assert!(!steady.attained && steady.rounds.len() == 5, "{steady:?}");
        assert!(
            steady.range.is_some_and(|range| range > steady.range_limit)
                || steady.slope.is_some_and(|slope| slope > steady.slope_limit)
        );
    }
}

#[test]
fn rounds_of_what_has_none_are_an_error() {
    let codes = |load: &str, round: &str| {
        let text = format!(
            "about: Is it steady?\nmachine: {{host: {{part: generic-host-gen4}}, card: {{part: generic-dma-gen5}}, ssd: {{part: generic-nvme-gen4}}}}\n\
             links: {{a: {{from: host, to: card}}, b: {{from: host, to: ssd}}}}\nworkloads:\n  other: {{dma: {{size: 4KiB}}, on: card}}\n  load: {{{load}, steady-state: {{round: {round}}}}}\n"
        );
        check_text(&text).iter().map(|d| d.code.to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(codes("dma: {size: 4KiB}, on: card", "1ms"), ["SC085"]);
    assert_eq!(codes("block: {size: 4KiB}, on: host, target: ssd", "1ms"), Vec::<String>::new());
    assert_eq!(codes("block: {size: 4KiB}, on: host, target: ssd", "2h"), ["SC008"]);
    assert_eq!(codes("block: {size: 4KiB}, on: host, target: ssd", "90s"), ["SC009"]);
    assert_eq!(codes("block: {size: 4KiB}, on: host, target: ssd", "1ms, rounds: 5, least: 6"), ["SC009"]);
}

/// A complete plan is a scenario that gives the same run.
#[test]
fn a_complete_plan_keeps_its_rounds() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/long/steady-state.yaml");
    let whole = plan_of(&file, &["workloads.wsat.steady-state.rounds=5"]);
    let text = serde_json::to_string(&whole).expect("a plan is a document");
    let again = plan("again.yaml", &text, &[]);
    assert_eq!(again.variants[0].workloads[0].steady, whole.variants[0].workloads[0].steady);
    assert!(whole.variants[0].workloads[0].steady.is_some());
}

/// 657 MB/s per watt is what the white paper of the PM1743 has. The energy of a byte through its controller is
/// calibrated to it (parts/samsung-pm1743.yaml): this holds the arithmetic, and predicts nothing.
#[test]
fn a_pm1743_that_reads_in_sequence_has_the_efficiency_that_it_is_calibrated_to() {
    let text = "about: What does a byte cost?\nmachine:\n  cpu: {part: amd-epyc-9554}\n  ssd: {part: samsung-pm1743, ftl.initial: sequential}\n\
                links:\n  slot: {from: cpu, to: ssd, mps: 256B}\nworkloads:\n  \
                read: {block: {size: 128KiB, depth: 64, pattern: sequential, span: 1000GB, requests: 600}, on: cpu, target: ssd}\n\
                run: {repeats: 1}\n";
    let results = results(&plan("watts.yaml", text, &[]), &Options::default());
    let row = results
        .rows
        .iter()
        .find(|row| row.metric == "drive throughput per watt")
        .expect("a row of the drive");
    assert!((row.value / 657.0 - 1.0).abs() < 0.02, "{} {}", row.value, row.unit);
}

/// `cargo test --profile optimised -p lanetwin-world --test subjects steady_rounds -- --ignored --nocapture`
mod nightly {
    use super::*;
    use lanetwin_plan::Catalogue;
    use lanetwin_ports::Value;

    /// Every drive for servers that is shipped, with flash, takes random writes evenly from its drawn state on: each
    /// second but the first, in which the buffer fills, is within 3 % of their mean, and the rule finds any five in a
    /// row steady.
    #[test]
    #[ignore = "takes minutes, thirty seconds of each shipped drive: make test-nightly"]
    fn every_second_of_a_shipped_drive_is_like_the_next() {
        let results = run("long/random-writes.yaml", &[]);
        let parts = Catalogue::built_in();
        let is_there = |part: &lanetwin_plan::Part, name: &str| part.parameters.contains_key(name);
        let nand = |part: &lanetwin_plan::Part| {
            let medium = part.parameters.get("medium").map(|number| number.value);
            is_there(part, "nand.blocks") && medium.is_none_or(|medium| medium == Value::Choice("nand"))
        };
        let shipped = parts.parts().filter(|part| part.model.name == "nvme-ssd" && nand(part));
        let for_servers = shipped.filter(|part| !is_there(part, "ftl.slc.blocks")).count();
        assert_eq!(results.steady.len(), for_servers, "every shipped drive is a variant");
        for steady in &results.steady {
            let iops: Vec<f64> = steady.rounds.iter().map(|round| round.iops).skip(1).collect();
            let mean = iops.iter().sum::<f64>() / iops.len() as f64;
            let off = iops.iter().map(|iops| (iops / mean - 1.0).abs()).fold(0.0, f64::max);
            let amplified = steady.rounds.last().and_then(|round| round.write_amplification);
            println!(
                "{}: {:.1} k, then {:.1} k/s within {:.2} %, {amplified:?}",
                steady.variant,
                steady.rounds[0].iops / 1e3,
                mean / 1e3,
                off * 100.0
            );
            assert!(iops.len() == 30 && steady.attained && off < 0.03, "{}: {iops:?}", steady.variant);
            for rounds in iops.windows(SNIA_ROUNDS) {
                assert!(snia_rule(rounds, SniaRule::default()).expect("enough rounds").attained);
            }
        }
    }
}
