//! Parameters that the author has set but that have no effect in any variant.

use crate::plan::Variant;
use crate::problem::Problem;
use lanetwin_document::fields::join;
use lanetwin_document::node::{Node, Origin, Spot};
use lanetwin_document::problem::Reports;
use lanetwin_ports::WithoutEffect;
use std::collections::{BTreeMap, BTreeSet};

/// A component and one of its parameters.
type Place = (String, &'static str);

/// Reports each of them once. `trees` are the documents of the variants.
pub(super) fn report<'n>(
    variants: &[&Variant],
    trees: impl Iterator<Item = &'n Node>,
    reports: &mut Reports,
) {
    let trees: Vec<&Node> = trees.collect();
    let (mut effective, mut idle) = (BTreeSet::<Place>::new(), BTreeMap::<Place, String>::new());
    for component in variants.iter().flat_map(|variant| &variant.machine) {
        let without: BTreeMap<&str, String> = component
            .model
            .without_effect(&component.params)
            .into_iter()
            .map(|WithoutEffect { parameter, why }| (parameter, why))
            .collect();
        for (&parameter, origin) in &component.origins {
            if !matches!(origin, Origin::Scenario | Origin::Variant | Origin::Set) {
                continue;
            }
            let place = (component.name.clone(), parameter);
            match without.get(parameter) {
                Some(why) => drop(idle.insert(place, why.clone())),
                None => drop(effective.insert(place)),
            }
        }
    }
    for ((name, parameter), why) in idle {
        let written = trees.iter().find_map(|tree| spot(tree, &name, parameter));
        let Some(spot) = written.filter(|_| !effective.contains(&(name.clone(), parameter))) else {
            continue;
        };
        let path = join(&join("machine", &name), parameter);
        reports.add(Problem::WithoutEffect { parameter, why }, spot, &path);
    }
}

fn spot(tree: &Node, component: &str, parameter: &str) -> Option<Spot> {
    Some(tree.get("machine")?.get(component)?.get(parameter)?.spot)
}
