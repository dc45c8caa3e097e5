//! Messages of NVMe/TCP that wait for a core are sent together.

use crate::tree::plan;
use lanetwin_kernel::ComponentId;
use lanetwin_models::roce_nic::RoceNic;
use lanetwin_world::World;

/// Hosts whose commands a target with one core serves, over a line without a switch.
fn machine(depth: u32, software: &str) -> String {
    format!(
        "
about: How many segments does a target send for a command?
machine:
  server: {{part: generic-host-gen4, cores: 8, driver.engine: libaio}}
  nic: {{part: connectx-5-ex}}
  box: {{part: generic-host-gen4, cores: 1, target.software: {software}}}
  box-nic: {{part: connectx-5-ex}}
  ssd: {{part: intel-p5800x}}
links:
  slot: {{from: server, to: nic}}
  net: {{from: nic, to: box-nic}}
  box-slot: {{from: box, to: box-nic}}
  bay: {{from: box, to: ssd}}
subsystems:
  jbof: {{port: box-nic, namespaces: [ssd], transport: tcp}}
workloads:
  reads: {{block: {{size: 4KiB, depth: {depth}, span: 4GiB, requests: 600}}, on: server, target: ssd}}
run: {{repeats: 1, warm-up: 50}}
"
    )
}

/// Segments that each side has sent for each of a thousand reads, with data or without: the host, and the target.
fn segments(depth: u32, software: &str) -> [f64; 2] {
    const READS: u64 = 1000;
    let plan = plan("together.yaml", &machine(depth, software), &[]);
    let (variant, workload) = (&plan.variants[0], &plan.variants[0].workloads[0]);
    let mut world = World::new(variant, workload, &workload.cases[0], 1);
    while world.progress().1 < READS {
        let next = world.kernel.next_event().expect("a load asks again and again");
        world.kernel.run_until(next);
    }
    let adapters = (1..=variant.machine.len() as u32).map(ComponentId);
    let sent: Vec<u64> =
        adapters.filter_map(|id| Some(world.kernel.component::<RoceNic>(id)?.counts().messages)).collect();
    [0, 1].map(|side| sent[side] as f64 / READS as f64)
}

/// A core that is free sends each response by itself. One that is not sends what has gathered, up to what software
/// takes at once; a host with Linux sends each command by itself.
#[test]
fn responses_that_wait_for_a_core_leave_together() {
    for (software, most) in [("nvmet", 8.0), ("spdk", 32.0)] {
        let ([_, alone], [commands, together]) = (segments(1, software), segments(64, software));
        let told = format!("{software}: {alone}, {together}, {commands}");
        assert!((1.0..1.1).contains(&alone), "{told}");
        assert!(together < 0.5 && together >= 1.0 / most, "{told}");
        assert!(commands >= 1.0, "{told}");
    }
}
