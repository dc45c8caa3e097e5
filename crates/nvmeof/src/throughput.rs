//! What commands take of a line of Ethernet, and what is left of its rate: closed forms, to be held against what is
//! carried.
//!
//! Acknowledgements of TCP are not counted: they ride on data of the other way, or take the way that is less busy.
//! Those of RDMA are: one for each SEND, which also acknowledges what was posted before it.

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

/// What a command takes each way \[B\].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BothWays {
    /// From the host.
    pub to_target: u64,
    /// To the host.
    pub to_host: u64,
}

impl BothWays {
    /// The way that is busier \[B\].
    #[must_use]
    pub const fn busier(self) -> u64 {
        if self.to_target > self.to_host { self.to_target } else { self.to_host }
    }
}

/// How commands go by NVMe/TCP, without alignment of data.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpWay {
    /// The digests that are used.
    pub digests: DigestTypes,
    /// SUCCESS stands for the response to a read.
    pub success: bool,
    /// How much data a capsule brings at most \[B\].
    pub capsule_data: u32,
    /// MAXH2CDATA \[B\].
    pub most_data: u32,
}

/// How TCP cuts a stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Segments {
    /// The MTU \[B\], with the headers of IP and TCP.
    pub mtu: u32,
    /// Options of each segment \[B\], such as [`TIMESTAMPS_BYTES`].
    pub options: u32,
    /// Whether frames have a VLAN tag.
    pub tagging: Tagging,
}

/// How commands go by NVMe/RDMA over RoCEv2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RdmaWay {
    /// The MTU of the path.
    pub mtu: PathMtu,
    /// Whether frames have a VLAN tag.
    pub tagging: Tagging,
    /// How much data a capsule brings at most \[B\].
    pub capsule_data: u32,
    /// Responses invalidate keys.
    pub invalidate: bool,
}

impl TcpWay {
    /// What a command with so many bytes of data takes of the stream each way; writes that do not fit into a capsule
    /// are asked for by one R2T.
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
    /// Data of such commands that a line carries, one behind the other in full segments \[B/s\], rounded down.
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
    /// The most that a segment brings (MSS, without options) \[B\].
    #[must_use]
    pub const fn most(&self) -> u32 {
        self.mtu - IPV4_BYTES - TCP_BYTES - self.options
    }
    /// What a segment with so much of the stream takes of a line \[B\].
    #[must_use]
    pub const fn wire(&self, bytes: u32) -> u64 {
        wire_bytes(frame_bytes(IPV4_BYTES + TCP_BYTES + self.options + bytes, self.tagging)) as u64
    }
    /// What so many bytes of a stream take of a line if nothing follows them \[B\]: the last segment is not full.
    #[must_use]
    pub const fn burst(&self, bytes: u64) -> u64 {
        let most = self.most() as u64;
        let (full, rest) = (bytes / most, (bytes % most) as u32);
        full * self.wire(most as u32) + if rest > 0 { self.wire(rest) } else { 0 }
    }
}

impl RdmaWay {
    /// What a command with so many bytes of data takes of a line each way \[B\].
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
    /// Data of such commands that a line carries, one behind the other \[B/s\], rounded down.
    #[must_use]
    pub fn goodput(&self, rate: Rate, direction: Direction, bytes: u32) -> u64 {
        portion(rate, bytes.into(), self.wire(direction, bytes).busier())
    }
}
