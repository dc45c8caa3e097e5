//! Assemblies: parts that are made of other parts. An assembly declares its components, the links between them, and the
//! ports and parameters that a scenario sees.
//!
//! ```text
//!  cmmh: {part: samsung-cmm-h}     ═►   cmmh.controller, cmmh.root, cmmh.ssd     joined inside, `cmmh.cxl` outside
//! ```
//!
//! Names inside contain a point, which names of a scenario cannot. The numbers of an assembly stand under
//! `parameters:`, each with its component (`ssd.capacity`); they take precedence over those of the component's own
//! part.

use super::part::{GRADES, Grade, Part, find_model, find_param, grade, read_number};
use crate::language::COMPONENT;
use crate::problem::Problem;
use lanetwin_document::declaration::{Field, Holds};
use lanetwin_document::fields::{Fields, check_name, is_map, join, scalar};
use lanetwin_document::node::{Entry, Node};
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_document::spelling::Near;
use lanetwin_ports::{Dimension, PortInfo};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A part that is made of other parts.
#[derive(Clone, Debug, Serialize)]
pub struct Assembly {
    /// Its name, which is also the name of its file.
    pub name: String,
    /// A sentence about it.
    pub about: String,
    /// Its grade of fidelity.
    pub grade: Grade,
    /// The measurements that it was compared with, and the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validated: Option<String>,
    /// Its components in the order of the file: names, and the numbers of each.
    pub components: Vec<(String, Part)>,
    /// The links between its components.
    #[serde(skip)]
    pub(crate) links: Vec<Entry>,
    /// Its ports: the name outside, and the component with its port inside.
    pub ports: BTreeMap<String, (String, String)>,
    /// Its parameters: the name outside, and the component with its parameter inside.
    pub parameters: BTreeMap<String, (String, String)>,
    /// The file it was read from.
    pub file: String,
}

const fn field(name: &'static str, holds: Holds, required: bool, about: &'static str) -> Field {
    Field { name, holds, default: None, required, about }
}

/// The keys of the file of an assembly.
const FILE: &[Field] = &[
    field("name", Holds::Text, true, "the part's name, which is also its file's"),
    field("about", Holds::Text, true, "what it is, in a sentence"),
    field("assembly", Holds::Section(INSIDE), true, "what it is made of"),
    field("grade", Holds::One(Dimension::Choice(GRADES)), true, "how far it can be trusted"),
    field("validated", Holds::Text, false, "what it was compared with, and how well it did"),
    field("parameters", Holds::Ignored, false, "its numbers, each with the component that it is of"),
];
/// The keys of the contents of an assembly.
const INSIDE: &[Field] = &[
    field("components", Holds::Ignored, true, "the components: names and their parts or models"),
    field("links", Holds::Ignored, false, "what joins them"),
    field("ports", Holds::Ignored, true, "what it is joined to others by: names and the ports inside"),
    field("exposes", Holds::Ignored, false, "what can be said of it: names and the parameters inside"),
];

impl Assembly {
    /// The part of a component inside.
    pub(crate) fn component(&self, name: &str) -> Option<&Part> {
        self.components.iter().find(|(own, _)| own == name).map(|(_, part)| part)
    }
    /// The links inside: the name of each, and its keys as written, its ends among them.
    pub fn joints(&self) -> impl Iterator<Item = (&str, BTreeMap<&str, &str>)> {
        self.links.iter().map(|entry| {
            let said =
                entry.value.entries().iter().filter_map(|own| Some((own.key.as_str(), own.value.text()?)));
            (entry.key.as_str(), said.collect())
        })
    }
    /// Whether there is a link of this name inside.
    pub(crate) fn has_link(&self, name: &str) -> bool {
        self.links.iter().any(|entry| entry.key == name)
    }
}

/// Reads the file of an assembly; all parts that it uses have to be in `parts`, by name.
pub(super) fn read(
    node: &Node,
    file: &str,
    parts: &BTreeMap<String, Part>,
    reports: &mut Reports,
) -> Option<Assembly> {
    let mut fields = Fields::open(node, "", FILE, &[], reports)?;
    let name = fields.text("name", reports).map(|said| said.value)?;
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if name != stem {
        fields.fault("name", Problem::PartFileName { name: name.clone(), file: file.into() }, reports);
    }
    let about = fields.text("about", reports).map(|said| said.value);
    let grade = grade(&mut fields, reports);
    let validated = fields.text("validated", reports).map(|said| said.value);
    let inside = Fields::open(fields.written("assembly")?, "assembly", INSIDE, &[], reports)?;
    let head = Head { name: &name, file, grade: grade?, validated: validated.clone() };
    let mut components = components(inside.written("components")?, &head, parts, reports)?;
    if let Some(node) = fields.written("parameters") {
        numbers(node, &mut components, reports);
    }
    let ports = exposed(inside.written("ports")?, "assembly.ports", &components, reports, |part, port| {
        part.model.ports.iter().any(|info| is_port(info, port))
    });
    let parameters = inside.written("exposes").map(|node| {
        exposed(node, "assembly.exposes", &components, reports, |part, name| {
            find_param(part.model, name).is_some()
        })
    });
    let links = inside.written("links").map(|node| links(node, reports)).unwrap_or_default();
    Some(Assembly {
        about: about?,
        grade: head.grade,
        validated,
        components,
        links,
        ports,
        parameters: parameters.unwrap_or_default(),
        file: file.to_owned(),
        name,
    })
}

/// Whether `name` is this port: `slot`, or `slot3` where there are several.
fn is_port(info: &PortInfo, name: &str) -> bool {
    let number = name.strip_prefix(info.name);
    number.is_some_and(|n| n.is_empty() || info.many && n.bytes().all(|b| b.is_ascii_digit()))
}

/// The fields that the components of an assembly take from it.
struct Head<'a> {
    name: &'a str,
    file: &'a str,
    grade: Grade,
    validated: Option<String>,
}

fn components(
    node: &Node,
    head: &Head<'_>,
    parts: &BTreeMap<String, Part>,
    reports: &mut Reports,
) -> Option<Vec<(String, Part)>> {
    let path = "assembly.components";
    if !is_map(node, path, reports) {
        return None;
    }
    if node.entries().is_empty() {
        reports.add(Common::Empty { what: "the assembly has no component" }, node.spot, path);
        return None;
    }
    let read: Vec<_> = node.entries().iter().map(|entry| component(entry, head, parts, reports)).collect();
    read.into_iter().collect()
}

fn component(
    entry: &Entry,
    head: &Head<'_>,
    parts: &BTreeMap<String, Part>,
    reports: &mut Reports,
) -> Option<(String, Part)> {
    let path = join("assembly.components", &entry.key);
    check_name(&entry.key, entry.spot, &path, reports);
    let fields = Fields::open(&entry.value, &path, COMPONENT, &[], reports)?;
    let name = format!("{}.{}", head.name, entry.key);
    let text = |key: &str, reports: &mut Reports| {
        let node = fields.written(key)?;
        Some((scalar(node, "a name", &fields.at(key), reports)?, node.spot))
    };
    let (part, model) = (text("part", reports), text("model", reports));
    let base = match (part, model) {
        (Some((part, spot)), None) => {
            let Some(found) = parts.get(part) else {
                let near = Near::of(part, parts.keys().map(|known| &**known));
                reports.add(Problem::UnknownPart { name: part.into(), near }, spot, &fields.at("part"));
                return None;
            };
            found.clone()
        }
        (None, Some((model, spot))) => {
            let model = find_model(model, spot, &fields.at("model"), reports)?;
            let about = model.about.to_owned();
            let (file, parameters) = (head.file.to_owned(), BTreeMap::new());
            Part {
                name: String::new(),
                about,
                model,
                grade: head.grade,
                validated: None,
                pci: Vec::new(),
                parameters,
                file,
                built_in: false,
            }
        }
        (Some(_), Some(_)) => {
            fields.fault("model", Common::Exclusive { one: "part", other: "model" }, reports);
            return None;
        }
        (None, None) => {
            let about = "the name of a part (`lanetwin parts` lists them)".into();
            fields.fault("part", Common::Missing { key: "part".into(), about }, reports);
            return None;
        }
    };
    let (grade, validated) = (head.grade, head.validated.clone());
    Some((entry.key.clone(), Part { name, grade, validated, file: head.file.to_owned(), ..base }))
}

/// Reads `ssd.capacity: {value: …, kind: …, source: …}`, each into the numbers of its component.
fn numbers(node: &Node, components: &mut [(String, Part)], reports: &mut Reports) {
    if !is_map(node, "parameters", reports) {
        return;
    }
    for entry in node.entries() {
        let (own, parameter) = entry.key.split_once('.').unwrap_or((&entry.key, ""));
        let Some((_, part)) = components.iter_mut().find(|(name, _)| name == own) else {
            unknown(entry, "parameters", components, reports);
            continue;
        };
        let inner = Entry { key: parameter.to_owned(), spot: entry.spot, value: entry.value.clone() };
        if let Some((name, number)) = read_number(&inner, part.model, &join("parameters", own), reports) {
            part.parameters.insert(name, number);
        }
    }
}

/// Reads names outside with their targets inside: `cxl: controller.cxl`.
fn exposed(
    node: &Node,
    path: &str,
    components: &[(String, Part)],
    reports: &mut Reports,
    has: impl Fn(&Part, &str) -> bool,
) -> BTreeMap<String, (String, String)> {
    let mut found = BTreeMap::new();
    if !is_map(node, path, reports) {
        return found;
    }
    for entry in node.entries() {
        let place = join(path, &entry.key);
        let Some(text) = scalar(&entry.value, "a component and what is meant of it", &place, reports) else {
            continue;
        };
        let (own, inner) = text.split_once('.').unwrap_or((text, ""));
        match components.iter().find(|(name, _)| name == own) {
            Some((_, part)) if has(part, inner) => {
                found.insert(entry.key.clone(), (own.to_owned(), inner.to_owned()));
            }
            _ => {
                let meant = Entry { key: text.to_owned(), spot: entry.value.spot, value: Node::null() };
                unknown(&meant, &place, components, reports);
            }
        }
    }
    found
}

fn unknown(entry: &Entry, path: &str, components: &[(String, Part)], reports: &mut Reports) {
    let own = entry.key.split('.').next().unwrap_or_default();
    let names = || components.iter().map(|(name, _)| &**name);
    let (known, near) = (quoted(names()), Near::of(own, names()));
    let known = format!("what is of one of {known}");
    reports.add(Common::UnknownKey { key: entry.key.clone(), known, near }, entry.spot, path);
}

/// Reads the links between the components. The keys of a link are checked where it is used.
fn links(node: &Node, reports: &mut Reports) -> Vec<Entry> {
    if !is_map(node, "assembly.links", reports) {
        return Vec::new();
    }
    for entry in node.entries() {
        check_name(&entry.key, entry.spot, &join("assembly.links", &entry.key), reports);
    }
    node.entries().to_vec()
}
