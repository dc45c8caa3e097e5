//! Commands for hosts, and effects that hosts request or report.

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
    /// This number of bytes from the controller.
    FromController(u32),
    /// These data to the controller.
    ToController(Data),
}

/// A command for the controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Io {
    /// The command; identifier and data pointer are chosen here.
    pub command: Command,
    /// Name that is returned when it ends. Names from 2^63 on are reserved for [`Controller`](super::Controller).
    pub name: u64,
    /// Its data.
    pub transfer: Transfer,
    /// Address of the data in host memory, which RDMA registers.
    pub address: u64,
}

/// Result of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ending {
    /// Its status.
    pub status: Status,
    /// Dword 0 of its completion.
    pub dw0: u32,
    /// Dword 1 of its completion.
    pub dw1: u32,
}

/// Reason why a queue has ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Failure {
    /// Connect was refused, with this status and dword 0.
    Refused(Status, u32),
    /// The controller requires authentication, and the host has no secret.
    AuthenticationRequired,
    /// Authentication of the host or the controller has failed.
    NotAuthenticated(Explanation),
    /// The RDMA connection was rejected.
    Rejected(RejectStatus),
    /// The controller violated the protocol.
    Protocol(FatalError),
    /// The controller ended the connection with a terminate request.
    Terminated(FatalError),
    /// The connection was lost.
    Lost,
    /// The connection was lost during authentication: a controller that refuses the host may close it before its
    /// message arrives.
    LostUnproved,
}

/// An effect that a queue requests or reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QueueEffect {
    /// Send bytes over TCP.
    Send {
        /// The bytes.
        stream: Stream,
    },
    /// Request an RDMA connection; answered by [`accepted`](super::Queue::accepted) or
    /// [`rejected`](super::Queue::rejected).
    Request {
        /// Its private data.
        private: RequestPrivateData,
    },
    /// Post a memory registration; the key is valid for work requests posted after it.
    Register {
        /// The key.
        key: u32,
        /// Address of the memory.
        address: u64,
        /// Length of the memory \[B\].
        bytes: u32,
        /// Data that the target will read from it; empty if it will write. Data of the queue's own commands are only
        /// here.
        data: Data,
    },
    /// Post the SEND of a command capsule; its completion is reported with [`sent`](super::Queue::sent).
    SendCapsule {
        /// The command, with its identifier.
        command: Command,
        /// In-capsule data.
        data: Data,
    },
    /// Post the local invalidation of a key; its completion is reported with
    /// [`invalidated`](super::Queue::invalidated).
    Invalidate {
        /// The key.
        key: u32,
    },
    /// Draw [random numbers](crate::logic::authentication::Random), and pass them to [`drawn`](super::Queue::drawn).
    Draw,
    /// Close the connection after everything has been sent.
    Close,
    /// Data of a command have arrived.
    Deliver {
        /// Name of the command.
        name: u64,
        /// Their offset \[B from the start of its data\].
        offset: u32,
        /// The data.
        data: Data,
    },
    /// The queue is connected.
    Connected {
        /// Its controller.
        controller: ControllerId,
    },
    /// A command has ended.
    Completed {
        /// Name of the command.
        name: u64,
        /// Its result.
        ending: Ending,
    },
    /// A command gets no response; whether it was executed is unknown.
    Unanswered {
        /// Name of the command.
        name: u64,
    },
    /// The queue has ended.
    Failed {
        /// Reason.
        why: Failure,
    },
}

/// The queue cannot send a capsule now.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the queue is full, or not connected")]
pub struct QueueFull;

/// Phase of an association.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Phase {
    /// Not connected.
    Idle,
    /// Connecting.
    Connecting,
    /// Commands can be submitted.
    Live,
    /// The association was lost; reconnection starts at this time.
    Waiting(Instant),
    /// Given up.
    Removed,
}

/// An effect that an association requests or reports.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ControllerEffect {
    /// Open a connection for this queue; answered by [`opened`](super::Controller::opened) or
    /// [`lost`](super::Controller::lost).
    Open {
        /// The queue.
        queue: SqId,
    },
    /// Drop the connection of this queue.
    Abandon {
        /// The queue.
        queue: SqId,
    },
    /// An effect of a queue.
    Queue {
        /// The queue.
        queue: SqId,
        /// The effect.
        effect: QueueEffect,
    },
    /// All queues are connected.
    Live {
        /// Number of I/O queues.
        io_queues: u16,
    },
    /// The association is lost, and will be reconnected.
    Lost {
        /// Reason.
        why: Failure,
    },
    /// The controller is given up.
    Removed {
        /// Reason.
        why: Failure,
    },
}

impl Transfer {
    /// Number of bytes transferred.
    #[must_use]
    pub fn bytes(&self) -> u32 {
        match self {
            Self::None => 0,
            Self::FromController(bytes) => *bytes,
            Self::ToController(data) => data.len(),
        }
    }
}
