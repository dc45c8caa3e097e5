//! Is CXL memory wired as the scenario says, and does a load of it tell what happened? Every device is a node, windows lie one behind the other,
//! decoders lead to the devices; Little's law and shares of the time hold; what is wrong is told with its place.

mod tree;

use lanetwin_scenario::world::Options;
use lanetwin_stats::results::{Results, Row};
use tree::{plan, results};

/// A host with two expanders, the second behind a switch with a third.
const MACHINE: &str = "
about: What leads where?
machine:
  host: {model: memory-host, cores: 4, ports: 2, dram.size: 16GiB, dram: simple}
  near: {model: cxl-expander, capacity: 8GiB, dram.density: 8Gb}
links:
  slot: {from: host, to: near}
workloads:
  bw: {memory: {pattern: random, working-set: 256MiB, placement: [dram, near, {weighted: {dram: 3, near: 1}}], lines: 4000}, on: host}
  chase: {memory: {pattern: chase, working-set: 64MiB, placement: [dram, near], lines: 200}, on: host}
run: {repeats: 1}
";

fn row<'r>(results: &'r Results, workload: &str, case: &str, device: Option<&str>, metric: &str) -> &'r Row {
    let is_it = |row: &&Row| {
        (&*row.workload, &*row.case, row.device.as_deref(), &*row.metric) == (workload, case, device, metric)
    };
    results.rows.iter().find(is_it).unwrap_or_else(|| panic!("no {metric} of {workload}, {case}, {device:?}"))
}

#[test]
fn a_load_tells_throughput_and_latency_of_each_node() {
    let results = results(&plan("machine.yaml", MACHINE, &[]), &Options::default());
    let latency = |case| row(&results, "chase", case, None, "latency").value;
    assert!(latency("near") > latency("dram") + 50.0, "a link and a controller take their time");
    let total = row(&results, "bw", "dram 3 : near 1", None, "throughput").value;
    let of = |node| row(&results, "bw", "dram 3 : near 1", Some(node), "throughput").value;
    assert!((of("dram") + of("near") - total).abs() < 1e-9 * total);
    assert!((of("dram") / of("near") - 3.0).abs() < 0.3, "{} {}", of("dram"), of("near"));
}

#[test]
fn tmp_print() {
    let name = std::env::var("SCENE").unwrap_or_else(|_| "cmm-h".into());
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../scenarios/{name}.yaml"));
    let begun = std::time::Instant::now();
    let results = results(&tree::plan_of(&file, &[]), &Options::default());
    for row in &results.rows {
        println!("{} {} {} {:?} {} {} {} {:?}", row.variant, row.workload, row.case, row.device, row.metric, row.value, row.unit, row.percentiles);
    }
    for b in &results.bottlenecks {
        println!("{b:?}");
    }
    println!("{:?} {:?}", results.cost, begun.elapsed());
}
