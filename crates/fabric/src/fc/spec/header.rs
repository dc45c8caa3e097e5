//! The frame header: six words to bytes and back.

use super::frame::HEADER_BYTES;
use super::words::{HeaderWord0, HeaderWord1, HeaderWord2, HeaderWord3, HeaderWord4};

/// A frame header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameHeader {
    /// Routing and destination.
    pub word0: HeaderWord0,
    /// Source.
    pub word1: HeaderWord1,
    /// Type and frame control.
    pub word2: HeaderWord2,
    /// Sequence.
    pub word3: HeaderWord3,
    /// Exchange.
    pub word4: HeaderWord4,
    /// Parameter: of a data frame the relative offset, if F_CTL says so \[B\].
    pub parameter: u32,
}

/// The header's length in bytes, as a length of an array.
const LEN: usize = HEADER_BYTES as usize;

impl FrameHeader {
    /// As it is sent.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; LEN] {
        let Self { word0, word1, word2, word3, word4, parameter } = self;
        let words = [word0.raw(), word1.raw(), word2.raw(), word3.raw(), word4.raw(), *parameter];
        let mut bytes = [0; LEN];
        bytes
            .chunks_exact_mut(4)
            .zip(words)
            .for_each(|(four, word)| four.copy_from_slice(&word.to_be_bytes()));
        bytes
    }
    /// As it was received; all bits mean something, so that no header is refused.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; LEN]) -> Self {
        let word = |i: usize| {
            let four: [u8; 4] = core::array::from_fn(|byte| bytes[4 * i + byte]);
            u32::from_be_bytes(four)
        };
        Self {
            word0: HeaderWord0::from_raw(word(0)),
            word1: HeaderWord1::from_raw(word(1)),
            word2: HeaderWord2::from_raw(word(2)),
            word3: HeaderWord3::from_raw(word(3)),
            word4: HeaderWord4::from_raw(word(4)),
            parameter: word(5),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::{DataStructure, RoutingControl};
    use super::*;
    use lanetwin_wire::DoesNotFit;
    use proptest::prelude::*;

    /// By hand: the first data frame of a read, from 0x010200 to 0x010300, relative offset 0.
    #[test]
    fn a_data_frame() -> Result<(), DoesNotFit> {
        let header = FrameHeader {
            word0: HeaderWord0::ZERO.with_r_ctl(RoutingControl::SOLICITED_DATA)?.with_d_id(0x01_03_00)?,
            word1: HeaderWord1::ZERO.with_s_id(0x01_02_00)?,
            word2: HeaderWord2::ZERO
                .with_data_type(DataStructure::FCP)?
                .with_responder(true)?
                .with_relative_offset(true)?,
            word3: HeaderWord3::ZERO.with_seq_id(5)?.with_seq_cnt(0)?,
            word4: HeaderWord4::ZERO.with_ox_id(0x1234)?.with_rx_id(0xffff)?,
            parameter: 0,
        };
        let bytes = [1, 1, 3, 0, 0, 1, 2, 0, 8, 0x80, 0, 8, 5, 0, 0, 0, 0x12, 0x34, 0xff, 0xff, 0, 0, 0, 0];
        assert_eq!(header.to_bytes(), bytes);
        Ok(())
    }

    proptest! {
        #[test]
        fn what_is_sent_is_received(bytes: [u8; LEN]) {
            let header = FrameHeader::from_bytes(&bytes);
            let mut without_reserved = bytes;
            without_reserved[11] &= 0b1111_1011;
            prop_assert_eq!(FrameHeader::from_bytes(&header.to_bytes()), header);
            let mut sent = header.to_bytes();
            sent[11] &= 0b1111_1011;
            prop_assert_eq!(sent, without_reserved);
        }
    }
}
