//! The longest files, as remarks: a prompt to look again, never a breach.

use crate::source;
use crate::workspace::Workspace;

/// Lines without tests above which a file is worth a look.
const WORTH_A_LOOK: usize = 500;

/// Source files longer than most, longest first.
pub fn outliers(workspace: &Workspace) -> Vec<String> {
    let source = |path: &str| path.ends_with(".rs") || path.ends_with(".py");
    let mut lengths: Vec<(usize, &String)> = workspace
        .files
        .iter()
        .filter(|(path, _)| source(path))
        .map(|(path, text)| (lines_before_tests(text), path))
        .filter(|(length, _)| *length > WORTH_A_LOOK)
        .collect();
    lengths.sort_by(|a, b| b.cmp(a));
    lengths.iter().map(|(length, path)| format!("{path} has {length} lines without its tests")).collect()
}

/// The tests stand last in a file.
fn lines_before_tests(text: &str) -> usize {
    let whole = text.lines().count();
    let Ok(tokens) = source::tokens(text) else { return whole };
    let tests = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    let first = (0..tokens.len()).find(|&at| source::starts_with(&tokens[at..], &tests));
    first.map_or(whole, |at| tokens[at].line - 1)
}

#[cfg(test)]
mod tests {
    use super::super::testing::tree;
    use super::*;

    #[test]
    fn only_long_files_are_remarked_and_their_tests_do_not_count() {
        let long = "fn f() {}\n".repeat(501);
        let tested =
            format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "fn f() {}\n".repeat(500), "\n".repeat(900));
        let workspace =
            tree([("a.rs", &long), ("b.rs", &tested), ("c.md", &long), ("d.py", &"x = 1\n".repeat(600))]);
        assert_eq!(
            outliers(&workspace),
            ["d.py has 600 lines without its tests", "a.rs has 501 lines without its tests"]
        );
    }
}
