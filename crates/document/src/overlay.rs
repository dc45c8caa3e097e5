//! Variants and `--set`: applies paths and values to the document.
//!
//! A path consists of the names in the document: `links.slot.width`. A component's parameter may contain points
//! (`machine.card.read.transaction`). Items of a list have numbers, from 0: `links.slot.via.0`. `null` removes a value.

use crate::fields::{is_map, is_name, join};
use crate::node::{Entry, Kind, Node, Origin, Spot};
use crate::numbered;
use crate::problem::{Problem, Reports};
use crate::spelling::Near;
use crate::yaml;

/// The name of the only variant of a document without variants.
pub const AS_IS: &str = "as-is";

/// Sections that a path may create.
const SECTIONS: [&str; 13] = [
    "machine",
    "links",
    "partitions",
    "subsystems",
    "interleave",
    "workloads",
    "variants",
    "sweep",
    "search",
    "prices",
    "compare",
    "run",
    "files",
];
/// Sections that a variant may change: the simulated machine and its loads, not the settings of the run.
const OF_A_VARIANT: [&str; 6] = ["machine", "links", "partitions", "subsystems", "interleave", "workloads"];

/// Applies one `--set path=value` to the document.
pub fn set(document: &mut Node, text: &str, file: u16, reports: &mut Reports) {
    let spot = Spot { file, line: 1, column: 1 };
    let Some((path, value)) = text.split_once('=').filter(|(path, _)| !path.trim().is_empty()) else {
        reports.add(Problem::BadSet { text: text.into() }, spot, "");
        return;
    };
    let Some(value) = yaml::read(value, file, Origin::Set, reports) else { return };
    apply_to_all(document, path.trim(), value.all_by(Origin::Set), spot, reports);
}

/// The document of each variant, its name, and its place; `vary` applies the changes of a variant to the document.
pub fn variants(
    tree: &Node,
    vary: impl Fn(&mut Node, &str, &Node, &mut Reports),
    reports: &mut Reports,
) -> Vec<(String, Spot, Node)> {
    let as_is = || vec![(AS_IS.to_owned(), tree.spot, tree.clone())];
    let Some(section) = tree.get("variants").filter(|node| node.kind != Kind::Null) else { return as_is() };
    if !is_map(section, "variants", reports) {
        return as_is();
    }
    if section.entries().is_empty() {
        reports.add(Problem::Empty { what: "there is no variant in `variants`" }, section.spot, "variants");
        return as_is();
    }
    let mut base = tree.clone();
    if let Some(entries) = base.entries_mut() {
        // variants do not see each other: with all of them in each copy, memory would grow with the square of their
        // number
        entries.retain(|entry| entry.key != "variants");
    }
    let mut trees = Vec::new();
    for entry in section.entries() {
        let path = join("variants", &entry.key);
        if !is_name(&entry.key) {
            reports.add(Problem::BadName { name: entry.key.clone() }, entry.spot, &path);
        }
        let mut varied = base.clone();
        if entry.value.kind != Kind::Null && is_map(&entry.value, &path, reports) {
            vary(&mut varied, &entry.key, &entry.value, reports);
        }
        trees.push((entry.key.clone(), entry.spot, varied));
    }
    trees
}

/// Applies a variant of a scenario, a mapping from paths to values, to the document.
pub fn vary(document: &mut Node, name: &str, changes: &Node, reports: &mut Reports) {
    vary_at(document, &join("variants", name), changes, reports);
}

/// As [`vary`], for changes at the place `at`.
pub fn vary_at(document: &mut Node, at: &str, changes: &Node, reports: &mut Reports) {
    let mut paths = changes.clone();
    if let Some(entries) = paths.entries_mut() {
        entries.retain(|Entry { key, spot, .. }| {
            let section = key.split('.').next().unwrap_or_default();
            if OF_A_VARIANT.contains(&section) {
                return true;
            }
            let problem = if SECTIONS.contains(&section) || section == "about" {
                Problem::WholeRun { path: key.clone() }
            } else {
                let near = Near::of(section, OF_A_VARIANT);
                Problem::UnknownPath { path: key.clone(), at: section.into(), near }
            };
            reports.add(problem, *spot, &join(at, key));
            false
        });
    }
    lay(document, &paths, reports);
}

/// Applies a mapping from paths to values to a document of any kind.
pub fn lay(document: &mut Node, changes: &Node, reports: &mut Reports) {
    for Entry { key, spot, value } in changes.entries() {
        apply_to_all(document, key, value.clone().all_by(Origin::Variant), *spot, reports);
    }
}

/// The steps of a path; a component's parameter and a variant's path are one step, with their points.
fn steps(path: &str) -> Vec<&str> {
    let whole = match path.split('.').next() {
        Some("machine" | "variants") => 3,
        _ => usize::MAX,
    };
    path.splitn(whole, '.').collect()
}

/// Applies a value at a path, or at each path that a numbered one stands for.
fn apply_to_all(document: &mut Node, path: &str, value: Node, spot: Spot, reports: &mut Reports) {
    let paths = numbered::paths(path, spot, reports);
    let values = numbered::values(path, &paths, &value, reports);
    for (path, value) in paths.iter().zip(values) {
        apply(document, path, value, spot, reports);
    }
}

/// A path that is applied, and its place.
#[derive(Clone, Copy)]
struct At<'a> {
    path: &'a str,
    spot: Spot,
}

fn apply(document: &mut Node, path: &str, value: Node, spot: Spot, reports: &mut Reports) {
    let (at, steps) = (At { path, spot }, steps(path));
    let missing = |section: &str| document.get(section).is_none_or(|found| found.kind == Kind::Null);
    if steps.len() > 1 && missing(steps[0]) && SECTIONS.contains(&steps[0]) {
        put(document, steps[0], Node { spot, ..Node::map::<&str>([]) }, spot);
    }
    apply_below(document, &steps, value, at, reports);
}

/// Applies a value at steps below a mapping.
fn apply_below(node: &mut Node, steps: &[&str], value: Node, at: At<'_>, reports: &mut Reports) {
    let [step, rest @ ..] = steps else { return };
    if rest.is_empty() {
        return change(node, step, value, at, reports);
    }
    let found = node.entries_mut().and_then(|entries| entries.iter_mut().find(|entry| entry.key == *step));
    match found.map(|entry| &mut entry.value) {
        Some(below) if matches!(below.kind, Kind::Map(_)) => apply_below(below, rest, value, at, reports),
        Some(below) if matches!(below.kind, Kind::List(_)) => apply_to_item(below, rest, value, at, reports),
        _ => unknown(node, step, at, reports),
    }
}

/// Applies a value at an item of a list, or below it. Items are numbered from 0; the rest of the path is one key of an
/// item, which may contain points, unless it begins with a mapping or a list in it.
fn apply_to_item(list: &mut Node, steps: &[&str], value: Node, at: At<'_>, reports: &mut Reports) {
    let ([number, rest @ ..], Kind::List(items)) = (steps, &mut list.kind) else { return };
    let known: Vec<String> = (0..items.len()).map(|item| item.to_string()).collect();
    let index = known.iter().position(|known| known == number);
    let Some((index, item)) = index.and_then(|index| Some((index, items.get_mut(index)?))) else {
        let near = Near::of(number, known.iter().map(String::as_str));
        return reports.add(
            Problem::UnknownPath { path: at.path.into(), at: (*number).into(), near },
            at.spot,
            at.path,
        );
    };
    let is_deep = rest.first().and_then(|first| item.get(first));
    let is_deep = is_deep.is_some_and(|below| matches!(below.kind, Kind::Map(_) | Kind::List(_)));
    match rest {
        [] if value.kind == Kind::Null => _ = items.remove(index),
        [] => *item = value,
        _ if is_deep => apply_below(item, rest, value, at, reports),
        [first, ..] if !matches!(item.kind, Kind::Map(_)) => unknown(item, first, at, reports),
        _ => change(item, &rest.join("."), value, at, reports),
    }
}

/// Replaces, adds or removes an entry of a mapping.
fn change(node: &mut Node, key: &str, value: Node, at: At<'_>, reports: &mut Reports) {
    if value.kind != Kind::Null {
        return put(node, key, value, at.spot);
    }
    let before = node.entries().len();
    if let Some(entries) = node.entries_mut() {
        entries.retain(|entry| entry.key != key);
    }
    if node.entries().len() == before {
        unknown(node, key, at, reports);
    }
}

/// Replaces or adds an entry of a mapping.
fn put(node: &mut Node, key: &str, value: Node, spot: Spot) {
    let Some(entries) = node.entries_mut() else { return };
    let entry = Entry { key: key.to_owned(), spot, value };
    match entries.iter_mut().find(|entry| entry.key == key) {
        Some(old) => *old = entry,
        None => entries.push(entry),
    }
}

fn unknown(node: &Node, name: &str, at: At<'_>, reports: &mut Reports) {
    let near = Near::of(name, node.entries().iter().map(|entry| &*entry.key));
    reports.add(Problem::UnknownPath { path: at.path.into(), at: name.into(), near }, at.spot, at.path);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(sets: &[&str]) -> (String, Vec<&'static str>) {
        let mut reports = Reports::default();
        let text = "machine: {card: {part: x, read.cell: 1ns}}\nlinks: {slot: {width: x8, via: [1ns]}}\n";
        let mut node = yaml::read(text, 0, Origin::Scenario, &mut reports).expect("YAML");
        sets.iter().for_each(|text| set(&mut node, text, 1, &mut reports));
        let found = reports.into_diagnostics(&[]).iter().map(|diagnostic| diagnostic.code).collect();
        (serde_json::to_string(&node).expect("JSON"), found)
    }

    #[test]
    fn a_path_replaces_adds_and_removes() {
        let (text, found) = after(&[
            "links.slot.width=x4",
            "machine.card.read.cell=2ns",
            "machine.card.write.cell=3ns",
            "links.slot.via=null",
            "run.seed=7",
            "machine.host={part: y}",
        ]);
        assert_eq!(found, [""; 0]);
        assert_eq!(
            text,
            r#"{"machine":{"card":{"part":"x","read.cell":"2ns","write.cell":"3ns"},"host":{"part":"y"}},"links":{"slot":{"width":"x4"}},"run":{"seed":7}}"#
        );
    }

    #[test]
    fn items_of_lists_are_numbered_from_0() {
        let machine = "machine: {card: {part: x, read.cell: 1ns}}\n";
        let change = |sets: &[&str]| {
            let mut reports = Reports::default();
            let text =
                "links: {slot: {via: [{model: retimer, latency.gen4: 1ns, at: {a: 1}}, part, other]}}\n";
            let mut node =
                yaml::read(&format!("{machine}{text}"), 0, Origin::Scenario, &mut reports).expect("YAML");
            sets.iter().for_each(|text| set(&mut node, text, 1, &mut reports));
            assert!(!reports.has_errors(), "{sets:?}");
            let via = node.get("links").and_then(|links| links.get("slot")).and_then(|slot| slot.get("via"));
            serde_json::to_string(via.expect("a list")).expect("JSON")
        };
        assert_eq!(
            change(&[
                "links.slot.via.0.latency.gen4=2ns",
                "links.slot.via.0.at.a=2",
                "links.slot.via.1=another"
            ]),
            r#"[{"model":"retimer","latency.gen4":"2ns","at":{"a":2}},"another","other"]"#
        );
        assert_eq!(
            change(&["links.slot.via.0.new.key=3", "links.slot.via.2=null"]),
            r#"[{"model":"retimer","latency.gen4":"1ns","at":{"a":1},"new.key":3},"part"]"#
        );
    }

    /// With its siblings in each copy, 2,000 variants took 1.2 GB.
    #[test]
    fn a_variant_does_not_hold_the_others() {
        let mut reports = Reports::default();
        let text = "links: {slot: {width: x8}}\nvariants: {a: {}, b: {links.slot.width: x4}}\n";
        let tree = yaml::read(text, 0, Origin::Scenario, &mut reports).expect("YAML");
        let trees = variants(&tree, vary, &mut reports);
        let told: Vec<String> =
            trees.iter().map(|(_, _, tree)| serde_json::to_string(tree).expect("JSON")).collect();
        assert_eq!(told, [r#"{"links":{"slot":{"width":"x8"}}}"#, r#"{"links":{"slot":{"width":"x4"}}}"#]);
        assert!(!reports.has_errors());
    }

    #[test]
    fn a_path_to_nowhere_is_reported() {
        for wrong in [
            "links.slto.width=x4",
            "nothing.slot=1",
            "machine.card.part.x.y=null",
            "links.slot.ber=null",
            "links.slot.via.x=1",
            "links.slot.via.1=1ns",
            "links.slot.via.0.latency=1ns",
            "links.slot.via.00=1ns",
        ] {
            assert_eq!(after(&[wrong]).1, ["SC030"], "{wrong}");
        }
        for wrong in ["", "x", "=x"] {
            assert_eq!(after(&[wrong]).1, ["SC037"], "{wrong}");
        }
        assert_eq!(after(&["links.slot.width=[1"]).1, ["SC001"]);
    }
}
