//! A test of the SNIA PTS in one go: is the drive purged, written, and in the state that the cells before have left,
//! when a cell is measured?

use crate::tree::{plan, results};
use lanetwin_stats::results::Results;
use lanetwin_world::Options;

/// One die of a drive with 16 MiB and so many blocks.
fn test(blocks: u32, pts: &str) -> Results {
    let text = format!(
        "about: What is the matrix of this drive?\nmachine:\n  host: {{part: generic-host-gen4}}\n  \
         ssd: {{part: generic-tlc-gen4, capacity: 16MiB, nand.channels: 1, nand.chips: 1, nand.dies: 1, nand.planes: 2, nand.blocks: {blocks}, \
         nand.pages: 12, ftl.read-ahead.streams: 0, buffer: 256KiB}}\nlinks:\n  bay: {{from: host, to: ssd}}\nworkloads:\n  test: {{pts: {{span: 16MiB, {pts}}}, on: host, target: ssd}}\n\
         run: {{repeats: 1}}\n"
    );
    results(&plan("pts.yaml", &text, &[]), &Options::default())
}

fn value(results: &Results, case: &str, metric: &str) -> f64 {
    let row = results.rows.iter().find(|row| row.case == case && row.metric == metric);
    row.unwrap_or_else(|| panic!("no {metric} of {case}")).value
}

#[test]
fn every_cell_of_the_matrix_is_a_case_and_the_rule_has_tracked_one() {
    let found = test(72, "size: [4KiB, 64KiB], read: [100%, 50%, 0%], step: 100ms, depth: 8");
    let cases: Vec<&str> =
        found.rows.iter().filter(|row| row.metric == "IOPS").map(|row| &*row.case).collect();
    let expected =
        ["4 KiB, 100/0", "64 KiB, 100/0", "4 KiB, 50/50", "64 KiB, 50/50", "4 KiB, 0/100", "64 KiB, 0/100"];
    assert_eq!(cases, expected);
    let iops = |case: &str| value(&found, case, "IOPS");
    assert!(
        iops("4 KiB, 100/0") > iops("4 KiB, 50/50") && iops("4 KiB, 50/50") > iops("4 KiB, 0/100"),
        "{:?}",
        found.rows
    );
    assert!(iops("4 KiB, 0/100") > iops("64 KiB, 0/100"));
    // rates are over the time of five steps, however few I/Os there were in it: those are a whole number
    for case in expected {
        let counted = iops(case) * 1e3 * 0.5;
        assert!((counted - counted.round()).abs() < 1e-6, "{counted} I/Os of {case}");
    }
    let [steady] = &found.steady[..] else { panic!("one case goes in rounds") };
    assert!((5..=25).contains(&steady.rounds.len()) && steady.attained, "{steady:?}");
    assert!(steady.case.contains("4 KiB, 0/100") && steady.of == "iops", "{steady:?}");
    // the cell has what the last five rounds have on average, told in thousands
    let last = &steady.rounds[steady.rounds.len() - 5..];
    let mean = last.iter().map(|round| round.iops).sum::<f64>() / 5e3;
    assert!((iops("4 KiB, 0/100") / mean - 1.0).abs() < 0.02, "{} and {mean} k/s", iops("4 KiB, 0/100"));
}

/// What comes before leaves its mark: without precondition a purged drive takes writes without garbage collection, for
/// a while.
#[test]
fn precondition_is_what_makes_the_first_round_slow() {
    let first = |pts: &str| test(72, pts).steady[0].rounds[0].iops;
    let pts = "size: 4KiB, read: 0%, step: 100ms, depth: 8, rounds: 5";
    let (purged, written) =
        (first(&format!("{pts}, precondition: 0")), first(&format!("{pts}, precondition: 2")));
    assert!(purged > 1.3 * written, "{purged} and {written} writes a second");
}

/// Latency is tracked, with one in flight.
#[test]
fn the_latency_test_has_one_in_flight() {
    let found = test(72, "test: latency, step: 50ms, rounds: 5, precondition: 1");
    let (mean, iops) = (value(&found, "4 KiB, 100/0", "latency"), value(&found, "4 KiB, 100/0", "IOPS"));
    assert!((mean * 1e-9 * iops * 1e3 - 1.0).abs() < 0.02, "{mean} ns at {iops} k/s");
    assert_eq!(found.steady[0].of, "latency");
}
