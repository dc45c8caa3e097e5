//! The machine of the report's Section II, with and without the switch, and what one of its workloads moves on it.

use crate::experiment::{catalogue, results};
use lanetwin_plan::{Files, Plan, check_with};
use lanetwin_stats::results::{Digest, Results};
use lanetwin_world::Options;
use std::path::Path;

/// The access specifications of the report's four rows, in its order: the file that users have, too.
const ICF_NAME: &str = "idt-2004.07.30.icf";
const ICF: &str = include_str!("../../../../scenarios/iometer/idt-2004.07.30.icf");

/// A row of Table 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Workload {
    SequentialReads,
    SequentialWrites,
    Mixed,
    Random,
}

impl Workload {
    pub(super) const ALL: [Self; 4] =
        [Self::SequentialReads, Self::SequentialWrites, Self::Mixed, Self::Random];

    /// What the report calls it.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::SequentialReads => "100 % sequential reads",
            Self::SequentialWrites => "100 % sequential writes",
            Self::Mixed => "67 % reads and 33 % writes",
            Self::Random => "50/50 random reads and writes",
        }
    }
    /// Its access specification.
    const fn spec(self) -> &'static str {
        match self {
            Self::SequentialReads => "2 MiB sequential reads",
            Self::SequentialWrites => "2 MiB sequential writes",
            Self::Mixed => "67 % 2 MiB sequential reads 33 % 64 KiB sequential writes",
            Self::Random => "50/50 random reads and writes (2 MiB assumed)",
        }
    }
    /// Accesses that are measured: of the mixed row a third are small.
    const fn requests(self) -> u32 {
        if matches!(self, Self::Mixed) { 50 } else { 35 }
    }
    /// What an access moves on average \[B\].
    pub(super) const fn mean_bytes(self) -> f64 {
        const LARGE: f64 = 2_097_152.0;
        if matches!(self, Self::Mixed) { 0.67 * LARGE + 0.33 * 65_536.0 } else { LARGE }
    }
}

/// Whether the switch is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Switch {
    Without,
    With,
}

/// One machine, but for the workload: what differs from the parts as they are.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Setup {
    /// `path=value`, as of `--set`; paths of components that are not there are left out.
    pub(super) changes: Vec<(String, String)>,
    /// In flight on each drive.
    pub(super) outstanding: u32,
}

/// What a run has shown.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Moved {
    /// Payload of reads and writes together \[B/s\].
    pub(super) bytes_per_second: f64,
    pub(super) digest: Digest,
}

fn scenario(workload: Workload, switch: Switch, outstanding: u32) -> String {
    let (sw, up, above) = match switch {
        Switch::Without => ("", "", "host"),
        Switch::With => {
            ("  sw: {part: idt-89pes16t4g2}\n", "  up: {from: host, to: sw, gen: 2, width: x4}\n", "sw")
        }
    };
    let slot = |i: u32| format!("  slot{i}: {{from: {above}, to: hba{i}, gen: 2, width: x4}}\n");
    let hba = |i: u32| format!("  hba{i}: {{part: emulex-lpe12002}}\n");
    let (slots, hbas): (String, String) = ((0..3).map(slot).collect(), (0..3).map(hba).collect());
    let (spec, requests) = (workload.spec(), workload.requests());
    format!(
        "about: Table 1 of the report, {name}.\n\
         machine:\n  host: {{part: supermicro-x7dwn-intel-5400}}\n{sw}{hbas}\
         links:\n{up}{slots}\
         workloads:\n  row:\n    \
           iometer: {{file: {ICF_NAME}, spec: \"{spec}\", outstanding: {outstanding}, requests: {requests}}}\n    \
           on: host\n    \
           target: [hba0.lun0, hba0.lun1, hba1.lun0, hba1.lun1, hba2.lun0]\n\
         run: {{repeats: 1, seed: 1, warm-up: 10}}\n",
        name = workload.name(),
    )
}

/// The plan of a row.
pub(super) fn plan(workload: Workload, switch: Switch, setup: &Setup) -> Plan {
    let text = scenario(workload, switch, setup.outstanding);
    let is_there = |path: &str| switch == Switch::With || !path.starts_with("machine.sw.");
    let changes = setup.changes.iter().filter(|(path, _)| is_there(path));
    let sets: Vec<String> = changes.map(|(path, value)| format!("{path}={value}")).collect();
    let files = Files::of([(ICF_NAME.to_owned(), ICF.to_owned())].into());
    let checked = check_with(Path::new("idt-16t4g2.yaml"), &text, &sets, catalogue(), &files);
    let found = checked.diagnostics.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n");
    checked.plan.unwrap_or_else(|| panic!("the scenario of a claim is right:\n{found}\n{text}\n{sets:?}"))
}

/// Runs a row.
pub(super) fn run(workload: Workload, switch: Switch, setup: &Setup) -> Moved {
    let plan = plan(workload, switch, setup);
    let options = Options { threads: Some(1), ..Options::default() };
    let results = results(&plan, &options);
    let digest = results.digest.expect("a simulation has a digest");
    Moved { bytes_per_second: throughput(&results), digest }
}

/// Reads and writes of all drives together \[B/s\]; rows say MB/s of 10^6.
fn throughput(results: &Results) -> f64 {
    let together = results.rows.iter().filter(|row| row.device.is_none());
    let rates = together.filter(|row| row.metric.ends_with("throughput") && row.unit == "MB/s");
    rates.map(|row| row.value * 1e6).sum()
}
