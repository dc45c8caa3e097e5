//! A part: a model with numbers, each with its kind and source, and the file that it is read from.

use super::pci::{self, IDENTITY, Identity};
use crate::problem::Problem;
use lanetwin_document::declaration::{Field, Holds};
use lanetwin_document::fields::{self, Fields, is_map, join, scalar};
use lanetwin_document::node::{Entry, Node, Spot};
use lanetwin_document::problem::{Problem as Common, Reports, known_keys, quoted};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_ports::{Dimension, Model, Param, Value};
use lanetwin_units::NumberKind;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::Path;

/// Grade of fidelity of a part.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Its numbers come from data sheets, standards and assumptions; it was not compared with measurements.
    DatasheetOnly,
    /// Some numbers were fitted to measurements.
    Calibrated,
    /// Its predictions were compared with measurements that were not used to fit it.
    Validated,
}

impl std::fmt::Display for Grade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::DatasheetOnly => "datasheet-only",
            Self::Calibrated => "calibrated",
            Self::Validated => "validated",
        })
    }
}

/// A number of a part.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Number {
    /// Its value.
    #[serde(serialize_with = "as_written")]
    pub value: Value,
    /// What kind of number it is.
    pub kind: NumberKind,
    /// Its source.
    pub source: String,
    /// The measurement that it was calibrated to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// A note on it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A part: a model with numbers.
#[derive(Clone, Serialize)]
pub struct Part {
    /// Its name, which is also the name of its file.
    pub name: String,
    /// A sentence about it.
    pub about: String,
    /// Its model.
    #[serde(serialize_with = "as_name")]
    pub model: &'static Model,
    /// Its grade of fidelity.
    pub grade: Grade,
    /// The measurements that it was compared with, and the result.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validated: Option<String>,
    /// The PCI IDs by which it is recognised in a real machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pci: Vec<Identity>,
    /// Its numbers; parameters that are missing here have the model's defaults.
    pub parameters: BTreeMap<&'static str, Number>,
    /// The file it was read from.
    pub file: String,
    /// Whether it is built in, wherever its file lies.
    #[serde(skip)]
    pub built_in: bool,
}

fn as_written<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&quantity::written(*value))
}

fn as_name<S: Serializer>(model: &&'static Model, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(model.name)
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part")
            .field("name", &self.name)
            .field("model", &self.model.name)
            .finish_non_exhaustive()
    }
}

pub(super) const GRADES: &[&str] = &["datasheet-only", "calibrated", "validated"];

const fn field(name: &'static str, holds: Holds, required: bool, about: &'static str) -> Field {
    Field { name, holds, default: None, required, about }
}

/// The keys of a part file.
const PART: &[Field] = &[
    field("name", Holds::Text, true, "the part's name, which is also its file's"),
    field("about", Holds::Text, true, "what it is, in a sentence"),
    field("model", Holds::Text, true, "the model that behaves like it"),
    field("grade", Holds::One(Dimension::Choice(GRADES)), true, "how far it can be trusted"),
    field("validated", Holds::Text, false, "what it was compared with, and how well it did"),
    field("pci", Holds::List(IDENTITY), false, "the PCI IDs by which `lanetwin discover` knows it"),
    field("parameters", Holds::Ignored, false, "its numbers"),
    field(
        "calibration",
        Holds::Ignored,
        false,
        "the rows that it was calibrated on and the rows held back; not read",
    ),
];

/// The keys of a number.
const NUMBER: &[Field] = &[
    field("value", Holds::Text, true, "the number with its unit"),
    field("kind", Holds::One(Dimension::Choice(&NumberKind::WORDS)), false, "what kind of number it is"),
    field("source", Holds::Text, false, "where it comes from"),
    field("to", Holds::Text, false, "what it was calibrated to"),
    field("note", Holds::Text, false, "what else there is to say"),
];

/// Reads a part file.
pub(super) fn read(node: &Node, file: &str, reports: &mut Reports) -> Option<Part> {
    let mut part = Fields::open(node, "", PART, &[], reports)?;
    let name = part.text("name", reports).map(|said| said.value);
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if let Some(name) = name.as_ref().filter(|name| **name != stem) {
        part.fault("name", Problem::PartFileName { name: name.clone(), file: file.into() }, reports);
    }
    let about = part.text("about", reports).map(|said| said.value);
    let grade = grade(&mut part, reports);
    let validated = part.text("validated", reports).map(|said| said.value);
    let pci = pci::read(&part, reports);
    let model =
        part.text("model", reports).and_then(|said| find_model(&said.value, said.spot, "model", reports));
    let parameters = match (part.written("parameters"), model) {
        (Some(node), Some(model)) => read_parameters(node, model, reports)?,
        _ => BTreeMap::new(),
    };
    Some(Part {
        name: name?,
        about: about?,
        model: model?,
        grade: grade?,
        validated,
        pci: pci?,
        parameters,
        file: file.to_owned(),
        built_in: false,
    })
}

/// Reads the grade of a part, or of an assembly.
pub(super) fn grade(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Grade> {
    Some(match fields.one("grade", reports)?.value {
        Value::Choice("calibrated") => Grade::Calibrated,
        Value::Choice("validated") => Grade::Validated,
        _ => Grade::DatasheetOnly,
    })
}

/// The model called `name`; reports an error if there is none.
pub(crate) fn find_model(
    name: &str,
    spot: Spot,
    path: &str,
    reports: &mut Reports,
) -> Option<&'static Model> {
    let found = lanetwin_models::find(name);
    if found.is_none() {
        let names = || lanetwin_models::MODELS.iter().map(|model| model.name);
        let problem = Problem::UnknownModel {
            name: name.into(),
            known: quoted(names()),
            near: Near::of(name, names()),
        };
        reports.add(problem, spot, path);
    }
    found
}

fn read_parameters(
    node: &Node,
    model: &'static Model,
    reports: &mut Reports,
) -> Option<BTreeMap<&'static str, Number>> {
    if !is_map(node, "parameters", reports) {
        return None;
    }
    let numbers = node.entries().iter().map(|entry| read_number(entry, model, "parameters", reports));
    // reads all of them before the first error ends it
    let numbers: Vec<_> = numbers.collect();
    numbers.into_iter().collect()
}

/// Reads a number of a part.
pub(super) fn read_number(
    entry: &Entry,
    model: &'static Model,
    section: &str,
    reports: &mut Reports,
) -> Option<(&'static str, Number)> {
    let path = join(section, &entry.key);
    let Some(param) = find_param(model, &entry.key) else {
        let known = || model.all_params().map(|param| param.name);
        let problem = Common::UnknownKey {
            key: entry.key.clone(),
            known: known_keys(known()),
            near: Near::of(&entry.key, known()),
        };
        reports.add(problem, entry.spot, &path);
        return None;
    };
    let mut number = Fields::open(&entry.value, &path, NUMBER, &[], reports)?;
    let value = number.written("value").and_then(|node| fields::read(node, param.dimension, &path, reports));
    let kind = number.one("kind", reports).map(|said| said.value);
    let kind = match kind {
        Some(Value::Choice(word)) => NumberKind::of(word),
        _ => None,
    };
    let source = number.text("source", reports).map(|said| said.value);
    let to = number.text("to", reports).map(|said| said.value);
    for (key, absent) in [
        ("kind", number.written("kind").is_none()),
        ("source", source.is_none()),
        ("to", kind == Some(NumberKind::Calibrated) && to.is_none()),
    ] {
        if absent {
            reports.add(Problem::NoSource { key }, entry.spot, &path);
        }
    }
    let note = number.written("note").and_then(|node| scalar(node, "a sentence", &path, reports));
    let note = note.map(str::to_owned);
    Some((param.name, Number { value: value?, kind: kind?, source: source?, to, note }))
}

/// The parameter of a model with this name.
pub(super) fn find_param(model: &'static Model, name: &str) -> Option<&'static Param> {
    model.all_params().find(|param| param.name == name)
}
