//! A digest in a document: sixteen hexadecimal digits, as JSON has no exact 64-bit integers.

use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The digest of a run; runs with equal digests had the same events in the same order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Digest(pub u64);

impl Digest {
    /// From exactly sixteen lower-case hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.len() == 16 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        if plain { u64::from_str_radix(text, 16).ok().map(Self) } else { None }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text)
            .ok_or_else(|| de::Error::custom(format!("`{text}` is not sixteen hexadecimal digits")))
    }
}

#[cfg(test)]
mod test {
    use super::*;

    #[test]
    fn leading_zeros_stay() {
        assert_eq!(Digest(0xab).to_string(), "00000000000000ab");
        assert_eq!(Digest::parse("00000000000000ab"), Some(Digest(0xab)));
    }

    #[test]
    fn anything_else_is_refused() {
        for text in
            ["", "ab", "00000000000000AB", "+0000000000000ab", "000000000000000ab", "0x000000000000ab"]
        {
            assert_eq!(Digest::parse(text), None, "{text}");
        }
    }
}
