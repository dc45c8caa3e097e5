//! Relative speed of the cases of a memory load: of every placement against the first, or, if there is one placement,
//! of every variant against the baseline.

use lanetwin_plan::{Case, Load, Plan};
use lanetwin_stats::results::{Relative, Row};
use lanetwin_stats::{Confidence, paired_ratio};
use lanetwin_units::Better;

/// Metrics of speed; the first that a workload has is used. Throughput is for programs that only move bytes.
const SPEEDS: [&str; 3] = ["program time", "operations", "throughput"];

/// The relative speeds of all cases that are compared with another.
pub(super) fn relatives(plan: &Plan, rows: &[Row], seed: u64) -> Vec<Relative> {
    let baseline = &plan.variants[plan.compare.baseline].name;
    let mut found = Vec::new();
    for variant in &plan.variants {
        for workload in &variant.workloads {
            // along an axis there are curves, which are reported as curves
            let cases = || workload.cases.iter().filter(|case| case.axis.is_none());
            let is_placed = cases().any(|case| against(case).is_some());
            for case in cases().filter(|case| matches!(case.load, Load::Memory(_))) {
                let (other_variant, other_case) = match against(case) {
                    Some(first) => (&variant.name, first),
                    None if is_placed || variant.name == *baseline => continue,
                    None => (baseline, &*case.label),
                };
                let of = |variant: &str, case: &str, metric: &str| {
                    rows.iter().find(|row| {
                        let place = (&*row.variant, &*row.workload, &*row.case, &*row.metric);
                        row.device.is_none() && place == (variant, &*workload.name, case, metric)
                    })
                };
                let both = SPEEDS.into_iter().find_map(|metric| {
                    of(other_variant, other_case, metric).zip(of(&variant.name, &case.label, metric))
                });
                found.extend(both.map(|(a, b)| relative(a, b, seed)));
            }
        }
    }
    found
}

fn against(case: &Case) -> Option<&str> {
    match &case.load {
        Load::Memory(memory) => memory.against.as_deref(),
        _ => None,
    }
}

/// Speed of `b` relative to `a`.
fn relative(a: &Row, b: &Row, seed: u64) -> Relative {
    let lower = b.better == Better::Lower;
    // if lower is better (a time), the ratio is inverted
    let (over, under) = if lower { (a, b) } else { (b, a) };
    let change = paired_ratio(&under.samples, &over.samples, Confidence::P95, seed).ok();
    let interval = change.and_then(|change| change.interval());
    Relative {
        variant: b.variant.clone(),
        workload: b.workload.clone(),
        case: b.case.clone(),
        metric: b.metric.clone(),
        baseline_variant: a.variant.clone(),
        baseline_case: a.case.clone(),
        value: change.map_or_else(|| over.value / under.value, |change| 1.0 + change.relative()),
        low: interval.map(|interval| 1.0 + interval.low()),
        high: interval.map(|interval| 1.0 + interval.high()),
    }
}
