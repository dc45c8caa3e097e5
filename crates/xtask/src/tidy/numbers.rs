//! Every number of a part has a kind and a source.
//!
//! In `parts/` and in the `data/` of crates, a mapping with `value:` is a number, and so is every entry of a part's
//! `parameters:`. It has `kind:` (datasheet, measured, standard, assumed, calibrated) and `source:`; if it is
//! calibrated, also `to:`, which names what it was fitted to.

use super::Breach;
use crate::workspace::Workspace;
use serde_json::{Map, Value};

const KINDS: [&str; 5] = ["datasheet", "measured", "standard", "assumed", "calibrated"];

/// Numbers in `parts/` and `crates/*/data/` without kind or source, and files that are not YAML.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let mut found = Vec::new();
    let numbers = |path: &str| {
        path.starts_with("parts/") || (path.starts_with("crates/") && path.split('/').nth(2) == Some("data"))
    };
    let yaml = |path: &str| numbers(path) && (path.ends_with(".yaml") || path.ends_with(".yml"));
    for (path, text) in workspace.files.iter().filter(|(path, _)| yaml(path)) {
        match serde_saphyr::from_str::<Value>(text) {
            Ok(document) => {
                let mut report =
                    |place: &str, says: String| found.push(Breach::of(path, format!("{place}: {says}")));
                for (name, _) in parameters(&document).filter(|(_, entry)| entry.get("value").is_none()) {
                    report(
                        &format!("parameters.{name}"),
                        "is written without `value:`, `kind:` and `source:`".into(),
                    );
                }
                walk(&document, String::new(), &mut report);
            }
            // the first line has the message with its place; the others show the text there
            Err(error) => {
                let said = error.to_string();
                found.push(Breach::of(
                    path,
                    format!("is not YAML: {}", said.lines().next().unwrap_or_default()),
                ));
            }
        }
    }
    found
}

/// The entries of a part's `parameters:`.
fn parameters(document: &Value) -> impl Iterator<Item = (&String, &Value)> {
    document.get("parameters").and_then(Value::as_object).into_iter().flatten()
}

/// Checks every mapping with a `value:` at any depth of the document.
fn walk(value: &Value, place: String, report: &mut impl FnMut(&str, String)) {
    let below = |key: &str| if place.is_empty() { key.to_owned() } else { format!("{place}.{key}") };
    match value {
        Value::Object(mapping) => {
            if mapping.contains_key("value") {
                judge(mapping, &mut |says| report(&place, says));
            }
            for (key, value) in mapping {
                walk(value, below(key), report);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                walk(item, below(&index.to_string()), report);
            }
        }
        _ => {}
    }
}

fn judge(number: &Map<String, Value>, report: &mut impl FnMut(String)) {
    let written =
        |key: &str| number.get(key).and_then(Value::as_str).map(str::trim).filter(|text| !text.is_empty());
    match written("kind") {
        Some(kind) if KINDS.contains(&kind) => {}
        Some(kind) => report(format!("`kind: {kind}` is none of {}", KINDS.join(", "))),
        None => report("has no `kind:`".into()),
    }
    if written("source").is_none() {
        report("has no `source:`".into());
    }
    if written("kind") == Some("calibrated") && written("to").is_none() {
        report("is calibrated, but `to:` does not say to what".into());
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    fn judge(text: &str) -> Vec<String> {
        said(&breaches(&tree([("parts/ssd.yaml", text)])))
    }

    #[test]
    fn a_number_with_its_origin_is_silent() {
        assert_eq!(
            judge("name: x\na: {value: 80ns, kind: datasheet, source: 'Doc 1, table 3'}\nb: 7\n"),
            [""; 0]
        );
        assert_eq!(judge("a: {value: 1, kind: calibrated, source: run, to: pcie-bench}\n"), [""; 0]);
    }

    #[test]
    fn a_number_without_origin_is_a_breach_at_any_depth() {
        assert_eq!(judge("a: {value: 1, source: s}\n"), ["parts/ssd.yaml: a: has no `kind:`"]);
        assert_eq!(
            judge("a: {b: [{value: 1, kind: measured, source: ''}]}\n"),
            ["parts/ssd.yaml: a.b.0: has no `source:`"]
        );
        assert_eq!(
            judge("a: {value: 1, kind: guessed, source: s}\n"),
            [
                "parts/ssd.yaml: a: `kind: guessed` is none of datasheet, measured, standard, assumed, calibrated"
            ]
        );
        assert_eq!(
            judge("a: {value: 1, kind: calibrated, source: s}\n"),
            ["parts/ssd.yaml: a: is calibrated, but `to:` does not say to what"]
        );
    }

    #[test]
    fn a_parameter_is_a_number_however_it_is_written() {
        assert_eq!(
            judge("parameters:\n  latency: {kind: assumed, source: s}\n  read.tags: 32\n"),
            [
                "parts/ssd.yaml: parameters.latency: is written without `value:`, `kind:` and `source:`",
                "parts/ssd.yaml: parameters.read.tags: is written without `value:`, `kind:` and `source:`"
            ]
        );
        assert_eq!(judge("parameters:\n  tags: {value: 32, kind: standard, source: 'Base 5.0'}\n"), [""; 0]);
    }

    #[test]
    fn the_data_of_a_crate_are_numbers_too() {
        let file = |path| said(&breaches(&tree([(path, "a: {value: 1, kind: assumed}\n")])));
        assert_eq!(file("crates/phy/data/x.yaml"), ["crates/phy/data/x.yaml: a: has no `source:`"]);
        assert_eq!(file("crates/plan/templates/x.yaml"), [""; 0]);
    }

    #[test]
    fn a_file_that_cannot_be_read_is_a_breach() {
        assert_eq!(judge("a: [1\n").len(), 1);
        assert_eq!(breaches(&tree([("scenarios/x.yaml", "a: [1\n")])), []);
    }
}
