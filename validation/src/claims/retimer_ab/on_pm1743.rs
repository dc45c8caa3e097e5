//! `retimer-ab-pm1743`: the same comparison on the drive and the host of the paper, with queues in host memory,
//! firmware and flash: the matrix of its Table 2 from a job file of fio, and latencies at QD1.
//!
//! Commands are fetched from queues, so that a read crosses the slot four times one after the other and a write six
//! times.

use super::comparison::{Effort, Ran, outcome};
use crate::claim::Outcome;
use crate::claims::retimer_ab::table::published;
use crate::declaration::{Claim, Run};
use crate::experiment;
use crate::watch::Watch;
use lanetwin_plan::{Files, Plan, check_with};
use std::path::Path;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "retimer-ab-pm1743",
    about: "A PM1743 in its host with no retimer, one of < 5 ns and two of 64 ns: the matrix of the paper from a job file, and latencies at QD1.",
    cpu_seconds: 26,
    bar: "rates equivalent within 2 % with every retimer; QD1 latency shifted by crossings × latency ± 1 ns; \
          two 64 ns retimers on QD1 writes, x2 and BER 1e-6 on sequential reads of 128 KiB not equivalent",
    run: Run::Own(run),
};

/// The phases of sequential reads in which the link is the limit: one job with one core asks for 195 000 a second at
/// most, 6.4 GB/s of 32 KiB.
const LINK_LIMITED: &str = "128k";
const SCENARIO: &str = include_str!("../../../../scenarios/long/pm1743-retimer.yaml");
const JOBS: (&str, &str) = ("../fio/odcc-like.fio", include_str!("../../../../scenarios/fio/odcc-like.fio"));

fn plan(effort: Option<Effort>) -> Plan {
    let sets = effort.map_or_else(Vec::new, |Effort { warm_up, requests, alone, repeats }| {
        vec![
            format!("run.repeats={repeats}"),
            format!("run.warm-up={warm_up}"),
            format!("workloads.matrix.fio.requests={requests}"),
            format!("workloads.matrix-4k.fio.requests={requests}"),
            format!("workloads.qd1-read.block.requests={alone}"),
            format!("workloads.qd1-write.block.requests={alone}"),
        ]
    });
    let files = Files::of([(JOBS.0.to_owned(), JOBS.1.to_owned())].into());
    let checked =
        check_with(Path::new("pm1743-retimer.yaml"), SCENARIO, &sets, experiment::catalogue(), &files);
    let found = checked.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    checked.plan.unwrap_or_else(|| panic!("the scenario of a claim is right:\n{found}"))
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let ran = Ran { controls_at: LINK_LIMITED, ..Ran::of(&plan(None)) };
    watch.step(1)?;
    let mut found = outcome(&published(), &ran);
    // a row is a difference of two machines that share every number of drive and host: what moves both alike moves no
    // row
    found
        .free_parameters
        .retain(|number| number.part.contains("retimer") || number.part.starts_with("montage"));
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::retimer_ab::comparison::MATRIX;

    /// The plan has the matrix of the paper, and every phase of it asks something that was published.
    #[test]
    fn every_phase_of_the_job_file_asks_something_that_was_published() {
        let plan = plan(Some(Effort { warm_up: 1, requests: 1, alone: 1, repeats: 1 }));
        let matrix = plan.variants[0].workloads.iter().filter(|workload| workload.name.starts_with(MATRIX));
        let cases: Vec<_> = matrix.flat_map(|workload| &workload.cases).collect();
        assert_eq!(cases.len(), 12);
        for case in cases {
            let asked = case.label.rsplit_once('-').expect("a kind and a size").0;
            assert!(published().iter().any(|said| said.is_of(asked)), "{}", case.label);
        }
    }
}
