//! Size of a frame on the wire.

/// Start of frame \[B\]: a delimiter of one transmission word.
pub const SOF_BYTES: u32 = 4;
/// The frame header \[B\] (FC-FS, frame header format).
pub const HEADER_BYTES: u32 = 24;
/// The cyclic redundancy check \[B\].
pub const CRC_BYTES: u32 = 4;
/// End of frame \[B\]: a delimiter of one transmission word.
pub const EOF_BYTES: u32 = 4;
/// The largest data field \[B\].
pub const DATA_FIELD_MAX_BYTES: u32 = 2112;
/// A transmission word, which delimiters, fill words and primitive signals are \[B\].
pub const WORD_BYTES: u32 = 4;
/// The fewest fill words and primitive signals that a transmitter puts between two frames (FC-FS; the same in the
/// Seagate Fibre Channel Interface manual, rev. D, table 8). R_RDY counts among them.
pub const FILL_WORDS: u32 = 6;
/// Bytes of a frame besides its data field, from its start to its end \[B\].
pub const FRAMING_BYTES: u32 = SOF_BYTES + HEADER_BYTES + CRC_BYTES + EOF_BYTES;

/// The largest data field that a port sends, as negotiated in login.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DataField(u16);

impl DataField {
    /// 512 B.
    pub const B512: Self = Self(512);
    /// 1024 B.
    pub const B1024: Self = Self(1024);
    /// 2048 B: leaves 64 B of 2112 for optional headers, and is requested by most adapters.
    pub const B2048: Self = Self(2048);
    /// 2112 B, the most.
    pub const B2112: Self = Self(2112);

    /// A data field of this size. Returns `None` unless it is a multiple of 4 from 256 to 2112, as allowed in a login
    /// (FC-LS, receive data field size of an N_Port).
    #[must_use]
    pub const fn from_bytes(bytes: u64) -> Option<Self> {
        let legal = bytes >= 256 && bytes <= DATA_FIELD_MAX_BYTES as u64 && bytes.is_multiple_of(4);
        if legal { Some(Self(bytes as u16)) } else { None }
    }
    /// Its size \[B\].
    #[must_use]
    pub const fn bytes(self) -> u32 {
        self.0 as u32
    }
    /// Number of frames for this many bytes.
    #[must_use]
    pub const fn frames(self, bytes: u64) -> u64 {
        bytes.div_ceil(self.0 as u64)
    }
}

/// Bytes from the first byte of a frame to its last \[B\]; the data field is padded to whole words.
#[must_use]
pub const fn frame_bytes(data_field: u32) -> u32 {
    FRAMING_BYTES + data_field.next_multiple_of(WORD_BYTES)
}

/// Least distance between the first bytes of a frame and of the next one \[B\].
#[must_use]
pub const fn spacing_bytes(data_field: u32) -> u32 {
    frame_bytes(data_field) + FILL_WORDS * WORD_BYTES
}

/// Bytes on the wire for `bytes` of data in frames of this data field \[B\].
#[must_use]
pub const fn sequence_bytes(bytes: u64, field: DataField) -> u64 {
    let (whole, rest) = (bytes / field.0 as u64, (bytes % field.0 as u64) as u32);
    let tail = if rest > 0 { spacing_bytes(rest) as u64 } else { 0 };
    whole * spacing_bytes(field.bytes()) as u64 + tail
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 4 + 24 + 2112 + 4 + 4 is the 2148 B of the largest frame; six words of fill are 24 B.
    #[test]
    fn the_sizes_of_the_standard() {
        assert_eq!((frame_bytes(2112), frame_bytes(2048), frame_bytes(0)), (2148, 2084, 36));
        assert_eq!((spacing_bytes(2112), spacing_bytes(2048), spacing_bytes(1)), (2172, 2108, 64));
    }

    #[test]
    fn a_data_field_is_what_a_login_may_ask_for() {
        assert_eq!([0, 252, 258, 2116, 1 << 16].map(DataField::from_bytes), [None; 5]);
        assert_eq!(DataField::from_bytes(2112), Some(DataField::B2112));
        assert_eq!(DataField::B2048.frames(2 << 20), 1024);
    }

    #[test]
    fn a_sequence_is_its_frames() {
        for bytes in [1_u64, 2047, 2048, 2049, 10_000, 2 << 20] {
            let frames = (0..DataField::B2048.frames(bytes)).map(|i| (bytes - i * 2048).min(2048) as u32);
            let sum: u64 = frames.map(|bytes| u64::from(spacing_bytes(bytes))).sum();
            assert_eq!(sequence_bytes(bytes, DataField::B2048), sum, "{bytes} B");
        }
        assert_eq!(sequence_bytes(0, DataField::B512), 0);
    }
}
