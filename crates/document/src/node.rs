//! The document as a tree: every node has a place and an origin.

use serde::ser::{Serialize, SerializeMap, SerializeSeq, Serializer};
use std::fmt::Write as _;

/// A place in one of the texts that were read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Spot {
    /// The text: an index into the names of the sources.
    pub file: u16,
    /// Line, from 1; 0 for the text as a whole.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
}

/// The origin of a value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The default of the language, or of the model.
    Default,
    /// The part file.
    Part,
    /// The scenario.
    Scenario,
    /// The variant, over the scenario.
    Variant,
    /// `--set`, over the scenario.
    Set,
}

/// A node of the tree.
#[derive(Clone, PartialEq, Debug)]
pub struct Node {
    /// Where it begins.
    pub spot: Spot,
    /// Its origin.
    pub origin: Origin,
    /// What it is.
    pub kind: Kind,
}

/// What a node is.
#[derive(Clone, PartialEq, Debug)]
pub enum Kind {
    /// `null`, `~` or nothing.
    Null,
    /// Anything without structure, as it was written.
    Scalar(String),
    /// `[a, b]`
    List(Vec<Node>),
    /// `{a: b}`, in the order of writing; keys are unique.
    Map(Vec<Entry>),
}

/// A key and its value.
#[derive(Clone, PartialEq, Debug)]
pub struct Entry {
    /// The key.
    pub key: String,
    /// Where the key stands.
    pub spot: Spot,
    /// The value.
    pub value: Node,
}

impl Node {
    /// A scalar without a place in a text.
    pub fn scalar(text: impl Into<String>) -> Self {
        Self::new(Kind::Scalar(text.into()))
    }
    /// A list without a place in a text.
    pub fn list(items: impl IntoIterator<Item = Self>) -> Self {
        Self::new(Kind::List(items.into_iter().collect()))
    }
    /// A mapping without a place in a text.
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Self)>) -> Self {
        Self::new(Kind::Map(entries.into_iter().map(|(key, value)| Entry::new(key.into(), value)).collect()))
    }
    /// The empty node.
    pub fn null() -> Self {
        Self::new(Kind::Null)
    }
    fn new(kind: Kind) -> Self {
        Self { spot: Spot::default(), origin: Origin::Default, kind }
    }
    /// The same node with `origin`.
    pub fn by(mut self, origin: Origin) -> Self {
        self.origin = origin;
        self
    }
    /// The same node with `origin`, and everything below it.
    pub fn all_by(mut self, origin: Origin) -> Self {
        self.origin = origin;
        match &mut self.kind {
            Kind::Null | Kind::Scalar(_) => {}
            Kind::List(items) => {
                for item in items {
                    *item = std::mem::replace(item, Self::null()).all_by(origin);
                }
            }
            Kind::Map(entries) => {
                for entry in entries {
                    entry.value = std::mem::replace(&mut entry.value, Self::null()).all_by(origin);
                }
            }
        }
        self
    }

    /// The entries of a mapping; empty for other nodes.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        if let Kind::Map(entries) = &self.kind { entries } else { &[] }
    }
    /// The entries of a mapping, mutable; `None` for other nodes.
    pub fn entries_mut(&mut self) -> Option<&mut Vec<Entry>> {
        if let Kind::Map(entries) = &mut self.kind { Some(entries) } else { None }
    }
    /// The value of `key`, if this is a mapping that has it.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entry(key).map(|entry| &entry.value)
    }
    /// The entry of `key`, if this is a mapping that has it.
    #[must_use]
    pub fn entry(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }
    /// The text of a scalar.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        if let Kind::Scalar(text) = &self.kind { Some(text) } else { None }
    }
    /// A description of its kind, for messages.
    pub fn what(&self) -> &'static str {
        match self.kind {
            Kind::Null => "nothing",
            Kind::Scalar(_) => "a single value",
            Kind::List(_) => "a list",
            Kind::Map(_) => "a mapping",
        }
    }

    /// The tree as a YAML document, with each mapping of scalars and lists on one line.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let mut text = String::new();
        self.write_yaml(&mut text, 0);
        text
    }

    fn write_yaml(&self, text: &mut String, indent: usize) {
        for Entry { key, value, .. } in self.entries() {
            let _ = write!(text, "{:indent$}{}:", "", plain_or_quoted(key));
            if value.entries().is_empty() {
                text.push(' ');
                value.write_flow(text);
                text.push('\n');
            } else {
                text.push('\n');
                value.write_yaml(text, indent + 2);
            }
        }
    }

    fn write_flow(&self, text: &mut String) {
        match &self.kind {
            Kind::Null => text.push_str("null"),
            Kind::Scalar(scalar) => text.push_str(&plain_or_quoted(scalar)),
            Kind::List(items) => {
                text.push('[');
                for (index, item) in items.iter().enumerate() {
                    text.push_str(if index == 0 { "" } else { ", " });
                    item.write_flow(text);
                }
                text.push(']');
            }
            Kind::Map(entries) => {
                text.push('{');
                for (index, Entry { key, value, .. }) in entries.iter().enumerate() {
                    let _ = write!(text, "{}{}: ", if index == 0 { "" } else { ", " }, plain_or_quoted(key));
                    value.write_flow(text);
                }
                text.push('}');
            }
        }
    }
}

impl Entry {
    /// A key with the place of its value.
    #[must_use]
    pub fn new(key: String, value: Node) -> Self {
        Self { key, spot: value.spot, value }
    }
}

/// A scalar as written in YAML: plain where that is unambiguous, otherwise in double quotes, as in JSON.
fn plain_or_quoted(scalar: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '.' | '/' | '%' | '+' | '_');
    let opens_well = scalar.starts_with(|c: char| c.is_alphanumeric());
    let lower = scalar.to_ascii_lowercase();
    // words that YAML 1.1 readers take for something other than text
    let odd = matches!(&*lower, "null" | "on" | "off" | "yes" | "no" | "y" | "n");
    if opens_well && scalar.chars().all(plain) && !odd {
        scalar.to_owned()
    } else {
        serde_json::to_string(scalar).expect("text has a JSON form")
    }
}

impl Serialize for Node {
    /// Serialises as JSON; scalars that are whole numbers or truth values are written as such.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.kind {
            Kind::Null => serializer.serialize_unit(),
            Kind::Scalar(text) => match (text.as_str(), text.parse::<u64>()) {
                ("true", _) => serializer.serialize_bool(true),
                ("false", _) => serializer.serialize_bool(false),
                (_, Ok(number)) if number.to_string() == *text => serializer.serialize_u64(number),
                _ => serializer.serialize_str(text),
            },
            Kind::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(item)?;
                }
                list.end()
            }
            Kind::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for entry in entries {
                    map.serialize_entry(&entry.key, &entry.value)?;
                }
                map.end()
            }
        }
    }
}
