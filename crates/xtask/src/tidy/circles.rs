//! Inside a crate, imports between files go one way: no file imports from a file that imports from it, directly or
//! through others.

use super::Breach;
use crate::imports::Imports;
use crate::workspace::{Package, Workspace};

/// The root files from which imports are read: the library and the program of a package.
const ROOTS: [&str; 2] = ["/src/lib.rs", "/src/main.rs"];
/// Maximum number of files of a circle that are listed.
const MOST_NAMED: usize = 6;

/// The circles of all crates.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let crates: Vec<Imports> =
        workspace.packages.iter().flat_map(|package| imports(workspace, package)).collect();
    let says = |circle: Vec<&str>| {
        Breach::of(circle[0], format!("these files take from each other: {}", named(&circle)))
    };
    crates.iter().flat_map(Imports::circles).map(says).collect()
}

/// Prints which imports make the circles, of one package (its name with or without `lanetwin-`) or of all.
pub fn print(workspace: &Workspace, name: Option<&str>) {
    let name = name.map(|name| name.strip_prefix("lanetwin-").unwrap_or(name));
    let is_meant = |package: &&Package| name.is_none_or(|name| package.name == name);
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

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    fn judge(b: &str) -> Vec<String> {
        let mut workspace =
            tree([("a/src/lib.rs", "mod b; mod c;"), ("a/src/b.rs", b), ("a/src/c.rs", "use crate::b::B;")]);
        let roots = vec!["a/src/lib.rs".to_owned()];
        workspace.packages.push(Package { name: "a".into(), imports: Vec::new(), roots });
        said(&breaches(&workspace))
    }

    #[test]
    fn a_circle_is_named() {
        let circle = "a/src/b.rs: these files take from each other: a/src/b.rs, a/src/c.rs";
        assert_eq!(judge("use crate::c::C;"), [circle]);
        assert_eq!(judge(""), [""; 0]);
    }
}
