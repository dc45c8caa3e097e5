//! What connections and associations are made of.

use crate::logic::authentication::Keys;
use crate::spec::tcp::DigestTypes;
use lanetwin_nvme::spec::SqId;
use lanetwin_units::Span;

/// Who a host is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostName {
    /// Host NQN (HOSTNQN).
    pub nqn: String,
    /// Host Identifier (HOSTID).
    pub id: [u8; 16],
}

/// NVMe/TCP, from the side of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpHost {
    /// The digests that are asked for.
    pub digests: DigestTypes,
    /// HPDA \[dwords, counted from 0\].
    pub alignment: u8,
    /// MAXR2T, counted from 0.
    pub r2ts_less_1: u32,
}

/// NVMe/RDMA, from the side of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RdmaHost {
    /// The target is asked to invalidate the key of a command with its response.
    pub remote_invalidate: bool,
}

/// A transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HostTransport {
    /// NVMe/TCP.
    Tcp(TcpHost),
    /// NVMe/RDMA.
    Rdma(RdmaHost),
}

/// A connection to a queue.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct QueueConfig {
    /// The queue; 0 is the admin queue.
    pub number: SqId,
    /// Its size \[entries\], 2 to 65536 (SQSIZE + 1).
    pub entries: u32,
    /// SQ flow control is used; else the host asks that it is off.
    pub flow_control: bool,
    /// Who connects.
    pub host: HostName,
    /// To which subsystem: its NQN.
    pub subsystem: String,
    /// To which controller (CNTLID); FFFFh for any.
    pub controller: u16,
    /// Keep Alive Timeout \[ms\]; 0 for none.
    pub keep_alive_ms: u32,
    /// How.
    pub transport: HostTransport,
    /// Where the host has the data of Connect, which RDMA needs to know.
    pub buffer: u64,
    /// How much data the capsule of a command may bring \[B\] (IOCCSZ × 16 - 64); the admin queue of TCP takes 8 KiB
    /// whatever is said here.
    pub capsule_data: u32,
}

/// An association to a controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControllerConfig {
    /// Who connects.
    pub host: HostName,
    /// To which subsystem: its NQN.
    pub subsystem: String,
    /// How.
    pub transport: HostTransport,
    /// The size of the admin queue \[entries\].
    pub admin_entries: u32,
    /// How many I/O queues are asked for; none of a discovery controller.
    pub io_queues: u16,
    /// The size of each \[entries\]; CAP.MQES may be less.
    pub io_entries: u32,
    /// SQ flow control is used.
    pub flow_control: bool,
    /// Keep Alive Timeout \[ms\]; 0 for none. A Keep Alive goes each half of it.
    pub keep_alive_ms: u32,
    /// From the loss of the association to the next attempt.
    pub reconnect_delay: Span,
    /// How long it is tried again before the controller is given up; none for ever.
    pub controller_loss: Option<Span>,
    /// How often CSTS.RDY is looked at.
    pub poll: Span,
    /// Where the host has 4 KiB for the data of Connect and of Identify, which RDMA needs to know.
    pub buffer: u64,
    /// With what it proves who it is, by TCP; with a secret of the subsystem it has that prove itself, too.
    pub keys: Option<Keys>,
}

impl ControllerConfig {
    /// As Linux connects by default: admin queue of 32, queues of 128 without a flow control that is not there, 5 s of
    /// Keep Alive, 10 s between attempts, 600 s until it is given up (`drivers/nvme/host/fabrics.h`).
    #[must_use]
    pub fn new(host: HostName, subsystem: &str, transport: HostTransport) -> Self {
        Self {
            host,
            subsystem: subsystem.to_owned(),
            transport,
            admin_entries: 32,
            io_queues: 1,
            io_entries: 128,
            flow_control: true,
            keep_alive_ms: 5000,
            reconnect_delay: Span::from_us(10_000_000),
            controller_loss: Some(Span::from_us(600_000_000)),
            poll: Span::from_us(1000),
            buffer: 0,
            keys: None,
        }
    }
}
