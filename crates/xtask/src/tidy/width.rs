//! Lines of comments in Rust files have at most 120 characters, so that they can be read in an editor.

use super::Breach;
use crate::workspace::Workspace;

/// Maximum length of a line \[characters\].
const MOST: usize = 120;

/// Lines of comments that are longer, except in tables and fences (diagrams, code), which cannot be broken.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let rust = workspace.files.iter().filter(|(path, _)| path.ends_with(".rs"));
    rust.flat_map(|(path, text)| long_lines(text).map(move |(line, length)| too_long(path, line, length)))
        .collect()
}

fn too_long(path: &str, line: usize, length: usize) -> Breach {
    Breach::at(path, line, format!("a comment of {length} characters"))
}

/// Number and length of every line of a comment that is too long.
fn long_lines(text: &str) -> impl Iterator<Item = (usize, usize)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(at, line)| {
        let comment = line.trim_start().strip_prefix("//")?.trim_start_matches(['/', '!']).trim_start();
        let fence = comment.starts_with("```");
        fenced ^= fence;
        let length = line.chars().count();
        let is_free = fenced || fence || comment.starts_with('|');
        (length > MOST && !is_free).then_some((at + 1, length))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    fn judge(text: &str) -> Vec<String> {
        said(&breaches(&tree([("crates/a/src/lib.rs", text), ("docs/a.md", text)])))
    }

    #[test]
    fn a_long_line_of_a_comment_is_a_breach() {
        let long = "word ".repeat(24);
        for mark in ["//", "///", "    //!"] {
            let line = format!("{mark} {long}");
            let expected = format!("crates/a/src/lib.rs:2: a comment of {} characters", line.chars().count());
            assert_eq!(judge(&format!("fn f() {{}}\n{line}\n")), [expected]);
        }
    }

    #[test]
    fn tables_pictures_code_and_short_lines_are_free() {
        let long = "─".repeat(121);
        for text in [
            format!("//! | {long} |"),
            format!("//! ```text\n//! {long}\n//! ```"),
            format!("// {}", "é".repeat(117)),
            format!("let x = \"{long}\";"),
        ] {
            assert_eq!(judge(&text), [""; 0], "{text}");
        }
    }
}
