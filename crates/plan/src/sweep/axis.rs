//! An axis: one path, or several with the same values, and the values.

use super::problem::Problem;
use super::{number, range};
use crate::language::AXIS;
use lanetwin_document::fields::Fields;
use lanetwin_document::node::{Entry, Kind, Node, Spot};
use lanetwin_document::numbered;
use lanetwin_document::problem::{Problem as Common, Reports};
use serde::Serialize;

/// An axis of a sweep.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Axis {
    /// Its name in tables.
    pub name: String,
    /// The paths that it sets, all to the same value.
    pub paths: Vec<String>,
    /// The unit of its values as numbers; empty for widths, counts and shares.
    pub unit: String,
    /// Whether its values are numbers of one unit.
    pub numeric: bool,
    /// Its values, in the order of the scenario; samples in the order of drawing.
    pub values: Vec<Level>,
    /// Its place in the scenario.
    #[serde(skip)]
    pub(super) spot: Spot,
    /// The range that samples are drawn from; `None` for listed values.
    #[serde(skip)]
    pub(super) range: Option<range::Range>,
}

/// One value of an axis.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Level {
    /// The value as shown.
    pub text: String,
    /// The value as written after `path=`.
    pub set: String,
    /// As a number, if it is one.
    pub number: Option<f64>,
    /// Its cost, if given.
    pub cost: Option<f64>,
}

impl Axis {
    /// Reads an entry of a sweep; `None` after an error in it.
    pub(super) fn read(entry: &Entry, at: &str, sampled: bool, reports: &mut Reports) -> Option<Self> {
        let path = lanetwin_document::fields::join(at, &entry.key);
        let paths: Vec<String> =
            entry.key.split(',').flat_map(|path| numbered::paths(path.trim(), entry.spot, reports)).collect();
        let mut axis = Self {
            name: entry.key.clone(),
            paths,
            unit: String::new(),
            numeric: false,
            values: Vec::new(),
            spot: entry.spot,
            range: None,
        };
        match &entry.value.kind {
            Kind::List(items) => axis.values = items.iter().map(level).collect(),
            Kind::Map(_) => axis.read_map(&entry.value, &path, sampled, reports)?,
            Kind::Scalar(_) | Kind::Null => axis.values = vec![level(&entry.value)],
        }
        if axis.values.is_empty() && axis.range.is_none() {
            reports.add(Common::Empty { what: "the list has no value" }, entry.value.spot, &path);
            return None;
        }
        axis.measure();
        Some(axis)
    }

    fn read_map(&mut self, node: &Node, path: &str, sampled: bool, reports: &mut Reports) -> Option<()> {
        let mut fields = Fields::open(node, path, AXIS, &[], reports)?;
        if let Some(said) = fields.text("name", reports) {
            self.name = said.value;
        }
        match fields.written("values") {
            Some(values) => {
                let Kind::List(items) = &values.kind else {
                    let problem = Common::WrongKind { found: values.what(), wanted: "a list" };
                    fields.fault("values", problem, reports);
                    return None;
                };
                if fields.written("from").is_some() {
                    fields.fault("from", Common::Exclusive { one: "values", other: "from" }, reports);
                    return None;
                }
                self.values = items.iter().map(level).collect();
            }
            None => {
                let range = range::read(&mut fields, sampled, reports)?;
                let texts = range.values(sampled, node.spot, path, reports)?;
                self.values = texts.into_iter().map(|text| level(&Node::scalar(text))).collect();
                self.range = Some(range);
            }
        }
        self.read_costs(&fields, reports)
    }

    fn read_costs(&mut self, fields: &Fields<'_>, reports: &mut Reports) -> Option<()> {
        let Some(node) = fields.written("cost") else { return Some(()) };
        let one = std::slice::from_ref(node);
        let items = if let Kind::List(items) = &node.kind { items } else { one };
        let costs: Option<Vec<f64>> = items.iter().map(|item| cost(item, fields, reports)).collect();
        let costs = costs?;
        if costs.len() != self.values.len() {
            let problem = Problem::WrongCost { costs: costs.len(), values: self.values.len() };
            fields.fault("cost", problem, reports);
            return None;
        }
        for (value, cost) in self.values.iter_mut().zip(costs) {
            value.cost = Some(cost);
        }
        Some(())
    }

    /// Takes over the costs of the axis that it replaces, and its name if `key` is now the only path.
    pub(super) fn follow(&mut self, before: &Self, key: &str) {
        if self.name == key {
            self.name.clone_from(&before.name);
        }
        for value in self.values.iter_mut().filter(|value| value.cost.is_none()) {
            value.cost = before.values.iter().find(|old| old.set == value.set).and_then(|old| old.cost);
        }
    }

    /// Computes its values as numbers.
    pub(super) fn measure(&mut self) {
        let texts: Vec<&str> = self.values.iter().map(|value| &*value.text).collect();
        let Some((numbers, unit)) = number::numbers(&texts) else { return };
        unit.clone_into(&mut self.unit);
        self.numeric = true;
        for (value, number) in self.values.iter_mut().zip(numbers) {
            value.number = Some(number);
        }
    }
}

fn cost(item: &Node, fields: &Fields<'_>, reports: &mut Reports) -> Option<f64> {
    let number = item.text().and_then(|text| text.trim().parse::<f64>().ok());
    let number = number.filter(|number| number.is_finite() && *number >= 0.0);
    if number.is_none() {
        let text = item.text().unwrap_or_else(|| item.what()).to_owned();
        let hint = "a number from 0 on, without a unit".into();
        reports.add(Common::Quantity { text, hint }, item.spot, &fields.at("cost"));
    }
    number
}

/// A value, as shown and as written after `path=`.
fn level(node: &Node) -> Level {
    let json = || serde_json::to_string(node).expect("a tree of text has a JSON form");
    let (text, set) = match &node.kind {
        Kind::Scalar(text) if is_plain(text) => (text.clone(), text.clone()),
        Kind::Scalar(text) => (text.clone(), json()),
        _ => (json(), json()),
    };
    Level { text, set, number: None, cost: None }
}

/// Whether a word needs no quotes in YAML in any context.
fn is_plain(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || "._%/+-".contains(c))
        && !matches!(text, "null" | "true" | "false")
}
