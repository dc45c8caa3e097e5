//! `mqsim-xv2`: the flash of another simulator, MQSim, on a host that costs nothing: read latency at three queue depths.
//!
//! The drive is described in the words of MQSim's device file: 16 channels of 4 chips with 2 dies of 4 planes, pages of 4 KiB, 45 µs
//! to read one, 2 B at 1000 MT/s. By MQSim's rules one die of a chip works at a time. Firmware, software and memory take no
//! time; the link is Gen5 x4, which carries what MQSim's four lanes of 3.938 GB/s carry.

use super::{Cell, Claim, Outcome};
use crate::accuracy;
use crate::experiment;
use crate::report::Role;
use crate::watch::Watch;
use lanetwin_scenario::world::Options;
use lanetwin_scenario::{Catalogue, Plan, check};
use std::path::Path;

/// The declaration.
pub const CLAIM: Claim = Claim {
    name: "mqsim-xv2",
    about: "Read latency of a drive as MQSim simulates it, at 1, 16 and 256 in flight.",
    bar: "each row within 3 %",
    run,
};

const SOURCE: &str =
    "MQSim at commit 7ec40e3 with the configuration xv2: 4 KiB reads at random, mean latency";
const BAR_PCT: f64 = 3.0;
/// In flight, requests that are measured, and what MQSim says \[µs\].
const ROWS: [(u32, u64, f64); 3] = [(1, 20_000, 47.688), (16, 32_000, 54.376), (256, 200_000, 219.966)];

/// tR, and what goes over the bus, by the device file \[µs\]: what one read alone takes, without the link.
const CLOSED_FORM: f64 = 45.0 + 0.290 + 2.048;

/// The scenario, with so many in flight.
fn plan(depth: u32, requests: u64) -> Plan {
    let drive = "model: nvme-ssd, port.width: 4, issue: 1ns, port.drain: 0ns, firmware.engines: 1024, firmware.read: 0ns, \
                 firmware.read-latency: 0ns, chunk: all, capacity: 245760MB, nand.channels: 16, nand.chips: 4, nand.dies: 2, \
                 nand.planes: 4, nand.blocks: 512, nand.pages: 256, nand.page: 4KiB, nand.spare: 224B, nand.read: 45us, \
                 nand.read-step: 0ns, nand.program: 400us, nand.program-mode: by-page, nand.erase: 3800us, nand.bus: 1000, \
                 nand.bus.width: 2, nand.rules: mqsim, nand.same-page: true, nand.cache-read: false, nand.suspend: false, ftl.initial: empty, ftl.lookup: 0ns, ftl.read-ahead.streams: 0, \
                 buffer.latency: 0ns, driver.engine: spdk, driver.spdk.submit: 0ns, driver.spdk.complete: 0ns, driver.poll: 0ns";
    let text = format!(
        "about: A drive as MQSim has it.\nmachine:\n  host: {{model: root-complex, issue: 1ns, memory.dram: 0ns, \
         memory.llc-hit: 0ns, port.drain: 0ns}}\n  ssd: {{{drive}}}\nlinks:\n  slot: {{from: host, to: ssd}}\nworkloads:\n  load:\n    \
         block: {{size: 4KiB, depth: {depth}, span: 122880MB, requests: {requests}}}\n    on: host\n    target: ssd\n\
         run: {{repeats: 1, warm-up: 1000}}\n"
    );
    let checked = check(Path::new("mqsim.yaml"), &text, &[], &Catalogue::built_in());
    checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics))
}

fn run(watch: &mut Watch<'_>) -> Option<Outcome> {
    let mut cells = Vec::new();
    for (depth, requests, published) in ROWS {
        let results = experiment::results(&plan(depth, requests), &Options::default());
        let row = results.rows.iter().find(|row| row.device.is_none() && row.metric == "latency");
        let predicted = row.expect("a load has a latency").value / 1e3;
        cells.push(Cell {
            case: format!("random read of 4 KiB, {depth} in flight"),
            quantity: "latency".into(),
            unit: "us",
            published,
            predicted,
            interval: (predicted, predicted),
            role: Role::Predicted,
            baseline: (depth == 1).then_some(CLOSED_FORM),
            source: SOURCE,
            digest: results.digest.expect("a simulation has a digest"),
        });
        watch.step(ROWS.len())?;
    }
    let worst = accuracy::worst(cells.iter().map(|cell| accuracy::error_pct(cell.predicted, cell.published)));
    let plan = plan(1, 1);
    let free_parameters = experiment::free_parameters(&plan).collect();
    let text = format!(
        "Nothing is fitted: every number is of MQSim's device file, or zero. The largest error is {worst:.2} %."
    );
    Some(Outcome { cells, free_parameters, met: worst <= BAR_PCT, text, effects: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_is_within_the_bar() {
        for (depth, requests, published) in ROWS {
            let results = experiment::results(&plan(depth, requests), &Options::default());
            let row = results.rows.iter().find(|row| row.metric == "latency").expect("a load has a latency");
            let error = accuracy::error_pct(row.value / 1e3, published);
            assert!(error.abs() < BAR_PCT, "{depth} in flight: {} ns, {error} %", row.value);
        }
    }
}
