//! The version line, which determines the layout of a file.
//!
//! Iometer numbered its versions by date until 2010 and by major, minor and revision from 1.1.0 on (its change log,
//! "Version 1.1.0 (RC1)"). The layout of a file changed once in between:
//!
//! | Line | dated | numbered |
//! |---|---|---|
//! | results display | `'Update Frequency,Update Type` | `'Record Last Update Results,Update Frequency,Update Type` |
//! | worker settings | outstanding, connection rate, transactions | the same, and `use fixed seed,fixed seed value` |
//! | disk settings | maximum size, starting sector | the same, and `Data pattern` |

use serde::{Serialize, Serializer};
use std::fmt;

/// A version of Iometer whose files can be read.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Version {
    first: u16,
    second: u16,
    third: u16,
}

/// The layout of a version's files.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Dialect {
    /// The layout of 2004.07.30.
    Dated,
    /// The layout of 1.1.0.
    Numbered,
}

/// The first version in which every section ends with an `'END` line (`PageSetup.cpp`, `LoadConfig`).
const OLDEST: (u16, u16, u16) = (1999, 2, 17);
/// The last year in which a version was named by its date.
const NEWEST_YEAR: u16 = 2010;

impl Version {
    /// 2004.07.30.
    pub const V2004_07_30: Self = Self { first: 2004, second: 7, third: 30 };
    /// 1.1.0.
    pub const V1_1_0: Self = Self { first: 1, second: 1, third: 0 };

    /// The version at the start of a text, and the text after it (`-RC2`); `None` if its files cannot be read.
    #[must_use]
    pub fn parse(text: &str) -> Option<(Self, &str)> {
        let (first, rest) = number(text)?;
        let (second, rest) = number(rest.strip_prefix('.')?)?;
        let (third, rest) = number(rest.strip_prefix('.')?)?;
        let version = Self { first, second, third };
        let is_date = (OLDEST..).contains(&(first, second, third))
            && first <= NEWEST_YEAR
            && (1..=12).contains(&second)
            && (1..=31).contains(&third);
        (is_date || first == 1).then_some((version, rest.trim()))
    }
    /// The layout of its files.
    #[must_use]
    pub const fn dialect(self) -> Dialect {
        if self.first == 1 { Dialect::Numbered } else { Dialect::Dated }
    }
    /// Whether it is one of the two versions whose files were compared with this implementation.
    #[must_use]
    pub fn is_known(self) -> bool {
        self == Self::V2004_07_30 || self == Self::V1_1_0
    }
}

impl Dialect {
    /// The known version with this layout.
    #[must_use]
    pub const fn version(self) -> Version {
        match self {
            Self::Dated => Version::V2004_07_30,
            Self::Numbered => Version::V1_1_0,
        }
    }
}

/// The number at the start of a text, of at most five digits, and the text after it.
fn number(text: &str) -> Option<(u16, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..end].parse().ok()?, &text[end..]))
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { first, second, third } = self;
        match self.dialect() {
            Dialect::Dated => write!(f, "{first:04}.{second:02}.{third:02}"),
            Dialect::Numbered => write!(f, "{first}.{second}.{third}"),
        }
    }
}
impl Serialize for Version {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_numbers_are_told_apart_and_what_is_neither_is_refused() {
        let parse = |text| Version::parse(text).map(|(version, rest)| (version.to_string(), rest));
        assert_eq!(parse("2004.07.30 "), Some(("2004.07.30".into(), "")));
        assert_eq!(parse("1.1.0"), Some(("1.1.0".into(), "")));
        assert_eq!(parse("2008.06.18-RC2"), Some(("2008.06.18".into(), "-RC2")));
        for text in
            ["", "3.26.97", "1998.05.21", "2011.01.01", "2004.13.01", "2004.7", "1.1", "99999.1.1", "x"]
        {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(Version::V2004_07_30.dialect().version(), Version::V2004_07_30);
        assert_eq!(Version::V1_1_0.dialect().version(), Version::V1_1_0);
    }
}
