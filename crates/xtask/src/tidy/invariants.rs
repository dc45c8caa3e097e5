//! The tests and rules that are listed in ARCHITECTURE.md as guards of invariants exist.
//!
//! In the column `held by`, `tidy: NAME` is a rule of this tool, `make VERB` a target of the Makefile, and
//! `path/to/file::name` a test in that file. A dash says that nothing checks the invariant yet.

use super::Breach;
use crate::markdown;
use crate::workspace::Workspace;

const MAP: &str = "ARCHITECTURE.md";
/// The folder with a file for each rule.
const RULES: &str = "crates/xtask/src/tidy/";

/// Invariants whose guard does not exist, or that have neither a guard nor a dash.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let text = workspace.files.get(MAP).map_or("", String::as_str);
    let mut found = Vec::new();
    for table in markdown::tables(text) {
        let Some(column) = table.column("held by") else { continue };
        for (line, cells) in &table.rows {
            let cell = cells.get(column).map_or("", String::as_str);
            let guards: Vec<&str> = cell.split('`').skip(1).step_by(2).collect();
            if guards.is_empty() && cell != "—" {
                found.push(Breach::at(MAP, *line, "say what holds this invariant, or `—`"));
            }
            for guard in guards.iter().filter(|guard| !exists(workspace, guard)) {
                found.push(Breach::at(MAP, *line, format!("`{guard}` does not exist")));
            }
        }
    }
    found
}

fn exists(workspace: &Workspace, guard: &str) -> bool {
    if let Some(rule) = guard.strip_prefix("tidy: ") {
        return workspace.files.contains_key(&format!("{RULES}{rule}.rs"));
    }
    if let Some(verb) = guard.strip_prefix("make ") {
        let makefile = workspace.files.get("Makefile").map_or("", String::as_str);
        return makefile.lines().any(|line| line.split_once(':').is_some_and(|(target, _)| target == verb));
    }
    let Some((file, test)) = guard.split_once("::") else { return false };
    let Some(text) = workspace.files.get(file) else { return false };
    let defines = |keyword: &str| text.contains(&format!("{keyword} {test}("));
    defines("fn") || defines("def")
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    fn judge(cell: &str) -> Vec<String> {
        let map = format!("| # | Invariant | Held by |\n|---|---|---|\n| 1 | It is so. | {cell} |\n");
        let rust = ("crates/a/src/lib.rs", "#[test]\nfn it_is_so() {}\n");
        said(&breaches(&tree([
            (MAP, &map),
            rust,
            ("crates/xtask/src/tidy/floors.rs", ""),
            ("tests/python/test_a.py", "def test_so() -> None: ...\n"),
        ])))
    }

    #[test]
    fn guards_that_exist_and_an_open_dash_are_silent() {
        for cell in
            ["`tidy: floors`", "`crates/a/src/lib.rs::it_is_so`, and `tests/python/test_a.py::test_so`", "—"]
        {
            assert_eq!(judge(cell), [""; 0], "{cell}");
        }
    }

    #[test]
    fn guards_that_do_not_exist_are_breaches() {
        for guard in [
            "tidy: magic",
            "make tea",
            "crates/a/src/lib.rs::it_is",
            "crates/b/src/lib.rs::it_is_so",
            "it_is_so",
        ] {
            assert_eq!(
                judge(&format!("`{guard}`")),
                [format!("ARCHITECTURE.md:3: `{guard}` does not exist")]
            );
        }
        assert_eq!(judge("everybody"), ["ARCHITECTURE.md:3: say what holds this invariant, or `—`"]);
    }
}
