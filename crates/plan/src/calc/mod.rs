//! Closed forms: properties of a link that can be computed without simulating it.
//!
//! Each form declares its arguments like keys of a scenario and returns rows, each with its derivation. Forms share the
//! standard's constants with the simulation, and nothing else.
//!
//! ```
//! let arguments = [("gen".to_owned(), "3".to_owned()), ("width".to_owned(), "x8".to_owned())].into();
//! let rows = lanetwin_plan::calc::calc("link", &arguments).expect("arguments of the form");
//! assert_eq!((rows[0].name, rows[0].value, rows[0].unit), ("raw", 64.0, "Gb/s"));
//! ```

mod flow;
mod form;
mod link;
mod pcie_model;
mod switch;

pub use form::{Form, Row};
pub use pcie_model::{Direction, payload_rate};

use lanetwin_document::fields::Fields;
use lanetwin_document::node::{Node, Origin};
use lanetwin_document::problem::{Diagnostic, Problem, Reports, quoted};
use lanetwin_document::spelling::Near;
use lanetwin_ports::Params;
use std::collections::BTreeMap;

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
/// If the name or an argument is wrong: every problem found.
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

#[cfg(test)]
mod tests;
