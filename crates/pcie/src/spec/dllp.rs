//! Data-link-layer packets: acknowledgement and flow control, and the sequence numbers of TLPs.
//!
//! Every DLLP has 8 bytes on the wire ([`DLLP_BYTES`](super::constants::DLLP_BYTES)): framing 2, content 4, CRC 2.
//!
//! Not here: power-management, vendor and feature DLLPs; the CRC, for the models corrupt packets, not bits; scaled flow
//! control, whose scale fields must be zero.

use super::fc_class::FcClass;
use core::fmt;
use lanetwin_wire::{DoesNotFit, open_enum, wire};

open_enum! {
    /// The first byte of a DLLP that has no class and channel.
    pub struct DllpType(u8) {
        /// Everything up to a sequence number has arrived.
        ACK = 0x00;
        /// Something after a sequence number has not.
        NAK = 0x10;
    }

    /// The four upper bits of a flow-control DLLP's type.
    pub struct FcType(u8) {
        /// InitFC1 for posted requests.
        INIT_FC1_P = 0x4;
        /// InitFC1 for non-posted requests.
        INIT_FC1_NP = 0x5;
        /// InitFC1 for completions.
        INIT_FC1_CPL = 0x6;
        /// UpdateFC for posted requests.
        UPDATE_FC_P = 0x8;
        /// UpdateFC for non-posted requests.
        UPDATE_FC_NP = 0x9;
        /// UpdateFC for completions.
        UPDATE_FC_CPL = 0xa;
        /// InitFC2 for posted requests.
        INIT_FC2_P = 0xc;
        /// InitFC2 for non-posted requests.
        INIT_FC2_NP = 0xd;
        /// InitFC2 for completions.
        INIT_FC2_CPL = 0xe;
    }
}

wire! {
    /// Ack or Nak.
    pub struct AckNakWord(u32) {
        /// Type
        kind / with_kind: DllpType = 31:24;
        /// Reserved
        reserved = 23:12;
        /// AckNak_Seq_Num: the last TLP received in order
        sequence / with_sequence: u16 = 11:0;
    }

    /// InitFC1, InitFC2 or UpdateFC.
    pub struct FlowControlWord(u32) {
        /// Type and class
        kind / with_kind: FcType = 31:28;
        /// Reserved
        reserved = 27:27;
        /// Virtual channel
        vc / with_vc: u8 = 26:24;
        /// HdrScale: of scaled flow control
        header_scale / with_header_scale: u8 = 23:22;
        /// HdrFC: header credits, modulo 256
        header / with_header: u8 = 21:14;
        /// DataScale: of scaled flow control
        data_scale / with_data_scale: u8 = 13:12;
        /// DataFC: data credits, modulo 4096
        data / with_data: u16 = 11:0;
    }
}

/// A TLP's sequence number: 12 bits, after 4095 comes 0.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Debug)]
pub struct SequenceNumber(u16);

impl SequenceNumber {
    /// How many there are.
    pub const COUNT: u16 = 1 << 12;
    /// The first that a link uses.
    pub const FIRST: Self = Self(0);

    /// The number, if twelve bits hold it.
    #[must_use]
    pub const fn new(number: u16) -> Option<Self> {
        if number < Self::COUNT { Some(Self(number)) } else { None }
    }
    /// 0 to 4095.
    #[must_use]
    pub const fn number(self) -> u16 {
        self.0
    }
    /// The number `n` places on.
    #[must_use]
    pub const fn plus(self, n: u16) -> Self {
        Self((self.0 + n % Self::COUNT) % Self::COUNT)
    }
    /// The number that follows.
    #[must_use]
    pub const fn next(self) -> Self {
        self.plus(1)
    }
    /// How many places on from `earlier` this is: 0 to 4095.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u16 {
        (self.0 + Self::COUNT - earlier.0) % Self::COUNT
    }
    /// Whether an Ack of this number covers `other`: `other` is this one, or less than half the circle behind it.
    ///
    /// A sender never has 2048 TLPs or more unacknowledged, so behind and ahead cannot be confused.
    #[must_use]
    pub const fn covers(self, other: Self) -> bool {
        self.since(other) < Self::COUNT / 2
    }
}

/// What a flow-control DLLP does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FcPhase {
    /// First stage of initialisation.
    InitFc1,
    /// Second stage of initialisation.
    InitFc2,
    /// Credits returned while the link runs.
    UpdateFc,
}

/// A data-link-layer packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dllp {
    /// Every TLP up to this one has arrived.
    Ack(SequenceNumber),
    /// Every TLP up to this one has arrived, and the next has not: send again from there.
    Nak(SequenceNumber),
    /// Credits of one class.
    FlowControl {
        /// What it does.
        phase: FcPhase,
        /// Whose credits.
        class: FcClass,
        /// Virtual channel, 0 to 7.
        vc: u8,
        /// Header credits granted since the start, modulo 256.
        header: u8,
        /// Data credits granted since the start, modulo 4096.
        data: u16,
    },
}

/// Why four bytes are not a DLLP that is modelled.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DllpError {
    /// The type is another one.
    Type(u8),
    /// It uses scaled flow control.
    Scaled(FlowControlWord),
}

impl fmt::Display for DllpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(code) => write!(f, "DLLP type {code:#04x} is not modelled"),
            Self::Scaled(word) => write!(f, "scaled flow control is not modelled: {word:?}"),
        }
    }
}
impl core::error::Error for DllpError {}

/// The types of flow-control DLLPs, with what they mean.
const FC_TYPES: [(FcType, FcPhase, FcClass); 9] = [
    (FcType::INIT_FC1_P, FcPhase::InitFc1, FcClass::Posted),
    (FcType::INIT_FC1_NP, FcPhase::InitFc1, FcClass::NonPosted),
    (FcType::INIT_FC1_CPL, FcPhase::InitFc1, FcClass::Completion),
    (FcType::INIT_FC2_P, FcPhase::InitFc2, FcClass::Posted),
    (FcType::INIT_FC2_NP, FcPhase::InitFc2, FcClass::NonPosted),
    (FcType::INIT_FC2_CPL, FcPhase::InitFc2, FcClass::Completion),
    (FcType::UPDATE_FC_P, FcPhase::UpdateFc, FcClass::Posted),
    (FcType::UPDATE_FC_NP, FcPhase::UpdateFc, FcClass::NonPosted),
    (FcType::UPDATE_FC_CPL, FcPhase::UpdateFc, FcClass::Completion),
];

impl Dllp {
    /// The packet's content, without framing and CRC.
    ///
    /// # Errors
    /// If a virtual channel or a number of data credits is too large for its field.
    pub fn encode(self) -> Result<[u8; 4], DoesNotFit> {
        let ack_nak = |kind, sequence: SequenceNumber| {
            Ok(AckNakWord::ZERO.with_kind(kind)?.with_sequence(sequence.0)?.raw().to_be_bytes())
        };
        match self {
            Self::Ack(sequence) => ack_nak(DllpType::ACK, sequence),
            Self::Nak(sequence) => ack_nak(DllpType::NAK, sequence),
            Self::FlowControl { phase, class, vc, header, data } => {
                let (kind, ..) = FC_TYPES
                    .into_iter()
                    .find(|&(_, p, c)| (p, c) == (phase, class))
                    .expect("the table has every phase of every class");
                let word = FlowControlWord::ZERO.with_kind(kind)?.with_vc(vc)?;
                Ok(word.with_header(header)?.with_data(data)?.raw().to_be_bytes())
            }
        }
    }

    /// The packet with this content.
    ///
    /// # Errors
    /// If it is of another type, or uses scaled flow control.
    pub fn decode(bytes: [u8; 4]) -> Result<Self, DllpError> {
        let raw = u32::from_be_bytes(bytes);
        let (ack_nak, credits) = (AckNakWord::from_raw(raw), FlowControlWord::from_raw(raw));
        match ack_nak.kind() {
            DllpType::ACK => return Ok(Self::Ack(SequenceNumber(ack_nak.sequence()))),
            DllpType::NAK => return Ok(Self::Nak(SequenceNumber(ack_nak.sequence()))),
            _ => {}
        }
        let known = FC_TYPES.into_iter().find(|&(kind, ..)| kind == credits.kind());
        let (_, phase, class) = known.ok_or(DllpError::Type(ack_nak.kind().0))?;
        if credits.header_scale() != 0 || credits.data_scale() != 0 {
            return Err(DllpError::Scaled(credits));
        }
        Ok(Self::FlowControl {
            phase,
            class,
            vc: credits.vc(),
            header: credits.header(),
            data: credits.data(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;
    use proptest::prelude::*;

    #[test]
    fn the_words_tile() {
        assert_fields_tile::<AckNakWord>();
        assert_fields_tile::<FlowControlWord>();
    }

    /// All 16.8 million pairs of sequence numbers.
    #[test]
    fn sequence_numbers_are_a_circle() {
        for a in (0..SequenceNumber::COUNT).map(SequenceNumber) {
            for n in 0..SequenceNumber::COUNT {
                let b = a.plus(n);
                assert!(b.since(a) == n && a.covers(b) == (n == 0 || n > 2048), "{a:?} + {n}");
            }
        }
        assert_eq!(SequenceNumber(4095).next(), SequenceNumber::FIRST);
        assert_eq!(SequenceNumber(4000).plus(u16::MAX), SequenceNumber((4000 + 65_535 % 4096) % 4096));
        assert_eq!(
            (SequenceNumber::new(4095).map(SequenceNumber::number), SequenceNumber::new(4096)),
            (Some(4095), None)
        );
    }

    #[test]
    fn every_phase_of_every_class_has_one_type() {
        for (kind, phase, class) in FC_TYPES {
            let dllp = Dllp::FlowControl { phase, class, vc: 0, header: 1, data: 2 };
            let bytes = dllp.encode().unwrap();
            assert_eq!(bytes, [kind.0 << 4, 0, 1 << 6, 2]);
            assert_eq!(Dllp::decode(bytes), Ok(dllp));
            assert!(FcType::NAMED.iter().any(|named| named.value == kind.to_bits()));
        }
        assert_eq!(FC_TYPES.len(), FcType::NAMED.len());
    }

    #[test]
    fn what_is_not_modelled_is_refused_by_name() {
        assert_eq!(Dllp::decode([0x31, 0, 0, 0]), Err(DllpError::Type(0x31)));
        assert!(matches!(Dllp::decode([0x80, 0x40, 0, 0]), Err(DllpError::Scaled(_))));
        assert!(matches!(Dllp::decode([0x80, 0, 0x10, 0]), Err(DllpError::Scaled(_))));
        let (phase, class) = (FcPhase::UpdateFc, FcClass::Posted);
        assert!(Dllp::FlowControl { phase, class, vc: 8, header: 0, data: 0 }.encode().is_err());
        assert!(Dllp::FlowControl { phase, class, vc: 0, header: 0, data: 4096 }.encode().is_err());
    }

    proptest! {
        #[test]
        fn what_can_be_read_means_the_same_when_sent_again(bytes: [u8; 4], known in 0usize..22) {
            let mut bytes = bytes;
            if let Some(&(kind, ..)) = FC_TYPES.get(known) {
                bytes = [kind.0 << 4 | bytes[0] & 7, bytes[1] & 0x3f, bytes[2] & 0xcf, bytes[3]];
            } else if known < 11 {
                bytes[0] = if known == 9 { 0x00 } else { 0x10 };
            }
            let read = Dllp::decode(bytes);
            prop_assert!(read.is_ok() || known >= 11);
            if let Ok(dllp) = read {
                prop_assert_eq!(Dllp::decode(dllp.encode().unwrap()), Ok(dllp));
            }
        }
    }
}
