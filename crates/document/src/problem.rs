//! Mistakes of authors in any document: one variant per code, with message and remedy.
//!
//! A code never changes its meaning and is never used again; `docs/errors/` has a page for each, whose examples are
//! run as tests. `SC0…` and `NA…` (numbered names) are errors, `SC1…` warnings.

use crate::node::Spot;
use crate::spelling::Near;
use lanetwin_problems::problems;
pub use lanetwin_problems::{Complaint, Severity};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// An error or a warning, with its place and remedy.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize)]
pub struct Diagnostic {
    /// The text in which it was found: a path, or `--set …`.
    pub file: String,
    /// Line, from 1; 0 if it concerns the whole text.
    pub line: u32,
    /// Column, from 1, in characters; 0 if it concerns the whole text.
    pub column: u32,
    /// `SC011`: see [`crate::explain`].
    pub code: &'static str,
    /// Whether it stops a run.
    pub severity: Severity,
    /// The place in the document: `links.slot.width`.
    pub path: String,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: String,
}

impl std::fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let severity = if self.severity == Severity::Error { "error" } else { "warning" };
        writeln!(f, "{severity}[{}] {}:{}:{}  {}", self.code, self.file, self.line, self.column, self.path)?;
        write!(f, "  {}\n  help: {}", self.message, self.help)
    }
}

problems! {
    /// A numbered name that counts downwards, or too far.
    BadNumbers { text: String, most: u64 } = "NA001", "`{text}` is not a range of names", "count upwards, as in `ssd1..4`, to {most} names at most";
    /// A numbered value within a numbered entry, of another length.
    NumbersDiffer { one: String, of_one: usize, other: String, of_other: usize } = "NA002", "`{other}` is {of_other} names, and `{one}` is {of_one}", "number both alike, so that each takes its own, or write the names out";
    /// A number of equal things, said of one name.
    Counted { name: String, count: String } = "NA003", "`{name}` is one, and has no `count`", "number its name, so that each can be joined and changed: `{name}1..{count}: …`, and `{name}1..{count}` where all are meant";

    /// The text is not YAML.
    Syntax { said: String } = "SC001", "this is not YAML: {said}", "look at the line and the one above it: a missing `:`, quote or bracket, or an indentation that does not line up";
    /// A file cannot be read.
    Unreadable { file: String, said: String } = "SC002", "cannot read `{file}`: {said}", "check the path, and that the file may be read; it must be UTF-8 text";
    /// YAML beyond plain mappings, lists and values.
    NotPlain { what: &'static str } = "SC003", "{what} has no place here", "write the value out where it is used; a scenario is one plain document";
    /// A key or name that is there twice.
    Duplicate { key: String, line: u32 } = "SC004", "`{key}` is already given in line {line}", "rename or remove one of the two";
    /// A key that nobody knows.
    UnknownKey { key: String, known: String, near: Near } = "SC005", "there is no `{key}` here", "{near}known here: {known}";
    /// A key that is needed.
    Missing { key: String, about: String } = "SC006", "`{key}` is missing", "add `{key}:`, {about}";
    /// A list where a mapping belongs, and so on.
    WrongKind { found: &'static str, wanted: &'static str } = "SC007", "this is {found}, where {wanted} belongs", "write {wanted}";
    /// Not a quantity of the dimension.
    Quantity { text: String, hint: String } = "SC008", "`{text}` cannot be read", "write {hint}";
    /// A number out of its range.
    OutOfRange { text: String, least: String, most: String } = "SC009", "`{text}` is out of range", "choose a value from {least} to {most}";
    /// A word that is not in the list.
    UnknownWord { word: String, words: String, near: Near } = "SC010", "`{word}` is none of the words that can stand here", "{near}write one of {words}";
    /// A variant or `--set` names a place that is not there.
    UnknownPath { path: String, at: String, near: Near } = "SC030", "there is no `{path}`: nothing is called `{at}`", "{near}a path follows the names of the document, as in `links.slot.width`";
    /// A name that cannot be part of a path.
    BadName { name: String } = "SC032", "`{name}` cannot be a name", "use letters and digits of any script (in Unicode's form NFC), `-` and `_`, and open with a letter: names are parts of paths such as `links.slot.width`";
    /// Two keys of which only one can be.
    Exclusive { one: &'static str, other: &'static str } = "SC033", "`{one}` and `{other}` exclude each other", "keep one of the two";
    /// Nothing where something must be.
    Empty { what: &'static str } = "SC034", "{what}", "add at least one";
    /// `--set` without a path or a value.
    BadSet { text: String } = "SC037", "`--set {text}` is not a path, `=` and a value", "write for example `--set links.slot.width=x4`";
    /// A variant that changes how the run goes.
    WholeRun { path: String } = "SC040", "a variant cannot change `{path}`", "a variant changes `machine`, `links`, `partitions`, `interleave` or `workloads`; everything else is of the whole run";

    /// A bare suffix.
    BareSuffix { text: String, taken_as: String } = "SC101", "`{text}` was taken as {taken_as}", "write {taken_as}, or the decimal unit with its B: `kB`, `MB`, `GB`";
    /// Two variants that are the same machine.
    SameVariant { name: String, other: String } = "SC104", "variant `{name}` is the same as `{other}`", "change something in it, or remove it";
}

/// The problems found so far, in any order and without duplicates.
#[derive(Default, Debug)]
pub struct Reports {
    found: BTreeSet<Report>,
}

/// A problem and its place.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Report {
    spot: Spot,
    code: &'static str,
    severity: Severity,
    path: String,
    message: String,
    help: String,
}

impl Reports {
    /// Adds a problem at a place of the document.
    pub fn add(&mut self, problem: impl Complaint, spot: Spot, path: &str) {
        let help = problem.help();
        let help = help.strip_suffix('.').unwrap_or(&help).to_owned();
        self.found.insert(Report {
            spot,
            code: problem.code(),
            severity: problem.severity(),
            path: path.to_owned(),
            message: problem.message(),
            help,
        });
    }
    /// Adds a problem that was found in another document, the source number `file`.
    pub fn add_found(&mut self, found: &Diagnostic, file: u16) {
        self.found.insert(Report {
            spot: Spot { file, line: found.line, column: found.column },
            code: found.code,
            severity: found.severity,
            path: found.path.clone(),
            message: found.message.clone(),
            help: found.help.clone(),
        });
    }
    /// Adds the problems of each variant. A problem of some variants only names them, and is dropped if its code is in
    /// `if_in_all`.
    pub fn absorb_variants(&mut self, variants: Vec<(String, Self)>, if_in_all: &[&str]) {
        let all = variants.len();
        let everything: BTreeSet<Report> = variants.iter().flat_map(|(_, one)| one.found.clone()).collect();
        for mut report in everything {
            let has = |one: &Self| one.found.contains(&report);
            let names: Vec<&str> =
                variants.iter().filter(|(_, one)| has(one)).map(|(name, _)| &**name).collect();
            if names.len() < all {
                if if_in_all.contains(&report.code) {
                    continue;
                }
                let plural = if names.len() == 1 { "" } else { "s" };
                report.message = format!("{} (in variant{plural} `{}`)", report.message, names.join("`, `"));
            }
            self.found.insert(report);
        }
    }
    /// Whether there are errors.
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|report| report.severity == Severity::Error)
    }
    /// All problems, in the order of their places. Problems about several names at one place, such as those of a
    /// numbered entry, are merged.
    pub fn into_diagnostics(self, sources: &[String]) -> Vec<Diagnostic> {
        let complete = |report: Report| Diagnostic {
            code: report.code,
            severity: report.severity,
            file: sources.get(usize::from(report.spot.file)).cloned().unwrap_or_default(),
            line: report.spot.line,
            column: report.spot.column,
            path: report.path,
            message: report.message,
            help: report.help,
        };
        let mut found: Vec<Report> = self.found.into_iter().collect();
        let same = |one: &mut Report, other: &mut Report| {
            one.spot.line > 0
                && (one.spot, one.code, &one.message) == (other.spot, other.code, &other.message)
        };
        found.dedup_by(same);
        found.into_iter().map(complete).collect()
    }
}

/// The words of a list, for a message: `a`, `b`, `c`.
pub fn quoted<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    let words: Vec<&str> = words.into_iter().collect();
    if words.is_empty() { "none".into() } else { format!("`{}`", words.join("`, `")) }
}

/// Maximum number of keys that a message lists one by one.
const LISTED: usize = 24;

/// The valid keys, for a message. If there are too many to read, keys with a common beginning are merged: `nand.*`.
pub fn known_keys<'a>(keys: impl IntoIterator<Item = &'a str>) -> String {
    let keys: Vec<&str> = keys.into_iter().collect();
    if keys.len() <= LISTED {
        return quoted(keys);
    }
    let family = |key: &'a str| key.split_once('.').map(|(first, _)| first);
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    for first in keys.iter().filter_map(|key| family(key)) {
        *sizes.entry(first).or_default() += 1;
    }
    let word = |key: &&'a str| {
        let first = family(key).filter(|first| sizes[first] > 1);
        first.map_or_else(|| (*key).to_owned(), |first| format!("{first}.*"))
    };
    let mut listed = BTreeSet::new();
    let shown: Vec<String> = keys.iter().map(word).filter(|word| listed.insert(word.clone())).collect();
    quoted(shown.iter().map(String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_keys_families_are_listed() {
        let few = ["part", "nand.page", "nand.read"];
        assert_eq!(known_keys(few), "`part`, `nand.page`, `nand.read`");
        let more: Vec<String> = (0..LISTED).map(|n| format!("firmware.{n}")).collect();
        let many = few.into_iter().chain(["buffer", "buffer.frees", "queues.entries"]);
        let many = many.chain(more.iter().map(String::as_str));
        assert_eq!(
            known_keys(many),
            "`part`, `nand.*`, `buffer`, `buffer.frees`, `queues.entries`, `firmware.*`"
        );
    }

    #[test]
    fn codes_ascend_and_are_never_used_twice() {
        assert!(CODES.windows(2).all(|pair| pair[0] < pair[1]), "{CODES:?}");
    }

    #[test]
    fn what_is_wrong_in_some_variants_says_in_which() {
        let with = |problems: &[Problem]| {
            let mut reports = Reports::default();
            problems.iter().for_each(|problem| reports.add(problem.clone(), Spot::default(), "x"));
            reports
        };
        let anchor = || Problem::NotPlain { what: "an anchor" };
        let bad = |name: &str| Problem::BadName { name: name.into() };
        let mut all = Reports::default();
        let some = || Problem::Empty { what: "nothing in some" };
        let variants = vec![
            ("a".into(), with(&[anchor(), bad("1"), some()])),
            ("b".into(), with(&[anchor()])),
            ("c".into(), with(&[anchor(), bad("1"), bad("2")])),
        ];
        all.absorb_variants(variants, &[some().code(), anchor().code()]);
        let messages: Vec<String> = all.into_diagnostics(&[]).into_iter().map(|d| d.message).collect();
        assert_eq!(
            messages,
            [
                "an anchor has no place here",
                "`1` cannot be a name (in variants `a`, `c`)",
                "`2` cannot be a name (in variant `c`)",
            ]
        );
    }
}
