//! What a link is built from.

use crate::spec::FlitMode;
use crate::spec::flit_256::{FEC_MOST_PS, Layout};
use lanetwin_units::{Generation, Span, Width};

/// A CXL link. Of every pair the first belongs to the end nearer to the host, the second to the device's end.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct LinkSpec {
    /// 8, 16, 32 or 64 GT/s: Gen3 to Gen6.
    pub generation: Generation,
    /// How many lanes.
    pub width: Width,
    /// Which flits; at 64 GT/s those of 256 B.
    pub flits: FlitMode,
    /// Whether the sync headers of 128b/130b are dropped, which needs a common reference clock (CXL §6.8). 64 GT/s has
    /// none.
    pub sync_header_bypass: bool,
    /// Whether SKP ordered sets are sent.
    pub skp: bool,
    /// The time of flight of a bit, retimers included.
    pub flight: Span,
    /// What each port takes from a message handed to it to the first flit that can carry it.
    pub transmit: [Span; 2],
    /// What each port takes from the last bit of a flit to its messages being handed on.
    pub receive: [Span; 2],
    /// What error correction of a standard 256 B flit takes at the receiver; no other flit waits for it.
    pub correction: Span,
    /// The probability of a bit error, in each direction; with flits of 256 B before error correction.
    pub bit_error_ratio: f64,
    /// Whether both ends can do slots with several data headers (MDH).
    pub multi_data_headers: bool,
    /// Credits that the device's end gives for M2S, and the host's end for S2M.
    pub credits: [ClassCredits; 2],
    /// How long a credit waits at most for a flit that goes back anyway, before a LLCRD flit of its own may carry it.
    pub credit_flush: Span,
    /// CXL.io on the same link, M2S and S2M.
    pub io: [IoLoad; 2],
}

impl LinkSpec {
    /// A link with the defaults of everything else.
    ///
    /// | field | default | why |
    /// |---|---|---|
    /// | flits | 68 B; at 64 GT/s standard 256 B | CXL §6.2.3, table 6-4 |
    /// | sync headers | bypassed | the low-latency mode of memory expanders (CXL §6.8) |
    /// | SKP | on | CXL §6.8.1 |
    /// | flight | 1 ns | about 15 cm of board (assumed) |
    /// | transmit, receive | 6.25 ns each, at both ends | 25 ns round trip through a port, all four passes of an end: H. Li et al., "Pond", ASPLOS 2023, citing D. Das Sharma |
    /// | error correction | 2 ns | the most that it takes together with the CRC: [`FEC_MOST_PS`] |
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

/// The credits of the two classes of a direction, and when they go back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ClassCredits {
    /// For messages without data (Req, NDR); 0 is infinite.
    pub no_data: u32,
    /// For messages with data (RwD, DRS); 0 is infinite.
    pub data: u32,
    /// When a credit is free again.
    pub release: Release,
}

impl ClassCredits {
    /// 256 each, held until the request is answered.
    #[must_use]
    pub const fn requests() -> Self {
        Self { no_data: 256, data: 256, release: Release::Answered }
    }
    /// 256 each, free as soon as the response has arrived: a host keeps a place for every answer that it asks for.
    #[must_use]
    pub const fn responses() -> Self {
        Self { no_data: 256, data: 256, release: Release::After(Span::ZERO) }
    }
}

/// When the buffer of a message is free again.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Release {
    /// When its answer is handed to the link: the buffers are all that the device has. For M2S only.
    Answered,
    /// So long after the message was handed on: the device takes it into a queue of its own.
    After(Span),
}

/// A steady load of CXL.io.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IoLoad {
    /// Transaction-layer packets, headers included \[B/s\].
    pub bytes_per_second: u64,
}

impl IoLoad {
    /// No load.
    pub const NONE: Self = Self { bytes_per_second: 0 };
}
