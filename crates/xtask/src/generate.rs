//! `gen`: writes every file, or part of a file, that is generated; `gen --check` lists those that are out of date.
//!
//! A generator is a function from the checkout to the text that a file should have; [`GENERATORS`] lists them. They use
//! only the text of files and the output of cargo, so that this tool does not link the engine, and `cargo xtask tidy`
//! takes seconds.

use crate::schema;
use crate::workspace::{self, Workspace};
use anyhow::{Context, Result};
use std::fmt::Write as _;
use std::path::Path;

/// Whether to write or only to compare.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Bring every file up to date.
    Write,
    /// Change nothing; report what `Write` would change.
    Check,
}

/// A generated file.
struct Generator {
    /// The file, from the root.
    path: &'static str,
    /// The whole text the file should have.
    text: fn(&Workspace) -> Result<String>,
}

const GENERATORS: &[Generator] = &[
    Generator { path: "ARCHITECTURE.md", text: architecture },
    Generator { path: schema::PATH, text: schema::python },
];

/// Runs every generator. True if every file was, or now is, up to date.
pub fn run(root: &Path, mode: Mode) -> Result<bool> {
    let workspace = Workspace::read(root)?;
    let mut current = true;
    for generator in GENERATORS {
        let text = (generator.text)(&workspace).with_context(|| format!("generating {}", generator.path))?;
        if workspace.files.get(generator.path) == Some(&text) {
            continue;
        }
        match mode {
            Mode::Check => {
                println!("{} is out of date; run `cargo xtask gen`", generator.path);
                current = false;
            }
            Mode::Write => {
                write(&root.join(generator.path), &text)?;
                println!("wrote {}", generator.path);
            }
        }
    }
    Ok(current)
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    workspace::write(path, text)
}

/// ARCHITECTURE.md with the present map of imports between crates.
fn architecture(workspace: &Workspace) -> Result<String> {
    let text = workspace.files.get("ARCHITECTURE.md").context("the file is missing")?;
    between_marks(text, "imports", &import_map(workspace))
}

/// The imports between the workspace's crates as a Mermaid graph, without imports that follow from others.
fn import_map(workspace: &Workspace) -> String {
    let imports = |name: &str| {
        workspace
            .packages
            .iter()
            .find(|p| p.name == name)
            .map_or(&[] as &[String], |package| &package.imports)
    };
    let mut map = String::from("```mermaid\ngraph BT\n");
    for package in &workspace.packages {
        let follows =
            |other: &String| package.imports.iter().any(|via| via != other && leads(&imports, via, other));
        let mut direct: Vec<&String> = package.imports.iter().filter(|other| !follows(other)).collect();
        direct.sort();
        for other in direct {
            writeln!(map, "  {} --> {other}", package.name).expect("a string takes any text");
        }
        if package.imports.is_empty() {
            writeln!(map, "  {}", package.name).expect("a string takes any text");
        }
    }
    map + "```\n"
}

fn leads<'a>(imports: &impl Fn(&str) -> &'a [String], from: &str, to: &str) -> bool {
    imports(from).iter().any(|next| next == to || leads(imports, next, to))
}

/// `text` with `body` in place of the text between the marks `<!-- generated: NAME -->` and `<!-- end -->`.
fn between_marks(text: &str, name: &str, body: &str) -> Result<String> {
    let open = format!("<!-- generated: {name} -->\n");
    let (before, rest) = text.split_once(&open).with_context(|| format!("no mark `{}`", open.trim()))?;
    let (_, after) = rest.split_once("<!-- end -->").context("no mark `<!-- end -->` after it")?;
    Ok(format!("{before}{open}{body}<!-- end -->{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Package;

    fn package(name: &str, imports: &[&str]) -> Package {
        Package { name: name.into(), imports: imports.iter().map(|&i| i.into()).collect(), roots: Vec::new() }
    }

    #[test]
    fn the_map_leaves_out_what_follows() {
        let packages = vec![
            package("kernel", &["units"]),
            package("ports", &["units", "kernel"]),
            package("units", &[]),
        ];
        let workspace = Workspace { packages, ..Workspace::default() };
        assert_eq!(
            import_map(&workspace),
            "```mermaid\ngraph BT\n  kernel --> units\n  ports --> kernel\n  units\n```\n"
        );
    }

    #[test]
    fn only_the_text_between_the_marks_changes() {
        let text = "a\n<!-- generated: x -->\nold\n<!-- end -->\nb\n";
        let new = between_marks(text, "x", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- generated: x -->\nnew\n<!-- end -->\nb\n");
        assert_eq!(between_marks(&new, "x", "new\n").unwrap(), new, "a second run changes nothing");
    }

    #[test]
    fn missing_marks_are_an_error() {
        assert!(between_marks("a", "x", "b").is_err());
        assert!(between_marks("<!-- generated: x -->\n", "x", "b").is_err());
    }
}
