//! Roles of both ends of NVMe over Fabrics over RDMA or TCP: the software of a connecting host, and that of a target.
//!
//! Connections are made before the run starts ([`lanetwin_nvmeof::logic::establish`]) and given to both ends. A
//! reconnected connection replaces the lost one: its ends [meet](Meeting).

pub use crate::fabric_control::Access;
use crate::tcp_socket::TcpSocket;
use lanetwin_nvme::spec::{ControllerId, SqId};
use lanetwin_nvmeof::logic::host::Queue;
use lanetwin_nvmeof::logic::target::{ConnectionId, SubsystemId, Target};
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{QueuePairId, RunQueue};
use lanetwin_units::Instant;
use std::cell::RefCell;
use std::rc::Rc;

/// An end of a connection.
pub enum Way {
    /// By RDMA.
    Rdma(QueuePairId),
    /// By TCP.
    Tcp(Box<TcpSocket>),
}

impl Way {
    /// Its handle in doorbells and signals.
    pub(crate) fn handle(&self) -> u32 {
        match self {
            Self::Rdma(pair) => pair.0.into(),
            Self::Tcp(socket) => socket.handle(),
        }
    }
    /// The socket; none by RDMA.
    pub(crate) fn socket(&self) -> Option<&TcpSocket> {
        if let Self::Tcp(socket) = self { Some(socket) } else { None }
    }
}

/// A change of the ANA state of a subsystem's namespaces behind the port of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessChange {
    /// Time.
    pub at: Instant,
    /// Whose namespaces.
    pub subsystem: SubsystemId,
    /// New state.
    pub access: Access,
}

/// Where the ends of a reconnected connection meet. Clones are equivalent.
///
/// Stands for the private data of a connection request and the data of Connect, which cross the network as messages
/// of their length.
#[derive(Clone, Default)]
pub struct Meeting(Rc<RefCell<Option<Offer>>>);

/// A connection requested by a host.
pub(crate) struct Offer {
    /// Handle of the target's end in signals.
    pub(crate) handle: u32,
    /// The target's end, until that takes it.
    pub(crate) way: Option<Way>,
    /// The host's queue: connected as soon as the target has answered.
    pub(crate) queue: Queue,
}

impl Meeting {
    /// Requests a connection, replacing an earlier request.
    pub(crate) fn offer(&self, offer: Option<Offer>) {
        *self.0.borrow_mut() = offer;
    }
    /// Whether a connection with this handle at the target is requested.
    pub(crate) fn is_of(&self, handle: u32) -> bool {
        self.0.borrow().as_ref().is_some_and(|offer| offer.handle == handle)
    }
    /// The target takes its end.
    pub(crate) fn take_way(&self) -> Option<Way> {
        self.0.borrow_mut().as_mut()?.way.take()
    }
    /// The target connects the queue of the host.
    pub(crate) fn connect(&self, act: impl FnOnce(&mut Queue)) {
        if let Some(offer) = self.0.borrow_mut().as_mut() {
            act(&mut offer.queue);
        }
    }
    /// The host takes its queue.
    pub(crate) fn take_queue(&self) -> Option<Queue> {
        Some(self.0.borrow_mut().take()?.queue)
    }
}

/// A host leaves on purpose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Leave {
    /// Time.
    pub at: Instant,
    /// Its queues, all of one association, by the places of their loads.
    pub queues: Vec<usize>,
    /// Whether requests in flight are answered first.
    pub managed: bool,
    /// When it connects again; `None` for never. Only for associations that are one of several paths.
    pub back: Option<Instant>,
}

/// A queue of a host that is connected.
pub struct HostQueue {
    /// Its state.
    pub queue: Queue,
    /// Its end of the connection.
    pub way: Way,
    /// Namespace of its commands.
    pub nsid: u32,
    /// The size of its logical blocks \[B\].
    pub block: u32,
    /// The core that its software runs on.
    pub core: RunQueue,
    /// The association that it belongs to, if that is one of several paths.
    pub path: Option<u32>,
    /// Where its ends meet for a reconnection.
    pub meeting: Meeting,
    /// Queue pair of the host's connection manager; `None` over TCP, or if it is not ended on purpose.
    pub manager: Option<QueuePairId>,
}

/// A connection at a target.
pub struct TargetQueue {
    /// Identifier among the target's connections.
    pub connection: ConnectionId,
    /// The subsystem.
    pub subsystem: SubsystemId,
    /// The controller of it that the queue belongs to.
    pub controller: ControllerId,
    /// The number of the queue.
    pub number: SqId,
    /// Its end of the connection.
    pub way: Way,
    /// Number of entries of its queue.
    pub entries: u32,
    /// The size of the logical blocks of its namespace \[B\].
    pub block: u32,
    /// The core that its software runs on.
    pub core: RunQueue,
    /// The drive in whose memory data are staged that do not come in capsules; `None` if they are staged in host
    /// memory.
    pub staging: Option<EndpointId>,
    /// Initial ANA state of its controller.
    pub access: Access,
    /// Number of namespaces of the subsystem.
    pub namespaces: u32,
    /// Where its ends meet for a reconnection.
    pub meeting: Meeting,
    /// Queue pair of the target's connection manager.
    pub manager: Option<QueuePairId>,
}

/// The software of a host that connects.
pub trait FabricHost {
    /// Sets the queues of its ports to loads, in order. Must be called before the run starts.
    fn connect(&mut self, queues: Vec<HostQueue>);
    /// Sets its departures. Must be called before the run starts, after [`FabricHost::connect`].
    fn leave(&mut self, leaves: Vec<Leave>);
}

/// The software of a target.
pub trait FabricTarget {
    /// Sets the target, and the connections of its ports to drivers of drives, in order. Must be called before the
    /// run starts.
    fn serve(&mut self, target: Target, queues: Vec<TargetQueue>);
    /// Sets changes of the ANA state, in the order of time. Must be called before the run starts.
    fn change_access(&mut self, changes: Vec<AccessChange>);
}
