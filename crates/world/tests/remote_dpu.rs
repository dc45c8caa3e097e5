//! A DPU that shows its host a drive of the network: the host's work is that of a drive at hand, the DPU's cores do the
//! rest, and everything is answered once.

use crate::tree::{plan, results};
use lanetwin_kernel::{Reading, Report};
use lanetwin_plan::{Catalogue, Plan, check};
use lanetwin_units::{Instant, Span};
use lanetwin_world::{Granularity, Options, World};
use std::path::Path;

/// A host with a DPU, and a box with a drive.
const MACHINE: &str = "
about: What is a drive that a DPU shows?
machine:
  server: {part: generic-host-gen4, cores: 4}
  dpu: {part: bluefield-2, capacity: 100GB}
  tor: {part: generic-ethernet-switch-100g}
  box-nic: {part: connectx-5-ex}
  box: {part: generic-host-gen4}
  ssd: {part: intel-p5800x}
links:
  slot: {from: server, to: dpu.pcie}
  net: {from: dpu.net, to: tor}
  box-net: {from: tor, to: box-nic}
  box-slot: {from: box, to: box-nic}
  bay: {from: box, to: ssd}
  shown: {from: dpu.disk, to: ssd}
subsystems:
  jbof: {port: box-nic, namespaces: ssd}
workloads:
  mixed: {block: {size: [4KiB, 128KiB], depth: 8, read: 50%, span: 1GiB, requests: 600}, on: server, target: dpu}
run: {repeats: 1, warm-up: 50}
";
/// The drive is the server's own.
const LOCAL: &[&str] = &[
    "links.bay.from=server",
    "workloads.mixed.target=ssd",
    "machine.dpu={part: connectx-6}",
    "links.slot.to=dpu",
    "links.net.from=dpu",
    "links.shown=null",
    "subsystems=null",
];
/// The server asks it over the network by itself.
const INITIATOR: &[&str] = &[
    "workloads.mixed.target=ssd",
    "machine.dpu={part: connectx-6}",
    "links.slot.to=dpu",
    "links.net.from=dpu",
    "links.shown=null",
];

fn remote(sets: &[&str]) -> Plan {
    plan("dpu.yaml", MACHINE, sets)
}
fn codes(sets: &[&str]) -> Vec<&'static str> {
    let sets: Vec<String> = sets.iter().map(|set| (*set).to_owned()).collect();
    let found = check(Path::new("dpu.yaml"), MACHINE, &sets, &Catalogue::built_in()).diagnostics;
    found.iter().map(|found| found.code).collect()
}

/// A world that has run and come to rest.
struct Rested {
    asked: u64,
    answered: u64,
    told: Vec<(String, Report)>,
}

impl Rested {
    fn new(sets: &[&str], case: usize) -> Self {
        let plan = remote(sets);
        let variant = &plan.variants[0];
        let mut world = World::new(variant, &variant.workloads[0], &variant.workloads[0].cases[case], 1);
        world.kernel.run_until(Instant::ZERO + Span::from_us(3_000));
        world.stop();
        world.kernel.run_until(Instant::ZERO + Span::from_us(10_000));
        let told = world.kernel.report().into_iter().map(|(_, path, report)| (path.to_owned(), report));
        let told = told.collect();
        let (asked, answered) = world.progress();
        Self { asked, answered, told }
    }
    /// The total of a metric of a component.
    fn total(&self, component: &str, name: &str) -> u64 {
        let (_, report) = self.told.iter().find(|(path, _)| path == component).expect("a component");
        let entry = report.metrics.iter().find(|entry| entry.metric.name == name).expect("a metric");
        match entry.reading {
            Reading::Count(total) | Reading::Rate { total, .. } => total,
            _ => panic!("{name} is no count"),
        }
    }
    /// How long the cores of a host were busy for each request \[ps\].
    fn cpu_ps(&self, host: &str) -> u64 {
        let (_, report) = self.told.iter().find(|(path, _)| path == host).expect("a host");
        let cores = report.supplies.iter().filter(|(name, _)| name.starts_with("core "));
        let busy: u128 = cores.map(|(_, supply)| supply.in_use_ps).sum();
        (busy / u128::from(self.answered)) as u64
    }
}

#[test]
fn trains_and_slices_change_nothing_where_a_dpu_shows_a_drive() {
    // many times what is in flight
    let few = &["workloads.mixed.block.requests=150"][..];
    for sets in [&[][..], &["subsystems.jbof.transport=tcp"], &["machine.dpu.threads=1"]] {
        let plan = remote(&[sets, few].concat());
        let ran = |granularity| results(&plan, &Options { granularity, ..Options::default() });
        assert_eq!(ran(Granularity::Train).digest, ran(Granularity::Tlp).digest, "{sets:?}");
    }
    let digest = |slice: u64| {
        let plan = remote(&[]);
        let variant = &plan.variants[0];
        let mut world = World::new(variant, &variant.workloads[0], &variant.workloads[0].cases[0], 1);
        let end = Instant::ZERO + Span::from_us(400);
        let mut at = Instant::ZERO;
        while at < end {
            at = (at + Span::from_ns(slice)).min(end);
            world.kernel.run_until(at);
        }
        world.kernel.digest()
    };
    assert_eq!(digest(400_000), digest(777));
}

/// Each request is carried on once, its data lie in the DPU once, and it has its completion entry and its interrupt.
#[test]
fn every_command_is_carried_on_and_answered_once() {
    for case in 0..2 {
        for sets in [&[][..], &["machine.dpu.threads=1"], &["machine.dpu.threads=3", "machine.dpu.cores=2"]] {
            let rested = Rested::new(sets, case);
            let answered = rested.answered;
            assert!(rested.asked == answered && answered > 100, "{answered} of {}", rested.asked);
            assert_eq!(rested.total("dpu.front", "commands carried on"), answered);
            let bytes = [4096, 128 << 10][case];
            assert_eq!(rested.total("dpu.front", "data through the memory of the DPU"), 2 * answered * bytes);
            assert_eq!(rested.total("(target)/box-nic", "commands"), answered);
            let unexpected = rested.told.iter().flat_map(|(_, report)| &report.metrics);
            let mut unexpected = unexpected.filter(|entry| entry.metric.name == "unexpected messages");
            assert!(unexpected.all(|entry| matches!(entry.reading, Reading::Count(0))));
        }
    }
}

/// To the host's cores a drive that a DPU shows is one at hand, to the picosecond of each request; what an initiator
/// would cost them the DPU's cores do.
#[test]
fn the_work_of_an_initiator_moves_from_the_host_to_the_dpu() {
    let depth = "workloads.mixed.block.depth=1";
    let with = |sets: &[&'static str]| Rested::new(&[sets, &[depth]].concat(), 0);
    let (dpu, local, initiator) = (with(&[]), with(LOCAL), with(INITIATOR));
    let own = |rested: &Rested| rested.cpu_ps("server") as f64;
    // the start of the controller is among it
    assert!((own(&dpu) / own(&local) - 1.0).abs() < 0.02, "{} and {}", own(&dpu), own(&local));
    assert!(own(&initiator) > own(&dpu) * 1.2, "{} and {}", own(&initiator), own(&dpu));
    let emulation = dpu.total("dpu.front", "cores of the DPU in use") / dpu.answered;
    // a command and its end, half of them writes with data: 400 + 300 + 75 ns, and what the initiator of SPDK takes
    assert!((775_000..1_500_000).contains(&emulation), "{emulation} ps");
    assert_eq!(emulation, dpu.cpu_ps("dpu.arm"));
}

#[test]
fn what_a_dpu_cannot_show_is_told_where_it_is_written() {
    let told = |sets: &[&str], expected: &[&str]| assert_eq!(codes(sets), expected, "{sets:?}");
    told(&[], &[]);
    told(&["subsystems.jbof.hosts=dpu"], &[]);
    told(&["subsystems.jbof.hosts=server"], &["FB016"]);
    told(&["links.net=null"], &["FB016"]);
    told(&["subsystems=null"], &["FB031"]);
    told(&["machine.dpu.capacity=2TB"], &["FB032"]);
    let blocks = ["machine.dpu.capacity=64GiB", "machine.dpu.block=4KiB", "machine.ssd.block=4KiB"];
    told(&blocks[..2], &["FB032"]);
    told(&blocks, &[]);
    told(&["links.shown=null"], &["SC018"]);
}
