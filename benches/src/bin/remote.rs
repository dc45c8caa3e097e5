//! How many NVMe commands a second over a network: 4 KiB random reads of P5800X drives in a box, by RoCEv2 or TCP
//! through a switch of Ethernet; frames, TLPs, queues, cores, firmware and media included; one thread.
//!
//! `cargo run --release -p lanetwin-benches --bin remote` prints simulated I/Os per CPU-second, and events for each.
//! With arguments `CASE COMMANDS [PATH=VALUE …]` it runs one case once, for a profiler, with these changes of the
//! scenario.

#[path = "../calibration.rs"]
mod calibration;
#[path = "../clock.rs"]
mod clock;
#[path = "../commands.rs"]
mod commands;

use calibration::Calibration;
use clock::{median, peak_rss_mb};
use commands::rates;
use lanetwin_plan::{Catalogue, Plan, check};
use std::path::Path;

const ROUNDS: usize = 5;
const COMMANDS: u64 = 60_000;

/// A server, a switch, a box with four drives.
const MACHINE: &str = "
about: Speed.
machine:
  server: {part: generic-host-gen4}
  nic: {part: connectx-5-ex}
  tor: {part: generic-ethernet-switch-100g}
  box: {part: generic-host-gen4, ports: 5}
  box-nic: {part: connectx-5-ex}
  ssd1: {part: intel-p5800x}
  ssd2: {part: intel-p5800x}
  ssd3: {part: intel-p5800x}
  ssd4: {part: intel-p5800x}
links:
  slot: {from: server, to: nic}
  net: {from: nic, to: tor}
  box-net: {from: tor, to: box-nic}
  box-slot: {from: box, to: box-nic}
  bay1: {from: box, to: ssd1}
  bay2: {from: box, to: ssd2}
  bay3: {from: box, to: ssd3}
  bay4: {from: box, to: ssd4}
subsystems:
  jbof: {port: box-nic, namespaces: [ssd1, ssd2, ssd3, ssd4]}
workloads:
  load:
    block: {size: 4KiB, depth: 32, span: 100GB, requests: 1000}
    on: server
    target: [ssd1, ssd2, ssd3, ssd4]
";

/// A case: its name, and what is different in it.
struct Case {
    name: &'static str,
    set: &'static [&'static str],
}

const JUMBO: [&str; 2] = ["machine.nic.ethernet.mtu=4200B", "machine.box-nic.ethernet.mtu=4200B"];

/// Adapters that may ask for 4 KiB of their host's memory at a time, the most that PCIe allows.
const LARGE_READS: [&str; 2] = ["machine.nic.port.mrrs=4096B", "machine.box-nic.port.mrrs=4096B"];

const CASES: &[Case] = &[
    Case { name: "4 KiB random read, RoCEv2, MTU 1500 B", set: &[] },
    Case { name: "the same, MTU 4200 B", set: &JUMBO },
    Case { name: "MTU 4200 B, MRRS 4096 B", set: &[JUMBO[0], JUMBO[1], LARGE_READS[0], LARGE_READS[1]] },
    Case { name: "MTU 4200 B, target polls", set: &[JUMBO[0], JUMBO[1], "machine.box.target.software=spdk"] },
    Case { name: "4 KiB random write, RoCEv2, MTU 1500 B", set: &["workloads.load.block.read=0%"] },
    Case { name: "4 KiB random read, TCP, MTU 1500 B", set: &["subsystems.jbof.transport=tcp"] },
];

impl Case {
    fn plan(&self) -> Plan {
        let more = std::env::args().filter(|text| text.contains('='));
        let sets: Vec<String> = self.set.iter().map(|set| (*set).to_owned()).chain(more).collect();
        let checked = check(Path::new("bench.yaml"), MACHINE, &sets, &Catalogue::built_in());
        checked.plan.unwrap_or_else(|| panic!("{:?}", checked.diagnostics))
    }

    /// Commands per CPU-second, events for each, and simulated commands per second.
    fn run(&self, commands: u64) -> [f64; 3] {
        rates(&self.plan(), commands)
    }
}

fn main() {
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    if let [case, commands] = arguments[..] {
        let case = &CASES[case as usize];
        let [rate, events, simulated] = case.run(commands);
        println!(
            "{}: {:.4} M per CPU-second, {events:.1} events each, {:.1} k/s simulated",
            case.name,
            rate / 1e6,
            simulated / 1e3
        );
        return;
    }
    println!("I/Os per CPU-second, one thread: median [least .. most] of {ROUNDS} rounds\n");
    let mut calibration = Calibration::default();
    for case in CASES {
        calibration.measure();
        let runs: Vec<[f64; 3]> = (0..ROUNDS).map(|_| case.run(COMMANDS)).collect();
        let (rate, least, most) = median(runs.iter().map(|run| run[0] / 1e6).collect());
        let [_, events, simulated] = runs[0];
        println!(
            "{:44} {rate:6.4} [{least:.4} .. {most:.4}] M, {events:.1} events each, {:.1} k/s simulated",
            case.name,
            simulated / 1e3
        );
    }
    println!("\n{calibration}, peak memory {:.0} MB", peak_rss_mb());
}
