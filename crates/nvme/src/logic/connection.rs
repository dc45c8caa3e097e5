//! Queues that a front makes: commands are handed in, completions are handed out, and no memory of a host holds either.
//!
//! ```text
//!   Connect capsule ──► connect(Connection)          a queue of so many entries, on a controller (CNTLID)
//!   command capsule ──► submit(queue, command, …)    waits for the arbiter like the entry of any queue
//!   response        ◄── HostEffect::Respond          with the completion queue entry, SQHD in it
//!   connection lost ──► disconnect(queue)            nothing of the queue is answered any more
//! ```
//!
//! A fabric target connects an admin queue before the controller is enabled (CC.EN, by [`set_property`]), and I/O
//! queues when it is ready (NVMe-oF 1.1 §3.3). A door inside one machine hands commands in the same way and may have
//! its data in host memory.
//!
//! [`set_property`]: super::Subsystem::set_property

use crate::spec::{Command, ControllerId, SqId};
use core::fmt;

/// How the data of a queue's commands are found.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DataLocation {
    /// By address: PRP entries, and SGLs whose descriptors hold addresses of host memory.
    Memory,
    /// By message: bytes of the command's capsule, or buffers that the transport knows (TCP, Fibre Channel).
    Messages,
    /// By key: bytes of the command's capsule, or memory of the host behind a key (RDMA).
    Keys,
}

/// A queue pair that a front makes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Connection {
    /// Its number; both queues of the pair have it.
    pub queue: SqId,
    /// Its size \[entries\], at least 2 (SQSIZE + 1).
    pub entries: u32,
    /// How the data of its commands are found.
    pub data_location: DataLocation,
    /// Completions tell the host how far its queue is consumed (SQHD); without that the field is 0.
    pub flow_control: bool,
    /// The port of the subsystem by which it comes, from 0; the controller of an admin queue is one of this port.
    pub port: u16,
}

/// Which controller a connection is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ControllerChoice {
    /// Any that nobody uses (CNTLID FFFFh, the dynamic controller model).
    Any,
    /// This one.
    One(ControllerId),
}

/// A command that is handed in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Capsule {
    /// The submission queue entry.
    pub command: Command,
    /// How many bytes of data came with it \[B\].
    pub data_bytes: u32,
}

/// Why a connection is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ConnectFault {
    /// There is no such controller.
    UnknownController,
    /// Every controller that is asked for is in use.
    Busy,
    /// I/O queues are made when the controller is ready, the admin queue before it is enabled.
    NotReady,
    /// The number is beyond the I/O queues of the controller, or its queue exists.
    Queue,
    /// The size is not between 2 and what CAP.MQES allows.
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

/// Why a command is not taken. It has had no effect and gets no completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refused {
    /// Nobody made this queue, or it was disconnected.
    NoQueue,
    /// The controller is not ready: a fabric answers Command Sequence Error.
    NotReady,
    /// As many commands wait as the queue has entries: the host does not keep to its flow control.
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

/// How long a property is (Base 2.0 §3.1.3, NVMe-oF 1.1 §3.5).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PropertySize {
    /// 4 B.
    Four,
    /// 8 B.
    Eight,
}
