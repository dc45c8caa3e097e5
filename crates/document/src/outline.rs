//! A document as written, for readers in other languages: plain values, each with its place.

use crate::node::{Kind, Node, Origin, Spot};
use crate::problem::{Diagnostic, Reports};
use crate::sources::add_source;
use serde::Serialize;

/// A node of a document with its place.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Outline {
    /// Line, from 1.
    pub line: u32,
    /// Column, from 1, in characters.
    pub column: u32,
    /// Its value.
    #[serde(flatten)]
    pub value: Written,
}

/// The value of a node.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Written {
    /// Anything without structure, as written; `null` is an empty text.
    Text(String),
    /// A list.
    #[serde(rename = "items")]
    List(Vec<Outline>),
    /// A mapping, in the order of the text; an entry's outline begins at its key.
    #[serde(rename = "entries")]
    Map(Vec<(String, Outline)>),
}

/// Reads a document; `name` is that of its file.
///
/// # Errors
/// All errors in it, if it is not plain YAML.
pub fn read(text: &str, name: &str) -> Result<Outline, Vec<Diagnostic>> {
    let mut sources = Vec::new();
    let file = add_source(&mut sources, name.to_owned()).file;
    let mut reports = Reports::default();
    let root = crate::yaml::read(text, file, Origin::Scenario, &mut reports);
    match root {
        Some(node) if !reports.has_errors() => Ok(outline(&node, node.spot)),
        _ => Err(reports.into_diagnostics(&sources)),
    }
}

/// The outline of a node, with its start at `spot`.
fn outline(node: &Node, spot: Spot) -> Outline {
    let value = match &node.kind {
        Kind::Null => Written::Text(String::new()),
        Kind::Scalar(text) => Written::Text(text.clone()),
        Kind::List(items) => Written::List(items.iter().map(|item| outline(item, item.spot)).collect()),
        Kind::Map(entries) => Written::Map(
            entries.iter().map(|entry| (entry.key.clone(), outline(&entry.value, entry.spot))).collect(),
        ),
    };
    Outline { line: spot.line, column: spot.column, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_keeps_its_text_and_its_place() {
        let found = read("title: On\nrows:\n  - [1, 2]\n", "study.yaml").expect("a document");
        let Written::Map(entries) = &found.value else { panic!("a mapping") };
        let (key, title) = &entries[0];
        assert_eq!((key.as_str(), title.line, &title.value), ("title", 1, &Written::Text("On".into())));
        let Written::List(rows) = &entries[1].1.value else { panic!("a list") };
        assert_eq!((rows[0].line, rows[0].column), (3, 5));
    }

    #[test]
    fn what_is_no_yaml_is_told_with_its_place() {
        let found = read("title: [1\n", "study.yaml").expect_err("no YAML");
        assert!(found.iter().all(|one| one.line > 0 && one.code.starts_with("SC")), "{found:?}");
    }
}
