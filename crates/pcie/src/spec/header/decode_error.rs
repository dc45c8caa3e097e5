//! Why bytes are no header.

use super::super::header_words::Fmt;
use super::super::range::BadRange;
use core::fmt;

/// Why bytes are not a header that is modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// There are fewer bytes than the header has.
    Truncated {
        /// How many it has.
        needed: usize,
    },
    /// The kind of packet is not modelled.
    Kind {
        /// Fmt.
        fmt: Fmt,
        /// Type.
        type_code: u8,
    },
    /// It uses something that is not modelled.
    NotModelled(&'static str),
    /// The bytes asked for are not a legal range.
    Range(BadRange),
    /// An address below 4 GiB in a header of four dwords.
    AddressFitsThreeDwords,
    /// A completion carries more than is still to come.
    CompletionTooLong,
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Truncated { needed } => write!(f, "the header has {needed} bytes, and there are fewer"),
            Self::Kind { fmt, type_code } => write!(f, "Fmt {fmt}, Type {type_code:#07b} is not modelled"),
            Self::NotModelled(what) => write!(f, "{what} is not modelled"),
            Self::Range(bad) => bad.fmt(f),
            Self::AddressFitsThreeDwords => write!(f, "an address below 4 GiB in a header of four dwords"),
            Self::CompletionTooLong => write!(f, "a completion carries more than is still to come"),
        }
    }
}

impl core::error::Error for DecodeError {}
