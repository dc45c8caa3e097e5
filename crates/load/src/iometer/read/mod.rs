//! Reading an `.icf` file: text in, a configuration or everything that is wrong with it out.
//!
//! As Iometer does, the reader takes sections in any order, keys in any order inside a section, any case, and either
//! line end. Unlike Iometer it reads on after a mistake, and tells all of them.

mod check;
mod display;
mod setup;
mod specs;
mod workers;

use super::config::Config;
use super::lines::{Between, Field, Line, Lines, Place, Shape, decode};
use super::problem::Problem;
use super::version::Version;
use super::words::Word;
use crate::findings::{Finding, Findings, Found};
use lanetwin_textfile::Limit;
use std::path::Path;

/// A configuration, and the doubts about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Understood {
    /// What the file says.
    pub config: Config,
    /// Warnings, in the order of their places.
    pub warnings: Vec<Finding>,
}

/// Reads the file at `path`.
///
/// # Errors
/// Everything that is wrong with it, errors and warnings, in the order of their places.
pub fn read_path(path: &Path) -> Result<Understood, Vec<Finding>> {
    let file = path.display().to_string();
    match lanetwin_textfile::read_bytes(path, Limit::Document) {
        Ok(bytes) => read(&decode(&bytes), &file),
        Err(error) => Err(vec![unreadable(&error.to_string(), &file)]),
    }
}

/// What is found in a file that cannot be read, and why it cannot.
#[must_use]
pub fn unreadable(said: &str, file: &str) -> Finding {
    Problem::Unreadable { said: said.to_owned() }.at(Place::default(), "", file)
}

/// Reads a text; `file` is what findings call it.
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

/// A section: how it opens, how it ends.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Section {
    opens: &'static str,
    ends: &'static str,
}

const SETUP: Section = Section { opens: "'TEST SETUP", ends: "'END test setup" };
const DISPLAY: Section = Section { opens: "'RESULTS DISPLAY", ends: "'END results display" };
const SPECS: Section = Section { opens: "'ACCESS SPECIFICATIONS", ends: "'END access specifications" };
const MANAGERS: Section = Section { opens: "'MANAGER LIST", ends: "'END manager list" };
const SECTIONS: [Section; 4] = [SETUP, DISPLAY, SPECS, MANAGERS];

/// The text, and what was found in it.
struct Reader<'a> {
    lines: Lines<'a>,
    file: &'a str,
    found: Findings,
    /// Where in the document the reader is.
    path: String,
    /// Where the file was found to be cut short; what encloses that is cut there too.
    cut: Option<Place>,
    /// The specifications that workers are assigned, to be looked up when all are known.
    assigned: Vec<check::Assigned>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, file: &'a str) -> Self {
        let (lines, found) = (Lines::of(text), Findings::default());
        Self { lines, file, found, path: String::new(), cut: None, assigned: Vec::new() }
    }
    fn report(&mut self, problem: &Problem, place: Place) {
        self.found.add(problem.at(place, &self.path, self.file));
    }

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

    /// Everything below the version.
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
    /// Leaves out what follows an unknown section, up to its end or to something known.
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

    /// The next key before the line that ends this part; none at the end. Lines that belong to nothing are reported.
    fn key(&mut self, part: Section) -> Option<Line<'a>> {
        loop {
            let line = self.lines.peek();
            if line.is_some_and(|line| line.is(part.ends)) {
                self.lines.next();
                return None;
            }
            // the end of something that encloses this part, or the next section
            let outside = |line: &Line<'_>| {
                line.opens_with("'END ") || SECTIONS.iter().any(|section| line.opens_with(section.opens))
            };
            let Some(line) = line.filter(|line| !outside(line)) else {
                self.cut_short(part, line.map_or(self.lines.end, |line| line.place));
                return None;
            };
            self.lines.next();
            if line.shape == Shape::Key {
                return Some(line);
            }
            self.report(&Problem::Stray { text: short(line.text) }, line.place);
        }
    }
    /// A part without its end. What encloses it may be cut short at the same place; once is enough.
    fn cut_short(&mut self, part: Section, place: Place) {
        if self.cut.replace(place) != Some(place) {
            let (section, end) = (part.opens.to_owned(), part.ends.to_owned());
            self.report(&Problem::Truncated { section, end }, place);
        }
    }
    /// A key that the part does not have; its values go with it.
    fn unknown(&mut self, key: Line<'a>, known: &[&str]) {
        let problem = Problem::UnknownKey { key: short(key.text), known: quoted(known.iter().copied()) };
        self.report(&problem, key.place);
        while self.lines.value().is_some() {}
    }
    /// The text below a key; empty if there is none.
    fn text(&mut self) -> String {
        self.lines.value().map(|line| line.text.to_owned()).unwrap_or_default()
    }
    /// The text below a key, which must be there.
    fn required(&mut self, key: Line<'a>, wanted: &str) -> Option<Line<'a>> {
        let value = self.lines.value();
        if value.is_none() {
            self.report(&Problem::MissingValue { key: short(key.text), wanted: wanted.into() }, key.place);
        }
        value
    }
    /// So many values below a key.
    fn fields<const N: usize>(
        &mut self,
        key: Line<'a>,
        between: Between,
        wanted: &str,
    ) -> Option<[Field<'a>; N]> {
        let line = self.required(key, wanted)?;
        self.split(key.text, line, between, wanted)
    }
    /// So many values of a line.
    fn split<const N: usize>(
        &mut self,
        key: &str,
        line: Line<'a>,
        between: Between,
        wanted: &str,
    ) -> Option<[Field<'a>; N]> {
        let fields = line.fields(between);
        let found = fields.len();
        let fits = <[Field<'a>; N]>::try_from(fields).ok();
        if fits.is_none() {
            let key = short(key);
            let problem = if found < N {
                Problem::MissingValue { key, wanted: wanted.into() }
            } else {
                Problem::TooManyValues { key, wanted: N, found }
            };
            self.report(&problem, line.place);
        }
        fits
    }
    /// A whole number in a range; the least of the range if it is none.
    fn number<T: TryFrom<u64>>(&mut self, field: Field<'a>, what: &str, least: u64, most: u64) -> T {
        let digits = !field.text.is_empty() && field.text.bytes().all(|byte| byte.is_ascii_digit());
        let signed = field
            .text
            .strip_prefix('-')
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()));
        let (text, what) = (short(field.text), what.to_owned());
        let value = field.text.parse().ok().filter(|value| digits && (least..=most).contains(value));
        if value.is_none() {
            let problem = if digits || signed {
                Problem::OutOfRange { text, what, least, most }
            } else {
                Problem::NotANumber { text, what }
            };
            self.report(&problem, field.place);
        }
        let value: Option<T> = value.and_then(|value: u64| T::try_from(value).ok());
        let least = || T::try_from(least).unwrap_or_else(|_| unreachable!("the range is one of the type"));
        value.unwrap_or_else(least)
    }
    /// One of the words of a choice.
    fn word<W: Word>(&mut self, field: Field<'a>) -> Option<W> {
        let value = W::from_word(field.text);
        if value.is_none() {
            let words = quoted(W::WORDS.iter().map(|(word, _)| *word));
            self.report(&Problem::UnknownWord { word: short(field.text), words }, field.place);
        }
        value
    }
}

/// What follows `Version` in a version line.
fn after_version(line: Line<'_>) -> Option<&str> {
    const VERSION: &str = "Version ";
    let opens = line.text.get(..VERSION.len()).is_some_and(|text| text.eq_ignore_ascii_case(VERSION));
    (line.shape == Shape::Value && opens).then(|| line.text[VERSION.len()..].trim())
}

/// A text as a message repeats it: its first 60 characters.
fn short(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `a`, `b`, `c`.
fn quoted<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<&str> = words.collect();
    if words.is_empty() { "none".into() } else { format!("`{}`", words.join("`, `")) }
}
