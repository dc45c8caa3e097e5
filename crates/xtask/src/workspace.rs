//! The input of the rules: the text of every file of the repository, and its packages as cargo lists them.

use anyhow::{Context, Result, ensure};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The repository's root directory.
#[must_use]
pub fn root() -> PathBuf {
    // `cargo run` sets the variable to the folder of this package; the path at compile time may be another checkout's
    let package = std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_else(|| env!("CARGO_MANIFEST_DIR").into());
    Path::new(&package).ancestors().nth(2).expect("crates/xtask lies two levels below the root").to_path_buf()
}

/// The input of the rules. They are functions of this value alone, so that tests can call them with an invented tree.
#[derive(Default)]
pub struct Workspace {
    /// Text of every file that git tracks or does not ignore, by its path from the root, with `/` between the parts.
    pub files: BTreeMap<String, String>,
    /// The packages of the workspace.
    pub packages: Vec<Package>,
}

/// One package of the workspace.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Package {
    /// Its name without the prefix `lanetwin-`.
    pub name: String,
    /// Names, without the prefix, of the workspace's packages that it imports, not counting dev-dependencies.
    pub imports: Vec<String>,
    /// The root files of its targets (`src/lib.rs`, `tests/x.rs` …), by their paths from the root of the repository.
    pub roots: Vec<String>,
}

impl Workspace {
    /// Reads the checkout at `root`.
    pub fn read(root: &Path) -> Result<Self> {
        Ok(Self { files: read_files(root)?, packages: packages(&metadata(root)?, root)? })
    }

    /// The files in `folder` (not below it) whose name ends in `ending`.
    pub fn in_folder<'a>(
        &'a self,
        folder: &'a str,
        ending: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.files
            .iter()
            .filter(move |(path, _)| {
                path.rsplit_once('/').map_or("", |(parent, _)| parent) == folder && path.ends_with(ending)
            })
            .map(|(path, text)| (path.as_str(), text.as_str()))
    }
}

fn read_files(root: &Path) -> Result<BTreeMap<String, String>> {
    // git also has to list a checkout that another user owns, as in a container; nothing in it is run
    let trust = format!("safe.directory={}", root.display());
    let list = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listing = output(Command::new("git").current_dir(root).args(["-c", &trust]).args(list))?;
    let mut files = BTreeMap::new();
    for path in listing.split('\0').filter(|path| !path.is_empty()) {
        // a file may have been deleted without a commit
        let Ok(bytes) = std::fs::read(root.join(path)) else { continue };
        // a binary file can be the target of a link, but has no text
        files.insert(path.to_owned(), String::from_utf8(bytes).unwrap_or_default());
    }
    ensure!(!files.is_empty(), "git lists no file in {}", root.display());
    Ok(files)
}

fn metadata(root: &Path) -> Result<Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let text = output(Command::new(cargo).current_dir(root).args([
        "metadata",
        "--no-deps",
        "--format-version",
        "1",
    ]))?;
    serde_json::from_str(&text).context("cargo metadata did not print JSON")
}

/// Runs a command, which has to succeed, and returns its output.
pub fn output(command: &mut Command) -> Result<String> {
    let what = format!("{command:?}");
    let output = command.output().with_context(|| format!("cannot start {what}"))?;
    ensure!(output.status.success(), "{what} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).with_context(|| format!("{what} printed something that is not text"))
}

/// The path from the root of a relative path `target` in `folder`; `None` if it leaves the repository.
pub fn resolve(folder: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Writes a file; an error names the file.
pub fn write(path: &Path, text: &str) -> Result<()> {
    std::fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn packages(metadata: &Value, root: &Path) -> Result<Vec<Package>> {
    let listed = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let mut packages: Vec<Package> = listed.iter().map(|package| read_package(package, root)).collect();
    packages.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(packages)
}

fn read_package(package: &Value, root: &Path) -> Package {
    let entries = |key: &str| package[key].as_array().cloned().unwrap_or_default();
    let imports = entries("dependencies")
        .iter()
        .filter(|dependency| dependency["path"].is_string() && dependency["kind"] != "dev")
        .map(|dependency| short_name(&dependency["name"]))
        .collect();
    let roots = entries("targets")
        .iter()
        .filter_map(|target| Path::new(target["src_path"].as_str()?).strip_prefix(root).ok())
        .map(|path| path.to_string_lossy().replace('\\', "/"))
        .collect();
    Package { name: short_name(&package["name"]), imports, roots }
}

fn short_name(name: &Value) -> String {
    let name = name.as_str().unwrap_or_default();
    name.strip_prefix("lanetwin-").unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_read_without_its_test_imports_and_without_strangers() {
        let metadata = serde_json::json!({"packages": [{
            "name": "lanetwin-ports",
            "dependencies": [
                {"name": "lanetwin-kernel", "path": "/r/crates/kernel", "kind": null},
                {"name": "lanetwin-stats", "path": "/r/crates/stats", "kind": "dev"},
                {"name": "serde", "kind": null},
            ],
            "targets": [{"src_path": "/r/crates/ports/src/lib.rs"}],
        }]});
        let expected = Package {
            name: "ports".into(),
            imports: vec!["kernel".into()],
            roots: vec!["crates/ports/src/lib.rs".into()],
        };
        assert_eq!(packages(&metadata, Path::new("/r")).unwrap(), [expected]);
    }

    #[test]
    fn this_checkout_can_be_read() {
        let workspace = Workspace::read(&root()).unwrap();
        assert!(workspace.files.contains_key("Cargo.toml"));
        assert!(workspace.packages.iter().any(|package| package.name == "xtask"));
    }

    #[test]
    fn a_folder_holds_its_own_files_only() {
        let files = ["parts/a.yaml", "parts/old/b.yaml", "parts/c.md"];
        let workspace = Workspace {
            files: files.map(|path| (path.to_owned(), String::new())).into(),
            ..Workspace::default()
        };
        let found: Vec<&str> = workspace.in_folder("parts", ".yaml").map(|(path, _)| path).collect();
        assert_eq!(found, ["parts/a.yaml"]);
    }
}
