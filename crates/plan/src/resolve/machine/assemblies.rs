//! Components that are assemblies: their contents become components and links of the machine, with names that contain a
//! point.
//!
//! The keys of the scenario go to an exposed parameter (`cache.size`), a parameter of a component inside
//! (`ssd.capacity`), or a key of a link inside (`bay.gen`). To the author, all are parameters of one component.

use super::component::component;
use crate::catalogue::{Assembly, Catalogue};
use crate::language::LINK;
use crate::resolve::components::{Assembled, Slot};
use lanetwin_document::fields::join;
use lanetwin_document::node::{Entry, Kind, Node, Origin, Spot};
use lanetwin_document::problem::{Problem, Reports, known_keys};
use lanetwin_document::spelling::Near;
use std::collections::BTreeMap;

/// The assembly of a component, if it is one.
pub(super) fn of<'c>(node: &Node, catalogue: &'c Catalogue) -> Option<&'c Assembly> {
    catalogue.assembly(node.get("part")?.text()?)
}

/// An expanded assembly.
pub(super) struct Expanded {
    pub slots: Vec<Slot>,
    pub assembled: Assembled,
    /// The component with every default filled in, without its links.
    pub complete: Node,
}

/// The keys of the scenario for the contents of an assembly.
#[derive(Default)]
struct Said {
    /// For components: the name, and entries as for a component of the machine.
    of_components: BTreeMap<String, Vec<Entry>>,
    /// For links, likewise.
    of_links: BTreeMap<String, Vec<Entry>>,
}

/// Expands a component. Its contents are added after the `before` components of the machine.
pub(super) fn expand(
    entry: &Entry,
    (assembly, before): (&Assembly, usize),
    catalogue: &Catalogue,
    reports: &mut Reports,
) -> Expanded {
    let path = join("machine", &entry.key);
    let mut said = said(entry, assembly, &path, reports);
    let (mut slots, mut complete) = (Vec::new(), Vec::new());
    complete.extend(entry.value.entries().iter().find(|own| own.key == "part").cloned());
    for (name, part) in &assembly.components {
        let full = join(&entry.key, name);
        let mut entries = vec![Entry::new("part".into(), at(Node::scalar(&part.name), entry.spot))];
        entries.extend(said.of_components.remove(name).unwrap_or_default());
        let value = Node { spot: entry.spot, origin: entry.value.origin, kind: Kind::Map(entries) };
        let inner = Entry { key: full.clone(), spot: entry.spot, value };
        let read = component(&inner, &join(&path, name), catalogue, reports);
        let plan = read.map(|(plan, node)| {
            let own = node.entries().iter().filter(|own| own.key != "part");
            complete.extend(own.map(|own| Entry { key: join(name, &own.key), ..own.clone() }));
            plan
        });
        slots.push(Slot { name: full, spot: entry.spot, plan });
    }
    let links = assembly.links.iter().map(|link| {
        let over = said.of_links.remove(&link.key).unwrap_or_default();
        inner_link(link, over, entry)
    });
    let place = |inner: &str| assembly.components.iter().position(|(name, _)| name == inner);
    let ports = assembly
        .ports
        .iter()
        .filter_map(|(outer, (inner, port))| Some((outer.clone(), (before + place(inner)?, port.clone()))));
    let assembled = Assembled { name: entry.key.clone(), ports: ports.collect(), links: links.collect() };
    let complete = Node { spot: entry.spot, origin: entry.value.origin, kind: Kind::Map(complete) };
    Expanded { slots, assembled, complete }
}

/// Sorts a key of the scenario by its destination.
fn said(entry: &Entry, assembly: &Assembly, path: &str, reports: &mut Reports) -> Said {
    let mut said = Said::default();
    for own in entry.value.entries().iter().filter(|own| own.key != "part") {
        let (inner, rest) = match assembly.parameters.get(&own.key) {
            Some((inner, parameter)) => (&**inner, &**parameter),
            None => own.key.split_once('.').unwrap_or((&own.key, "")),
        };
        let of = if assembly.component(inner).is_some() && rest != "part" && rest != "model" {
            &mut said.of_components
        } else if assembly.has_link(inner) && rest != "from" && rest != "to" {
            &mut said.of_links
        } else {
            let exposed = || assembly.parameters.keys().map(|name| &**name);
            let inside = assembly.components.iter().map(|(name, _)| format!("{name}.…"));
            let known: Vec<String> = exposed().map(str::to_owned).chain(inside).collect();
            let (near, known) = (Near::of(&own.key, exposed()), known_keys(known.iter().map(|name| &**name)));
            reports.add(
                Problem::UnknownKey { key: own.key.clone(), known, near },
                own.spot,
                &join(path, &own.key),
            );
            continue;
        };
        let list = of.entry(inner.to_owned()).or_default();
        match list.iter_mut().find(|other| other.key == rest) {
            // a parameter may be given by its outer and its inner name; the later origin wins
            Some(other) if other.value.origin < own.value.origin => other.value = own.value.clone(),
            Some(other) if other.value.origin == own.value.origin => {
                let problem = Problem::Duplicate { key: own.key.clone(), line: other.spot.line };
                reports.add(problem, own.spot, &join(path, &own.key));
            }
            Some(_) => {}
            None => list.push(Entry { key: rest.to_owned(), ..own.clone() }),
        }
    }
    said
}

/// A link inside, with the keys of the scenario for it.
fn inner_link(link: &Entry, over: Vec<Entry>, of: &Entry) -> Entry {
    let mut value = at(link.value.clone().all_by(Origin::Part), of.spot);
    if let Some(entries) = value.entries_mut() {
        for end in entries.iter_mut().filter(|own| own.key == "from" || own.key == "to") {
            if let Some(text) = end.value.text() {
                end.value.kind = Kind::Scalar(join(&of.key, text));
            }
        }
        for own in over {
            match entries.iter_mut().find(|other| other.key == own.key) {
                Some(other) => *other = own,
                None => entries.push(own),
            }
        }
    }
    Entry { key: join(&of.key, &link.key), spot: of.spot, value }
}

/// The keys of a link inside, for a complete plan.
pub(in crate::resolve) fn link_entries(name: &str, link: &Node) -> Vec<Entry> {
    let inner = name.split_once('.').map_or(name, |(_, inner)| inner);
    let says =
        |own: &&Entry| own.key != "from" && own.key != "to" && LINK.iter().any(|field| field.name == own.key);
    link.entries()
        .iter()
        .filter(says)
        .map(|own| Entry { key: join(inner, &own.key), ..own.clone() })
        .collect()
}

/// Gives all nodes of a tree one place: the text of the scenario has no place inside an assembly.
fn at(node: Node, spot: Spot) -> Node {
    let kind = match node.kind {
        Kind::Map(entries) => Kind::Map(
            entries.into_iter().map(|own| Entry { spot, value: at(own.value, spot), key: own.key }).collect(),
        ),
        Kind::List(items) => Kind::List(items.into_iter().map(|item| at(item, spot)).collect()),
        kind => kind,
    };
    Node { spot, kind, ..node }
}
