//! Every Rust file is part of a target: a file to which no `mod` line leads is never compiled.

use super::Breach;
use crate::source;
use crate::workspace::{self, Workspace};
use std::collections::BTreeSet;

/// Files of packages that cannot be reached from the root files of their targets.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let roots: Vec<&String> = workspace.packages.iter().flat_map(|package| &package.roots).collect();
    let mut reached = BTreeSet::new();
    for root in &roots {
        reach(workspace, root, true, &mut reached);
    }
    let folders: BTreeSet<&str> = roots.iter().filter_map(|root| package_folder(root)).collect();
    let ours = |path: &str| folders.iter().any(|folder| path.starts_with(&format!("{folder}/")));
    workspace
        .files
        .keys()
        .filter(|path| path.ends_with(".rs") && ours(path) && !reached.contains(path.as_str()))
        .map(|path| Breach::of(path, "no `mod` line leads to this file"))
        .collect()
}

/// The folder of a package: `crates/a` for `crates/a/src/lib.rs` and for `crates/a/tests/x.rs`.
fn package_folder(root: &str) -> Option<&str> {
    ["/src/", "/tests/", "/benches/", "/examples/"]
        .iter()
        .find_map(|part| root.find(part))
        .map(|end| &root[..end])
}

fn reach(workspace: &Workspace, path: &str, is_root: bool, reached: &mut BTreeSet<String>) {
    let Some(text) = workspace.files.get(path) else { return };
    if !reached.insert(path.to_owned()) {
        return;
    }
    let Ok(tokens) = source::tokens(text) else { return };
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = name.strip_suffix(".rs").unwrap_or(name);
    let children = if is_root || stem == "mod" { folder.to_owned() } else { format!("{folder}/{stem}") };
    let listed = source::listed(&tokens).into_iter().map(|(word, _)| (word, None));
    for (module, elsewhere) in source::modules(&tokens).into_iter().chain(listed) {
        match elsewhere {
            Some(file) => {
                let file = workspace::resolve(folder, &file).unwrap_or_default();
                reach(workspace, &file, false, reached);
            }
            None => {
                reach(workspace, &format!("{children}/{module}.rs"), false, reached);
                reach(workspace, &format!("{children}/{module}/mod.rs"), false, reached);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;
    use crate::workspace::Package;

    fn judge<const N: usize>(files: [(&str, &str); N]) -> Vec<String> {
        let mut workspace = tree(files);
        let roots = ["crates/a/src/lib.rs".to_owned(), "crates/a/tests/law.rs".to_owned()].into();
        workspace.packages.push(Package { name: "a".into(), imports: Vec::new(), roots });
        said(&breaches(&workspace))
    }

    #[test]
    fn a_file_without_a_mod_line_is_dead() {
        let said = judge([
            ("crates/a/src/lib.rs", "mod b;\n// mod c;"),
            ("crates/a/src/b.rs", ""),
            ("crates/a/src/c.rs", ""),
        ]);
        assert_eq!(said, ["crates/a/src/c.rs: no `mod` line leads to this file"]);
    }

    #[test]
    fn nested_modules_lists_paths_and_tests_are_reached() {
        let said = judge([
            (
                "crates/a/src/lib.rs",
                "mod b; pub mod d; models! { m } kinds! { k } #[path = \"other.rs\"] mod e;",
            ),
            ("crates/a/src/b.rs", "mod inner;"),
            ("crates/a/src/b/inner.rs", ""),
            ("crates/a/src/d/mod.rs", "mod deep;"),
            ("crates/a/src/d/deep.rs", ""),
            ("crates/a/src/m.rs", ""),
            ("crates/a/src/k.rs", ""),
            ("crates/a/src/other.rs", ""),
            ("crates/a/tests/law.rs", "mod reference;"),
            ("crates/a/tests/reference.rs", ""),
            ("fuzz/targets/scenario.rs", ""),
        ]);
        assert_eq!(said, [""; 0]);
    }
}
