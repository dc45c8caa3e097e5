//! What could hold a target with three drives below its line: one thing at a time, with each target.
//!
//! Nothing here is chosen by the deck's figures, and nothing of it reaches a prediction.

use crate::accuracy;
use crate::claim::Effect;
use crate::table;
use lanetwin_plan::Plan;
use lanetwin_stats::results::Results;

/// The variant in which nothing holds it, and what the others are.
const AS_BUILT: &str = "as-built";
const MECHANISMS: [(&str, &str); 6] = [
    ("read-engines", "POWER9 reads memory with 32 engines of 128 B for 400 ns each"),
    ("slot-x8", "slots of eight lanes: the adapter of the LC922, the JBOF of the Stingray (Gen3)"),
    ("memory-passes", "each pass over memory has one of the Stingray's two channels"),
    ("one-900p", "one of the drives is an Intel 900P"),
    ("slc-full", "the drives' caches of one bit a cell are full"),
    ("one-core-one-fetch", "one core of the target, and one RDMA READ at a time of each queue"),
];

pub(super) fn plan() -> Plan {
    table::plan("h3-ablation.yaml", include_str!("../../../../scenarios/long/h3-ablation.yaml"))
}

/// The rate of a node in a variant \[k/s\]: the first has the LC922, the second the Stingray.
fn rate(results: &Results, variant: &str, workload: &str, node: usize) -> f64 {
    let device = ["initiator1", "initiator2"][node];
    let mut rows = results.rows.iter().filter(|row| {
        (&*row.variant, &*row.workload, &*row.metric) == (variant, workload, "IOPS")
            && row.device.as_deref() == Some(device)
    });
    rows.next().unwrap_or_else(|| panic!("{variant} has {workload} of {device}")).value
}

/// What each mechanism does to the predicted rows of the node with three drives \[%\].
pub(super) fn effects(results: &Results, cases: &[&str]) -> Vec<Effect> {
    let change = |variant: &str, case: &str| {
        let Some((workload, node)) = asked(case) else { return f64::NAN };
        accuracy::error_pct(rate(results, variant, workload, node), rate(results, AS_BUILT, workload, node))
    };
    let effect = |&(variant, mechanism): &(&str, &str)| Effect {
        mechanism: mechanism.to_string(),
        end: variant.to_string(),
        changes_pct: cases.iter().map(|case| change(variant, case)).collect(),
    };
    MECHANISMS.iter().map(effect).collect()
}

/// The workload and the node of the ablation that a row of node 1 stands for; none of other rows.
fn asked(case: &str) -> Option<(&'static str, usize)> {
    let node = if case.ends_with("LC922 has three drives") { 0 } else { 1 };
    match case.split(", ").next()? {
        _ if !case.contains("Initiator_1") => None,
        "128K read" => Some(("read", node)),
        "128K write" => Some(("write", node)),
        _ => None,
    }
}

pub(super) fn told(results: &Results) -> String {
    let of = |variant: &str| {
        let pair = |workload| {
            format!("{:.1}/{:.1}", rate(results, variant, workload, 0), rate(results, variant, workload, 1))
        };
        format!("reads {}, writes {}", pair("read"), pair("write"))
    };
    let each: Vec<String> =
        MECHANISMS.iter().map(|(variant, told)| format!("{told}: {}", of(variant))).collect();
    format!(
        "What could hold the node with three drives at 71.2 k/s of reads and 64.7 k/s of writes, each thing alone, with the LC922/with the Stingray (k/s): nothing: {}; {}. Only the engines come \
         near the reads; a cache between empty and full could be the writes. Neither is published.",
        of(AS_BUILT),
        each.join("; "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_node_1_alone_have_an_ablation() {
        assert_eq!(asked("128K read, Initiator_1, LC922 has three drives"), Some(("read", 0)));
        assert_eq!(asked("128K write, Initiator_1, Stingray has three drives"), Some(("write", 1)));
        assert_eq!(asked("128K write, Initiator_2, Stingray has three drives"), None);
        assert_eq!(asked("4K write, Initiator_1, Stingray has three drives"), None);
        assert_eq!(asked("128K read, direct, Server_1, 2 drives"), None);
    }

    #[test]
    fn the_scenario_has_what_is_told_and_nothing_else() {
        let plan = plan();
        let names: Vec<&str> = plan.variants.iter().map(|variant| &*variant.name).collect();
        let told = [AS_BUILT].into_iter().chain(MECHANISMS.iter().map(|mechanism| mechanism.0));
        assert_eq!(names, told.collect::<Vec<_>>());
    }
}
