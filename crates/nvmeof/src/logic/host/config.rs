//! Configuration of connections and associations.

use crate::logic::authentication::Keys;
use crate::spec::tcp::DigestTypes;
use lanetwin_nvme::spec::SqId;
use lanetwin_units::Span;

/// Identity of a host.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HostName {
    /// Host NQN (HOSTNQN).
    pub nqn: String,
    /// Host Identifier (HOSTID).
    pub id: [u8; 16],
}

/// NVMe/TCP parameters of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct TcpHost {
    /// Digests that the host requests.
    pub digests: DigestTypes,
    /// HPDA \[dwords, counted from 0\].
    pub alignment: u8,
    /// MAXR2T, counted from 0.
    pub r2ts_less_1: u32,
}

/// NVMe/RDMA parameters of a host.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RdmaHost {
    /// Whether the target is requested to invalidate the key of a command with its response.
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
    /// Whether SQ flow control is used; if not, the host requests to disable it.
    pub flow_control: bool,
    /// The host.
    pub host: HostName,
    /// NQN of the subsystem.
    pub subsystem: String,
    /// The controller (CNTLID); FFFFh for any.
    pub controller: u16,
    /// Keep Alive Timeout \[ms\]; 0 for none.
    pub keep_alive_ms: u32,
    /// The transport.
    pub transport: HostTransport,
    /// Address of the data of Connect in host memory, for RDMA.
    pub buffer: u64,
    /// Maximum in-capsule data of a command \[B\] (IOCCSZ × 16 - 64); the admin queue of TCP always takes 8 KiB.
    pub capsule_data: u32,
}

/// An association to a controller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ControllerConfig {
    /// The host.
    pub host: HostName,
    /// NQN of the subsystem.
    pub subsystem: String,
    /// The transport.
    pub transport: HostTransport,
    /// The size of the admin queue \[entries\].
    pub admin_entries: u32,
    /// Number of I/O queues requested; 0 for a discovery controller.
    pub io_queues: u16,
    /// The size of each \[entries\]; CAP.MQES may be less.
    pub io_entries: u32,
    /// Whether SQ flow control is used.
    pub flow_control: bool,
    /// Keep Alive Timeout \[ms\]; 0 for none. A Keep Alive is sent after each half of it.
    pub keep_alive_ms: u32,
    /// Time from the loss of the association to the next attempt.
    pub reconnect_delay: Span,
    /// Time of reconnection attempts before the controller is given up; `None` for no limit.
    pub controller_loss: Option<Span>,
    /// Polling interval of CSTS.RDY.
    pub poll: Span,
    /// Address of 4 KiB of host memory for the data of Connect and of Identify, for RDMA.
    pub buffer: u64,
    /// Secrets for authentication over TCP; with a secret of the subsystem, the host requires that to authenticate too.
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
