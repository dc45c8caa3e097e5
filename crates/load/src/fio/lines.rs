//! The lines of a job file: sections and their options, split as fio 3.33 does (`init.c`, `__parse_jobs_ini`;
//! `options.c`).
//!
//! ```text
//! [job name]            the text between the brackets
//! option=value          up to the first `;`, then up to the first `#`, wherever they stand
//! option                without a value: yes
//! include other.fio     the options of that file; it must not have sections
//! size=${SIZE}          an environment variable; empty if it does not exist
//! iodepth=$ncpus*4      a number of the machine, and an expression of whole numbers with it
//! ```

use super::problem::Problem;
use crate::findings::{Findings, Found, Place};
use std::collections::BTreeMap;

/// Includes nested deeper than this count as a loop.
const DEEPEST: usize = 16;
/// Maximum length of a section's name with its bracket \[B\].
const LONGEST_NAME: usize = 255;

/// The surroundings of a job file: the machine and the shell that fio would run on, and the files that it may include.
pub struct Surroundings<'a> {
    /// The environment: `${NAME}`.
    pub variables: BTreeMap<String, String>,
    /// `$pagesize` \[B\].
    pub page_bytes: u64,
    /// `$ncpus`.
    pub processors: u64,
    /// `$mb_memory` \[MiB\].
    pub memory_mib: u64,
    /// Returns the text of the file of this name, or why there is none.
    pub read: &'a dyn Fn(&str) -> Result<String, String>,
}

impl std::fmt::Debug for Surroundings<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Surroundings").field("variables", &self.variables).finish_non_exhaustive()
    }
}

impl<'a> Surroundings<'a> {
    /// No variables and, `assumed`, one processor, pages of 4 KiB and 1 GiB of memory. The load of a simulation must
    /// not depend on the machine that runs it.
    #[must_use]
    pub const fn nowhere(read: &'a dyn Fn(&str) -> Result<String, String>) -> Self {
        Self { variables: BTreeMap::new(), page_bytes: 4096, processors: 1, memory_mib: 1024, read }
    }
    const fn keywords(&self) -> [(&'static str, u64); 3] {
        [("$pagesize", self.page_bytes), ("$mb_memory", self.memory_mib), ("$ncpus", self.processors)]
    }
}

/// The place of a line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct At {
    pub file: String,
    pub place: Place,
}

/// An option as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Line {
    pub at: At,
    /// The text before the `=`, or the whole line.
    pub name: String,
    /// The text after the `=`, after all replacements.
    pub value: Option<String>,
}

/// A section.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Section {
    pub at: At,
    pub name: String,
    pub options: Vec<Line>,
}

impl Section {
    /// Whether it applies to all jobs below it: its name begins with `global`.
    pub(super) fn is_global(&self) -> bool {
        self.name.starts_with("global")
    }
}

/// Splits job files into sections and options.
pub(super) struct Reader<'a> {
    surroundings: &'a Surroundings<'a>,
    sections: Vec<Section>,
    found: &'a mut Findings,
}

/// The sections of a text; `file` is its name in findings.
pub(super) fn sections(
    text: &str,
    file: &str,
    surroundings: &Surroundings<'_>,
    found: &mut Findings,
) -> Vec<Section> {
    let mut reader = Reader { surroundings, sections: Vec::new(), found };
    reader.read(text, file, 0);
    reader.sections
}

impl Reader<'_> {
    fn report(&mut self, problem: &Problem, at: &At) {
        let path = self.sections.last().map(|section| section.name.clone()).unwrap_or_default();
        self.found.add(problem.at(at.place, &path, &at.file));
    }

    fn read(&mut self, text: &str, file: &str, depth: usize) {
        for (number, line) in (1..).zip(text.split('\n')) {
            let indent = line.chars().take_while(|c| is_blank(*c)).count();
            let at = At { file: file.to_owned(), place: Place { line: number, column: indent as u32 + 1 } };
            let line = content(line);
            if line.is_empty() {
                continue;
            }
            if line.starts_with('[') {
                if depth > 0 {
                    self.report(&Problem::SectionInInclude { file: file.to_owned() }, &at);
                    return;
                }
                self.section(line, at);
            } else if self.sections.is_empty() {
                self.report(&Problem::Outside { text: shown(line) }, &at);
            } else if let Some(rest) = line.strip_prefix("include") {
                // one character is skipped, whatever it is
                let name: String = rest.chars().skip(1).collect();
                self.include(&name, &at, depth);
            } else {
                self.option(line, at);
            }
        }
    }

    fn section(&mut self, line: &str, at: At) {
        let inner = cut(&line[1..], LONGEST_NAME);
        // fio removes the last character, whatever it is
        let mut name = inner.to_owned();
        let last = name.pop();
        let (file, place) = (at.file.clone(), at.place);
        self.sections.push(Section { at: at.clone(), name: name.clone(), options: Vec::new() });
        match last {
            Some(']') => {}
            Some(_) => self.found.add(Problem::Unclosed { name: name.clone() }.at(place, &name, &file)),
            None => {
                self.sections.pop();
                self.report(&Problem::Outside { text: "[".into() }, &at);
            }
        }
    }

    fn include(&mut self, name: &str, at: &At, depth: usize) {
        let file = name.to_owned();
        if depth >= DEEPEST {
            self.report(&Problem::CannotInclude { file, said: "includes are too deep".into() }, at);
            return;
        }
        let beside = at.file.rfind('/').map(|end| format!("{}{name}", &at.file[..=end]));
        let read = self.surroundings.read;
        let found = read(name).map(|text| (text, name.to_owned()));
        let found = found.or_else(|said| {
            let beside = beside.filter(|beside| beside != name).ok_or(said)?;
            read(&beside).map(|text| (text, beside))
        });
        match found {
            Ok((text, path)) => self.read(&text, &path, depth + 1),
            Err(said) => self.report(&Problem::CannotInclude { file, said }, at),
        }
    }

    fn option(&mut self, line: &str, at: At) {
        let replaced = self.variables(line, &at);
        let Some(text) = self.keywords(replaced, &at) else { return };
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name.trim_end_matches(is_blank).to_owned(), Some(value.to_owned())),
            None => (text, None),
        };
        let section = self.sections.last_mut().expect("options stand in sections");
        section.options.push(Line { at, name, value });
    }

    /// Replaces environment variables.
    fn variables(&mut self, line: &str, at: &At) -> String {
        let (mut text, mut rest) = (String::new(), line);
        while let Some(start) = rest.find("${") {
            let Some(length) = rest[start + 2..].find('}') else { break };
            let name = &rest[start + 2..start + 2 + length];
            text.push_str(&rest[..start]);
            match self.surroundings.variables.get(name) {
                Some(value) => text.push_str(value),
                None => self.report(&Problem::NoVariable { name: shown(name) }, at),
            }
            rest = &rest[start + 2 + length + 1..];
        }
        text + rest
    }

    /// Replaces the keywords for numbers of the machine; `None` if the arithmetic on them fails.
    fn keywords(&mut self, mut text: String, at: &At) -> Option<String> {
        let mut replaced = false;
        for (word, number) in self.surroundings.keywords() {
            if text.contains(word) {
                text = text.replace(word, &number.to_string());
                replaced = true;
                self.report(&Problem::OfMachine { word, number }, at);
            }
        }
        let sum = replaced && text.contains(['+', '-', '*', '/']) && !text.contains('\'');
        let Some((name, value)) = text.split_once('=').filter(|_| sum) else { return Some(text) };
        let Some(number) = Sum::of(value) else {
            self.report(&Problem::Arithmetic { text: shown(value) }, at);
            return None;
        };
        Some(format!("{name}={number}"))
    }
}

/// A line without comments and surrounding blanks.
fn content(line: &str) -> &str {
    let line = line.trim_start_matches(is_blank);
    let line = line.split(';').next().unwrap_or_default();
    let line = line.split('#').next().unwrap_or_default();
    line.trim_end_matches(is_blank)
}

/// White space and control characters.
fn is_blank(c: char) -> bool {
    c.is_ascii_whitespace() || c.is_ascii_control()
}

/// The first bytes of a text, at most `most`.
fn cut(text: &str, most: usize) -> &str {
    let end = (0..=most.min(text.len())).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
    &text[..end]
}

/// A text as shown in a message, truncated if it is long.
pub(super) fn shown(text: &str) -> String {
    const MOST: usize = 60;
    if text.len() > MOST { format!("{}…", cut(text, MOST)) } else { text.to_owned() }
}

/// An expression of whole numbers, as `bc` evaluates it: `+ - * / %` and parentheses, division without a remainder.
struct Sum<'a> {
    rest: &'a str,
    depth: u8,
}

impl<'a> Sum<'a> {
    /// Its value; `None` if it is not an expression, or too large.
    fn of(text: &'a str) -> Option<i64> {
        let mut sum = Sum { rest: text.trim(), depth: 0 };
        let value = sum.terms()?;
        sum.rest.is_empty().then_some(value)
    }
    fn take(&mut self, of: &[char]) -> Option<char> {
        let next = self.rest.chars().next().filter(|c| of.contains(c))?;
        self.rest = self.rest[1..].trim_start();
        Some(next)
    }
    fn terms(&mut self) -> Option<i64> {
        let mut value = self.factors()?;
        while let Some(sign) = self.take(&['+', '-']) {
            let next = self.factors()?;
            value = if sign == '+' { value.checked_add(next) } else { value.checked_sub(next) }?;
        }
        Some(value)
    }
    fn factors(&mut self) -> Option<i64> {
        let mut value = self.atom()?;
        while let Some(sign) = self.take(&['*', '/', '%']) {
            let next = self.atom()?;
            value = match sign {
                '*' => value.checked_mul(next),
                '/' => value.checked_div(next),
                _ => value.checked_rem(next),
            }?;
        }
        Some(value)
    }
    fn atom(&mut self) -> Option<i64> {
        const DEEPEST: u8 = 32;
        self.depth = self.depth.checked_add(1).filter(|depth| *depth < DEEPEST)?;
        let value = if self.take(&['-']).is_some() {
            self.atom()?.checked_neg()?
        } else if self.take(&['(']).is_some() {
            let value = self.terms()?;
            self.take(&[')'])?;
            value
        } else {
            let end = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
            let value = self.rest[..end].parse().ok()?;
            self.rest = self.rest[end..].trim_start();
            value
        };
        self.depth -= 1;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type Options = Vec<(String, Option<String>)>;

    fn read(text: &str) -> (Vec<(String, Options)>, Vec<&'static str>) {
        let files = |name: &str| match name {
            "dir/common.inc" => Ok("bs=8k\ninclude more.inc\n".to_owned()),
            "dir/more.inc" => Ok("; nothing but\niodepth = 4\n".to_owned()),
            "loop.inc" => Ok("include loop.inc\n".to_owned()),
            _ => Err("no such file".to_owned()),
        };
        let mut surroundings = Surroundings { processors: 6, ..Surroundings::nowhere(&files) };
        surroundings.variables.insert("SIZE".into(), "4g".into());
        let mut found = Findings::default();
        let sections = sections(text, "dir/job.fio", &surroundings, &mut found);
        let told = |section: Section| {
            let options = section.options.into_iter().map(|line| (line.name, line.value)).collect();
            (section.name, options)
        };
        let codes = found.into_vec().iter().map(|finding| finding.code).collect();
        (sections.into_iter().map(told).collect(), codes)
    }
    fn options(text: &str) -> Options {
        read(&format!("[a]\n{text}")).0.remove(0).1
    }

    #[test]
    fn comments_blanks_and_variables_are_as_in_fio() {
        let expected = |name: &str, value: Option<&str>| vec![(name.to_owned(), value.map(str::to_owned))];
        for (text, name, value) in [
            ("  bs=4k ; small", "bs", Some("4k")),
            ("time_based # yes", "time_based", None),
            ("bs = 4k", "bs", Some(" 4k")),
            ("size=${SIZE}", "size", Some("4g")),
            ("size=${NONE}1m", "size", Some("1m")),
            ("iodepth=$ncpus*4", "iodepth", Some("24")),
            ("bs=($pagesize + 4096) / 2", "bs", Some("4096")),
            ("filename=$ncpus", "filename", Some("6")),
        ] {
            assert_eq!(options(text), expected(name, value), "{text}");
        }
        assert_eq!(options("; all\n  # of it\n\n\t\n"), []);
    }

    #[test]
    fn sections_may_be_there_twice_and_files_are_included_where_they_stand() {
        let (sections, codes) = read("[a]\nrw=read\n[global]\nbs=4k\n[a]\ninclude common.inc\nsize=1m\n");
        assert_eq!(sections.iter().map(|(name, _)| &**name).collect::<Vec<_>>(), ["a", "global", "a"]);
        let names: Vec<&str> = sections[2].1.iter().map(|(name, _)| &**name).collect();
        assert_eq!((names, codes), (vec!["bs", "iodepth", "size"], vec![]));
    }

    #[test]
    fn what_is_wrong_is_told() {
        assert_eq!(read("bs=4k\n[a]\n").1, ["FI002"]);
        assert_eq!(read("[a]\ninclude nowhere\n").1, ["FI004"]);
        assert_eq!(read("[a]\ninclude loop.inc\n").1, ["FI004"]);
        assert_eq!(read("[a]\nbs=$ncpus*x\n").1, ["FI016", "FI108"]);
        let (sections, codes) = read("[abc\nsize=1m\n");
        assert_eq!((&*sections[0].0, codes), ("ab", vec!["FI109"]));
    }
}
