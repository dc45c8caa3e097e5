//! Reads a results file of either version; columns are found by their titles.

use super::super::config::{AccessLine, AccessSpec};
use super::super::lines::Place;
use super::super::problem::Problem;
use super::super::version::Version;
use super::super::words::{Assignment, TestType, Word};
use super::column::{Column, Form, KIND};
use super::row::{Cell, Row, RowKind};
use super::series::{Series, Test};
use crate::findings::{Finding, Findings, Found};
use csv::{ReaderBuilder, StringRecord, Trim};

/// Reads a text; `file` is its name in findings. There may be several series, since Iometer appends.
///
/// # Errors
/// Every error, in the order of the places.
pub fn read(text: &str, file: &str) -> Result<Vec<Series>, Vec<Finding>> {
    // the csv crate gives a record after CR LF the number of the previous line
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).replace("\r\n", "\n");
    // this format has no quotes; a heading has fewer fields than a row
    let mut records = ReaderBuilder::new();
    records.has_headers(false).flexible(true).quoting(false).trim(Trim::All);
    let mut reader = Reader { file, found: Findings::default(), series: Vec::new(), part: Part::Nothing };
    for record in records.from_reader(text.as_bytes()).into_records() {
        // no error is possible: the text is UTF-8, and records may have any number of fields
        let Ok(record) = record else { continue };
        reader.record(&record);
    }
    if reader.series.is_empty() && reader.found.errors() == 0 {
        reader.report(&Problem::NotResults, 1);
    }
    if reader.found.errors() > 0 { Err(reader.found.into_vec()) } else { Ok(reader.series) }
}

/// The part of the file to which the next line belongs.
enum Part {
    Nothing,
    Description,
    Version,
    TimeStamp,
    SpecName,
    SpecLines,
    Rows(Vec<Option<Column>>),
}

struct Reader<'a> {
    file: &'a str,
    found: Findings,
    series: Vec<Series>,
    part: Part,
}

/// Number of columns before those with numbers.
const NAMES: usize = 3;

impl Reader<'_> {
    fn report(&mut self, problem: &Problem, line: u32) {
        self.found.add(problem.at(Place { line, column: 1 }, "", self.file));
    }
    fn record(&mut self, record: &StringRecord) {
        let line = record.position().map_or(1, |place| place.line() as u32);
        let first = record.get(0).unwrap_or_default();
        if let Some(heading) = first.strip_prefix('\'') {
            self.heading(heading, record, line);
        } else {
            self.value(first, record, line);
        }
    }
    /// Handles a heading, which says what the next lines are.
    fn heading(&mut self, heading: &str, record: &StringRecord, line: u32) {
        if heading != "Test Type" && self.series.is_empty() {
            self.report(&Problem::NotResults, line);
            return;
        }
        self.part = match heading {
            "Test Type" => {
                self.series.push(Series {
                    version: Version::V1_1_0,
                    test_type: TestType::Normal,
                    description: String::new(),
                    began: String::new(),
                    tests: Vec::new(),
                    ended: false,
                });
                Part::Description
            }
            "Version" => Part::Version,
            "Time Stamp" => Part::TimeStamp,
            "Access specifications" => {
                let tests = self.series.last_mut().map(|series| &mut series.tests);
                tests.into_iter().for_each(|tests| {
                    tests.push(Test { specs: Vec::new(), rows: Vec::new(), ended: String::new() });
                });
                Part::Nothing
            }
            "Access specification name" => Part::SpecName,
            "size" => Part::SpecLines,
            "Target Type" => Part::Rows(record.iter().skip(NAMES).map(Column::from_title).collect()),
            "End Test" => {
                self.series.iter_mut().last().into_iter().for_each(|series| series.ended = true);
                Part::Nothing
            }
            _ => Part::Nothing,
        };
    }
    fn value(&mut self, first: &str, record: &StringRecord, line: u32) {
        let Some(series) = self.series.last_mut() else {
            self.report(&Problem::NotResults, line);
            return;
        };
        match &self.part {
            Part::Description => {
                series.description = record.get(1).unwrap_or_default().to_owned();
                match first.parse().ok().and_then(TestType::from_number) {
                    Some(test_type) => series.test_type = test_type,
                    None => self.bad("Test Type", first, line),
                }
            }
            Part::Version => match Version::parse(first) {
                Some((version, _)) => series.version = version,
                None => self.report(&Problem::UnknownVersion { text: first.to_owned() }, line),
            },
            Part::TimeStamp => match series.tests.last_mut() {
                Some(test) => test.ended = first.to_owned(),
                None => series.began = first.to_owned(),
            },
            Part::SpecName => {
                let number = record.get(1).and_then(|number| number.parse::<usize>().ok());
                let assignment = number.and_then(|nth| Assignment::WORDS.get(nth)).map(|(_, value)| *value);
                let spec = AccessSpec {
                    name: first.to_owned(),
                    assignment: assignment.unwrap_or(Assignment::None),
                    lines: Vec::new(),
                };
                series.tests.iter_mut().last().into_iter().for_each(|test| test.specs.push(spec.clone()));
                if assignment.is_none() {
                    self.bad("default assignment", record.get(1).unwrap_or_default(), line);
                }
            }
            Part::SpecLines => match access_line(record) {
                Some(access) => {
                    let spec = series.tests.last_mut().and_then(|test| test.specs.last_mut());
                    spec.into_iter().for_each(|spec| spec.lines.push(access));
                }
                None => self.bad("size", first, line),
            },
            Part::Rows(columns) => match row(columns, record) {
                Ok(row) => {
                    series.tests.iter_mut().last().into_iter().for_each(|test| test.rows.push(row.clone()))
                }
                Err((column, text)) => self.bad(&column, &text, line),
            },
            Part::Nothing => self.report(&Problem::Stray { text: first.chars().take(60).collect() }, line),
        }
    }
    fn bad(&mut self, column: &str, text: &str, line: u32) {
        let text = text.chars().take(60).collect();
        self.report(&Problem::BadCell { column: column.to_owned(), text }, line);
    }
}

fn access_line(record: &StringRecord) -> Option<AccessLine> {
    let small = |nth: usize| record.get(nth)?.parse::<u8>().ok();
    let large = |nth: usize| record.get(nth)?.parse::<u32>().ok();
    Some(AccessLine {
        size: large(0)?,
        share: small(1)?,
        reads: small(2)?,
        random: small(3)?,
        delay_ms: large(4)?,
        burst: large(5)?,
        align: large(6)?,
        reply: large(7)?,
    })
}

/// Reads a row. Otherwise returns the column and the text that cannot be read. Unknown columns are skipped.
fn row(columns: &[Option<Column>], record: &StringRecord) -> Result<Row, (String, String)> {
    let text = |nth: usize| record.get(nth).unwrap_or_default();
    let title = KIND.trim_start_matches('\'').to_owned();
    let kind = RowKind::from_word(text(0)).ok_or_else(|| (title, text(0).to_owned()))?;
    let mut row = Row { kind, name: text(1).into(), spec: text(2).into(), cells: Default::default() };
    for (column, text) in columns.iter().zip(record.iter().skip(NAMES)) {
        let Some(column) = column.filter(|_| !text.is_empty()) else { continue };
        let bad = || (format!("{column:?}"), text.to_owned());
        let cell = match column.form() {
            Form::Whole => Cell::Whole(text.parse().map_err(|_| bad())?),
            Form::Real => Cell::Real(text.parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(bad)?),
        };
        row.cells.insert(column, cell);
    }
    Ok(row)
}
