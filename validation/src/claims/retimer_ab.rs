//! `retimer-ab`: a drive with and without retimers in its slot, over the matrix of a published comparison, and what
//! latency alone can explain of it.
//!
//! ```text
//!   scenarios/retimer.yaml, with the matrix ──► verdicts with intervals ──► equivalent? (controls must not be)
//!                                         └──► shift of QD1 latency ──► crossings × latency of the part, ± 1 ns
//!   published changes ──► beside what one crossing costs ──► explained, or not
//! ```
//!
//! No published number goes into a scenario. A rate is expected not to change, and a latency by the crossings that the
//! waterfall counts; both are arithmetic that anybody can repeat.

mod comparison;
pub mod on_pm1743;
mod table;
#[cfg(test)]
mod tests;

use crate::claim::Outcome;
use crate::declaration::{Claim, Run};
use crate::experiment::catalogue;
use crate::watch::Watch;
use comparison::{Effort, Ran, outcome};
use lanetwin_plan::{Plan, check};
use std::path::Path;
use table::published;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "retimer-ab",
    about: "A Gen5 drive with no, one and two retimers of < 5 ns, 10 ns and 64 ns in its slot: rates, and latencies at QD1.",
    cpu_seconds: 5,
    bar: "rates equivalent within 2 % with every retimer; QD1 latency shifted by crossings × latency ± 1 ns; \
          two 64 ns retimers on QD1 writes, x2 and BER 1e-6 on sequential reads not equivalent",
    run: Run::Own(run),
};

/// The scenario that users have, too.
const SCENARIO: &str = include_str!("../../../scenarios/retimer.yaml");

/// Before it, all that are in flight at 16 × QD64 have been answered once.
const FULL: Effort = Effort { warm_up: 1100, requests: 1024, alone: 10_000, repeats: 3 };

/// The scenario with the matrix of the paper: sequential 32, 64, 128 KiB at QD64, random 4, 32, 64 KiB at 16 × QD64, 4
/// KiB at QD1.
fn plan(effort: Effort) -> Plan {
    let Effort { warm_up, requests, alone, repeats } = effort;
    let mut sets = vec![format!("run.repeats={repeats}"), format!("run.warm-up={warm_up}")];
    for workload in ["seq-read", "seq-write"] {
        sets.push(format!("workloads.{workload}.block.size=[32KiB, 64KiB, 128KiB]"));
        sets.push(format!("workloads.{workload}.block.requests={requests}"));
    }
    for (workload, read) in [("rand-read", "100%"), ("rand-write", "0%")] {
        sets.push(format!(
            "workloads.{workload}={{block: {{size: [4KiB, 32KiB, 64KiB], depth: 1024, read: {read}, span: 64GiB, requests: {requests}}}, on: cpu, target: ssd}}"
        ));
    }
    for workload in ["qd1-read", "qd1-write"] {
        sets.push(format!("workloads.{workload}.block.requests={alone}"));
    }
    let checked = check(Path::new("retimer.yaml"), SCENARIO, &sets, catalogue());
    let found = checked.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    checked.plan.unwrap_or_else(|| panic!("the scenario of a claim is right:\n{found}"))
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let ran = Ran::of(&plan(FULL));
    watch.step(1)?;
    Some(outcome(&published(), &ran))
}
