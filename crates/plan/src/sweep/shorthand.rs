//! The shorthand for sweeps on the command line: `PATH=x4,x8`, `PATH=1..256*2`, `PATH=50ns..200ns+50ns`.

use super::problem::Problem;
use lanetwin_document::node::{Entry, Kind, Node, Origin, Spot};
use lanetwin_document::problem::Reports;
use lanetwin_document::yaml;

/// Reads `PATH=VALUES`, where values are YAML as in a scenario, a list without brackets, or a range.
pub(super) fn read(text: &str, file: u16, reports: &mut Reports) -> Option<Entry> {
    let spot = Spot { file, line: 1, column: 1 };
    let split =
        text.split_once('=').filter(|(path, value)| !path.trim().is_empty() && !value.trim().is_empty());
    let Some((path, value)) = split else {
        reports.add(Problem::BadVary { text: text.into() }, spot, "");
        return None;
    };
    let value = value.trim();
    let node = match range(value) {
        Some(range) => range,
        None if value.starts_with(['[', '{']) => yaml::read(value, file, Origin::Set, reports)?,
        None => yaml::read(&format!("[{value}]"), file, Origin::Set, reports)?,
    };
    Some(Entry { key: path.trim().to_owned(), spot, value: at(node.all_by(Origin::Set), spot) })
}

/// The same node with all places set to one.
fn at(mut node: Node, spot: Spot) -> Node {
    node.spot = spot;
    match &mut node.kind {
        Kind::Null | Kind::Scalar(_) => {}
        Kind::List(items) => items.iter_mut().for_each(|item| item.spot = spot),
        Kind::Map(entries) => entries.iter_mut().for_each(|entry| {
            entry.spot = spot;
            entry.value.spot = spot;
        }),
    }
    node
}

/// `FROM..TO`, optionally followed by `+STEP` or `*TIMES`.
fn range(text: &str) -> Option<Node> {
    let (from, rest) = text.split_once("..").filter(|_| !text.contains([',', '[', '{']))?;
    let (to, way) = match (rest.split_once('*'), rest.split_once('+')) {
        (Some((to, times)), _) => (to, Some(("times", times))),
        (None, Some((to, step))) => (to, Some(("step", step))),
        (None, None) => (rest, None),
    };
    let ends = [("from", from), ("to", to)].into_iter().chain(way);
    Some(Node::map(ends.map(|(key, text)| (key, Node::scalar(text.trim())))))
}
