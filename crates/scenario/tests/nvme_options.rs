//! Options of the driver that the software of most hosts leaves alone: classes of queues, doorbells in memory.

mod tree;

use lanetwin_scenario::world::Options;
use lanetwin_stats::results::Results;
use std::path::Path;
use tree::{plan_of, results};

/// A scenario of the tree, as it is.
fn run(name: &str) -> Results {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios").join(name);
    results(&plan_of(&file, &[]), &Options::default())
}

/// The value of a metric of a device, in a variant.
fn value(results: &Results, variant: &str, (case, device, metric): (&str, &str, &str)) -> f64 {
    let is_it = |row: &&lanetwin_stats::results::Row| {
        row.variant == variant
            && row.case.contains(case)
            && row.device.as_deref().unwrap_or_default() == device
            && row.metric == metric
    };
    results.rows.iter().find(is_it).unwrap_or_else(|| panic!("{variant} {case} {device} {metric}")).value
}

#[test]
fn print() {
    for name in ["arbitration.yaml", "shadow-doorbells.yaml"] {
        let results = run(name);
        for row in &results.rows {
            println!("{} {} {:?} {} {} {}", row.variant, row.case, row.device, row.metric, row.value, row.unit);
        }
        for w in &results.waterfalls { println!("{} {} {:?}", w.variant, w.case, w.stages); }
        for w in &results.bottlenecks { println!("{} {} {:?} {}", w.variant, w.case, w.name, w.why); }
        let _ = value;
    }
}
