//! The catalogue of parts. Parts are data: one YAML file each, every number with its kind and source. A part that is
//! made of other parts is an [`Assembly`].
//!
//! The catalogue holds the built-in parts and those of the user's folders, which take precedence.

use crate::embedded::PARTS;
use crate::problem::Problem;
use lanetwin_document::add_source;
use lanetwin_document::node::{Node, Origin};
use lanetwin_document::problem::{Diagnostic, Problem as Common, Reports};
use lanetwin_document::yaml;
use lanetwin_textfile::{Limit, read_text};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

mod assembly;
mod part;
mod pci;

pub use assembly::Assembly;
pub(crate) use part::find_model;
pub use part::{Grade, Number, Part};
pub use pci::{Identity, Ids};

/// All known parts.
#[derive(Clone, Default, Debug)]
pub struct Catalogue {
    parts: BTreeMap<String, Part>,
    assemblies: BTreeMap<String, Assembly>,
    /// Files of assemblies whose parts have not been read yet.
    open: Vec<Open>,
}

impl Catalogue {
    /// The built-in parts.
    ///
    /// # Panics
    /// If one of them is wrong; a test reads them all.
    #[must_use]
    pub fn built_in() -> Self {
        // reading them takes longer than checking most scenarios, so it is done once for all points of a sweep
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

    /// The built-in parts, those of `parts/` beside `scenario`, and those of the folders in the variable
    /// `LANETWIN_PARTS` (separated as in `PATH`), with every problem found in the latter two.
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

    /// Reads the assemblies whose files were found, once all parts are known.
    fn assemble(&mut self, reports: &mut Reports) {
        for Open { node, file, built_in } in std::mem::take(&mut self.open) {
            let Some(assembly) = assembly::read(&node, &file, &self.parts, reports) else { continue };
            let name = &assembly.name;
            let known = self.parts.contains_key(name) || self.assemblies.contains_key(name);
            if known && !built_in {
                reports.add(Problem::Hidden { name: name.clone() }, node.spot, "name");
            }
            self.parts.remove(name);
            self.assemblies.insert(name.clone(), assembly);
        }
    }

    /// Adds every part of a folder; a missing folder counts as empty.
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

    /// Reads a part file and adds it, if it is valid.
    pub(crate) fn add(&mut self, text: &str, file: &str, sources: &mut Vec<String>, reports: &mut Reports) {
        let spot = add_source(sources, file.to_owned());
        let Some(node) = yaml::read(text, spot.file, Origin::Part, reports) else { return };
        if node.get("assembly").is_some() {
            let built_in = PARTS.iter().any(|(_, text_of)| *text_of == text);
            self.open.push(Open { node, file: file.to_owned(), built_in });
            return;
        }
        let Some(mut part) = part::read(&node, file, reports) else { return };
        part.built_in = PARTS.iter().any(|(stem, text_of)| *stem == part.name && *text_of == text);
        if self.parts.contains_key(&part.name) && !part.built_in {
            reports.add(Problem::Hidden { name: part.name.clone() }, node.spot, "name");
        }
        self.assemblies.remove(&part.name);
        self.parts.insert(part.name.clone(), part);
    }

    /// The part with this name, or the part of an assembly's component (`samsung-cmm-h.ssd`).
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

/// The file of an assembly whose parts have not been read yet.
#[derive(Clone, Debug)]
struct Open {
    node: Node,
    file: String,
    /// Whether it is built in, wherever the file lies.
    built_in: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_units::NumberKind;

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
    fn an_id_of_a_part_is_one_of_pci_and_has_a_source() {
        let pci = |text: &str| read(&format!("{HEAD}pci: [{text}]"));
        assert_eq!(pci("{id: 10b5:8749, source: me}"), [""; 0]);
        assert_eq!(pci("{id: 144d:a80a, subsystems: [144d:a813, 1028:215b], source: me}"), [""; 0]);
        assert_eq!(pci("{id: 144d:a80a}"), ["SC006 pci.source"]);
        for wrong in ["144d", "144d:80a", "144d:a80ag", "+44d:a80a", "'144d: a80a'"] {
            assert_eq!(pci(&format!("{{id: {wrong}, source: me}}")), ["SC008 pci.id"], "{wrong}");
        }
        assert_eq!(pci("{id: 144d:a80a, subsystems: a813, source: me}"), ["SC008 pci.subsystems"]);
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
