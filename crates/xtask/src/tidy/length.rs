//! No source file is longer than 500 lines without its tests; a longer one has more than one subject.

use super::Breach;
use crate::source;
use crate::workspace::Workspace;

/// Maximum number of lines of a file, without the tests at its end.
const MOST: usize = 500;

/// Files that may be longer, and why they are nevertheless one subject.
const LONGER: [(&str, &str); 2] = [
    (
        "crates/cxl/src/spec/flit.rs",
        "the words of a flit are declared beside the code that packs and unpacks them",
    ),
    ("python/lanetwin/schema.py", "generated: the types of one document"),
];

/// Source files that are too long, and exceptions that are not needed.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let source = |path: &str| path.ends_with(".rs") || path.ends_with(".py");
    let may = |path: &str| LONGER.iter().any(|(longer, _)| *longer == path);
    workspace
        .files
        .iter()
        .filter(|(path, _)| source(path))
        .filter_map(|(path, text)| match (lines_before_tests(text), may(path)) {
            (length, false) if length > MOST => Some(Breach::of(
                path,
                format!(
                    "has {length} lines without its tests, {MOST} at most; which two subjects are these?"
                ),
            )),
            (length, true) if length <= MOST => {
                Some(Breach::of(path, "is not too long any more; take it from `LONGER` in length.rs"))
            }
            _ => None,
        })
        .collect()
}

/// The number of lines before the test module, which is the last item of a file.
fn lines_before_tests(text: &str) -> usize {
    let whole = text.lines().count();
    let Ok(tokens) = source::tokens(text) else { return whole };
    let tests = ["#", "[", "cfg", "(", "test", ")", "]", "mod"];
    // the declaration of a test module in a file of its own may be anywhere, and ends nothing
    let begins = |at: usize| {
        let here = &tokens[at..];
        source::starts_with(here, &tests) && here.get(tests.len() + 1).is_some_and(|token| token.text == "{")
    };
    (0..tokens.len()).find(|&at| begins(at)).map_or(whole, |at| tokens[at].line - 1)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    fn tested(lines: usize) -> String {
        format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "fn f() {}\n".repeat(lines), "\n".repeat(900))
    }

    #[test]
    fn long_files_are_breaches_and_tests_at_their_end_do_not_count() {
        let long = "fn f() {}\n".repeat(501);
        let workspace = tree([
            ("a.rs", &long),
            ("b.rs", &tested(500)),
            ("c.md", &long),
            ("d.py", &"x = 1\n".repeat(600)),
            ("e.rs", &tested(502)),
        ]);
        let too_long = |path: &str, lines: usize| {
            format!("{path}: has {lines} lines without its tests, 500 at most; which two subjects are these?")
        };
        assert_eq!(
            said(&breaches(&workspace)),
            [too_long("a.rs", 501), too_long("d.py", 600), too_long("e.rs", 502)]
        );
    }

    #[test]
    fn tests_in_a_file_of_their_own_end_nothing() {
        let text = format!("#[cfg(test)]\nmod tests;\n{}", "fn f() {}\n".repeat(499));
        assert_eq!(breaches(&tree([("a.rs", &text)])).len(), 1);
        assert_eq!(breaches(&tree([("a.rs", &text.replacen("fn f() {}\n", "", 1))])), []);
    }

    #[test]
    fn an_exception_holds_as_long_as_it_is_needed() {
        let (path, _) = LONGER[0];
        assert_eq!(breaches(&tree([(path, &tested(501))])), []);
        assert_eq!(breaches(&tree([(path, &tested(500))])).len(), 1);
    }
}
