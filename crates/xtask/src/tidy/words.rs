//! Words that may not occur in the repository, listed in `crates/xtask/words.txt`: paths of a particular machine, notes
//! to oneself.

use super::Breach;
use crate::workspace::Workspace;

const LIST: &str = include_str!("../../words.txt");
/// Files that are exempt: others wrote them, or they have to contain the words.
const EXEMPT: [&str; 5] = ["crates/xtask/", "Cargo.lock", "fuzz/Cargo.lock", "LICENSE-APACHE", "LICENSE-MIT"];

/// Every place where a listed word occurs.
pub fn breaches(workspace: &Workspace) -> Vec<Breach> {
    let words = read_list(LIST);
    let ours = |path: &str| !EXEMPT.iter().any(|exempt| path.starts_with(exempt));
    let mut found = Vec::new();
    for (path, text) in workspace.files.iter().filter(|(path, _)| ours(path)) {
        for (index, line) in text.lines().enumerate() {
            for (word, why) in words.iter().filter(|(word, _)| stands_in(line, word)) {
                found.push(Breach::at(path, index + 1, format!("`{word}`: {why}")));
            }
        }
    }
    found
}

/// The words of lines such as `word  # why`, with their reasons. Empty lines and lines that begin with `#` are skipped.
fn read_list(text: &str) -> Vec<(&str, &str)> {
    text.lines()
        .filter_map(|line| line.split_once('#'))
        .map(|(word, why)| (word.trim(), why.trim()))
        .filter(|(word, _)| !word.is_empty())
        .collect()
}

/// Whether `word` occurs in `line` by itself: not as a part of a longer word or, if it is a path, as the end of a
/// longer path.
fn stands_in(line: &str, word: &str) -> bool {
    line.match_indices(word).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + word.len()..].chars().next();
        let letter = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
        let path = word.ends_with('/');
        !before.is_some_and(|c| letter(c) || (path && "./}*".contains(c)))
            && (path || !after.is_some_and(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::super::testing::{said, tree};
    use super::*;

    #[test]
    fn a_listed_word_is_a_breach_with_its_reason() {
        let said = said(&breaches(&tree([("docs/a.md", "fine\nsee /home/me/x\n")])));
        assert_eq!(said, ["docs/a.md:2: `/home/`: a path of one machine"]);
    }

    #[test]
    fn the_middle_of_a_longer_path_or_word_is_no_breach() {
        for line in ["host/root/port", "./tmp/x", "${DIR}/tmp/x", "a frame/work/x", "MASTODON"] {
            for (word, _) in read_list(LIST) {
                assert!(!stands_in(line, word), "{word} in {line}");
            }
        }
        assert!(stands_in("cd /tmp/x", "/tmp/"));
        assert!(stands_in("(`/tmp/x`)", "/tmp/"));
    }

    #[test]
    fn every_word_of_the_list_has_a_reason() {
        let words = read_list(LIST);
        assert!(!words.is_empty());
        assert!(words.iter().all(|(_, why)| why.len() > 5));
        assert_eq!(breaches(&tree([("LICENSE-MIT", "/home/"), ("crates/xtask/words.txt", "/home/")])), []);
    }
}
