//! What a target wants done.
//!
//! | towards | effects | answered by |
//! |---|---|---|
//! | a TCP connection | `Send` | |
//! | an RDMA connection | `Accept`, `Reject`, `SendCapsule`, `RdmaWrite`; `RdmaRead` | `read_done`, `read_failed` |
//! | any connection | `Close` | |
//! | who has randomness | `Draw` | `drawn` |
//! | who has a processor to spare | `Raise` | `raised` |
//! | a controller | `Connect` | `connected` |
//! | | `GetProperty`, `SetProperty` | `property` |
//! | | `Submit` | what the controller asks for; or `refused` |
//! | | `Bring`, `Done`, `Failed` | |
//! | | `Disconnect` | |
//!
//! Effects for one connection are carried out in order. `RdmaWrite` and `SendCapsule` are work requests of one send
//! queue: data are at the host before the response that follows them.

use super::config::{ConnectionId, SubsystemId};
use crate::logic::authentication::Power;
use crate::logic::data::Data;
use crate::logic::tcp::Stream;
use crate::spec::rdma::{AcceptPrivateData, RejectPrivateData};
use lanetwin_nvme::logic::{Capsule, Connection, ControllerChoice, PropertySize, Token};
use lanetwin_nvme::spec::{Cid, CompletionEntry, ControllerId, SqId};

/// Something to be carried out by whoever has the connections and the controllers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Send bytes by TCP.
    Send {
        /// By which connection.
        connection: ConnectionId,
        /// The bytes.
        stream: Stream,
    },
    /// Accept a connection request.
    Accept {
        /// Which.
        connection: ConnectionId,
        /// What to answer.
        private: AcceptPrivateData,
    },
    /// Reject a connection request.
    Reject {
        /// Which.
        connection: ConnectionId,
        /// What to answer.
        private: RejectPrivateData,
    },
    /// Post the SEND of a response capsule.
    SendCapsule {
        /// By which connection.
        connection: ConnectionId,
        /// The response.
        entry: CompletionEntry,
        /// The key that it invalidates (SEND with Invalidate).
        invalidate: Option<u32>,
    },
    /// Post an RDMA READ of memory of the host.
    RdmaRead {
        /// By which connection.
        connection: ConnectionId,
        /// To answer with.
        operation: u32,
        /// Where the bytes begin.
        address: u64,
        /// The key of the memory.
        key: u32,
        /// How many.
        bytes: u32,
    },
    /// Post an RDMA WRITE to memory of the host.
    RdmaWrite {
        /// By which connection.
        connection: ConnectionId,
        /// Where the bytes go.
        address: u64,
        /// The key of the memory.
        key: u32,
        /// The data.
        data: Data,
    },
    /// Close a connection when what was to be sent is sent. The target has forgotten it.
    Close {
        /// Which.
        connection: ConnectionId,
    },
    /// Draw [randomness](crate::logic::authentication::Random) for a connection that authenticates.
    Draw {
        /// Which.
        connection: ConnectionId,
    },
    /// Compute a [power](Power) for a connection that authenticates, beside what others wait for.
    Raise {
        /// For which.
        connection: ConnectionId,
        /// Which.
        power: Power,
    },
    /// Make a queue of a controller, and if it is an admin queue set its Keep Alive Timer.
    Connect {
        /// For which connection.
        connection: ConnectionId,
        /// Whose controller.
        subsystem: SubsystemId,
        /// Which controller.
        choice: ControllerChoice,
        /// The queue.
        queue: Connection,
        /// The Keep Alive Timeout \[ms\]; 0 for none.
        keep_alive_ms: u32,
    },
    /// The connection of a queue is gone. That of the admin queue is the end of the association.
    Disconnect {
        /// Whose controller.
        subsystem: SubsystemId,
        /// Which controller.
        controller: ControllerId,
        /// Which queue.
        queue: SqId,
    },
    /// Read a property.
    GetProperty {
        /// For which connection.
        connection: ConnectionId,
        /// Whose controller.
        subsystem: SubsystemId,
        /// Which controller.
        controller: ControllerId,
        /// For which command.
        cid: Cid,
        /// Which property.
        offset: u32,
        /// How long it is.
        size: PropertySize,
    },
    /// Write a property.
    SetProperty {
        /// For which connection.
        connection: ConnectionId,
        /// Whose controller.
        subsystem: SubsystemId,
        /// Which controller.
        controller: ControllerId,
        /// For which command.
        cid: Cid,
        /// Which property.
        offset: u32,
        /// What.
        value: u64,
    },
    /// Hand a command to its controller.
    Submit {
        /// From which connection.
        connection: ConnectionId,
        /// Whose controller.
        subsystem: SubsystemId,
        /// Which controller.
        controller: ControllerId,
        /// Which queue.
        queue: SqId,
        /// The command.
        capsule: Capsule,
    },
    /// Bytes that a controller asked for have come: `received` and `fetched` of a drive.
    Bring {
        /// Whose.
        subsystem: SubsystemId,
        /// To resume with.
        token: Token,
        /// Whether the controller reads them itself (`Fetch`), or its medium takes them (`Transfer`).
        for_controller: bool,
        /// The bytes.
        data: Data,
    },
    /// Data are on their way to the host, ahead of whatever follows: `transferred` and `stored` of a drive.
    Done {
        /// Whose.
        subsystem: SubsystemId,
        /// To resume with.
        token: Token,
    },
    /// What a controller asked for cannot be: `failed` of a drive.
    Failed {
        /// Whose.
        subsystem: SubsystemId,
        /// To resume with.
        token: Token,
    },
}
