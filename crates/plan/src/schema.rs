//! The JSON Schemas of scenarios and channels, generated from the declarations that also check them.

use crate::catalogue::{Assembly, Catalogue};
use crate::language::{AXIS, COMPONENT, DOCUMENT};
use lanetwin_document::declaration::{Field, Holds};
use lanetwin_document::node::{Entry, Node};
use lanetwin_link_lab::channel;
use lanetwin_models::MODELS;
use lanetwin_phy::element::Library;
use lanetwin_ports::{Dimension, Model, Param};
use lanetwin_units::Width;
use std::collections::BTreeMap;

/// A name that can be part of a path. The check of a scenario accepts more letters beyond ASCII.
const NAME: &str = "^[A-Za-z\u{AA}-\u{FFDC}][A-Za-z0-9_\u{AA}-\u{FFDC}-]*([0-9]\\.\\.[0-9]+)?$";
/// The units of a time.
const TIMES: &str = "ps|ns|us|µs|μs|ms|s";
const NUMBER: &str = r"[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?";

/// The schema of a scenario (draft 2020-12), as text that ends with a line break.
#[must_use]
pub fn schema() -> String {
    written("scenario.schema.json", "A lanetwin scenario", DOCUMENT)
}

/// The schema of the description of a channel, likewise.
#[must_use]
pub fn link_schema() -> String {
    written("link.schema.json", "A channel for lanetwin link", channel::DOCUMENT)
}

fn written(id: &str, title: &str, document: &[Field]) -> String {
    let head = [
        ("$schema", text("https://json-schema.org/draft/2020-12/schema")),
        ("$id", text(id)),
        ("title", text(title)),
    ];
    let mut entries: Vec<(String, Node)> = head.into_iter().map(|(key, node)| (key.into(), node)).collect();
    entries.extend(mapping(document, Vec::new()));
    let text =
        serde_json::to_string_pretty(&Literal(&Node::map(entries))).expect("a tree of text has a JSON form");
    text + "\n"
}

/// Leaves of the schema itself, in their own types: `true`, numbers, and text that may look like either.
struct Literal<'a>(&'a Node);

impl serde::Serialize for Literal<'_> {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        use lanetwin_document::node::Kind;
        use serde::ser::{SerializeMap, SerializeSeq};
        match &self.0.kind {
            Kind::Null => serializer.serialize_unit(),
            Kind::Scalar(word) => match word.strip_prefix('=') {
                Some(json) => serde_json::from_str::<serde_json::Value>(json)
                    .expect("our own JSON")
                    .serialize(serializer),
                None => serializer.serialize_str(word),
            },
            Kind::List(items) => {
                let mut list = serializer.serialize_seq(Some(items.len()))?;
                for item in items {
                    list.serialize_element(&Literal(item))?;
                }
                list.end()
            }
            Kind::Map(entries) => {
                let mut map = serializer.serialize_map(Some(entries.len()))?;
                for entry in entries {
                    map.serialize_entry(&entry.key, &Literal(&entry.value))?;
                }
                map.end()
            }
        }
    }
}

fn text(text: impl Into<String>) -> Node {
    Node::scalar(text)
}
/// A leaf that is not text: `true`, `3`.
fn json(value: impl std::fmt::Display) -> Node {
    Node::scalar(format!("={value}"))
}
fn words<'a>(words: impl IntoIterator<Item = &'a str>) -> Node {
    Node::list(words.into_iter().map(text))
}

type Entries = Vec<(String, Node)>;

fn entries<const N: usize>(entries: [(&str, Node); N]) -> Entries {
    entries.into_iter().map(|(key, node)| (key.to_owned(), node)).collect()
}

/// A mapping with these keys only.
fn mapping(fields: &[Field], more: Entries) -> Entries {
    let properties = fields.iter().map(|field| (field.name.to_owned(), property(field)));
    let required = fields.iter().filter(|field| field.required).map(|field| field.name);
    let mut all = entries([
        ("type", text("object")),
        ("properties", Node::map(properties.chain(more))),
        ("additionalProperties", json(false)),
    ]);
    let required: Vec<&str> = required.collect();
    if !required.is_empty() {
        all.push(("required".into(), words(required)));
    }
    all
}

fn property(field: &Field) -> Node {
    let mut all = entries([("description", text(field.about))]);
    if let Some(default) = field.default.filter(|default| !default.is_empty()) {
        all.push(("default".into(), text(default)));
    }
    all.extend(holds(field));
    Node::map(all)
}

fn holds(field: &Field) -> Entries {
    match field.holds {
        Holds::One(dimension) => quantity(dimension),
        Holds::Many(dimension) => {
            let list = entries([("type", text("array")), ("items", Node::map(quantity(dimension)))]);
            any_of([quantity(dimension), list])
        }
        Holds::Width => entries([("enum", Node::list(Width::ALL.map(|width| text(width.to_string()))))]),
        Holds::Generation => {
            let number = entries([("type", text("integer")), ("minimum", json(1)), ("maximum", json(6))]);
            let word = pattern(r"^([Gg]en)?[1-6]$|^(2\.5|5|8|16|32|64)GT/s$".into());
            any_of([number, word])
        }
        Holds::Stages => {
            // a time, or a name
            let time = pattern(format!("^ *{NUMBER} *({TIMES}) *$|^ *0+(\\.0+)? *$"));
            let stage = || any_of([time.clone(), entries([("const", json(0))]), pattern(NAME.into())]);
            let list = entries([("type", text("array")), ("items", Node::map(stage()))]);
            any_of([stage(), list])
        }
        Holds::Text => word(),
        Holds::Number => entries([("type", text("number")), ("minimum", json(0))]),
        Holds::Names => {
            let list = entries([("type", text("array")), ("items", Node::map(word()))]);
            any_of([word(), list])
        }
        Holds::Section(fields) => mapping(fields, Vec::new()),
        Holds::List(fields) => {
            let item =
                if std::ptr::eq(fields, channel::ELEMENT) { element() } else { mapping(fields, Vec::new()) };
            entries([("type", text("array")), ("items", Node::map(item))])
        }
        Holds::Named(fields) => {
            named(if std::ptr::eq(fields, COMPONENT) { component() } else { mapping(fields, Vec::new()) })
        }
        Holds::Placements(fields) => {
            let one = || any_of([word(), mapping(fields, Vec::new())]);
            let list = entries([("type", text("array")), ("items", Node::map(one()))]);
            any_of([one(), list])
        }
        Holds::Placed(fields) | Holds::SectionOfFile(fields) => any_of([word(), mapping(fields, Vec::new())]),
        Holds::PlacedParts(fields) => named(any_of([word(), mapping(fields, Vec::new())])),
        Holds::Weights(dimension) => {
            entries([("type", text("object")), ("additionalProperties", Node::map(quantity(dimension)))])
        }
        Holds::Texts => entries([("type", text("object")), ("additionalProperties", Node::map(word()))]),
        Holds::Variants => named(entries([("type", words(["object", "null"]))])),
        Holds::Swept(words) => swept(words),
        Holds::Ignored => Vec::new(),
    }
}

/// The values of a sweep or a search: its own keys, and paths, each with a list of values or a range.
fn swept(words: &[Field]) -> Entries {
    let paths = || any_of([entries([("type", text("array"))]), axis()]);
    let group = || entries([("type", text("object")), ("additionalProperties", Node::map(paths()))]);
    let groups = entries([("type", text("array")), ("items", Node::map(group()))]);
    let words = words.iter().map(|field| {
        let zip = [("description", text(field.about))].map(|(key, node)| (key.to_owned(), node));
        let zip = || Node::map(zip.clone().into_iter().chain(any_of([group(), groups.clone()])));
        (field.name.to_owned(), if field.name == "zip" { zip() } else { property(field) })
    });
    let words = Node::map(words);
    entries([("type", text("object")), ("properties", words), ("additionalProperties", Node::map(paths()))])
}

/// A range, or values with their costs.
fn axis() -> Entries {
    let mut all = mapping(AXIS, Vec::new());
    let of = |field: &Field, one: Entries| {
        let list = entries([("type", text("array")), ("items", Node::map(one.clone()))]);
        let mut all = entries([("description", text(field.about))]);
        all.extend(any_of([one, list]));
        Node::map(all)
    };
    if let Some((_, properties)) = all.iter_mut().find(|(key, _)| key == "properties") {
        for entry in properties.entries_mut().into_iter().flatten() {
            let Some(field) = AXIS.iter().find(|field| field.name == entry.key) else { continue };
            match field.name {
                "values" => entry.value = of(field, Vec::new()),
                "cost" => entry.value = of(field, entries([("type", text("number"))])),
                _ => {}
            }
        }
    }
    all
}

/// A word may look like a number.
fn word() -> Entries {
    entries([("type", words(["string", "integer"]))])
}

fn named(of: Entries) -> Entries {
    entries([
        ("type", text("object")),
        ("propertyNames", Node::map(pattern(NAME.into()))),
        ("additionalProperties", Node::map(of)),
    ])
}

fn any_of<const N: usize>(choices: [Entries; N]) -> Entries {
    entries([("anyOf", Node::list(choices.map(Node::map)))])
}

fn pattern(pattern: String) -> Entries {
    entries([("type", text("string")), ("pattern", text(pattern))])
}

/// The pattern of a quantity; its range is only checked by reading a scenario.
fn quantity(dimension: Dimension) -> Entries {
    let with_unit = |units: &str| {
        let text = pattern(format!("^ *{NUMBER} *({units}) *$|^ *0+(\\.0+)? *$"));
        any_of([text, entries([("const", json(0))])])
    };
    match dimension {
        Dimension::Time => with_unit(TIMES),
        Dimension::Size => with_unit("B|[kMGT]B|[KMGT]iB|[kKmMgGT]"),
        Dimension::Rate => with_unit("([kMGT]|[KMGT]i)?B/s|[kMGT]?b/s"),
        Dimension::Count { least, most } => {
            let number =
                entries([("type", text("integer")), ("minimum", json(least)), ("maximum", json(most))]);
            any_of([number, pattern("^x?[0-9]+$".into())])
        }
        Dimension::Ratio => {
            let number = entries([("type", text("number")), ("minimum", json(0)), ("maximum", json(1))]);
            any_of([number, pattern(format!("^ *{NUMBER} *%? *$"))])
        }
        Dimension::Flag => entries([("type", text("boolean"))]),
        Dimension::Choice(choice) => {
            // other readers take `64` for a number, and (by YAML 1.1) `on` for a truth value
            let also = choice.iter().filter_map(|word| match *word {
                "on" => Some(json(true)),
                "off" => Some(json(false)),
                word => word.parse::<u64>().ok().map(json),
            });
            entries([("enum", Node::list(choice.iter().map(|word| text(*word)).chain(also)))])
        }
        Dimension::ChoiceOrRatio(choice) => {
            any_of([quantity(Dimension::Choice(choice)), quantity(Dimension::Ratio)])
        }
    }
}

/// A component: its part or model, and the parameters that its model has.
fn component() -> Entries {
    let catalogue = Catalogue::built_in();
    let parts = |model: &Model| {
        let names = catalogue.parts().filter(|part| std::ptr::eq(part.model, model));
        names.map(|part| text(&part.name)).collect::<Vec<_>>()
    };
    let mut all = mapping(COMPONENT, parameters());
    // keys for the contents of an assembly: a component or a link inside, a point, and one of its keys
    all.push(("patternProperties".into(), Node::map([(inside(&catalogue), Node::map::<&str>([]))])));
    // built-in names are offered; names of the user's own are valid, too
    let assemblies = catalogue.assemblies().map(|assembly| &*assembly.name);
    let known = catalogue.parts().map(|part| &*part.name).chain(assemblies);
    let part = entries([
        ("description", text(COMPONENT[0].about)),
        ("type", text("string")),
        ("examples", words(known)),
    ]);
    let models = entries([
        ("description", text(COMPONENT[1].about)),
        ("enum", words(MODELS.iter().map(|model| model.name))),
    ]);
    if let Some((_, properties)) = all.iter_mut().find(|(key, _)| key == "properties") {
        for (key, schema) in [("part", part), ("model", models)] {
            if let Some(entry) =
                properties.entries_mut().and_then(|list| list.iter_mut().find(|entry| entry.key == key))
            {
                entry.value = Node::map(schema);
            }
        }
    }
    let one_of = ["part", "model"].map(|key| entries([("required", words([key]))]));
    all.push(("oneOf".into(), Node::list(one_of.map(Node::map))));
    let rules = MODELS.iter().flat_map(|model| {
        let names = || ["part", "model"].into_iter().chain(model.all_params().map(|param| param.name));
        let rule = |key: &str, of: Node| {
            let test = entries([
                ("properties", Node::map([(key, Node::map([("enum", of)]))])),
                ("required", words([key])),
            ]);
            let then = entries([("propertyNames", Node::map([("enum", words(names()))]))]);
            Node::map([("if", Node::map(test)), ("then", Node::map(then))])
        };
        let parts = parts(model);
        let of_parts = (!parts.is_empty()).then(|| rule("part", Node::list(parts)));
        of_parts.into_iter().chain([rule("model", words([model.name]))])
    });
    let rules = rules.chain(catalogue.assemblies().map(of_assembly));
    all.push(("allOf".into(), Node::list(rules)));
    all
}

/// What begins with the name of something inside of an assembly that comes with the program.
fn inside(catalogue: &Catalogue) -> String {
    let components =
        catalogue.assemblies().flat_map(|assembly| &assembly.components).map(|(name, _)| &**name);
    let links = catalogue.assemblies().flat_map(|assembly| &assembly.links).map(|entry| &*entry.key);
    let names: std::collections::BTreeSet<&str> = components.chain(links).collect();
    format!("^({})\\.[a-zA-Z]", names.into_iter().collect::<Vec<_>>().join("|"))
}

/// The keys of an assembly: those that it exposes, and those of its contents.
fn of_assembly(assembly: &Assembly) -> Node {
    let test = entries([
        ("properties", Node::map([("part", Node::map([("const", text(&assembly.name))]))])),
        ("required", words(["part"])),
    ]);
    let exposed = ["part", "model"].into_iter().chain(assembly.parameters.keys().map(|name| &**name));
    let names = any_of([entries([("enum", words(exposed))]), pattern(inside_of(assembly))]);
    let then = entries([("propertyNames", Node::map(names))]);
    Node::map([("if", Node::map(test)), ("then", Node::map(then))])
}

fn inside_of(assembly: &Assembly) -> String {
    let components = assembly.components.iter().map(|(name, _)| &**name);
    let names: Vec<&str> = components.chain(assembly.links.iter().map(|entry| &*entry.key)).collect();
    format!("^({})\\.[a-zA-Z]", names.join("|"))
}

/// An element of a channel: exactly one of its kinds, with the built-in names.
fn element() -> Entries {
    let mut all = mapping(channel::ELEMENT, Vec::new());
    if let Some((_, properties)) = all.iter_mut().find(|(key, _)| key == "properties") {
        for entry in properties.entries_mut().into_iter().flatten() {
            let Some((_, family)) = channel::FAMILIES.into_iter().find(|(kind, _)| *kind == entry.key) else {
                continue;
            };
            // built-in names are offered; names of the user's own are valid, too
            let names = Node::list(Library::standard().names(family).map(text));
            if let Some(schema) = entry.value.entries_mut() {
                schema.push(Entry::new("examples".into(), names));
            }
        }
    }
    let one_of = channel::KINDS.map(|kind| Node::map(entries([("required", words([kind]))])));
    all.push(("oneOf".into(), Node::list(one_of)));
    all
}

/// Every parameter of every model. A parameter that differs between models describes each of its forms.
fn parameters() -> Entries {
    let mut by_name: BTreeMap<&str, Vec<(&str, &Param)>> = BTreeMap::new();
    for model in MODELS {
        for param in model.all_params() {
            by_name.entry(param.name).or_default().push((model.name, param));
        }
    }
    let property = |params: Vec<(&str, &Param)>| {
        let mut seen: Vec<(String, Entries, Vec<&str>)> = Vec::new();
        for (model, param) in &params {
            let default =
                param.default.map_or_else(String::new, |default| format!(" (by default {default})"));
            let about = format!("{}{default}", param.about);
            match seen.iter_mut().find(|(other, ..)| *other == about) {
                Some((.., models)) => models.push(*model),
                None => seen.push((about, quantity(param.dimension), vec![*model])),
            }
        }
        let is_one = seen.len() == 1;
        let mut seen = seen.into_iter().map(|(about, schema, models)| {
            let mut all = entries([("description", text(about))]);
            all.extend((!is_one).then(|| ("$comment".into(), text(models.join(", ")))));
            all.extend(schema);
            Node::map(all)
        });
        match (seen.next(), seen.next()) {
            (Some(only), None) => only,
            (first, second) => {
                Node::map([("anyOf", Node::list(first.into_iter().chain(second).chain(seen)))])
            }
        }
    };
    by_name.into_iter().map(|(name, params)| (name.to_owned(), property(params))).collect()
}
