//! A socket of TCP in its adapter: segments that are cut into frames, and frames that are joined.
//!
//! ```text
//!   word 0   which frame of its segment; counts on in a train
//!   word 1   the name of the segment, from which both sides know its header
//!   word 2   15:0 destination socket, 18:16 five
//! ```

use super::lane::{Lane, Outgoing};
use super::params::Rules;
use lanetwin_fabric::ethernet::spec::frame_bytes;
use lanetwin_fabric::ethernet::spec::header::IPV4_BYTES;
use lanetwin_fabric::tcp::logic::segment::{Segment, Seq};
use lanetwin_fabric::tcp::spec::{HEADER_BYTES, OFFLOAD_BYTES, TIMESTAMPS_BYTES};
use lanetwin_kernel::Trail;
use lanetwin_ports::{SocketEnds, SocketId, Sockets};
use lanetwin_units::{Instant, Span};
use std::collections::VecDeque;

/// Time that joined frames wait for the next one (Linux, `drivers/net/ethernet/mellanox/mlx5/core/en.h`: 32 us).
pub(super) const JOINS_FOR: Span = Span::from_us(32);
/// Start of sent streams, and of buffers for received frames: behind everything that has bytes, so that they are in
/// DRAM.
const STREAMS: u64 = 1 << 38;
const FRAMES: u64 = 1 << 39;
/// Number of frames in a receive ring, and size of each buffer \[B\].
const RING: u64 = 1024;
const ROOM: u64 = 1 << 14;

/// The header of Ethernet \[B\] (IEEE 802.3 §3.2).
const ETHERNET_BYTES: u32 = 14;

const KIND: u32 = 16;
const FRAME: u32 = 5;

/// Identification of a frame: segment, index in it, and destination.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece {
    index: u32,
    name: u32,
    pub(super) to: SocketId,
}

impl Piece {
    const fn words(self) -> [u32; 3] {
        [self.index, self.name, FRAME << KIND | self.to.0 as u32]
    }
    /// The piece with these words. Returns `None` if they belong to another kind of packet.
    pub(super) fn from_words([index, name, rest]: [u32; 3]) -> Option<Self> {
        (rest >> KIND == FRAME).then_some(Self { index, name, to: SocketId(rest as u16) })
    }
}

/// A segment that is being cut.
#[derive(Debug)]
struct Cutting {
    name: u32,
    whole: Segment,
    /// Number of frames cut, and bytes of the stream in them \[B\].
    frames: u32,
    bytes: u32,
    trail: Trail,
}

/// A frame that is to be sent.
pub(super) struct NextFrame {
    pub(super) frame: Outgoing,
    /// Address and size of its payload in host memory; `None` if it has none.
    pub(super) data: Option<(u64, u32)>,
}

/// Effects of a received frame.
#[derive(Default)]
pub(super) struct Arrived {
    /// Write to host memory: address and size \[B\].
    pub(super) write: Option<(u64, u32)>,
    /// Segments reported to software.
    pub(super) segments: Vec<Segment>,
    /// When it has to be checked again.
    pub(super) look: Option<Instant>,
}

/// A socket in its adapter.
#[derive(Debug)]
pub(super) struct Flow {
    pub(super) ends: SocketEnds,
    cutting: VecDeque<Cutting>,
    pub(super) lane: Lane,
    /// The joined segment so far, and since when.
    joined: Option<(Segment, Instant)>,
    /// Number of frames received.
    frames: u64,
}

impl Flow {
    pub(super) fn new(ends: SocketEnds) -> Self {
        Self { ends, cutting: VecDeque::new(), lane: Lane::default(), joined: None, frames: 0 }
    }
    /// Begins with a segment.
    pub(super) fn begin(&mut self, own: SocketId, (whole, trail): (Segment, Trail), sockets: &Sockets) {
        let name = sockets.cut(own, whole);
        self.cutting.push_back(Cutting { name, whole, frames: 0, bytes: 0, trail });
    }
    /// Number of segments of which frames are still to be cut.
    pub(super) fn unfinished(&self) -> usize {
        self.cutting.len()
    }
    /// The next frame whose data may be requested.
    pub(super) fn next(&mut self, own: SocketId, rules: &Rules) -> Option<NextFrame> {
        if self.lane.payload() >= rules.ahead {
            return None;
        }
        let cutting = self.cutting.front_mut()?;
        let whole = cutting.whole;
        let payload = (whole.bytes - cutting.bytes).min(self.ends.segment);
        let words = Piece { index: cutting.frames, name: cutting.name, to: self.ends.peer }.words();
        let from = stream_offset(whole.seq) + u64::from(cutting.bytes);
        let address = STREAMS + (u64::from(own.0) << 40) + (from & 0xffff_ffff);
        let bytes = frame_bytes(headers(&whole) + payload, rules.tagging) as u16;
        let frame = Outgoing { words, bytes, payload, ready: None, trail: cutting.trail };
        cutting.frames += 1;
        cutting.bytes += payload;
        if cutting.bytes == whole.bytes {
            self.cutting.pop_front();
        }
        Some(NextFrame { frame, data: (payload > 0).then_some((address, payload)) })
    }
    /// Handles a received frame: joins it with the segment that it follows.
    pub(super) fn hear(
        &mut self,
        (own, piece, marked): (SocketId, Piece, bool),
        now: Instant,
        sockets: &Sockets,
    ) -> Option<Arrived> {
        let whole = sockets.header(self.ends.peer, piece.name)?;
        let offset = piece.index * self.ends.segment;
        let bytes = whole.bytes.saturating_sub(offset).min(self.ends.segment);
        let seq = Seq::of(stream_offset(whole.seq) + u64::from(offset));
        let segment = Segment { seq, bytes, marked, ..whole };
        let address = FRAMES + (u64::from(own.0) << 40) + self.frames % RING * ROOM;
        self.frames += 1;
        // the check sequence stays in the adapter
        let written = headers(&whole) + bytes + ETHERNET_BYTES;
        let mut arrived = Arrived { write: Some((address, written)), ..Arrived::default() };
        let is_last = offset + bytes == whole.bytes;
        match self.joined.take() {
            Some((joined, since)) if follows(&joined, &segment) => {
                let joined = Segment { seq: joined.seq, bytes: joined.bytes + bytes, ..segment };
                self.joined = Some((joined, since));
            }
            before => {
                arrived.segments.extend(before.map(|(joined, _)| joined));
                self.joined = Some((segment, now));
                arrived.look = (!is_last).then_some(now + JOINS_FOR);
            }
        }
        if is_last {
            // PSH, or an acknowledgement alone: nothing is waited for
            arrived.segments.extend(self.joined.take().map(|(joined, _)| joined));
        }
        Some(arrived)
    }
    /// Takes the joined segment if it has waited for long enough.
    pub(super) fn waited(&mut self, now: Instant) -> Option<Segment> {
        self.joined.take_if(|(_, since)| *since + JOINS_FOR <= now).map(|(joined, _)| joined)
    }
}

/// Whether a segment follows another, so that they can be joined.
fn follows(joined: &Segment, next: &Segment) -> bool {
    let end = stream_offset(joined.seq) + u64::from(joined.bytes);
    let fits = joined.bytes + next.bytes <= OFFLOAD_BYTES;
    fits && next.bytes > 0 && joined.bytes > 0 && Seq::of(end) == next.seq && joined.marked == next.marked
}

/// An offset of a stream with this number.
const fn stream_offset(seq: Seq) -> u64 {
    seq.near(1 << 32)
}

/// Headers of IP and TCP with timestamps; blocks of SACK (RFC 2018 §3) count in segments without data \[B\].
fn headers(segment: &Segment) -> u32 {
    let blocks = segment.sack.iter().flatten().count() as u32;
    let sack = if blocks > 0 && segment.bytes == 0 { 4 + 8 * blocks } else { 0 };
    IPV4_BYTES + HEADER_BYTES + TIMESTAMPS_BYTES + sack
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_say_which_frame_it_is() {
        let piece = Piece { index: 3, name: 77, to: SocketId(0xabcd) };
        assert_eq!(Piece::from_words(piece.words()), Some(piece));
        assert_eq!(Piece::from_words([3, 77, 4 << KIND]), None);
    }

    #[test]
    fn segments_are_joined_where_one_follows_the_other() {
        let segment = |at, bytes, marked| Segment {
            seq: Seq::of(at),
            bytes,
            ack: Seq::of(0),
            window: 0,
            sack: [None; 3],
            echo: false,
            reduced: false,
            marked,
        };
        let first = segment((1 << 32) - 10, 10, false);
        assert!(follows(&first, &segment(0, 5, false)));
        assert!(!follows(&first, &segment(1, 5, false)), "a gap");
        assert!(!follows(&first, &segment(0, 5, true)), "a mark");
        assert!(!follows(&first, &segment(0, 0, false)), "an acknowledgement");
        assert!(!follows(&first, &segment(0, OFFLOAD_BYTES, false)), "too much");
    }
}
