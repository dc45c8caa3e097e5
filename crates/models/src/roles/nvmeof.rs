//! Both ends of NVMe over Fabrics by RDMA or TCP: the software of a host that connects, and that of a target.
//!
//! Connections are made before the run starts ([`lanetwin_nvmeof::logic::establish`]), and given to both. One that is
//! lost and made again takes the place of what it was: its ends [meet](Meeting).

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
    /// What doorbells and signals of it say.
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

/// From when on namespaces of a subsystem are reached otherwise by the port of a target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AccessChange {
    /// When.
    pub at: Instant,
    /// Whose namespaces.
    pub subsystem: SubsystemId,
    /// How.
    pub access: Access,
}

/// Where the ends of a connection meet that is made again. Clones are the same.
///
/// It is what the private data of a connection request and the data of Connect say, which cross the network as messages
/// of their length.
#[derive(Clone, Default)]
pub struct Meeting(Rc<RefCell<Option<Offer>>>);

/// A connection that a host asks for.
pub(crate) struct Offer {
    /// What signals of the target's end say.
    pub(crate) handle: u32,
    /// The target's end, until that takes it.
    pub(crate) way: Option<Way>,
    /// The host's queue: connected as soon as the target has answered.
    pub(crate) queue: Queue,
}

impl Meeting {
    /// A host asks for a connection, in the place of any that it asked for before.
    pub(crate) fn offer(&self, offer: Option<Offer>) {
        *self.0.borrow_mut() = offer;
    }
    /// Whether a connection with this handle at the target is asked for.
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
    /// When.
    pub at: Instant,
    /// Its queues, all of one association, by the places of their loads.
    pub queues: Vec<usize>,
    /// Whether what they were asked is answered first.
    pub managed: bool,
    /// When it connects again; never if none. To be said of associations that are one of several paths.
    pub back: Option<Instant>,
}

/// A queue of a host that is connected.
pub struct HostQueue {
    /// Its state.
    pub queue: Queue,
    /// Its end of the connection.
    pub way: Way,
    /// The namespace that is asked over it.
    pub nsid: u32,
    /// The size of its logical blocks \[B\].
    pub block: u32,
    /// The core that its software runs on.
    pub core: RunQueue,
    /// The association that it belongs to, if that is one of several paths.
    pub path: Option<u32>,
    /// Where it is made again.
    pub meeting: Meeting,
    /// Where the host's connection manager says that it ends; none by TCP, or if it does not end on purpose.
    pub manager: Option<QueuePairId>,
}

/// A connection at a target.
pub struct TargetQueue {
    /// Which of the target's connections it is.
    pub connection: ConnectionId,
    /// The subsystem.
    pub subsystem: SubsystemId,
    /// The controller of it that the queue belongs to.
    pub controller: ControllerId,
    /// The number of the queue.
    pub number: SqId,
    /// Its end of the connection.
    pub way: Way,
    /// How many entries its queue has.
    pub entries: u32,
    /// The size of the logical blocks of its namespace \[B\].
    pub block: u32,
    /// The core that its software runs on.
    pub core: RunQueue,
    /// The drive in whose memory data lie that do not come in capsules; none if they lie in the host's.
    pub staging: Option<EndpointId>,
    /// How its controller reaches namespaces at first.
    pub access: Access,
    /// How many the subsystem has.
    pub namespaces: u32,
    /// Where it is made again.
    pub meeting: Meeting,
    /// Where the target's connection manager is told that it ends.
    pub manager: Option<QueuePairId>,
}

/// The software of a host that connects.
pub trait FabricHost {
    /// The queues of its ports to loads, in their order. To be said before the run starts.
    fn connect(&mut self, queues: Vec<HostQueue>);
    /// When it leaves on purpose. To be said before the run starts, behind [`FabricHost::connect`].
    fn leave(&mut self, leaves: Vec<Leave>);
}

/// The software of a target.
pub trait FabricTarget {
    /// The target, and the connections of its ports to drivers of drives, in their order. To be said before the run
    /// starts.
    fn serve(&mut self, target: Target, queues: Vec<TargetQueue>);
    /// From when on namespaces are reached otherwise, in the order of time. To be said before the run starts.
    fn change_access(&mut self, changes: Vec<AccessChange>);
}
