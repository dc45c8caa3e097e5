//! Numbers as fio 3.33 reads them, to the byte and the microsecond, with warnings where the result may be unexpected.
//!
//! | Written | Read | Why (`parse.c`) |
//! |---|---|---|
//! | `4k`, `4K`, `4kb`, `4ki` | 4096 | `kb_base` is 1024, and only the first letter counts |
//! | `4kib`, `4KiB` | 4000 | these units are the opposite of `kb_base` |
//! | ` 4k` (a blank before it) | 4 | the unit is searched for from the first character on, where the blank stands |
//! | `1.5g` | 1 | whole numbers only, and no unit after a point |
//! | `10sec`, `5min` | 10 µs, 5 µs | the units of time are `us`, `ms`, `s`, `m`, `h`, `d` |
//! | `5s:9s` | 5 µs, 9 s | the first of several times has no unit of its own |

/// The whole \[%\].
pub(super) const WHOLE: u64 = 100;

/// A number as read, and a doubt about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Read {
    /// The number: bytes, microseconds, or a count. Negative ones are in two's complement, as in fio.
    pub value: u64,
    /// Whether it is a percentage.
    pub percent: bool,
    pub doubt: Option<Doubt>,
}

/// Why the reading of a number may be unexpected.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Doubt {
    /// A power of 1024 is read as one of 1000, or the other way round.
    Inverted,
    /// A blank before the number hides its unit.
    Blank,
    /// Text after the number is not read.
    Tail,
    /// Its unit of time is unknown and counts as microseconds.
    UnknownTime,
}

/// Reads a size; a kilobyte has `base` bytes. `None` if there is no number.
pub(super) fn size(text: &str, base: u64) -> Option<Read> {
    let (whole, rest) = integer(text)?;
    if text.len() < 2 {
        return Some(Read { value: whole, percent: false, doubt: None });
    }
    let unit = unit_from(text, true).filter(|unit| unit.starts_with('%') || starts_alphabetic(unit));
    let doubt = |known: bool| match unit {
        Some(_) if known => None,
        _ if is_over(rest) => None,
        None if text.starts_with(char::is_whitespace) => Some(Doubt::Blank),
        _ => Some(Doubt::Tail),
    };
    let Some(unit) = unit else { return Some(Read { value: whole, percent: false, doubt: doubt(false) }) };
    let unit = unit.to_ascii_lowercase();
    let unit = unit.split([':', '-', ',', '/']).next().unwrap_or_default();
    if unit.starts_with('%') {
        // fio stores the complement of a percentage, since no size is as large
        return Some(Read { value: (!0_u64).wrapping_sub(whole), percent: true, doubt: None });
    }
    let Some(power) = unit.chars().next().and_then(|c| "kmgtp".find(c)) else {
        let hex = unit.starts_with('x');
        return Some(Read { value: whole, percent: false, doubt: if hex { None } else { doubt(false) } });
    };
    let inverted = unit[1..].starts_with("ib");
    let base = match (inverted, base) {
        (true, 1000) => 1024,
        (true, 1024) => 1000,
        _ => base,
    };
    let value = whole.wrapping_mul(base.wrapping_pow(power as u32 + 1));
    let known = matches!(&unit[1..], "" | "b" | "i" | "ib");
    let doubt = match (inverted, base) {
        (true, 1000) => Some(Doubt::Inverted),
        _ if known => None,
        _ => Some(Doubt::Tail),
    };
    Some(Read { value, percent: false, doubt })
}

/// Reads a time \[µs\]; a number without a unit is in seconds or in microseconds. `None` if there is no number.
pub(super) fn time(text: &str, seconds: bool) -> Option<Read> {
    let (whole, rest) = integer(text)?;
    let bare = if seconds { 1_000_000 } else { 1 };
    let unit = unit_from(text, false).filter(|unit| starts_alphabetic(unit)).map(str::to_ascii_lowercase);
    let hex = text.to_ascii_lowercase().contains("0x");
    let (factor, doubt) = match unit.as_deref() {
        None if is_over(rest) => (bare, None),
        None if text.starts_with(char::is_whitespace) => (bare, Some(Doubt::Blank)),
        None => (bare, Some(Doubt::Tail)),
        Some(unit) if unit.starts_with("us") => (1, None),
        Some(unit) if unit.starts_with("ms") => (1000, None),
        Some("s") => (1_000_000, None),
        Some("m") => (60_000_000, None),
        Some("h") => (3_600_000_000, None),
        Some("d") => (86_400_000_000, None),
        Some(_) if hex && !seconds => (1, None),
        Some(_) => (1, Some(Doubt::UnknownTime)),
    };
    Some(Read { value: whole.wrapping_mul(factor), percent: false, doubt })
}

/// The number at the start of a text after blanks, as C's `strtoll` reads it, and the text after it; hexadecimal if
/// there is a `0x` anywhere. `None` if there is no number, or one that needs more than 63 bits.
fn integer(text: &str) -> Option<(u64, &str)> {
    let hex = text.contains("0x") || text.contains("0X");
    let trimmed = text.trim_start_matches(|c: char| c.is_ascii_whitespace() || c == '\u{b}');
    let negative = trimmed.starts_with('-');
    let digits = trimmed.strip_prefix(['-', '+']).unwrap_or(trimmed);
    let radix = if hex { 16 } else { 10 };
    let prefixed = || {
        let rest = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"))?;
        rest.starts_with(|c: char| c.is_ascii_hexdigit()).then_some(rest)
    };
    let digits = if hex { prefixed().unwrap_or(digits) } else { digits };
    let end = digits.find(|c: char| !c.is_digit(radix)).unwrap_or(digits.len());
    if end == 0 {
        return None;
    }
    let value = i64::from_str_radix(&digits[..end], radix).ok()?;
    Some((if negative { value.wrapping_neg() } else { value } as u64, &digits[end..]))
}

/// The text after its digits and signs, where fio looks for the unit.
fn unit_from(text: &str, signs_first: bool) -> Option<&str> {
    let mut digit_seen = false;
    let end = text.find(|c: char| {
        let sign = (c == '+' || c == '-') && !(signs_first && digit_seen);
        digit_seen |= c.is_ascii_digit();
        !(c.is_ascii_digit() || sign)
    })?;
    Some(&text[end..])
}

/// Whether nothing follows, or another number after a separator.
fn is_over(rest: &str) -> bool {
    rest.split([':', '-', ',', '/']).next().is_none_or(|rest| rest.trim().is_empty())
}
fn starts_alphabetic(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str) -> Option<(u64, Option<Doubt>)> {
        size(text, 1024).map(|read| (read.value, read.doubt))
    }

    #[test]
    fn sizes_are_read_as_fio_reads_them() {
        use Doubt::{Blank, Inverted, Tail};
        for (text, expected, doubt) in [
            ("4k", 4096, None),
            ("4K", 4096, None),
            ("4kb", 4096, None),
            ("4ki", 4096, None),
            ("4KiB", 4000, Some(Inverted)),
            ("2MIB", 2_000_000, Some(Inverted)),
            (" 4k", 4, Some(Blank)),
            ("8", 8, None),
            ("0x10", 16, None),
            ("0x1k", 1, Some(Tail)),
            ("1.5g", 1, Some(Tail)),
            ("1e3", 1, Some(Tail)),
            ("4k-8k", 4096, None),
            ("1g:2g", 1 << 30, None),
            ("3kilo", 3072, Some(Tail)),
            ("-5", 5_u64.wrapping_neg(), None),
        ] {
            let found = value(text);
            assert_eq!(found.map(|(value, _)| value), Some(expected), "{text}");
            let found = found.and_then(|(_, doubt)| doubt);
            assert!(text == "0x1k" || found == doubt, "{text}: {found:?}");
        }
        assert_eq!((value("k"), value(""), value("(2*4096)")), (None, None, None));
        assert_eq!(size("4KiB", 1000).map(|read| (read.value, read.doubt)), Some((4096, None)));
        assert_eq!(size("4k", 1000).map(|read| read.value), Some(4000));
        let half = size("50%", 1024).expect("a percentage");
        assert_eq!((half.percent, half.value), (true, u64::MAX - 50));
    }

    #[test]
    fn times_are_read_as_fio_reads_them() {
        for (text, seconds, expected, doubt) in [
            ("10", true, 10_000_000, None),
            ("10", false, 10, None),
            ("1m", true, 60_000_000, None),
            ("2h", true, 7_200_000_000, None),
            ("1d", false, 86_400_000_000, None),
            ("5ms", true, 5000, None),
            ("5usec", true, 5, None),
            ("10sec", true, 10, Some(Doubt::UnknownTime)),
            ("5min", true, 5, Some(Doubt::UnknownTime)),
            ("5s:9s", true, 5, Some(Doubt::UnknownTime)),
            (" 10s", true, 10_000_000, Some(Doubt::Blank)),
        ] {
            let read = time(text, seconds).expect("a number");
            assert_eq!((read.value, read.doubt), (expected, doubt), "{text}");
        }
        assert_eq!(time("soon", true), None);
    }
}
