//! Data that still arrive after a port has decided to pause its peer, in closed form.
//!
//! ```text
//!   port decides ─ latency ─ longest frame is on the wire ─ pause frame ─ line ─┐
//!                                                                              peer: response ─ longest frame began before
//!   port ◄───────────────────────────── line ─────────────────────────────────┘
//! ```
//!
//! The terms are those of IEEE 802.1Qbb annex O, and also of the formula with which switches are configured
//! (sonic-net/sonic-swss, `cfgmgr/buffer_headroom_mellanox.lua`), with the worst use of cells.

use super::spec::{Line, pause_frame_time, wire_bytes};
use lanetwin_units::Span;

/// A port that may pause its peer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Lossless {
    /// The line to its peer.
    pub line: Line,
    /// Time from the decision until the pause frame is ready to be sent.
    pub latency: Span,
    /// Time from the last bit of a pause frame at the peer until the peer starts no more frames.
    pub response: Span,
    /// The longest frame that may be in the way of the pause frame \[B\].
    pub longest_out: u32,
    /// The shortest and the longest frame that its peer sends \[B\].
    pub frames_in: [u32; 2],
    /// Frames occupy its buffer in multiples of this \[B\].
    pub cell: u32,
}

impl Lossless {
    /// Time from the decision to the first bit of the last frame that its peer starts.
    #[must_use]
    pub fn blind(&self) -> Span {
        let Line { rate, .. } = self.line;
        let in_the_way = rate.time_for(wire_bytes(self.longest_out));
        let there_and_back = self.line.delay() + self.line.delay();
        self.latency + in_the_way + pause_frame_time(rate) + there_and_back + self.response
    }
    /// Buffer space for the most that can arrive in that time, and for the frame that begins before it is over \[B\]:
    /// frames of the size that uses cells worst, plus the longest frame.
    ///
    /// ```
    /// use lanetwin_fabric::ethernet::{headroom::Lossless, spec::{Line, Rate}};
    /// use lanetwin_units::Span;
    ///
    /// // 100 Gb/s over 100 m: 0.74 us for a frame of 9216 B and the pause frame, 1.11 us for the line there and back,
    /// // 0.45 us and 2.02 us in the ports are 54 kB, of which cells take 9216 of 9236; and a frame more.
    /// let lossless = Lossless {
    ///     line: Line::of(Rate::G100, 100, Span::ZERO),
    ///     latency: Span::from_ns(450),
    ///     response: Span::from_ps(2_017_280),
    ///     longest_out: 9216,
    ///     frames_in: [9216, 9216],
    ///     cell: 256,
    /// };
    /// assert_eq!(lossless.blind().as_ps(), 4_324_520);
    /// assert_eq!(lossless.headroom(), 53_940 + 9216);
    /// ```
    #[must_use]
    pub fn headroom(&self) -> u64 {
        let blind = self.blind().as_ps().div_ceil(self.line.rate.byte_ps());
        let [shortest, longest] = self.frames_in;
        let room = |frame: u32| u64::from(frame.next_multiple_of(self.cell));
        // of all sizes the one that takes most: the shortest, or one byte more than whole cells
        let beyond = (1..).map(|cells| cells * self.cell + 1).take_while(|frame| *frame < longest);
        let sizes = beyond.filter(|frame| *frame > shortest).chain([shortest, longest]);
        let most = sizes.map(|frame| (blind * room(frame)).div_ceil(wire_bytes(frame).into())).max();
        most.unwrap_or(0) + room(longest)
    }
}
