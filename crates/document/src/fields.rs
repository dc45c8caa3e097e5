//! A mapping of the document, read key by key against its declaration, with defaults filled in.

use crate::declaration::{Field, Holds};
use crate::node::{Entry, Kind, Node, Origin, Spot};
use crate::problem::{Complaint, Problem, Reports, known_keys, quoted};
use crate::quantity::{self, Mistake};
use crate::spelling::Near;
use lanetwin_ports::{Dimension, Value};

/// A mapping that is being read.
pub struct Fields<'n> {
    /// The mapping.
    pub node: &'n Node,
    /// Its path in the document.
    pub path: String,
    table: &'static [Field],
    complete: Vec<Entry>,
}

/// A value and where it was written (or the mapping, for a default).
#[derive(Clone, Debug)]
pub struct Said<T> {
    /// The value.
    pub value: T,
    /// Where it was written.
    pub spot: Spot,
    /// The origin of the value.
    pub origin: Origin,
}

impl<'n> Fields<'n> {
    /// Opens the mapping at `path`. Reports unknown keys, which are neither in the table nor in `more`, and missing
    /// ones.
    pub fn open(
        node: &'n Node,
        path: &str,
        table: &'static [Field],
        more: &[&'static str],
        reports: &mut Reports,
    ) -> Option<Self> {
        if !is_map(node, path, reports) {
            return None;
        }
        let known: Vec<&str> = table.iter().map(|field| field.name).chain(more.iter().copied()).collect();
        for entry in node.entries().iter().filter(|entry| !known.contains(&&*entry.key)) {
            let near = Near::of(&entry.key, known.iter().copied());
            let known = known_keys(known.iter().copied());
            reports.add(
                Problem::UnknownKey { key: entry.key.clone(), known, near },
                entry.spot,
                &join(path, &entry.key),
            );
        }
        for field in table.iter().filter(|field| field.required && written(node, field.name).is_none()) {
            let problem = Problem::Missing { key: field.name.into(), about: field.about.into() };
            reports.add(problem, node.spot, &join(path, field.name));
        }
        Some(Self { node, path: path.to_owned(), table, complete: Vec::new() })
    }

    /// Whether it has an unknown key, which was reported.
    pub fn has_unknown(&self) -> bool {
        let is_known = |entry: &Entry| self.table.iter().any(|field| field.name == entry.key);
        !self.node.entries().iter().all(is_known)
    }
    /// The node under `key`; `None` for `null`.
    pub fn written(&self, key: &str) -> Option<&'n Node> {
        written(self.node, key)
    }
    /// The place of `key`: that of its value or, without one, of the mapping.
    pub fn spot(&self, key: &str) -> Spot {
        self.written(key).map_or(self.node.spot, |node| node.spot)
    }
    /// The path of `key`.
    pub fn at(&self, key: &str) -> String {
        join(&self.path, key)
    }
    /// Reports a problem with the value of `key`.
    pub fn fault(&self, key: &str, problem: impl Complaint, reports: &mut Reports) {
        reports.add(problem, self.spot(key), &self.at(key));
    }
    /// Sets the complete value of `key`; replaces one that was set before, such as the value as read.
    pub fn record(&mut self, key: &str, node: Node) {
        match self.complete.iter_mut().find(|entry| entry.key == key) {
            Some(entry) => entry.value = node,
            None => self.complete.push(Entry::new(key.to_owned(), node)),
        }
    }
    /// The mapping with every value filled in.
    pub fn finish(self) -> Node {
        Node { spot: self.node.spot, origin: self.node.origin, kind: Kind::Map(self.complete) }
    }

    fn field(&self, key: &str) -> &'static Field {
        self.table.iter().find(|field| field.name == key).expect("only declared keys are read")
    }

    /// The text under `key`, or its default.
    pub fn text(&mut self, key: &str, reports: &mut Reports) -> Option<Said<String>> {
        let Some(node) = self.written(key) else {
            let default = self.field(key).default?;
            self.record(key, Node::scalar(default));
            return Some(Said { value: default.into(), spot: self.node.spot, origin: Origin::Default });
        };
        let text = scalar(node, "a word or a sentence", &self.at(key), reports)?;
        self.record(key, Node::scalar(text).by(node.origin));
        Some(Said { value: text.to_owned(), spot: node.spot, origin: node.origin })
    }

    /// The names under `key`, one or a list, and whether they are a list; `wanted` describes them in messages. Returns
    /// `None` if the key is missing or has another value.
    pub fn names(
        &mut self,
        key: &str,
        wanted: &'static str,
        reports: &mut Reports,
    ) -> Option<(Vec<Said<String>>, bool)> {
        let (node, path) = (self.written(key)?, self.at(key));
        let (items, listed) = match &node.kind {
            Kind::List(items) => (&items[..], true),
            _ => (std::slice::from_ref(node), false),
        };
        if items.is_empty() {
            reports.add(Problem::Empty { what: "the list is empty" }, node.spot, &path);
            return None;
        }
        let read = |item: &Node| {
            let value = scalar(item, wanted, &path, reports)?.to_owned();
            Some(Said { value, spot: item.spot, origin: item.origin })
        };
        let names: Vec<_> = items.iter().map(read).collect();
        let names = names.into_iter().collect::<Option<Vec<_>>>()?;
        self.record(key, node.clone());
        Some((names, listed))
    }

    /// The quantity under `key`, or its default; `None` if there is neither, or if it cannot be read.
    pub fn one(&mut self, key: &str, reports: &mut Reports) -> Option<Said<Value>> {
        let field = self.field(key);
        let Holds::One(dimension) = field.holds else {
            unreachable!("`{key}` is not declared as one quantity")
        };
        let said = match self.written(key) {
            Some(node) => {
                let value = read(node, dimension, &self.at(key), reports)?;
                Said { value, spot: node.spot, origin: node.origin }
            }
            None => Said {
                value: default(dimension, field.default?),
                spot: self.node.spot,
                origin: Origin::Default,
            },
        };
        self.record(key, Node::scalar(quantity::written(said.value)).by(said.origin));
        Some(said)
    }

    /// The mapping under `key`, opened. The caller completes it, and records it with [`Fields::record`].
    pub fn section(&self, key: &str, reports: &mut Reports) -> Option<Fields<'n>> {
        let Holds::Section(table) = self.field(key).holds else {
            unreachable!("`{key}` is not declared as a mapping")
        };
        Fields::open(self.written(key)?, &self.at(key), table, &[], reports)
    }

    /// The mappings of the list under `key`, each opened; `None` if one of them cannot be read. The caller completes
    /// them and records them with [`Fields::record_list`].
    pub fn list(&self, key: &str, reports: &mut Reports) -> Option<Vec<Fields<'n>>> {
        let Holds::List(table) = self.field(key).holds else {
            unreachable!("`{key}` is not declared as a list of mappings")
        };
        let Some(node) = self.written(key) else { return Some(Vec::new()) };
        let path = self.at(key);
        let Kind::List(items) = &node.kind else {
            reports.add(Problem::WrongKind { found: node.what(), wanted: "a list" }, node.spot, &path);
            return None;
        };
        let open: Vec<_> = items.iter().map(|item| Fields::open(item, &path, table, &[], reports)).collect();
        open.into_iter().collect()
    }
    /// Sets the complete list under `key`.
    pub fn record_list(&mut self, key: &str, items: Vec<Fields<'_>>) {
        let origin = self.written(key).map_or(Origin::Default, |node| node.origin);
        self.record(key, Node::list(items.into_iter().map(Fields::finish)).by(origin));
    }

    /// The quantities under `key`, one or a list, or the default; `None` if there is neither, or if one cannot be read.
    pub fn many(&mut self, key: &str, reports: &mut Reports) -> Option<Vec<Said<Value>>> {
        let field = self.field(key);
        let Holds::Many(dimension) = field.holds else { unreachable!("`{key}` is not declared as a list") };
        let path = self.at(key);
        let (values, origin, listed) = match self.written(key) {
            Some(node) => {
                let (items, listed) = match &node.kind {
                    Kind::List(items) => (&items[..], true),
                    _ => (std::slice::from_ref(node), false),
                };
                let read = |item: &Node| {
                    let value = read(item, dimension, &path, reports)?;
                    Some(Said { value, spot: item.spot, origin: item.origin })
                };
                let values: Vec<_> = items.iter().map(read).collect();
                (values.into_iter().collect::<Option<Vec<_>>>()?, node.origin, listed)
            }
            None => {
                let origin = Origin::Default;
                let said = |text| Said { value: default(dimension, text), spot: self.node.spot, origin };
                let text = field.default?;
                (if text.is_empty() { Vec::new() } else { vec![said(text)] }, origin, text.is_empty())
            }
        };
        let mut items: Vec<Node> =
            values.iter().map(|said| Node::scalar(quantity::written(said.value)).by(said.origin)).collect();
        let single = if listed { None } else { items.pop() };
        self.record(key, single.unwrap_or_else(|| Node::list(items).by(origin)));
        Some(values)
    }
}

/// Whether `node` is a mapping; reports an error if not.
pub fn is_map(node: &Node, path: &str, reports: &mut Reports) -> bool {
    let is = matches!(node.kind, Kind::Map(_));
    if !is {
        reports.add(Problem::WrongKind { found: node.what(), wanted: "a mapping" }, node.spot, path);
    }
    is
}

/// The text of a scalar; reports anything else.
pub fn scalar<'n>(
    node: &'n Node,
    wanted: &'static str,
    path: &str,
    reports: &mut Reports,
) -> Option<&'n str> {
    if node.text().is_none() {
        reports.add(Problem::WrongKind { found: node.what(), wanted }, node.spot, path);
    }
    node.text()
}

/// Reads a node as a quantity; reports errors in it.
pub fn read(node: &Node, dimension: Dimension, path: &str, reports: &mut Reports) -> Option<Value> {
    let text = scalar(node, "a single value", path, reports)?;
    // a count of lanes may be written as a width
    let lanes = path.ends_with(".port.width").then(|| text.strip_prefix('x')).flatten();
    let problem = match quantity::read(dimension, lanes.unwrap_or(text)) {
        Ok((value, caution)) => {
            if let Some(caution) = caution {
                let problem = Problem::BareSuffix { text: text.into(), taken_as: caution.taken_as };
                reports.add(problem, node.spot, path);
            }
            return Some(value);
        }
        Err(mistake) => complaint(text, dimension, mistake),
    };
    reports.add(problem, node.spot, path);
    None
}

fn complaint(text: &str, dimension: Dimension, mistake: Mistake) -> Problem {
    let text = text.to_owned();
    let hint = quantity::hint(dimension);
    match (mistake, dimension) {
        (Mistake::OutOfRange(least, most), _) => Problem::OutOfRange { text, least, most },
        (Mistake::Form, Dimension::Choice(words)) => {
            let near = Near::of(&text, words.iter().copied());
            Problem::UnknownWord { word: text, words: quoted(words.iter().copied()), near }
        }
        (Mistake::Form, _) => Problem::Quantity { text, hint },
        (Mistake::NoUnit, _) => Problem::Quantity { text, hint: format!("the unit, too: {hint}") },
        (Mistake::MixedPrefix, _) => Problem::Quantity { text, hint: "`kB` (1000) or `KiB` (1024)".into() },
        (Mistake::TooFine, Dimension::Time) => Problem::Quantity { text, hint: "whole picoseconds".into() },
        (Mistake::TooFine, _) => Problem::Quantity { text, hint: "whole bytes".into() },
    }
}

/// The value of a default, whose text is always valid.
pub fn default(dimension: Dimension, text: &str) -> Value {
    match quantity::read(dimension, text) {
        Ok((value, None)) => value,
        other => panic!("the default `{text}` is not a {dimension:?}: {other:?}"),
    }
}

/// `a.b`
pub fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}

/// Whether a name can be part of a path: letters and digits of any script, so no control or bidirectional characters,
/// in composed form (NFC), so that names that look the same are equal.
pub fn is_name(name: &str) -> bool {
    name.starts_with(char::is_alphabetic)
        && name.chars().all(|c| c.is_alphanumeric() || c == '-' || c == '_')
        && unicode_normalization::is_nfc(name)
}

/// Reports an invalid name; `path` is its place in the document.
pub fn check_name(name: &str, spot: Spot, path: &str, reports: &mut Reports) {
    if !is_name(name) {
        reports.add(Problem::BadName { name: name.into() }, spot, path);
    }
}

fn written<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.get(key).filter(|value| value.kind != Kind::Null)
}

#[cfg(test)]
mod tests {
    use super::is_name;

    #[test]
    fn names_are_letters_and_digits_of_any_script() {
        for name in ["slot", "gen5-x4", "直连", "带_retimer", "größe", "ссд1"] {
            assert!(is_name(name), "{name}");
        }
    }

    #[test]
    fn what_looks_alike_or_steers_the_reader_is_no_name() {
        // decomposed, a compatibility ideograph, right-to-left override, zero width, control, not a letter, a step
        for name in
            ["gro\u{308}ße", "\u{F900}", "a\u{202E}b", "a\u{200B}b", "a\u{7}b", "1a", "，a", "a.b", "a b", ""]
        {
            assert!(!is_name(name), "{name:?}");
        }
    }
}
