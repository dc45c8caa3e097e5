//! Closed forms: arguments, declared like keys of a scenario, and rows of results.

use lanetwin_document::declaration::{Field, Holds};
use lanetwin_document::quantity;
use lanetwin_pcie::spec::{AddressWidth, Mps};
use lanetwin_ports::{Dimension, Params};
use lanetwin_units::{Generation, Width};
use serde::Serialize;
use serde::ser::{SerializeStruct, Serializer};

/// A closed form.
pub struct Form {
    /// Its name.
    pub name: &'static str,
    /// What it computes, in a sentence.
    pub about: &'static str,
    /// The formula.
    pub formula: &'static str,
    pub(crate) arguments: &'static [Field],
    pub(super) evaluate: fn(&Params) -> Vec<Row>,
}

/// A result of a closed form.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Its unit; empty for a bare number.
    pub unit: &'static str,
    /// How it was computed.
    pub how: String,
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

/// An argument, seen from other modules.
pub(super) struct Argument(&'static Field);

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

pub(super) const WIDTHS: &[&str] = &["x1", "x2", "x4", "x8", "x12", "x16", "x32"];
pub(super) const PAYLOADS: &[&str] = &["128B", "256B", "512B", "1KiB", "2KiB", "4KiB"];
pub(super) const GEN: Field =
    argument("gen", Dimension::Count { least: 1, most: 5 }, None, "the generation of the link");
pub(super) const WIDTH: Field = argument("width", Dimension::Choice(WIDTHS), None, "the number of its lanes");
pub(super) const MPS: Field =
    argument("mps", Dimension::Choice(PAYLOADS), Some("256B"), "the Maximum Payload Size");
pub(super) const ADDRESS: Field = argument(
    "address",
    Dimension::Choice(&["32", "64"]),
    Some("64"),
    "the width of addresses in bits: 64 needs headers of 4 DW",
);

/// An argument; required if it has no default.
pub(super) const fn argument(
    name: &'static str,
    dimension: Dimension,
    default: Option<&'static str>,
    about: &'static str,
) -> Field {
    Field { name, holds: Holds::One(dimension), required: default.is_none(), default, about }
}

pub(super) fn generation(values: &Params) -> Generation {
    Generation::from_number(values.count("gen")).expect("declared as 1 to 5")
}

pub(super) fn width(values: &Params) -> Width {
    width_of(values, "width")
}

pub(super) fn width_of(values: &Params, key: &str) -> Width {
    let lanes = values.choice(key).trim_start_matches('x').parse().ok().and_then(Width::from_lanes);
    lanes.expect("declared as the widths of the standard")
}

pub(super) fn payload(values: &Params, key: &str) -> Mps {
    let size = quantity::read(Dimension::Size, values.choice(key));
    let bytes = if let Ok((lanetwin_ports::Value::Size(size), _)) = size { size.0 } else { 0 };
    Mps::from_bytes(bytes).expect("declared as the sizes of the standard")
}

pub(super) fn address(values: &Params) -> AddressWidth {
    if values.choice("address") == "32" { AddressWidth::Bits32 } else { AddressWidth::Bits64 }
}

/// Bytes per second after line coding.
pub(super) fn coded(generation: Generation, width: Width) -> f64 {
    let (bits, per_byte) = generation.bits_per_byte();
    let bit_rate = generation.megatransfers() as f64 * 1e6 * width.lanes() as f64;
    bit_rate * per_byte as f64 / bits as f64
}

pub(super) const fn row(name: &'static str, value: f64, unit: &'static str, how: String) -> Row {
    Row { name, value, unit, how }
}
