//! Closed forms: what can be said of a link without simulating it.
//!
//! Each form declares its arguments as a scenario's keys are declared, and answers in rows, each with how it was found.
//! They share the standard's constants with the simulation, and nothing else.
//!
//! ```
//! let arguments = [("gen".to_owned(), "3".to_owned()), ("width".to_owned(), "x8".to_owned())].into();
//! let rows = lanetwin_plan::calc::calc("link", &arguments).expect("arguments of the form");
//! assert_eq!((rows[0].name, rows[0].value, rows[0].unit), ("raw", 64.0, "Gb/s"));
//! ```

mod flow;
mod link;
mod pcie_model;
mod switch;

pub use pcie_model::{Direction, payload_rate};

use lanetwin_document::declaration::{Field, Holds};
use lanetwin_document::fields::Fields;
use lanetwin_document::node::{Node, Origin};
use lanetwin_document::problem::{Diagnostic, Problem, Reports, quoted};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_pcie::spec::{AddressWidth, Mps};
use lanetwin_ports::{Dimension, Params};
use lanetwin_units::{Generation, Width};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};
use std::collections::BTreeMap;

/// A closed form.
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// What it answers, in a sentence.
    pub about: &'static str,
    /// The formula.
    pub formula: &'static str,
    pub(crate) arguments: &'static [Field],
    evaluate: fn(&Params) -> Vec<Row>,
}

/// A result of a closed form.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// What it is.
    pub name: &'static str,
    /// How much.
    pub value: f64,
    /// In which unit; empty for a bare number.
    pub unit: &'static str,
    /// How it was found.
    pub how: String,
}

/// Every form, in the order of a textbook.
pub static FORMS: &[&Form] = &[
    &link::LINK,
    &link::TLP_EFFICIENCY,
    &link::SERIALISATION,
    &link::ACK_LIMIT,
    &switch::SWITCH,
    &flow::CREDITS,
    &flow::LITTLES_LAW,
    &pcie_model::PCIE_MODEL,
];

/// Evaluates the form called `name`; arguments are text with units, as in a scenario.
///
/// # Errors
/// Everything that is wrong with the name or the arguments.
pub fn calc(name: &str, arguments: &BTreeMap<String, String>) -> Result<Vec<Row>, Vec<Diagnostic>> {
    let mut reports = Reports::default();
    let rows = evaluate(name, arguments, &mut reports);
    match rows {
        Some(rows) if !reports.has_errors() => Ok(rows),
        _ => Err(reports.into_diagnostics(&[format!("calc {name}")])),
    }
}

fn evaluate(name: &str, arguments: &BTreeMap<String, String>, reports: &mut Reports) -> Option<Vec<Row>> {
    let Some(form) = FORMS.iter().find(|form| form.name == name) else {
        let names = || FORMS.iter().map(|form| form.name);
        let problem =
            Problem::UnknownWord { word: name.into(), words: quoted(names()), near: Near::of(name, names()) };
        reports.add(problem, Default::default(), "");
        return None;
    };
    let scalar = |text: &String| Node::scalar(text.trim()).by(Origin::Scenario);
    let node = Node::map(arguments.iter().map(|(key, text)| (key.clone(), scalar(text))));
    let mut fields = Fields::open(&node, "", form.arguments, &[], reports)?;
    let mut values = Params::default();
    for field in form.arguments {
        values.0.extend(fields.one(field.name, reports).map(|said| (field.name, said.value)));
    }
    if reports.has_errors() {
        return None;
    }
    if let Some(problem) = (form.name == flow::LITTLES_LAW.name).then(|| flow::check(&values)).flatten() {
        reports.add(problem, Default::default(), "");
        return None;
    }
    Some((form.evaluate)(&values))
}

impl Serialize for Form {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arguments: Vec<_> = self.arguments.iter().map(Argument).collect();
        let mut form = serializer.serialize_struct("Form", 4)?;
        form.serialize_field("name", self.name)?;
        form.serialize_field("about", self.about)?;
        form.serialize_field("formula", self.formula)?;
        form.serialize_field("arguments", &arguments)?;
        form.end()
    }
}

/// An argument as others see it.
struct Argument(&'static Field);

impl Serialize for Argument {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self(field) = self;
        let looks_like =
            if let Holds::One(dimension) = field.holds { quantity::hint(dimension) } else { String::new() };
        let mut argument = serializer.serialize_struct("Argument", 5)?;
        argument.serialize_field("name", field.name)?;
        argument.serialize_field("about", field.about)?;
        argument.serialize_field("default", &field.default)?;
        argument.serialize_field("required", &field.required)?;
        argument.serialize_field("looks_like", &looks_like)?;
        argument.end()
    }
}

const WIDTHS: &[&str] = &["x1", "x2", "x4", "x8", "x12", "x16", "x32"];
const PAYLOADS: &[&str] = &["128B", "256B", "512B", "1KiB", "2KiB", "4KiB"];

const GEN: Field =
    argument("gen", Dimension::Count { least: 1, most: 5 }, None, "the generation of the link");
const WIDTH: Field = argument("width", Dimension::Choice(WIDTHS), None, "the number of its lanes");
const MPS: Field = argument("mps", Dimension::Choice(PAYLOADS), Some("256B"), "the Maximum Payload Size");
const ADDRESS: Field = argument(
    "address",
    Dimension::Choice(&["32", "64"]),
    Some("64"),
    "the width of addresses in bits: 64 needs headers of 4 DW",
);

/// An argument; required if it has no default.
const fn argument(
    name: &'static str,
    dimension: Dimension,
    default: Option<&'static str>,
    about: &'static str,
) -> Field {
    Field { name, holds: Holds::One(dimension), required: default.is_none(), default, about }
}

fn generation(values: &Params) -> Generation {
    Generation::from_number(values.count("gen")).expect("declared as 1 to 5")
}
fn width(values: &Params) -> Width {
    width_of(values, "width")
}
fn width_of(values: &Params, key: &str) -> Width {
    let lanes = values.choice(key).trim_start_matches('x').parse().ok().and_then(Width::from_lanes);
    lanes.expect("declared as the widths of the standard")
}
fn payload(values: &Params, key: &str) -> Mps {
    let size = quantity::read(Dimension::Size, values.choice(key));
    let bytes = if let Ok((lanetwin_ports::Value::Size(size), _)) = size { size.0 } else { 0 };
    Mps::from_bytes(bytes).expect("declared as the sizes of the standard")
}
fn address(values: &Params) -> AddressWidth {
    if values.choice("address") == "32" { AddressWidth::Bits32 } else { AddressWidth::Bits64 }
}

/// Bytes per second after line coding.
fn coded(generation: Generation, width: Width) -> f64 {
    let (bits, per_byte) = generation.bits_per_byte();
    let bit_rate = generation.megatransfers() as f64 * 1e6 * width.lanes() as f64;
    bit_rate * per_byte as f64 / bits as f64
}

const fn row(name: &'static str, value: f64, unit: &'static str, how: String) -> Row {
    Row { name, value, unit, how }
}

#[cfg(test)]
mod tests;
