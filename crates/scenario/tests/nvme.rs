//! An NVMe drive in a machine: from block requests over queues in host memory to flash, and back.

mod tree;

use lanetwin_scenario::world::{Options, World, run};
use lanetwin_units::{Instant, Span};
use tree::{Nobody, plan};

/// A small drive in a slot.
fn scenario(drive: &str, block: &str) -> String {
    format!(
        "about: Does an NVMe drive answer?\nmachine:\n  cpu: {{part: generic-host-gen5, memory.warm: 32MiB}}\n  \
         ssd: {{model: nvme-ssd, port.width: 4, ftl.initial: sequential{drive}}}\nlinks:\n  slot: {{from: cpu, to: ssd}}\n\
         workloads:\n  load:\n    block: {{{block}}}\n    on: cpu\n    target: ssd\nrun: {{repeats: 1}}\n"
    )
}

#[test]
fn commands_come_back() {
    for engine in ["libaio", "spdk"] {
        for block in ["size: 4KiB, depth: 1, requests: 100", "size: 4KiB, depth: 64, read: 50%, requests: 500", "size: 128KiB, depth: 8, read: 50%, requests: 100"] {
            let plan = plan("nvme.yaml", &scenario(&format!(", driver.engine: {engine}"), block), &[]);
            let results = run(&plan, &Options::default(), &Nobody).unwrap();
            for row in &results.rows { println!("{engine} {block}: {} {} {} {:?}", row.metric, row.value, row.unit, row.percentiles); }
            for w in &results.waterfalls { println!("{w:#?}"); }
            println!("{:?}", results.bottlenecks);
        }
    }
    let _ = (World::new, Instant::ZERO, Span::ZERO);
}
