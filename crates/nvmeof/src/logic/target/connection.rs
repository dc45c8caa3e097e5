//! State of a connection: its transport, its queue, its commands.

use super::config::SubsystemId;
use crate::logic::authentication;
use crate::logic::data::Data;
use crate::logic::tcp::{Framing, Reader};
use crate::spec::fabrics::Connect;
use lanetwin_nvme::logic::Token;
use lanetwin_nvme::spec::pointer::{KeyedSglDescriptor, SglDescriptor, SglSubtype, SglType};
use lanetwin_nvme::spec::{Cid, Command, ControllerId, SqId};
use std::collections::{BTreeMap, VecDeque};

/// A connection.
#[derive(Clone, Debug)]
pub(super) struct Connection {
    /// Index of its port in the list of ports.
    pub port: usize,
    pub link: Link,
    /// The queue, once it is connected.
    pub queue: Option<Queue>,
    /// The authentication transaction, if the host must authenticate.
    pub authentication: Option<Box<authentication::controller::Controller>>,
    /// The Authentication Send that waits for random numbers or a power.
    pub awaiting: Option<Cid>,
    /// The Connect in progress.
    pub connecting: Option<Connecting>,
    /// Whether the queue has been requested from a controller without an answer so far.
    pub asked_for_queue: bool,
    /// Commands without a response.
    pub commands: BTreeMap<u16, Pending>,
    /// Outstanding requests to the host, by transfer tag or operation.
    pub requests: BTreeMap<u32, Request>,
    next_request: u32,
}

/// The transport of a connection.
#[derive(Clone, Debug)]
pub(super) enum Link {
    Tcp(TcpLink),
    /// An RDMA connection, with the queue named in the private data.
    Rdma {
        queue: u16,
    },
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub(super) struct TcpLink {
    pub reader: Reader,
    /// Parameters for sending data units; `None` before the initialization.
    pub framing: Option<Framing>,
    /// Maximum number of outstanding R2Ts per command.
    pub r2ts: u32,
}

/// Controller that a queue belongs to.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Owner {
    /// A controller of the discovery subsystem.
    Discovery(ControllerId),
    /// A controller of another subsystem.
    Nvm(SubsystemId, ControllerId),
}

/// A connected queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub owner: Owner,
    pub number: SqId,
    pub entries: u32,
    pub flow_control: bool,
    /// Number of capsules that were not passed to a controller, modulo the entries; they also move the head.
    pub local: u32,
    /// The head that the controller reported last.
    pub head: u32,
}

/// A Connect that waits for its data, or for the controller.
#[derive(Clone, Debug)]
pub(super) struct Connecting {
    pub cid: Cid,
    pub connect: Connect,
    pub host: Option<HostIdentity>,
}

/// Identity of a host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct HostIdentity {
    pub nqn: String,
    pub id: [u8; 16],
}

/// A command without a response.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    pub command: Command,
    /// In-capsule data.
    pub data: Data,
    /// Length of the host's buffer or data \[B\].
    pub length: u32,
    /// Key to be invalidated with the response.
    pub invalidate: Option<u32>,
    /// Whether data had a wrong digest.
    pub damaged: bool,
    /// Number of bytes sent to the host in order \[B\], and data that cannot be sent yet, by offset.
    pub sent: u32,
    pub early: BTreeMap<u32, Data>,
    /// The last data, held back until the response.
    pub last: Option<(u32, Data)>,
    /// Bytes to be fetched from the host, in order.
    pub asks: VecDeque<Ask>,
    /// Number of outstanding R2Ts.
    pub r2ts: u32,
}

/// Bytes to be fetched from the host.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub purpose: Purpose,
    pub offset: u32,
    pub bytes: u32,
    /// Number of bytes requested from the host, and number received \[B\].
    pub asked: u32,
    pub come: u32,
    pub pieces: BTreeMap<u32, Data>,
}

/// Purpose of bytes fetched from the host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// The data of a Connect.
    Connect,
    /// A message of Authentication Send.
    Message,
    /// A transfer that a controller requested.
    Controller { token: Token, for_controller: bool },
}

/// An outstanding R2T or RDMA READ.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub cid: Cid,
    pub purpose: Purpose,
    /// Offset of the next bytes, and number of missing bytes \[B\].
    pub next: u32,
    pub missing: u32,
}

/// Location of the data of a command that are sent to the target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Source {
    Capsule { offset: u32, length: u32 },
    Transport { length: u32 },
    Keyed { address: u64, key: u32, length: u32 },
    Unknown,
}

impl Link {
    pub const fn reader(&self) -> Option<&Reader> {
        match self {
            Self::Tcp(link) => Some(&link.reader),
            Self::Rdma { .. } => None,
        }
    }
}

impl Connection {
    pub fn new(port: usize, link: Link) -> Self {
        Self {
            port,
            link,
            queue: None,
            authentication: None,
            awaiting: None,
            connecting: None,
            asked_for_queue: false,
            commands: BTreeMap::new(),
            requests: BTreeMap::new(),
            next_request: 0,
        }
    }
    pub fn is_tcp(&self) -> bool {
        matches!(self.link, Link::Tcp(_))
    }
    /// Whether only authentication commands are permitted so far.
    pub fn is_barred(&self) -> bool {
        self.authentication.as_ref().is_some_and(|side| !side.has_proof())
    }
    /// Adds a request and returns its tag of 16 bits, which no other outstanding one has; `None` if all are in use.
    pub fn add_request(&mut self, request: Request) -> Option<u32> {
        let free = (0..=0xffff).map(|step| (self.next_request + step) & 0xffff);
        let tag = free.into_iter().find(|tag| !self.requests.contains_key(tag))?;
        self.next_request = (tag + 1) & 0xffff;
        self.requests.insert(tag, request);
        Some(tag)
    }
}

impl Queue {
    /// Counts a capsule that is not passed to a controller.
    pub fn consume(&mut self) {
        self.local = (self.local + 1) % self.entries;
    }
    /// SQHD.
    pub fn head(&self) -> u16 {
        if self.flow_control { ((self.head + self.local) % self.entries) as u16 } else { 0 }
    }
}

impl Pending {
    pub fn new(command: Command, data: Data) -> Self {
        let descriptor = descriptor(&command);
        let keyed = KeyedSglDescriptor::from_raw(descriptor.raw());
        let is_keyed = descriptor.kind() == SglType::KEYED_DATA_BLOCK;
        let invalidate = is_keyed && descriptor.subtype() == SglSubtype::INVALIDATE_KEY;
        Self {
            command,
            data,
            length: if is_keyed { keyed.length() } else { descriptor.length() },
            invalidate: invalidate.then(|| keyed.key()),
            damaged: false,
            sent: 0,
            early: BTreeMap::new(),
            last: None,
            asks: VecDeque::new(),
            r2ts: 0,
        }
    }
}

impl Purpose {
    /// Token with which a controller resumes.
    pub const fn token(self) -> Option<Token> {
        match self {
            Self::Connect | Self::Message => None,
            Self::Controller { token, .. } => Some(token),
        }
    }
}

impl Ask {
    pub fn new(purpose: Purpose, offset: u32, bytes: u32) -> Self {
        Self { purpose, offset, bytes, asked: 0, come: 0, pieces: BTreeMap::new() }
    }
    /// The bytes in order.
    pub fn into_data(self) -> Data {
        let mut all = Data::NONE;
        self.pieces.into_values().for_each(|piece| all.append(piece));
        all
    }
}

/// The SGL descriptor of a command.
pub(super) fn descriptor(command: &Command) -> SglDescriptor {
    SglDescriptor::from_halves(command.prp1(), command.prp2())
}

/// Location of the data of a command.
pub(super) fn source(command: &Command) -> Source {
    let descriptor = descriptor(command);
    let length = descriptor.length();
    match (descriptor.kind(), descriptor.subtype()) {
        (SglType::DATA_BLOCK, SglSubtype::OFFSET) => u32::try_from(descriptor.address())
            .map_or(Source::Unknown, |offset| Source::Capsule { offset, length }),
        (SglType::TRANSPORT_DATA_BLOCK, SglSubtype::TRANSPORT) => Source::Transport { length },
        (SglType::KEYED_DATA_BLOCK, SglSubtype::ADDRESS | SglSubtype::INVALIDATE_KEY) => {
            let keyed = KeyedSglDescriptor::from_raw(descriptor.raw());
            Source::Keyed { address: keyed.address(), key: keyed.key(), length: keyed.length() }
        }
        _ => Source::Unknown,
    }
}
