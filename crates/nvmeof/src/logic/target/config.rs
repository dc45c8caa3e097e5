//! Configuration of a target: subsystems, ports, referrals.

use crate::spec::discovery::{AddressFamily, DiscoveryEntry};
use crate::spec::tcp::{DigestTypes, LARGEST_ALIGNMENT, LEAST_H2C_DATA};
use lanetwin_units::id;

id! {
    /// A transport connection; the number is chosen by its owner.
    ConnectionId(u32) => "connection";
    /// A subsystem, by its index in [`TargetConfig::subsystems`].
    SubsystemId(u16) => "subsystem";
}

/// A target.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TargetConfig {
    /// The subsystems that it offers; the discovery subsystem is always included.
    pub subsystems: Vec<OfferedSubsystem>,
    /// Ports at which it listens.
    pub ports: Vec<PortConfig>,
    /// Referrals to other discovery services, as entries of the log.
    pub referrals: Vec<DiscoveryEntry>,
}

/// A subsystem that hosts can connect to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OfferedSubsystem {
    /// NQN of the subsystem.
    pub nqn: String,
    /// NQNs of the hosts that may connect; `None` for any.
    pub hosts: Option<Vec<String>>,
}

/// A port: an address of one transport.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PortConfig {
    /// Port ID (PORTID).
    pub number: u16,
    /// Transport of capsules and data.
    pub transport: Transport,
    /// Address family.
    pub family: AddressFamily,
    /// Transport Address (TRADDR), at most 255 ASCII characters.
    pub address: String,
    /// Transport Service Identifier (TRSVCID), at most 31 ASCII characters.
    pub service: String,
    /// Maximum in-capsule data of an I/O command \[B\], a multiple of 16 (IOCCSZ × 16 - 64).
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

/// NVMe/TCP parameters of a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpConfig {
    /// Digests that are granted if a host requests them.
    pub digests: DigestTypes,
    /// CPDA \[dwords, counted from 0\], up to 31.
    pub alignment: u8,
    /// MAXH2CDATA \[B\], at least 4096 and a multiple of 4.
    pub most_data: u32,
    /// Maximum length of one R2T \[B\]; `None` for all missing data, as Linux does.
    pub r2t_bytes: Option<u32>,
    /// Whether the last data of a read set SUCCESS and replace the response, on queues without flow control.
    pub success: bool,
}

/// NVMe/RDMA parameters of a controller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RdmaConfig {
    /// Maximum receive queue of a queue pair \[entries\] (CRQSIZE).
    pub receive_entries: u16,
    /// Whether responses invalidate the key of their command if the host requests it (SEND with Invalidate).
    pub remote_invalidate: bool,
}

impl Default for TcpConfig {
    /// As Linux `nvmet-tcp`: both digests, 4 MiB in one H2CData, one R2T for all missing data.
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
    /// As Linux `nvmet-rdma`: receive queues as large as hosts request, up to 1024; keys are invalidated.
    fn default() -> Self {
        Self { receive_entries: 1024, remote_invalidate: true }
    }
}

/// A field of a target configuration that is out of its range.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{field} must be {must}")]
pub struct TargetFault {
    /// The field, such as `ports[0].capsule_data`.
    pub field: String,
    /// Its permitted values.
    pub must: &'static str,
}

impl TargetConfig {
    /// Checks all fields.
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
