//! What hosts are given to do, and what they want done or tell.

use crate::logic::data::Data;
use crate::logic::tcp::Stream;
use crate::spec::authentication::Explanation;
use crate::spec::rdma::{RejectStatus, RequestPrivateData};
use crate::spec::tcp::FatalError;
use lanetwin_nvme::spec::{Command, ControllerId, SqId, Status};
use lanetwin_units::Instant;

/// Data of a command.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Transfer {
    /// None.
    None,
    /// So many bytes come from the controller.
    FromController(u32),
    /// These go to the controller.
    ToController(Data),
}

/// A command for the controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Io {
    /// The command; identifier and data pointer are chosen here.
    pub command: Command,
    /// What comes back with its end. Names from 2^63 on belong to [`Controller`](super::Controller).
    pub name: u64,
    /// Its data.
    pub transfer: Transfer,
    /// Where they are in memory of the host: what RDMA registers.
    pub address: u64,
}

/// How a command has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ending {
    /// Its status.
    pub status: Status,
    /// Dword 0 of its completion.
    pub dw0: u32,
    /// Dword 1 of its completion.
    pub dw1: u32,
}

/// Why a queue is of no use any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Connect was refused, with this status and dword 0.
    Refused(Status, u32),
    /// The controller wants a proof of who the host is, which has none.
    AuthenticationRequired,
    /// Host or controller has not proved who it is.
    NotAuthenticated(Explanation),
    /// The RDMA connection was rejected.
    Rejected(RejectStatus),
    /// The controller did what it must not.
    Protocol(FatalError),
    /// The controller ended the connection with a terminate request.
    Terminated(FatalError),
    /// The connection was lost.
    Lost,
    /// The connection was lost before host and controller had proved who they are: a controller that is not convinced
    /// may end it before what it says arrives.
    LostUnproved,
}

/// What a queue wants done, or tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QueueEffect {
    /// Send bytes by TCP.
    Send {
        /// The bytes.
        stream: Stream,
    },
    /// Ask for an RDMA connection; [`accepted`](super::Queue::accepted) or [`rejected`](super::Queue::rejected)
    /// answers.
    Request {
        /// Its private data.
        private: RequestPrivateData,
    },
    /// Post the registration of memory: the key is valid for what is posted behind it.
    Register {
        /// The key.
        key: u32,
        /// Where the memory begins.
        address: u64,
        /// How long it is \[B\].
        bytes: u32,
        /// What the target will read from it; none if it will write. Data of the queue's own commands are nowhere else.
        data: Data,
    },
    /// Post the SEND of a command capsule; [`sent`](super::Queue::sent) tells that it is complete.
    SendCapsule {
        /// The command, with its identifier.
        command: Command,
        /// In-capsule data.
        data: Data,
    },
    /// Post the local invalidation of a key; [`invalidated`](super::Queue::invalidated) tells that it is complete.
    Invalidate {
        /// The key.
        key: u32,
    },
    /// Draw [randomness](crate::logic::authentication::Random): [`drawn`](super::Queue::drawn) has it.
    Draw,
    /// Close the connection when what was to be sent is sent.
    Close,
    /// Data have come for a command.
    Deliver {
        /// Which.
        name: u64,
        /// Where they belong \[B from the start of its data\].
        offset: u32,
        /// The data.
        data: Data,
    },
    /// The queue is connected.
    Connected {
        /// To this controller.
        controller: ControllerId,
    },
    /// A command has ended.
    Completed {
        /// Which.
        name: u64,
        /// How.
        ending: Ending,
    },
    /// A command will not be answered: whether it was carried out is not known.
    Unanswered {
        /// Which.
        name: u64,
    },
    /// The queue is of no use any more.
    Failed {
        /// Why.
        why: Failure,
    },
}

/// No more capsules can be sent now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the queue is full, or not connected")]
pub struct QueueFull;

/// Where an association is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Nobody has asked for it.
    Idle,
    /// It is being made.
    Connecting,
    /// Commands go.
    Live,
    /// It was lost, and is tried again at this time.
    Waiting(Instant),
    /// It is given up.
    Removed,
}

/// What a controller wants done, or tells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ControllerEffect {
    /// Open a connection for this queue; [`opened`](super::Controller::opened) or [`lost`](super::Controller::lost)
    /// answers.
    Open {
        /// Which queue.
        queue: SqId,
    },
    /// The connection of this queue is of no use any more.
    Abandon {
        /// Which queue.
        queue: SqId,
    },
    /// Something about a queue.
    Queue {
        /// Which.
        queue: SqId,
        /// What.
        effect: QueueEffect,
    },
    /// All queues are connected: this many I/O queues.
    Live {
        /// How many.
        io_queues: u16,
    },
    /// The association is lost, and is tried again.
    Lost {
        /// Why.
        why: Failure,
    },
    /// The controller is given up.
    Removed {
        /// Why.
        why: Failure,
    },
}

impl Transfer {
    /// How many bytes move.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::FromController(bytes) => *bytes,
            Self::ToController(data) => data.len(),
        }
    }
}
