//! Symptoms of a run that users have to know: metrics of components that come with a remedy, and devices that answered
//! nothing while others did.

use super::problem::{Problem, at_path};
use super::repeats::Repeats;
use lanetwin_document::problem::Diagnostic;
use lanetwin_load::Results;
use lanetwin_plan::Plan;
use std::collections::BTreeMap;

/// Warnings of all symptoms.
pub(super) fn warnings(plan: &Plan, cases: &[Repeats<'_>]) -> Vec<Diagnostic> {
    let mut found = metrics(plan, cases);
    found.extend(cases.iter().filter_map(|ran| stalled(plan, ran)));
    found
}

/// A warning if a device of a case answered nothing in some repeat, although requests were in progress: the first one.
fn stalled(plan: &Plan, ran: &Repeats<'_>) -> Option<Diagnostic> {
    let answers = |load: &Results| {
        [&load.reads, &load.writes]
            .map(|side| side.completed + side.aborted + side.corrupt)
            .iter()
            .sum::<u64>()
    };
    ran.done.iter().find_map(|measured| {
        let has_stalled = |load: &Results| load.outstanding > 0 && answers(load) == 0;
        let (device, load) = measured.devices.iter().find(|(_, load)| has_stalled(load))?;
        let problem = Problem::Stalled {
            device: device.clone(),
            case: ran.task.case.label.clone(),
            variant: ran.task.variant.name.clone(),
            waiting: load.outstanding,
            measured: measured.window.end.since(measured.window.start),
        };
        Some(at_path(&problem, plan, &format!("workloads.{}", ran.task.workload.name)))
    })
}

/// A warning for each variant and metric: of the case and the component that has most of it.
fn metrics(plan: &Plan, cases: &[Repeats<'_>]) -> Vec<Diagnostic> {
    let mut worst: BTreeMap<(usize, &str), (u64, &str, &str)> = BTreeMap::new();
    for ran in cases {
        let place = plan.variants.iter().position(|variant| variant.name == ran.task.variant.name);
        let (Some(place), Some(first)) = (place, ran.done.first()) else { continue };
        for component in &first.components {
            for (metric, value) in &component.metrics {
                let (Some(remedy), Some(value)) = (metric.remedy, *value) else { continue };
                // a count, which a symptom is
                let told = (value.round() as u64, &*component.component, remedy);
                let most = worst.entry((place, &*metric.name)).or_insert(told);
                *most = if told.0 > most.0 { told } else { *most };
            }
        }
    }
    let warning = |((place, metric), (value, component, remedy)): ((usize, &str), (u64, &str, &str))| {
        let variant = plan.variants[place].name.clone();
        let (component, metric, remedy) = (component.to_owned(), metric.to_owned(), remedy.to_owned());
        let path = format!("machine.{component}");
        at_path(&Problem::Symptom { component, metric, value, variant, remedy }, plan, &path)
    };
    worst.into_iter().filter(|(_, (value, ..))| *value > 0).map(warning).collect()
}
