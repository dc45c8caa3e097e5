//! Every claim in CLAIMS.md names the command that shows it.

use super::Breach;
use crate::markdown;
use crate::workspace::Workspace;

const CLAIMS: &str = "CLAIMS.md";
const PROGRAMS: [&str; 4] = ["lanetwin", "make", "cargo", "pytest"];

/// Rows of CLAIMS.md without a command.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let Some(text) = workspace.files.get(CLAIMS) else { return vec![Breach::of(CLAIMS, "is missing")] };
    let tables = markdown::tables(text);
    let mut found: Vec<Breach> = tables
        .iter()
        .filter_map(|table| Some((table.column("command")?, &table.rows)))
        .flat_map(|(column, rows)| rows.iter().filter(move |(_, cells)| !names_command(cells.get(column))))
        .map(|(line, _)| Breach::at(CLAIMS, *line, "this claim names no command"))
        .collect();
    if !tables.iter().any(|table| table.column("command").is_some() && !table.rows.is_empty()) {
        found.push(Breach::of(CLAIMS, "has no table of claims with a column `command`"));
    }
    found
}

fn names_command(cell: Option<&String>) -> bool {
    let code = cell.and_then(|cell| cell.split('`').nth(1));
    let program =
        code.and_then(|code| code.split_whitespace().next()).and_then(|path| path.rsplit('/').next());
    program.is_some_and(|program| PROGRAMS.contains(&program))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    fn judge(text: &str) -> Vec<String> {
        said(&breaches(&tree([(CLAIMS, text)])))
    }

    #[test]
    fn a_claim_with_a_command_is_silent() {
        let text = "| Claim | Command |\n|---|---|\n| fast | `make bench` |\n| true | `.venv/bin/lanetwin validate x` |\n";
        assert_eq!(judge(text), [""; 0]);
    }

    #[test]
    fn a_claim_without_one_is_a_breach() {
        let text = "| Claim | Command |\n|---|---|\n| a | soon |\n| b | `rm -r x` |\n| c |\n";
        let expected = [3, 4, 5].map(|line| format!("CLAIMS.md:{line}: this claim names no command"));
        assert_eq!(judge(text), expected);
    }

    #[test]
    fn a_page_without_claims_is_a_breach() {
        let empty = "CLAIMS.md: has no table of claims with a column `command`";
        assert_eq!(judge("We are good."), [empty]);
        assert_eq!(judge("| Claim | Command |\n|---|---|\n"), [empty]);
        assert_eq!(said(&breaches(&tree([]))), ["CLAIMS.md: is missing"]);
    }
}
