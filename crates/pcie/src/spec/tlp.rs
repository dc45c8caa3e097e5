//! Transaction-layer packets: what kinds there are, and how many bytes each takes on the wire.
//!
//! ```text
//!  ◄─ framing ─►◄ prefixes ►◄── header ──►◄─ payload ─►◄ ECRC ►◄─ framing ─►
//!  STP + seq 3/4    4 each     12 or 16      4 × Length    4     LCRC + END 5/4
//! ```
//!
//! Not here: flit mode (Gen6 and later), where a TLP has no framing of its own; configuration, I/O and atomic requests.

use super::constants::{
    ECRC_BYTES, HEADER_3DW_BYTES, HEADER_4DW_BYTES, PREFIX_BYTES, PREFIXES_MAX, TLP_FRAMING_8B10B_BYTES,
    TLP_FRAMING_128B130B_BYTES,
};
use super::fc_class::FcClass;
use super::size::Dwords;
use core::fmt;
use lanetwin_units::Generation;

/// The kinds of TLP that are modelled.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum TlpKind {
    /// Memory Read Request.
    MRd,
    /// Memory Write Request.
    MWr,
    /// Completion without Data.
    Cpl,
    /// Completion with Data.
    CplD,
    /// Message without Data.
    Msg,
    /// Message with Data.
    MsgD,
}

impl TlpKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [Self::MRd, Self::MWr, Self::Cpl, Self::CplD, Self::Msg, Self::MsgD];

    /// Whether it carries a payload.
    #[must_use]
    pub const fn has_data(self) -> bool {
        matches!(self, Self::MWr | Self::CplD | Self::MsgD)
    }
    /// The class whose credits it spends, and whose ordering rules it obeys.
    #[must_use]
    pub const fn fc_class(self) -> FcClass {
        match self {
            Self::MWr | Self::Msg | Self::MsgD => FcClass::Posted,
            Self::MRd => FcClass::NonPosted,
            Self::Cpl | Self::CplD => FcClass::Completion,
        }
    }
    /// The size of its header \[B\]. Only a memory request's depends on the address.
    #[must_use]
    pub const fn header_bytes(self, address: AddressWidth) -> u32 {
        let four_dwords = match self {
            Self::MRd | Self::MWr => matches!(address, AddressWidth::Bits64),
            Self::Cpl | Self::CplD => false,
            Self::Msg | Self::MsgD => true,
        };
        (if four_dwords { HEADER_4DW_BYTES } else { HEADER_3DW_BYTES }) as u32
    }
}

/// The form of address in a memory request.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum AddressWidth {
    /// Below 4 GiB: a header of three dwords.
    Bits32,
    /// At or above 4 GiB: a header of four dwords.
    Bits64,
}

impl AddressWidth {
    /// The form that a request to `address` has to use.
    #[must_use]
    pub const fn of(address: u64) -> Self {
        if address >> 32 == 0 { Self::Bits32 } else { Self::Bits64 }
    }
}

/// A Traffic Class: 0 to 7.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct TrafficClass(u8);

impl TrafficClass {
    /// The class with this number, if there is one.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number < 8 { Some(Self(number)) } else { None }
    }
    /// 0 to 7.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }
}

/// How a TLP asks to be treated on its way.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct Traffic {
    /// Traffic Class (TC).
    pub class: TrafficClass,
    /// Relaxed Ordering (RO): may pass posted requests before it.
    pub relaxed_ordering: bool,
    /// ID-Based Ordering (IDO): may pass requests of other requesters before it.
    pub id_based_ordering: bool,
    /// No Snoop (NS): the caches need not be asked.
    pub no_snoop: bool,
}

/// What determines the size of a TLP, apart from its payload.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Format {
    kind: TlpKind,
    address: AddressWidth,
    ecrc: bool,
    prefixes: u8,
}

/// More end-to-end prefixes than a TLP can have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyPrefixes(pub u8);

impl fmt::Display for TooManyPrefixes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} end-to-end prefixes; a TLP has at most {PREFIXES_MAX}", self.0)
    }
}
impl core::error::Error for TooManyPrefixes {}

impl Format {
    /// A TLP without ECRC and prefixes.
    #[must_use]
    pub const fn new(kind: TlpKind, address: AddressWidth) -> Self {
        Self { kind, address, ecrc: false, prefixes: 0 }
    }
    /// The same with or without an end-to-end CRC.
    #[must_use]
    pub const fn with_ecrc(self, ecrc: bool) -> Self {
        Self { ecrc, ..self }
    }
    /// The same with this many end-to-end prefixes.
    ///
    /// # Errors
    /// If there are more than four.
    pub const fn with_prefixes(self, prefixes: u8) -> Result<Self, TooManyPrefixes> {
        if prefixes as u64 <= PREFIXES_MAX {
            Ok(Self { prefixes, ..self })
        } else {
            Err(TooManyPrefixes(prefixes))
        }
    }
    /// The kind of TLP.
    #[must_use]
    pub const fn kind(self) -> TlpKind {
        self.kind
    }
    /// All bytes on the wire that are not payload: framing, sequence number, LCRC, prefixes, header, ECRC \[B\].
    #[must_use]
    pub const fn overhead_bytes(self, generation: Generation) -> u32 {
        let ecrc = if self.ecrc { ECRC_BYTES as u32 } else { 0 };
        let prefixes = self.prefixes as u32 * PREFIX_BYTES as u32;
        framing_bytes(generation) + prefixes + self.kind.header_bytes(self.address) + ecrc
    }
    /// All bytes on the wire \[B\].
    ///
    /// # Panics
    /// If a kind without data is given a payload.
    #[must_use]
    pub const fn wire_bytes(self, generation: Generation, payload: Dwords) -> u32 {
        assert!(self.kind.has_data() || payload.0 == 0, "a TLP without data has no payload");
        self.overhead_bytes(generation) + payload.bytes()
    }
}

/// What the data link layer and the framing add to a TLP \[B\].
#[must_use]
pub const fn framing_bytes(generation: Generation) -> u32 {
    (if generation.is_8b10b() { TLP_FRAMING_8B10B_BYTES } else { TLP_FRAMING_128B130B_BYTES }) as u32
}

#[cfg(test)]
mod tests {
    use super::*;
    use AddressWidth::{Bits32, Bits64};

    /// Published sums: 20 B for a completion or a write below 4 GiB, 24 B above, 4 B more with ECRC.
    #[test]
    fn the_overheads_are_the_published_ones() {
        let table = [
            (TlpKind::MWr, Bits32, 20),
            (TlpKind::MWr, Bits64, 24),
            (TlpKind::MRd, Bits32, 20),
            (TlpKind::MRd, Bits64, 24),
            (TlpKind::CplD, Bits32, 20),
            (TlpKind::CplD, Bits64, 20),
            (TlpKind::Cpl, Bits64, 20),
            (TlpKind::Msg, Bits32, 24),
        ];
        for generation in Generation::ALL {
            for (kind, address, bytes) in table {
                let format = Format::new(kind, address);
                assert_eq!(format.overhead_bytes(generation), bytes, "{generation} {kind:?} {address:?}");
                assert_eq!(format.with_ecrc(true).overhead_bytes(generation), bytes + 4);
                let prefixed = format.with_prefixes(2).unwrap();
                assert_eq!(prefixed.overhead_bytes(generation), bytes + 8);
            }
        }
        let write = Format::new(TlpKind::MWr, Bits64);
        assert_eq!(write.wire_bytes(Generation::Gen5, Dwords(64)), 280);
        assert_eq!(write.with_prefixes(5), Err(TooManyPrefixes(5)));
        assert!(write.with_prefixes(4).is_ok());
    }

    #[test]
    #[should_panic(expected = "has no payload")]
    fn a_read_has_no_payload() {
        let _ = Format::new(TlpKind::MRd, Bits32).wire_bytes(Generation::Gen3, Dwords(1));
    }

    #[test]
    fn an_address_of_4_gib_takes_four_dwords() {
        assert_eq!((AddressWidth::of(0xffff_ffff), AddressWidth::of(1 << 32)), (Bits32, Bits64));
    }

    #[test]
    fn there_are_eight_traffic_classes() {
        let numbers: Vec<_> = (0..=u8::MAX).filter_map(TrafficClass::new).map(TrafficClass::number).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 4, 5, 6, 7]);
    }
}
