//! Reads YAML 1.2 text into a tree with the place of every node.
//!
//! Only plain YAML is accepted: one document, no anchors, aliases or tags, which would hide the meaning of a line.

use crate::node::{Entry, Kind, Node, Origin, Spot};
use crate::problem::{Problem, Reports};
use granit_parser::{Event, Options, Parser, ScalarStyle, Span};

/// Reads `text`, the source number `file`, with `origin` as its origin; `None` if it is not YAML.
pub fn read(text: &str, file: u16, origin: Origin, reports: &mut Reports) -> Option<Node> {
    let mut options = Options::default();
    options.set_emit_comments(false);
    let mut reader = Reader { file, origin, reports, open: Vec::new(), root: None, documents: 0 };
    for next in Parser::new_from_str_with_options(text, options) {
        match next {
            Ok((event, span)) => reader.take(event, span),
            Err(error) => {
                let marker = error.marker();
                let spot = reader.spot(marker.line(), marker.col());
                let said = error.kind().to_string();
                reader.reports.add(Problem::Syntax { said }, spot, "");
                return None;
            }
        }
    }
    if reader.root.is_none() {
        let spot = reader.spot(1, 0);
        reader.reports.add(Problem::Empty { what: "the file says nothing: it has no key" }, spot, "");
    }
    reader.root
}

struct Reader<'a> {
    file: u16,
    origin: Origin,
    reports: &'a mut Reports,
    /// The collections that are open, outermost first.
    open: Vec<Open>,
    root: Option<Node>,
    documents: usize,
}

/// A collection whose end has not been read.
struct Open {
    spot: Spot,
    items: Items,
}

enum Items {
    List(Vec<Node>),
    /// The entries so far, and the key whose value has not been read.
    Map(Vec<Entry>, Option<(String, Spot)>),
}

impl Reader<'_> {
    fn take(&mut self, event: Event<'_>, span: Span) {
        let spot = self.spot(span.start.line(), span.start.col());
        if event.tag().is_some() || event.anchor_id().is_some_and(|id| id != 0) {
            self.reports.add(Problem::NotPlain { what: "an anchor or a tag" }, spot, "");
        }
        match event {
            Event::DocumentStart(..) => {
                self.documents += 1;
                if self.documents == 2 {
                    self.reports.add(Problem::NotPlain { what: "a second document" }, spot, "");
                }
            }
            Event::Alias(_) => {
                self.reports.add(Problem::NotPlain { what: "an alias" }, spot, "");
                self.place(Kind::Null, spot);
            }
            Event::Scalar(text, style, ..) => self.place(scalar(text.into_owned(), style), spot),
            Event::SequenceStart(..) => self.open.push(Open { spot, items: Items::List(Vec::new()) }),
            Event::MappingStart(..) => self.open.push(Open { spot, items: Items::Map(Vec::new(), None) }),
            Event::SequenceEnd | Event::MappingEnd => {
                if let Some(Open { spot, items }) = self.open.pop() {
                    let kind = match items {
                        Items::List(items) => Kind::List(items),
                        Items::Map(entries, _) => Kind::Map(entries),
                    };
                    self.place(kind, spot);
                }
            }
            _ => {}
        }
    }

    /// Stores a finished node: as the root, an item, a key, or the value of the last key.
    fn place(&mut self, kind: Kind, spot: Spot) {
        let node = Node { spot, origin: self.origin, kind };
        let Some(Open { items, .. }) = self.open.last_mut() else {
            if self.documents == 1 {
                self.root = Some(node);
            }
            return;
        };
        match items {
            Items::List(items) => items.push(node),
            Items::Map(_, key @ None) => match node.kind {
                Kind::Scalar(text) => *key = Some((text, spot)),
                Kind::Null => *key = Some(("null".into(), spot)),
                _ => {
                    self.reports.add(Problem::NotPlain { what: "a key that is no word" }, spot, "");
                    *key = Some((String::new(), spot));
                }
            },
            Items::Map(entries, key) => {
                let (key, spot) = key.take().expect("the arm above has taken the case without a key");
                if let Some(first) = entries.iter().find(|entry| entry.key == key) {
                    let line = first.spot.line;
                    self.reports.add(Problem::Duplicate { key: key.clone(), line }, spot, &key);
                } else {
                    entries.push(Entry { key, spot, value: node });
                }
            }
        }
    }

    fn spot(&self, line: usize, column: usize) -> Spot {
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        Spot { file: self.file, line: narrow(line), column: narrow(column).saturating_add(1) }
    }
}

/// The only plain words that are not text are those for `null`; numbers are parsed where their unit is known.
fn scalar(text: String, style: ScalarStyle) -> Kind {
    if style == ScalarStyle::Plain && matches!(text.as_str(), "" | "~" | "null" | "Null" | "NULL") {
        Kind::Null
    } else {
        Kind::Scalar(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> (Option<Node>, Vec<String>) {
        let mut reports = Reports::default();
        let node = read(text, 0, Origin::Scenario, &mut reports);
        let sources = ["a.yaml".to_owned()];
        let found = reports.into_diagnostics(&sources);
        (node, found.into_iter().map(|d| format!("{}:{}:{}", d.code, d.line, d.column)).collect())
    }

    #[test]
    fn every_node_knows_its_place() {
        let (node, found) = parse("a: 1\nb:\n  - x\n  - {c: d}\n");
        assert_eq!(found, [""; 0]);
        let node = node.expect("a document");
        let list = node.get("b").expect("b");
        assert_eq!((list.spot.line, list.spot.column), (3, 3));
        let Kind::List(items) = &list.kind else { panic!("{list:?}") };
        assert_eq!(items[1].get("c").map(|node| (node.spot.line, node.spot.column)), Some((4, 9)));
        assert_eq!(items[1].entry("c").map(|entry| entry.spot.column), Some(6));
    }

    #[test]
    fn duplicates_are_all_found_and_the_first_counts() {
        let (node, found) = parse("a: 1\na: 2\nb: {c: 1, c: 2}\n");
        assert_eq!(found, ["SC004:2:1", "SC004:3:11"]);
        assert_eq!(node.and_then(|node| node.get("a")?.text().map(str::to_owned)), Some("1".into()));
    }

    #[test]
    fn what_is_not_plain_is_refused() {
        for text in ["a: &x 1", "a: !t 1", "--- 1\n--- 2\n", "? [a]\n: b", "? {a: b}\n: c"] {
            assert_eq!(parse(text).1.len(), 1, "{text}");
        }
        assert_eq!(parse("a: &x 1\nb: *x\n").1, ["SC003:1:7", "SC003:2:4"]);
        assert_eq!(parse("a: [1").1.len(), 1);
    }

    #[test]
    fn a_printed_tree_reads_back_the_same() {
        let text = "a: {b: [1, \"x y\", {c: d}], e: \"null\"}\nf: null\ng: {}\nh: \"1: 2\"\n";
        let node = parse(text).0.expect("a document");
        let again = parse(&node.to_yaml()).0.expect("a document");
        let json = |node: &Node| serde_json::to_string(node).expect("JSON");
        assert_eq!(json(&node), json(&again));
        assert_eq!(json(&node), r#"{"a":{"b":[1,"x y",{"c":"d"}],"e":"null"},"f":null,"g":{},"h":"1: 2"}"#);
    }
}
