//! Inside a crate, imports between files run one way: no file takes something from another that takes something from
//! it.
//!
//! The table in ARCHITECTURE.md says which crates still have circles, how many files are in them, and why. The number
//! can only fall.

use super::Breach;
use crate::imports::Imports;
use crate::markdown;
use crate::workspace::{Package, Workspace};
use std::collections::BTreeMap;

const MAP: &str = "ARCHITECTURE.md";
/// What a program is, if not the library of its package.
const ROOTS: [&str; 2] = ["/src/lib.rs", "/src/main.rs"];
/// A circle of more files is not named whole.
const MOST_NAMED: usize = 6;

/// Crates with more files in circles than the table says, and rows of the table that say too much.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let allowed = allowed(workspace.files.get(MAP).map_or("", String::as_str));
    let mut found = Vec::new();
    for package in &workspace.packages {
        let crates = imports(workspace, package);
        let circles: Vec<Vec<&str>> = crates.iter().flat_map(Imports::circles).collect();
        let files: usize = circles.iter().map(Vec::len).sum();
        let (line, most) = allowed.get(package.name.as_str()).copied().unwrap_or_default();
        if files > most {
            let says = |circle: &Vec<&str>| {
                Breach::of(circle[0], format!("these files take from each other: {}", named(circle)))
            };
            found.extend(circles.iter().map(says));
            let says = format!("`{}` has {files} files in circles, not {most}", package.name);
            found.push(Breach::at(MAP, line.max(1), says));
        } else if files < most {
            let says = format!("`{}` has only {files} files in circles: say so", package.name);
            found.push(Breach::at(MAP, line, says));
        }
    }
    found
}

/// Prints which imports make the circles: of one package, named in full or without `lanetwin-`, or of all.
pub fn print(workspace: &Workspace, name: Option<&str>) {
    let is_meant = |package: &&Package| {
        name.is_none_or(|name| package.name == name || package.name.strip_prefix("lanetwin-") == Some(name))
    };
    for package in workspace.packages.iter().filter(is_meant) {
        for line in imports(workspace, package).iter().flat_map(Imports::inside_circles) {
            println!("{line}");
        }
    }
}

fn imports(workspace: &Workspace, package: &Package) -> Vec<Imports> {
    let roots = package.roots.iter().filter(|root| ROOTS.iter().any(|end| root.ends_with(end)));
    roots.map(|root| Imports::of(workspace, root)).collect()
}

fn named(circle: &[&str]) -> String {
    let more = if circle.len() > MOST_NAMED { ", …" } else { "" };
    circle.iter().take(MOST_NAMED).copied().collect::<Vec<_>>().join(", ") + more
}

/// How many files of each crate may be in circles, and on which line the table says so.
fn allowed(text: &str) -> BTreeMap<String, (usize, usize)> {
    let mut allowed = BTreeMap::new();
    for table in markdown::tables(text) {
        let (Some(name), Some(files)) = (table.column("crate"), table.column("files in circles")) else {
            continue;
        };
        for (line, cells) in &table.rows {
            let cell = |column: usize| cells.get(column).map_or("", String::as_str);
            if let Ok(files) = cell(files).parse() {
                allowed.insert(cell(name).trim_matches('`').to_owned(), (*line, files));
            }
        }
    }
    allowed
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    const TABLE: &str =
        "| Crate | Files in circles | Why |\n|---|---|---|\n| `a` | 2 | a union and its parts |\n";

    fn judge(map: &str, b: &str) -> Vec<String> {
        let mut workspace = tree([
            (MAP, map),
            ("a/src/lib.rs", "mod b; mod c;"),
            ("a/src/b.rs", b),
            ("a/src/c.rs", "use crate::b::B;"),
        ]);
        let roots = vec!["a/src/lib.rs".to_owned()];
        workspace.packages.push(Package { name: "a".into(), imports: Vec::new(), roots });
        said(&breaches(&workspace))
    }

    #[test]
    fn a_circle_that_the_table_does_not_know_is_named() {
        let circle = "a/src/b.rs: these files take from each other: a/src/b.rs, a/src/c.rs";
        let count = "ARCHITECTURE.md:1: `a` has 2 files in circles, not 0";
        assert_eq!(judge("", "use crate::c::C;"), [circle, count]);
        assert_eq!(judge(TABLE, "use crate::c::C;"), [""; 0]);
    }

    #[test]
    fn a_row_that_allows_too_much_has_to_go() {
        assert_eq!(judge(TABLE, ""), ["ARCHITECTURE.md:3: `a` has only 0 files in circles: say so"]);
        assert_eq!(judge("", ""), [""; 0]);
    }
}
