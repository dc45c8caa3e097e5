//! What a target keeps of a connection: its transport, its queue, its commands.

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
    /// Its place in the list of ports.
    pub port: usize,
    pub link: Link,
    /// The queue, once it is connected.
    pub queue: Option<Queue>,
    /// The host has to prove who it is, and has or has not.
    pub authentication: Option<Box<authentication::controller::Controller>>,
    /// The Authentication Send that waits for randomness or a power.
    pub awaiting: Option<Cid>,
    /// The Connect that has no answer yet.
    pub connecting: Option<Connecting>,
    /// A controller was asked for it, and has not answered.
    pub asked_for_queue: bool,
    /// Commands without a response.
    pub commands: BTreeMap<u16, Pending>,
    /// What the host was asked for, by transfer tag or operation.
    pub requests: BTreeMap<u32, Request>,
    next_request: u32,
}

/// The transport of a connection.
#[derive(Clone, Debug)]
pub(super) enum Link {
    Tcp(TcpLink),
    /// With the queue that the private data named.
    Rdma {
        queue: u16,
    },
}

/// A TCP connection.
#[derive(Clone, Debug)]
pub(super) struct TcpLink {
    pub reader: Reader,
    /// How data units are written; none before the initialization.
    pub framing: Option<Framing>,
    /// How many R2Ts of one command may be outstanding.
    pub r2ts: u32,
}

/// Whose a queue is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Owner {
    /// A controller of the discovery subsystem.
    Discovery(ControllerId),
    /// A controller of another one.
    Nvm(SubsystemId, ControllerId),
}

/// A connected queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Queue {
    pub owner: Owner,
    pub number: SqId,
    pub entries: u32,
    pub flow_control: bool,
    /// Capsules that never reached a controller, modulo the entries: they move the head, too.
    pub local: u32,
    /// The head as the controller has told it last.
    pub head: u32,
}

/// A Connect that waits for its data, or for the controller.
#[derive(Clone, Debug)]
pub(super) struct Connecting {
    pub cid: Cid,
    pub connect: Connect,
    pub host: Option<HostIdentity>,
}

/// Who connects.
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
    /// How much data the host has room for, or has \[B\].
    pub length: u32,
    /// The key to be invalidated with the response.
    pub invalidate: Option<u32>,
    /// Data had a wrong digest.
    pub damaged: bool,
    /// How much was sent to the host \[B\], in order, and what cannot be sent yet, by offset.
    pub sent: u32,
    pub early: BTreeMap<u32, Data>,
    /// The last data, which wait for the response.
    pub last: Option<(u32, Data)>,
    /// What is to be brought from the host, in order.
    pub asks: VecDeque<Ask>,
    /// R2Ts that are outstanding.
    pub r2ts: u32,
}

/// Bytes that are to be brought from the host.
#[derive(Clone, Debug)]
pub(super) struct Ask {
    pub purpose: Purpose,
    pub offset: u32,
    pub bytes: u32,
    /// How much the host was asked for, and how much has come \[B\].
    pub asked: u32,
    pub come: u32,
    pub pieces: BTreeMap<u32, Data>,
}

/// What bytes are brought for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Purpose {
    /// The data of a Connect.
    Connect,
    /// A message of Authentication Send.
    Message,
    /// What a controller asked for.
    Controller { token: Token, for_controller: bool },
}

/// An R2T, or an RDMA READ, that is outstanding.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub cid: Cid,
    pub purpose: Purpose,
    /// Where the next bytes belong, and how many are missing \[B\].
    pub next: u32,
    pub missing: u32,
}

/// Where the data of a command that come to the target are.
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
    /// Whether nothing but authentication goes yet.
    pub fn is_barred(&self) -> bool {
        self.authentication.as_ref().is_some_and(|side| !side.has_proof())
    }
    /// A tag for a request: 16 bits, that no other outstanding one has; none if all have.
    pub fn add_request(&mut self, request: Request) -> Option<u32> {
        let free = (0..=0xffff).map(|step| (self.next_request + step) & 0xffff);
        let tag = free.into_iter().find(|tag| !self.requests.contains_key(tag))?;
        self.next_request = (tag + 1) & 0xffff;
        self.requests.insert(tag, request);
        Some(tag)
    }
}

impl Queue {
    /// A capsule is here that no controller will see.
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
    /// What a controller resumes with.
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

/// Where the data of a command are.
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
