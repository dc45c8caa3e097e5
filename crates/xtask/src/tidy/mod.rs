//! `tidy`: rules of this repository that no compiler checks, checked by a program so that they are kept.
//!
//! Every rule is a function `&Workspace -> Vec<Breach>` in a file of its own, with tests of what it reports and of what
//! it does not. A new rule is one file and one entry in [`RULES`].

mod breach;
mod circles;
mod claims;
mod dead;
mod devices;
mod errors;
mod floors;
mod functions;
mod invariants;
mod length;
mod links;
mod models;
mod names;
mod numbers;
mod scenarios;
mod width;
mod words;

use crate::workspace::Workspace;
use anyhow::Result;
use breach::Breach;
use std::path::Path;

/// A rule: its name, the rule in a sentence, and the function that finds breaches.
struct Rule {
    name: &'static str,
    about: &'static str,
    breaches: fn(&Workspace) -> Vec<Breach>,
}

/// Every rule, in the order in which breaches are printed.
const RULES: &[Rule] = &[
    Rule {
        name: "floors",
        about: "imports go downward, by the table in ARCHITECTURE.md",
        breaches: floors::breaches,
    },
    Rule {
        name: "circles",
        about: "inside a crate, imports between files run one way",
        breaches: circles::breaches,
    },
    Rule {
        name: "invariants",
        about: "what is said to hold an invariant exists",
        breaches: invariants::breaches,
    },
    Rule { name: "models", about: "no model knows another", breaches: models::breaches },
    Rule {
        name: "devices",
        about: "outside the models crate no device is known by type or name",
        breaches: devices::breaches,
    },
    Rule { name: "names", about: "no catch-all file names", breaches: names::breaches },
    Rule {
        name: "length",
        about: "a file has one subject, and at most 500 lines",
        breaches: length::breaches,
    },
    Rule {
        name: "functions",
        about: "a function does one thing, in at most 60 lines",
        breaches: functions::breaches,
    },
    Rule { name: "dead", about: "every Rust file is part of a target", breaches: dead::breaches },
    Rule {
        name: "errors",
        about: "every error code has its page, every page its code",
        breaches: errors::breaches,
    },
    Rule {
        name: "numbers",
        about: "every number of a part, and of a crate's data, has kind and source",
        breaches: numbers::breaches,
    },
    Rule { name: "scenarios", about: "a scenario opens with why it exists", breaches: scenarios::breaches },
    Rule { name: "claims", about: "every claim names the command that shows it", breaches: claims::breaches },
    Rule { name: "links", about: "links between documents lead somewhere", breaches: links::breaches },
    Rule { name: "width", about: "comments of Rust files keep to 120 characters", breaches: width::breaches },
    Rule { name: "words", about: "no machine's own paths, no notes to self", breaches: words::breaches },
];

/// Prints every breach. True if there is none.
pub fn run(root: &Path) -> Result<bool> {
    let workspace = Workspace::read(root)?;
    let mut count = 0;
    for rule in RULES {
        for breach in (rule.breaches)(&workspace) {
            println!("{breach} [{}: {}]", rule.name, rule.about);
            count += 1;
        }
    }
    println!("tidy: {} rules, {} files, {count} breaches", RULES.len(), workspace.files.len());
    Ok(count == 0)
}

/// Prints the imports that make circles between files, of one crate or of all.
pub fn print_circles(root: &Path, name: Option<&str>) -> Result<()> {
    circles::print(&Workspace::read(root)?, name);
    Ok(())
}

/// For tests of rules: an invented workspace, and breaches as text.
#[cfg(test)]
pub mod testing {
    use super::{Breach, Workspace};

    /// A workspace of these files (path, text) and no packages.
    pub fn tree<const N: usize>(files: [(&str, &str); N]) -> Workspace {
        Workspace { files: files.map(|(path, text)| (path.into(), text.into())).into(), packages: Vec::new() }
    }

    /// The breaches as they are printed.
    pub fn said(breaches: &[Breach]) -> Vec<String> {
        breaches.iter().map(ToString::to_string).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breach_prints_like_a_compiler() {
        assert_eq!(Breach::at("a.rs", 3, "is bad").to_string(), "a.rs:3: is bad");
        assert_eq!(Breach::of("a.rs", "is bad").to_string(), "a.rs: is bad");
    }

    #[test]
    fn rules_have_distinct_names() {
        let mut names: Vec<&str> = RULES.iter().map(|rule| rule.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), RULES.len());
    }
}
