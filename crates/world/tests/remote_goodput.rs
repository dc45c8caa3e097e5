//! What NVMe/TCP leaves of a line in a whole machine: the closed form, whatever frames carry and whichever digests are
//! used.

use crate::tree::plan;
use lanetwin_fabric::ethernet::spec::{Rate, Tagging};
use lanetwin_kernel::ComponentId;
use lanetwin_models::roce_nic::RoceNic;
use lanetwin_nvme::logic::Direction;
use lanetwin_nvmeof::spec::tcp::DigestTypes;
use lanetwin_nvmeof::throughput::{Segments, TIMESTAMPS_BYTES, TcpWay};
use lanetwin_world::World;

const COMMAND: u32 = 128 << 10;

/// Software that costs so little, and a drive that is so fast, that a line of 10 Gb/s is all that limits. Interrupts
/// are not moderated, which would move the answers between which bytes are counted.
fn machine(mtu: u32, [header, data]: [bool; 2], read: &str) -> String {
    let costs = "driver.tcp.send: 100ns, driver.tcp.receive: 100ns, driver.tcp.frame: 1ns, driver.tcp.copy: 1ns, driver.tcp.digest: 1ns, driver.engine: spdk";
    let target = "target.software: spdk, target.spdk.command: 150ns, target.spdk.data: 80ns, target.spdk.respond: 100ns";
    format!(
        "
about: What does NVMe/TCP leave of a line?
machine:
  server: {{part: generic-host-gen4, {costs}}}
  nic: {{part: connectx-5-ex, ethernet.mtu: {mtu}B, ethernet.rate: 10, rx-usecs: 0us}}
  tor: {{part: generic-ethernet-switch-100g}}
  box: {{part: generic-host-gen4, {costs}, {target}}}
  box-nic: {{part: connectx-5-ex, ethernet.mtu: {mtu}B, ethernet.rate: 10, rx-usecs: 0us}}
  ssd1: {{part: intel-p5800x}}
  ssd2: {{part: intel-p5800x}}
links:
  slot: {{from: server, to: nic}}
  net: {{from: nic, to: tor}}
  box-net: {{from: tor, to: box-nic}}
  box-slot: {{from: box, to: box-nic}}
  bay1: {{from: box, to: ssd1}}
  bay2: {{from: box, to: ssd2}}
subsystems:
  jbof: {{port: box-nic, namespaces: [ssd1, ssd2], transport: tcp, header-digest: {header}, data-digest: {data}}}
workloads:
  stream: {{block: {{size: {COMMAND}B, depth: 32, read: {read}, pattern: sequential, span: 4GiB, requests: 2000}}, on: server, target: [ssd1, ssd2]}}
run: {{repeats: 1, warm-up: 50}}
"
    )
}

/// What leaves a side \[B of its stream/s\] between two answers of a world whose line is never idle: the host, and the
/// target.
fn leaves(text: &str) -> [f64; 2] {
    let plan = plan("goodput.yaml", text, &[]);
    let (variant, workload) = (&plan.variants[0], &plan.variants[0].workloads[0]);
    let mut world = World::new(variant, workload, &workload.cases[0], 1);
    let mut until = |answers: u64| {
        while world.progress().1 < answers {
            let next = world.kernel.next_event().expect("a load asks again and again");
            world.kernel.run_until(next);
        }
        let adapters = (1..=variant.machine.len() as u32).map(ComponentId);
        let sent: Vec<u64> =
            adapters.filter_map(|id| Some(world.kernel.component::<RoceNic>(id)?.counts().sent)).collect();
        (world.kernel.now(), sent)
    };
    let ((begin, before), (end, after)) = (until(300), until(700));
    [0, 1].map(|side| (after[side] - before[side]) as f64 * 1e12 / (end - begin).as_ps() as f64)
}

/// What commands get of the line of the side that sends their data, against two closed forms: with messages that end
/// segments, which a command of a write does before its data are asked for; and with full segments alone.
fn shares(mtu: u32, digests: [bool; 2], direction: Direction) -> [f64; 2] {
    let (read, side) = if direction == Direction::ToHost { ("100%", 1) } else { ("0%", 0) };
    let segments = Segments { mtu, options: TIMESTAMPS_BYTES, tagging: Tagging::Untagged };
    let types = DigestTypes::from_raw(u8::from(digests[0]) | u8::from(digests[1]) << 1);
    let way = TcpWay { digests: types, success: false, capsule_data: 4096, most_data: 1 << 22 };
    let stream = way.stream(direction, COMMAND).busier();
    let data = leaves(&machine(mtu, digests, read))[side] * f64::from(COMMAND) / stream as f64;
    let command = match direction {
        Direction::ToHost => 0,
        Direction::FromHost => way.stream(Direction::ToHost, COMMAND).to_target,
    };
    let wire = segments.burst(command) + segments.burst(stream - command);
    let of_messages = Rate::G10.bytes_per_second() as f64 * f64::from(COMMAND) / wire as f64;
    let full = way.goodput(Rate::G10, segments, direction, COMMAND) as f64;
    [data / of_messages, data / full]
}

#[test]
fn commands_over_tcp_get_what_the_closed_form_leaves_them() {
    closed_form_is_left(&[1500, 9000]);
}

mod nightly {
    #[test]
    #[ignore = "the same of every MTU: make test-nightly"]
    fn commands_over_tcp_get_what_the_closed_form_leaves_them_at_every_mtu() {
        super::closed_form_is_left(&[576, 1280, 1500, 2048, 4200, 9000]);
    }
}

fn closed_form_is_left(mtus: &[u32]) {
    for &mtu in mtus {
        for digests in [[false, false], [true, true]] {
            for direction in [Direction::ToHost, Direction::FromHost] {
                let [of_messages, full] = shares(mtu, digests, direction);
                let told = format!("{mtu} B, {digests:?}, {direction:?}: {of_messages}, {full}");
                assert!((of_messages - 1.0).abs() < 0.0005 && (full - 1.0).abs() < 0.001, "{told}");
            }
        }
    }
}
