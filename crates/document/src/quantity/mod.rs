//! Quantities as people write them: `128KiB`, `12.8GB/s`, `60us`, `2%`.
//!
//! ```text
//!  text ── read ──► Value (whole picoseconds, bytes, bytes per second) ── written ──► text
//!                └► Caution: what a bare `k` was taken for
//! ```
//!
//! Binary prefixes are IEC (`KiB` is 1024), decimal prefixes are SI (`kB` is 1000), and they are never confused.
//! The arithmetic is exact: a quantity finer than its base unit (a tenth of a picosecond) is rejected, not rounded.
//!
//! ```
//! use lanetwin_ports::{Dimension, Value};
//! use lanetwin_document::quantity;
//! use lanetwin_units::Span;
//! let (value, caution) = quantity::read(Dimension::Time, "1.5us").expect("a time");
//! assert_eq!(value, Value::Time(Span::from_ns(1_500)));
//! assert_eq!(caution, None);
//! assert_eq!(quantity::written(value), "1.5us");
//! ```

mod decimal;

use decimal::{Decimal, Inexact};
use lanetwin_ports::{Dimension, Value};
use lanetwin_units::{Bytes, Span};

/// Why a text is not a quantity of its dimension.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Mistake {
    /// Not a number with a unit of this dimension, or not a word of the list.
    Form,
    /// A number without the unit it needs.
    NoUnit,
    /// `KB`: neither IEC nor SI.
    MixedPrefix,
    /// Not a multiple of the base unit: a picosecond, a byte, a byte per second.
    TooFine,
    /// It needs more than 64 bits, or is outside the range (least and most, both allowed).
    OutOfRange(String, String),
}

/// A warning about a text that can be read, but may be meant differently.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Caution {
    /// The value that was read (`128KiB`).
    pub taken_as: String,
}

/// A unit: its name, and its value in base units as a fraction (times, per).
type Unit = (&'static str, u128, u128);

const TIMES: &[Unit] = &[
    ("s", 1_000_000_000_000, 1),
    ("ms", 1_000_000_000, 1),
    ("us", 1_000_000, 1),
    ("ns", 1_000, 1),
    ("ps", 1, 1),
    ("µs", 1_000_000, 1),
    ("μs", 1_000_000, 1),
];
const SIZES: &[Unit] = &[
    ("TiB", 1 << 40, 1),
    ("GiB", 1 << 30, 1),
    ("MiB", 1 << 20, 1),
    ("KiB", 1 << 10, 1),
    ("B", 1, 1),
    ("kB", 1_000, 1),
    ("MB", 1_000_000, 1),
    ("GB", 1_000_000_000, 1),
    ("TB", 1_000_000_000_000, 1),
];
/// Decimal units for output, largest first.
const DECIMAL_SIZES: [(&str, u64); 4] =
    [("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1_000)];
/// Bare suffixes are read as binary, as in fio.
const BARE_SIZES: &[(&str, &str)] =
    &[("k", "KiB"), ("K", "KiB"), ("m", "MiB"), ("M", "MiB"), ("g", "GiB"), ("G", "GiB"), ("T", "TiB")];
const RATES: &[Unit] = &[
    ("TB/s", 1_000_000_000_000, 1),
    ("GB/s", 1_000_000_000, 1),
    ("MB/s", 1_000_000, 1),
    ("kB/s", 1_000, 1),
    ("B/s", 1, 1),
    ("KiB/s", 1 << 10, 1),
    ("MiB/s", 1 << 20, 1),
    ("GiB/s", 1 << 30, 1),
    ("TiB/s", 1 << 40, 1),
    ("b/s", 1, 8),
    ("kb/s", 1_000, 8),
    ("Mb/s", 1_000_000, 8),
    ("Gb/s", 1_000_000_000, 8),
    ("Tb/s", 1_000_000_000_000, 8),
];
/// Number of the units above that are used for output, largest first.
const PRINTED: usize = 5;

/// Reads `text` as a quantity of `dimension`.
///
/// # Errors
/// The error in the text; [`hint`] describes valid texts.
pub fn read(dimension: Dimension, text: &str) -> Result<(Value, Option<Caution>), Mistake> {
    let plain = |value| (value, None);
    match dimension {
        Dimension::Time => grains(text, TIMES).map(|ps| plain(Value::Time(Span::from_ps(ps)))),
        Dimension::Rate => grains(text, RATES).map(|rate| plain(Value::Rate(rate))),
        Dimension::Size => size(text),
        Dimension::Count { least, most } => count(text, least, most).map(|n| plain(Value::Count(n))),
        Dimension::Ratio => ratio(text).map(|ratio| plain(Value::Ratio(ratio))),
        Dimension::Flag => match text {
            "true" => Ok(plain(Value::Flag(true))),
            "false" => Ok(plain(Value::Flag(false))),
            _ => Err(Mistake::Form),
        },
        Dimension::Choice(words) => chosen(words, text).map(plain).ok_or(Mistake::Form),
        Dimension::ChoiceOrRatio(words) => {
            read(Dimension::Choice(words), text).or_else(|_| read(Dimension::Ratio, text))
        }
    }
}

/// One of several words. What other readers of YAML make of `on` and `off` (1.1: truth values) is as good.
fn chosen(words: &[&'static str], text: &str) -> Option<Value> {
    let find = |text: &str| words.iter().find(|word| **word == text);
    let word = find(text).or_else(|| match text {
        "true" => find("on"),
        "false" => find("off"),
        _ => None,
    })?;
    Some(Value::Choice(word))
}

/// A description of valid texts of `dimension`, for a message.
#[must_use]
pub fn hint(dimension: Dimension) -> String {
    match dimension {
        Dimension::Time => "a time with its unit: `80ns`, `1.5us`, `5ps`".into(),
        Dimension::Size => "a size with its unit: `512B`, `128KiB` (1024), `128kB` (1000)".into(),
        Dimension::Rate => "a rate with its unit: `12.8GB/s`, `16Gb/s`".into(),
        Dimension::Count { least, most } => format!("a whole number from {least} to {most}"),
        Dimension::Ratio => "a number from 0 to 1: `0.02`, `2%`, `1e-12`".into(),
        Dimension::Flag => "`true` or `false`".into(),
        Dimension::Choice(words) => format!("one of `{}`", words.join("`, `")),
        Dimension::ChoiceOrRatio(words) => {
            format!("one of `{}`, or {}", words.join("`, `"), hint(Dimension::Ratio))
        }
    }
}

/// Writes a value in its canonical form, which [`read`] reads back as the same value.
#[must_use]
pub fn written(value: Value) -> String {
    match value {
        Value::Time(span) => scaled(span.as_ps(), &TIMES[..PRINTED]),
        Value::Rate(rate) => scaled(rate, &RATES[..PRINTED]),
        Value::Size(bytes) => exact(bytes.0),
        Value::Count(count) => count.to_string(),
        Value::Ratio(ratio) => format!("{ratio}"),
        Value::Flag(flag) => flag.to_string(),
        Value::Choice(word) => word.to_owned(),
    }
}

/// A number with one of `units`, in base units.
fn grains(text: &str, units: &[Unit]) -> Result<u64, Mistake> {
    let (number, unit) = Decimal::split(text.trim()).ok_or(Mistake::Form)?;
    let unit = unit.trim_start();
    let whole = |times, per| {
        number.whole(times, per).map_err(|inexact| match inexact {
            Inexact::TooFine => Mistake::TooFine,
            Inexact::TooLarge => {
                Mistake::OutOfRange("0".into(), format!("{}{}", u64::MAX, units[PRINTED - 1].0))
            }
        })
    };
    if unit.is_empty() {
        // zero needs no unit
        return if whole(1, 1) == Ok(0) { Ok(0) } else { Err(Mistake::NoUnit) };
    }
    match units.iter().find(|(name, ..)| *name == unit) {
        Some((_, times, per)) => whole(*times, *per),
        None if matches!(unit, "KB" | "KB/s" | "Kb/s") => Err(Mistake::MixedPrefix),
        None => Err(Mistake::Form),
    }
}

fn size(text: &str) -> Result<(Value, Option<Caution>), Mistake> {
    let text = text.trim();
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let suffix = &text[number.len()..];
    let Some((_, unit)) = BARE_SIZES.iter().find(|(bare, _)| *bare == suffix) else {
        return grains(text, SIZES).map(|bytes| (Value::Size(Bytes(bytes)), None));
    };
    let taken_as = format!("{}{unit}", number.trim_end());
    let bytes = grains(&taken_as, SIZES)?;
    Ok((Value::Size(Bytes(bytes)), Some(Caution { taken_as })))
}

fn count(text: &str, least: u64, most: u64) -> Result<u64, Mistake> {
    let out_of_range = || Mistake::OutOfRange(least.to_string(), most.to_string());
    let digits = text.trim().strip_prefix('-').unwrap_or(text.trim());
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Mistake::Form);
    }
    let number: u64 = text.trim().parse().map_err(|_| out_of_range())?;
    if (least..=most).contains(&number) { Ok(number) } else { Err(out_of_range()) }
}

fn ratio(text: &str) -> Result<f64, Mistake> {
    let (is_negative, digits) = match text.trim().strip_prefix('-') {
        Some(digits) => (true, digits),
        None => (false, text.trim()),
    };
    let (number, unit) = Decimal::split(digits).ok_or(Mistake::Form)?;
    // told in the unit in which it is written
    let (ratio, [least, most]) = match unit.trim_start() {
        "" => (number.float(0), ["0", "1"]),
        "%" => (number.float(2), ["0%", "100%"]),
        _ => return Err(Mistake::Form),
    };
    let is_within = ratio <= 1.0 && (!is_negative || ratio == 0.0);
    if is_within { Ok(ratio) } else { Err(Mistake::OutOfRange(least.into(), most.into())) }
}

/// The value in the largest unit with at most three decimals and no leading zero.
fn scaled(grains: u64, units: &[Unit]) -> String {
    let grains = u128::from(grains);
    for (name, times, _) in units {
        let thousandths = times / 1_000;
        if grains >= *times && (thousandths == 0 || grains % thousandths == 0) {
            let fraction = (grains % times) * 1_000 / times;
            let decimals = format!("{fraction:03}");
            let point = if fraction == 0 { "" } else { "." };
            return format!("{}{point}{}{name}", grains / times, decimals.trim_end_matches('0'));
        }
    }
    format!("{grains}{}", units[units.len() - 1].0)
}

/// The size in the binary or the decimal unit, whichever needs fewer digits and is therefore more likely meant; in the
/// binary one if both need as many.
fn exact(bytes: u64) -> String {
    let binary = binary(bytes);
    let decimal = DECIMAL_SIZES.iter().find(|(_, times)| bytes != 0 && bytes.is_multiple_of(*times));
    let decimal = decimal.map(|(name, times)| format!("{}{name}", bytes / times));
    let digits = |text: &str| text.bytes().filter(u8::is_ascii_digit).count();
    decimal.filter(|decimal| digits(decimal) < digits(&binary)).unwrap_or(binary)
}

/// The size in the largest binary unit of which it is a multiple.
fn binary(bytes: u64) -> String {
    let unit =
        SIZES[..PRINTED].iter().find(|(_, times, _)| bytes != 0 && u128::from(bytes).is_multiple_of(*times));
    let (name, times, _) = unit.unwrap_or(&SIZES[PRINTED - 1]);
    format!("{}{name}", u128::from(bytes) / times)
}

/// A size as a label: `64 B`, `2 KiB`.
#[must_use]
pub fn label(value: Value) -> String {
    let text = written(value);
    let unit = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(unit);
    if unit.is_empty() { number.to_owned() } else { format!("{number} {unit}") }
}

/// Two sizes as labels, each rounded to a tenth of the largest binary unit that it reaches, if they can still be told
/// apart: `149.8 GiB`, `64 GiB`.
pub fn beside(a: Bytes, b: Bytes) -> (String, String) {
    let (a, b) = (Value::Size(a), Value::Size(b));
    let rounded = (rounded(a), rounded(b));
    if rounded.0 == rounded.1 { (label(a), label(b)) } else { rounded }
}

fn rounded(size: Value) -> String {
    let exact = label(size);
    let Value::Size(Bytes(bytes)) = size else { return exact };
    let reached = SIZES[..PRINTED].iter().find(|(_, times, _)| u128::from(bytes) >= *times);
    match reached {
        Some((name, times, _)) if !u128::from(bytes).is_multiple_of(*times) => {
            let tenths = (u128::from(bytes) * 10 + times / 2) / times;
            let fraction = if tenths % 10 == 0 { String::new() } else { format!(".{}", tenths % 10) };
            format!("{}{fraction} {name}", tenths / 10)
        }
        _ => exact,
    }
}

#[cfg(test)]
mod tests;
