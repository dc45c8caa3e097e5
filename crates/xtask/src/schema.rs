//! Generates the types of the results document for Python's type checkers from the Rust types that write it.
//!
//! ```text
//!  crates/stats/src/results/*.rs ── structs and enums with `Serialize` ──► python/lanetwin/schema.py: TypedDicts, Literals
//! ```
//!
//! A field that is left out if it is empty is `NotRequired`; a field that may be null is `| None`. Documentation is
//! copied.
//!
//! Not here: the use of documents in Python (`python/lanetwin/results.py`).

use crate::source::{self, Token, starts_with};
use crate::workspace::Workspace;
use anyhow::{Context, Result, bail};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// The generated file.
pub const PATH: &str = "python/lanetwin/schema.py";

/// Where the types are declared: the folder of the results document, and the files of enums that it uses.
const FOLDER: &str = "crates/stats/src/results";
const ENUMS: [&str; 2] = ["crates/stats/src/verdict.rs", "crates/units/src/better.rs"];

/// Types that have another name in Python: the name in Rust, and in Python.
const NAMES: [(&str, &str); 4] =
    [("X", "Abscissa"), ("VerdictRow", "Verdict"), ("ScenarioText", "Scenario"), ("Verdict", "Outcome")];
/// Fields that are null if there is no interval, and that are filled in when a document is read.
const FILLED: [(&str, [&str; 2]); 2] = [("Row", ["low", "high"]), ("VerdictRow", ["low", "high"])];
/// Maximum length of a line \[characters\].
const WIDTH: usize = 110;
const KEYWORDS: [&str; 5] = ["from", "import", "class", "in", "is"];

const HEAD: &str = r#""""The types of the results document, generated from the engine's by `cargo xtask gen`: do not edit."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypedDict
"#;

/// A type of the document.
#[derive(Debug)]
struct Declared {
    name: String,
    about: String,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Struct(Vec<Field>),
    /// The words that a document may have.
    Enum(Vec<String>),
}

#[derive(Debug)]
struct Field {
    name: String,
    about: String,
    /// The type, as tokens.
    rust: Vec<String>,
    /// Whether it is left out if it is empty.
    optional: bool,
}

/// The text of the generated file.
pub fn python(workspace: &Workspace) -> Result<String> {
    let mut declared = Vec::new();
    let results = workspace.in_folder(FOLDER, ".rs");
    let others = ENUMS.iter().filter_map(|path| Some((*path, workspace.files.get(*path)?.as_str())));
    for (path, text) in results.chain(others) {
        let tokens = source::tokens(text).with_context(|| path.to_owned())?;
        declared.extend(declarations(&tokens).with_context(|| path.to_owned())?);
    }
    let needed = reachable("Results", &declared);
    declared.retain(|one| needed.contains(&one.name));
    // enums first, then structs, each sorted by name
    declared.sort_by(|a, b| (a.is_struct(), &a.name).cmp(&(b.is_struct(), &b.name)));
    let mut text = HEAD.to_owned();
    for one in &declared {
        text.push_str(&match &one.kind {
            Kind::Enum(words) => literal(one, words),
            Kind::Struct(fields) => typed_dict(one, fields, &declared)?,
        });
    }
    Ok(text)
}

/// The names of a type, and of all types of its fields.
fn reachable(from: &str, declared: &[Declared]) -> BTreeSet<String> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from.to_owned()];
    while let Some(name) = open.pop() {
        let Some(one) = declared.iter().find(|one| one.name == name) else { continue };
        if let (true, Kind::Struct(fields)) = (reached.insert(name), &one.kind) {
            open.extend(fields.iter().flat_map(|field| field.rust.iter().cloned()));
        }
    }
    reached
}

impl Declared {
    const fn is_struct(&self) -> bool {
        matches!(self.kind, Kind::Struct(_))
    }
}

/// The public types of a file that derive `Serialize`.
fn declarations(tokens: &[Token]) -> Result<Vec<Declared>> {
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let item = Attributes::read(tokens, &mut at);
        let rest = &tokens[at..];
        let is_struct = starts_with(rest, &["pub", "struct"]);
        let is_enum = starts_with(rest, &["pub", "enum"]);
        if !item.serialised || !(is_struct || is_enum) {
            at += 1;
            continue;
        }
        let name = rest[2].text.clone();
        if rest.get(3).is_none_or(|token| token.text != "{") {
            bail!("`{name}` is neither a struct with named fields nor an enum");
        }
        let end = group_end(tokens, at + 3);
        let body = &tokens[at + 4..end];
        let kind = if is_struct { Kind::Struct(fields(body)) } else { Kind::Enum(words(body, &item)) };
        found.push(Declared { name, about: item.about, kind });
        at = end + 1;
    }
    Ok(found)
}

/// The attributes of a declaration or a field.
#[derive(Default, Debug)]
struct Attributes {
    about: String,
    serialised: bool,
    skipped_if_empty: bool,
    rename_all: String,
}

impl Attributes {
    /// Reads all attributes from `at` on, and moves `at` past them.
    fn read(tokens: &[Token], at: &mut usize) -> Self {
        let mut read = Self::default();
        while starts_with(&tokens[*at..], &["#", "["]) {
            let end = group_end(tokens, *at + 1);
            let inside = &tokens[*at + 2..end];
            let has = |word: &str| inside.iter().any(|token| token.text == word);
            if let [doc, _, text] = inside
                && doc.text == "doc"
            {
                let line = unquoted(&text.text);
                let gap = if read.about.is_empty() || line.is_empty() { "" } else { " " };
                read.about += gap;
                read.about += line.trim();
            }
            read.serialised |= has("derive") && has("Serialize");
            read.skipped_if_empty |= has("skip_serializing_if");
            if let Some(place) = inside.iter().position(|token| token.text == "rename_all") {
                read.rename_all = inside.get(place + 2).map(|t| unquoted(&t.text)).unwrap_or_default();
            }
            *at = end + 1;
        }
        read
    }
}

/// The position of the token that closes the group that `open` opens.
fn group_end(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0;
    for (at, token) in tokens.iter().enumerate().skip(open) {
        match token.text.as_str() {
            "{" | "[" | "(" => depth += 1,
            "}" | "]" | ")" => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return at;
        }
    }
    tokens.len() - 1
}

/// The text of a string literal of Rust, without escapes of backslashes, quotes and brackets.
fn unquoted(literal: &str) -> String {
    let text = literal.trim_start_matches('r').trim_matches('#').trim_matches('"');
    text.replace("\\\\", "\\").replace("\\\"", "\"").replace("\\[", "[").replace("\\]", "]")
}

fn fields(body: &[Token]) -> Vec<Field> {
    let mut fields = Vec::new();
    let mut at = 0;
    while at < body.len() {
        let Attributes { about, skipped_if_empty: optional, .. } = Attributes::read(body, &mut at);
        let (name, first) = (body[at + 1].text.clone(), at + 3);
        let mut depth = 0;
        let is_end = |token: &Token| {
            match token.text.as_str() {
                "<" | "(" | "[" => depth += 1,
                ">" | ")" | "]" => depth -= 1,
                _ => {}
            }
            depth == 0 && token.text == ","
        };
        let length = body[first..].iter().position(is_end).unwrap_or(body.len() - first);
        let rust = body[first..first + length].iter().map(|token| token.text.clone()).collect();
        fields.push(Field { name, about, rust, optional });
        at = first + length + 1;
    }
    fields
}

/// The words of an enum without data, as they are written to documents.
fn words(body: &[Token], item: &Attributes) -> Vec<String> {
    let mut words = Vec::new();
    let mut at = 0;
    while at < body.len() {
        Attributes::read(body, &mut at);
        words.push(renamed(&body[at].text, &item.rename_all));
        at += 2;
    }
    words
}

/// A variant as serde writes it under a `rename_all` rule.
fn renamed(variant: &str, rule: &str) -> String {
    match rule {
        "lowercase" => variant.to_lowercase(),
        "kebab-case" => {
            let dashed = variant.chars().enumerate().map(|(place, letter)| {
                let dash = if letter.is_uppercase() && place > 0 { "-" } else { "" };
                format!("{dash}{}", letter.to_lowercase())
            });
            dashed.collect()
        }
        _ => variant.to_owned(),
    }
}

fn called(rust: &str) -> &str {
    NAMES.iter().find(|(name, _)| *name == rust).map_or(rust, |(_, python)| python)
}

/// A type of Rust, as a type of Python.
fn typed(rust: &[String], declared: &[Declared]) -> Result<String> {
    let (found, rest) = type_at(rust, declared)?;
    if rest.is_empty() { Ok(found) } else { bail!("{} is no type of a document", rust.concat()) }
}

fn type_at<'t>(rust: &'t [String], declared: &[Declared]) -> Result<(String, &'t [String])> {
    let Some((name, rest)) = rust.split_first() else { bail!("a type is missing") };
    let inside = |rest: &'t [String]| -> Result<(String, &'t [String])> {
        let (found, rest) = type_at(&rest[1..], declared)?;
        Ok((found, rest.strip_prefix(&[">".to_owned()][..]).context("a type has one parameter")?))
    };
    Ok(match name.as_str() {
        "String" | "Digest" => ("str".into(), rest),
        "f64" => ("float".into(), rest),
        "bool" => ("bool".into(), rest),
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => ("int".into(), rest),
        // any JSON; the plan and the options of a run are objects
        "Value" => ("dict[str, Any]".into(), rest),
        "Option" => inside(rest).map(|(found, rest)| (format!("{found} | None"), rest))?,
        "Vec" => inside(rest).map(|(found, rest)| (format!("list[{found}]"), rest))?,
        "BTreeMap" => {
            // keys are strings
            let (found, rest) = type_at(&rest[3..], declared)?;
            (format!("dict[str, {found}]"), &rest[1..])
        }
        "(" => {
            let (mut parts, mut rest) = (Vec::new(), rest);
            loop {
                let (found, behind) = type_at(rest, declared)?;
                parts.push(found);
                let (mark, behind) = behind.split_first().context("a tuple has an end")?;
                rest = behind;
                if mark == ")" {
                    break;
                }
            }
            (format!("tuple[{}]", parts.join(", ")), rest)
        }
        known if declared.iter().any(|one| one.name == known) => (called(known).to_owned(), rest),
        other => bail!("`{other}` is no type of the results document"),
    })
}

fn literal(one: &Declared, words: &[String]) -> String {
    let words: Vec<String> = words.iter().map(|word| format!("\"{word}\"")).collect();
    format!("\n{} = Literal[{}]\n{}", called(&one.name), words.join(", "), documentation(&one.about, ""))
}

fn typed_dict(one: &Declared, fields: &[Field], declared: &[Declared]) -> Result<String> {
    let name = called(&one.name);
    let mut of_fields = Vec::new();
    for field in fields {
        let known = typed(&field.rust, declared).with_context(|| format!("{}.{}", one.name, field.name))?;
        let filled = FILLED.iter().any(|(of, names)| *of == one.name && names.contains(&&*field.name));
        let known = if filled || field.optional { known.replace(" | None", "") } else { known };
        let known = if field.optional { format!("NotRequired[{known}]") } else { known };
        of_fields.push((field, known));
    }
    let mut text = String::new();
    if fields.iter().any(|field| KEYWORDS.contains(&&*field.name)) {
        // a keyword of Python can be a key, but not an attribute of a class
        write!(text, "\n\n{name} = TypedDict(\n    \"{name}\",\n    {{\n")?;
        for (field, known) in of_fields {
            writeln!(text, "        \"{}\": {known},", field.name)?;
        }
        write!(text, "    }},\n)\n{}", documentation(&one.about, ""))?;
        return Ok(text);
    }
    write!(text, "\n\nclass {name}(TypedDict):\n{}\n", documentation(&one.about, "    "))?;
    for (field, known) in of_fields {
        write!(text, "    {}: {known}\n{}", field.name, documentation(&field.about, "    "))?;
    }
    Ok(text)
}

/// A docstring with this text, in as many lines as necessary.
fn documentation(about: &str, indent: &str) -> String {
    let about = about.replace("[`", "`").replace("`]", "`").replace('\\', "");
    let mut lines = vec![String::from("\"\"\"")];
    for word in about.split(' ') {
        let line = lines.last_mut().expect("there is a line");
        // the closing quotes may follow
        if indent.len() + line.chars().count() + 1 + word.chars().count() + 3 > WIDTH {
            lines.push(word.to_owned());
        } else {
            if !line.ends_with("\"\"\"") {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    let end = if lines.len() == 1 { "\"\"\"" } else { "\n\"\"\"" };
    let text = lines.join("\n") + end;
    text.lines().map(|line| format!("{indent}{line}\n")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::testing::tree;

    const SOURCE: &str = r#"
/// Everything.
#[derive(Serialize)]
pub struct Results { /** Rows. */ pub rows: Vec<Row>, /** Hops. */ pub hops: Vec<Hop> }
/// Of no document.
#[derive(Serialize)]
pub struct Alone { /** A number. */ pub x: u8 }
/// A row of a table,
/// with a unit \[ns\].
#[derive(Clone, Serialize, Deserialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// None of a single repeat.
    #[serde(default)]
    pub low: Option<f64>,
    /// Pairs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<(f64, u32)>,
    /// Files by name.
    pub files: BTreeMap<String, Vec<Way>>,
}
/// Not written.
pub struct Other { pub x: u8 }
/// Which way.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Up.
    UpHill,
    Down,
}
/// From where.
#[derive(Serialize)]
pub struct Hop { /** Where. */ pub from: String }
"#;

    fn generated() -> String {
        python(&tree([("crates/stats/src/results/mod.rs", SOURCE)])).unwrap()
    }

    #[test]
    fn structs_become_typed_dicts_and_enums_literals() {
        let text = generated();
        for part in [
            "Way = Literal[\"up-hill\", \"down\"]\n\"\"\"Which way.\"\"\"\n",
            "class Row(TypedDict):\n    \"\"\"A row of a table, with a unit [ns].\"\"\"\n\n    name: str\n    \"\"\"Its name.\"\"\"\n",
            "    pairs: NotRequired[list[tuple[float, int]]]\n",
            "    files: dict[str, list[Way]]\n",
            // filled in when a document is read
            "    low: float\n",
            "Hop = TypedDict(\n    \"Hop\",\n    {\n        \"from\": str,\n    },\n)\n",
        ] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        assert!(!text.contains("Other") && !text.contains("Alone"), "{text}");
    }

    #[test]
    fn a_type_that_nobody_knows_is_an_error() {
        let source = "#[derive(Serialize)] pub struct Results { pub x: Mystery }";
        let error = python(&tree([("crates/stats/src/results/mod.rs", source)])).unwrap_err();
        assert!(format!("{error:#}").contains("Mystery"), "{error:#}");
    }

    #[test]
    fn no_line_is_too_long() {
        let about = "word ".repeat(60);
        assert!(documentation(about.trim(), "    ").lines().all(|line| line.len() <= WIDTH));
    }
}
