//! Is the schema up to date, and does it accept what checking accepts?
//!
//! The validator here knows the keywords that our generator writes, and panics at any other.

use lanetwin_link_lab::channel;
use regex_lite::Regex;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn read(path: impl AsRef<Path>) -> String {
    let path = root().join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// With `LANETWIN_WRITE=1`, writes the file instead.
#[test]
fn the_schemas_in_the_docs_are_up_to_date() {
    for (path, schema) in [
        ("docs/schema/scenario.schema.json", lanetwin_plan::schema()),
        ("docs/schema/link.schema.json", lanetwin_plan::link_schema()),
    ] {
        if std::env::var_os("LANETWIN_WRITE").is_some() {
            std::fs::write(root().join(path), &schema).expect("the schema is written");
        }
        assert!(read(path) == schema, "{path} is out of date: run this test with LANETWIN_WRITE=1");
    }
}

#[test]
fn every_channel_and_template_of_one_is_valid_and_right() {
    let schema = serde_json::from_str(&lanetwin_plan::link_schema()).expect("the schema is JSON");
    let mut texts: Vec<(String, String)> =
        channel::templates().iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    for entry in std::fs::read_dir(root().join("scenarios/link")).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|extension| extension != "yaml") {
            continue;
        }
        let found = channel::check_path(&path, &[]).unwrap_or_else(|found| panic!("{found:#?}"));
        assert_eq!(found.warnings, [], "{}", path.display());
        texts.push((path.display().to_string(), read(&path)));
    }
    assert!(texts.len() >= 4);
    for (name, text) in texts {
        assert_eq!(faults(&schema, &document(&text), "$"), [""; 0], "{name}");
        assert!(text.contains("# yaml-language-server: $schema="), "{name} has its schema named for editors");
    }
}

#[test]
fn a_slip_in_a_channel_is_invalid_by_the_schema_too() {
    let schema = serde_json::from_str(&lanetwin_plan::link_schema()).expect("the schema is JSON");
    let good = "about: Does it fit?\ngen: 5\nequalisation: coefficients\nchain:\n  - package: root-gen5\n  - {name: b, board: fr4, length: 1in}\n  - package: endpoint-gen5\nvariants: {a: {corner: low}}\n";
    assert_eq!(faults(&schema, &document(good), "$"), [""; 0]);
    assert_eq!(channel::check_text(good), []);
    for (from, to) in [
        ("about:", "abuot:"),
        ("gen: 5", "gem: 5"),
        ("coefficients", "coefficient"),
        ("chain:", "crosstalk: [{at: b, kind: far}]\nchain:"),
        ("chain:", "crosstalk: [{touchstone: x.s4p, at: b, kind: beside}]\nchain:"),
        ("board: fr4, length: 1in", "board: fr4, cable: twinax-30awg, length: 1in"),
        ("board: fr4, length: 1in", "touchstone: b.s8p, neighbours: some"),
        ("board: fr4", "bored: fr4"),
        ("length: 1in", "lenght: 1in"),
        ("variants: {a: {corner: low}}", "variants: {a: 7}"),
    ] {
        assert!(good.contains(from), "{from}");
        let bad = good.replace(from, to);
        assert_ne!(faults(&schema, &document(&bad), "$"), [""; 0], "{to}");
        assert_ne!(channel::check_text(&bad), [], "{to}: checking is at least as strict");
    }
}

#[test]
fn every_scenario_and_template_is_valid_and_right() {
    let schema = serde_json::from_str(&lanetwin_plan::schema()).expect("the schema is JSON");
    let mut texts: Vec<(String, String)> = lanetwin_plan::templates()
        .iter()
        .map(|template| (template.name.into(), template.text.into()))
        .collect();
    for entry in std::fs::read_dir(root().join("scenarios")).expect("the folder") {
        let path = entry.expect("an entry").path();
        if path.extension().is_some_and(|extension| extension == "yaml") {
            let plan = lanetwin_plan::check_path(&path, &[]).unwrap_or_else(|found| panic!("{found:#?}"));
            assert_eq!(plan.warnings, [], "{}", path.display());
            texts.push((path.display().to_string(), plan.document().to_yaml()));
            texts.push((path.display().to_string(), plan.text));
        }
    }
    assert!(texts.len() >= 5);
    for (name, text) in texts {
        assert_eq!(faults(&schema, &document(&text), "$"), [""; 0], "{name}");
    }
}

/// Slips that a schema can see; the rest (which port, which path) only checking sees.
#[test]
fn a_slip_is_invalid_by_the_schema_too() {
    let schema = serde_json::from_str(&lanetwin_plan::schema()).expect("the schema is JSON");
    let good = read("scenarios/demo.yaml");
    for (from, to) in [
        ("about:", "abuot:"),
        ("width: x8", "width: x3"),
        ("gen: 3", "gen: 7"),
        ("window: 8KiB", "window: 8"),
        ("operation: write", "operation: right"),
        ("{part: nfp-6000}", "{part: nfp-6000, memory.dram: 90ns}"),
        ("{part: nfp-6000}", "{model: root-complex, tick: 90ns}"),
        ("{part: nfp-6000}", "{}"),
        ("within: 2%", "within: 2 per cent"),
        ("repeats: 5", "repeats: 0"),
        ("seed: 1", "sede: 1"),
    ] {
        assert!(good.contains(from), "{from}");
        let bad = good.replace(from, to);
        assert_ne!(faults(&schema, &document(&bad), "$"), [""; 0], "{to}");
        let checked = lanetwin_plan::check_text(&bad);
        assert_ne!(checked, [], "{to}: checking is at least as strict");
    }
}

/// The document as JSON, by a reader that is not ours.
fn document(text: &str) -> Value {
    serde_saphyr::from_str(text).expect("YAML")
}

/// Where `value` breaks `schema`.
fn faults(schema: &Value, value: &Value, at: &str) -> Vec<String> {
    let schema = match schema {
        Value::Bool(true) => return Vec::new(),
        Value::Bool(false) => return vec![format!("{at}: nothing may stand here")],
        Value::Object(schema) => schema,
        other => panic!("{other} is no schema"),
    };
    schema.iter().flat_map(|(keyword, rule)| keyword_faults(schema, keyword, rule, value, at)).collect()
}

fn keyword_faults(
    schema: &Map<String, Value>,
    keyword: &str,
    rule: &Value,
    value: &Value,
    at: &str,
) -> Vec<String> {
    let list = || rule.as_array().expect("a list");
    let valid = |schema: &Value| faults(schema, value, at).is_empty();
    let unless =
        |ok: bool| if ok { Vec::new() } else { vec![format!("{at}: {value} against {keyword} {rule}")] };
    match keyword {
        "$schema" | "$id" | "title" | "description" | "default" | "examples" | "then" => Vec::new(),
        "type" => match rule {
            Value::Array(kinds) => unless(kinds.iter().any(|kind| is(value, kind))),
            kind => unless(is(value, kind)),
        },
        "enum" => unless(list().contains(value)),
        "const" => unless(rule == value),
        "minimum" => unless(value.as_f64().is_none_or(|number| number >= rule.as_f64().expect("a number"))),
        "maximum" => unless(value.as_f64().is_none_or(|number| number <= rule.as_f64().expect("a number"))),
        "pattern" => {
            let pattern = Regex::new(rule.as_str().expect("a pattern")).expect("a pattern");
            unless(value.as_str().is_none_or(|text| pattern.is_match(text)))
        }
        "anyOf" => unless(list().iter().any(valid)),
        "oneOf" => unless(list().iter().filter(|schema| valid(schema)).count() == 1),
        "allOf" => list().iter().flat_map(|schema| faults(schema, value, at)).collect(),
        "if" if valid(rule) => faults(&schema["then"], value, at),
        "if" => Vec::new(),
        "items" => {
            let items = value.as_array().map_or(&[][..], |items| items);
            items.iter().flat_map(|item| faults(rule, item, at)).collect()
        }
        _ => object_faults(schema, keyword, rule, value, at),
    }
}

fn object_faults(
    schema: &Map<String, Value>,
    keyword: &str,
    rule: &Value,
    value: &Value,
    at: &str,
) -> Vec<String> {
    let Value::Object(object) = value else { return Vec::new() };
    let below = |key: &str| format!("{at}.{key}");
    match keyword {
        "required" => {
            let keys = rule.as_array().expect("a list").iter().filter_map(Value::as_str);
            keys.filter(|key| !object.contains_key(*key)).map(|key| format!("{at}: no {key}")).collect()
        }
        "properties" => {
            let rules = rule.as_object().expect("a mapping");
            let found = rules.iter().filter_map(|(key, schema)| Some((key, schema, object.get(key)?)));
            found.flat_map(|(key, schema, value)| faults(schema, value, &below(key))).collect()
        }
        "additionalProperties" => {
            let known = schema.get("properties").and_then(Value::as_object);
            let patterns = schema.get("patternProperties").and_then(Value::as_object);
            let matches = |key: &str| {
                let mut all = patterns.into_iter().flat_map(|all| all.keys());
                all.any(|pattern| Regex::new(pattern).expect("a pattern").is_match(key))
            };
            let more = object.iter().filter(|(key, _)| known.is_none_or(|known| !known.contains_key(*key)));
            let more = more.filter(|(key, _)| !matches(key));
            more.flat_map(|(key, value)| faults(rule, value, &below(key))).collect()
        }
        "patternProperties" => {
            let rules = rule.as_object().expect("a mapping");
            let of = |(pattern, schema): (&String, &Value)| {
                let pattern = Regex::new(pattern).expect("a pattern");
                let own = object.iter().filter(|(key, _)| pattern.is_match(key));
                own.flat_map(|(key, value)| faults(schema, value, &below(key))).collect::<Vec<_>>()
            };
            rules.iter().flat_map(of).collect()
        }
        "propertyNames" => {
            object.keys().flat_map(|key| faults(rule, &Value::String(key.clone()), &below(key))).collect()
        }
        other => panic!("the validator does not know `{other}`"),
    }
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str().expect("the name of a type") {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "integer" => value.is_u64() || value.is_i64(),
        "number" => value.is_number(),
        other => panic!("the validator does not know type `{other}`"),
    }
}
