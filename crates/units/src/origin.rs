//! Numbers that say where they come from, as files of data have them.

use serde::{Deserialize, Serialize};
use std::fmt;

/// What kind of number a number is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NumberKind {
    /// The vendor says so.
    Datasheet,
    /// Somebody measured it; the source says who and how.
    Measured,
    /// The specification fixes it, as a text says that can be cited.
    Standard,
    /// Nobody says so; the source is the reason for the choice.
    Assumed,
    /// Fitted to something.
    Calibrated,
}

impl NumberKind {
    /// Every kind.
    pub const ALL: [Self; 5] =
        [Self::Datasheet, Self::Measured, Self::Standard, Self::Assumed, Self::Calibrated];
    /// The words that files have for them, in the same order.
    pub const WORDS: [&'static str; 5] = ["datasheet", "measured", "standard", "assumed", "calibrated"];

    /// The word that files have for it: `assumed`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        Self::WORDS[self as usize]
    }
    /// The kind that a word stands for.
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

/// A number with its origin, as a file of data has it.
#[derive(Clone, PartialEq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number<T = f64> {
    /// The number, in the unit that its name ends in.
    pub value: T,
    /// What kind of number it is.
    pub kind: NumberKind,
    /// Who says so.
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
        // the words of serde are derived, and must not differ
        assert_eq!(NumberKind::ALL.map(|kind| format!("{kind:?}").to_lowercase()), NumberKind::WORDS);
        assert_eq!(NumberKind::Assumed.to_string(), "assumed");
    }
}
