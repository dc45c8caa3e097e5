//! Splitting of a text into records: lines, words, and ends of records.

use super::Reading;
use super::keywords::{Header, Keyword, Shape};
use super::options::{self, Options};
use crate::network::MOST_PORTS;
use crate::problem::{Finding, Problem};

/// Number of errors after which reading stops.
const ENOUGH: usize = 20;

/// Section that a line without a keyword belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Section {
    /// Before the data of version 2.
    Header,
    /// The list of references, which may continue over several lines.
    Reference,
    /// The list of modes, which may continue over several lines.
    Modes,
    /// Between `[Begin Information]` and `[End Information]`.
    Information,
    Data,
    /// Noise data, and everything after the end.
    Rest,
}

/// A place in the text.
#[derive(Clone, Copy, Default)]
pub(super) struct Place {
    pub(super) line: u32,
    pub(super) column: u32,
}

/// State of reading.
pub(super) struct Reader {
    pub(super) header: Header,
    pub(super) options: Options,
    saw_options: bool,
    saw_impedance: bool,
    /// The numbers of all records, one after another.
    pub(super) numbers: Vec<f64>,
    /// Place at which each record begins.
    pub(super) starts: Vec<Place>,
    /// Number of numbers per record; 0 until known.
    pub(super) record: usize,
    /// Whether a record has been spread over lines.
    wrapped: bool,
    section: Section,
    found: Vec<Finding>,
}

impl Reader {
    pub(super) fn new(ports: Option<usize>) -> Self {
        Self {
            header: Header { ports, ..Header::default() },
            options: Options::default(),
            saw_options: false,
            saw_impedance: false,
            numbers: Vec::new(),
            starts: Vec::new(),
            record: 0,
            wrapped: false,
            section: Section::Data,
            found: Vec::new(),
        }
    }
    pub(super) fn read(mut self, text: &str) -> Result<Reading, Vec<Finding>> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut words = Vec::new();
        let mut line = 0;
        for piece in text.split('\n').flat_map(|piece| piece.strip_suffix('\r').unwrap_or(piece).split('\r'))
        {
            line += 1;
            let (content, remark) = piece.split_once('!').unwrap_or((piece, ""));
            self.remark(remark, line);
            words.clear();
            words.extend(content.split_ascii_whitespace());
            if !words.is_empty() {
                self.line(piece, &words, line);
            }
            if self.errors() >= ENOUGH {
                break;
            }
        }
        self.finish()
    }
    fn errors(&self) -> usize {
        self.found.iter().filter(|finding| finding.code.starts_with("PH0")).count()
    }
    fn say(&mut self, problem: Problem, place: Place) {
        self.found.push(problem.at(place.line, place.column));
    }
    /// A solver writes the impedances of its ports into remarks, one for each frequency.
    fn remark(&mut self, remark: &str, line: u32) {
        const IMPEDANCE: &str = "port impedance";
        let start = remark.trim_start().get(..IMPEDANCE.len());
        if start.is_some_and(|start| start.eq_ignore_ascii_case(IMPEDANCE)) && !self.saw_impedance {
            self.saw_impedance = true;
            self.say(Problem::ImpedanceRemark, Place { line, column: 0 });
        }
    }
    fn line(&mut self, piece: &str, words: &[&str], line: u32) {
        let first = words[0];
        if self.section == Section::Information {
            if first.starts_with('[') {
                self.keyword_line(piece, line);
            }
        } else if first.starts_with('#') {
            self.option_line(piece, words, line);
        } else if first.starts_with('[') {
            self.keyword_line(piece, line);
        } else {
            self.plain_line(piece, words, line);
        }
    }
    fn option_line(&mut self, piece: &str, words: &[&str], line: u32) {
        let here = Place { line, column: column(piece, words[0]) };
        if self.saw_options || !self.starts.is_empty() {
            self.say(Problem::SecondOptionLine, here);
            return;
        }
        self.saw_options = true;
        // `#GHz` without a space
        let glued = &words[0][1..];
        let words: Vec<&str> =
            (!glued.is_empty()).then_some(glued).into_iter().chain(words[1..].iter().copied()).collect();
        match options::read(&words) {
            Ok(options) => self.options = options,
            Err((problem, word)) => self.say(problem, Place { line, column: column(piece, word) }),
        }
    }
    fn keyword_line(&mut self, piece: &str, line: u32) {
        let content = piece.split('!').next().unwrap_or_default().trim_start();
        let (name, rest) = content[1..].split_once(']').unwrap_or((&content[1..], ""));
        let here = Place { line, column: column(piece, content) };
        let keyword = Keyword::named(name);
        if self.section == Section::Information {
            if keyword == Some(Keyword::EndInformation) {
                self.section = Section::Header;
            }
            return;
        }
        let Some(keyword) = keyword else {
            return self.say(Problem::UnknownKeyword { word: name.trim().to_owned() }, here);
        };
        let words: Vec<&str> = rest.split_ascii_whitespace().collect();
        if let Err(problem) = self.header.take(keyword, &words) {
            self.say(problem, here);
        }
        self.section = match keyword {
            Keyword::Reference => Section::Reference,
            Keyword::MixedModeOrder => Section::Modes,
            Keyword::BeginInformation => Section::Information,
            Keyword::NetworkData => Section::Data,
            Keyword::NoiseData => {
                self.say(Problem::Ignored { what: "noise data" }, here);
                Section::Rest
            }
            Keyword::End => Section::Rest,
            _ => Section::Header,
        };
        if matches!(self.section, Section::Reference | Section::Modes) && !words.is_empty() {
            self.plain_line(piece, &words, line);
        }
    }
    fn plain_line(&mut self, piece: &str, words: &[&str], line: u32) {
        match self.section {
            Section::Data => self.data_line(piece, words, line),
            Section::Modes => self.header.modes.extend(words.iter().map(|word| (*word).to_owned())),
            Section::Reference => {
                for word in words {
                    match number(word) {
                        Ok(value) => self.header.reference.push(value),
                        Err(problem) => self.say(problem, Place { line, column: column(piece, word) }),
                    }
                }
            }
            // some files of version 2 forget `[Network Data]`
            Section::Header if number(words[0]).is_ok() => {
                self.section = Section::Data;
                self.data_line(piece, words, line);
            }
            Section::Header => {
                let problem = Problem::NotANumber { word: words[0].to_owned() };
                self.say(problem, Place { line, column: column(piece, words[0]) });
            }
            Section::Information | Section::Rest => {}
        }
    }
    fn data_line(&mut self, piece: &str, words: &[&str], line: u32) {
        if self.record == 0 && !self.begin_data(line) {
            return;
        }
        let at_record = self.numbers.len().is_multiple_of(self.record);
        if at_record && self.is_noise(words) {
            self.say(
                Problem::Ignored { what: "noise data" },
                Place { line, column: column(piece, words[0]) },
            );
            self.section = Section::Rest;
            return;
        }
        self.wrapped |= !at_record;
        let mut in_record = self.numbers.len() % self.record;
        for word in words {
            // an invalid number is replaced by 0, so that later numbers keep their positions
            let mut value = 0.0;
            match number(word) {
                Ok(read) => {
                    value = read;
                    if in_record == 0 {
                        self.frequency(value, word, Place { line, column: column(piece, word) });
                    }
                }
                Err(problem) => self.say(problem, Place { line, column: column(piece, word) }),
            }
            self.numbers.push(value);
            in_record = if in_record + 1 == self.record { 0 } else { in_record + 1 };
        }
    }
    /// Determines the length of a record; returns false if that is not possible.
    fn begin_data(&mut self, line: u32) -> bool {
        let Some(ports) = self.header.ports.filter(|ports| *ports > 0) else {
            if !self.found.iter().any(|finding| finding.code == "PH002") {
                self.say(Problem::NoPortCount, Place { line, column: 0 });
            }
            self.section = Section::Rest;
            return false;
        };
        if ports > MOST_PORTS {
            self.say(Problem::TooLarge { what: "ports", most: MOST_PORTS }, Place { line, column: 0 });
            self.section = Section::Rest;
            return false;
        }
        if self.header.version_2 && ports == 2 && self.header.twelve_first.is_none() {
            self.say(Problem::MissingKeyword { keyword: "Two-Port Data Order" }, Place { line, column: 0 });
        }
        let cells = match self.header.shape {
            Shape::Full => ports * ports,
            Shape::Lower | Shape::Upper => ports * (ports + 1) / 2,
        };
        self.record = 1 + 2 * cells;
        true
    }
    fn last_frequency(&self) -> Option<f64> {
        let at = self.numbers.len().checked_sub(self.record)?;
        self.numbers.get(at).copied()
    }
    /// Noise data of version 1: five numbers, the first of which is no higher frequency, after records that had a line
    /// each.
    fn is_noise(&self, words: &[&str]) -> bool {
        let low =
            || words[0].parse::<f64>().ok().zip(self.last_frequency()).is_some_and(|(now, last)| now <= last);
        self.header.ports == Some(2) && !self.header.version_2 && !self.wrapped && words.len() == 5 && low()
    }
    fn frequency(&mut self, value: f64, word: &str, place: Place) {
        if value < 0.0 {
            self.say(Problem::NotFinite { word: word.to_owned() }, place);
        } else if let Some(last) = self.last_frequency().filter(|last| value <= *last) {
            let (now, before) = (value.to_string(), last.to_string());
            self.say(Problem::NotAscending { now, before }, place);
        }
        self.starts.push(place);
    }
    fn finish(mut self) -> Result<Reading, Vec<Finding>> {
        let stopped_early = self.errors() >= ENOUGH;
        if !self.saw_options && !stopped_early {
            self.say(Problem::NoOptionLine, Place::default());
        }
        if self.starts.is_empty() && self.errors() == 0 {
            self.say(Problem::NoData, Place::default());
        }
        let whole = self.record == 0 || self.numbers.len().is_multiple_of(self.record);
        if !whole && !stopped_early {
            let (found, ports) = (self.numbers.len() % self.record, self.header.ports.unwrap_or_default());
            let place = self.starts.last().copied().unwrap_or_default();
            self.say(Problem::Incomplete { found, wanted: self.record, ports }, place);
        }
        if let Some(said) = self.header.frequencies.filter(|said| whole && *said != self.starts.len()) {
            self.say(Problem::CountDiffers { said, found: self.starts.len() }, Place::default());
        }
        if self.errors() > 0 {
            return Err(self.in_order());
        }
        match self.network() {
            Ok(network) => Ok(Reading { network, warnings: self.in_order() }),
            Err(finding) => {
                self.found.push(finding);
                Err(self.in_order())
            }
        }
    }
    fn in_order(mut self) -> Vec<Finding> {
        self.found.sort();
        self.found
    }
}

/// A finite number; `D` for the exponent is Fortran's.
fn number(word: &str) -> Result<f64, Problem> {
    let read = word.parse().or_else(|_| word.replace(['d', 'D'], "e").parse::<f64>());
    match read {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) if word.bytes().any(|b| b.is_ascii_digit()) => {
            Err(Problem::NotFinite { word: word.to_owned() })
        }
        _ => Err(Problem::NotANumber { word: shortened(word) }),
    }
}

/// A word cut to the length that fits into a message.
fn shortened(word: &str) -> String {
    word.chars().take(40).collect()
}

/// Column of a part of a line, from 1.
fn column(line: &str, part: &str) -> u32 {
    let offset = (part.as_ptr() as usize).wrapping_sub(line.as_ptr() as usize);
    if offset <= line.len() { offset as u32 + 1 } else { 0 }
}
