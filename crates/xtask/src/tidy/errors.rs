//! Every error code has a page in `docs/errors/`, and every page a code.
//!
//! A code is two capital letters and three digits. It counts if it is a whole string literal or a name in Rust, or a
//! whole string in Python; tests may invent codes.

use super::Breach;
use crate::source;
use crate::workspace::Workspace;
use std::collections::BTreeMap;

const FOLDER: &str = "docs/errors";

/// Codes without a page, pages without a code, pages whose title does not contain their code.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let used = used_codes(workspace);
    let pages: BTreeMap<&str, &str> = workspace
        .in_folder(FOLDER, ".md")
        .filter_map(|(path, text)| Some((path.rsplit('/').next()?.strip_suffix(".md")?, text)))
        .filter(|(name, _)| is_code(name))
        .collect();
    let mut found = Vec::new();
    for (code, (path, line)) in used.iter().filter(|(code, _)| !pages.contains_key(code.as_str())) {
        found.push(Breach::at(path, *line, format!("error {code} has no page {FOLDER}/{code}.md")));
    }
    for (code, text) in pages {
        let page = format!("{FOLDER}/{code}.md");
        if !used.contains_key(code) {
            found.push(Breach::of(&page, "nothing reports this error"));
        }
        let title = text.lines().next().unwrap_or_default();
        if !title.starts_with("# ") || !title.contains(code) {
            found.push(Breach::at(&page, 1, format!("the page opens with a heading that names {code}")));
        }
    }
    found
}

/// Every code, and the first place where it is used.
fn used_codes(workspace: &Workspace) -> BTreeMap<String, (String, usize)> {
    let mut used = BTreeMap::new();
    for (path, text) in &workspace.files {
        let codes = match path.rsplit('.').next() {
            Some("rs") if production_file(path) => codes_in_rust(text),
            Some("py") if production_file(path) => codes_in_python(text),
            _ => continue,
        };
        for (code, line) in codes {
            used.entry(code).or_insert_with(|| (path.clone(), line));
        }
    }
    used
}

fn production_file(path: &str) -> bool {
    let aside = ["crates/xtask/", "tests/", "benches/"];
    !aside.iter().any(|folder| path.starts_with(folder))
        && !path.contains("/tests/")
        && !path.ends_with("/tests.rs")
}

fn codes_in_rust(text: &str) -> Vec<(String, usize)> {
    let Ok(tokens) = source::tokens(text) else { return Vec::new() };
    source::production(&tokens)
        .into_iter()
        .map(|token| (source::string_value(&token.text).unwrap_or(&token.text).to_owned(), token.line))
        .filter(|(text, _)| is_code(text))
        .collect()
}

fn codes_in_python(text: &str) -> Vec<(String, usize)> {
    let lines = text.lines().enumerate();
    lines
        .flat_map(|(index, line)| {
            line.split(['"', '\'']).skip(1).step_by(2).map(move |piece| (piece, index + 1))
        })
        .filter(|(piece, _)| is_code(piece))
        .map(|(piece, line)| (piece.to_owned(), line))
        .collect()
}

fn is_code(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 5
        && bytes[..2].iter().all(u8::is_ascii_uppercase)
        && bytes[2..].iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    const SOURCE: (&str, &str) =
        ("crates/a/src/lib.rs", "\nconst C: Code = Code(\"SC001\"); fn f() { g(SC002) }");
    const PAGES: [(&str, &str); 2] =
        [("docs/errors/SC001.md", "# SC001: unknown part\n"), ("docs/errors/SC002.md", "# SC002: x\n")];

    #[test]
    fn codes_and_pages_in_step_are_silent() {
        let other = ("docs/errors/README.md", "# The errors");
        assert_eq!(breaches(&tree([SOURCE, PAGES[0], PAGES[1], other])), []);
    }

    #[test]
    fn a_code_without_a_page_is_a_breach() {
        assert_eq!(
            said(&breaches(&tree([SOURCE, PAGES[0]]))),
            ["crates/a/src/lib.rs:2: error SC002 has no page docs/errors/SC002.md"]
        );
        let python = ("python/lanetwin/cli.py", "raise Fault('CL001')");
        assert_eq!(
            said(&breaches(&tree([python])))[0],
            "python/lanetwin/cli.py:1: error CL001 has no page docs/errors/CL001.md"
        );
    }

    #[test]
    fn a_page_without_a_code_or_with_a_wrong_title_is_a_breach() {
        let orphan = ("docs/errors/SC003.md", "# SC003");
        assert_eq!(
            said(&breaches(&tree([SOURCE, PAGES[0], PAGES[1], orphan]))),
            ["docs/errors/SC003.md: nothing reports this error"]
        );
        let wrong = ("docs/errors/SC002.md", "# SC001: copied\n");
        assert_eq!(
            said(&breaches(&tree([SOURCE, PAGES[0], wrong]))),
            ["docs/errors/SC002.md:1: the page opens with a heading that names SC002"]
        );
    }

    #[test]
    fn tests_comments_and_prose_may_name_any_code() {
        let text = "// SC009\n/// See `SC008`.\nfn f() { say(\"see SC007\") }\n#[cfg(test)] mod tests { const X: &str = \"SC006\"; }";
        assert_eq!(
            breaches(&tree([("crates/a/src/lib.rs", text), ("crates/a/tests/x.rs", "f(\"SC005\")")])),
            []
        );
    }
}
