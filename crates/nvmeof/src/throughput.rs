//! Closed forms of the bytes that commands take on an Ethernet line and of the resulting goodput, for comparison with
//! simulations.
//!
//! Acknowledgements of TCP are not counted: they are sent with data in the other direction, or use the less busy
//! direction. Those of RDMA are counted: one for each SEND, which also acknowledges the work requests posted before it.

use crate::logic::tcp::Framing;
use crate::spec::tcp::{COMMAND_HEADER_BYTES, DigestTypes, SHORT_HEADER_BYTES};
use lanetwin_fabric::ethernet::spec::header::IPV4_BYTES;
use lanetwin_fabric::ethernet::spec::{Rate, Tagging, frame_bytes, wire_bytes};
use lanetwin_fabric::ethernet::throughput::portion;
use lanetwin_fabric::roce::spec::{Kind, PathMtu, packet_bytes};
use lanetwin_fabric::roce::throughput::{Message, message_bytes};
pub use lanetwin_fabric::tcp::spec::{HEADER_BYTES as TCP_BYTES, TIMESTAMPS_BYTES};
use lanetwin_nvme::logic::Direction;
use lanetwin_nvme::spec::command::COMMAND_BYTES;
use lanetwin_nvme::spec::completion::COMPLETION_ENTRY_BYTES;

/// Bytes that a command takes in each direction \[B\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BothWays {
    /// From the host.
    pub to_target: u64,
    /// To the host.
    pub to_host: u64,
}

impl BothWays {
    /// Bytes of the busier direction \[B\].
    #[must_use]
    pub const fn busier(self) -> u64 {
        if self.to_target > self.to_host { self.to_target } else { self.to_host }
    }
}

/// Properties of an NVMe/TCP connection, without alignment of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpWay {
    /// The digests that are used.
    pub digests: DigestTypes,
    /// Whether SUCCESS in the last C2HData replaces the response to a read.
    pub success: bool,
    /// Maximum in-capsule data \[B\].
    pub capsule_data: u32,
    /// MAXH2CDATA \[B\].
    pub most_data: u32,
}

/// Segmentation of a TCP stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segments {
    /// The MTU \[B\], with the headers of IP and TCP.
    pub mtu: u32,
    /// Options of each segment \[B\], such as [`TIMESTAMPS_BYTES`].
    pub options: u32,
    /// Whether frames have a VLAN tag.
    pub tagging: Tagging,
}

/// Properties of an NVMe/RDMA connection over RoCEv2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RdmaWay {
    /// The MTU of the path.
    pub mtu: PathMtu,
    /// Whether frames have a VLAN tag.
    pub tagging: Tagging,
    /// Maximum in-capsule data \[B\].
    pub capsule_data: u32,
    /// Whether responses invalidate keys.
    pub invalidate: bool,
}

impl TcpWay {
    /// Bytes of the stream that a command with `bytes` of data takes in each direction. Write data that do not fit into
    /// a capsule are requested with one R2T.
    #[must_use]
    pub const fn stream(&self, direction: Direction, bytes: u32) -> BothWays {
        let framing = Framing { digests: self.digests, alignment: 0 };
        let short = framing.bytes(SHORT_HEADER_BYTES, 0);
        let command = framing.bytes(COMMAND_HEADER_BYTES, 0);
        match direction {
            Direction::ToHost => {
                let response = if self.success { 0 } else { short };
                let to_host = framing.bytes(SHORT_HEADER_BYTES, bytes) + response;
                BothWays { to_target: command, to_host }
            }
            Direction::FromHost if bytes <= self.capsule_data => {
                BothWays { to_target: framing.bytes(COMMAND_HEADER_BYTES, bytes), to_host: short }
            }
            Direction::FromHost => {
                let most = self.most_data & !3;
                let (units, rest) = (bytes / most, bytes % most);
                let last = if rest > 0 { framing.bytes(SHORT_HEADER_BYTES, rest) } else { 0 };
                let data = units as u64 * framing.bytes(SHORT_HEADER_BYTES, most) + last;
                BothWays { to_target: command + data, to_host: 2 * short }
            }
        }
    }
    /// Goodput of consecutive commands in full segments \[B/s\], rounded down.
    ///
    /// ```
    /// use lanetwin_fabric::ethernet::spec::{Rate, Tagging};
    /// use lanetwin_nvme::logic::Direction;
    /// use lanetwin_nvmeof::spec::tcp::DigestTypes;
    /// use lanetwin_nvmeof::throughput::{Segments, TIMESTAMPS_BYTES, TcpWay};
    ///
    /// // Reads of 128 KiB at 100 Gb/s, frames of 1500 B: 94.1 % of the line; two digests take 12 B of each command.
    /// let segments = Segments { mtu: 1500, options: TIMESTAMPS_BYTES, tagging: Tagging::Untagged };
    /// let goodput = |digests| {
    ///     let way = TcpWay { digests: DigestTypes::from_raw(digests), success: false, capsule_data: 0, most_data: 1 << 20 };
    ///     way.goodput(Rate::G100, segments, Direction::ToHost, 128 << 10)
    /// };
    /// assert_eq!((goodput(0), goodput(3)), (11_764_222_372, 11_763_145_818));
    /// ```
    #[must_use]
    pub const fn goodput(&self, rate: Rate, segments: Segments, direction: Direction, bytes: u32) -> u64 {
        let stream = self.stream(direction, bytes).busier();
        let full = segments.most();
        portion(rate, bytes as u64 * full as u64, stream * segments.wire(full))
    }
}

impl Segments {
    /// Maximum payload of a segment (MSS, without options) \[B\].
    #[must_use]
    pub const fn most(&self) -> u32 {
        self.mtu - IPV4_BYTES - TCP_BYTES - self.options
    }
    /// Bytes that a segment with `bytes` of the stream takes on a line \[B\].
    #[must_use]
    pub const fn wire(&self, bytes: u32) -> u64 {
        wire_bytes(frame_bytes(IPV4_BYTES + TCP_BYTES + self.options + bytes, self.tagging)) as u64
    }
    /// Bytes that `bytes` of a stream take on a line if no more follow, so that the last segment may not be full \[B\].
    #[must_use]
    pub const fn burst(&self, bytes: u64) -> u64 {
        let most = self.most() as u64;
        let (full, rest) = (bytes / most, (bytes % most) as u32);
        full * self.wire(most as u32) + if rest > 0 { self.wire(rest) } else { 0 }
    }
}

impl RdmaWay {
    /// Bytes that a command with `bytes` of data takes on a line in each direction \[B\].
    #[must_use]
    pub fn wire(&self, direction: Direction, bytes: u32) -> BothWays {
        let message = |kind, bytes| message_bytes(kind, bytes, self.mtu, self.tagging);
        let packet = |kind| u64::from(wire_bytes(packet_bytes(kind, 0, self.tagging)));
        let acknowledgement = packet(Kind::Acknowledging);
        let in_capsule = direction == Direction::FromHost && bytes <= self.capsule_data;
        let response = match self.invalidate && !in_capsule {
            true => message(Message::SendInvalidate, COMPLETION_ENTRY_BYTES),
            false => message(Message::Send, COMPLETION_ENTRY_BYTES),
        };
        let command = message(Message::Send, COMMAND_BYTES + if in_capsule { bytes } else { 0 });
        let (data_to_target, data_to_host) = match direction {
            _ if in_capsule => (0, 0),
            Direction::FromHost => (message(Message::ReadResponse, bytes), packet(Kind::Addressed)),
            Direction::ToHost => (0, message(Message::Write, bytes)),
        };
        BothWays {
            to_target: command + data_to_target + acknowledgement,
            to_host: response + data_to_host + acknowledgement,
        }
    }
    /// Goodput of consecutive commands \[B/s\], rounded down.
    #[must_use]
    pub fn goodput(&self, rate: Rate, direction: Direction, bytes: u32) -> u64 {
        portion(rate, bytes.into(), self.wire(direction, bytes).busier())
    }
}
