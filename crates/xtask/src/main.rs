//! The verbs of this tool for contributors.
//!
//! ```text
//! cargo xtask tidy              check the tree against the rules of ARCHITECTURE.md and CONTRIBUTING.md
//! cargo xtask gen [--check]     write (or compare) every generated file
//! cargo xtask circles [CRATE]   print which imports make circles between files
//! cargo xtask new-model NAME    write crates/models/src/NAME.rs and add the word to the list
//! ```
//!
//! Not here: formatting and lints (rustfmt, clippy, ruff, mypy do that), and anything a user of lanetwin runs.

mod generate;
mod imports;
mod markdown;
mod new_model;
mod schema;
mod source;
mod tidy;
mod workspace;

use anyhow::{Result, bail};
use std::process::ExitCode;

const USAGE: &str = "\
usage: cargo xtask VERB

  tidy              hold the tree to its rules; prints every breach, exits 1 if there is one
  gen [--check]     write every generated file; with --check, only say which are out of date
  circles [CRATE]   print the imports between files that are in circles, of one crate or of all
  new-model NAME    write crates/models/src/NAME.rs from the template and add it to the list";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::from(2)
        }
    }
}

/// Runs a verb. True if the tree is in order afterwards.
fn run(words: &[&str]) -> Result<bool> {
    let root = workspace::root();
    match words {
        ["tidy"] => tidy::run(&root),
        ["gen"] => generate::run(&root, generate::Mode::Write),
        ["gen", "--check"] => generate::run(&root, generate::Mode::Check),
        ["circles", of @ ..] if of.len() < 2 => {
            tidy::print_circles(&root, of.first().copied()).map(|()| true)
        }
        ["new-model", name] => new_model::run(&root, name).map(|()| true),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(true)
        }
        _ => bail!("unknown verb\n{USAGE}"),
    }
}
