//! Outages of links: what the plan says of each, and the throughput of the link before and after it.

use super::carried::Carried;
use super::measure::Measured;
use super::repeats::Task;
use lanetwin_plan::{Down, LinkPlan};
use lanetwin_stats::results::LinkOutage;
use lanetwin_units::{Instant, Ticks};

/// The payload of a data credit \[B\].
const CREDIT_BYTES: u64 = 16;
const PS_PER_SECOND: f64 = 1e12;

/// All outages of a case, in its first repeat.
pub(super) fn told(task: &Task<'_>, measured: &Measured) -> Vec<LinkOutage> {
    let of_link = |carried: &Carried| {
        let link = task.variant.links.iter().find(|link| link.name == carried.link);
        link.map_or_else(Vec::new, |link| outages(task, link, carried, measured.window.end))
    };
    measured.carried.iter().flat_map(of_link).collect()
}

fn outages(task: &Task<'_>, link: &LinkPlan, carried: &Carried, end: Instant) -> Vec<LinkOutage> {
    let ends = carried.stretches.iter().map(|stretch| (stretch.ends, stretch.data_units));
    let ends: Vec<(Ticks, u64)> = ends.chain([(Ticks::from(end), carried.data_units)]).collect();
    let begins = carried.stretches.iter().map(|stretch| (stretch.up, stretch.data_units));
    let begins: Vec<(Ticks, u64)> = [(Ticks(0), 0)].into_iter().chain(begins).collect();
    let rate = |place: usize| {
        let ((from, before), (until, after)) = (begins[place], ends[place]);
        let lasts = until.0.saturating_sub(from.0);
        (lasts > 0).then(|| {
            let seconds = Ticks(lasts).as_ps_ceil().as_ps() as f64 / PS_PER_SECOND;
            ((after - before) * CREDIT_BYTES) as f64 / seconds
        })
    };
    let seen = link.down.iter().take(carried.stretches.len()).enumerate();
    seen.filter(|(_, down)| down.at < end)
        .map(|(place, down)| {
            let Down { at, lasts, by, then } = *down;
            let (generation, width) = then.unwrap_or((link.generation, link.width));
            LinkOutage {
                variant: task.variant.name.clone(),
                workload: task.workload.name.clone(),
                case: task.case.label.clone(),
                link: link.name.clone(),
                at_seconds: at.as_ps() as f64 / PS_PER_SECOND,
                seconds: lasts.as_ps() as f64 / PS_PER_SECOND,
                by: by.map(|cause| cause.word().to_owned()),
                generation: generation.number(),
                lanes: width.lanes() as u8,
                whole: then.is_none(),
                before_bytes_per_second: rate(place).unwrap_or(0.0),
                after_bytes_per_second: rate(place + 1),
            }
        })
        .collect()
}
