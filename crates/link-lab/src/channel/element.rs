//! One element of the chain: reads a mapping of the document into the form of the physical layer.

use super::description::Aggressor;
use super::files::{Files, Lanes};
use super::language::{ELEMENT, FAMILIES, KINDS};
use super::problem::{Physical, Problem};
use lanetwin_document::fields::{Fields, scalar};
use lanetwin_document::node::{Entry, Kind, Node};
use lanetwin_document::problem::{Problem as Common, Reports, quoted};
use lanetwin_phy::DataRate;
use lanetwin_phy::budget::{Coupling, End, Item, Share};
use lanetwin_phy::element::{Capacitance, Element, Family, Length, Library, StatedLoss};
use lanetwin_phy::network::{Lane, Pair, Pairing};
use lanetwin_phy::quality::check_through;
use lanetwin_ports::Value;

/// The context in which an element is read.
pub(super) struct Surroundings<'a, 's> {
    pub library: &'a Library,
    pub rate: DataRate,
    pub files: &'a mut Files<'s>,
    /// The neighbours that elements have added so far.
    pub neighbours: Vec<Aggressor>,
}

/// The element of an entry of the chain; `None` after an error in it.
pub(super) fn read(entry: &Entry, around: &mut Surroundings<'_, '_>, reports: &mut Reports) -> Option<Item> {
    let path = format!("chain.{}", entry.key);
    let mut fields = Fields::open(&entry.value, &path, ELEMENT, &[], reports)?;
    let kinds: Vec<&'static str> = KINDS.into_iter().filter(|kind| fields.written(kind).is_some()).collect();
    let [kind] = kinds[..] else {
        let found = if kinds.is_empty() { "nothing".to_owned() } else { quoted(kinds) };
        reports.add(Problem::Kind { found, kinds: quoted(KINDS) }, entry.value.spot, &path);
        return None;
    };
    let fits = report_unfitting(&fields, kind, reports);
    let share = share(&mut fields, reports);
    let element = match kind {
        "touchstone" => data(&mut fields, &entry.key, around, reports),
        "die" => die(&fields, reports),
        "loss" => stated_loss(&fields, around.rate, reports),
        _ => of_library(&fields, kind, around.library, reports),
    };
    let item = Item { name: entry.key.clone(), element: element?, share: share? };
    fits.then_some(item)
}

/// Reports keys that belong to other kinds of elements.
fn report_unfitting(fields: &Fields<'_>, kind: &'static str, reports: &mut Reports) -> bool {
    let owners: [(&'static str, &'static [&'static str], &'static str); 4] = [
        ("length", &["board", "cable"], "boards and cables"),
        ("ports", &["touchstone"], "Touchstone files"),
        ("lane", &["touchstone"], "Touchstone files"),
        ("neighbours", &["touchstone"], "Touchstone files"),
    ];
    let mut fits = true;
    for (key, kinds, of) in owners {
        if fields.written(key).is_some() && !kinds.contains(&kind) {
            fields.fault(key, Problem::NotOfThis { key, kind, of }, reports);
            fits = false;
        }
    }
    fits
}

/// The share of the budget, if one is named. The outer `None` means an error.
fn share(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Option<Share>> {
    if fields.written("share").is_none() {
        return Some(None);
    }
    match fields.one("share", reports)?.value {
        Value::Choice(word) => Some(Share::ALL.into_iter().find(|share| share.name() == word)),
        other => unreachable!("declared as a choice, read as {other:?}"),
    }
}

fn of_library(
    fields: &Fields<'_>,
    kind: &'static str,
    library: &Library,
    reports: &mut Reports,
) -> Option<Element> {
    let (_, family) = FAMILIES.into_iter().find(|(name, _)| *name == kind)?;
    let node = fields.written(kind)?;
    let name = scalar(node, "the name of an element of the library", &fields.at(kind), reports);
    let known = name.filter(|name| match library.check(family, name) {
        Ok(()) => true,
        Err(finding) => {
            fields.fault(kind, Physical(finding), reports);
            false
        }
    });
    let length = matches!(family, Family::Materials | Family::Cables).then(|| length(fields, kind, reports));
    let name = known?.to_owned();
    Some(match (family, length) {
        (Family::Materials, Some(length)) => Element::Trace(name, length?),
        (Family::Cables, Some(length)) => Element::Cable(name, length?),
        (Family::Packages, _) => Element::Package(name),
        (Family::Vias, _) => Element::Via(name),
        (Family::Connectors, _) => Element::Connector(name),
        (Family::Retimers, _) => Element::Retimer(name),
        (Family::Redrivers, _) => Element::Redriver(name),
        (Family::Kits, _) => Element::Kit(name),
        (Family::Materials | Family::Cables, None) => unreachable!("their lengths were read"),
    })
}

fn length(fields: &Fields<'_>, kind: &'static str, reports: &mut Reports) -> Option<Length> {
    let Some(node) = fields.written("length") else {
        reports.add(Problem::NoLength { kind }, fields.node.spot, &fields.at("length"));
        return None;
    };
    let text = scalar(node, "a length", &fields.at("length"), reports)?;
    let units = [("mm", 1e-3), ("cm", 1e-2), ("in", 0.0254), ("m", 1.0)];
    let hint = "a length with its unit: `10in`, `250mm`, `0.4m`";
    let metres = number(text, &units);
    let made = metres.and_then(|metres| Length::metres(metres).ok());
    if made.is_none() {
        fields.fault("length", Common::Quantity { text: text.into(), hint: hint.into() }, reports);
    }
    made
}

fn die(fields: &Fields<'_>, reports: &mut Reports) -> Option<Element> {
    let text = scalar(fields.written("die")?, "a capacitance", &fields.at("die"), reports)?;
    let femtofarads = number(text, &[("fF", 1.0), ("pF", 1e3)]);
    let made = femtofarads.and_then(|value| Capacitance::femtofarads(value).ok());
    if made.is_none() {
        let hint = "a capacitance between P and N with its unit: `55fF`".into();
        fields.fault("die", Common::Quantity { text: text.into(), hint }, reports);
    }
    made.map(Element::Die)
}

fn stated_loss(fields: &Fields<'_>, rate: DataRate, reports: &mut Reports) -> Option<Element> {
    let text = scalar(fields.written("loss")?, "a loss", &fields.at("loss"), reports)?;
    let decibels = number(text, &[("dB", 1.0)]);
    let made = decibels.and_then(|value| StatedLoss::new(value, rate.nyquist_hz()).ok());
    if made.is_none() {
        let hint = "a loss at the Nyquist frequency with its unit: `30dB`".into();
        fields.fault("loss", Common::Quantity { text: text.into(), hint }, reports);
    }
    made.map(Element::Stated)
}

/// A number with one of these units, scaled by the factor of the unit.
fn number(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (_, worth) = units.iter().find(|(unit, _)| *unit == &text[digits.len()..])?;
    let plain = digits.trim().bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let value: f64 = digits.trim().parse().ok().filter(|_| plain)?;
    Some(value * worth)
}

fn data(
    fields: &mut Fields<'_>,
    element: &str,
    around: &mut Surroundings<'_, '_>,
    reports: &mut Reports,
) -> Option<Element> {
    let node = fields.written("touchstone")?;
    let path = fields.at("touchstone");
    let name = scalar(node, "the path of a Touchstone file", &path, reports)?.to_owned();
    let pairing = match fields.written("ports") {
        None => None,
        Some(node) => Some(pairing(node, &fields.at("ports"), reports)?),
    };
    let lane = match fields.written("lane") {
        None => 1,
        Some(_) => match fields.one("lane", reports)?.value {
            Value::Count(lane) => lane,
            other => unreachable!("declared as a count, read as {other:?}"),
        },
    };
    let read = around.files.lanes(&name, node.spot, &path, reports)?;
    let lanes = read.admitted(pairing, around.rate, reports)?;
    let at = usize::try_from(lane).unwrap_or(usize::MAX) - 1;
    if at >= lanes.count() {
        fields.fault("lane", Problem::NoLane { lane, has: lanes.count() }, reports);
        return None;
    }
    let ends: &[End] = match fields.written("neighbours") {
        None => &[],
        Some(_) => match fields.one("neighbours", reports)?.value {
            Value::Choice("far") => &[End::Far],
            Value::Choice("both") => &[End::Far, End::Near],
            _ => &[],
        },
    };
    if !ends.is_empty() && lanes.count() == 1 {
        fields.fault("neighbours", Problem::NoNeighbours, reports);
        return None;
    }
    if let Some(finding) = check_through(&lanes.lane(at), at + 1, around.rate) {
        reports.add(Physical(finding), node.spot, &path);
        return None;
    }
    around.neighbours.extend(neighbours(&lanes, (element, &name), at, ends));
    Some(Element::Network(lanes.lane(at)))
}

/// The other lanes of a file as neighbours of lane `to`.
fn neighbours(lanes: &Lanes, (element, file): (&str, &str), to: usize, ends: &[End]) -> Vec<Aggressor> {
    let others = |end: End| {
        (0..lanes.count()).filter(move |&from| from != to).map(move |from| {
            let network = match end {
                End::Far => lanes.far_end(from, to),
                End::Near => lanes.near_end(from, to),
            };
            Aggressor {
                name: format!("{element}, lane {}", from + 1),
                file: file.to_owned(),
                coupling: Coupling { at: element.to_owned(), end, network },
            }
        })
    };
    ends.iter().flat_map(|&end| others(end)).collect()
}

/// `[1, 3, 2, 4]`, four ports per lane.
pub(super) fn pairing(node: &Node, path: &str, reports: &mut Reports) -> Option<Pairing> {
    let Kind::List(items) = &node.kind else {
        let problem = Common::WrongKind { found: node.what(), wanted: "a list of ports" };
        reports.add(problem, node.spot, path);
        return None;
    };
    let ports: Option<Vec<usize>> =
        items.iter().map(|item| item.text()?.parse::<usize>().ok()?.checked_sub(1)).collect();
    let said: Vec<&str> = items.iter().map(|item| item.text().unwrap_or("?")).collect();
    let fours = ports.filter(|ports| !ports.is_empty() && ports.len().is_multiple_of(4));
    let Some(ports) = fours else {
        reports.add(Problem::Ports { text: format!("[{}]", said.join(", ")) }, node.spot, path);
        return None;
    };
    let lane =
        |four: &[usize]| Lane { near: Pair { p: four[0], n: four[1] }, far: Pair { p: four[2], n: four[3] } };
    match Pairing::new(ports.chunks_exact(4).map(lane).collect()) {
        Ok(pairing) => Some(pairing),
        Err(finding) => {
            reports.add(Physical(finding), node.spot, path);
            None
        }
    }
}
