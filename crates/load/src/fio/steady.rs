//! `steadystate`: fio's rule, applied to the intervals of a run.
//!
//! fio checks once per second, which is longer than a simulated run. Here the rule is applied to the counted intervals,
//! and `ss_dur` seconds of fio are as many intervals.

use super::settings::Settings;
use crate::intervals::Moved;
use lanetwin_stats::steady::{FioRule, Measure, fio_rule};
use lanetwin_units::Span;
use serde::Serialize;

/// fio's report of a steady state.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct JobEntry {
    ss: String,
    duration: u64,
    attained: u8,
    criterion: String,
    max_deviation: f64,
    slope: f64,
    data: Data,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
struct Data {
    bw_mean: u64,
    iops_mean: u64,
    iops: Vec<u64>,
    bw: Vec<u64>,
}

/// The result of a job's rule on intervals of this width; `None` without a rule, or with too few intervals.
pub(super) fn told(settings: &Settings, moved: &[Moved], width: Span) -> Option<JobEntry> {
    let (rule, seconds) = (settings.steadystate?, settings.ss_dur_us / 1_000_000);
    let window = usize::try_from(seconds).ok().filter(|window| (2..=moved.len()).contains(window))?;
    let per_second = |amount: u64| (amount as f64 * 1e12 / width.as_ps() as f64) as u64;
    let iops: Vec<u64> = moved.iter().map(|m| per_second(m.operations.iter().sum())).collect();
    let bw: Vec<u64> = moved.iter().map(|m| per_second(m.bytes.iter().sum())).collect();
    let of = if rule.iops { &iops } else { &bw };
    let measure = if rule.slope { Measure::Slope } else { Measure::Deviation };
    let series: Vec<f64> = of.iter().map(|value| *value as f64).collect();
    let found = fio_rule(&series, FioRule { measure, limit: rule.limit, percent: rule.percent, window })?;
    let last = found.end - window..found.end;
    let mean = |values: &[u64]| values.iter().sum::<u64>() / window as u64;
    let (iops, bw) = (iops[last.clone()].to_vec(), bw[last].to_vec());
    let unit = if rule.percent { "%" } else { "" };
    let name = if rule.iops { "iops" } else { "bw" };
    let slope = if rule.slope { "_slope" } else { "" };
    Some(JobEntry {
        ss: format!("{name}{slope}:{:.6}{unit}", rule.limit),
        duration: seconds,
        attained: found.attained.into(),
        criterion: format!("{:.6}{unit}", found.criterion),
        max_deviation: if rule.slope { 0.0 } else { found.value },
        slope: if rule.slope { found.value } else { 0.0 },
        data: Data { bw_mean: mean(&bw), iops_mean: mean(&iops), iops, bw },
    })
}
