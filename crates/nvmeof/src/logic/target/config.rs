//! What a target is made of: subsystems, ports, referrals.

use crate::spec::discovery::{AddressFamily, DiscoveryEntry};
use crate::spec::tcp::{DigestTypes, LARGEST_ALIGNMENT, LEAST_H2C_DATA};
use lanetwin_units::id;

id! {
    /// A transport connection, by its owner's choice.
    ConnectionId(u32) => "connection";
    /// A subsystem, by its place in [`TargetConfig::subsystems`].
    SubsystemId(u16) => "subsystem";
}

/// A target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetConfig {
    /// The subsystems that it offers; the discovery subsystem is there without being named.
    pub subsystems: Vec<OfferedSubsystem>,
    /// Where it listens.
    pub ports: Vec<PortConfig>,
    /// Other discovery services that it names: entries of the log, as they stand there.
    pub referrals: Vec<DiscoveryEntry>,
}

/// A subsystem that hosts can connect to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OfferedSubsystem {
    /// Its NQN.
    pub nqn: String,
    /// The NQNs of the hosts that may; none for any.
    pub hosts: Option<Vec<String>>,
}

/// A port: an address of one transport.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortConfig {
    /// Port ID (PORTID).
    pub number: u16,
    /// How capsules and data are carried.
    pub transport: Transport,
    /// Address family.
    pub family: AddressFamily,
    /// Transport Address (TRADDR), at most 255 ASCII characters.
    pub address: String,
    /// Transport Service Identifier (TRSVCID), at most 31 ASCII characters.
    pub service: String,
    /// How much data the capsule of an I/O command may bring \[B\], a multiple of 16 (IOCCSZ × 16 - 64).
    pub capsule_data: u32,
}

/// A transport.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Transport {
    /// NVMe/TCP.
    Tcp(TcpConfig),
    /// NVMe/RDMA.
    Rdma(RdmaConfig),
}

/// NVMe/TCP, from the side of a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpConfig {
    /// The digests that are granted if a host asks for them.
    pub digests: DigestTypes,
    /// CPDA \[dwords, counted from 0\], up to 31.
    pub alignment: u8,
    /// MAXH2CDATA \[B\], at least 4096 and a multiple of 4.
    pub most_data: u32,
    /// The most that one R2T asks for \[B\]; none for all that is missing, as Linux does.
    pub r2t_bytes: Option<u32>,
    /// The last data of a read say that it has succeeded, and no response follows, where queues have no flow control.
    pub success: bool,
}

/// NVMe/RDMA, from the side of a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RdmaConfig {
    /// The largest receive queue of a queue pair \[entries\] (CRQSIZE).
    pub receive_entries: u16,
    /// Responses invalidate the key of their command if the host asks for it (SEND with Invalidate).
    pub remote_invalidate: bool,
}

impl Default for TcpConfig {
    /// As Linux `nvmet-tcp`: both digests, 4 MiB in one H2CData, one R2T for all that is missing.
    fn default() -> Self {
        Self {
            digests: DigestTypes::from_raw(3),
            alignment: 0,
            most_data: 0x0040_0000,
            r2t_bytes: None,
            success: true,
        }
    }
}

impl Default for RdmaConfig {
    /// As Linux `nvmet-rdma`: receive queues as large as hosts ask for, up to 1024; keys are invalidated.
    fn default() -> Self {
        Self { receive_entries: 1024, remote_invalidate: true }
    }
}

/// Why a target cannot be.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{field} must be {must}")]
pub struct TargetFault {
    /// What is wrong, such as `ports[0].capsule_data`.
    pub field: String,
    /// What it has to be.
    pub must: &'static str,
}

impl TargetConfig {
    /// Checks every field.
    pub(crate) fn check(&self) -> Result<(), TargetFault> {
        let must =
            |holds: bool, field: String, must| if holds { Ok(()) } else { Err(TargetFault { field, must }) };
        let few = self.subsystems.len() < usize::from(u16::MAX);
        must(few, "subsystems".into(), "fewer than 65535")?;
        for (at, subsystem) in self.subsystems.iter().enumerate() {
            let named = (1..=223).contains(&subsystem.nqn.len());
            must(named, format!("subsystems[{at}].nqn"), "1 to 223 bytes long")?;
        }
        for (at, port) in self.ports.iter().enumerate() {
            let field = |name: &str| format!("ports[{at}].{name}");
            let text = |text: &str, longest| text.len() <= longest && text.is_ascii();
            must(text(&port.address, 255), field("address"), "at most 255 ASCII characters")?;
            must(text(&port.service, 31), field("service"), "at most 31 ASCII characters")?;
            let capsule = port.capsule_data % 16 == 0 && port.capsule_data <= 1 << 20;
            must(capsule, field("capsule_data"), "a multiple of 16 up to 1 MiB")?;
            if let Transport::Tcp(tcp) = &port.transport {
                let data = tcp.most_data >= LEAST_H2C_DATA && tcp.most_data % 4 == 0;
                must(data, field("most_data"), "a multiple of 4 from 4096 on")?;
                must(tcp.alignment <= LARGEST_ALIGNMENT, field("alignment"), "at most 31")?;
                let r2t = tcp.r2t_bytes.is_none_or(|bytes| bytes > 0 && bytes % 4 == 0);
                must(r2t, field("r2t_bytes"), "a multiple of 4")?;
            }
        }
        Ok(())
    }
}
