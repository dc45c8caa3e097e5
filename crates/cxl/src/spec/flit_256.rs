//! The flit of 256 B: layout and content of its slots, and the strength of its error correction.
//!
//! ```text
//!  standard                                        latency-optimised
//!  byte 0    header 2 │ slot 0: H, 14              header 2 │ slot 0: H, 14
//!      16    slots 1 to 14: G, 16 each             slots 1 to 6: G │ slot 7: G, the first 10 │ CRC 6    even half
//!     128                                          slot 8: HS, the first 10 │ slot 7, the rest
//!     144                                          slots 9 to 14: G
//!     240    credits 2 │ CRC 8 │ FEC 6             credits 2 │ slot 8, the rest 2 │ FEC 6 │ CRC 6       odd half
//! ```
//!
//! (CXL §4.3.2, figures 4-43 and 4-44; §6.2.3.1.) The transmitter fills slots, and the number of messages is limited,
//! per *group* of 64 B on the wire: slots 0 to 3, 4 to 7, 8 to 11, 12 to 14 (CXL §4.3.4).
//!
//! Not here: the bits of messages, CRC and FEC; port-based routing, whose messages are longer; CXL.cache; trailers.

use super::Direction;

/// Length of a flit on the wire \[B\] (CXL §4.3.2).
pub const BYTES: u64 = 256;
/// Slots per flit (CXL §4.3.2).
pub const SLOTS: usize = 15;
/// Groups per flit (CXL §4.3.4).
pub const GROUPS: usize = 4;
/// Slots per group; the last group has one less.
pub const GROUP_SLOTS: usize = 4;
/// Length of a group on the wire \[B\]: a quarter of the flit, including header, credits, CRC and FEC.
pub const GROUP_BYTES: u64 = BYTES / GROUPS as u64;
/// Length of the flit header \[B\] (CXL §6.2.3.1.1).
pub const HEADER_BYTES: u64 = 2;
/// Length of the credit return field \[B\] (CXL §4.3.5).
pub const CREDIT_BYTES: u64 = 2;
/// Length of the forward error correction \[B\] (CXL §6.2.3.1.1).
pub const FEC_BYTES: u64 = 6;
/// Bits of the format field at the beginning of a slot (CXL §4.3.2).
pub const FORMAT_BITS: u64 = 4;

/// Maximum number of pending data slots with which an H-slot or HS-slot may hold data headers (CXL §4.3.4).
pub const HEADER_SLOT_MAX_ROLLOVER: u8 = 16;
/// Numbers of credits that a field can return (CXL §4.3.5, table 4-19).
pub const CREDIT_COUNTS: [u32; 5] = [1, 4, 8, 12, 16];

/// Upper bound of the latency of error correction and CRC at the receiver \[ps\] (D. Das Sharma, "The PCIe 6.0
/// Specification Webinar Q&A: Error Detection and Correction with FEC", PCI-SIG).
pub const FEC_MOST_PS: u64 = 2_000;
/// Number of interleaved codes, each of which corrects one symbol of a byte (CXL §6.2.3.1.1.1: 3-way interleaved; one
/// symbol: `assumed`, as two check symbols of a byte can correct).
pub const FEC_WAYS: u64 = 3;

/// Maximum length of the flits between two SKP ordered sets \[blocks\], rounded down to whole flits.
///
/// The length is `assumed`, that of PCI Express below 64 GT/s; that the number of flits is fixed is CXL §6.8.1, table
/// 6-15.
pub const SKP_DATA_BLOCKS: u64 = 374;

/// Layout of the bytes of a flit, negotiated once per link (CXL §6.2.3.1.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Layout {
    /// One CRC, at the end.
    Standard,
    /// Two halves with a CRC each; a half that passes it does not wait for error correction.
    LatencyOptimised,
}

/// Kind of a slot.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SlotKind {
    /// Slot 0, after the flit header; never holds data.
    H,
    /// Any other slot; holds messages or data.
    G,
    /// Slot 8 of a latency-optimised flit; never holds data.
    Hs,
}

/// Part of a flit that must have arrived before a slot can be used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Part {
    /// The first 128 B.
    EvenHalf,
    /// The whole flit.
    Whole,
}

impl Layout {
    /// The kind of a slot.
    #[must_use]
    pub const fn kind(self, slot: usize) -> SlotKind {
        match (self, slot) {
            (_, 0) => SlotKind::H,
            (Self::LatencyOptimised, 8) => SlotKind::Hs,
            _ => SlotKind::G,
        }
    }
    /// The part that must have arrived before a slot can be used. Slot 7 of a latency-optimised flit lies in both
    /// halves (CXL §4.3.2).
    #[must_use]
    pub const fn part(self, slot: usize) -> Part {
        match self {
            Self::LatencyOptimised if slot < 7 => Part::EvenHalf,
            _ => Part::Whole,
        }
    }
    /// Length of all CRCs \[B\] (CXL §6.2.3.1).
    #[must_use]
    pub const fn crc_bytes(self) -> u64 {
        match self {
            Self::Standard => 8,
            Self::LatencyOptimised => 12,
        }
    }
    /// Bytes of transaction-layer packets that a flit of CXL.io carries (CXL §4.1, figures 4-2 and 4-3).
    #[must_use]
    pub const fn io_payload_bytes(self) -> u64 {
        match self {
            Self::Standard => 236,
            Self::LatencyOptimised => 232,
        }
    }
}

impl SlotKind {
    /// Length of the slot \[B\] (CXL §4.3.2).
    #[must_use]
    pub const fn bytes(self) -> u64 {
        match self {
            Self::H => 14,
            Self::G => 16,
            Self::Hs => 12,
        }
    }
    /// Maximum number of messages of a kind in the slot.
    ///
    /// A request is some bits longer than an HS-slot; it fits because its last bits must be zero there (CXL §4.3.2,
    /// table 4-16). Traffic class 0 and no key identifiers are `assumed`.
    #[must_use]
    pub const fn most(self, message: Message) -> u8 {
        match message {
            Message::Req | Message::Rwd => 1,
            Message::Ndr | Message::Drs => ((self.bytes() * 8 - FORMAT_BITS) / message.bits()) as u8,
        }
    }
}

/// Messages of CXL.mem.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message {
    /// M2S, without data.
    Req,
    /// M2S, with data.
    Rwd,
    /// S2M, without data.
    Ndr,
    /// S2M, with data.
    Drs,
}

impl Message {
    /// The two messages of a direction: without data, with data.
    #[must_use]
    pub const fn of(direction: Direction) -> [Self; 2] {
        match direction {
            Direction::M2s => [Self::Req, Self::Rwd],
            Direction::S2m => [Self::Ndr, Self::Drs],
        }
    }
    /// Length in bits, without data (CXL §4.3.2, table 4-14: M2S Req 100, M2S RwD 104, three NDR or three DRS 120).
    #[must_use]
    pub const fn bits(self) -> u64 {
        match self {
            Self::Req => 100,
            Self::Rwd => 104,
            Self::Ndr | Self::Drs => 40,
        }
    }
    /// Maximum number in two consecutive groups (CXL §4.3.4, table 4-18).
    #[must_use]
    pub const fn most_in_two_groups(self) -> u8 {
        match self {
            Self::Req => 4,
            Self::Rwd => 2,
            Self::Ndr => 6,
            Self::Drs => 3,
        }
    }
}

/// Probability that error correction fails and a flit is sent again: two or more wrong symbols in one of its codes.
///
/// Bit errors are independent, with this probability; bursts of errors would make it larger.
#[must_use]
pub fn retry_probability(bit_error_ratio: f64) -> f64 {
    let symbol = -(8.0 * (-bit_error_ratio).ln_1p()).exp_m1();
    let right: f64 = (0..FEC_WAYS).map(|way| 1.0 - two_wrong((BYTES + way) / FEC_WAYS, symbol)).product();
    let small: f64 = (0..FEC_WAYS).map(|way| two_wrong((BYTES + way) / FEC_WAYS, symbol)).sum();
    // The sum is exact where the product has no digits left.
    if small < 1e-6 { small } else { 1.0 - right }
}

/// Probability of two or more wrong symbols among `n`.
fn two_wrong(n: u64, wrong: f64) -> f64 {
    if wrong >= 1.0 {
        return 1.0;
    }
    let odds = wrong / (1.0 - wrong);
    let none = (n as f64 * (-wrong).ln_1p()).exp();
    let mut term = none * n as f64 * odds;
    let mut sum = 0.0;
    for k in 2..=n {
        term *= (n + 1 - k) as f64 / k as f64 * odds;
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUTS: [Layout; 2] = [Layout::Standard, Layout::LatencyOptimised];

    #[test]
    fn the_parts_make_a_flit() {
        for layout in LAYOUTS {
            let slots: u64 = (0..SLOTS).map(|slot| layout.kind(slot).bytes()).sum();
            assert_eq!(HEADER_BYTES + slots + CREDIT_BYTES + layout.crc_bytes() + FEC_BYTES, BYTES);
            // The rest of the data of CXL.io are four bytes of DLLP.
            assert_eq!(slots + CREDIT_BYTES, layout.io_payload_bytes() + 4);
        }
    }

    /// Tables 4-14 to 4-16: G7 and G15 hold three, H7, H15, HS7 and HS15 two.
    #[test]
    fn slots_hold_what_the_tables_say() {
        let responses = |kind: SlotKind| [kind.most(Message::Ndr), kind.most(Message::Drs)];
        assert_eq!([SlotKind::G, SlotKind::H, SlotKind::Hs].map(responses), [[3, 3], [2, 2], [2, 2]]);
        for message in [Message::Req, Message::Rwd] {
            assert!(
                message.bits() <= SlotKind::H.bytes() * 8 - FORMAT_BITS,
                "requests fit into an H-slot whole"
            );
        }
    }

    /// At the first-bit error ratio of 64 GT/s; with errors that come together it is some times as much.
    #[test]
    fn few_flits_are_beyond_correction() {
        let p = retry_probability(1e-6);
        assert!((6.8e-7..7.0e-7).contains(&p), "{p}");
        // Two errors are what it takes.
        assert!((retry_probability(1e-9) / 1e-6 / p - 1.0).abs() < 0.01);
        assert!(retry_probability(1e-4) < 1e-2 && retry_probability(0.0) == 0.0);
        let mut last = 0.0;
        for exponent in -120..-1 {
            let p = retry_probability(10_f64.powf(f64::from(exponent) / 10.0));
            assert!(p >= last && p <= 1.0, "{p} after {last}");
            last = p;
        }
    }
}
