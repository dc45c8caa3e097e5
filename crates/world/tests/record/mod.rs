//! The record of what the scenarios of the tree come to: for each its digest, which changes with anything at all, and
//! beside it a few rows, so that a reader sees which figures moved, and by how much.

use lanetwin_stats::results::{Results, Row};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is recorded of a run: a line with its name, its digest and that of its first repeat alone, and below it a line
/// for each key row.
pub fn record(results: &Results, first: &Results) -> String {
    let [digest, alone] = [results, first].map(|run| run.digest.as_ref().expect("a simulation has a digest"));
    let rows: String = key_rows(&results.rows).into_iter().map(line).collect();
    format!("{} {digest}, first repeat {alone}\n{rows}", results.name)
}

/// The name of each scenario of a record, and the digest of its first repeat.
pub fn first_digest(record: &str) -> impl Iterator<Item = (String, String)> {
    let heads = record.lines().filter(|line| !line.starts_with(' '));
    heads.map(|head| {
        let (name, digests) = head.split_once(' ').expect("a name and digests");
        let alone = digests.rsplit(' ').next().expect("a digest");
        (name.to_owned(), alone.to_owned())
    })
}

/// Throughput and latency in the last case of every workload on the first variant, and of the first workload on the
/// others.
fn key_rows(rows: &[Row]) -> Vec<&Row> {
    let Some(first) = rows.first() else { return Vec::new() };
    let of_all = || rows.iter().filter(|row| row.device.is_none());
    let last: BTreeMap<(&str, &str), &str> =
        of_all().map(|row| ((&*row.variant, &*row.workload), &*row.case)).collect();
    let is_key = |row: &&Row| {
        (row.variant == first.variant || row.workload == first.workload)
            && ["throughput", "latency"].iter().any(|metric| row.metric.ends_with(metric))
            && last[&(&*row.variant, &*row.workload)] == row.case
    };
    of_all().filter(is_key).collect()
}

fn line(row: &Row) -> String {
    let Row { variant, workload, case, metric, unit, .. } = row;
    let mut line = format!("  {variant} / {workload} / {case}: {metric} {} {unit}", short(row.value));
    if let (Some(low), Some(high)) = (row.low, row.high)
        && high > low
    {
        // the lower end of what cannot be negative may be nearer
        let _ = write!(line, " ± {}", short(high - row.value));
    }
    if let Some((_, p99)) = row.percentiles.iter().find(|(percent, _)| *percent == 99.0) {
        let _ = write!(line, ", p99 {} {unit}", short(*p99));
    }
    line + "\n"
}

/// Six digits that count.
fn short(value: f64) -> String {
    let places = (0..6).rev().find(|places| value.abs() < 10f64.powi(6 - places)).unwrap_or(0);
    format!("{value:.*}", places as usize)
}

/// Which scenarios a record has otherwise than another one: digests, and the figures that moved, with both values.
pub fn moved(before: &str, after: &str) -> String {
    let (before, after) = (scenarios(before), scenarios(after));
    let mut told = String::new();
    for (name, new) in &after {
        match before.get(name) {
            None => _ = writeln!(told, "{name}: is new"),
            Some(old) if old != new => {
                _ = writeln!(told, "{name}: {} → {}\n{}", old.digest, new.digest, figures(old, new));
            }
            Some(_) => {}
        }
    }
    for name in before.keys().filter(|name| !after.contains_key(*name)) {
        _ = writeln!(told, "{name}: is gone");
    }
    told
}

/// What is recorded of one scenario.
#[derive(PartialEq)]
struct Recorded<'a> {
    digest: &'a str,
    lines: Vec<&'a str>,
}

fn scenarios(record: &str) -> BTreeMap<&str, Recorded<'_>> {
    let mut found = BTreeMap::new();
    let mut name = "";
    for line in record.lines() {
        if line.starts_with(' ') {
            let entry: Option<&mut Recorded<'_>> = found.get_mut(name);
            entry.expect("a row stands below its scenario").lines.push(line.trim_start());
        } else {
            let (named, digest) = line.split_once(' ').expect("a name and a digest");
            name = named;
            found.insert(name, Recorded { digest, lines: Vec::new() });
        }
    }
    found
}

fn figures(old: &Recorded<'_>, new: &Recorded<'_>) -> String {
    let known: BTreeMap<&str, &str> = old.lines.iter().map(|line| parted(line)).collect();
    let mut told = Vec::new();
    for line in new.lines.iter().filter(|line| !old.lines.contains(line)) {
        let (what, figures) = parted(line);
        let Some(was) = known.get(what) else {
            told.push(format!("  {what}{figures} is new"));
            continue;
        };
        let [from, to] = [*was, figures].map(leading);
        let by = (to / from - 1.0) * 100.0;
        told.push(format!("  {what}{was} → {figures} ({by:+.2} %)"));
    }
    if told.is_empty() {
        return "  no row of the record moved".to_owned();
    }
    told.join("\n")
}

/// What a line is about, and its figures, which begin with the value.
fn parted(line: &str) -> (&str, &str) {
    let mut at = line.rfind(": ").map_or(0, |at| at + 2);
    for word in line[at..].split(' ') {
        if word.parse::<f64>().is_ok() {
            return line.split_at(at);
        }
        at += word.len() + 1;
    }
    (line, "")
}

/// The number that a text begins with; not a number if it begins with none.
fn leading(text: &str) -> f64 {
    text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(f64::NAN)
}
