//! The lines of an `.icf` file: comments with names, and values below them.
//!
//! ```text
//! 'Run Time                            a key: an apostrophe, directly followed by the name
//! '⇥hours      minutes    seconds      column heads: an apostrophe, then white space; skipped
//! ⇥0          0          15            a value: no apostrophe
//! ```

pub(super) use crate::findings::Place;
use std::borrow::Cow;

/// The kind of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Shape {
    /// An apostrophe, then a name.
    Key,
    /// Anything else.
    Value,
}

/// A line without the white space around it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Line<'a> {
    pub place: Place,
    pub text: &'a str,
    pub shape: Shape,
}

/// A value in a line that has several.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Field<'a> {
    pub place: Place,
    pub text: &'a str,
}

/// The separators between the values of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Between {
    /// Commas; values may be empty.
    Commas,
    /// White space, or commas.
    Spaces,
}

impl<'a> Line<'a> {
    /// Whether it is a key that begins with these words, ignoring case.
    pub(super) fn opens_with(&self, words: &str) -> bool {
        self.shape == Shape::Key
            && self.text.get(..words.len()).is_some_and(|t| t.eq_ignore_ascii_case(words))
    }
    /// Whether it is this key, ignoring case.
    pub(super) fn is(&self, key: &str) -> bool {
        self.shape == Shape::Key && self.text.eq_ignore_ascii_case(key)
    }
    /// The line as one value.
    pub(super) const fn field(&self) -> Field<'a> {
        Field { place: self.place, text: self.text }
    }
    /// Its values; a comma at the end is ignored.
    pub(super) fn fields(&self, between: Between) -> Vec<Field<'a>> {
        let apart = |c: char| c == ',' || (between == Between::Spaces && c.is_whitespace());
        let mut fields = Vec::new();
        let mut column = self.place.column;
        for piece in self.text.split(apart) {
            let text = piece.trim();
            if !text.is_empty() || between == Between::Commas {
                let indent = piece.chars().take_while(|c| c.is_whitespace()).count() as u32;
                let place = Place { line: self.place.line, column: column + indent };
                fields.push(Field { place, text });
            }
            column += piece.chars().count() as u32 + 1;
        }
        if fields.len() > 1 && fields.last().is_some_and(|field| field.text.is_empty()) {
            fields.pop();
        }
        fields
    }
    /// The text before the first comma and the text after it.
    pub(super) fn split_comma(&self) -> (Field<'a>, Option<Field<'a>>) {
        let Some((first, rest)) = self.text.split_once(',') else { return (self.field(), None) };
        let skipped = first.chars().count() + 1 + rest.chars().take_while(|c| c.is_whitespace()).count();
        let place = Place { column: self.place.column + skipped as u32, ..self.place };
        (Field { place: self.place, text: first.trim() }, Some(Field { place, text: rest.trim() }))
    }
}

/// The lines, one after the other; empty ones and column heads are left out.
#[derive(Debug)]
pub(super) struct Lines<'a> {
    lines: Vec<Line<'a>>,
    next: usize,
    /// The end of the text.
    pub end: Place,
}

impl<'a> Lines<'a> {
    pub(super) fn of(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let count = text.lines().count().max(1) as u32;
        let last = text.lines().next_back().unwrap_or_default();
        let end = Place { line: count, column: last.chars().count() as u32 + 1 };
        let lines = text.lines().zip(1..).filter_map(|(line, number)| shaped(line, number)).collect();
        Self { lines, next: 0, end }
    }
    pub(super) fn peek(&self) -> Option<Line<'a>> {
        self.lines.get(self.next).copied()
    }
    pub(super) fn next(&mut self) -> Option<Line<'a>> {
        let line = self.peek()?;
        self.next += 1;
        Some(line)
    }
    /// The next line, if it is a value.
    pub(super) fn value(&mut self) -> Option<Line<'a>> {
        self.peek().filter(|line| line.shape == Shape::Value)?;
        self.next()
    }
}

fn shaped(line: &str, number: u32) -> Option<Line<'_>> {
    let text = line.trim();
    let column = line.chars().take_while(|c| c.is_whitespace()).count() as u32 + 1;
    let comment = text.strip_prefix('\'');
    let heads = comment.is_some_and(|rest| rest.chars().next().is_none_or(char::is_whitespace));
    let shape = if comment.is_some() { Shape::Key } else { Shape::Value };
    (!text.is_empty() && !heads).then_some(Line { place: Place { line: number, column }, text, shape })
}

/// The text of a file: UTF-8, or otherwise one character per byte (Latin-1), since Iometer writes in the code page of
/// its computer.
#[must_use]
pub fn decode(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(bytes.iter().map(|&byte| char::from(byte)).collect()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_values_and_column_heads_are_told_apart() {
        let mut lines = Lines::of("\u{feff}Version 1\r\n\r\n'Run Time\r\n'\thours\r\n\t0   0  15\r\n'");
        let texts =
            std::iter::from_fn(|| lines.next()).map(|l| (l.place.line, l.place.column, l.text, l.shape));
        assert_eq!(
            texts.collect::<Vec<_>>(),
            [
                (1, 1, "Version 1", Shape::Value),
                (3, 1, "'Run Time", Shape::Key),
                (5, 2, "0   0  15", Shape::Value)
            ]
        );
    }

    #[test]
    fn values_know_their_columns() {
        let line = Lines::of("\té, b,,c,").next().expect("a line");
        let of = |fields: Vec<Field<'_>>| -> Vec<(u32, String)> {
            fields.into_iter().map(|f| (f.place.column, f.text.to_owned())).collect()
        };
        let at = |column, text: &str| (column, text.to_owned());
        assert_eq!(of(line.fields(Between::Commas)), [at(2, "é"), at(5, "b"), at(7, ""), at(8, "c")]);
        assert_eq!(of(line.fields(Between::Spaces)), [at(2, "é"), at(5, "b"), at(8, "c")]);
        let (first, rest) = line.split_comma();
        assert_eq!((first.text, rest.map(|f| (f.place.column, f.text))), ("é", Some((5, "b,,c,"))));
    }

    #[test]
    fn bytes_that_are_no_utf_8_are_latin_1() {
        assert_eq!(decode(b"M\xfcller"), "Müller");
        assert_eq!(decode("Müller".as_bytes()), "Müller");
    }
}
