//! Mistakes that a user of this crate can make.

use lanetwin_document::{Diagnostic, Severity};

/// VA001: a claim that does not exist.
pub(crate) fn unknown_claim(name: &str, known: &[&str]) -> Diagnostic {
    let near = known.iter().map(|claim| (distance(name, claim), claim)).min();
    let near = near.filter(|(steps, _)| *steps <= name.chars().count() / 2);
    let meant = near.map_or(String::new(), |(_, claim)| format!("did you mean `{claim}`? "));
    Diagnostic {
        file: "command line".into(),
        line: 0,
        column: 0,
        code: "VA001",
        severity: Severity::Error,
        path: name.into(),
        message: format!("there is no claim `{name}`"),
        help: format!("{meant}the claims are {}", known.join(", ")),
    }
}

/// The Levenshtein distance: the number of letters to insert, delete or replace.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.chars().enumerate() {
        let mut diagonal = std::mem::replace(&mut row[0], i + 1);
        for j in 0..b.len() {
            let replaced = diagonal + usize::from(letter != b[j]);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_claim_is_proposed_and_all_are_listed() {
        let known = ["section-i", "pcie-bench"];
        let help = |name| unknown_claim(name, &known).help;
        assert_eq!(help("pcie-bnech"), "did you mean `pcie-bench`? the claims are section-i, pcie-bench");
        assert_eq!(help("dram"), "the claims are section-i, pcie-bench");
        assert_eq!(help(""), "the claims are section-i, pcie-bench");
    }

    #[test]
    fn distances() {
        assert_eq!([distance("", "abc"), distance("kitten", "sitting"), distance("a", "a")], [3, 3, 0]);
    }
}
