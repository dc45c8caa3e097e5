//! Parts are data: one YAML file a part, every number with its kind and source. A part may be made of others: an
//! [`Assembly`].
//!
//! The catalogue holds the parts that come with the program and those of the user's folders, which hide the former.

use crate::embedded::PARTS;
use crate::problem::Problem;
use lanetwin_document::add_source;
use lanetwin_document::declaration::{Field, Holds};
use lanetwin_document::fields::{self, Fields, is_map, join, scalar};
use lanetwin_document::node::{Entry, Node, Origin, Spot};
use lanetwin_document::problem::{Diagnostic, Problem as Common, Reports, quoted};
use lanetwin_document::quantity;
use lanetwin_document::spelling::Near;
use lanetwin_document::yaml;
use lanetwin_ports::{Dimension, Model, Param, Value};
use lanetwin_textfile::{Limit, read_text};
use lanetwin_units::NumberKind;
use serde::{Serialize, Serializer};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

mod assembly;

pub use assembly::Assembly;

/// How far a part can be trusted.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Its numbers come from data sheets, standards and assumptions; nobody has compared.
    DatasheetOnly,
    /// Some numbers were fitted to measurements.
    Calibrated,
    /// Its predictions were compared with measurements that were not used to fit it.
    Validated,
}

impl std::fmt::Display for Grade {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::DatasheetOnly => "datasheet-only",
            Self::Calibrated => "calibrated",
            Self::Validated => "validated",
        })
    }
}

/// A number of a part.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Number {
    /// Its value.
    #[serde(serialize_with = "as_written")]
    pub value: Value,
    /// What kind of number it is.
    pub kind: NumberKind,
    /// Where it comes from.
    pub source: String,
    /// What it was calibrated to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What else there is to say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// A part: a model with numbers.
#[derive(Clone, Serialize)]
pub struct Part {
    /// Its name, which is also its file's.
    pub name: String,
    /// What it is, in a sentence.
    pub about: String,
    /// The model that behaves like it.
    #[serde(serialize_with = "as_name")]
    pub model: &'static Model,
    /// How far it can be trusted.
    pub grade: Grade,
    /// What it was compared with, and how well it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validated: Option<String>,
    /// Its numbers; what is not here has the model's default.
    pub parameters: BTreeMap<&'static str, Number>,
    /// The file it was read from.
    pub file: String,
}

fn as_written<S: Serializer>(value: &Value, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&quantity::written(*value))
}
fn as_name<S: Serializer>(model: &&'static Model, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(model.name)
}

impl std::fmt::Debug for Part {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Part")
            .field("name", &self.name)
            .field("model", &self.model.name)
            .finish_non_exhaustive()
    }
}

const GRADES: &[&str] = &["datasheet-only", "calibrated", "validated"];

const fn field(name: &'static str, holds: Holds, required: bool, about: &'static str) -> Field {
    Field { name, holds, default: None, required, about }
}

/// The keys of a part file.
pub(crate) const PART: &[Field] = &[
    field("name", Holds::Text, true, "the part's name, which is also its file's"),
    field("about", Holds::Text, true, "what it is, in a sentence"),
    field("model", Holds::Text, true, "the model that behaves like it"),
    field("grade", Holds::One(Dimension::Choice(GRADES)), true, "how far it can be trusted"),
    field("validated", Holds::Text, false, "what it was compared with, and how well it did"),
    field("parameters", Holds::Ignored, false, "its numbers"),
    field(
        "calibration",
        Holds::Ignored,
        false,
        "the rows that it was calibrated on and the rows held back; not read",
    ),
];
/// The keys of a number.
const NUMBER: &[Field] = &[
    field("value", Holds::Text, true, "the number with its unit"),
    field("kind", Holds::One(Dimension::Choice(&NumberKind::WORDS)), false, "what kind of number it is"),
    field("source", Holds::Text, false, "where it comes from"),
    field("to", Holds::Text, false, "what it was calibrated to"),
    field("note", Holds::Text, false, "what else there is to say"),
];

/// Every part there is.
#[derive(Clone, Default, Debug)]
pub struct Catalogue {
    parts: BTreeMap<String, Part>,
    assemblies: BTreeMap<String, Assembly>,
    /// Files of assemblies that wait for their parts.
    open: Vec<Open>,
}

impl Catalogue {
    /// The parts that come with the program.
    ///
    /// # Panics
    /// If one of them is wrong: a test reads them all.
    #[must_use]
    pub fn built_in() -> Self {
        // reading them takes longer than most scenarios: once for all points of a sweep
        static READ: OnceLock<Catalogue> = OnceLock::new();
        READ.get_or_init(Self::read_built_in).clone()
    }

    fn read_built_in() -> Self {
        let (mut catalogue, mut reports, mut sources) = (Self::default(), Reports::default(), Vec::new());
        for (stem, text) in PARTS {
            catalogue.add(text, &format!("parts/{stem}.yaml"), &mut sources, &mut reports);
        }
        catalogue.assemble(&mut reports);
        let found = reports.into_diagnostics(&sources);
        assert!(found.is_empty(), "a part that comes with the program is wrong: {}", found[0]);
        catalogue
    }

    /// The parts of the program, of `parts/` beside `scenario`, and of the folders in the variable `LANETWIN_PARTS`
    /// (separated as in `PATH`), with everything that is wrong in the latter.
    #[must_use]
    pub fn beside(scenario: Option<&Path>) -> (Self, Vec<Diagnostic>) {
        let (mut reports, mut sources) = (Reports::default(), Vec::new());
        let catalogue = Self::read(scenario, &mut sources, &mut reports);
        (catalogue, reports.into_diagnostics(&sources))
    }

    pub(crate) fn read(scenario: Option<&Path>, sources: &mut Vec<String>, reports: &mut Reports) -> Self {
        let mut catalogue = Self::built_in();
        let beside = scenario.and_then(Path::parent).map(|folder| folder.join("parts"));
        let listed = std::env::var_os("LANETWIN_PARTS").unwrap_or_default();
        for folder in beside.into_iter().chain(std::env::split_paths(&listed)) {
            catalogue.add_folder(&folder, sources, reports);
        }
        catalogue.assemble(reports);
        catalogue
    }

    /// Reads the assemblies whose files were found, now that their parts are there.
    fn assemble(&mut self, reports: &mut Reports) {
        for Open { node, file, built_in } in std::mem::take(&mut self.open) {
            let Some(assembly) = assembly::read(&node, &file, self, reports) else { continue };
            let name = &assembly.name;
            let known = self.parts.contains_key(name) || self.assemblies.contains_key(name);
            if known && !built_in {
                reports.add(Problem::Hidden { name: name.clone() }, node.spot, "name");
            }
            self.parts.remove(name);
            self.assemblies.insert(name.clone(), assembly);
        }
    }

    /// Adds every part of a folder; a folder that is not there is empty.
    fn add_folder(&mut self, folder: &Path, sources: &mut Vec<String>, reports: &mut Reports) {
        let Ok(entries) = std::fs::read_dir(folder) else { return };
        let mut paths: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
        paths.sort();
        for path in paths {
            let name = path.display().to_string();
            match read_text(&path, Limit::Document) {
                Ok(text) => self.add(&text, &name, sources, reports),
                Err(error) => {
                    let spot = add_source(sources, name.clone());
                    reports.add(Common::Unreadable { file: name, said: error.to_string() }, spot, "");
                }
            }
        }
    }

    /// Reads a part file and adds what is right in it.
    pub(crate) fn add(&mut self, text: &str, file: &str, sources: &mut Vec<String>, reports: &mut Reports) {
        let spot = add_source(sources, file.to_owned());
        let Some(node) = yaml::read(text, spot.file, Origin::Part, reports) else { return };
        if node.get("assembly").is_some() {
            let built_in = PARTS.iter().any(|(_, text_of)| *text_of == text);
            self.open.push(Open { node, file: file.to_owned(), built_in });
            return;
        }
        let Some(part) = read_part(&node, file, reports) else { return };
        let built_in = PARTS.iter().any(|(stem, text_of)| *stem == part.name && *text_of == text);
        if self.parts.contains_key(&part.name) && !built_in {
            reports.add(Problem::Hidden { name: part.name.clone() }, node.spot, "name");
        }
        self.assemblies.remove(&part.name);
        self.parts.insert(part.name.clone(), part);
    }

    /// The part with this name, or the one of a component of an assembly (`samsung-cmm-h.ssd`).
    #[must_use]
    pub fn find(&self, name: &str) -> Option<&Part> {
        let inside =
            || name.split_once('.').and_then(|(outer, inner)| self.assemblies.get(outer)?.component(inner));
        self.parts.get(name).or_else(inside)
    }
    /// Every part that is one device, by name.
    pub fn parts(&self) -> impl Iterator<Item = &Part> {
        self.parts.values()
    }
    /// The assembly with this name.
    #[must_use]
    pub fn assembly(&self, name: &str) -> Option<&Assembly> {
        self.assemblies.get(name)
    }
    /// Every assembly, by name.
    pub fn assemblies(&self) -> impl Iterator<Item = &Assembly> {
        self.assemblies.values()
    }
}

/// The file of an assembly that waits for its parts.
#[derive(Clone, Debug)]
struct Open {
    node: Node,
    file: String,
    /// Whether it is one that comes with the program, wherever it lies.
    built_in: bool,
}

fn read_part(node: &Node, file: &str, reports: &mut Reports) -> Option<Part> {
    let mut part = Fields::open(node, "", PART, &[], reports)?;
    let name = part.text("name", reports).map(|said| said.value);
    let stem = Path::new(file).file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    if let Some(name) = name.as_ref().filter(|name| **name != stem) {
        part.fault("name", Problem::PartFileName { name: name.clone(), file: file.into() }, reports);
    }
    let about = part.text("about", reports).map(|said| said.value);
    let grade = grade(&mut part, reports);
    let validated = part.text("validated", reports).map(|said| said.value);
    let model =
        part.text("model", reports).and_then(|said| find_model(&said.value, said.spot, "model", reports));
    let parameters = match (part.written("parameters"), model) {
        (Some(node), Some(model)) => read_parameters(node, model, reports)?,
        _ => BTreeMap::new(),
    };
    Some(Part {
        name: name?,
        about: about?,
        model: model?,
        grade: grade?,
        validated,
        parameters,
        file: file.to_owned(),
    })
}

fn grade(fields: &mut Fields<'_>, reports: &mut Reports) -> Option<Grade> {
    Some(match fields.one("grade", reports)?.value {
        Value::Choice("calibrated") => Grade::Calibrated,
        Value::Choice("validated") => Grade::Validated,
        _ => Grade::DatasheetOnly,
    })
}

/// The model called `name`; reports it if there is none.
pub(crate) fn find_model(
    name: &str,
    spot: Spot,
    path: &str,
    reports: &mut Reports,
) -> Option<&'static Model> {
    let found = lanetwin_models::find(name);
    if found.is_none() {
        let names = || lanetwin_models::MODELS.iter().map(|model| model.name);
        let problem = Problem::UnknownModel {
            name: name.into(),
            known: quoted(names()),
            near: Near::of(name, names()),
        };
        reports.add(problem, spot, path);
    }
    found
}

fn read_parameters(
    node: &Node,
    model: &'static Model,
    reports: &mut Reports,
) -> Option<BTreeMap<&'static str, Number>> {
    if !is_map(node, "parameters", reports) {
        return None;
    }
    let numbers = node.entries().iter().map(|entry| read_number(entry, model, "parameters", reports));
    // all of them, before the first that is wrong ends it
    let numbers: Vec<_> = numbers.collect();
    numbers.into_iter().collect()
}

fn read_number(
    entry: &Entry,
    model: &'static Model,
    section: &str,
    reports: &mut Reports,
) -> Option<(&'static str, Number)> {
    let path = join(section, &entry.key);
    let Some(param) = find_param(model, &entry.key) else {
        let known = || model.all_params().map(|param| param.name);
        let problem = Common::UnknownKey {
            key: entry.key.clone(),
            known: quoted(known()),
            near: Near::of(&entry.key, known()),
        };
        reports.add(problem, entry.spot, &path);
        return None;
    };
    let mut number = Fields::open(&entry.value, &path, NUMBER, &[], reports)?;
    let value = number.written("value").and_then(|node| fields::read(node, param.dimension, &path, reports));
    let kind = number.one("kind", reports).map(|said| said.value);
    let kind = match kind {
        Some(Value::Choice(word)) => NumberKind::of(word),
        _ => None,
    };
    let source = number.text("source", reports).map(|said| said.value);
    let to = number.text("to", reports).map(|said| said.value);
    for (key, absent) in [
        ("kind", number.written("kind").is_none()),
        ("source", source.is_none()),
        ("to", kind == Some(NumberKind::Calibrated) && to.is_none()),
    ] {
        if absent {
            reports.add(Problem::NoSource { key }, entry.spot, &path);
        }
    }
    let note = number.written("note").and_then(|node| scalar(node, "a sentence", &path, reports));
    let note = note.map(str::to_owned);
    Some((param.name, Number { value: value?, kind: kind?, source: source?, to, note }))
}

/// The parameter of a model with this name.
pub(crate) fn find_param(model: &'static Model, name: &str) -> Option<&'static Param> {
    model.all_params().find(|param| param.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<String> {
        let (mut catalogue, mut reports, mut sources) =
            (Catalogue::default(), Reports::default(), Vec::new());
        catalogue.add(text, "parts/x.yaml", &mut sources, &mut reports);
        reports.into_diagnostics(&sources).into_iter().map(|d| format!("{} {}", d.code, d.path)).collect()
    }

    const HEAD: &str = "name: x\nabout: A part.\nmodel: root-complex\ngrade: calibrated\n";

    #[test]
    fn the_parts_that_come_with_the_program_are_right() {
        let catalogue = Catalogue::built_in();
        assert!(catalogue.parts().count() >= 10);
        for part in catalogue.parts() {
            assert!(part.about.ends_with('.'), "{}: a sentence ends with a point", part.name);
            let fitted = part.parameters.values().any(|number| number.kind == NumberKind::Calibrated);
            assert!(!fitted || part.grade != Grade::DatasheetOnly, "{} is calibrated", part.name);
            assert_eq!(part.grade == Grade::Validated, part.validated.is_some(), "{}", part.name);
        }
        for assembly in catalogue.assemblies() {
            assert!(assembly.about.ends_with('.'), "{}: a sentence ends with a point", assembly.name);
            let mut numbers = assembly.components.iter().flat_map(|(_, part)| part.parameters.values());
            let fitted = numbers.any(|number| number.kind == NumberKind::Calibrated);
            assert!(!fitted || assembly.grade != Grade::DatasheetOnly, "{} is calibrated", assembly.name);
            assert_eq!(assembly.grade == Grade::Validated, assembly.validated.is_some(), "{}", assembly.name);
        }
    }

    #[test]
    fn a_number_has_a_kind_and_a_source() {
        let number = |text: &str| read(&format!("{HEAD}parameters: {{memory.dram: {text}}}"));
        assert_eq!(number("{value: 90ns, kind: measured, source: me}"), [""; 0]);
        assert_eq!(number("{value: 90ns, kind: measured}"), ["SC036 parameters.memory.dram"]);
        assert_eq!(number("{value: 90ns, source: me}"), ["SC036 parameters.memory.dram"]);
        assert_eq!(number("{value: 90ns, kind: calibrated, source: me}"), ["SC036 parameters.memory.dram"]);
        assert_eq!(number("{value: 90ns, kind: calibrated, source: me, to: it}"), [""; 0]);
        assert_eq!(number("{value: 90, kind: measured, source: me}"), ["SC008 parameters.memory.dram"]);
        assert_eq!(number("90ns"), ["SC007 parameters.memory.dram"]);
    }

    #[test]
    fn a_part_is_called_like_its_file_and_hides_another() {
        assert_eq!(read(&HEAD.replace("name: x", "name: y")), ["SC035 name"]);
        let (mut catalogue, mut reports, mut sources) =
            (Catalogue::built_in(), Reports::default(), Vec::new());
        catalogue.add(
            &HEAD.replace("name: x", "name: nfp-6000"),
            "my/nfp-6000.yaml",
            &mut sources,
            &mut reports,
        );
        let found = reports.into_diagnostics(&sources);
        assert_eq!(found.iter().map(|d| d.code).collect::<Vec<_>>(), ["SC105"]);
        assert_eq!(catalogue.find("nfp-6000").map(|part| part.model.name), Some("root-complex"));
    }
}
