//! Reads a description: the chain of every variant, and all errors in them.
//!
//! The chain is written as a list, because its order matters, and so are neighbours. Internally both are mappings from
//! names, so that variants and `--set` can address them with paths as in a scenario: `chain.board.length`,
//! `crosstalk.next.kind`.

use super::crosstalk;
use super::description::{Aggressor, Channel, Equalisation, Variant};
use super::element::{self, Surroundings};
use super::files::Files;
use super::language::{AFTER, DOCUMENT, KINDS};
use super::overrides::{own_constants, own_library};
use super::problem::{Physical, Problem};
use lanetwin_document::add_source;
use lanetwin_document::fields::{Fields, is_map, is_name, join, scalar};
use lanetwin_document::node::{Entry, Kind, Node, Origin, Spot};
use lanetwin_document::overlay;
use lanetwin_document::problem::{Diagnostic, Problem as Common, Reports, quoted};
use lanetwin_document::spelling::Near;
use lanetwin_document::yaml;
use lanetwin_phy::DataRate;
use lanetwin_phy::budget::{Chain, Item};
use lanetwin_phy::element::{Corner, Element, Library};
use lanetwin_phy::eye::Constants;
use lanetwin_ports::Value;
use lanetwin_textfile::Reach;
use std::path::Path;

/// Maximum number of retimers in a link.
const MOST_RETIMERS: usize = 2;
/// The key that inserts elements.
const INSERT: &str = "insert";
/// Sections that are lists of mappings and are addressed by name, with descriptions for messages.
const NAMED: [(&str, &str); 2] = [("chain", "a list of elements"), ("crosstalk", "a list of neighbours")];
/// Keys that a variant can replace as a whole.
const VARIED: [&str; 4] = ["gen", "corner", "equalisation", "crosstalk"];

/// Checks a document.
pub(super) fn check(
    path: &Path,
    text: &str,
    sets: &[String],
    reach: &Reach,
) -> Result<Channel, Vec<Diagnostic>> {
    let (mut reports, mut sources) = (Reports::default(), Vec::new());
    let file = add_source(&mut sources, path.display().to_string());
    let channel = channel((path, reach), text, sets, file, &mut sources, &mut reports);
    let refused = reports.has_errors();
    let found = reports.into_diagnostics(&sources);
    match channel {
        Some(channel) if !refused => Ok(Channel { warnings: found, ..channel }),
        _ => Err(found),
    }
}

fn channel(
    (path, reach): (&Path, &Reach),
    text: &str,
    sets: &[String],
    file: Spot,
    sources: &mut Vec<String>,
    reports: &mut Reports,
) -> Option<Channel> {
    let mut tree = yaml::read(text, file.file, Origin::Scenario, reports)?;
    name_lists(&mut tree, reports);
    set_all(&mut tree, sets, sources, reports);
    // `--set chain=…` has replaced it
    name_replaced(&mut tree, reports);
    let mut document = Fields::open(&tree, "", DOCUMENT, &[], reports)?;
    let about = document.text("about", reports).map(|said| said.value);
    let calibrated = match document.one("stress", reports).map(|said| said.value) {
        Some(Value::Choice(word)) => Some(word == "calibrated"),
        _ => None,
    };
    let mut library = Library::standard().clone();
    let mut has_library = true;
    if let Some(said) = document.text("library", reports) {
        let own = path.parent().map_or_else(|| said.value.clone().into(), |folder| folder.join(&said.value));
        match own_library(&own, (said.spot, reach), sources, reports) {
            Some(own) => library.extend(own),
            None => has_library = false,
        }
    }
    let constants = match document.text("constants", reports) {
        Some(said) => own_constants((path, reach), &said.value, said.spot, reports),
        None => Some(Constants::built_in()),
    };
    // without the library its contents are unknown, which is one error only
    let known = has_library.then_some(&library);
    let variants = variants(&tree, known, &mut Files::beside(path, reach, sources), reports)?;
    let name = path.file_stem().map_or_else(|| "link".into(), |stem| stem.to_string_lossy().into());
    let path = path.display().to_string();
    Some(Channel {
        name,
        about: about?,
        path,
        library,
        constants: constants?,
        calibrated: calibrated?,
        variants,
        warnings: Vec::new(),
    })
}

/// Applies the changes of the command line.
fn set_all(tree: &mut Node, sets: &[String], sources: &mut Vec<String>, reports: &mut Reports) {
    for text in sets {
        let spot = add_source(sources, format!("--set {text}"));
        let path = text.split('=').next().unwrap_or_default().trim();
        let spot = Spot { line: 1, column: 1, ..spot };
        if is_known(tree, path, spot, reports) {
            overlay::set(tree, text, spot.file, reports);
        }
    }
}

/// All variants, checked against the library if it could be read; `None` after an error in one of them.
fn variants(
    tree: &Node,
    library: Option<&Library>,
    files: &mut Files<'_>,
    reports: &mut Reports,
) -> Option<Vec<Variant>> {
    let trees = overlay::variants(tree, vary, reports);
    let all = trees.len();
    let (mut variants, mut found): (Vec<Variant>, _) = (Vec::new(), Vec::new());
    for (name, spot, tree) in trees {
        let mut reports = Reports::default();
        if let Some(library) = library {
            variants.extend(variant(&name, spot, &tree, library, files, &mut reports));
        }
        found.push((name, reports));
    }
    reports.absorb_variants(found, &[]);
    // variants with errors may still differ
    if !reports.has_errors() {
        report_same(&variants, reports);
    }
    (variants.len() == all).then_some(variants)
}

/// Turns lists of mappings into mappings from their names, in the same order.
fn name_lists(tree: &mut Node, reports: &mut Reports) {
    for (section, wanted) in NAMED {
        name_list(tree, section, wanted, reports);
    }
}

/// The same for lists that replaced mappings.
fn name_replaced(tree: &mut Node, reports: &mut Reports) {
    let is_named = |node: &Node| matches!(node.kind, Kind::Map(_) | Kind::Null);
    for (section, wanted) in NAMED {
        if tree.get(section).is_some_and(|node| !is_named(node)) {
            name_list(tree, section, wanted, reports);
        }
    }
}

fn name_list(tree: &mut Node, section: &str, wanted: &'static str, reports: &mut Reports) {
    let Some(entry) =
        tree.entries_mut().and_then(|entries| entries.iter_mut().find(|entry| entry.key == section))
    else {
        return;
    };
    let Kind::List(items) = &entry.value.kind else {
        if entry.value.kind != Kind::Null {
            let problem = Common::WrongKind { found: entry.value.what(), wanted };
            reports.add(problem, entry.value.spot, section);
        }
        return;
    };
    let mut named: Vec<Entry> = Vec::new();
    for item in items {
        if !is_map(item, section, reports) {
            continue;
        }
        let name = name_of(section, item, items, &named, reports);
        if let Some(first) = named.iter().find(|entry| entry.key == name) {
            let line = first.value.spot.line;
            let problem = Problem::TwiceNamed { name: name.clone(), line };
            reports.add(problem, item.spot, &join(section, &name));
        } else {
            named.push(Entry { key: name, spot: item.spot, value: item.clone() });
        }
    }
    entry.value.kind = Kind::Map(named);
}

/// The name of an element: its own, or its kind, with a number if several have no name.
fn name_of(section: &str, item: &Node, items: &[Node], before: &[Entry], reports: &mut Reports) -> String {
    if let Some(node) = item.get("name").filter(|node| node.kind != Kind::Null) {
        let Some(name) = scalar(node, "a name", section, reports) else { return String::new() };
        if !is_name(name) {
            reports.add(Common::BadName { name: name.into() }, node.spot, &join(section, name));
        }
        return name.to_owned();
    }
    let nameless = |node: &Node| node.get("name").is_none_or(|name| name.kind == Kind::Null);
    let word = |item: &Node| if section == "chain" { kind_of(item) } else { "aggressor" };
    let kind = word(item);
    let alike: Vec<&Node> = items.iter().filter(|other| nameless(other) && word(other) == kind).collect();
    if alike.len() > 1 {
        let number = alike.iter().position(|other| std::ptr::eq(*other, item)).map_or(1, |at| at + 1);
        return format!("{kind}-{number}");
    }
    free_name(kind, before)
}

fn kind_of(item: &Node) -> &'static str {
    KINDS.into_iter().find(|kind| item.get(kind).is_some()).unwrap_or("element")
}

/// The name, or the first free one with a number.
fn free_name(name: &str, taken: &[Entry]) -> String {
    let is_free = |name: &str| taken.iter().all(|entry| entry.key != name);
    let numbered = (2..).map(|number| format!("{name}-{number}"));
    [name.to_owned()].into_iter().chain(numbered).find(|name| is_free(name)).expect("numbers do not end")
}

/// Whether a path to an element or a neighbour leads to an existing one. An overlay would append a missing one at the
/// end of the chain, where it is never meant to be.
fn is_known(tree: &Node, path: &str, spot: Spot, reports: &mut Reports) -> bool {
    let mut steps = path.split('.');
    let (Some(section @ ("chain" | "crosstalk")), Some(name)) = (steps.next(), steps.next()) else {
        return true;
    };
    let named = tree.get(section);
    if named.is_none_or(|named| named.get(name).is_some()) && (named.is_some() || section == "chain") {
        return true;
    }
    let near = Near::of(name, named.into_iter().flat_map(Node::entries).map(|entry| &*entry.key));
    reports.add(Common::UnknownPath { path: path.into(), at: name.into(), near }, spot, path);
    false
}

/// Applies a variant: first its paths, then the elements that it inserts.
fn vary(tree: &mut Node, name: &str, changes: &Node, reports: &mut Reports) {
    let place = join("variants", name);
    let mut paths = changes.clone();
    if let Some(entries) = paths.entries_mut() {
        entries.retain(|entry| {
            let section = entry.key.split('.').next().unwrap_or_default();
            match section {
                "chain" | "crosstalk" if entry.key.contains('.') => {
                    is_known(tree, &entry.key, entry.spot, reports)
                }
                _ if VARIED.contains(&section) && entry.key == section => true,
                INSERT if entry.key == section => false,
                _ => {
                    let problem = Problem::NotVaried { path: entry.key.clone() };
                    reports.add(problem, entry.spot, &join(&place, &entry.key));
                    false
                }
            }
        });
    }
    overlay::lay(tree, &paths, reports);
    name_replaced(tree, reports);
    if let Some(put) = changes.get(INSERT).filter(|node| node.kind != Kind::Null) {
        let items = if let Kind::List(items) = &put.kind { &items[..] } else { std::slice::from_ref(put) };
        for item in items {
            insert(tree, item, &join(&place, INSERT), reports);
        }
    }
}

/// Inserts an element after another.
fn insert(tree: &mut Node, item: &Node, path: &str, reports: &mut Reports) {
    if !is_map(item, path, reports) {
        return;
    }
    let Some(after) = item.get(AFTER).filter(|node| node.kind != Kind::Null) else {
        let about = "the element that it stands behind".to_owned();
        return reports.add(Common::Missing { key: AFTER.into(), about }, item.spot, &join(path, AFTER));
    };
    let Some(name) = scalar(after, "the name of an element", &join(path, AFTER), reports) else { return };
    let Some(chain) =
        tree.entries_mut().and_then(|entries| entries.iter_mut().find(|entry| entry.key == "chain"))
    else {
        return;
    };
    let Some(entries) = chain.value.entries_mut() else { return };
    let names = || entries.iter().map(|entry| &*entry.key);
    let Some(at) = names().position(|known| known == name) else {
        let near = Near::of(name, names());
        let problem = Problem::UnknownItem { name: name.into(), known: quoted(names()), near };
        return reports.add(problem, after.spot, &join(path, AFTER));
    };
    let mut put = item.clone().all_by(Origin::Variant);
    if let Some(keys) = put.entries_mut() {
        keys.retain(|entry| entry.key != AFTER);
    }
    let own = item.get("name").and_then(Node::text);
    let key = own.map_or_else(|| free_name(kind_of(item), entries), str::to_owned);
    if let Some(first) = entries.iter().find(|entry| entry.key == key) {
        let problem = Problem::TwiceNamed { name: key, line: first.value.spot.line };
        return reports.add(problem, item.spot, path);
    }
    entries.insert(at + 1, Entry { key, spot: item.spot, value: put });
}

/// One variant; `None` after an error in it.
fn variant(
    name: &str,
    spot: Spot,
    tree: &Node,
    library: &Library,
    files: &mut Files<'_>,
    reports: &mut Reports,
) -> Option<Variant> {
    let rate = tree.get("gen").filter(|node| node.kind != Kind::Null).and_then(|node| rate(node, reports));
    // unknown keys were reported with the document
    let mut document = Fields::open(tree, "", DOCUMENT, &[], &mut Reports::default())?;
    let corner = match document.one("corner", reports).map(|said| said.value) {
        Some(Value::Choice("low")) => Some(Corner::Low),
        Some(Value::Choice("nominal")) => Some(Corner::Nominal),
        Some(Value::Choice("high")) => Some(Corner::High),
        _ => None,
    };
    let equalisation = match document.one("equalisation", reports).map(|said| said.value) {
        Some(Value::Choice("presets")) => Some(Equalisation::Presets),
        Some(Value::Choice("coefficients")) => Some(Equalisation::Coefficients),
        _ => None,
    };
    let chain = tree.get("chain").filter(|node| matches!(node.kind, Kind::Map(_)))?;
    if chain.entries().is_empty() {
        reports.add(Common::Empty { what: "there is no element in `chain`" }, chain.spot, "chain");
    }
    // if the rate is unknown, properties that depend on it are not checked
    let neighbours = Vec::new();
    let mut around = Surroundings { library, rate: rate.unwrap_or(DataRate::Gen1), files, neighbours };
    let items: Vec<Option<Item>> =
        chain.entries().iter().map(|entry| element::read(entry, &mut around, reports)).collect();
    let coupled = tree.get("crosstalk").into_iter().flat_map(Node::entries);
    let coupled = coupled.filter(|entry| entry.value.kind != Kind::Null);
    let coupled: Vec<Option<Aggressor>> =
        coupled.map(|entry| crosstalk::read(entry, &items, chain, &mut around, reports)).collect();
    let mut aggressors = around.neighbours;
    aggressors.extend(coupled.into_iter().collect::<Option<Vec<_>>>()?);
    let (rate, corner, equalisation) = (rate?, corner?, equalisation?);
    let items: Vec<Item> = items.into_iter().collect::<Option<_>>()?;
    report_order(chain, &items, reports);
    if reports.has_errors() {
        return None;
    }
    match Chain::new(items) {
        Ok(chain) => {
            Some(Variant { name: name.to_owned(), spot, rate, corner, equalisation, chain, aggressors })
        }
        Err(finding) => {
            reports.add(Physical(finding), chain.spot, "chain");
            None
        }
    }
}

/// `5`, `gen5` or `32GT/s`.
fn rate(node: &Node, reports: &mut Reports) -> Option<DataRate> {
    let text = scalar(node, "a generation or a rate", "gen", reports)?;
    let found = rate_of(text);
    if found.is_none() {
        reports.add(Problem::Rate { text: text.into() }, node.spot, "gen");
    }
    found
}

/// The rate in a text.
pub(super) fn rate_of(text: &str) -> Option<DataRate> {
    const WORDS: [(&str, &str); 7] = [
        ("1", "2.5GT/s"),
        ("2", "5GT/s"),
        ("3", "8GT/s"),
        ("4", "16GT/s"),
        ("5", "32GT/s"),
        ("6", "64GT/s"),
        ("7", "128GT/s"),
    ];
    let number = text.strip_prefix("gen").or_else(|| text.strip_prefix("Gen")).unwrap_or(text);
    let at = WORDS.iter().position(|(generation, rate)| *generation == number || *rate == text)?;
    Some(DataRate::ALL[at])
}

/// Reports retimers in impossible places, too many of them, and ends without a die.
fn report_order(chain: &Node, items: &[Item], reports: &mut Reports) {
    let is_retimer = |at: usize| items.get(at).is_none_or(|item| matches!(item.element, Element::Retimer(_)));
    let place = |at: usize| (chain.entries()[at].spot, join("chain", &items[at].name));
    let retimers: Vec<usize> = (0..items.len()).filter(|&at| is_retimer(at)).collect();
    for &at in &retimers {
        if at == 0 || is_retimer(at - 1) || is_retimer(at + 1) {
            let (spot, path) = place(at);
            reports.add(Problem::LonelyRetimer { name: items[at].name.clone() }, spot, &path);
        }
    }
    if retimers.len() > MOST_RETIMERS {
        reports.add(Problem::ManyRetimers { found: retimers.len() }, chain.spot, "chain");
    }
    let is_redriver = |at: &usize| matches!(items[*at].element, Element::Redriver(_));
    for at in (0..items.len()).filter(is_redriver) {
        let before = (0..at).rev().take_while(|&other| !is_retimer(other));
        if before.clone().any(|other| is_redriver(&other)) {
            let (spot, path) = place(at);
            reports.add(Problem::TwoRedrivers { name: items[at].name.clone() }, spot, &path);
        }
    }
    let ends = [items.first().map(|_| 0), items.len().checked_sub(1)];
    for at in ends.into_iter().flatten() {
        // a file may contain the package, which cannot be known; a retimer at an end was reported
        let closed = matches!(
            items[at].element,
            Element::Package(_) | Element::Die(_) | Element::Network(_) | Element::Retimer(_)
        );
        if !closed {
            let (spot, path) = place(at);
            reports.add(Problem::OpenEnd { name: items[at].name.clone() }, spot, &path);
        }
    }
}

/// Reports variants with equal channels.
fn report_same(variants: &[Variant], reports: &mut Reports) {
    for (index, variant) in variants.iter().enumerate() {
        let same = |other: &&Variant| {
            other.rate == variant.rate
                && other.corner == variant.corner
                && other.equalisation == variant.equalisation
                && other.chain == variant.chain
                && other.aggressors == variant.aggressors
        };
        if let Some(other) = variants[..index].iter().find(same) {
            let problem = Common::SameVariant { name: variant.name.clone(), other: other.name.clone() };
            reports.add(problem, variant.spot, &join("variants", &variant.name));
        }
    }
}
