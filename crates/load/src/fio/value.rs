//! The value of an option, parsed as fio 3.33 does (`parse.c`, `handle_option`).
//!
//! There may be three numbers, for reads, writes and trims: `4k,8k,16k`. A number missing at the end equals the last
//! one; an empty item, as in `,1m` or `4k,`, keeps the previous value. Without a comma, a colon or a minus also
//! separates.

use super::lines::{At, Line, shown};
use super::number::{self, Doubt, Read};
use super::options::{Declared, Kind};
use super::problem::Problem;
use crate::findings::{Findings, Found};

/// Values for reads, writes and trims; `None` where none is given.
pub(super) type Three<T> = [Option<T>; 3];

/// The value of an option.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Value {
    Text(String),
    /// A word, and the text after its colon.
    Word(&'static str, Option<String>),
    Numbers(Three<Number>),
    Ranges(Three<(u64, u64)>),
    Floats(Vec<f64>),
    Flag(bool),
}

/// A number: bytes, microseconds, or a percentage.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Number {
    Plain(u64),
    Percent(u64),
}

/// Reads the values of one section.
pub(super) struct Reader<'a> {
    /// Bytes per kilobyte.
    pub base: u64,
    pub path: &'a str,
    pub found: &'a mut Findings,
}

/// A value, and all numbers in it, in the form of fio's own parsing trace.
pub(super) type Traced = (Value, Vec<u64>);

impl Reader<'_> {
    pub(super) fn report(&mut self, problem: &Problem, at: &At) {
        self.found.add(problem.at(at.place, self.path, &at.file));
    }

    /// The value of an option; `None` if it cannot be read, which is reported.
    pub(super) fn read(&mut self, option: &'static Declared, line: &Line) -> Option<Traced> {
        let name = option.name;
        let Some(text) = line.value.as_deref() else {
            match option.kind {
                Kind::Flag => return Some((Value::Flag(true), vec![1])),
                Kind::Free { bare: true } => return Some((Value::Text(String::new()), Vec::new())),
                _ => {}
            }
            self.report(&Problem::NoValue { name: name.into() }, &line.at);
            return None;
        };
        match option.kind {
            Kind::Removed => {
                self.report(&Problem::Removed { name }, &line.at);
                None
            }
            Kind::Text | Kind::Free { .. } | Kind::Ignored | Kind::Split => {
                if text.is_empty() && !matches!(option.kind, Kind::Ignored | Kind::Free { bare: true }) {
                    self.report(&Problem::NoValue { name: name.into() }, &line.at);
                    return None;
                }
                Some((Value::Text(text.to_owned()), Vec::new()))
            }
            Kind::Word(words) => self.word(name, words, text, line),
            Kind::Bool | Kind::Flag => self.flag(name, text, line),
            Kind::Size { .. } | Kind::Time { .. } | Kind::Room => self.numbers(option, text, line),
            Kind::Range => self.ranges(name, text, line),
            Kind::Floats { most, range } => self.floats(name, text, (most, range), line),
        }
    }

    fn word(
        &mut self,
        name: &'static str,
        words: &'static [&'static str],
        text: &str,
        line: &Line,
    ) -> Option<Traced> {
        // the word ends at the first comma, or else at the first colon
        let end = text.find(',').or_else(|| text.find(':')).unwrap_or(text.len());
        let Some(word) = words.iter().find(|word| **word == &text[..end]) else {
            let words = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
            self.report(&Problem::UnknownWord { name, word: shown(&text[..end]), words }, &line.at);
            return None;
        };
        let rest = text.split_once(':').map(|(_, rest)| rest.trim().to_owned());
        Some((Value::Word(word, rest), Vec::new()))
    }

    /// Digits at the beginning, as C's `scanf` takes them.
    fn flag(&mut self, name: &'static str, text: &str, line: &Line) -> Option<Traced> {
        let hex = text.contains("0x") || text.contains("0X");
        let digits = text.trim_start();
        let digits = digits.strip_prefix(['+', '-']).unwrap_or(digits);
        let digits = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X")).unwrap_or(digits);
        let radix = if hex { 16 } else { 10 };
        let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
        let Ok(value) = u32::from_str_radix(&digits[..end], radix) else {
            self.not_a_number(name, text, line);
            return None;
        };
        Some((Value::Flag(value != 0), vec![value.into()]))
    }

    fn not_a_number(&mut self, name: &'static str, text: &str, line: &Line) {
        self.report(&Problem::NotANumber { name, text: shown(text) }, &line.at);
    }

    fn numbers(&mut self, option: &'static Declared, text: &str, line: &Line) -> Option<Traced> {
        let (mut numbers, mut trace, mut wrong) = ([None; 3], Vec::new(), false);
        let (parts, before) = (parts(text), self.found.errors());
        for (nth, part) in parts.iter().enumerate() {
            let read = self.number(option, part, line);
            let Some((number, value)) = read else {
                wrong |= !part.is_empty();
                continue;
            };
            trace.push(value);
            let to = if nth + 1 == parts.len() { 3 } else { (nth + 1).min(3) };
            numbers.iter_mut().take(to).skip(nth).for_each(|place| *place = Some(number));
        }
        if trace.is_empty() {
            if wrong && self.found.errors() == before {
                self.not_a_number(option.name, text, line);
            } else if !wrong {
                self.report(&Problem::NoValue { name: option.name.into() }, &line.at);
            }
            return None;
        }
        Some((Value::Numbers(numbers), trace))
    }

    /// One of several numbers; `text` reaches to the end of the value.
    fn number(&mut self, option: &'static Declared, text: &str, line: &Line) -> Option<(Number, u64)> {
        let name = option.name;
        let text = text.split(',').next().unwrap_or_default();
        if text.is_empty() {
            return None;
        }
        if text.ends_with('z') {
            let text = shown(text);
            let problem = if option.kind == Kind::Room {
                Problem::CannotModel { name, text, why: "zoned devices are not simulated" }
            } else {
                Problem::BadForm { name, text, form: "a size; it cannot be a number of zones" }
            };
            self.report(&problem, &line.at);
            return None;
        }
        let read = match option.kind {
            Kind::Time { seconds, .. } => number::time(text, seconds),
            _ => number::size(text, self.base),
        };
        // fio accepts this as long as another item is a number
        let read = read?;
        self.doubt(name, text, &read, line);
        let number = if read.percent { Number::Percent(!0 - read.value) } else { Number::Plain(read.value) };
        let narrow = matches!(option.kind, Kind::Size { bits: 32 } | Kind::Time { bits: 32, .. });
        let (least, most) = option.limits.unwrap_or((0, None));
        let value = read.value as i64;
        // fio compares 32-bit values as signed numbers with their limits
        let limited = if narrow && option.limits.is_some() { i64::from(value as i32) } else { value };
        let fits = match number {
            Number::Percent(percent) => option.kind == Kind::Room && percent <= 100,
            Number::Plain(_) => {
                limited >= least
                    && most.is_none_or(|most| value <= most as i64)
                    && (!narrow || value <= u32::MAX.into())
            }
        };
        if !fits {
            let most = most.or_else(|| narrow.then_some(u32::MAX.into()));
            let most = most.map_or_else(|| "what 63 bits hold".to_owned(), |most| most.to_string());
            let text = shown(text);
            let (least, most) = match number {
                Number::Percent(_) if option.kind == Kind::Room => ("0%".to_owned(), "100%".to_owned()),
                _ => (least.to_string(), most),
            };
            self.report(&Problem::OutOfRange { name, text, least, most }, &line.at);
            return None;
        }
        Some((number, read.value))
    }

    fn doubt(&mut self, name: &'static str, text: &str, read: &Read, line: &Line) {
        let (value, short) = (read.value, shown(text.split([':', ',']).next().unwrap_or_default()));
        let problem = match read.doubt {
            None => return,
            Some(Doubt::Inverted) => {
                let other = short.to_ascii_lowercase().replace("ib", "");
                Problem::Inverted { name, text: short, value, other }
            }
            Some(Doubt::Blank) => Problem::HiddenUnit { name, text: shown(text), value },
            Some(Doubt::Tail) => Problem::Tail { name, text: short, value },
            Some(Doubt::UnknownTime) => Problem::UnknownTime { name, text: shown(text), value },
        };
        self.report(&problem, &line.at);
    }

    fn ranges(&mut self, name: &'static str, text: &str, line: &Line) -> Option<Traced> {
        let mut ranges = [None; 3];
        let parts: Vec<&str> = text.split(',').collect();
        let parts = if parts.last() == Some(&"") { &parts[..parts.len() - 1] } else { &parts[..] };
        let mut any = false;
        for (nth, part) in parts.iter().enumerate() {
            let ends = part.split_once('-').or_else(|| part.split_once(':'));
            let read =
                ends.and_then(|(a, b)| Some((number::size(a, self.base)?, number::size(b, self.base)?)));
            let Some((a, b)) = read else { continue };
            self.doubt(name, ends.map_or("", |(a, _)| a), &a, line);
            self.doubt(name, ends.map_or("", |(_, b)| b), &b, line);
            any = true;
            let range = (a.value.min(b.value), a.value.max(b.value));
            let to = if nth + 1 == parts.len() { 3 } else { (nth + 1).min(3) };
            ranges.iter_mut().take(to).skip(nth).for_each(|place| *place = Some(range));
        }
        if !any {
            let form = "one to three ranges of sizes, such as `4k-64k` or `4k-8k,16k-32k`";
            self.report(&Problem::BadForm { name, text: shown(text), form }, &line.at);
            return None;
        }
        Some((Value::Ranges(ranges), Vec::new()))
    }

    fn floats(
        &mut self,
        name: &'static str,
        text: &str,
        (most, range): (usize, Option<(f64, f64)>),
        line: &Line,
    ) -> Option<Traced> {
        let texts: Vec<&str> = text.split(':').collect();
        let mut floats = Vec::new();
        for text in &texts {
            let Some(number) = float(text) else {
                self.not_a_number(name, text, line);
                return None;
            };
            if let Some((least, most)) = range.filter(|(least, most)| !(*least..=*most).contains(&number)) {
                let (least, most) = (least.to_string(), most.to_string());
                self.report(&Problem::OutOfRange { name, text: shown(text), least, most }, &line.at);
                return None;
            }
            floats.push(number);
        }
        if floats.len() > most {
            let text = format!("a list of {}", floats.len());
            let most = format!("a list of {most}");
            self.report(&Problem::OutOfRange { name, text, least: "a list of 1".into(), most }, &line.at);
            return None;
        }
        Some((Value::Floats(floats), Vec::new()))
    }
}

/// The items of a value, each with everything after it, since fio looks for units there.
fn parts(text: &str) -> Vec<&str> {
    let (mut parts, mut rest) = (Vec::new(), text);
    loop {
        parts.push(rest);
        let Some(end) = rest.find(',').or_else(|| rest.find(':')).or_else(|| rest.find('-')) else {
            return parts;
        };
        rest = &rest[end + 1..];
    }
}

/// The number at the start of a text, with or without a fraction, as C's `scanf` reads it.
pub(super) fn float(text: &str) -> Option<f64> {
    let text = text.trim_start();
    let sign = usize::from(text.starts_with(['+', '-']));
    let digits =
        |from: usize| from + text[from..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - from);
    let mut end = digits(sign);
    if text[end..].starts_with('.') {
        end = digits(end + 1);
    }
    if text[end..].starts_with(['e', 'E']) {
        let from = end + 1 + usize::from(text[end + 1..].starts_with(['+', '-']));
        end = if digits(from) > from { digits(from) } else { end };
    }
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::super::options::find;
    use super::*;
    use crate::findings::Place;

    fn read(name: &str, value: Option<&str>) -> Result<Value, Vec<&'static str>> {
        let mut found = Findings::default();
        let at = At { file: "job.fio".into(), place: Place { line: 1, column: 1 } };
        let line = Line { at, name: name.into(), value: value.map(str::to_owned) };
        let mut reader = Reader { base: 1024, path: "a", found: &mut found };
        let read = reader.read(find(name).expect("an option"), &line).map(|(value, _)| value);
        read.filter(|_| found.errors() == 0)
            .ok_or_else(|| found.into_vec().iter().map(|finding| finding.code).collect())
    }
    fn plain(numbers: [Option<u64>; 3]) -> Result<Value, Vec<&'static str>> {
        Ok(Value::Numbers(numbers.map(|number| number.map(Number::Plain))))
    }

    #[test]
    fn numbers_may_be_three_and_the_last_fills_the_rest() {
        for (text, expected) in [
            ("4k", [Some(4096); 3]),
            ("4k,8k", [Some(4096), Some(8192), Some(8192)]),
            ("4k,8k,1k", [Some(4096), Some(8192), Some(1024)]),
            (",8k", [None, Some(8192), Some(8192)]),
            ("4k,", [Some(4096), None, None]),
            ("4k-16k", [Some(4096), Some(16384), Some(16384)]),
        ] {
            assert_eq!(read("bs", Some(text)), plain(expected), "{text}");
        }
    }

    #[test]
    fn words_flags_ranges_and_lists() {
        assert_eq!(read("rw", Some("randread:8")), Ok(Value::Word("randread", Some("8".into()))));
        assert_eq!(read("rw", Some("reed")), Err(vec!["FI010"]));
        assert_eq!(read("time_based", None), Ok(Value::Flag(true)));
        assert_eq!(read("direct", None), Err(vec!["FI007"]));
        assert_eq!(read("direct", Some("yes")), Err(vec!["FI008"]));
        assert_eq!(read("direct", Some("0")), Ok(Value::Flag(false)));
        let expected = [Some((4096, 8192)), Some((512, 1024)), Some((512, 1024))];
        assert_eq!(read("bsrange", Some("8k-4k,512:1k")), Ok(Value::Ranges(expected)));
        assert_eq!(read("percentile_list", Some("50:99.9")), Ok(Value::Floats(vec![50.0, 99.9])));
        assert_eq!(read("percentile_list", Some("101")), Err(vec!["FI009"]));
        assert_eq!(read("random_distribution", Some("zoned:50/5:50/95,100/100")), Err(vec!["FI010"]));
    }

    #[test]
    fn what_is_out_of_range_is_told() {
        for (name, text) in [("iodepth", "0"), ("rwmixread", "101"), ("iodepth", "-1"), ("size", "101%")] {
            assert_eq!(read(name, Some(text)), Err(vec!["FI009"]), "{name}={text}");
        }
        assert_eq!(read("size", Some("3z")), Err(vec!["FI021"]));
        assert_eq!(read("bs", Some("3z")), Err(vec!["FI011"]));
        assert_eq!(read("size", Some("(1+1)")), Err(vec!["FI008"]));
        assert_eq!(read("size", Some("50%")), Ok(Value::Numbers([Some(Number::Percent(50)); 3])));
        assert_eq!(float("99.5x"), Some(99.5));
        assert_eq!((float("x"), float("1e3"), float(".5")), (None, Some(1000.0), Some(0.5)));
    }
}
