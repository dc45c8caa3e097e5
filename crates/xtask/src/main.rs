//! The contributor's verbs.
//!
//! ```text
//! cargo xtask tidy              hold the tree to the rules of ARCHITECTURE.md and CONTRIBUTING.md
//! cargo xtask gen [--check]     write (or compare) every generated file
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

/// True if the tree is in order after the verb has run.
fn run(words: &[&str]) -> Result<bool> {
    let root = workspace::root();
    match words {
        ["tidy"] => tidy::run(&root),
        ["gen"] => generate::run(&root, generate::Mode::Write),
        ["gen", "--check"] => generate::run(&root, generate::Mode::Check),
        ["new-model", name] => new_model::run(&root, name).map(|()| true),
        ["help" | "--help" | "-h"] => {
            println!("{USAGE}");
            Ok(true)
        }
        _ => bail!("unknown verb\n{USAGE}"),
    }
}
