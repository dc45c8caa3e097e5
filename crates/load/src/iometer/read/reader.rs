//! The text while it is read: keys and the values below them, and the errors in them.

use super::super::lines::{Between, Field, Line, Lines, Place, Shape};
use super::super::problem::Problem;
use super::super::words::Word;
use crate::findings::{Findings, Found};

/// A section: its first and its last line.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Section {
    pub opens: &'static str,
    pub ends: &'static str,
}

pub(super) const SETUP: Section = Section { opens: "'TEST SETUP", ends: "'END test setup" };
pub(super) const DISPLAY: Section = Section { opens: "'RESULTS DISPLAY", ends: "'END results display" };
pub(super) const SPECS: Section =
    Section { opens: "'ACCESS SPECIFICATIONS", ends: "'END access specifications" };
pub(super) const MANAGERS: Section = Section { opens: "'MANAGER LIST", ends: "'END manager list" };
pub(super) const SECTIONS: [Section; 4] = [SETUP, DISPLAY, SPECS, MANAGERS];

/// A specification that a worker is assigned.
pub(super) struct Assigned {
    pub spec: String,
    pub worker: String,
    pub is_disk: bool,
    pub path: String,
    pub place: Place,
}

/// The text, and the findings in it.
pub(super) struct Reader<'a> {
    pub lines: Lines<'a>,
    pub file: &'a str,
    pub found: Findings,
    /// The reader's current path in the document.
    pub path: String,
    /// The place where the file is truncated, if it is; enclosing sections are truncated there, too.
    pub cut: Option<Place>,
    /// The specifications assigned to workers, to be looked up once all are known.
    pub assigned: Vec<Assigned>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str, file: &'a str) -> Self {
        let (lines, found) = (Lines::of(text), Findings::default());
        Self { lines, file, found, path: String::new(), cut: None, assigned: Vec::new() }
    }
    pub(super) fn report(&mut self, problem: &Problem, place: Place) {
        self.found.add(problem.at(place, &self.path, self.file));
    }
    /// The next key before the line that ends this part; `None` at the end. Reports lines that belong to nothing.
    pub(super) fn key(&mut self, part: Section) -> Option<Line<'a>> {
        loop {
            let line = self.lines.peek();
            if line.is_some_and(|line| line.is(part.ends)) {
                self.lines.next();
                return None;
            }
            // the end of an enclosing part, or the next section
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
    /// Reports a part without its end, once for all parts truncated at the same place.
    pub(super) fn cut_short(&mut self, part: Section, place: Place) {
        if self.cut.replace(place) != Some(place) {
            let (section, end) = (part.opens.to_owned(), part.ends.to_owned());
            self.report(&Problem::Truncated { section, end }, place);
        }
    }
    /// Reports a key that the part does not have, and skips its values.
    pub(super) fn unknown(&mut self, key: Line<'a>, known: &[&str]) {
        let problem = Problem::UnknownKey { key: short(key.text), known: quoted(known.iter().copied()) };
        self.report(&problem, key.place);
        while self.lines.value().is_some() {}
    }
    /// The text below a key; empty if there is none.
    pub(super) fn text(&mut self) -> String {
        self.lines.value().map(|line| line.text.to_owned()).unwrap_or_default()
    }
    /// The text below a key; reports an error if it is missing.
    pub(super) fn required(&mut self, key: Line<'a>, wanted: &str) -> Option<Line<'a>> {
        let value = self.lines.value();
        if value.is_none() {
            self.report(&Problem::MissingValue { key: short(key.text), wanted: wanted.into() }, key.place);
        }
        value
    }
    /// Reads N values below a key.
    pub(super) fn fields<const N: usize>(
        &mut self,
        key: Line<'a>,
        between: Between,
        wanted: &str,
    ) -> Option<[Field<'a>; N]> {
        let line = self.required(key, wanted)?;
        self.split(key.text, line, between, wanted)
    }
    /// Reads N values of a line.
    pub(super) fn split<const N: usize>(
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
    /// A whole number in a range; the minimum after an error.
    pub(super) fn number<T: TryFrom<u64>>(
        &mut self,
        field: Field<'a>,
        what: &str,
        least: u64,
        most: u64,
    ) -> T {
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
    pub(super) fn word<W: Word>(&mut self, field: Field<'a>) -> Option<W> {
        let value = W::from_word(field.text);
        if value.is_none() {
            let words = quoted(W::WORDS.iter().map(|(word, _)| *word));
            self.report(&Problem::UnknownWord { word: short(field.text), words }, field.place);
        }
        value
    }
}

/// The first 60 characters of a text, for a message.
pub(super) fn short(text: &str) -> String {
    const MOST: usize = 60;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// `a`, `b`, `c`.
pub(super) fn quoted<'w>(words: impl Iterator<Item = &'w str>) -> String {
    let words: Vec<&str> = words.collect();
    if words.is_empty() { "none".into() } else { format!("`{}`", words.join("`, `")) }
}
