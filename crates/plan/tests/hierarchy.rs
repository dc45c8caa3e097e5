//! The numbers below a host: which there are, what is the same in which variants, and what a user is told when they run
//! out.

use lanetwin_plan::hierarchy::hierarchies;
use lanetwin_plan::{Catalogue, Plan, check};
use serde_json::Value;
use std::path::Path;

const MEMORY: &str = "
about: Where is what?
machine:
  host: {part: generic-host-gen4}
  sw: {model: switch}
  card: {part: generic-dma-gen5}
  memory: {part: generic-memory-endpoint-gen5}
links:
  up: {from: host, to: sw}
  bay: {from: sw.port2, to: card}
  neighbour: {from: sw.port1, to: memory}
workloads:
  read: {dma: {size: 4KiB, window: 3MiB}, on: card, target: memory}
variants:
  one: {}
  # nothing that has a number
  narrow: {links.bay.width: x4}
  swapped: {links.bay.from: sw.port1, links.neighbour.from: sw.port2}
";

fn plan(text: &str) -> Plan {
    let checked = check(Path::new("memory.yaml"), text, &[], &Catalogue::built_in());
    checked.plan.unwrap_or_else(|| panic!("{:#?}", checked.diagnostics))
}

#[test]
fn variants_that_are_alike_share_a_tree_and_ports_are_numbered_in_their_order() {
    let found = hierarchies(&plan(MEMORY).variants);
    let names: Vec<&[String]> = found.iter().map(|shared| &*shared.variants).collect();
    assert_eq!(names, [["one".to_owned(), "narrow".to_owned()].as_slice(), &["swapped".to_owned()]]);
    let [one, swapped] = [0, 1].map(|i| found[i].hosts[0].tree.to_string());
    let expected = "\
-[0000:00]-+-00.0  host
           \\-01.0-[01-04]----00.0-[02-04]--+-00.0-[03]----00.0  memory
                                           \\-01.0-[04]----00.0  card
";
    assert_eq!(one, expected);
    assert_ne!(one, swapped);
}

#[test]
fn as_json_it_has_every_bridge_and_function_by_name() {
    let found = hierarchies(&plan(MEMORY).variants);
    let json = serde_json::to_value(&found[0]).expect("JSON");
    let host = &json["hosts"][0];
    let names = |list: &str| -> Vec<String> {
        let list = host[list].as_array().expect("a list").iter();
        list.map(|one| {
            format!("{} {}", one["id"].as_str().unwrap_or("?"), one["name"].as_str().unwrap_or("?"))
        })
        .collect()
    };
    assert_eq!(
        names("bridges"),
        ["00:01.0 host.slot0", "01:00.0 sw", "02:00.0 sw.port1", "02:01.0 sw.port2"]
    );
    assert_eq!(names("functions"), ["03:00.0 memory", "04:00.0 card"]);
    // what the workload uses, rounded up; 64-bit and prefetchable, so it lies above 4 GiB
    let bar = &host["functions"][0]["bars"][0];
    assert_eq!((&bar["bytes"], &bar["prefetchable"]), (&Value::from(4 << 20), &Value::from(true)));
    assert_eq!(bar["address"], host["bridges"][2]["prefetchable"]["first"]);
    assert_eq!(host["bridges"][2]["memory"], Value::Null);
    assert_eq!(host["functions"][1]["bars"][0]["bytes"], Value::from(16 << 10));
}
