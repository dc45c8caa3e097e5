//! No function is longer than 60 lines; a longer one does more than one thing.

use super::Breach;
use crate::source::{self, Token};
use crate::workspace::Workspace;

/// Maximum number of lines of a function, from `fn` to its closing brace.
const MOST: usize = 60;

/// Functions that may be longer for the time being: their file and name.
const LONGER: [(&str, &str); 1] = [("crates/plan/src/resolve/mod.rs", "resolve")];

/// Functions outside tests that are too long, and exceptions that are not needed.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let is_judged =
        |path: &str| path.ends_with(".rs") && !path.contains("/tests/") && !path.ends_with("tests.rs");
    let mut found = Vec::new();
    for (path, text) in workspace.files.iter().filter(|(path, _)| is_judged(path)) {
        let Ok(tokens) = source::tokens(text) else { continue };
        for (line, name, length) in functions(&source::production(&tokens)) {
            let may = LONGER.contains(&(path.as_str(), name));
            if may && length <= MOST {
                found.push(Breach::at(
                    path,
                    line,
                    format!("`{name}` is not too long any more: take it from `LONGER`"),
                ));
            } else if !may && length > MOST {
                let says =
                    format!("`{name}` has {length} lines, {MOST} at most; which two things does it do?");
                found.push(Breach::at(path, line, says));
            }
        }
    }
    found
}

/// Every function with a body: its first line, its name, and its number of lines.
fn functions(tokens: &[Token]) -> Vec<(usize, &str, usize)> {
    let mut all = Vec::new();
    for (at, pair) in tokens.windows(2).enumerate() {
        let [keyword, name] = pair else { continue };
        // the type of a function pointer, which has no name, is skipped
        if keyword.text != "fn" || name.text == "(" {
            continue;
        }
        if let Some(end) = body_end(&tokens[at..]) {
            all.push((keyword.line, &*name.text, end - keyword.line + 1));
        }
    }
    all
}

/// The line of the brace that closes the body; `None` if the function is only declared.
fn body_end(tokens: &[Token]) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_body = false;
    for token in tokens {
        match &*token.text {
            ";" if depth == 0 => return None,
            "{" if depth == 0 => (depth, in_body) = (1, true),
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => {
                depth = depth.checked_sub(1)?;
                if depth == 0 && in_body {
                    return Some(token.line);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    fn function(lines: usize) -> String {
        format!("pub fn long<F: Fn() -> [u8; 2]>(f: F) {{\n{}}}\n", "f();\n".repeat(lines - 2))
    }

    #[test]
    fn a_function_of_more_lines_is_a_breach() {
        let found = breaches(&tree([("a.rs", &function(61)), ("b.rs", &function(60))]));
        assert_eq!(said(&found), ["a.rs:1: `long` has 61 lines, 60 at most; which two things does it do?"]);
    }

    #[test]
    fn methods_count_and_declarations_pointers_and_tests_do_not() {
        let method = format!("impl A {{\n{}}}\n", function(70));
        assert_eq!(breaches(&tree([("a.rs", &method)])).len(), 1);
        let lines = "let x = 1;\n".repeat(70);
        let others = [
            format!(
                "trait T {{ fn declared(&self); }}\nstruct S {{ f: fn(u8) -> u8 }}\nmod m {{\n{}}}\n",
                "\n".repeat(70)
            ),
            format!("#[cfg(test)]\nmod tests {{\nfn test() {{\n{lines}}}\n}}\n"),
        ];
        for text in &others {
            assert_eq!(breaches(&tree([("a.rs", text)])), []);
        }
        assert_eq!(breaches(&tree([("a/tests/b.rs", &function(70))])), []);
    }
}
