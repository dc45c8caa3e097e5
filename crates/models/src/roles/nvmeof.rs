//! Both ends of NVMe over Fabrics by RDMA or TCP: the software of a host that connects, and that of a target.
//!
//! Connections are made before the run starts ([`lanetwin_nvmeof::logic::establish`]), and given to both.

use crate::tcp_socket::TcpSocket;
use lanetwin_nvme::spec::{ControllerId, SqId};
use lanetwin_nvmeof::logic::host::Queue;
use lanetwin_nvmeof::logic::target::{ConnectionId, SubsystemId, Target};
use lanetwin_pcie::link::EndpointId;
use lanetwin_ports::{QueuePairId, RunQueue};

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
}

/// The software of a host that connects.
pub trait FabricHost {
    /// The queues of its ports to loads, in their order. To be said before the run starts.
    fn connect(&mut self, queues: Vec<HostQueue>);
}

/// The software of a target.
pub trait FabricTarget {
    /// The target, and the connections of its ports to drivers of drives, in their order. To be said before the run
    /// starts.
    fn serve(&mut self, target: Target, queues: Vec<TargetQueue>);
}
