//! The goals of a search, and the prices of parts: the sections `search` and `prices` of a scenario.
//!
//! ```text
//!  search:     ─┐
//!  --maximize  ─┼─► Search: objectives, limits, how many points, the seed of what is proposed
//!  --require   ─┘
//!  prices:     ───► Prices: what each part costs and draws, who says so, and when
//! ```
//!
//! Not here: the paths that are varied (`sweep`), the proposal and the rating of points (Python, by Optuna).

mod goal;
mod prices;
mod problem;

pub use goal::{Direction, Limit, Objective, Quantity};
pub use prices::{Price, Prices};

use crate::catalogue::Catalogue;
use crate::language::SEARCH;
use crate::sweep::{self, OF_SEARCH};
use lanetwin_document::fields::Fields;
use lanetwin_document::node::{Entry, Kind, Node, Origin};
use lanetwin_document::problem::{Diagnostic, Problem as Common, Reports};
use lanetwin_document::spelling::Near;
use lanetwin_document::{add_source, numbered, overlay, unreadable, yaml};
use lanetwin_ports::Value;
use lanetwin_textfile::{Limit as Least, read_text};
use problem::Problem;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The goals of a search.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Search {
    /// Objectives to maximise, then objectives to minimise.
    pub objectives: Vec<Objective>,
    /// Limits that have to hold.
    pub limits: Vec<Limit>,
    /// Maximum number of points tried.
    pub trials: u64,
    /// The seed of the proposals.
    pub seed: u64,
    /// Cost and power of parts.
    pub prices: Prices,
}

/// Options besides the scenario; each replaces the scenario's value of the same key.
#[derive(Clone, Default, Debug, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// Changes of the scenario, each `path=value`.
    pub sets: Vec<String>,
    /// Objectives to maximise.
    pub maximize: Vec<String>,
    /// Objectives to minimise.
    pub minimize: Vec<String>,
    /// Limits that have to hold.
    pub require: Vec<String>,
    /// Maximum number of points tried.
    pub trials: Option<u64>,
    /// The seed of the proposals.
    pub seed: Option<u64>,
}

/// Reads the goals of a search in the scenario at `path`, with the options in `asked`.
///
/// # Errors
/// All errors in the two sections. Errors in the rest of the scenario are found by checking it.
pub fn search(path: &Path, asked: &Asked) -> Result<Search, Vec<Diagnostic>> {
    match read_text(path, Least::Document) {
        Ok(text) => search_of(&path.display().to_string(), &text, asked),
        Err(error) => Err(unreadable(path, &error.to_string())),
    }
}

/// As [`search`], for the text of a scenario that was read from `path`.
///
/// # Errors
/// As [`search`].
pub fn search_of(path: &str, text: &str, asked: &Asked) -> Result<Search, Vec<Diagnostic>> {
    let (mut reports, mut sources) = (Reports::default(), Vec::new());
    let found = read_asked(path, text, asked, &mut sources, &mut reports);
    match found.filter(|_| !reports.has_errors()) {
        Some(search) => Ok(search),
        None => Err(reports.into_diagnostics(&sources)),
    }
}

fn read_asked(
    path: &str,
    text: &str,
    asked: &Asked,
    sources: &mut Vec<String>,
    reports: &mut Reports,
) -> Option<Search> {
    let file = add_source(sources, path.to_owned());
    let mut tree = yaml::read(text, file.file, Origin::Scenario, reports)?;
    numbered::write_out(&mut tree, reports);
    for text in &asked.sets {
        let spot = add_source(sources, format!("--set {text}"));
        overlay::set(&mut tree, text, spot.file, reports);
    }
    let mut section = written(&tree, OF_SEARCH.name).cloned().unwrap_or_else(|| Node::map::<&str>([]));
    let lists = [("maximize", &asked.maximize), ("minimize", &asked.minimize), ("require", &asked.require)];
    for (word, texts) in lists.into_iter().filter(|(_, texts)| !texts.is_empty()) {
        let said = texts.iter().map(|text| {
            let spot = add_source(sources, format!("--{word} {text}"));
            Node { spot, ..Node::scalar(text.clone()) }
        });
        let value = Node::list(said.collect::<Vec<_>>());
        lay(&mut section, word, value);
    }
    for (word, number) in [("trials", asked.trials), ("seed", asked.seed)] {
        if let Some(number) = number {
            let spot = add_source(sources, format!("--{word} {number}"));
            lay(&mut section, word, Node { spot, ..Node::scalar(number.to_string()) });
        }
    }
    let prices = prices::read(written(&tree, prices::SECTION), reports)?;
    read(&section, &tree, prices, reports)
}

/// Replaces the value of a key.
fn lay(section: &mut Node, word: &str, value: Node) {
    let Some(entries) = section.entries_mut() else { return };
    entries.retain(|entry| entry.key != word);
    entries.push(Entry { key: word.to_owned(), spot: value.spot, value });
}

fn written<'n>(tree: &'n Node, key: &str) -> Option<&'n Node> {
    tree.get(key).filter(|node| node.kind != Kind::Null)
}

/// Reports errors in the two sections of the scenario with the document `tree`.
pub(crate) fn check(tree: &Node, catalogue: &Catalogue, reports: &mut Reports) {
    let prices = prices::read(written(tree, prices::SECTION), reports);
    prices::check_names(written(tree, prices::SECTION), catalogue, reports);
    let Some(section) = written(tree, OF_SEARCH.name) else { return };
    read(section, tree, prices.unwrap_or_default(), reports);
    if OF_SEARCH.has_paths(section) {
        sweep::read(OF_SEARCH, Some(section), tree, reports);
    }
}

/// Reads the section without the paths that are varied.
fn read(section: &Node, tree: &Node, prices: Prices, reports: &mut Reports) -> Option<Search> {
    // paths are read elsewhere
    let mut words = section.clone();
    if let Some(entries) = words.entries_mut() {
        entries.retain(|entry| SEARCH.iter().any(|field| field.name == entry.key));
    }
    let mut fields = Fields::open(&words, OF_SEARCH.name, SEARCH, &[], reports)?;
    let mut objectives = Vec::new();
    for (word, direction) in [("maximize", Direction::Maximize), ("minimize", Direction::Minimize)] {
        for said in listed(&mut fields, word, "a metric", reports)? {
            let Some(quantity) = Quantity::read(&said.value) else {
                reports.add(Problem::NoMetric { text: said.value }, said.spot, &fields.at(word));
                continue;
            };
            check_workload(&quantity, (said.spot, &fields.at(word)), tree, reports);
            objectives.push(Objective { quantity, direction });
        }
    }
    let mut limits = Vec::new();
    for said in listed(&mut fields, "require", "a limit", reports)? {
        let Some(limit) = Limit::read(&said.value) else {
            reports.add(Problem::NoLimit { text: said.value }, said.spot, &fields.at("require"));
            continue;
        };
        check_workload(&limit.quantity, (said.spot, &fields.at("require")), tree, reports);
        limits.push(limit);
    }
    let (trials, seed) = (count(&mut fields, "trials", reports), count(&mut fields, "seed", reports));
    Some(Search { objectives, limits, trials: trials?, seed: seed?, prices })
}

fn listed(
    fields: &mut Fields<'_>,
    word: &str,
    wanted: &'static str,
    reports: &mut Reports,
) -> Option<Vec<lanetwin_document::fields::Said<String>>> {
    match fields.written(word) {
        None => Some(Vec::new()),
        Some(_) => Some(fields.names(word, wanted, reports)?.0),
    }
}

fn count(fields: &mut Fields<'_>, key: &str, reports: &mut Reports) -> Option<u64> {
    match fields.one(key, reports)?.value {
        Value::Count(count) => Some(count),
        other => unreachable!("declared as a count, read as {other:?}"),
    }
}

/// Reports a workload that the scenario does not have.
fn check_workload(
    quantity: &Quantity,
    at: (lanetwin_document::node::Spot, &str),
    tree: &Node,
    reports: &mut Reports,
) {
    let workloads = written(tree, "workloads").map(Node::entries).unwrap_or_default();
    let known = || workloads.iter().map(|entry| &*entry.key);
    if quantity.workload.is_empty() || known().any(|name| name == quantity.workload) {
        return;
    }
    let near = Near::of(&quantity.workload, known());
    let known = lanetwin_document::problem::quoted(known());
    reports.add(Common::UnknownKey { key: quantity.workload.clone(), known, near }, at.0, at.1);
}

#[cfg(test)]
mod tests;
