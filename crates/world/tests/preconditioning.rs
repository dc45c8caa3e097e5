//! What has a drive lived through, of which nobody has said it: what it is going to be asked.

use crate::tree::{plan, results};
use lanetwin_world::Options;

const MACHINE: &str = "
about: What has the drive lived through?
machine:
  host: {part: generic-host-gen4}
  ssd: {part: generic-tlc-gen4, buffer: 4MiB}
links:
  bay: {from: host, to: ssd}
";
const SHORT: &str = "run: {repeats: 1}\n";

/// Bytes that the drive programs for each that the host writes.
fn write_amplification(workload: &str, sets: &[&str]) -> f64 {
    let text = format!("{MACHINE}workloads:\n  w: {{{workload}, on: host, target: ssd}}\n{SHORT}");
    let results = results(&plan("preconditioning.yaml", &text, sets), &Options::default());
    let is_it = |row: &&lanetwin_stats::results::ComponentMetric| {
        (&*row.component, &*row.metric) == ("ssd", "write amplification")
    };
    results.components.iter().find(is_it).expect("the drive tells it").value
}

#[test]
fn a_drive_was_written_as_it_is_going_to_be_asked() {
    for (sequential, random) in [
        (
            "block: {size: 128KiB, depth: 8, read: 0%, pattern: sequential, requests: 3000}",
            "block: {size: 16KiB, depth: 8, read: 0%, requests: 3000}",
        ),
        (
            "fio: {rw: write, bs: 128k, iodepth: 8, requests: 3000}",
            "fio: {rw: randwrite, bs: 16k, iodepth: 8, requests: 3000}",
        ),
    ] {
        let [ordered, drawn] = [sequential, random].map(|workload| write_amplification(workload, &[]));
        assert!(ordered < 1.02, "nothing is moved: {ordered}");
        assert!(drawn > 1.5, "garbage collection moves what is left in blocks: {drawn}");
        let said = write_amplification(sequential, &["machine.ssd.ftl.initial=steady-state"]);
        assert!(said > 1.02, "the scenario says that it was written at random: {said}");
    }
}
