//! Values as numbers, for ranges and for figures.

use lanetwin_document::quantity;
use lanetwin_ports::{Dimension, Value};
use lanetwin_units::{Bytes, Span};

/// Dimensions of values, in the order in which they are tried; a plain whole number is a count.
const KINDS: [Dimension; 5] = [
    Dimension::Count { least: 0, most: u64::MAX },
    Dimension::Time,
    Dimension::Size,
    Dimension::Rate,
    Dimension::Ratio,
];

/// The dimension that all of these texts have; `None` if there is none.
pub(super) fn kind(texts: &[&str]) -> Option<Dimension> {
    KINDS.into_iter().find(|kind| texts.iter().all(|text| grains(*kind, text).is_some()))
}

/// A text as a number of base units of its dimension: ps, B, B/s, or itself.
pub(super) fn grains(kind: Dimension, text: &str) -> Option<f64> {
    match quantity::read(kind, text).ok()?.0 {
        Value::Count(count) => Some(count as f64),
        Value::Time(span) => Some(span.as_ps() as f64),
        Value::Size(Bytes(bytes)) => Some(bytes as f64),
        Value::Rate(rate) => Some(rate as f64),
        Value::Ratio(ratio) => Some(ratio),
        Value::Flag(_) | Value::Choice(_) => None,
    }
}

/// A number of base units as text, rounded to whole ones.
pub(super) fn written(kind: Dimension, grains: f64) -> String {
    let whole = grains.round() as u64;
    quantity::written(match kind {
        Dimension::Time => Value::Time(Span::from_ps(whole)),
        Dimension::Size => Value::Size(Bytes(whole)),
        Dimension::Rate => Value::Rate(whole),
        // shares are rounded, so that they have few digits
        Dimension::Ratio => Value::Ratio((grains * 1e12).round() / 1e12),
        _ => Value::Count(whole),
    })
}

/// The unit of values of a dimension in figures, in base units.
pub(super) const fn unit(kind: Dimension) -> (&'static str, f64) {
    match kind {
        Dimension::Time => ("ns", 1e3),
        Dimension::Size => ("B", 1.0),
        Dimension::Rate => ("MB/s", 1e6),
        _ => ("", 1.0),
    }
}

/// The values as numbers of one unit, and the unit; `None` if they are not all numbers of one dimension. Widths of
/// links (`x4`) count as their lanes.
pub(super) fn numbers(texts: &[&str]) -> Option<(Vec<f64>, &'static str)> {
    let lanes: Option<Vec<f64>> =
        texts.iter().map(|text| text.strip_prefix('x')?.parse::<u32>().ok().map(f64::from)).collect();
    if let Some(lanes) = lanes {
        return Some((lanes, ""));
    }
    let kind = kind(texts)?;
    let (unit, each) = unit(kind);
    Some((texts.iter().filter_map(|text| Some(grains(kind, text)? / each)).collect(), unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_one_kind_are_numbers_of_one_unit() {
        assert_eq!(numbers(&["x4", "x16"]), Some((vec![4.0, 16.0], "")));
        assert_eq!(numbers(&["1", "256"]), Some((vec![1.0, 256.0], "")));
        assert_eq!(numbers(&["4KiB", "1MiB"]), Some((vec![4096.0, 1_048_576.0], "B")));
        assert_eq!(numbers(&["80ns", "1us"]), Some((vec![80.0, 1000.0], "ns")));
        assert_eq!(numbers(&["0", "1us"]), Some((vec![0.0, 1000.0], "ns")));
        assert_eq!(numbers(&["2GB/s"]), Some((vec![2000.0], "MB/s")));
        for mixed in [["x4", "8"], ["4KiB", "1us"], ["a", "b"]] {
            assert_eq!(numbers(&mixed), None, "{mixed:?}");
        }
    }
}
