//! No model imports another: a device that is made of other devices is an assembly, which is data.

use super::Breach;
use crate::source;
use crate::workspace::Workspace;

const FOLDER: &str = "crates/models/src";

/// Imports of one model by another, outside `#[cfg(test)]` modules.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let names = model_names(workspace);
    let mut found = Vec::new();
    for (path, text) in workspace.files.iter().filter(|(path, _)| path.ends_with(".rs")) {
        let Some(own) = names.iter().find(|name| belongs(path, name)) else { continue };
        let Ok(tokens) = source::tokens(text) else { continue };
        let tokens = source::production(&tokens);
        let top_level = *path == format!("{FOLDER}/{own}.rs");
        let mut imported = source::names_under(&tokens, "crate");
        if top_level {
            // in files of a model's folder, `super` is the model itself
            imported.extend(source::names_under(&tokens, "super"));
        }
        for token in imported.iter().filter(|token| token.text != *own && names.contains(&token.text)) {
            let says = format!("model `{own}` imports model `{}`; make an assembly in parts/", token.text);
            found.push(Breach::at(path, token.line, says));
        }
    }
    found
}

/// The words of the list `models! { … }` in the crate's `lib.rs`; without a list, all files beside it.
fn model_names(workspace: &Workspace) -> Vec<String> {
    let root = workspace.files.get(&format!("{FOLDER}/lib.rs"));
    let listed =
        root.and_then(|text| source::tokens(text).ok()).map(|tokens| source::macro_words(&tokens, "models"));
    match listed {
        Some(words) if !words.is_empty() => words,
        _ => workspace
            .in_folder(FOLDER, ".rs")
            .filter_map(|(path, _)| path.rsplit('/').next()?.strip_suffix(".rs"))
            .filter(|name| *name != "lib")
            .map(str::to_owned)
            .collect(),
    }
}

fn belongs(path: &str, model: &str) -> bool {
    path.strip_prefix(FOLDER)
        .and_then(|rest| rest.strip_prefix('/')?.strip_prefix(model))
        .is_some_and(|rest| rest == ".rs" || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    const LIST: &str = "mod shelf;\nmodels! { disk, host }";

    fn judge(path: &str, text: &str) -> Vec<String> {
        said(&breaches(&tree([
            ("crates/models/src/lib.rs", LIST),
            ("crates/models/src/host.rs", ""),
            ("crates/models/src/shelf.rs", ""),
            (path, text),
        ])))
    }

    #[test]
    fn a_model_may_not_import_another() {
        for text in
            ["\nuse super::host::Host;", "\nuse crate::{shelf, host::Host};", "\nfn f() { crate::host::g() }"]
        {
            assert_eq!(
                judge("crates/models/src/disk.rs", text),
                [
                    "crates/models/src/disk.rs:2: model `disk` imports model `host`; make an assembly in parts/"
                ]
            );
        }
    }

    #[test]
    fn the_shelf_itself_the_model_itself_and_tests_are_free() {
        for text in [
            "use super::shelf::Param; use super::disk;",
            "#[cfg(test)] mod tests { use crate::host::Host; }",
            "// use super::host::Host;",
        ] {
            assert_eq!(judge("crates/models/src/disk.rs", text), [""; 0], "{text}");
        }
        assert_eq!(judge("crates/models/src/disk/platter.rs", "use super::host;"), [""; 0]);
        assert_eq!(judge("crates/models/src/disk/platter.rs", "use crate::host;").len(), 1);
    }

    #[test]
    fn without_a_list_every_file_is_a_model() {
        let workspace = tree([
            ("crates/models/src/lib.rs", "mod a; mod b;"),
            ("crates/models/src/a.rs", "use crate::b::B;"),
            ("crates/models/src/b.rs", ""),
        ]);
        assert_eq!(breaches(&workspace).len(), 1);
        assert_eq!(breaches(&tree([])), []);
    }
}
