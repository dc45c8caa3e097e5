//! A neighbour of a channel: reads its coupling from a mapping of the document.

use super::description::Aggressor;
use super::element::{Surroundings, pairing};
use super::language::CROSSTALK;
use super::problem::Problem;
use lanetwin_document::fields::{Fields, scalar};
use lanetwin_document::node::{Entry, Node};
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_document::spelling::Near;
use lanetwin_phy::budget::{Coupling, End, Item};
use lanetwin_phy::element::Element;
use lanetwin_phy::network::Pairing;
use lanetwin_ports::Value;

/// The neighbour of an entry of `crosstalk`; `None` after an error in it. `items` are the elements without errors.
pub(super) fn read(
    entry: &Entry,
    items: &[Option<Item>],
    chain: &Node,
    around: &mut Surroundings<'_, '_>,
    reports: &mut Reports,
) -> Option<Aggressor> {
    let path = format!("crosstalk.{}", entry.key);
    let mut fields = Fields::open(&entry.value, &path, CROSSTALK, &[], reports)?;
    let at = place(&mut fields, items, chain, reports);
    let end = fields.one("kind", reports).map(|said| match said.value {
        Value::Choice("near") => End::Near,
        _ => End::Far,
    });
    let file = fields.written("touchstone")?;
    let name = scalar(file, "the path of a Touchstone file", &fields.at("touchstone"), reports)?.to_owned();
    let stated = match fields.written("ports") {
        None => None,
        Some(node) => Some(one_lane(node, &fields.at("ports"), reports)?),
    };
    let read = around.files.lanes(&name, file.spot, &fields.at("touchstone"), reports)?;
    if stated.is_none() && read.ports() > 2 {
        let about = "who is who in a file that lets nothing through cannot be found".to_owned();
        reports.add(Common::Missing { key: "ports".into(), about }, entry.value.spot, &fields.at("ports"));
        return None;
    }
    let network = read.admitted(stated, around.rate, reports)?.lane(0);
    let coupling = Coupling { at: at?, end: end?, network };
    Some(Aggressor { name: entry.key.clone(), file: name, coupling })
}

/// The element that the coupling replaces.
fn place(
    fields: &mut Fields<'_>,
    items: &[Option<Item>],
    chain: &Node,
    reports: &mut Reports,
) -> Option<String> {
    let at = fields.text("at", reports)?;
    let names = || chain.entries().iter().map(|entry| &*entry.key);
    if !names().any(|name| name == at.value) {
        let near = Near::of(&at.value, names());
        let problem = Problem::UnknownItem { name: at.value, known: quoted(names()), near };
        fields.fault("at", problem, reports);
        return None;
    }
    let item = items.iter().flatten().find(|item| item.name == at.value);
    let kind = match item.map(|item| &item.element) {
        Some(Element::Retimer(_)) => "retimer",
        Some(Element::Redriver(_)) => "redriver",
        _ => return Some(at.value),
    };
    fields.fault("at", Problem::NotCoupled { name: at.value, kind }, reports);
    None
}

/// The ports of a coupling, which must be those of one lane.
fn one_lane(node: &Node, path: &str, reports: &mut Reports) -> Option<Pairing> {
    let made = pairing(node, path, reports)?;
    if made.lanes().len() == 1 {
        return Some(made);
    }
    let ports: Vec<String> = made.order().iter().map(|port| (port + 1).to_string()).collect();
    reports.add(Problem::Ports { text: format!("[{}]", ports.join(", ")) }, node.spot, path);
    None
}
