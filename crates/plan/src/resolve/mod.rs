//! From a tree to a plan: checks everything, reports all mistakes, and fills in every default.
//!
//! ```text
//!  text ─ yaml ─► tree ─ overlay (--set, variant) ─► one tree a variant ─ machine, links, workloads ─► Variant
//!                                                                └► what is wrong, with its place
//! ```

mod access;
mod channels;
mod components;
mod known;
mod leaving;
mod links;
mod machine;
mod memory;
mod numbers;
mod queues;
mod replaced;
mod subsystems;
mod transports;
mod wiring;
mod without_effect;
mod workloads;

use crate::catalogue::{Catalogue, Part};
use crate::files::{self, Configurations, FileOf, Files};
use crate::kinds::KINDS;
use crate::language::{COMPARE, DOCUMENT, RUN};
use crate::plan::{Budget, Compare, Plan, Run, Until, Variant, WarmUp};
use crate::problem::Problem;
use crate::search;
use crate::sweep;
use crate::values::span;
use channels::Channels;
use known::Known;
use lanetwin_document::fields::{Fields, join};
use lanetwin_document::node::{Kind, Node, Origin, Spot};
use lanetwin_document::overlay;
use lanetwin_document::problem::{Diagnostic, Problem as Common, Reports, quoted};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_document::yaml;
use lanetwin_document::{add_source, numbered};
use lanetwin_ports::{Dimension, Value};
use std::collections::BTreeMap;
use std::path::Path;

/// A scenario after checking: the plan if there are no errors, and all diagnostics.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The plan; `None` if there is an error.
    pub plan: Option<Plan>,
    /// Errors and warnings, in the order of their places.
    pub diagnostics: Vec<Diagnostic>,
}

/// A scenario before it is checked.
#[derive(Clone, Copy)]
pub(crate) struct Text<'a> {
    /// Path of its file.
    pub path: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Changes, each `path=value`.
    pub sets: &'a [String],
    /// The files that it names.
    pub files: &'a Files,
}

/// Checks a scenario.
pub(crate) fn check(
    scenario: &Text<'_>,
    catalogue: &Catalogue,
    mut sources: Vec<String>,
    mut reports: Reports,
) -> Checked {
    let plan = plan(scenario, catalogue, &mut sources, &mut reports);
    let plan = plan.filter(|_| !reports.has_errors());
    let diagnostics = reports.into_diagnostics(&sources);
    let plan = plan.map(|plan| Plan { warnings: diagnostics.clone(), ..plan });
    Checked { plan, diagnostics }
}

/// The document with its changes; expands numbered names, and sections that consist of the name of a file.
fn tree_of(
    scenario: &Text<'_>,
    kinds: &[(&'static str, FileOf)],
    sources: &mut Vec<String>,
    reports: &mut Reports,
) -> Option<Node> {
    let file = add_source(sources, scenario.path.to_owned());
    let mut tree = yaml::read(scenario.text, file.file, Origin::Scenario, reports)?;
    numbered::write_out(&mut tree, reports);
    files::write_out(&mut tree, kinds);
    for text in scenario.sets {
        let spot = add_source(sources, format!("--set {text}"));
        overlay::set(&mut tree, text, spot.file, reports);
        files::write_out(&mut tree, kinds);
    }
    Some(tree)
}

fn plan(
    scenario: &Text<'_>,
    catalogue: &Catalogue,
    sources: &mut Vec<String>,
    reports: &mut Reports,
) -> Option<Plan> {
    let Text { path, text, files: beside, .. } = *scenario;
    let kinds: Vec<_> = KINDS.iter().filter_map(|kind| Some((kind.name, kind.file?))).collect();
    let tree = tree_of(scenario, &kinds, sources, reports)?;
    let mut document = Fields::open(&tree, "", DOCUMENT, &[], reports)?;
    let about = document.text("about", reports).map(|said| said.value);
    let mut trees = overlay::variants(&tree, overlay::vary, reports);
    trees.iter_mut().for_each(|(_, _, tree)| files::write_out(tree, &kinds));
    let documents: Vec<&Node> = trees.iter().map(|(_, _, tree)| tree).collect();
    let configurations = Configurations::read(&documents, (beside, &kinds), sources, reports);
    let channels = Channels::read(&documents, beside, sources, reports);
    let names: Vec<&str> = trees.iter().map(|(name, ..)| &**name).collect();
    // `lanetwin sweep` and `search` read these sections again
    sweep::check(&tree, reports);
    search::check(&tree, catalogue, reports);
    let compare = read_compare(document.written("compare"), &names, reports);
    let run = read_run(document.written("run"), reports);
    let seed = run.as_ref().map_or(1, |run| run.seed);
    let mut variants = Vec::new();
    let mut found = Vec::new();
    for (name, spot, varied) in &trees {
        let mut reports = Reports::default();
        let known = Known { catalogue, configurations: &configurations, channels: &channels, seed };
        let variant = resolve(name, varied, known, &mut reports);
        replaced::explain(&tree, name, &mut reports);
        found.push((name.clone(), reports));
        variants.extend(variant.map(|variant| (*spot, variant)));
    }
    // a component may be used in one variant only
    reports.absorb_variants(found, &[machine::IDLE]);
    if !reports.has_errors() {
        report_same(&variants, reports);
        report_alone(&tree, reports);
        let all: Vec<&Variant> = variants.iter().map(|(_, variant)| variant).collect();
        without_effect::report(&all, trees.iter().map(|(_, _, tree)| tree), reports);
    }
    if variants.len() < trees.len() {
        return None;
    }
    let variants: Vec<Variant> = variants.into_iter().map(|(_, variant)| variant).collect();
    let parts = parts_of(&variants, catalogue);
    Some(Plan {
        name: name_of(path),
        about: about?,
        path: path.to_owned(),
        text: text.to_owned(),
        files: configurations.into_texts().into_iter().chain(channels.into_texts()).collect(),
        variants,
        compare: compare?,
        run: run?,
        parts,
        warnings: Vec::new(),
    })
}

/// The name of a scenario: that of its file, without the extension.
fn name_of(path: &str) -> String {
    Path::new(path).file_stem().map_or_else(|| "scenario".into(), |stem| stem.to_string_lossy().into())
}

/// The parts of the components and links of all variants.
fn parts_of(variants: &[Variant], catalogue: &Catalogue) -> BTreeMap<String, Part> {
    let components = variants.iter().flat_map(|variant| &variant.machine);
    let of_components = components.filter_map(|component| component.part.as_ref());
    let stages = variants.iter().flat_map(|variant| {
        variant.links.iter().flat_map(|link| &link.via).chain(variant.cxl.iter().flat_map(|link| &link.via))
    });
    let parts = of_components.chain(stages.filter_map(|via| via.part.as_ref()));
    parts.filter_map(|name| catalogue.find(name)).map(|part| (part.name.clone(), part.clone())).collect()
}

/// One variant; `None` after an error in it.
fn resolve(name: &str, tree: &Node, known: Known<'_>, reports: &mut Reports) -> Option<Variant> {
    let section = |name: &str| tree.get(name).filter(|node| node.kind != Kind::Null);
    let (machine, workloads) = (section("machine"), section("workloads"));
    if machine.is_none() {
        let about = DOCUMENT.iter().find(|field| field.name == "machine").map_or("", |field| field.about);
        reports.add(Common::Missing { key: "machine".into(), about: about.into() }, tree.spot, "machine");
    }
    let (mut machine, mut machine_node) = machine::read(machine?, known.catalogue, reports)?;
    let (partitions, partitions_node) = links::partitions::read(section("partitions"), &machine, reports)?;
    let (mut wiring, links_node) = links::read((section("links"), partitions), &machine, known, reports)?;
    wiring.tell_inside(&mut machine_node);
    links::moves::attach(&mut machine, &mut wiring, reports);
    let find = |name: &str, (spot, path): (Spot, &str), reports: &mut Reports| {
        machine.find(name, spot, path, reports)
    };
    let components = machine.components.len();
    let place = subsystems::Place { machine: &machine, components, find: &find, links: &wiring.links };
    let subsystems_node = subsystems::read(section("subsystems"), place, &mut wiring.network, reports)?;
    links::driven::check_shown(&wiring, &machine, reports);
    let (memory, interleave_node) = memory::read(section("interleave"), &machine, &wiring, reports)?;
    // an error in a component or a link also leaves ports unconnected, which is not a second mistake
    let wired = !reports.has_errors();
    let configurations = known.configurations;
    let place = workloads::Place { machine: &machine, wiring: &wiring, nodes: &memory.nodes, configurations };
    let is_asked = workloads.is_some();
    let workloads = match workloads {
        Some(node) => workloads::read(node, place, reports),
        // a machine without workloads is valid
        None => Some((Vec::new(), Node::null())),
    };
    if wired {
        let loads = workloads.as_ref().map_or(&[][..], |(loads, _)| loads);
        machine::report_unconnected(&machine, &wiring, loads, reports);
    }
    let (workloads, workloads_node) = workloads?;
    if !reports.has_errors() {
        match is_asked {
            true => machine::report_idle(&machine, &wiring, &workloads, reports),
            false => reports.add(Problem::NothingAsked, tree.spot, ""),
        }
    }
    if reports.has_errors() {
        return None;
    }
    let document = document_of([
        Some(("machine", machine_node)),
        Some(("links", links_node)),
        wiring.partitions.are_there().then_some(("partitions", partitions_node)),
        (!wiring.network.subsystems.is_empty()).then_some(("subsystems", subsystems_node)),
        Some(("interleave", interleave_node)),
        Some(("workloads", workloads_node)),
    ]);
    let spots: Vec<Spot> = machine.components.iter().map(|slot| slot.spot).collect();
    let variant = Variant {
        name: name.to_owned(),
        machine: machine.components.into_iter().map(|slot| slot.plan).collect::<Option<_>>()?,
        links: wiring.links,
        absences: wiring.absences,
        cxl: wiring.cxl,
        nodes: memory.nodes,
        decoding: memory.decoding,
        network: wiring.network,
        joins: wiring.joins,
        driven: wiring.driven,
        workloads,
        document,
    };
    numbers::check(&variant, &spots, reports);
    (!reports.has_errors()).then_some(variant)
}

/// A complete document of the sections that are present.
fn document_of<const N: usize>(sections: [Option<(&str, Node)>; N]) -> Node {
    Node::map(sections.into_iter().flatten())
}

/// Reports variants with the same machine and the same workloads.
fn report_same(variants: &[(Spot, Variant)], reports: &mut Reports) {
    // by their text: comparing a thousand variants in pairs would take half a million comparisons
    let mut first: BTreeMap<String, &str> = BTreeMap::new();
    for (spot, variant) in variants {
        let says = serde_json::to_string(&variant.document).expect("a document");
        let other = *first.entry(says).or_insert(&variant.name);
        if other != variant.name {
            let problem = Common::SameVariant { name: variant.name.clone(), other: other.into() };
            reports.add(problem, *spot, &join("variants", &variant.name));
        }
    }
}

/// Reports a single variant that changes something: its author expects a comparison with the unchanged scenario.
fn report_alone(tree: &Node, reports: &mut Reports) {
    let section = tree.get("variants").filter(|_| tree.get("sweep").is_none());
    if let Some([alone]) = section.map(Node::entries)
        && !alone.value.entries().is_empty()
    {
        let problem = Problem::AloneVariant { name: alone.key.clone() };
        reports.add(problem, alone.spot, &join("variants", &alone.key));
    }
}

fn read_compare(node: Option<&Node>, variants: &[&str], reports: &mut Reports) -> Option<Compare> {
    let empty = Node::map::<&str>([]);
    let mut fields = Fields::open(node.unwrap_or(&empty), "compare", COMPARE, &[], reports)?;
    let baseline = match fields.text("baseline", reports) {
        None if fields.written("baseline").is_some() => None,
        None => Some(0),
        Some(said) => {
            let found = variants.iter().position(|name| **name == said.value);
            if found.is_none() {
                let near = Near::of(&said.value, variants.iter().copied());
                let known = quoted(variants.iter().copied());
                fields.fault("baseline", Problem::UnknownVariant { name: said.value, known, near }, reports);
            }
            found
        }
    };
    let within = match fields.one("equivalent_within", reports)?.value {
        Value::Ratio(ratio) => ratio,
        other => unreachable!("declared as a ratio, read as {other:?}"),
    };
    Some(Compare { baseline: baseline?, equivalent_within: within })
}

fn read_run(node: Option<&Node>, reports: &mut Reports) -> Option<Run> {
    let empty = Node::map::<&str>([]);
    let mut fields = Fields::open(node.unwrap_or(&empty), "run", RUN, &[], reports)?;
    let mut count = |key: &str| match fields.one(key, reports)?.value {
        Value::Count(count) => Some(count),
        other => unreachable!("declared as a count, read as {other:?}"),
    };
    let (repeats, seed) = (count("repeats"), count("seed"));
    let warm_up = fields.text("warm-up", reports).and_then(|said| match (&*said.value, said.value.parse()) {
        ("auto", _) => Some(WarmUp::Auto),
        (_, Ok(transfers)) => Some(WarmUp::Transfers(transfers)),
        (_, Err(_)) => {
            let hint = "`auto`, or a whole number of transfers".into();
            fields.fault("warm-up", Common::Quantity { text: said.value, hint }, reports);
            None
        }
    });
    let repeats = u32::try_from(repeats?).expect("declared as at most 10 000");
    let budget = span(&mut fields, "budget", reports).map(|cpu| Budget { cpu });
    let until = read_until(&mut fields, reports);
    Some(Run { repeats, warm_up: warm_up?, until: until?, budget: budget?, seed: seed? })
}

/// Reads `±2%`, with or without the sign. Returns `None` after an error, which is reported.
fn read_until(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Option<Until>> {
    if fields.written("until").is_none() {
        return Some(None);
    }
    let text = fields.text("until", reports)?.value;
    match quantity::read(Dimension::Ratio, text.trim_start_matches('±').trim()) {
        Ok((Value::Ratio(within), _)) if within > 0.0 && within < 1.0 => Some(Some(Until { within })),
        _ => {
            let hint = "a share between 0 and 1, such as `±2%`".into();
            fields.fault("until", Common::Quantity { text, hint }, reports);
            None
        }
    }
}
