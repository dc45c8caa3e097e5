//! Sweeps: paths, their values, and the points that follow from them.
//!
//! ```text
//!  sweep:  ─┐            ┌─ every combination ─┐
//!  --vary  ─┼─ axes ─────┤                     ├─► Design: points, each so many `path=value`
//!  --zip   ─┘  (values)  └─ Latin hypercube ───┘
//! ```
//!
//! Not here: running a point (the world crate), analysing the results of a sweep (the stats crate).

mod axis;
mod number;
mod problem;
mod range;
mod sample;
mod shorthand;

pub use axis::{Axis, Level};

use crate::language::{CHEAPEST, MOST_POINTS, SAMPLE, SEARCH, SWEEP};
use lanetwin_document::declaration::Field;
use lanetwin_document::fields::{Fields, is_map, join};
use lanetwin_document::node::{Entry, Kind, Node, Origin};
use lanetwin_document::problem::{Diagnostic, Reports};
use lanetwin_document::{add_source, numbered, overlay, unreadable, yaml};
use lanetwin_ports::Value;
use lanetwin_textfile::{Limit, read_text};
use problem::Problem;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::Path;

/// A section of a scenario with paths and their values.
#[derive(Clone, Copy)]
pub(crate) struct Section {
    /// Its name.
    pub(crate) name: &'static str,
    /// Its keys other than paths.
    words: &'static [Field],
    /// Whether another program chooses its points, so that only the first and the last are listed.
    ends: bool,
}

/// The section of `lanetwin sweep`.
pub(crate) const OF_SWEEP: Section = Section { name: "sweep", words: SWEEP, ends: false };
/// The section of `lanetwin search`, if it varies other paths than the sweep.
pub(crate) const OF_SEARCH: Section = Section { name: "search", words: SEARCH, ends: true };

impl Section {
    fn has_word(&self, entry: &Entry) -> bool {
        self.words.iter().any(|field| field.name == entry.key)
    }
    /// Whether a section names paths itself.
    pub(crate) fn has_paths(&self, node: &Node) -> bool {
        node.get("zip").is_some() || node.entries().iter().any(|entry| !self.has_word(entry))
    }
}

/// The axes of a sweep, and its points.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Design {
    /// The paths and their values.
    pub axes: Vec<Axis>,
    /// The axes that change together; each axis is in one group.
    pub groups: Vec<Vec<usize>>,
    /// Each point as the indices of its values, one for each axis.
    pub points: Vec<Vec<u32>>,
    /// Whether the points were drawn; otherwise they are every combination.
    pub sampled: bool,
    /// The question for the cheapest point; `None` if no value has a cost.
    pub cheapest: Option<Cheapest>,
}

/// The question for the cheapest point.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Cheapest {
    /// The required share of the best value, 0 to 1.
    pub at_least: f64,
    /// The metric.
    pub of: String,
    /// The workloads that have to reach it; empty for all.
    pub workloads: Vec<String>,
    /// The unit of costs.
    pub unit: String,
}

/// Options besides the scenario.
#[derive(Clone, Default, Debug, Deserialize)]
#[serde(default)]
pub struct Asked {
    /// Changes of the scenario, each `path=value`.
    pub sets: Vec<String>,
    /// Paths to sweep, each `path=values`; they add to those of the scenario, or replace the same path.
    pub vary: Vec<String>,
    /// Likewise, for paths that change together.
    pub zip: Vec<String>,
    /// Number of points to draw; `None` for the scenario's setting.
    pub sample: Option<u64>,
    /// Whether it is for a search: uses the paths of `search`, if it has any, and only the first and the last point.
    pub search: bool,
}

/// Reads the sweep of the scenario at `path`, with the options in `asked`.
///
/// # Errors
/// All errors in the sweep. Errors in the rest of the scenario are found by checking it.
pub fn design(path: &Path, asked: &Asked) -> Result<Design, Vec<Diagnostic>> {
    let text = match read_text(path, Limit::Document) {
        Ok(text) => text,
        Err(error) => return Err(unreadable(path, &error.to_string())),
    };
    design_of(&path.display().to_string(), &text, asked)
}

/// As [`design`], for the text of a scenario that was read from `path`.
///
/// # Errors
/// As [`design`].
pub fn design_of(path: &str, text: &str, asked: &Asked) -> Result<Design, Vec<Diagnostic>> {
    let (mut reports, mut sources) = (Reports::default(), Vec::new());
    let found = read_asked(path, text, asked, &mut sources, &mut reports);
    match found.filter(|_| !reports.has_errors()) {
        Some(design) => Ok(design),
        None => Err(reports.into_diagnostics(&sources)),
    }
}

fn read_asked(
    path: &str,
    text: &str,
    asked: &Asked,
    sources: &mut Vec<String>,
    reports: &mut Reports,
) -> Option<Design> {
    let file = add_source(sources, path.to_owned());
    let mut tree = yaml::read(text, file.file, Origin::Scenario, reports)?;
    numbered::write_out(&mut tree, reports);
    for text in &asked.sets {
        let spot = add_source(sources, format!("--set {text}"));
        overlay::set(&mut tree, text, spot.file, reports);
    }
    let of = |name| tree.get(name).filter(|node| node.kind != Kind::Null);
    let own = of(OF_SEARCH.name).filter(|node| asked.search && OF_SEARCH.has_paths(node));
    let (kind, section) = match own {
        Some(node) => (OF_SEARCH, Some(node)),
        None => (Section { ends: asked.search, ..OF_SWEEP }, of(OF_SWEEP.name)),
    };
    let mut section = section.cloned();
    let mut replaced = Vec::new();
    let given = asked_entries(asked, sources, reports)?;
    if !given.is_empty() {
        let mut node = section.unwrap_or_else(|| Node::map::<&str>([]));
        for entry in given {
            replaced.extend(lay(&mut node, entry));
        }
        section = Some(node);
    }
    read_over(kind, section.as_ref(), &replaced, &tree, reports)
}

/// The entries that the command line adds to the section.
fn asked_entries(asked: &Asked, sources: &mut Vec<String>, reports: &mut Reports) -> Option<Vec<Entry>> {
    let mut entry = |option: &str, text: &String, reports: &mut Reports| {
        let spot = add_source(sources, format!("{option} {text}"));
        shorthand::read(text, spot.file, reports)
    };
    let varied: Vec<_> = asked.vary.iter().map(|text| entry("--vary", text, reports)).collect();
    let zipped: Vec<_> = asked.zip.iter().map(|text| entry("--zip", text, reports)).collect();
    let mut entries = varied.into_iter().collect::<Option<Vec<_>>>()?;
    let zipped = zipped.into_iter().collect::<Option<Vec<_>>>()?;
    if let Some(first) = zipped.first() {
        let spot = first.spot;
        let value = Node { spot, origin: Origin::Set, kind: Kind::Map(zipped) };
        entries.push(Entry { key: "zip".into(), spot, value });
    }
    if let Some(points) = asked.sample {
        let spot = add_source(sources, format!("--sample {points}"));
        let value = Node::map([("points", Node::scalar(points.to_string()))]);
        entries.push(Entry { key: "sample".into(), spot, value: Node { spot, ..value } });
    }
    Some(entries)
}

/// Adds an entry. It replaces one with the same key; paths that change together also replace entries with one of them.
/// Returns the replaced entries.
fn lay(node: &mut Node, entry: Entry) -> Vec<Entry> {
    let Some(entries) = node.entries_mut() else { return Vec::new() };
    let together: &[Entry] = if entry.key == "zip" { entry.value.entries() } else { &[] };
    let is_given = |old: &mut Entry| together.iter().any(|given| given.key == old.key);
    let mut before: Vec<Entry> = entries.extract_if(.., is_given).collect();
    match entries.iter_mut().find(|old| old.key == entry.key) {
        Some(old) => before.push(std::mem::replace(old, entry)),
        None => entries.push(entry),
    }
    before
}

/// Reports errors in the section of the scenario with the document `tree`, if it has one.
pub(crate) fn check(tree: &Node, reports: &mut Reports) {
    let section = tree.get(OF_SWEEP.name).filter(|node| node.kind != Kind::Null);
    section.and_then(|section| read(OF_SWEEP, Some(section), tree, reports));
}

/// Reads a section of the scenario with the document `tree`; `None` after an error in it, or if there is none.
pub(crate) fn read(
    kind: Section,
    section: Option<&Node>,
    tree: &Node,
    reports: &mut Reports,
) -> Option<Design> {
    read_over(kind, section, &[], tree, reports)
}

/// As [`read`]. Entries that took the place of `replaced` ones keep the costs and names of those.
fn read_over(
    kind: Section,
    section: Option<&Node>,
    replaced: &[Entry],
    tree: &Node,
    reports: &mut Reports,
) -> Option<Design> {
    let Some(node) = section else {
        reports.add(Problem::NothingSwept, tree.spot, kind.name);
        return None;
    };
    if !is_map(node, kind.name, reports) {
        return None;
    }
    let has = |name: &str| kind.words.iter().any(|field| field.name == name);
    let of = |name: &str| node.get(name).filter(|node| has(name) && node.kind != Kind::Null);
    let sample = of("sample").map(|node| read_sample(node, reports));
    let before = replaced
        .iter()
        .filter_map(|old| Axis::read(old, kind.name, sample.is_some(), &mut Reports::default()));
    let mut found =
        Found { kind, before: before.collect(), axes: Vec::new(), groups: Vec::new(), failed: false };
    for entry in node.entries().iter().filter(|entry| !kind.has_word(entry)) {
        found.take(std::slice::from_ref(entry), kind.name, sample.is_some(), reports);
    }
    for group in of("zip").map(zipped).unwrap_or_default() {
        let at = join(kind.name, "zip");
        if is_map(group, &at, reports) {
            found.take(group.entries(), &at, sample.is_some(), reports);
        }
    }
    let cheapest = of("cheapest").map(|node| read_cheapest(node, reports));
    found.check_paths(tree, reports);
    if found.axes.is_empty() && !found.failed {
        reports.add(Problem::NothingSwept, node.spot, kind.name);
    }
    if found.failed || found.axes.is_empty() {
        return None;
    }
    let sample = match sample {
        Some(read) => Some(read?),
        None => None,
    };
    let cheapest = match cheapest {
        Some(read) => Some(read?),
        None => None,
    };
    found.into_design(sample, cheapest, node, reports)
}

/// The groups of `zip`: a mapping is one, a list has several.
fn zipped(node: &Node) -> Vec<&Node> {
    if let Kind::List(groups) = &node.kind { groups.iter().collect() } else { vec![node] }
}

/// The axes found so far.
struct Found {
    kind: Section,
    /// The axes that the command line replaces.
    before: Vec<Axis>,
    axes: Vec<Axis>,
    groups: Vec<Vec<usize>>,
    failed: bool,
}

impl Found {
    /// Reads the axes of a group.
    fn take(&mut self, entries: &[Entry], at: &str, sampled: bool, reports: &mut Reports) {
        let mut group = Vec::new();
        for entry in entries {
            let Some(mut axis) = Axis::read(entry, at, sampled, reports) else {
                self.failed = true;
                continue;
            };
            if let Some(before) = self.before.iter().find(|before| before.paths == axis.paths) {
                axis.follow(before, &entry.key);
            }
            if let Some(first) = group.first().map(|first: &usize| &self.axes[*first]) {
                let (has, needed) = (axis.values.len(), first.values.len());
                if has != needed && !sampled {
                    let problem = Problem::UnequalLists {
                        path: axis.name.clone(),
                        has,
                        first: first.name.clone(),
                        needed,
                    };
                    reports.add(problem, entry.spot, &join(at, &entry.key));
                    self.failed = true;
                }
            }
            group.push(self.axes.len());
            self.axes.push(axis);
        }
        self.groups.extend((!group.is_empty()).then_some(group));
    }

    /// Reports paths that are missing in the document, that variants cannot change, or that occur twice.
    fn check_paths(&mut self, tree: &Node, reports: &mut Reports) {
        let mut seen = BTreeSet::new();
        let mut document = tree.clone();
        for axis in &self.axes {
            for path in &axis.paths {
                if !seen.insert(path) {
                    let problem = Problem::SweptTwice { path: path.clone() };
                    reports.add(problem, axis.spot, &join(self.kind.name, path));
                    self.failed = true;
                }
                // the value does not matter, since only the path is checked
                let any = Entry { key: path.clone(), spot: axis.spot, value: Node::scalar("1") };
                let changes = Node { kind: Kind::Map(vec![any]), ..Node::null() };
                overlay::vary_at(&mut document, self.kind.name, &changes, reports);
            }
        }
    }

    /// The points.
    fn into_design(
        mut self,
        sample: Option<(u64, u64)>,
        cheapest: Option<Cheapest>,
        node: &Node,
        reports: &mut Reports,
    ) -> Option<Design> {
        let sizes: Vec<u64> =
            self.groups.iter().map(|group| self.axes[group[0]].values.len() as u64).collect();
        let points = match sample {
            Some((points, seed)) => sample::draw(&mut self.axes, &self.groups, points, seed),
            None => {
                let all =
                    sizes.iter().try_fold(1_u64, |all, size| all.checked_mul(*size)).unwrap_or(u64::MAX);
                if all > MOST_POINTS && !self.kind.ends {
                    let problem = Problem::TooManyPoints { points: all, most: MOST_POINTS };
                    reports.add(problem, node.spot, self.kind.name);
                    return None;
                }
                self.combinations(&sizes, all)
            }
        };
        let has_cost = self.axes.iter().any(|axis| axis.values.iter().any(|value| value.cost.is_some()));
        let cheapest = cheapest.or_else(|| default_cheapest(reports)).filter(|_| has_cost);
        Some(Design { axes: self.axes, groups: self.groups, points, sampled: sample.is_some(), cheapest })
    }

    /// Every combination, the last group varying fastest; or only the first and the last.
    fn combinations(&self, sizes: &[u64], all: u64) -> Vec<Vec<u32>> {
        let point = |place: &dyn Fn(usize, u64) -> u64| {
            let mut point = vec![0; self.axes.len()];
            for (nth, (group, size)) in self.groups.iter().zip(sizes).enumerate() {
                for axis in group {
                    point[*axis] = place(nth, *size) as u32;
                }
            }
            point
        };
        if self.kind.ends {
            let mut ends = vec![point(&|_, _| 0), point(&|_, size| size - 1)];
            ends.dedup();
            return ends;
        }
        // number of points per value of each group: all combinations of the groups after it
        let mut strides = vec![1; sizes.len()];
        for nth in (1..sizes.len()).rev() {
            strides[nth - 1] = strides[nth] * sizes[nth];
        }
        (0..all).map(|at| point(&|nth, size| at / strides[nth] % size)).collect()
    }
}

/// The number of points to draw, and the seed of the draw.
fn read_sample(node: &Node, reports: &mut Reports) -> Option<(u64, u64)> {
    let mut fields = Fields::open(node, "sweep.sample", SAMPLE, &[], reports)?;
    let mut count = |key: &str| match fields.one(key, reports)?.value {
        Value::Count(count) => Some(count),
        other => unreachable!("declared as a count, read as {other:?}"),
    };
    let (points, seed) = (count("points"), count("seed"));
    points.zip(seed)
}

fn default_cheapest(reports: &mut Reports) -> Option<Cheapest> {
    read_cheapest(&Node::map::<&str>([]), reports)
}

fn read_cheapest(node: &Node, reports: &mut Reports) -> Option<Cheapest> {
    let mut fields = Fields::open(node, "sweep.cheapest", CHEAPEST, &[], reports)?;
    let at_least = match fields.one("at_least", reports)?.value {
        Value::Ratio(ratio) => ratio,
        other => unreachable!("declared as a ratio, read as {other:?}"),
    };
    let of = fields.text("of", reports)?.value;
    let unit = fields.text("unit", reports)?.value;
    let workloads = match fields.written("workloads") {
        None => Vec::new(),
        Some(_) => fields.names("workloads", "the name of a workload", reports)?.0,
    };
    let workloads = workloads.into_iter().map(|said| said.value).collect();
    Some(Cheapest { at_least, of, workloads, unit })
}

#[cfg(test)]
mod tests;
