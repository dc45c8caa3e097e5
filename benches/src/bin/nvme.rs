//! How many NVMe commands a second: a PM1743 behind a retimer, 4 KiB random reads, 16 jobs with 64 in flight each,
//! TLPs, queues, firmware, flash and translation layer included; one thread.
//!
//! `cargo run --release -p lanetwin-benches --bin nvme` prints simulated I/Os per CPU-second, and events for each. With
//! arguments `CASE COMMANDS [PATH=VALUE …]` it runs one case once, for a profiler, with these changes of the scenario.
//! `memory` fills a drive of 15.36 TB and writes at random, and prints the peak of memory. `drives COUNT COMMANDS` is
//! what an event costs where there are so many drives.

#[path = "../calibration.rs"]
mod calibration;
#[path = "../clock.rs"]
mod clock;
#[path = "../commands.rs"]
mod commands;

use calibration::Calibration;
use clock::{cpu_seconds, median, peak_rss_mb};
use commands::rates;
use lanetwin_kernel::Stream;
use lanetwin_media::{Kind, Request};
use lanetwin_models::nvme_ssd;
use lanetwin_plan::{Catalogue, Pair, Plan, check};
use lanetwin_units::{Instant, Span};
use lanetwin_world::World;
use std::path::Path;

const ROUNDS: usize = 5;
const COMMANDS: u64 = 400_000;

#[derive(Clone, Copy)]
/// A case: its name, the I/O engine, jobs, in flight for each, the rest of what is asked.
struct Case {
    name: &'static str,
    engine: &'static str,
    jobs: u16,
    depth: u32,
    block: &'static str,
    set: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        name: "4 KiB random read, 16 × 64, libaio",
        engine: "libaio",
        jobs: 16,
        depth: 64,
        block: "size: 4KiB",
        set: &[],
    },
    Case {
        name: "4 KiB random read, 16 × 64, spdk",
        engine: "spdk",
        jobs: 16,
        depth: 64,
        block: "size: 4KiB",
        set: &[],
    },
    Case {
        name: "128 KiB sequential read, 1 × 64",
        engine: "libaio",
        jobs: 1,
        depth: 64,
        block: "size: 128KiB, pattern: sequential",
        set: &["machine.ssd.ftl.initial=sequential"],
    },
    Case {
        name: "4 KiB random write, 16 × 64, libaio",
        engine: "libaio",
        jobs: 16,
        depth: 64,
        block: "size: 4KiB, read: 0%",
        set: &[],
    },
    Case {
        name: "4 KiB random write, 15.36 TB",
        engine: "spdk",
        jobs: 16,
        depth: 64,
        block: "size: 4KiB, read: 0%",
        set: &["machine.ssd.capacity=15360GB", "machine.ssd.nand.dies=4"],
    },
];

impl Case {
    fn plan(&self) -> Plan {
        let Self { engine, depth, block, set, .. } = self;
        let text = format!(
            "about: Speed.\nmachine:\n  cpu: {{part: amd-epyc-9554}}\n  ssd: {{part: samsung-pm1743, driver.engine: {engine}}}\n\
             links:\n  slot: {{from: cpu, to: ssd, via: [5ns]}}\nworkloads:\n  load:\n    \
             block: {{{block}, depth: {depth}, span: 3000GB, requests: 1000}}\n    on: cpu\n    target: ssd\n"
        );
        let more = std::env::args().filter(|text| text.contains('='));
        let sets: Vec<String> = set.iter().map(|set| (*set).to_owned()).chain(more).collect();
        let checked = check(Path::new("bench.yaml"), &text, &sets, &Catalogue::built_in());
        let mut plan = checked.plan.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
        let pairs = &mut plan.variants[0].workloads[0].pairs;
        let job = |number| Pair { device: format!("job{number}"), ..pairs[0].clone() };
        *pairs = (0..self.jobs).map(job).collect();
        plan
    }

    /// Commands per CPU-second, events for each, and simulated commands per second.
    fn run(&self, commands: u64) -> [f64; 3] {
        rates(&self.plan(), commands)
    }
}

/// The most drives of a host where there are many.
const OF_A_HOST: u32 = 25;

/// So many drives, each with a slot of its own and 64 random reads of 4 KiB in flight: I/Os, events of each, CPU
/// nanoseconds of an event.
fn drives(count: u32, commands: u64) -> [f64; 3] {
    let of_each = |line: fn(u32) -> String| (0..count).map(line).collect::<String>();
    let (hosts, named) = (count.div_ceil(OF_A_HOST), |name: &'static str| move |n| format!("{name}{n}"));
    let hosts: Vec<String> = (0..hosts).map(named("cpu")).collect();
    let targets: Vec<String> = (0..count).map(named("ssd")).collect();
    let text = format!(
        "about: Speed.\nmachine:\n{}{}links:\n{}workloads:\n  load:\n    \
         block: {{size: 4KiB, depth: 64, span: 3000GB, requests: 1000}}\n    on: [{}]\n    target: [{}]\n",
        hosts
            .iter()
            .map(|host| format!("  {host}: {{part: amd-epyc-9554, ports: 64}}\n"))
            .collect::<String>(),
        of_each(|n| format!("  ssd{n}: {{part: samsung-pm1743}}\n")),
        of_each(|n| format!("  slot{n}: {{from: cpu{}, to: ssd{n}}}\n", n / OF_A_HOST)),
        hosts.join(", "),
        targets.join(", ")
    );
    let checked = check(Path::new("bench.yaml"), &text, &[], &Catalogue::built_in());
    let plan = checked.plan.unwrap_or_else(|| panic!("{:?}", checked.diagnostics));
    let workload = &plan.variants[0].workloads[0];
    let mut world = World::new(&plan.variants[0], workload, &workload.cases[0], 1);
    let until = |world: &mut World, commands: u64| {
        while world.progress().1 < commands {
            let now = world.kernel.now();
            world.kernel.run_until(now + Span::from_us(20));
        }
        (world.progress().1, world.kernel.events(), cpu_seconds())
    };
    let begin = until(&mut world, commands / 4);
    let end = until(&mut world, commands + commands / 4);
    let (done, events) = ((end.0 - begin.0) as f64, (end.1 - begin.1) as f64);
    [done, events / done, (end.2 - begin.2) * 1e9 / events]
}

/// The medium by itself: random reads or writes of 4 KiB, 1024 at once; requests per CPU-second, and simulated per
/// second.
fn medium(kind: Kind, requests: u64, set: &'static [&'static str]) -> [f64; 2] {
    let plan = Case { set, ..CASES[0] }.plan();
    let ssd =
        plan.variants[0].machine.iter().find(|component| component.name == "ssd").expect("there is a drive");
    let mut drive = nvme_ssd::medium(&ssd.params, 1).expect("the part is a drive");
    let units = ssd.params.size("capacity").0 / 4096;
    let mut random = Stream::new(1, "medium", "addresses");
    let (mut now, mut done, mut asked, mut ended) = (Instant::ZERO, Vec::new(), 0, 0);
    let before = cpu_seconds();
    while ended < requests {
        while asked < ended + 1024 {
            let first = random.below(units) * 4096;
            drive.submit(now, Request { token: 0, kind, first, bytes: 4096, tenant: 0, part_of: None });
            asked += 1;
        }
        now = drive.next_event().expect("something is under way");
        drive.advance(now, &mut done);
        ended += done.drain(..).count() as u64;
    }
    [ended as f64 / (cpu_seconds() - before), ended as f64 / (now.as_ps() as f64 * 1e-12)]
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some("medium") {
        for kind in [Kind::Read, Kind::Write] {
            let [rate, simulated] = medium(kind, 1_000_000, &["machine.ssd.ftl.initial=sequential"]);
            println!(
                "medium alone, {kind:?}: {:.3} M per CPU-second, {:.0} k/s simulated",
                rate / 1e6,
                simulated / 1e3
            );
        }
        return;
    }
    if std::env::args().nth(1).as_deref() == Some("drives") {
        let numbers: Vec<u64> = std::env::args().skip(2).filter_map(|text| text.parse().ok()).collect();
        let [count, commands] = numbers[..] else { panic!("drives COUNT COMMANDS") };
        let [done, events, ns] = drives(count as u32, commands);
        println!(
            "{count} drives: {done:.0} I/Os, {events:.2} events each, {ns:.1} CPU-ns an event, peak memory {:.0} MB",
            peak_rss_mb()
        );
        return;
    }
    let arguments: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    if let [case, commands] = arguments[..] {
        let case = &CASES[case as usize];
        let before = cpu_seconds();
        let [rate, events, simulated] = case.run(commands);
        println!(
            "{}: {:.3} M per CPU-second, {events:.1} events each, {:.1} k/s simulated",
            case.name,
            rate / 1e6,
            simulated / 1e3
        );
        println!("{:.1} CPU-seconds in all, peak memory {:.0} MB", cpu_seconds() - before, peak_rss_mb());
        return;
    }
    println!("I/Os per CPU-second, one thread: median [least .. most] of {ROUNDS} rounds\n");
    let mut calibration = Calibration::default();
    for case in &CASES[..4] {
        calibration.measure();
        let runs: Vec<[f64; 3]> = (0..ROUNDS).map(|_| case.run(COMMANDS)).collect();
        let (rate, least, most) = median(runs.iter().map(|run| run[0] / 1e6).collect());
        let [_, events, simulated] = runs[0];
        println!(
            "{:44} {rate:6.3} [{least:.3} .. {most:.3}] M, {events:.1} events each, {:.1} k/s simulated",
            case.name,
            simulated / 1e3
        );
    }
    println!("\n{calibration}, peak memory {:.0} MB", peak_rss_mb());
}
