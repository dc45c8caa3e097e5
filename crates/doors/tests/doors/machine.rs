//! A machine with a drive, directly and behind a retimer.

use lanetwin_plan::{Catalogue, Plan, check};
use std::path::Path;

/// A scenario whose drive has this medium, and more parameters behind it, with a block workload like this.
pub fn machine(medium: &str, block: &str) -> String {
    format!(
        "about: A drive for a door.\nmachine:\n  cpu: {{model: root-complex}}\n  \
         ssd: {{model: nvme-ssd, capacity: 8GiB, medium: {medium}}}\nlinks:\n  \
         slot: {{from: cpu, to: ssd, gen: 4, width: x4}}\nworkloads:\n  \
         w: {{block: {{size: 4KiB, requests: 1000, {block}}}, on: cpu, target: ssd}}\n\
         variants:\n  direct: {{}}\n  retimer: {{links.slot.via: [montage-m88rt51632]}}\ncompare: {{baseline: direct}}\n"
    )
}

/// Its plan.
pub fn plan(text: &str) -> Plan {
    let checked = check(Path::new("door.yaml"), text, &[], &Catalogue::built_in());
    checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics))
}

/// Whether nothing else computes on this machine: what clients of a door see on one that is busy says nothing of it.
pub fn is_quiet() -> bool {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().and_then(|load| load.parse().ok()).is_some_and(|load: f64| load < 1.0)
}
