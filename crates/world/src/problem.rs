//! Problems of a scenario that only a run can find.

use lanetwin_document::node::{Node, Origin, Spot};
use lanetwin_document::problem::{Diagnostic, Reports};
use lanetwin_document::problems;
use lanetwin_document::{add_source, numbered, yaml};
use lanetwin_plan::Plan;
use lanetwin_units::Span;

problems! {
    /// More operations are offered than can ever be answered.
    Overloaded { case: String, variant: String, waiting: u64, answered: u64, after: Span } = "RU001", "overloaded in `{case}`, variant `{variant}`: after {after} {answered} operations were answered and {waiting} waited, and their number only grows", "lower `rate` below what the system serves, or offer so many in flight instead of a rate; a run of so many `outstanding` (or `depth`) shows what it serves";
    /// Operations are answered without any time passing.
    NoTimePasses { case: String, variant: String, after: Span } = "RU002", "nothing takes time in `{case}`, variant `{variant}`: at {after} every operation is answered at the instant at which it is sent, so that the rate has no bound", "give the device, or something before it, a latency (`read.latency`, `write.latency`, `answer` of a `delay`)";
    /// A component reports something that costs much, and that a parameter prevents.
    Symptom { component: String, metric: String, value: u64, variant: String, remedy: String } = "RU102", "{metric}: {value} at `{component}` in variant `{variant}`", "{remedy}";
    /// One of several devices answered nothing while others did.
    Stalled { device: String, case: String, variant: String, waiting: u64, measured: Span } = "RU103", "`{device}` answered nothing in `{case}`, variant `{variant}`: {waiting} requests waited for all of the {measured} that were measured", "measure longer (`requests`, or `run.until`): after a loss RDMA waits for a timeout of tens of milliseconds (where switches drop frames, `pause: pfc` of the switches with `pause: true` of the adapters loses none), and a link that is down answers nothing";
    /// An event to which the scenario gives a time falls outside every measurement.
    Unseen { what: String, variant: String, at: Span, begins: Span, ends: Span } = "RU101", "{what} at {at} in variant `{variant}`, when nothing was measured: that was from {begins} to {ends}", "give it a time within, or make `run.warm-up` shorter, or the workload longer";
}

/// The problem, at the line of the scenario where a path is set, in whichever variant.
pub(super) fn at_path(problem: &Problem, plan: &Plan, path: &str) -> Diagnostic {
    let (mut reports, mut sources) = (Reports::default(), Vec::new());
    let file = add_source(&mut sources, plan.path.clone());
    reports.add(problem.clone(), file, path);
    reports.into_diagnostics(&sources).swap_remove(0)
}

/// The problem, at the line of the scenario where the rate of a workload is set.
pub(super) fn at_rate(problem: &Problem, plan: &Plan, workload: &str) -> Diagnostic {
    let (mut reports, mut sources) = (Reports::default(), Vec::new());
    let file = add_source(&mut sources, plan.path.clone());
    let mut tree = yaml::read(&plan.text, file.file, Origin::Scenario, &mut Reports::default());
    tree.iter_mut().for_each(|tree| numbered::write_out(tree, &mut Reports::default()));
    let rate = tree.as_ref().and_then(|tree| rate(tree, workload));
    let (spot, key) = rate.unwrap_or((file, ""));
    let path = ["workloads", workload, key, "rate"].into_iter().filter(|step| !step.is_empty());
    reports.add(problem.clone(), spot, &path.collect::<Vec<_>>().join("."));
    reports.into_diagnostics(&sources).swap_remove(0)
}

/// The place of a workload's rate, and the key under which it is.
fn rate<'n>(tree: &'n Node, workload: &str) -> Option<(Spot, &'n str)> {
    let entries = tree.get("workloads")?.get(workload)?.entries().iter();
    entries.filter_map(|entry| Some((entry.value.get("rate")?.spot, &*entry.key))).next()
}
