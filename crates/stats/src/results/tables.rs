//! The rows of a results document as tables: CSV for a spreadsheet, NDJSON for a pipe.

use std::io::{self, Write};

use super::row::Row;

/// The columns that every row has; one for each percentile that occurs follows (`p50`, `p99.9`).
const COLUMNS: [&str; 16] = [
    "variant",
    "workload",
    "case",
    "device",
    "x_name",
    "x_value",
    "x_unit",
    "metric",
    "unit",
    "value",
    "low",
    "high",
    "n",
    "seconds",
    "operations",
    "steady",
];

/// Writes rows as CSV with a header (RFC 4180, but lines end in `\n`); a number that does not exist is an empty field.
///
/// # Errors
/// As `out` has them.
///
/// ```
/// use lanetwin_stats::results::{Row, rows_csv};
/// let row = Row { metric: "latency".into(), unit: "ns".into(), value: 546.0, n: 5,
///                 percentiles: vec![(50.0, 540.5), (99.9, 706.0)], ..Row::default() };
/// let mut out = Vec::new();
/// rows_csv(&[row], &mut out).unwrap();
/// let text = String::from_utf8(out).unwrap();
/// assert_eq!(text.lines().next().unwrap().rsplit_once("steady,p50").unwrap().1, ",p99.9");
/// assert!(text.ends_with(",latency,ns,546,,,5,,,,540.5,706\n"));
/// ```
pub fn rows_csv(rows: &[Row], out: impl Write) -> io::Result<()> {
    let percents = percents(rows);
    let mut table = csv::Writer::from_writer(out);
    let header = COLUMNS.iter().map(ToString::to_string);
    table.write_record(header.chain(percents.iter().map(|percent| format!("p{percent}"))))?;
    for row in rows {
        table.write_record(
            fields(row).into_iter().chain(percents.iter().map(|&percent| percentile(row, percent))),
        )?;
    }
    table.flush()
}

/// Writes rows as NDJSON: one row a line, as it stands in the document.
///
/// # Errors
/// As `out` has them.
pub fn rows_ndjson(rows: &[Row], mut out: impl Write) -> io::Result<()> {
    for row in rows {
        serde_json::to_writer(&mut out, row)?;
        out.write_all(b"\n")?;
    }
    out.flush()
}

/// Every percentile that occurs in a row, once, ascending.
fn percents(rows: &[Row]) -> Vec<f64> {
    let mut percents: Vec<f64> = rows.iter().flat_map(|row| &row.percentiles).map(|pair| pair.0).collect();
    percents.sort_by(f64::total_cmp);
    percents.dedup();
    percents
}

fn fields(row: &Row) -> [String; 16] {
    let x = row.x.as_ref();
    [
        row.variant.clone(),
        row.workload.clone(),
        row.case.clone(),
        row.device.clone().unwrap_or_default(),
        x.map_or_else(String::new, |x| x.name.clone()),
        number(x.map(|x| x.value)),
        x.map_or_else(String::new, |x| x.unit.clone()),
        row.metric.clone(),
        row.unit.clone(),
        number(Some(row.value)),
        number(row.low),
        number(row.high),
        row.n.to_string(),
        number(row.seconds),
        row.operations.map_or_else(String::new, |operations| operations.to_string()),
        row.steady.as_ref().map_or_else(String::new, ToString::to_string),
    ]
}

fn percentile(row: &Row, percent: f64) -> String {
    number(row.percentiles.iter().find(|pair| pair.0 == percent).map(|pair| pair.1))
}

/// The shortest text that reads back as the same float; empty for what is no number.
fn number(value: Option<f64>) -> String {
    value.filter(|value| value.is_finite()).map_or_else(String::new, |value| value.to_string())
}

#[cfg(test)]
mod test {
    use super::*;
    use crate::results::{Steadiness, X};

    fn rows() -> Vec<Row> {
        let sweep = Row {
            variant: "as-is".into(),
            workload: "read, \"sweep\"".into(),
            case: "64 B\nsecond line".into(),
            device: Some("card1".into()),
            x: Some(X { name: "size".into(), value: 64.0, unit: "B".into(), curve: String::new() }),
            metric: "throughput".into(),
            unit: "Gb/s".into(),
            value: 31.9,
            low: Some(31.8),
            high: Some(0.1 + 0.2),
            n: 5,
            seconds: Some(0.25),
            operations: Some(10_000),
            steady: Some(Steadiness::steady()),
            percentiles: vec![],
            samples: Vec::new(),
            ..Row::default()
        };
        let single =
            Row { value: f64::NAN, n: 1, percentiles: vec![(99.9, 706.0), (50.0, 546.0)], ..Row::default() };
        vec![sweep, single]
    }

    #[test]
    fn csv_reads_back() {
        let mut out = Vec::new();
        rows_csv(&rows(), &mut out).unwrap();
        let mut reader = csv::Reader::from_reader(&out[..]);
        let header: Vec<String> = reader.headers().unwrap().iter().map(Into::into).collect();
        assert_eq!(header[..16], COLUMNS);
        assert_eq!(header[16..], ["p50", "p99.9"]);
        let records: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
        let sweep = [
            "as-is",
            "read, \"sweep\"",
            "64 B\nsecond line",
            "card1",
            "size",
            "64",
            "B",
            "throughput",
            "Gb/s",
            "31.9",
            "31.8",
            "0.30000000000000004",
            "5",
            "0.25",
            "10000",
            "steady",
            "",
            "",
        ];
        assert_eq!(records[0], sweep[..]);
        let single = ["", "", "", "", "", "", "", "", "", "", "", "", "1", "", "", "", "546", "706"];
        assert_eq!(records[1], single[..]);
    }

    #[test]
    fn no_rows_are_a_header() {
        let mut out = Vec::new();
        rows_csv(&[], &mut out).unwrap();
        assert_eq!(String::from_utf8(out).unwrap().trim_end(), COLUMNS.join(","));
    }

    #[test]
    fn ndjson_is_one_row_a_line_and_reads_back() {
        let row = rows().swap_remove(0);
        let mut out = Vec::new();
        rows_ndjson(&[row.clone(), row.clone()], &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let back: Vec<Row> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert_eq!(back, [row.clone(), row]);
    }
}
