//! Reads an `.icf` file: returns its configuration, or every error in it.
//!
//! As Iometer does, the reader accepts sections in any order, keys in any order within a section, any case, and either
//! line end. Unlike Iometer it continues after an error and reports all of them.

mod check;
mod display;
mod reader;
mod setup;
mod specs;
mod workers;

use super::config::Config;
use super::lines::{Line, Place, Shape, decode};
use super::problem::Problem;
use super::version::Version;
use crate::findings::{Finding, Found};
use lanetwin_textfile::Limit;
use reader::{DISPLAY, Reader, SECTIONS, SETUP, SPECS, Section, short};
use std::path::Path;

/// A parsed configuration with warnings.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Understood {
    /// The contents of the file.
    pub config: Config,
    /// Warnings, in the order of their places.
    pub warnings: Vec<Finding>,
}

/// Reads the file at `path`.
///
/// # Errors
/// Every error and warning, in the order of their places.
pub fn read_path(path: &Path) -> Result<Understood, Vec<Finding>> {
    let file = path.display().to_string();
    match lanetwin_textfile::read_bytes(path, Limit::Document) {
        Ok(bytes) => read(&decode(&bytes), &file),
        Err(error) => Err(vec![unreadable(&error.to_string(), &file)]),
    }
}

/// The finding for a file that cannot be read.
#[must_use]
pub fn unreadable(said: &str, file: &str) -> Finding {
    Problem::Unreadable { said: said.to_owned() }.at(Place::default(), "", file)
}

/// Reads a text; `file` is its name in findings.
///
/// # Errors
/// As [`read_path`].
pub fn read(text: &str, file: &str) -> Result<Understood, Vec<Finding>> {
    let mut reader = Reader::new(text, file);
    let Some(version) = reader.version() else { return Err(reader.found.into_vec()) };
    let parts = reader.sections();
    reader.check(&parts);
    if reader.found.errors() > 0 {
        return Err(reader.found.into_vec());
    }
    let Parts { setup, display, specs, managers } = parts;
    let config = Config {
        version,
        setup,
        display,
        specs: specs.unwrap_or_default().into_iter().map(|found| found.spec).collect(),
        managers: managers.unwrap_or_default(),
    };
    Ok(Understood { config, warnings: reader.found.into_vec() })
}

/// The sections of a file.
#[derive(Default)]
struct Parts {
    setup: Option<super::config::TestSetup>,
    display: Option<super::config::Display>,
    specs: Option<Vec<specs::Found>>,
    managers: Option<Vec<super::config::Manager>>,
}

impl Reader<'_> {
    /// The version in the first line; without one the file is not read.
    fn version(&mut self) -> Option<Version> {
        let Some((line, text)) = self.lines.next().and_then(|line| Some((line, after_version(line)?))) else {
            self.report(&Problem::NoVersion, Place { line: 1, column: 1 });
            return None;
        };
        let Some((version, rest)) = Version::parse(text) else {
            self.report(&Problem::UnknownVersion { text: text.into() }, line.place);
            return None;
        };
        if !version.is_known() || !rest.is_empty() {
            let like = version.dialect().version().to_string();
            self.report(&Problem::NearVersion { version: text.into(), like }, line.place);
        }
        Some(version)
    }

    /// Reads everything below the version.
    fn sections(&mut self) -> Parts {
        let mut parts = Parts::default();
        let mut seen: Vec<(Section, u32)> = Vec::new();
        let mut closed = false;
        while let Some(line) = self.lines.next() {
            let section = SECTIONS.into_iter().find(|section| line.opens_with(section.opens));
            if let Some(section) = section {
                if let Some((_, first)) = seen.iter().find(|(other, _)| *other == section) {
                    let what = format!("the section `{}`", section.opens);
                    self.report(&Problem::Duplicate { what, line: *first }, line.place);
                }
                seen.push((section, line.place.line));
                self.path = section.opens.trim_start_matches('\'').to_owned();
                self.section(section, &mut parts);
                self.path.clear();
            } else if after_version(line).is_some() {
                closed = true;
            } else if line.shape == Shape::Value {
                self.report(&Problem::Stray { text: short(line.text) }, line.place);
            } else {
                let name = short(line.text.trim_end_matches('=').trim_end());
                self.report(&Problem::UnknownSection { name }, line.place);
                self.skip_section();
            }
        }
        if seen.is_empty() {
            self.report(&Problem::Nothing, Place::default());
        } else if !closed && self.cut.is_none() {
            self.report(&Problem::NoClosingVersion, self.lines.end);
        }
        parts
    }
    fn section(&mut self, section: Section, parts: &mut Parts) {
        match section {
            SETUP => parts.setup = Some(self.setup()),
            DISPLAY => parts.display = Some(self.display()),
            SPECS => parts.specs = Some(self.specs()),
            _ => parts.managers = Some(self.managers()),
        }
    }
    /// Skips the contents of an unknown section, up to its end or to a known section.
    fn skip_section(&mut self) {
        while let Some(line) = self.lines.peek() {
            let known = SECTIONS.iter().any(|section| line.opens_with(section.opens));
            if known || after_version(line).is_some() {
                return;
            }
            self.lines.next();
            if line.opens_with("'END ") {
                return;
            }
        }
    }
}

/// What follows `Version` in a version line.
fn after_version(line: Line<'_>) -> Option<&str> {
    const VERSION: &str = "Version ";
    let opens = line.text.get(..VERSION.len()).is_some_and(|text| text.eq_ignore_ascii_case(VERSION));
    (line.shape == Shape::Value && opens).then(|| line.text[VERSION.len()..].trim())
}
