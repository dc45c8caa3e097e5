//! Writing a results file.

use super::super::config::AccessSpec;
use super::super::version::Dialect;
use super::super::words::{Assignment, Word};
use super::column::Column;
use super::row::{Cell, Row, RowKind};
use super::series::{Series, Test};

const END_OF_LINE: &str = "\r\n";

impl Series {
    /// The text of the file.
    #[must_use]
    pub fn to_csv(&self) -> String {
        let mut lines = vec![
            "'Test Type,Test Description".to_owned(),
            format!("{},{}", self.test_type.number(), clean(&self.description)),
            "'Version".to_owned(),
            format!("{} ", self.version),
            "'Time Stamp".to_owned(),
            clean(&self.began),
        ];
        for test in &self.tests {
            test.write(self.version.dialect(), &mut lines);
        }
        if self.ended {
            lines.push("'End Test".to_owned());
        }
        lines.iter().map(|line| format!("{line}{END_OF_LINE}")).collect()
    }
}

impl Test {
    fn write(&self, dialect: Dialect, lines: &mut Vec<String>) {
        lines.push("'Access specifications".to_owned());
        self.specs.iter().for_each(|spec| write_spec(spec, dialect, lines));
        lines.push("'End access specifications".to_owned());
        lines.push("'Results".to_owned());
        lines.push(Column::header(dialect));
        lines.extend(self.rows.iter().map(|row| row.line(dialect)));
        lines.push("'Time Stamp".to_owned());
        lines.push(clean(&self.ended));
    }
}

fn write_spec(spec: &AccessSpec, dialect: Dialect, lines: &mut Vec<String>) {
    let assignment = Assignment::WORDS.iter().position(|(_, value)| *value == spec.assignment);
    lines.push("'Access specification name,default assignment".to_owned());
    lines.push(format!("{},{}", clean(&spec.name), assignment.unwrap_or_default()));
    lines.push("'size,% of size,% reads,% random,delay,burst,align,reply".to_owned());
    // 1.1.0 ends these lines with a comma
    let end = if dialect == Dialect::Numbered { "," } else { "" };
    lines.extend(spec.lines.iter().map(|l| {
        format!(
            "{},{},{},{},{},{},{},{}{end}",
            l.size, l.share, l.reads, l.random, l.delay_ms, l.burst, l.align, l.reply
        )
    }));
}

impl Row {
    fn line(&self, dialect: Dialect) -> String {
        let cell = |column| self.cells.get(&column).map_or(String::new(), |cell| cell.to_string());
        // rows of processors end before the bins
        let columns = Column::of(dialect)
            .filter(|(column, _)| self.kind != RowKind::Processor || !matches!(column, Column::Bin(_)));
        let cells: Vec<String> = columns.map(|(column, _)| cell(column)).collect();
        format!("{},{},{},{}", self.kind.word(), clean(&self.name), clean(&self.spec), cells.join(","))
    }
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Whole(value) => write!(f, "{value}"),
            Self::Real(value) => write!(f, "{value:.6}"),
        }
    }
}

/// A text without characters that would break the file.
fn clean(text: &str) -> String {
    text.replace([',', '\n', '\r'], " ").trim().to_owned()
}
