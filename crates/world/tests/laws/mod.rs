//! What holds of every scenario of the tree: shares sum to one, stages to the mean that they explain, and nothing is
//! faster than in an empty switch.

use crate::tree::once;
use lanetwin_plan::Plan;
use lanetwin_stats::results::{Results, Row, Waterfall};
use std::collections::BTreeSet;

/// All of them, of these runs.
pub fn hold(runs: &[(Plan, Results)]) {
    shares_and_stages(runs);
    ways_through_switches(runs);
}

#[test]
fn shares_of_the_time_sum_to_one_and_stages_to_the_whole() {
    shares_and_stages(once());
}

fn shares_and_stages(runs: &[(Plan, Results)]) {
    for (plan, results) in runs {
        for u in &results.utilisation {
            let shares = [u.tlp, u.message, u.dllp, u.skp, u.replay, u.credit_stall, u.down, u.idle];
            assert!(shares.iter().all(|share| (0.0..=1.0).contains(share)), "{}: {u:?}", results.name);
            let sum: f64 = shares.iter().sum();
            assert!((sum - 1.0).abs() < 1e-9, "{}: {sum} {u:?}", results.name);
        }
        for waterfall in &results.waterfalls {
            assert!(waterfall.is_exact(), "{}: {waterfall:?}", results.name);
            assert!(
                waterfall.stages.iter().all(|stage| stage.value > 0.0),
                "{}: {waterfall:?}",
                results.name
            );
        }
        assert_sums_are_those_of_rows(plan, results);
        // the cells of a test are told each, and what limits it of all of them
        let workloads = || plan.variants.iter().flat_map(|variant| &variant.workloads);
        let is_test =
            |name: &str| workloads().any(|workload| workload.name == name && workload.pts().is_some());
        let told = results.rows.iter().filter(|row| row.device.is_some() || !is_test(&row.workload));
        let cases: BTreeSet<_> = told.map(|r| (&r.variant, &r.workload, &r.case)).collect();
        let explained: BTreeSet<_> =
            results.bottlenecks.iter().map(|b| (&b.variant, &b.workload, &b.case)).collect();
        assert_eq!(cases, explained, "{}: every case has a bottleneck", results.name);
    }
}

/// Every latency that is told has a waterfall whose operations and total are those behind its mean: each repeat's, to
/// the last bit.
fn assert_sums_are_those_of_rows(plan: &Plan, results: &Results) {
    let is_test = |row: &Row| {
        let mut workloads = plan.variants.iter().flat_map(|variant| &variant.workloads);
        workloads.any(|workload| workload.name == row.workload && workload.pts().is_some())
    };
    // an operation of a program is no load: it has as many as it likes
    let of_programs = ["operation latency", "GET latency", "SET latency"];
    let is_told = |row: &&Row| row.metric.ends_with("latency") && !of_programs.contains(&&*row.metric);
    for row in results.rows.iter().filter(|row| is_told(row) && !is_test(row)) {
        let operation = row.metric.strip_suffix(" latency");
        let of_case = || {
            let same = |w: &&Waterfall| {
                (&w.variant, &w.workload, &w.case) == (&row.variant, &row.workload, &row.case)
            };
            results
                .waterfalls
                .iter()
                .filter(same)
                .filter(move |w| w.operation.is_none() || w.operation.as_deref() == operation)
        };
        // of several devices each has its own, of jobs of fio all together have one
        let Some(waterfall) = of_case().find(|w| w.device == row.device) else {
            assert!(of_case().next().is_some(), "{}: {row:?} has no waterfall", results.name);
            continue;
        };
        // some stand for others, of many
        let some = |(followed, all): (&u64, &u64)| (1..=*all).contains(followed);
        assert!(waterfall.followed.iter().zip(&waterfall.operations).all(some), "{}: {row:?}", results.name);
        let means = waterfall.totals_ps.iter().zip(&waterfall.operations);
        let means: Vec<f64> = means.map(|(ps, n)| *ps as f64 / *n as f64 / 1e3).collect();
        assert_eq!(means, row.samples, "{}: {row:?}", results.name);
    }
}

/// Whatever is in the way: in no scenario is a TLP in a switch for less than in an empty one, and ways that scenarios
/// use are told.
#[test]
fn nothing_is_faster_than_in_an_empty_switch() {
    ways_through_switches(once());
}

fn ways_through_switches(runs: &[(Plan, Results)]) {
    let mut told = 0;
    for (plan, results) in runs {
        let has_switch = plan.variants[0].machine.iter().any(lanetwin_plan::ComponentPlan::is_switch);
        assert!(!has_switch || !results.switches.is_empty(), "{}", plan.name);
        for row in &results.switches {
            assert!(row.shortest >= row.idle, "{}: {row:?}", plan.name);
            let order = [row.shortest, row.median, row.p99, row.longest];
            assert!(order.is_sorted(), "{}: {row:?}", plan.name);
            assert!(row.idle > row.latency && row.packets > 0, "{}: {row:?}", plan.name);
        }
        told += results.switches.len();
    }
    assert!(told > 100, "{told} rows");
}
