//! Queues that a front creates: it submits commands and receives completions, and neither is in host memory.
//!
//! ```text
//!   Connect capsule ──► connect(Connection)          a queue of so many entries, on a controller (CNTLID)
//!   command capsule ──► submit(queue, command, …)    waits for the arbiter like the entry of any queue
//!   response        ◄── HostEffect::Respond          with the completion queue entry, SQHD in it
//!   connection lost ──► disconnect(queue)            nothing of the queue is answered any more
//! ```
//!
//! A fabric target connects an admin queue before the controller is enabled (CC.EN, by [`set_property`]), and I/O
//! queues when it is ready (NVMe-oF 1.1 §3.3). A door inside one machine submits commands in the same way and may have
//! its data in host memory.
//!
//! [`set_property`]: super::Subsystem::set_property

use crate::spec::{Command, ControllerId, SqId};
use core::fmt;

/// Location of the data of a queue's commands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataLocation {
    /// By address: PRP entries, and SGLs whose descriptors hold addresses of host memory.
    Memory,
    /// By message: bytes of the command's capsule, or buffers that the transport knows (TCP, Fibre Channel).
    Messages,
    /// By key: bytes of the command's capsule, or memory of the host behind a key (RDMA).
    Keys,
}

/// A queue pair that a front creates.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Connection {
    /// Number of both queues of the pair.
    pub queue: SqId,
    /// Size \[entries\], at least 2 (SQSIZE + 1).
    pub entries: u32,
    /// Location of the data of its commands.
    pub data_location: DataLocation,
    /// Whether completions report the head of the submission queue (SQHD); otherwise the field is 0.
    pub flow_control: bool,
    /// Port of the subsystem, from 0; an admin queue gets a controller of this port.
    pub port: u16,
}

/// Controller of a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ControllerChoice {
    /// Any unused controller (CNTLID FFFFh, the dynamic controller model).
    Any,
    /// This controller.
    One(ControllerId),
}

/// A command that a front submits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capsule {
    /// The submission queue entry.
    pub command: Command,
    /// Length of its in-capsule data \[B\].
    pub data_bytes: u32,
}

/// Reason for refusing a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectFault {
    /// There is no such controller.
    UnknownController,
    /// All controllers that match the choice are in use.
    Busy,
    /// An I/O queue requires a ready controller, the admin queue one that is not enabled.
    NotReady,
    /// The number exceeds the I/O queues of the controller, or its queue exists.
    Queue,
    /// The size is less than 2 or exceeds CAP.MQES.
    Size,
}

impl fmt::Display for ConnectFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownController => "there is no such controller",
            Self::Busy => "the controller is in use",
            Self::NotReady => "the controller is not ready for this queue",
            Self::Queue => "there can be no such queue, or it exists",
            Self::Size => "the queue has too few or too many entries",
        })
    }
}
impl core::error::Error for ConnectFault {}

/// Reason for refusing a command, which then has no effect and gets no completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// The queue does not exist, or has been disconnected.
    NoQueue,
    /// The controller is not ready: a fabric answers Command Sequence Error.
    NotReady,
    /// The queue is full of waiting commands: the host violates flow control.
    Full,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoQueue => "there is no such queue",
            Self::NotReady => "the controller is not ready",
            Self::Full => "the queue is full",
        })
    }
}
impl core::error::Error for Refused {}

/// Size of a property (Base 2.0 §3.1.3, NVMe-oF 1.1 §3.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PropertySize {
    /// 4 B.
    Four,
    /// 8 B.
    Eight,
}
