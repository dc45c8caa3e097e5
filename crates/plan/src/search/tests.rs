//! What is read of a search, from the scenario and beside it, and what is refused.

use super::{Asked, Direction, Search, search_of};
use crate::sweep::{self, design_of};

const SCENARIO: &str = "about: How deep, over how wide a link?
machine: {host: {part: generic-host-gen4}, ssd: {part: generic-nvme-gen4}}
links: {slot: {from: host, to: ssd, width: x1}}
workloads: {read: {block: {size: 16KiB, depth: 1, requests: 60}, on: host, target: ssd}}
";

fn read(more: &str, asked: &Asked) -> Result<Search, Vec<String>> {
    let codes = |found: Vec<lanetwin_document::Diagnostic>| {
        found.iter().map(|one| format!("{} {}", one.code, one.path)).collect()
    };
    search_of("a.yaml", &format!("{SCENARIO}{more}"), asked).map_err(codes)
}

const WHOLE: &str = "search:
  links.slot.width: [x1, x2, x4]
  workloads.read.block.depth: {from: 1, to: 64, times: 2}
  maximize: throughput
  minimize: [latency p99@read, cost]
  require: power <= 40 W
  trials: 12
prices:
  unit: EUR
  parts:
    generic-nvme-gen4: {cost: 250, power: 8W, source: an offer, date: 2026-04-30}
";

#[test]
fn the_section_says_what_is_looked_for() {
    let found = read(WHOLE, &Asked::default()).expect("it is right");
    let ways: Vec<_> = found.objectives.iter().map(|one| one.direction).collect();
    assert_eq!(ways, [Direction::Maximize, Direction::Minimize, Direction::Minimize]);
    assert_eq!((found.limits[0].bound, &*found.limits[0].unit), (40.0, "W"));
    assert_eq!((found.trials, found.seed), (12, 0));
    let price = &found.prices.parts["generic-nvme-gen4"];
    assert_eq!((price.cost, price.power_w, &*price.date), (Some(250.0), Some(8.0), "2026-04-30"));
}

#[test]
fn what_is_asked_takes_the_place_of_the_same_word() {
    let asked = Asked { minimize: vec!["power".into()], trials: Some(5), ..Asked::default() };
    let found = read(WHOLE, &asked).expect("it is right");
    let metrics: Vec<_> = found.objectives.iter().map(|one| &*one.quantity.metric).collect();
    assert_eq!(metrics, ["throughput", "power"]);
    assert_eq!((found.trials, found.limits.len()), (5, 1));
}

#[test]
fn its_own_paths_are_varied_or_else_those_of_the_sweep() {
    let asked = sweep::Asked { search: true, ..sweep::Asked::default() };
    let sweep = "sweep: {links.slot.gen: [1, 2, 3]}\n";
    let names = |text: &str| {
        let design = design_of("a.yaml", &format!("{SCENARIO}{text}"), &asked).expect("it is right");
        (design.axes.iter().map(|axis| axis.name.clone()).collect::<Vec<_>>(), design.points)
    };
    let own =
        (vec!["links.slot.width".into(), "workloads.read.block.depth".into()], vec![vec![0, 0], vec![2, 6]]);
    assert_eq!(names(&format!("{sweep}{WHOLE}")), own);
    let of_sweep = (vec!["links.slot.gen".into()], vec![vec![0], vec![2]]);
    assert_eq!(names(&format!("{sweep}search: {{maximize: throughput}}\n")), of_sweep);
}

#[test]
fn a_search_may_be_of_more_points_than_a_sweep() {
    let axis = |name: &str| format!("  {name}: {{from: 1, to: 1000, step: 1}}\n");
    let axes = axis("workloads.read.block.depth") + &axis("workloads.read.block.requests");
    let text = format!("{SCENARIO}search:\n{axes}");
    let asked = sweep::Asked { search: true, ..sweep::Asked::default() };
    let found = design_of("a.yaml", &text, &asked).expect("a million");
    assert_eq!(found.points, [[0, 0], [999, 999]]);
    let text = text.replace("search:", "sweep:");
    let codes = design_of("a.yaml", &text, &sweep::Asked::default()).expect_err("too many to run")[0].code;
    assert_eq!(codes, "SW003");
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let of = |more: &str| read(more, &Asked::default()).expect_err(more);
    assert_eq!(
        of("search: {maximize: '@read', require: cheap}\n"),
        ["SW010 search.maximize", "SW011 search.require"]
    );
    assert_eq!(of("search: {minimize: cost@reed}\n"), ["SC005 search.minimize"]);
    assert_eq!(of("search: {minimize: cost, trials: 0}\n"), ["SC009 search.trials"]);
    let price = |says: &str| of(&format!("prices: {{parts: {{generic-nvme-gen4: {{{says}}}}}}}\n"));
    let at = "prices.parts.generic-nvme-gen4";
    assert_eq!(price("source: me, date: 2026-01-01"), [format!("SW012 {at}")]);
    assert_eq!(price("cost: 1, date: 2026-01-01"), [format!("SC006 {at}.source")]);
    assert_eq!(price("cost: 1, source: me, date: spring"), [format!("SC008 {at}.date")]);
    assert_eq!(price("power: 8, source: me, date: 2026-01-01"), [format!("SC008 {at}.power")]);
}

#[test]
fn checking_a_scenario_checks_both_sections() {
    let check = |more: &str| {
        let found = crate::check_text(&format!("{SCENARIO}{more}"));
        let errors = found.iter().filter(|one| one.code.as_bytes()[2] == b'0');
        errors.map(|one| format!("{} {}", one.code, one.path)).collect::<Vec<_>>()
    };
    assert_eq!(check(WHOLE), Vec::<String>::new());
    let price = "prices: {parts: {generic-nvme-gen9: {cost: 1, source: me, date: 2026-01-01}}}\n";
    assert_eq!(check(price), ["SC011 prices.parts.generic-nvme-gen9"]);
    assert_eq!(check("search: {run.repeats: [1, 2], maximize: throughput}\n").len(), 1);
    assert_eq!(check("search: {maximise: throughput}\n").len(), 1);
}
