//! A scenario begins with a sentence that says why it exists, in a comment or in `about:`.

use super::Breach;
use crate::workspace::Workspace;

/// Scenarios that do not begin with a sentence of at least three words.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    workspace
        .files
        .iter()
        .filter(|(path, _)| path.starts_with("scenarios/") && path.ends_with(".yaml"))
        .filter(|(_, text)| !opens_with_a_sentence(text))
        .map(|(path, _)| Breach::at(path, 1, "open with a sentence: why does this scenario exist?"))
        .collect()
}

fn opens_with_a_sentence(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && *line != "---");
    let first = lines.next().unwrap_or_default();
    let sentence = match first.strip_prefix("about:").map(str::trim) {
        // a block scalar: the sentence begins on the next line
        Some(mark) if mark.starts_with(['>', '|']) => lines.next(),
        Some(sentence) => Some(sentence),
        None => first.strip_prefix('#').map(str::trim),
    };
    sentence.is_some_and(|sentence| sentence.split_whitespace().count() >= 3)
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    #[test]
    fn a_comment_or_an_about_will_do() {
        for text in [
            "# Does a retimer cost anything?\nmachine: {}\n",
            "about: Does a retimer cost anything?\n",
            "---\n\nabout: >\n  Does a retimer cost anything?\n",
        ] {
            assert_eq!(breaches(&tree([("scenarios/a.yaml", text)])), [], "{text}");
        }
        assert_eq!(breaches(&tree([("parts/a.yaml", "name: x")])), []);
    }

    #[test]
    fn silence_is_a_breach() {
        for text in
            ["", "machine: {}\nabout: Does a retimer cost anything?\n", "# demo\n", "about:\n", "about: >\n"]
        {
            assert_eq!(
                said(&breaches(&tree([("scenarios/a.yaml", text)]))),
                ["scenarios/a.yaml:1: open with a sentence: why does this scenario exist?"],
                "{text}"
            );
        }
    }
}
