//! The `open_enum!` macro: named values of a field that may also hold others.

/// One named value of an open enumeration.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Named {
    /// The value on the wire.
    pub value: u128,
    /// Name of the value.
    pub name: &'static str,
    /// Meaning of the value.
    pub doc: &'static str,
}

/// Declares enumerations of a standard: values have names, and values without a name are preserved.
///
/// ```
/// lanetwin_wire::open_enum! {
///     /// How a request ended.
///     pub struct Status(u8) {
///         /// As asked.
///         SUCCESS = 0;
///         /// Not understood.
///         UNSUPPORTED = 1;
///     }
/// }
/// assert_eq!(Status::UNSUPPORTED.to_string(), "UNSUPPORTED");
/// assert_eq!(Status(6).to_string(), "Status(0x6)");
/// assert_eq!(Status::NAMED[1].value, 1);
/// ```
#[macro_export]
macro_rules! open_enum {
    ($(
        $(#[doc = $about:literal])+
        $vis:vis struct $name:ident($int:ident) {
            $( $(#[doc = $doc:literal])+ $value_name:ident = $value:literal; )+
        }
    )+) => {$(
        $(#[doc = $about])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(pub $int);

        #[allow(dead_code, reason = "a standard's values are all named, used or not")]
        impl $name {
            $( $(#[doc = $doc])+ pub const $value_name: Self = Self($value); )+
            /// The values that have names.
            pub const NAMED: &'static [$crate::Named] = &[$(
                $crate::Named { value: $value, name: stringify!($value_name), doc: concat!($($doc, "\n"),+) }
            ),+];
            /// Maximum number of bits of a value.
            pub const BITS: u32 = $int::BITS;

            /// The value with these bits; bits beyond [`Self::BITS`] are dropped.
            #[must_use]
            pub const fn from_bits(bits: u128) -> Self {
                Self(bits as $int)
            }
            /// The value's bits.
            #[must_use]
            pub const fn to_bits(self) -> u128 {
                self.0 as u128
            }
            /// The value's name, if it has one.
            #[must_use]
            pub const fn name(self) -> Option<&'static str> {
                match self.0 {
                    $( $value => Some(stringify!($value_name)), )+
                    _ => None,
                }
            }
        }

        impl $crate::Stored for $name {
            const BYTES: usize = <$int as $crate::Stored>::BYTES;
            #[inline]
            fn load(bytes: &[u8]) -> Self {
                Self(<$int as $crate::Stored>::load(bytes))
            }
            #[inline]
            fn store(self, bytes: &mut [u8]) {
                $crate::Stored::store(self.0, bytes);
            }
        }
        impl core::fmt::Debug for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self.name() {
                    Some(name) => f.write_str(name),
                    None => write!(f, concat!(stringify!($name), "({:#x})"), self.0),
                }
            }
        }
        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                core::fmt::Debug::fmt(self, f)
            }
        }
    )+};
}
