//! State of both ends of a connection between programs.

use crate::tcp_socket::TcpSocket;
use lanetwin_fabric::ethernet::logic::Station;
use lanetwin_kernel::{Report, Supply, SupplyKind, Trail};
use lanetwin_ports::RunQueue;
use lanetwin_units::Instant;
use std::collections::VecDeque;

/// An end of a conversation.
#[derive(Clone, Debug)]
pub struct EndSpec {
    /// Index of its host.
    pub host: usize,
    /// The core of its program.
    pub core: RunQueue,
    /// Whether this component has to report its core.
    pub tells_core: bool,
    /// The station of its adapter.
    pub station: Station,
}

/// Both ends of a connection, that of the load's host first.
#[derive(Clone, Debug)]
pub struct ConversationSpec {
    /// The ends.
    pub ends: [EndSpec; 2],
    /// Largest payload of the frames of both adapters \[B\].
    pub frames: u32,
}

/// Reports the cores that programs alone use, by the names of their hosts, in the order of their indices.
pub(crate) fn report_cores<'a>(
    hosts: impl Iterator<Item = &'a str>,
    ends: &[&EndSpec],
    now: Instant,
    report: &mut Report,
) {
    for (number, host) in hosts.enumerate() {
        let mut cores: Vec<&RunQueue> = Vec::new();
        for end in ends.iter().filter(|end| end.host == number && end.tells_core) {
            if !cores.iter().any(|known| known.is(&end.core)) {
                cores.push(&end.core);
            }
        }
        let supply = cores.len() as u64;
        if supply > 0 {
            let in_use_ps = cores.iter().map(|core| core.used(now).in_use_ps).sum();
            let supply = Supply { in_use_ps, supply, kind: SupplyKind::Server };
            report.supply(format!("cores of {host}"), supply);
        }
    }
}

/// Two programs that send each other bytes.
pub(super) struct Conversation {
    pub(super) spec: ConversationSpec,
    /// The ends of its connection, if it has one.
    pub(super) handles: Option<[u32; 2]>,
    /// Whether it has ever had a connection.
    pub(super) was_open: bool,
    /// Lengths of the messages that each side will receive, in order.
    lengths: [VecDeque<u32>; 2],
}

/// An end of a connection.
pub(super) struct End {
    /// The conversation, and which side of it.
    pub(super) of: usize,
    pub(super) side: usize,
    pub(super) socket: TcpSocket,
    /// Signals of the adapter since the last look.
    pub(super) signals: VecDeque<Trail>,
    pub(super) looking: bool,
    /// Requests that complete when they have room in the send buffer: last byte and request.
    pub(super) buffered: VecDeque<(u64, u32)>,
    /// Whether it is closed.
    pub(super) closed: bool,
}

/// Identifier of a message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Name {
    /// A request of a load, with a reply of this length.
    Request { slot: u32, reply: u32 },
    /// The reply.
    Reply { slot: u32 },
    /// SYN, or FIN of the side that closes first.
    Dial { slot: u32, open: bool },
    /// SYN of the other side, or its FIN.
    Dialled { slot: u32, open: bool },
}

impl Name {
    /// As the number carried by a socket.
    pub(super) const fn to_bits(self) -> u64 {
        let (kind, slot, more) = match self {
            Self::Request { slot, reply } => (0, slot, reply),
            Self::Reply { slot } => (1, slot, 0),
            Self::Dial { slot, open } => (2, slot, open as u32),
            Self::Dialled { slot, open } => (3, slot, open as u32),
        };
        // a reply has less than 2³⁰ bytes
        (kind as u64) << 62 | (more as u64) << 32 | slot as u64
    }
    pub(super) const fn of_bits(bits: u64) -> Self {
        let (slot, more) = (bits as u32, (bits >> 32) as u32 & 0x3fff_ffff);
        match bits >> 62 {
            0 => Self::Request { slot, reply: more },
            1 => Self::Reply { slot },
            2 => Self::Dial { slot, open: more > 0 },
            _ => Self::Dialled { slot, open: more > 0 },
        }
    }
}

impl Conversation {
    pub(super) const fn new(spec: ConversationSpec) -> Self {
        Self { spec, handles: None, was_open: false, lengths: [VecDeque::new(), VecDeque::new()] }
    }
    /// Notes the length of a message that a side will receive.
    pub(super) fn put_length(&mut self, side: usize, bytes: u32) {
        self.lengths[side].push_back(bytes);
    }
    /// Takes the length of the message that a side has received \[B\].
    pub(super) fn take_length(&mut self, side: usize) -> u64 {
        self.lengths[side].pop_front().map_or(0, u64::from)
    }
}

impl End {
    pub(super) fn new((of, side): (usize, usize), socket: TcpSocket) -> Self {
        let (signals, buffered) = (VecDeque::new(), VecDeque::new());
        Self { of, side, socket, signals, looking: false, buffered, closed: false }
    }
}
