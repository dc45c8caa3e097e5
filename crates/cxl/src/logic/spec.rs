//! Specification of a link.

use crate::spec::FlitMode;
use crate::spec::flit_256::{FEC_MOST_PS, Layout};
use lanetwin_units::{Generation, Span, Width};

/// A CXL link. The first item of each pair belongs to the host's end, the second to the device's end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkSpec {
    /// 8, 16, 32 or 64 GT/s: Gen3 to Gen6.
    pub generation: Generation,
    /// Number of lanes.
    pub width: Width,
    /// Flit mode; 256 B at 64 GT/s.
    pub flits: FlitMode,
    /// Whether the sync headers of 128b/130b are dropped, which needs a common reference clock (CXL §6.8). 64 GT/s has
    /// no sync headers.
    pub sync_header_bypass: bool,
    /// Whether SKP ordered sets are sent.
    pub skp: bool,
    /// Time of flight of a bit, retimers included.
    pub flight: Span,
    /// Latency of each port from the submission of a message to the first flit that can carry it.
    pub transmit: [Span; 2],
    /// Latency of each port from the last bit of a flit to the delivery of its messages.
    pub receive: [Span; 2],
    /// Latency of error correction of a standard 256 B flit at the receiver; other flits do not wait for it.
    pub correction: Span,
    /// Probability of a bit error in each direction; with flits of 256 B, before error correction.
    pub bit_error_ratio: f64,
    /// Whether both ends support several data headers in a slot (MDH).
    pub multi_data_headers: bool,
    /// Credits that the device grants for M2S, and the host for S2M.
    pub credits: [ClassCredits; 2],
    /// Maximum time that a credit waits for another flit to carry it, before it may be returned in an LLCRD flit.
    pub credit_flush: Span,
    /// Load of CXL.io on the same link, M2S and S2M.
    pub io: [IoLoad; 2],
}

impl LinkSpec {
    /// A link with this rate and width, and defaults for everything else.
    ///
    /// | field | default | reason |
    /// |---|---|---|
    /// | flits | 68 B; at 64 GT/s standard 256 B | CXL §6.2.3, table 6-4 |
    /// | sync headers | bypassed | the low-latency mode of memory expanders (CXL §6.8) |
    /// | SKP | on | CXL §6.8.1 |
    /// | flight | 1 ns | about 15 cm of board (assumed) |
    /// | transmit, receive | 6.25 ns each, at both ends | 25 ns round trip through a port, all four passes of an end: H. Li et al., "Pond", ASPLOS 2023, citing D. Das Sharma |
    /// | error correction | 2 ns | its maximum, together with the CRC: [`FEC_MOST_PS`] |
    /// | bit error ratio | 0 | |
    /// | several data headers | yes | the usual choice of both ends (assumed) |
    /// | credits | 256 for each class | the outstanding lines of the simulated x8 expander at saturation (computed by Little's law); assumed elsewhere |
    /// | credit flush | 32 ns | some flits (assumed) |
    /// | CXL.io | none | |
    #[must_use]
    pub fn new(generation: Generation, width: Width) -> Self {
        let quarter_of_a_port = Span::from_ps(6_250);
        Self {
            generation,
            width,
            flits: if generation > Generation::Gen5 {
                FlitMode::Bytes256(Layout::Standard)
            } else {
                FlitMode::Bytes68
            },
            sync_header_bypass: true,
            skp: true,
            flight: Span::from_ns(1),
            transmit: [quarter_of_a_port; 2],
            receive: [quarter_of_a_port; 2],
            correction: Span::from_ps(FEC_MOST_PS),
            bit_error_ratio: 0.0,
            multi_data_headers: true,
            credits: [ClassCredits::requests(), ClassCredits::responses()],
            credit_flush: Span::from_ns(32),
            io: [IoLoad::NONE; 2],
        }
    }
}

/// Credits of the two classes of a direction, and when they are returned.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassCredits {
    /// For messages without data (Req, NDR); 0 is infinite.
    pub no_data: u32,
    /// For messages with data (RwD, DRS); 0 is infinite.
    pub data: u32,
    /// When the buffer of a message is free again.
    pub release: Release,
}

impl ClassCredits {
    /// 256 each, held until the request is answered.
    #[must_use]
    pub const fn requests() -> Self {
        Self { no_data: 256, data: 256, release: Release::Answered }
    }
    /// 256 each, free as soon as the response has arrived: a host reserves a buffer for the response of each request.
    #[must_use]
    pub const fn responses() -> Self {
        Self { no_data: 256, data: 256, release: Release::After(Span::ZERO) }
    }
}

/// When the buffer of a message is free again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// When the response is submitted to the link: the device has no other buffers. M2S only.
    Answered,
    /// This time after the message was delivered: the device moves it into a queue of its own.
    After(Span),
}

/// Constant load of CXL.io.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IoLoad {
    /// Rate of transaction-layer packets, headers included \[B/s\].
    pub bytes_per_second: u64,
}

impl IoLoad {
    /// No load.
    pub const NONE: Self = Self { bytes_per_second: 0 };
}
