//! The plan as a document: a complete scenario that resolves to the same plan, with the origin of each value.

use super::{Plan, WarmUp};
use lanetwin_document::fields::join;
use lanetwin_document::node::{Kind, Node, Origin};
use lanetwin_document::quantity;
use lanetwin_ports::Value;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;

impl Plan {
    /// The plan as a complete scenario, which resolves to the same plan. `origins:` has the origin of each value of the
    /// first variant, and where the other variants differ.
    #[must_use]
    pub fn document(&self) -> Node {
        let first = &self.variants[0];
        let variants = self.variants.iter().map(|variant| {
            let mut changes = Vec::new();
            differences(&first.document, &variant.document, "", &mut changes);
            (variant.name.clone(), Node::map(changes))
        });
        let of_first: BTreeMap<String, &str> = origins(&first.document).into_iter().collect();
        let origins = self.variants.iter().enumerate().map(|(nth, variant)| {
            let mut list = origins(&variant.document);
            // hundreds of variants share a machine, so values that all have in common are written once
            list.retain(|(path, word)| nth == 0 || of_first.get(path) != Some(word));
            let list = list.into_iter().map(|(path, word)| (path, Node::scalar(word)));
            (variant.name.clone(), Node::map(list))
        });
        let warm_up = match self.run.warm_up {
            WarmUp::Auto => "auto".into(),
            WarmUp::Transfers(number) => number.to_string(),
        };
        let compare = Node::map([
            ("baseline", Node::scalar(&self.variants[self.compare.baseline].name)),
            ("equivalent_within", Node::scalar(self.compare.equivalent_within.to_string())),
        ]);
        let until = self.run.until.map(|until| ("until", Node::scalar(format!("±{}", until.within))));
        let mut run = vec![
            ("repeats", Node::scalar(self.run.repeats.to_string())),
            ("warm-up", Node::scalar(warm_up)),
            ("budget", Node::scalar(quantity::written(Value::Time(self.run.budget.cpu)))),
            ("seed", Node::scalar(self.run.seed.to_string())),
        ];
        run.extend(until);
        let mut sections = vec![("about", Node::scalar(&self.about))];
        sections.extend(first.document.entries().iter().map(|entry| (&*entry.key, entry.value.clone())));
        sections.extend([("variants", Node::map(variants)), ("compare", compare), ("run", Node::map(run))]);
        if !self.files.is_empty() {
            let texts = self.files.iter().map(|(name, text)| (name.clone(), Node::scalar(text)));
            sections.push(("files", Node::map(texts)));
        }
        sections.push(("origins", Node::map(origins)));
        Node::map(sections)
    }
}

impl Serialize for Plan {
    /// As [`Plan::document`].
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.document().serialize(serializer)
    }
}

/// Paths and values that turn `one` into `other`, with `null` for removals. Additions come last, wherever they stand in
/// `other`: a run of such a plan has the same rows, but another digest.
fn differences(one: &Node, other: &Node, path: &str, changes: &mut Vec<(String, Node)>) {
    for entry in one.entries() {
        if other.get(&entry.key).is_none() {
            changes.push((join(path, &entry.key), Node::null()));
        }
    }
    for entry in other.entries() {
        let path = join(path, &entry.key);
        match (one.get(&entry.key), &entry.value) {
            (Some(a), b) if matches!((&a.kind, &b.kind), (Kind::Map(_), Kind::Map(_))) => {
                differences(a, b, &path, changes);
            }
            (Some(a), b) if same(a, b) => {}
            (_, value) => changes.push((path, value.clone())),
        }
    }
}

/// Whether two trees are equal apart from places and origins.
fn same(a: &Node, b: &Node) -> bool {
    match (&a.kind, &b.kind) {
        (Kind::Null, Kind::Null) => true,
        (Kind::Scalar(a), Kind::Scalar(b)) => a == b,
        (Kind::List(a), Kind::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Kind::Map(a), Kind::Map(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.key == b.key && same(&a.value, &b.value))
        }
        _ => false,
    }
}

/// The origin of each value, by path.
fn origins(document: &Node) -> Vec<(String, &'static str)> {
    let mut list = Vec::new();
    list_origins(document, "", &mut list);
    list
}

fn list_origins(node: &Node, path: &str, list: &mut Vec<(String, &'static str)>) {
    for entry in node.entries() {
        let path = join(path, &entry.key);
        if matches!(entry.value.kind, Kind::Map(_)) {
            list_origins(&entry.value, &path, list);
        } else {
            let word = match entry.value.origin {
                Origin::Default => "default",
                Origin::Part => "part",
                Origin::Scenario => "scenario",
                Origin::Variant => "variant",
                Origin::Set => "set",
            };
            list.push((path, word));
        }
    }
}
