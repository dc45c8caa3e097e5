//! Byte streams, as carried by TCP. Headers are always stored; data may be lengths only.
//!
//! A simulated connection only counts bytes: the sender's stream is stored beside it, and the delivered bytes are
//! [split off](Stream::split_front) for the receiver.

use crate::logic::data::Data;
use crate::spec::tcp::{CommonHeader, DIGEST_BYTES, PduType};
use std::collections::VecDeque;

/// Numbers and lengths of the data units in a stream that has been written and not been split.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Units {
    /// Units with commands.
    pub commands: u32,
    /// R2Ts.
    pub r2ts: u32,
    /// Units of other types.
    pub others: u32,
    /// Length of headers, digests and alignment \[B\].
    pub headers: u64,
    /// Length of data \[B\].
    pub data: u64,
}

impl Units {
    /// Number of data units.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.commands + self.r2ts + self.others
    }
}

/// A queue of bytes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stream {
    pieces: VecDeque<Data>,
    bytes: u64,
}

impl Stream {
    /// An empty stream.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Number of bytes.
    #[must_use]
    pub const fn len(&self) -> u64 {
        self.bytes
    }
    /// Whether there are no bytes.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes == 0
    }
    /// Adds data at the end.
    pub fn push(&mut self, data: Data) {
        if data.is_empty() {
            return;
        }
        self.bytes += u64::from(data.len());
        self.pieces.push_back(data);
    }
    /// Adds another stream at the end.
    pub fn append(&mut self, other: Self) {
        self.bytes += other.bytes;
        self.pieces.extend(other.pieces);
    }
    /// The pieces, in order.
    pub fn pieces(&self) -> impl Iterator<Item = &Data> {
        self.pieces.iter()
    }
    /// Removes and returns the first `bytes` bytes; all if there are fewer.
    #[must_use]
    pub fn split_front(&mut self, bytes: u64) -> Self {
        let mut front = Self::new();
        let wanted = bytes.min(self.bytes);
        while front.bytes < wanted {
            let Some(mut piece) = self.pieces.pop_front() else { break };
            let missing = wanted - front.bytes;
            if u64::from(piece.len()) > missing {
                front.push(piece.split_front(missing as u32)); // less than a piece, which fits
                self.pieces.push_front(piece);
            } else {
                front.push(piece);
            }
        }
        self.bytes -= front.bytes;
        front
    }
    /// Removes the first `bytes` bytes and returns them as one piece; all if there are fewer.
    #[must_use]
    pub fn take(&mut self, bytes: u32) -> Data {
        let mut all = Data::NONE;
        for piece in self.split_front(bytes.into()).pieces {
            all.append(piece);
        }
        all
    }
    /// Copies the first bytes to `out`; those not stored or not available leave `out` unchanged.
    pub fn peek(&self, out: &mut [u8]) {
        let mut at = 0;
        for piece in &self.pieces {
            let Some(rest) = out.get_mut(at..).filter(|rest| !rest.is_empty()) else { return };
            let count = rest.len().min(piece.len() as usize);
            if let Some(bytes) = piece.bytes() {
                rest[..count].copy_from_slice(&bytes[..count]);
            }
            at += count;
        }
    }
    /// Counts the data units in the stream. Each must be whole and begin with a piece of its own, as written.
    #[must_use]
    pub fn units(&self) -> Units {
        let (mut units, mut rest) = (Units::default(), 0);
        for piece in &self.pieces {
            let bytes = u64::from(piece.len());
            if rest == 0
                && let Some(header) = piece.bytes().and_then(|bytes| bytes.first_chunk())
            {
                let common = CommonHeader::from_bytes(*header);
                match common.kind() {
                    PduType::CAPSULE_CMD => units.commands += 1,
                    PduType::R2T => units.r2ts += 1,
                    _ => units.others += 1,
                }
                rest = u64::from(common.bytes());
                units.headers += bytes;
            } else if bytes == DIGEST_BYTES as u64 && rest == bytes {
                units.headers += bytes;
            } else {
                units.data += bytes;
            }
            rest = rest.saturating_sub(bytes);
        }
        units
    }
    /// All bytes; `None` if some are not stored.
    #[must_use]
    pub fn to_bytes(&self) -> Option<Vec<u8>> {
        let mut all = Vec::with_capacity(self.bytes as usize);
        for piece in &self.pieces {
            all.extend_from_slice(piece.bytes()?);
        }
        Some(all)
    }
}

impl From<Vec<u8>> for Stream {
    fn from(bytes: Vec<u8>) -> Self {
        let mut stream = Self::new();
        stream.push(Data::Bytes(bytes));
        stream
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_cut_anywhere_and_loses_nothing() {
        let mut stream = Stream::from(vec![1, 2, 3]);
        stream.push(Data::Length(4));
        stream.push(Data::from(vec![4, 5]));
        for cut in 0..=9 {
            let (mut behind, mut joined) = (stream.clone(), Stream::new());
            joined.append(behind.split_front(cut));
            assert_eq!((joined.len(), behind.len()), (cut, 9 - cut));
            joined.append(behind);
            let mut seen = [9; 9];
            joined.peek(&mut seen);
            assert_eq!(seen, [1, 2, 3, 9, 9, 9, 9, 4, 5]);
        }
        assert_eq!(stream.to_bytes(), None);
        assert_eq!(stream.take(3), Data::from(vec![1, 2, 3]));
        assert_eq!(stream.take(99).len(), 6);
        assert!(stream.is_empty());
    }
}
