//! The exported subsystem: a namespace for each drive and a number of controllers, behind one or several ports.

use crate::drive::{Drive, Facts};
use lanetwin_nvme::logic::{ControllerConfig, LbaFormat, NamespaceConfig, SubsystemConfig};
use lanetwin_nvme::spec::{ControllerId, Nsid};
use lanetwin_nvmeof::logic::target::{OfferedSubsystem, PortConfig, TargetConfig, TcpConfig, Transport};
use lanetwin_nvmeof::spec::discovery::{
    AddressFamily, DISCOVERY_NQN, DYNAMIC_CONTROLLER, DiscoveryEntry, SubsystemType, TransportType,
};
use lanetwin_nvmeof::spec::fabrics::name_field;
use std::net::SocketAddr;

/// Maximum number of connected hosts.
pub const CONTROLLERS: u16 = 32;
/// Maximum number of I/O queues per host.
const IO_QUEUES: u16 = 64;
/// MDTS: 2^7 pages of 4 KiB, 512 KiB. Linux splits larger requests.
const TRANSFER_LOG2: u8 = 7;
/// MAXH2CDATA \[B\]: bounds the memory that an incomplete data unit of a connection can occupy.
const MOST_DATA: u32 = 128 << 10;
/// In-capsule data of an I/O command \[B\]. As Linux `nvmet-tcp`: four pages.
const CAPSULE_DATA: u32 = 16 << 10;

/// The admin queue of another discovery service, of which nothing is known \[entries\]: that of Linux.
const ADMIN_ENTRIES: u16 = 32;

/// The exported subsystem and its addresses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The NQN of the subsystem.
    pub nqn: String,
    /// The names of the drives, for the serial number.
    pub name: String,
    /// Properties of each drive; the first is namespace 1.
    pub facts: Vec<Facts>,
    /// Addresses for hosts, at least one: ports 1, 2, … of the target.
    pub addresses: Vec<SocketAddr>,
}

impl Offer {
    /// A drive, and those beside it, at these addresses, by the NQN that follows from their names.
    #[must_use]
    pub fn of(drive: &Drive, addresses: Vec<SocketAddr>) -> Self {
        let names: Vec<&str> = drive.pairs().map(|pair| pair.device.as_str()).collect();
        let name = names.join("-");
        Self {
            nqn: format!("nqn.2026-01.org.lanetwin:{}", legal(&name)),
            name,
            facts: drive.all_facts(),
            addresses,
        }
    }
    /// The subsystem: controllers 1 to [`CONTROLLERS`], and the drives as namespaces from 1 on of all of them.
    #[must_use]
    pub fn subsystem(&self) -> SubsystemConfig {
        let controllers: Vec<ControllerConfig> = (1..=CONTROLLERS).map(controller).collect();
        let namespace = |(number, facts): (u32, &Facts)| NamespaceConfig {
            nsid: Nsid(number),
            bytes: facts.bytes,
            formats: vec![LbaFormat { data_size_log2: facts.block.trailing_zeros() as u8 }],
            format: 0,
            attached: controllers.iter().map(|of| of.id).collect(),
            zero_after_deallocate: true,
        };
        let namespaces = (1..).zip(&self.facts).map(namespace).collect();
        SubsystemConfig {
            nqn: self.nqn.clone(),
            serial: self.serial(),
            model: "lanetwin emulated drive".into(),
            firmware: env!("CARGO_PKG_VERSION").chars().take(8).collect(),
            vendor: 0,
            namespaces,
            controllers,
            volatile_write_cache: self.facts.iter().any(|facts| facts.is_volatile),
            atomic_write_blocks: self.facts.iter().map(|of| of.atomic / of.block).min().unwrap_or(1).max(1),
            access_ports: self.addresses.len() as u16,
        }
    }
    /// The name, and the first port: a host that is connected to drives of one name that two servers have must not take
    /// them for two paths to one.
    fn serial(&self) -> String {
        let name: String = legal(&self.name).chars().take(14).collect();
        format!("{name}-{}", self.addresses.first().map_or(0, SocketAddr::port))
    }
    /// The target: its ports, any host.
    #[must_use]
    pub fn target(&self) -> TargetConfig {
        TargetConfig {
            subsystems: vec![OfferedSubsystem { nqn: self.nqn.clone(), hosts: None }],
            ports: (1..).zip(&self.addresses).map(port).collect(),
            referrals: Vec::new(),
        }
    }
}

fn port((number, address): (u16, &SocketAddr)) -> PortConfig {
    PortConfig {
        number,
        transport: Transport::Tcp(TcpConfig { most_data: MOST_DATA, ..TcpConfig::default() }),
        family: if address.is_ipv6() { AddressFamily::IPV6 } else { AddressFamily::IPV4 },
        address: address.ip().to_string(),
        service: address.port().to_string(),
        capsule_data: CAPSULE_DATA,
    }
}

/// An entry of the discovery log that names another discovery service, which is reached by TCP.
#[must_use]
pub fn referral(to: SocketAddr) -> DiscoveryEntry {
    let mut entry = DiscoveryEntry::ZERO;
    entry.set_transport(TransportType::TCP);
    entry.set_family(if to.is_ipv6() { AddressFamily::IPV6 } else { AddressFamily::IPV4 });
    entry.set_subsystem_type(SubsystemType::REFERRAL);
    entry.set_controller(DYNAMIC_CONTROLLER);
    entry.set_admin_entries(ADMIN_ENTRIES);
    let mut service = [b' '; 32];
    let port = to.port().to_string();
    service[..port.len()].copy_from_slice(port.as_bytes());
    entry.set_service(service);
    entry.set_subsystem(name_field(DISCOVERY_NQN));
    entry.set_address(name_field(&to.ip().to_string()));
    entry
}

fn controller(id: u16) -> ControllerConfig {
    ControllerConfig {
        io_queues: IO_QUEUES,
        transfer_log2: TRANSFER_LOG2,
        vectors: IO_QUEUES + 1,
        weighted_round_robin: false,
        doorbell_buffers: false,
        ..ControllerConfig::new(ControllerId(id))
    }
}

/// A name with nothing in it that a qualified name, or a serial number, must not have.
fn legal(name: &str) -> String {
    let fits = |c: char| if c.is_ascii_alphanumeric() || c == '-' || c == '.' { c } else { '-' };
    name.chars().map(fits).take(64).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_nvme::logic::Subsystem;
    use lanetwin_nvmeof::logic::target::Target;

    #[test]
    fn whatever_a_drive_is_called_it_can_be_offered() {
        for (name, block) in [("ssd", 512), ("b.ssd[0] é", 4096), (&"x".repeat(300), 512)] {
            let facts = Facts { bytes: 1 << 30, block, is_volatile: true, buffer: 0, atomic: block };
            let address = "127.0.0.1:4420".parse().expect("an address");
            let nqn = format!("nqn.2026-01.org.lanetwin:{}", legal(name));
            let offer = Offer { nqn, name: name.into(), facts: vec![facts], addresses: vec![address; 2] };
            assert!(Subsystem::new(&offer.subsystem()).is_ok() && Target::new(offer.target()).is_ok());
        }
    }
}
