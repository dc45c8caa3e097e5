//! Sizes that a function is configured with: MPS, MRRS, RCB.

use super::constants::{RCB_LARGE_BYTES, RCB_SMALL_BYTES, SIZE_LIMIT_MAX_BYTES, SIZE_LIMIT_MIN_BYTES};
use core::fmt;

/// A number of dwords (4 B): a TLP's Length.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Dwords(pub u16);

impl Dwords {
    /// No payload.
    pub const ZERO: Self = Self(0);

    /// The same in bytes.
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self.0 as u32 * 4
    }
}

/// Declares a size limit of the Device Control register: a power of two from 128 B to 4096 B.
macro_rules! size_limit {
    ($($(#[doc = $doc:literal])+ $name:ident;)+) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(u16);

        impl $name {
            /// Every value there is, smallest first.
            pub const ALL: [Self; 6] = [Self(128), Self(256), Self(512), Self(1024), Self(2048), Self(4096)];

            /// The limit of this many bytes; none unless it is a power of two from 128 to 4096.
            #[must_use]
            pub const fn from_bytes(bytes: u64) -> Option<Self> {
                if bytes.is_power_of_two() && bytes >= SIZE_LIMIT_MIN_BYTES && bytes <= SIZE_LIMIT_MAX_BYTES {
                    Some(Self(bytes as u16))
                } else {
                    None
                }
            }
            /// The limit in bytes.
            #[must_use]
            pub const fn bytes(self) -> u16 {
                self.0
            }
            /// The limit in dwords.
            #[must_use]
            pub const fn dwords(self) -> Dwords {
                Dwords(self.0 / 4)
            }
        }
        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), " {} B"), self.0)
            }
        }
    )+};
}

size_limit! {
    /// Maximum Payload Size (MPS): the most a TLP may carry.
    Mps;
    /// Maximum Read Request Size (MRRS): the most a memory read may ask for.
    Mrrs;
}

/// Read Completion Boundary (RCB): the only places, apart from its two ends, where a read's data may be cut.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Rcb {
    /// 64 B: root complexes that say so.
    B64 = RCB_SMALL_BYTES as isize,
    /// 128 B: everything else.
    B128 = RCB_LARGE_BYTES as isize,
}

impl Rcb {
    /// Both values.
    pub const ALL: [Self; 2] = [Self::B64, Self::B128];

    /// The boundary of this many bytes: 64 or 128.
    #[must_use]
    pub const fn from_bytes(bytes: u64) -> Option<Self> {
        match bytes {
            RCB_SMALL_BYTES => Some(Self::B64),
            RCB_LARGE_BYTES => Some(Self::B128),
            _ => None,
        }
    }
    /// The boundary in bytes.
    #[must_use]
    pub const fn bytes(self) -> u16 {
        self as u16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_standards_sizes_exist() {
        for bytes in 0..=70_000 {
            let legal = [128, 256, 512, 1024, 2048, 4096].contains(&bytes);
            assert_eq!(Mps::from_bytes(bytes).is_some(), legal, "{bytes}");
            assert_eq!(Mrrs::from_bytes(bytes).map(|mrrs| u64::from(mrrs.bytes())), legal.then_some(bytes));
            assert_eq!(Rcb::from_bytes(bytes).is_some(), bytes == 64 || bytes == 128, "{bytes}");
        }
        assert_eq!(Mps::ALL.map(|mps| mps.dwords().bytes()), [128, 256, 512, 1024, 2048, 4096]);
        assert_eq!(Rcb::ALL.map(Rcb::bytes), [64, 128]);
    }
}
