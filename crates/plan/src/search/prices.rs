//! Cost and power of parts, each with its source and date.

use super::problem::Problem;
use crate::catalogue::Catalogue;
use crate::language::{PRICE, PRICES};
use crate::problem::Problem as Own;
use lanetwin_document::fields::{Fields, is_map};
use lanetwin_document::node::Node;
use lanetwin_document::problem::{Problem as Common, Reports};
use lanetwin_document::spelling::Near;
use serde::Serialize;
use std::collections::BTreeMap;

/// The section of a scenario.
pub(super) const SECTION: &str = "prices";

/// Prices of parts, in one unit.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct Prices {
    /// The unit of costs.
    pub unit: String,
    /// The parts by their names.
    pub parts: BTreeMap<String, Price>,
}

/// Cost and power of one part.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Price {
    /// Cost of one piece, if given.
    pub cost: Option<f64>,
    /// Power of one piece \[W\], if given.
    pub power_w: Option<f64>,
    /// The source.
    pub source: String,
    /// The date of the source: `2026-01-31`.
    pub date: String,
}

/// Reads the section; without one, nothing has a price. Returns `None` after an error in it.
pub(super) fn read(section: Option<&Node>, reports: &mut Reports) -> Option<Prices> {
    let Some(node) = section else { return Some(Prices::default()) };
    let mut fields = Fields::open(node, SECTION, PRICES, &[], reports)?;
    let unit = fields.text("unit", reports)?.value;
    let parts = fields.written("parts")?;
    if !is_map(parts, &fields.at("parts"), reports) {
        return None;
    }
    let read = |entry: &lanetwin_document::node::Entry| {
        let path = format!("{SECTION}.parts.{}", entry.key);
        Some((entry.key.clone(), price(&entry.key, &entry.value, &path, reports)?))
    };
    let found: Vec<_> = parts.entries().iter().map(read).collect();
    Some(Prices { unit, parts: found.into_iter().collect::<Option<_>>()? })
}

fn price(part: &str, node: &Node, path: &str, reports: &mut Reports) -> Option<Price> {
    let mut fields = Fields::open(node, path, PRICE, &[], reports)?;
    let cost = number(&mut fields, "cost", "", "a number from 0 on, without a unit", reports)?;
    let power_w = number(&mut fields, "power", "W", "watts, as in `8W`", reports)?;
    if cost.is_none() && power_w.is_none() {
        reports.add(Problem::NoPrice { part: part.into() }, node.spot, path);
        return None;
    }
    let source = fields.text("source", reports)?.value;
    let date = fields.text("date", reports)?;
    if !is_day(&date.value) {
        let problem = Common::Quantity { text: date.value, hint: "a day, as in `2026-01-31`".into() };
        fields.fault("date", problem, reports);
        return None;
    }
    Some(Price { cost, power_w, source, date: date.value })
}

/// The number under a key, if there is one; reports one that is negative or has another unit.
#[expect(clippy::option_option, reason = "outside: whether it can be read, inside: whether it is there")]
fn number(
    fields: &mut Fields<'_>,
    key: &str,
    unit: &str,
    hint: &str,
    reports: &mut Reports,
) -> Option<Option<f64>> {
    if fields.written(key).is_none() {
        return Some(None);
    }
    let text = fields.text(key, reports)?.value;
    let value = text.trim().strip_suffix(unit).and_then(|number| number.trim().parse::<f64>().ok());
    let value = value.filter(|number| number.is_finite() && *number >= 0.0);
    if value.is_none() {
        fields.fault(key, Common::Quantity { text, hint: hint.into() }, reports);
    }
    value.map(Some)
}

/// Whether it is a calendar date in the format of ISO 8601.
fn is_day(text: &str) -> bool {
    let fields: Vec<&str> = text.split('-').collect();
    let [year, month, day] = fields[..] else { return false };
    if (year.len(), month.len(), day.len()) != (4, 2, 2) || text.contains('+') {
        return false;
    }
    let [Ok(year), Ok(month), Ok(day)] = [year, month, day].map(str::parse::<u32>) else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 => 28 + u32::from(leap),
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// Reports prices of unknown parts.
pub(super) fn check_names(section: Option<&Node>, catalogue: &Catalogue, reports: &mut Reports) {
    let parts = section.and_then(|node| node.get("parts")).map(Node::entries).unwrap_or_default();
    for entry in parts.iter().filter(|entry| catalogue.find(&entry.key).is_none()) {
        let near = Near::of(&entry.key, catalogue.parts().map(|part| &*part.name));
        let path = format!("{SECTION}.parts.{}", entry.key);
        reports.add(Own::UnknownPart { name: entry.key.clone(), near }, entry.spot, &path);
    }
}

#[cfg(test)]
mod tests {
    use super::is_day;

    #[test]
    fn a_day_is_one_of_the_calendar() {
        for day in ["2026-01-31", "2024-02-29", "2000-02-29"] {
            assert!(is_day(day), "{day}");
        }
        for day in [
            "2026-02-29",
            "1900-02-29",
            "2026-13-01",
            "2026-00-10",
            "2026-1-31",
            "spring",
            "2026-01-00",
            "+026-01-01",
        ] {
            assert!(!is_day(day), "{day}");
        }
    }
}
