//! Effects that a target requests.
//!
//! | towards | effects | answered by |
//! |---|---|---|
//! | a TCP connection | `Send` | |
//! | an RDMA connection | `Accept`, `Reject`, `SendCapsule`, `RdmaWrite`; `RdmaRead` | `read_done`, `read_failed` |
//! | any connection | `Close` | |
//! | a source of random numbers | `Draw` | `drawn` |
//! | a processor for long computations | `Raise` | `raised` |
//! | a controller | `Connect` | `connected` |
//! | | `GetProperty`, `SetProperty` | `property` |
//! | | `Submit` | requests of the controller; or `refused` |
//! | | `Bring`, `Done`, `Failed` | |
//! | | `Disconnect` | |
//!
//! Effects for one connection must be carried out in order. `RdmaWrite` and `SendCapsule` are work requests of one send
//! queue, so data arrive at the host before the response that follows them.

use super::config::{ConnectionId, SubsystemId};
use crate::logic::authentication::Power;
use crate::logic::data::Data;
use crate::logic::tcp::Stream;
use crate::spec::rdma::{AcceptPrivateData, RejectPrivateData};
use lanetwin_nvme::logic::{Capsule, Connection, ControllerChoice, PropertySize, Token};
use lanetwin_nvme::spec::{Cid, CompletionEntry, ControllerId, SqId};

/// An effect, to be carried out by the owner of the connections and controllers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Effect {
    /// Send bytes over TCP.
    Send {
        /// The connection.
        connection: ConnectionId,
        /// The bytes.
        stream: Stream,
    },
    /// Accept a connection request.
    Accept {
        /// The connection.
        connection: ConnectionId,
        /// Private data of the answer.
        private: AcceptPrivateData,
    },
    /// Reject a connection request.
    Reject {
        /// The connection.
        connection: ConnectionId,
        /// Private data of the answer.
        private: RejectPrivateData,
    },
    /// Post the SEND of a response capsule.
    SendCapsule {
        /// The connection.
        connection: ConnectionId,
        /// The response.
        entry: CompletionEntry,
        /// Key that it invalidates (SEND with Invalidate).
        invalidate: Option<u32>,
    },
    /// Post an RDMA READ of memory of the host.
    RdmaRead {
        /// The connection.
        connection: ConnectionId,
        /// Operation to answer with.
        operation: u32,
        /// Address of the bytes.
        address: u64,
        /// Key of the memory.
        key: u32,
        /// Number of bytes.
        bytes: u32,
    },
    /// Post an RDMA WRITE to memory of the host.
    RdmaWrite {
        /// The connection.
        connection: ConnectionId,
        /// Destination address.
        address: u64,
        /// Key of the memory.
        key: u32,
        /// The data.
        data: Data,
    },
    /// Close a connection after everything has been sent. The target has removed it.
    Close {
        /// The connection.
        connection: ConnectionId,
    },
    /// Draw [randomness](crate::logic::authentication::Random) for a connection that authenticates.
    Draw {
        /// The connection.
        connection: ConnectionId,
    },
    /// Compute a [power](Power) for a connection that authenticates, without delaying other connections.
    Raise {
        /// The connection.
        connection: ConnectionId,
        /// The connection.
        power: Power,
    },
    /// Create a queue of a controller; for an admin queue, set the Keep Alive Timer.
    Connect {
        /// The connection.
        connection: ConnectionId,
        /// Subsystem of the controller.
        subsystem: SubsystemId,
        /// The controller.
        choice: ControllerChoice,
        /// The queue.
        queue: Connection,
        /// The Keep Alive Timeout \[ms\]; 0 for none.
        keep_alive_ms: u32,
    },
    /// The connection of a queue has ended. For the admin queue, this ends the association.
    Disconnect {
        /// Subsystem of the controller.
        subsystem: SubsystemId,
        /// The controller.
        controller: ControllerId,
        /// The queue.
        queue: SqId,
    },
    /// Read a property.
    GetProperty {
        /// The connection.
        connection: ConnectionId,
        /// Subsystem of the controller.
        subsystem: SubsystemId,
        /// The controller.
        controller: ControllerId,
        /// The command.
        cid: Cid,
        /// Offset of the property.
        offset: u32,
        /// Size of the property.
        size: PropertySize,
    },
    /// Write a property.
    SetProperty {
        /// The connection.
        connection: ConnectionId,
        /// Subsystem of the controller.
        subsystem: SubsystemId,
        /// The controller.
        controller: ControllerId,
        /// The command.
        cid: Cid,
        /// Offset of the property.
        offset: u32,
        /// Value to write.
        value: u64,
    },
    /// Submit a command to its controller.
    Submit {
        /// The connection.
        connection: ConnectionId,
        /// Subsystem of the controller.
        subsystem: SubsystemId,
        /// The controller.
        controller: ControllerId,
        /// The queue.
        queue: SqId,
        /// The command.
        capsule: Capsule,
    },
    /// Bytes that a controller requested have arrived: `received` and `fetched` of a drive.
    Bring {
        /// Subsystem of the controller.
        subsystem: SubsystemId,
        /// Token to resume with.
        token: Token,
        /// Whether they are for the controller itself (`Fetch`) or for its medium (`Transfer`).
        for_controller: bool,
        /// The bytes.
        data: Data,
    },
    /// Data are on their way to the host, ahead of anything sent later: `transferred` and `stored` of a drive.
    Done {
        /// Subsystem of the controller.
        subsystem: SubsystemId,
        /// Token to resume with.
        token: Token,
    },
    /// A transfer that a controller requested is not possible: `failed` of a drive.
    Failed {
        /// Subsystem of the controller.
        subsystem: SubsystemId,
        /// Token to resume with.
        token: Token,
    },
}
