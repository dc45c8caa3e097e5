//! Content of segments.

/// A number of the sequence space of 32 bits (RFC 9293 §3.4). Streams are counted in 64 bits here.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Seq(u32);

impl Seq {
    /// The number of the byte with this offset in its stream.
    #[must_use]
    pub const fn of(offset: u64) -> Self {
        Self(offset as u32)
    }
    /// The offset with this number that is nearest to one that is known.
    #[must_use]
    pub const fn near(self, known: u64) -> u64 {
        let ahead = self.0.wrapping_sub(known as u32) as i32;
        known.saturating_add_signed(ahead as i64)
    }
}

/// Number of blocks in a SACK option beside timestamps (RFC 2018 §3).
pub const SACK_BLOCKS: usize = 3;

/// A segment, or several that an adapter sends or takes in as one (TSO, GRO).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segment {
    /// Its first byte.
    pub seq: Seq,
    /// Number of bytes of data \[B\]; 0 if it only acknowledges.
    pub bytes: u32,
    /// The first byte of the other stream that is missing.
    pub ack: Seq,
    /// Receive window \[B\], scaled.
    pub window: u32,
    /// Ranges received beyond the acknowledgement, the latest first: first byte, and end.
    pub sack: [Option<(Seq, Seq)>; SACK_BLOCKS],
    /// ECE: marks have been seen (RFC 3168 §6.1, RFC 8257 §3.2).
    pub echo: bool,
    /// CWR: the sender has slowed down.
    pub reduced: bool,
    /// CE, in the header of IP: a switch on the way has a long queue.
    pub marked: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_wrap_and_are_found_again() {
        for known in [0_u64, 5, (1 << 32) - 2, 1 << 32, (7 << 32) + 12] {
            for offset in
                [known.saturating_sub(1 << 30), known.saturating_sub(1), known, known + 1, known + (1 << 30)]
            {
                assert_eq!(Seq::of(offset).near(known), offset);
            }
        }
    }
}
