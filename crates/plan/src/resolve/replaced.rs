//! Variants that replace more than their author means: `machine: {ssd: …}` for `machine.ssd: …`.

use crate::problem::variants::Problem;
use lanetwin_document::fields::join;
use lanetwin_document::node::{Entry, Kind, Node};
use lanetwin_document::problem::{Reports, quoted};

/// Maximum number of entries that the message names.
const NAMED: usize = 4;
/// Keys without which an entry of a section says nothing; `part` and `model` stand for each other.
const NEEDED: [&str; 5] = ["part", "model", "from", "to", "on"];

/// A mapping that a variant gives in the place of a larger one.
struct Replaced<'a> {
    path: String,
    /// One of its own keys.
    first: &'a str,
    /// The keys that are missing.
    gone: Vec<&'a str>,
}

/// Puts one error in the place of those of a variant, if it replaces a section, or an entry of one, and leaves out what
/// the scenario needs: they follow from that. `tree` is the scenario, with its variants.
pub(super) fn explain(tree: &Node, variant: &str, reports: &mut Reports) {
    if !reports.has_errors() {
        return;
    }
    let Some(changes) = tree.get("variants").and_then(|variants| variants.get(variant)) else { return };
    let found = changes.entries().iter().find_map(|change| Some((change, replaced(tree, change)?)));
    let Some((change, Replaced { path, first, gone })) = found else { return };
    let more = if gone.len() > NAMED { format!(" and {} more", gone.len() - NAMED) } else { String::new() };
    let gone = quoted(gone.into_iter().take(NAMED)) + &more;
    let problem = Problem::Replaced { change: format!("{path}.{first}: …"), path, gone };
    *reports = Reports::default();
    reports.add(problem, change.spot, &join(&join("variants", variant), &change.key));
}

fn replaced<'a>(tree: &'a Node, change: &'a Entry) -> Option<Replaced<'a>> {
    match *change.key.split('.').collect::<Vec<_>>() {
        [section] => {
            let before = tree.get(section)?;
            let gone = missing(before, &change.value);
            if !gone.is_empty() {
                return Some(Replaced { path: section.to_owned(), first: first_of(&change.value)?, gone });
            }
            change.value.entries().iter().find_map(|entry| {
                replaced_entry(before.get(&entry.key)?, &entry.value, || join(section, &entry.key))
            })
        }
        [section, name] => {
            replaced_entry(tree.get(section)?.get(name)?, &change.value, || change.key.clone())
        }
        _ => None,
    }
}

fn replaced_entry<'a>(
    before: &'a Node,
    after: &'a Node,
    path: impl FnOnce() -> String,
) -> Option<Replaced<'a>> {
    let is_built = after.get("part").or(after.get("model")).is_some();
    let is_needed = |key: &&str| NEEDED.contains(key) && !(is_built && matches!(*key, "part" | "model"));
    let gone: Vec<&str> = missing(before, after).into_iter().filter(is_needed).collect();
    (!gone.is_empty()).then_some(())?;
    Some(Replaced { path: path(), first: first_of(after)?, gone })
}

/// The keys of a mapping that another one does not have; none if one of them is not a mapping.
fn missing<'a>(before: &'a Node, after: &Node) -> Vec<&'a str> {
    let is_map = |node: &Node| matches!(node.kind, Kind::Map(_));
    if !is_map(before) || !is_map(after) {
        return Vec::new();
    }
    let lost = before.entries().iter().filter(|entry| after.get(&entry.key).is_none());
    lost.map(|entry| &*entry.key).collect()
}

fn first_of(node: &Node) -> Option<&str> {
    node.entries().first().map(|entry| &*entry.key)
}

#[cfg(test)]
mod tests {
    use crate::check_text;

    const SCENARIO: &str = "
about: Which slot?
machine:
  host: {part: generic-host-gen5}
  card: {part: generic-dma-gen5}
links:
  slot: {from: host, to: card}
workloads:
  read: {dma: {size: 64B}, on: card}
variants:
  as-is: {}
";

    /// The code and the message of each diagnostic with this second variant.
    fn told(variant: &str) -> Vec<String> {
        let found = check_text(&format!("{SCENARIO}  other: {variant}\n"));
        found.into_iter().map(|found| format!("{}: {}", found.code, found.message)).collect()
    }

    #[test]
    fn a_section_that_lacks_what_is_needed_is_one_error() {
        let place = "in the place of all of it, and without";
        let (is, other) = ("the scenario is not valid", "(in variant `other`)");
        for (variant, path, gone) in [
            ("{machine: {card: {part: nfp-6000}}}", "machine", "`host`"),
            ("{links: {slot: {width: x4}}}", "links.slot", "`from`, `to`"),
            ("{links.slot: {width: x4}}", "links.slot", "`from`, `to`"),
            ("{machine.card: {port.tags: 8}}", "machine.card", "`part`"),
            ("{workloads.read: {dma: {size: 64B}}}", "workloads.read", "`on`"),
        ] {
            let message = format!("SV001: the variant gives a new `{path}` {place} {gone} {is} {other}");
            assert_eq!(told(variant), [message], "{variant}");
        }
    }

    #[test]
    fn other_errors_of_a_variant_are_told_as_they_are() {
        for (variant, code) in [
            ("{machine.card: {part: no-such-part}}", "SC"),
            ("{links.slot: {from: host, to: card, width: x3}}", "SC"),
            ("{links.slot: null}", "SC"),
        ] {
            let told = told(variant);
            assert!(!told.is_empty() && told.iter().all(|one| one.starts_with(code)), "{variant}: {told:?}");
        }
        for variant in
            ["{machine.card: {part: nfp-6000}}", "{workloads: {write: {dma: {size: 64B}, on: card}}}"]
        {
            assert!(told(variant).iter().all(|one| !one.starts_with("SV")), "{variant}: {:?}", told(variant));
        }
    }
}
