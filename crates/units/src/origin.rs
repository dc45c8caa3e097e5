//! Numbers with their origin, as in files of data.

use serde::{Deserialize, Serialize};
use std::fmt;

/// The kind of a number.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberKind {
    /// From the vendor's data sheet.
    Datasheet,
    /// From a measurement; the source says whose, and how.
    Measured,
    /// From the specification; the source cites the text.
    Standard,
    /// Not confirmed by anybody; the source is the reason for the choice.
    Assumed,
    /// Fitted to a measurement.
    Calibrated,
}

impl NumberKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Datasheet, Self::Measured, Self::Standard, Self::Assumed, Self::Calibrated];
    /// Their words in files, in the same order.
    pub const WORDS: [&'static str; 5] = ["datasheet", "measured", "standard", "assumed", "calibrated"];

    /// Its word in files: `assumed`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
    /// The kind for a word.
    #[must_use]
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.word() == word)
    }
}

impl fmt::Display for NumberKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// A number with its origin, as in a file of data.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number<T = f64> {
    /// The number, in the unit at the end of its name.
    pub value: T,
    /// Its kind.
    pub kind: NumberKind,
    /// Its source.
    pub source: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_kinds_are_of_each_other() {
        assert_eq!(NumberKind::ALL.map(NumberKind::word), NumberKind::WORDS);
        assert_eq!(NumberKind::WORDS.map(NumberKind::of), NumberKind::ALL.map(Some));
        assert_eq!(NumberKind::of("guessed"), None);
        // the words that serde derives must not differ
        assert_eq!(NumberKind::ALL.map(|kind| format!("{kind:?}").to_lowercase()), NumberKind::WORDS);
        assert_eq!(NumberKind::Assumed.to_string(), "assumed");
    }
}
