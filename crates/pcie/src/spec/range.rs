//! What one memory request can ask for: built once from what is meant, with everything the header says derived.

use super::constants::SIZE_LIMIT_MAX_BYTES;
use super::size::Dwords;
use super::tlp::AddressWidth;
use core::fmt;

/// The page that no request crosses \[B\].
pub const PAGE_BYTES: u64 = SIZE_LIMIT_MAX_BYTES;

/// 1 to 4096 bytes at an address, not crossing a 4 KiB boundary.
///
/// ```
/// use lanetwin_pcie::spec::ByteRange;
/// let range = ByteRange::new(0x1003, 6)?; // bytes 3 to 8: one in the first dword, one in the last
/// assert_eq!((range.dwords().0, range.first_be(), range.last_be()), (3, 0b1000, 0b0001));
/// assert!(ByteRange::new(0x1fff, 2).is_err());
/// # Ok::<(), lanetwin_pcie::spec::BadRange>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ByteRange {
    address: u64,
    len: u16,
}

/// Why bytes cannot be asked for in one request.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BadRange {
    /// No bytes at all.
    Empty,
    /// More than 4096 bytes.
    TooLong,
    /// The bytes lie in two pages of 4 KiB.
    CrossesPage {
        /// The first byte.
        address: u64,
        /// How many bytes.
        len: u16,
    },
    /// The byte enables leave a hole, or contradict the length.
    Scattered {
        /// First DW byte enables.
        first_be: u8,
        /// Last DW byte enables.
        last_be: u8,
    },
}

impl fmt::Display for BadRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "a request for no bytes"),
            Self::TooLong => write!(f, "a request for more than {PAGE_BYTES} bytes"),
            Self::CrossesPage { address, len } => {
                write!(f, "{len} bytes at {address:#x} cross a boundary of {PAGE_BYTES} bytes")
            }
            Self::Scattered { first_be, last_be } => {
                write!(f, "byte enables {first_be:04b} … {last_be:04b} do not name a range of bytes")
            }
        }
    }
}
impl core::error::Error for BadRange {}

impl ByteRange {
    /// `len` bytes from `address`.
    ///
    /// # Errors
    /// If there are none, more than 4096, or some on either side of a 4 KiB boundary.
    pub const fn new(address: u64, len: u16) -> Result<Self, BadRange> {
        if len == 0 {
            return Err(BadRange::Empty);
        }
        if len as u64 > PAGE_BYTES {
            return Err(BadRange::TooLong);
        }
        if address % PAGE_BYTES + len as u64 > PAGE_BYTES {
            return Err(BadRange::CrossesPage { address, len });
        }
        Ok(Self { address, len })
    }

    /// The range that a header's fields name; `address` is that of the first dword, its two lower bits zero.
    ///
    /// # Errors
    /// If the enabled bytes are none, have a hole, or the range they make is not legal.
    pub const fn from_byte_enables(
        address: u64,
        dwords: Dwords,
        first_be: u8,
        last_be: u8,
    ) -> Result<Self, BadRange> {
        let scattered = BadRange::Scattered { first_be, last_be };
        if dwords.0 == 0 || first_be > 0xf || last_be > 0xf {
            return Err(scattered);
        }
        if dwords.0 == 1 && first_be == 0 && last_be == 0 {
            return Err(BadRange::Empty);
        }
        if dwords.bytes() as u64 > PAGE_BYTES {
            return Err(BadRange::TooLong);
        }
        let end = if dwords.0 == 1 { first_be } else { last_be };
        if first_be == 0 || end == 0 || dwords.0 == 1 && last_be != 0 {
            return Err(scattered);
        }
        let (before, after) = (first_be.trailing_zeros(), end.leading_zeros() - 4);
        let range = match Self::new(address + before as u64, (dwords.bytes() - before - after) as u16) {
            Ok(range) => range,
            Err(bad) => return Err(bad),
        };
        if range.first_be() == first_be && range.last_be() == last_be { Ok(range) } else { Err(scattered) }
    }

    /// The address of the first byte.
    #[must_use]
    pub const fn address(self) -> u64 {
        self.address
    }
    /// How many bytes: 1 to 4096.
    #[must_use]
    #[allow(clippy::len_without_is_empty, reason = "a range is never empty")]
    pub const fn len(self) -> u16 {
        self.len
    }
    /// The address of the last byte.
    #[must_use]
    pub const fn last_address(self) -> u64 {
        self.address + (self.len as u64 - 1)
    }
    /// The address of the first dword.
    #[must_use]
    pub const fn dword_address(self) -> u64 {
        self.address & !3
    }
    /// How many dwords the bytes lie in: the Length of the request.
    #[must_use]
    pub const fn dwords(self) -> Dwords {
        Dwords(((self.address & 3) as u16 + self.len).div_ceil(4))
    }
    /// First DW byte enables: bit *i* is set if byte *i* of the first dword is meant.
    #[must_use]
    pub const fn first_be(self) -> u8 {
        let from_start = 0xf << (self.address & 3) & 0xf;
        if self.dwords().0 == 1 { from_start & self.up_to_end() } else { from_start }
    }
    /// Last DW byte enables; zero when there is only one dword.
    #[must_use]
    pub const fn last_be(self) -> u8 {
        if self.dwords().0 == 1 { 0 } else { self.up_to_end() }
    }
    /// Lower Address of the first completion: the address' seven lower bits.
    #[must_use]
    pub const fn lower_address(self) -> u8 {
        (self.address & 0x7f) as u8
    }
    /// The form of address that a request for these bytes has to use.
    #[must_use]
    pub const fn address_width(self) -> AddressWidth {
        AddressWidth::of(self.address)
    }
    /// The bytes of the last dword up to the last one meant.
    const fn up_to_end(self) -> u8 {
        0xf >> (3 - (self.last_address() & 3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every range that starts in a page: 8.4 million. The enabled bytes are counted and their ends compared.
    #[test]
    fn byte_enables_name_exactly_the_bytes_asked_for() {
        for address in 0..PAGE_BYTES {
            for len in 1..=(PAGE_BYTES - address) as u16 {
                let range = ByteRange::new(address, len).unwrap();
                let (first, last, dwords) = (range.first_be(), range.last_be(), u32::from(range.dwords().0));
                let enabled = match dwords {
                    1 => first.count_ones(),
                    _ => first.count_ones() + 4 * (dwords - 2) + last.count_ones(),
                };
                assert_eq!(enabled, u32::from(len), "{range:?}");
                assert_eq!(range.dword_address() + u64::from(first.trailing_zeros()), address, "{range:?}");
                let back = ByteRange::from_byte_enables(range.dword_address(), range.dwords(), first, last);
                assert_eq!(back, Ok(range));
            }
        }
    }

    /// The slow way: the set of enabled bytes, one by one.
    #[test]
    fn byte_enables_make_the_same_set() {
        for address in 0x1000..0x1008_u64 {
            for len in 1..64_u16 {
                let range = ByteRange::new(address, len).unwrap();
                let enabled = (0..u64::from(range.dwords().0) * 4).filter(|byte| {
                    let dword = byte / 4;
                    let enables = match dword {
                        0 => range.first_be(),
                        _ if dword + 1 == u64::from(range.dwords().0) => range.last_be(),
                        _ => 0xf,
                    };
                    enables >> (byte % 4) & 1 == 1
                });
                let wanted: Vec<_> = (address..address + u64::from(len)).collect();
                assert_eq!(enabled.map(|byte| range.dword_address() + byte).collect::<Vec<_>>(), wanted);
            }
        }
    }

    #[test]
    fn the_limits_are_tight_from_both_sides() {
        assert_eq!(ByteRange::new(0, 0), Err(BadRange::Empty));
        assert!(ByteRange::new(0, 4096).is_ok());
        assert_eq!(ByteRange::new(0, 4097), Err(BadRange::TooLong));
        assert!(ByteRange::new(0xffc, 4).is_ok());
        assert_eq!(ByteRange::new(0xffd, 4), Err(BadRange::CrossesPage { address: 0xffd, len: 4 }));
        assert_eq!(ByteRange::new(u64::MAX, 1).unwrap().last_address(), u64::MAX);
        assert_eq!(ByteRange::new(0x1083, 1).unwrap().lower_address(), 3);
    }

    /// Every pair of byte enables for one to three dwords: legal exactly if some range has them.
    #[test]
    fn byte_enables_with_a_hole_are_refused() {
        let legal: Vec<_> = (0..4_u64)
            .flat_map(|address| {
                (1..=12 - address as u16).map(move |len| ByteRange::new(address, len).unwrap())
            })
            .collect();
        for dwords in (1..=3).map(Dwords) {
            for (first, last) in (0..=16).flat_map(|first| (0..=16).map(move |last| (first, last))) {
                let wanted = legal.iter().find(|range| {
                    (range.dwords(), range.first_be(), range.last_be()) == (dwords, first, last)
                });
                let got = ByteRange::from_byte_enables(0, dwords, first, last);
                assert_eq!(got.ok().as_ref(), wanted, "{dwords:?} {first:04b} {last:04b}");
            }
        }
    }
}
