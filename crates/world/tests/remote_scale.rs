//! Many initiators and many targets in one world: time and memory grow with the machine, and no faster.

use crate::tree::plan;
use lanetwin_units::{Instant, Span};
use lanetwin_world::World;
use std::fmt::Write;

/// Drives of each target, all of which each of its initiators asks.
const DRIVES: usize = 4;
/// What is simulated \[us\].
const LENGTH_US: u64 = 2_000;

/// So many initiators of so many targets, each initiator with a target that others have, too, at one switch.
fn machine(initiators: usize, targets: usize) -> String {
    let (mut parts, mut links, mut offers) = (String::new(), String::new(), String::new());
    let part = |text: &mut String, line: String| writeln!(text, "  {line}").expect("a text has room");
    let ports = initiators + targets;
    part(&mut parts, format!("tor: {{part: generic-ethernet-switch-100g, ports: {ports}}}"));
    for i in 0..initiators {
        part(&mut parts, format!("host{i}: {{part: generic-host-gen4}}"));
        part(&mut parts, format!("nic{i}: {{part: connectx-5-ex}}"));
        part(&mut links, format!("slot{i}: {{from: host{i}, to: nic{i}}}"));
        part(&mut links, format!("net{i}: {{from: nic{i}, to: tor}}"));
    }
    for t in 0..targets {
        part(&mut parts, format!("box{t}: {{part: generic-host-gen4, ports: {}}}", DRIVES + 1));
        part(&mut parts, format!("far{t}: {{part: connectx-5-ex}}"));
        part(&mut links, format!("far-slot{t}: {{from: box{t}, to: far{t}}}"));
        part(&mut links, format!("far-net{t}: {{from: tor, to: far{t}}}"));
        for d in 0..DRIVES {
            part(&mut parts, format!("ssd{t}-{d}: {{part: intel-p5800x}}"));
            part(&mut links, format!("bay{t}-{d}: {{from: box{t}, to: ssd{t}-{d}}}"));
        }
        let hosts = (0..initiators).filter(|host| host % targets == t).map(|host| format!("host{host}"));
        let hosts = hosts.collect::<Vec<_>>().join(", ");
        let drives = (0..DRIVES).map(|d| format!("ssd{t}-{d}")).collect::<Vec<_>>().join(", ");
        let offer = format!("jbof{t}: {{port: far{t}, hosts: [{hosts}], namespaces: [{drives}]}}");
        part(&mut offers, offer);
    }
    let on = (0..initiators).map(|i| format!("host{i}")).collect::<Vec<_>>().join(", ");
    let of = |t: usize| (0..DRIVES).map(move |d| format!("ssd{t}-{d}"));
    let target = (0..targets).flat_map(of).collect::<Vec<_>>().join(", ");
    let load = format!("size: 4KiB, depth: 1, span: 1GiB, requests: {}", 100 * initiators * DRIVES);
    format!(
        "about: How do time and memory grow with the machine?\nmachine:\n{parts}links:\n{links}subsystems:\n{offers}\
         workloads:\n  reads: {{block: {{{load}}}, on: [{on}], target: [{target}]}}\nrun: {{repeats: 1}}\n"
    )
}

/// How many reads were answered, how many events that took, and how much memory the process has had at most so far
/// \[MB\].
fn ran(initiators: usize, targets: usize) -> (u64, u64, u64) {
    let plan = plan("scale.yaml", &machine(initiators, targets), &[]);
    let (variant, workload) = (&plan.variants[0], &plan.variants[0].workloads[0]);
    let mut world = World::new(variant, workload, &workload.cases[0], 1);
    world.kernel.run_until(Instant::ZERO + Span::from_us(LENGTH_US));
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next());
    let kilobytes = most.and_then(|number| number.parse::<u64>().ok()).unwrap_or(0);
    (world.progress().1, world.kernel.events(), kilobytes / 1000)
}

/// Events for each read are the same in a machine of eight times the size, which has eight times the reads.
#[test]
fn events_grow_with_the_machine_and_no_faster() {
    let (few, many) = (ran(8, 2), ran(64, 16));
    let each = |(reads, events, _): (u64, u64, u64)| events as f64 / reads as f64;
    let ratio = each(many) / each(few);
    assert!((0.95..1.05).contains(&ratio), "{few:?} and {many:?}");
    let reads = many.0 as f64 / few.0 as f64;
    assert!((7.8..8.2).contains(&reads), "{few:?} and {many:?}");
}

mod nightly {
    use super::*;

    /// What this thread has had of a processor so far: other programs do not count.
    fn processor_seconds() -> f64 {
        let told = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
        told.split(' ').next().and_then(|ns| ns.parse::<f64>().ok()).unwrap_or(0.0) / 1e9
    }

    /// Prints what stands in docs/nvmeof.md: to be run alone, as memory is that of the process.
    #[test]
    #[ignore = "prints a table, and holds nothing"]
    fn the_table_of_scale() {
        println!("initiators x targets x drives: reads, events, seconds of a processor, MB at most");
        for targets in [2, 4, 8, 16] {
            let began = processor_seconds();
            let (reads, events, megabytes) = ran(4 * targets, targets);
            let seconds = processor_seconds() - began;
            println!(
                "{} x {targets} x {DRIVES}: {reads}, {events}, {seconds:.2} s, {megabytes} MB",
                4 * targets
            );
        }
    }
}
