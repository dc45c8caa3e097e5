//! The `wire!` macro, and what can be asked of every word it declares.

use core::fmt::{self, Debug, Write as _};

/// One field of a wire word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The field's name, as the accessor's; `reserved` for bits without meaning.
    pub name: &'static str,
    /// The number of its most significant bit.
    pub hi: u32,
    /// The number of its least significant bit.
    pub lo: u32,
    /// What it means.
    pub doc: &'static str,
}

impl Field {
    /// How many bits the field has.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.hi - self.lo + 1
    }
    /// The largest value that fits.
    #[must_use]
    pub const fn max(&self) -> u128 {
        u128::MAX >> (128 - self.bits())
    }
    /// The field's bits, in their place in the word.
    #[must_use]
    pub const fn mask(&self) -> u128 {
        self.max() << self.lo
    }
    /// The field's value in the word with these bits.
    #[must_use]
    pub const fn of(&self, word: u128) -> u128 {
        (word >> self.lo) & self.max()
    }
    /// True for bits that are declared to have no meaning.
    #[must_use]
    pub fn is_reserved(&self) -> bool {
        self.name == "reserved"
    }
}

/// A wire word: what [`wire!`](crate::wire!) declares.
pub trait Word: Copy + Eq + Debug {
    /// The type's name.
    const NAME: &'static str;
    /// What the word is.
    const DOC: &'static str;
    /// How many bits it has.
    const BITS: u32;
    /// Its fields, in the order of their declaration.
    const FIELDS: &'static [Field];
    /// The word with these bits; bits beyond [`Self::BITS`] are dropped.
    #[must_use]
    fn from_bits(bits: u128) -> Self;
    /// The word's bits.
    #[must_use]
    fn to_bits(self) -> u128;
}

/// A value too large for the field it was meant for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DoesNotFit {
    /// The word's name.
    pub word: &'static str,
    /// The field.
    pub field: Field,
    /// The value that was refused.
    pub value: u128,
}

impl fmt::Display for DoesNotFit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { word, field, value } = self;
        write!(f, "{value} does not fit into the {} bits of {word}.{}", field.bits(), field.name)
    }
}
impl core::error::Error for DoesNotFit {}

/// Why a list of fields is not a tiling of its word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mistiled {
    /// A field is written `lo:hi`, or reaches beyond the word.
    OutOfRange(Field),
    /// A field shares a bit with one declared before it.
    Overlap(Field),
    /// This bit, the lowest such one, belongs to no field.
    Gap(u32),
}

impl fmt::Display for Mistiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfRange(field) => {
                write!(f, "{}:{} `{}` is out of range", field.hi, field.lo, field.name)
            }
            Self::Overlap(field) => write!(f, "{}:{} `{}` overlaps", field.hi, field.lo, field.name),
            Self::Gap(bit) => write!(f, "bit {bit} belongs to no field"),
        }
    }
}

/// Checks that each of a word's `bits` belongs to exactly one field.
///
/// # Errors
/// The first field that is out of range or overlaps, else the first bit without a field.
pub const fn tiling(fields: &[Field], bits: u32) -> Result<(), Mistiled> {
    let mut covered = 0_u128;
    let mut i = 0;
    while i < fields.len() {
        let field = fields[i];
        if field.hi < field.lo || field.hi >= bits {
            return Err(Mistiled::OutOfRange(field));
        }
        if covered & field.mask() != 0 {
            return Err(Mistiled::Overlap(field));
        }
        covered |= field.mask();
        i += 1;
    }
    if covered.trailing_ones() < bits { Err(Mistiled::Gap(covered.trailing_ones())) } else { Ok(()) }
}

/// Asserts, for a test, that the fields of `W` tile it and that their values together are the whole word.
///
/// # Panics
/// With the word's name and the field at fault.
pub fn assert_fields_tile<W: Word>() {
    if let Err(fault) = tiling(W::FIELDS, W::BITS) {
        panic!("{}: {fault}", W::NAME);
    }
    for bit in 0..W::BITS {
        let word = W::from_bits(1 << bit);
        assert_eq!(word.to_bits(), 1 << bit, "{}: bit {bit} is lost", W::NAME);
        let owners: Vec<_> = values(word).filter(|&(_, value)| value != 0).collect();
        let [(field, value)] = owners[..] else { panic!("{}: bit {bit} shows in {owners:?}", W::NAME) };
        assert_eq!(value << field.lo, 1 << bit, "{}.{}: bit {bit} is out of place", W::NAME, field.name);
    }
}

/// The fields of a word with their values, in the order of declaration: what a trace viewer shows.
pub fn values<W: Word>(word: W) -> impl Iterator<Item = (&'static Field, u128)> {
    W::FIELDS.iter().map(move |field| (field, field.of(word.to_bits())))
}

/// The word as a Markdown table: bits, name, meaning.
#[must_use]
pub fn table<W: Word>() -> String {
    let mut out = String::from("| bits | field | meaning |\n|---|---|---|\n");
    for field in W::FIELDS {
        let doc = field.doc.split_whitespace().collect::<Vec<_>>().join(" ");
        writeln!(out, "| {}:{} | `{}` | {doc} |", field.hi, field.lo, field.name)
            .expect("a String takes all that is written to it");
    }
    out
}

/// Declares wire words.
///
/// ```text
/// wire! {
///     /// What the word is.
///     pub struct Name(u32) {            // u8, u16, u32, u64 or u128
///         /// What the field means
///         get / with_get: u8 = 7:0;     // accessor / builder: type = most:least significant bit;
///         /// Reserved
///         reserved = 31:8;              // bits without accessors
///     }
/// }
/// ```
///
/// A field's type is `bool`, an unsigned integer, or an [`open_enum!`](crate::open_enum!) in scope under its bare name.
/// The builder takes the word and gives the word with that field replaced, or [`DoesNotFit`].
///
/// Fields that overlap, leave a gap, are wider than their type or reach beyond the word do not compile:
///
/// ```compile_fail
/// lanetwin_wire::wire! {
///     /// Bit 3 is declared twice.
///     pub struct Overlapping(u8) {
///         /// Low
///         low / with_low: u8 = 3:0;
///         /// High
///         high / with_high: u8 = 7:3;
///     }
/// }
/// ```
/// ```compile_fail
/// lanetwin_wire::wire! {
///     /// Bit 7 is forgotten.
///     pub struct Gap(u8) {
///         /// Low
///         low / with_low: u8 = 6:0;
///     }
/// }
/// ```
/// ```compile_fail
/// lanetwin_wire::wire! {
///     /// Nine bits do not go into a `u8`.
///     pub struct Wide(u16) {
///         /// Low
///         low / with_low: u8 = 8:0;
///         /// Reserved
///         reserved = 15:9;
///     }
/// }
/// ```
#[macro_export]
macro_rules! wire {
    ($(
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident($int:ident) {
            $(
                $(#[doc = $doc:literal])+
                $field:ident $(/ $with:ident : $ty:ident)? = $hi:literal : $lo:literal;
            )+
        }
    )+) => {$(
        $(#[doc = $about])+
        ///
        /// | bits | field | meaning |
        /// |---|---|---|
        $(#[doc = concat!("| ", $hi, ":", $lo, " | `", stringify!($field), "` |", $($doc),+, " |")])+
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
        $vis struct $name($int);

        #[allow(dead_code, reason = "a declaration gives every accessor, used or not")]
        impl $name {
            /// The word with every bit zero.
            pub const ZERO: Self = Self(0);

            /// The word with these bits.
            #[must_use]
            pub const fn from_raw(raw: $int) -> Self {
                Self(raw)
            }
            /// The word's bits.
            #[must_use]
            pub const fn raw(self) -> $int {
                self.0
            }
            $($crate::__wire!(accessors $name($int), $field, $hi, $lo, [$($doc),+] $(, $with, $ty)?);)+
        }

        impl $crate::Word for $name {
            const NAME: &'static str = stringify!($name);
            const DOC: &'static str = concat!($($about, "\n"),+);
            const BITS: u32 = $int::BITS;
            const FIELDS: &'static [$crate::Field] = &[$($crate::__wire!(field $field, $hi, $lo, $($doc),+)),+];
            fn from_bits(bits: u128) -> Self {
                Self(bits as $int)
            }
            fn to_bits(self) -> u128 {
                self.0 as u128
            }
        }
        const _: () = assert!(
            $crate::tiling(<$name as $crate::Word>::FIELDS, $int::BITS).is_ok(),
            concat!("the fields of ", stringify!($name), " do not tile it")
        );

        impl core::fmt::Debug for $name {
            /// Every field with a meaning; reserved bits only where they are not zero.
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                let mut out = f.debug_struct(stringify!($name));
                $($(out.field(stringify!($field), &$crate::__wire!(show $with, Self::$field(*self)));)?)+
                for (field, value) in $crate::values(*self).filter(|(field, value)| field.is_reserved() && *value != 0) {
                    out.field(&format!("reserved[{}:{}]", field.hi, field.lo), &value);
                }
                out.finish()
            }
        }
    )+};
}

/// The parts of [`wire!`] that depend on a field's type.
#[doc(hidden)]
#[macro_export]
macro_rules! __wire {
    (field $field:ident, $hi:literal, $lo:literal, $($doc:literal),+) => {
        $crate::Field { name: stringify!($field), hi: $hi, lo: $lo, doc: concat!($($doc, "\n"),+) }
    };
    (accessors $name:ident($int:ident), $field:ident, $hi:literal, $lo:literal, [$($doc:literal),+]) => {};
    (accessors $name:ident($int:ident), $field:ident, $hi:literal, $lo:literal, [$($doc:literal),+],
     $with:ident, $ty:ident) => {
        $(#[doc = $doc])+
        #[doc = concat!("(bits ", $hi, ":", $lo, ").")]
        #[must_use]
        pub const fn $field(self) -> $ty {
            const FIELD: $crate::Field = $crate::__wire!(field $field, $hi, $lo, $($doc),+);
            const _: () = assert!(FIELD.bits() <= $crate::__wire!(width $ty), "the field is wider than its type");
            $crate::__wire!(get $ty, FIELD.of(self.0 as u128))
        }
        #[doc = concat!("The word with [`", stringify!($field), "`](Self::", stringify!($field), ") replaced.")]
        ///
        /// # Errors
        #[doc = concat!("If `value` does not fit into bits ", $hi, ":", $lo, ".")]
        pub const fn $with(self, value: $ty) -> Result<Self, $crate::DoesNotFit> {
            const FIELD: $crate::Field = $crate::__wire!(field $field, $hi, $lo, $($doc),+);
            let bits: u128 = $crate::__wire!(put $ty, value);
            if bits > FIELD.max() {
                return Err($crate::DoesNotFit { word: stringify!($name), field: FIELD, value: bits });
            }
            Ok(Self((self.0 as u128 & !FIELD.mask() | bits << FIELD.lo) as $int))
        }
    };
    (show $with:ident, $value:expr) => { $value };
    (get bool, $bits:expr) => { $bits != 0 };
    (get u8, $bits:expr) => { $bits as u8 };
    (get u16, $bits:expr) => { $bits as u16 };
    (get u32, $bits:expr) => { $bits as u32 };
    (get u64, $bits:expr) => { $bits as u64 };
    (get u128, $bits:expr) => { $bits };
    (get $ty:ident, $bits:expr) => { $ty::from_bits($bits) };
    (put bool, $value:expr) => { $value as u128 };
    (put u8, $value:expr) => { $value as u128 };
    (put u16, $value:expr) => { $value as u128 };
    (put u32, $value:expr) => { $value as u128 };
    (put u64, $value:expr) => { $value as u128 };
    (put u128, $value:expr) => { $value };
    (put $ty:ident, $value:expr) => { $value.to_bits() };
    (width bool) => { 1 };
    (width $ty:ident) => { $ty::BITS };
}

#[cfg(test)]
mod tests;
