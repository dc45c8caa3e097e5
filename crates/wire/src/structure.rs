//! The `structure!` macro: blocks of bytes with numbers, words and texts at fixed offsets, least significant byte
//! first.

use crate::Word;
use core::fmt::{self, Write as _};

/// A value that has a place in a structure.
pub trait Stored: Copy {
    /// Size \[B\].
    const BYTES: usize;
    /// Decodes the value from bytes.
    ///
    /// # Panics
    /// If there are not exactly [`Self::BYTES`] of them.
    #[must_use]
    fn load(bytes: &[u8]) -> Self;
    /// Writes the value into these bytes.
    ///
    /// # Panics
    /// If there are not exactly [`Self::BYTES`] of them.
    fn store(self, bytes: &mut [u8]);
}

macro_rules! integers {
    ($($int:ident)*) => {$(
        impl Stored for $int {
            const BYTES: usize = $int::BITS as usize / 8;
            #[inline]
            fn load(bytes: &[u8]) -> Self {
                Self::from_le_bytes(bytes.try_into().expect("a field has the bytes of its type"))
            }
            #[inline]
            fn store(self, bytes: &mut [u8]) {
                bytes.copy_from_slice(&self.to_le_bytes());
            }
        }
    )*};
}
integers!(u8 u16 u32 u64 u128);

impl<const N: usize> Stored for [u8; N] {
    const BYTES: usize = N;
    #[inline]
    fn load(bytes: &[u8]) -> Self {
        bytes.try_into().expect("a field has the bytes of its type")
    }
    #[inline]
    fn store(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self);
    }
}

impl<W: Word> Stored for W {
    const BYTES: usize = W::BITS as usize / 8;
    #[inline]
    fn load(bytes: &[u8]) -> Self {
        let mut all = [0; 16];
        all[..Self::BYTES].copy_from_slice(bytes);
        W::from_bits(u128::from_le_bytes(all))
    }
    #[inline]
    fn store(self, bytes: &mut [u8]) {
        bytes.copy_from_slice(&self.to_bits().to_le_bytes()[..Self::BYTES]);
    }
}

/// One field of a structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// Name of the field and of its accessor.
    pub name: &'static str,
    /// Offset of its first byte.
    pub offset: usize,
    /// Size \[B\].
    pub bytes: usize,
    /// Meaning of the field.
    pub doc: &'static str,
}

/// A structure: what [`structure!`](crate::structure!) declares.
pub trait Structure {
    /// Name of the type.
    const NAME: &'static str;
    /// Description of the structure.
    const DOC: &'static str;
    /// Size \[B\].
    const BYTES: usize;
    /// Its fields, by offset. Bytes between them are reserved.
    const PARTS: &'static [Part];
}

/// Reasons why a list of fields does not fit a structure.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Misplaced {
    /// A field extends past the end of the structure.
    OutOfRange(Part),
    /// A field overlaps the one declared before it.
    Overlap(Part),
}

impl fmt::Display for Misplaced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (part, says) = match self {
            Self::OutOfRange(part) => (part, "is out of range"),
            Self::Overlap(part) => (part, "overlaps"),
        };
        write!(f, "{}:{} `{}` {says}", part.offset + part.bytes - 1, part.offset, part.name)
    }
}

/// Checks that fields are declared by offset, lie inside a structure of `bytes` bytes, and do not overlap.
///
/// # Errors
/// The first field that violates this.
pub const fn placing(parts: &[Part], bytes: usize) -> Result<(), Misplaced> {
    let mut free = 0;
    let mut i = 0;
    while i < parts.len() {
        let part = parts[i];
        if part.offset < free {
            return Err(Misplaced::Overlap(part));
        }
        free = part.offset + part.bytes;
        if free > bytes {
            return Err(Misplaced::OutOfRange(part));
        }
        i += 1;
    }
    Ok(())
}

/// The structure as a Markdown table: bytes, name, meaning.
#[must_use]
pub fn parts_table<S: Structure>() -> String {
    let mut out = String::from("| bytes | field | meaning |\n|---|---|---|\n");
    for part in S::PARTS {
        let doc = part.doc.split_whitespace().collect::<Vec<_>>().join(" ");
        let last = part.offset + part.bytes - 1;
        writeln!(out, "| {last}:{} | `{}` | {doc} |", part.offset, part.name)
            .expect("a String takes all that is written to it");
    }
    out
}

/// Declares structures: blocks of bytes with fields at offsets, least significant byte first.
///
/// A field's type is an unsigned integer, an array of bytes, a [`wire!`](crate::wire!) word or an
/// [`open_enum!`](crate::open_enum!). Fields stand in the order of their offsets; bytes between them are reserved and
/// zero.
///
/// ```
/// lanetwin_wire::structure! {
///     /// What a lamp tells about itself.
///     pub struct LampPage(16) {
///         /// Its serial number
///         serial / set_serial: u32 = 0;
///         /// Its name, in ASCII
///         name / set_name: [u8; 8] = 8;
///     }
/// }
/// let mut page = LampPage::ZERO;
/// page.set_serial(0x0102);
/// page.set_name(*b"kitchen ");
/// assert_eq!(page.as_bytes(), b"\x02\x01\0\0\0\0\0\0kitchen ");
/// assert_eq!(LampPage::from_bytes(*page.as_bytes()).serial(), 0x0102);
/// assert!(lanetwin_wire::parts_table::<LampPage>().contains("| 15:8 | `name` | Its name, in ASCII |"));
/// ```
///
/// Fields that overlap or reach beyond the structure do not compile:
///
/// ```compile_fail
/// lanetwin_wire::structure! {
///     /// Byte 3 is declared twice.
///     pub struct Overlapping(8) {
///         /// Low
///         low / set_low: u32 = 0;
///         /// High
///         high / set_high: u8 = 3;
///     }
/// }
/// ```
#[macro_export]
macro_rules! structure {
    ($(
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident($bytes:literal) {
            $(
                $(#[doc = $doc:literal])+
                $field:ident / $set:ident : $ty:ty = $offset:literal;
            )+
        }
    )+) => {$(
        $(#[doc = $about])+
        ///
        /// | from byte | field | meaning |
        /// |---|---|---|
        $(#[doc = concat!("| ", $offset, " | `", stringify!($field), "` |", $($doc),+, " |")])+
        #[derive(Clone, Copy, PartialEq, Eq)]
        $vis struct $name([u8; $bytes]);

        #[allow(dead_code, reason = "a declaration gives every accessor, used or not")]
        impl $name {
            /// The structure with every bit zero.
            pub const ZERO: Self = Self([0; $bytes]);

            /// The structure in these bytes.
            #[must_use]
            pub const fn from_bytes(bytes: [u8; $bytes]) -> Self {
                Self(bytes)
            }
            /// Its bytes.
            #[must_use]
            pub const fn as_bytes(&self) -> &[u8; $bytes] {
                &self.0
            }
            $(
                $(#[doc = $doc])+
                #[doc = concat!("(from byte ", $offset, ").")]
                #[inline]
                #[must_use]
                pub fn $field(&self) -> $ty {
                    <$ty as $crate::Stored>::load(&self.0[$offset..$offset + <$ty as $crate::Stored>::BYTES])
                }
                #[doc = concat!("Replaces [`", stringify!($field), "`](Self::", stringify!($field), ").")]
                #[inline]
                pub fn $set(&mut self, value: $ty) {
                    let place = &mut self.0[$offset..$offset + <$ty as $crate::Stored>::BYTES];
                    <$ty as $crate::Stored>::store(value, place);
                }
            )+
        }

        impl $crate::Structure for $name {
            const NAME: &'static str = stringify!($name);
            const DOC: &'static str = concat!($($about, "\n"),+);
            const BYTES: usize = $bytes;
            const PARTS: &'static [$crate::Part] = &[$($crate::Part {
                name: stringify!($field),
                offset: $offset,
                bytes: <$ty as $crate::Stored>::BYTES,
                doc: concat!($($doc, "\n"),+),
            }),+];
        }
        const _: () = assert!(
            $crate::placing(<$name as $crate::Structure>::PARTS, $bytes).is_ok(),
            concat!("the fields of ", stringify!($name), " overlap or reach beyond it")
        );

        impl Default for $name {
            fn default() -> Self {
                Self::ZERO
            }
        }
        impl core::fmt::Debug for $name {
            /// Every field that is not zero.
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let mut out = f.debug_struct(stringify!($name));
                $(if self.0[$offset..$offset + <$ty as $crate::Stored>::BYTES].iter().any(|&byte| byte != 0) {
                    out.field(stringify!($field), &self.$field());
                })+
                out.finish()
            }
        }
    )+};
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::wire! {
        /// A word in a structure.
        pub struct Flags(u16) {
            /// Low
            low / with_low: u8 = 7:0;
            /// High
            high / with_high: u8 = 15:8;
        }
    }
    structure! {
        /// One of each.
        pub struct Each(40) {
            /// A byte
            byte / set_byte: u8 = 0;
            /// A word
            flags / set_flags: Flags = 2;
            /// A text
            text / set_text: [u8; 3] = 5;
            /// A large number
            large / set_large: u128 = 24;
        }
    }

    #[test]
    fn every_kind_of_field_is_read_as_it_was_written_and_touches_nothing_else() {
        let mut each = Each::ZERO;
        each.set_flags(Flags::from_raw(0x1234));
        each.set_large(u128::MAX - 1);
        each.set_text(*b"abc");
        each.set_byte(7);
        let mut bytes = [0; 40];
        bytes[0] = 7;
        bytes[2..4].copy_from_slice(&[0x34, 0x12]);
        bytes[5..8].copy_from_slice(b"abc");
        bytes[24..].fill(0xff);
        bytes[24] = 0xfe;
        assert_eq!(each.as_bytes(), &bytes);
        assert_eq!((each.byte(), each.flags().high(), each.text()), (7, 0x12, *b"abc"));
        assert_eq!(each.large(), u128::MAX - 1);
        assert!(format!("{each:?}").starts_with("Each { byte: 7, flags: Flags { low: 52"));
        assert_eq!(format!("{:?}", Each::ZERO), "Each");
    }

    #[test]
    fn misplaced_fields_are_named() {
        let part = |name, offset, bytes| Part { name, offset, bytes, doc: "" };
        assert_eq!(placing(&[part("a", 0, 4), part("b", 4, 4)], 8), Ok(()));
        let overlap = placing(&[part("a", 0, 4), part("b", 3, 4)], 8).unwrap_err();
        assert_eq!(overlap.to_string(), "6:3 `b` overlaps");
        let beyond = placing(&[part("a", 6, 4)], 8).unwrap_err();
        assert_eq!(beyond.to_string(), "9:6 `a` is out of range");
    }
}
