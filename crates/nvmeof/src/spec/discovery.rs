//! The discovery log: subsystems and the ports through which they are reached (NVMe-oF 1.1 §5.3; Base 2.0, Discovery
//! Log Page).

use lanetwin_nvme::spec::log::LogPage;
use lanetwin_wire::{open_enum, structure, wire};

/// The NQN of every discovery subsystem (NVMe-oF 1.1 §5.1).
pub const DISCOVERY_NQN: &str = "nqn.2014-08.org.nvmexpress.discovery";
/// Log Page Identifier of the discovery log.
pub const DISCOVERY_LOG: LogPage = LogPage(0x70);
/// Information of the notice that the discovery log has changed (Base 2.0 §5.2.1).
pub const DISCOVERY_CHANGED: u8 = 0xf0;
/// Bit of Asynchronous Event Configuration, and of OAES, for Discovery Log Page Change.
pub const DISCOVERY_CHANGE_BIT: u32 = 31;
/// The size of the header, and of each entry \[B\].
pub const RECORD_BYTES: usize = 1024;
/// CNTLID of an entry: any controller, in the dynamic controller model (NVMe-oF 1.1 §5.3).
pub const DYNAMIC_CONTROLLER: u16 = 0xffff;

open_enum! {
    /// Transport Type (TRTYPE).
    pub struct TransportType(u8) {
        /// RDMA.
        RDMA = 1;
        /// Fibre Channel.
        FIBRE_CHANNEL = 2;
        /// TCP.
        TCP = 3;
        /// Intra-host (loopback).
        INTRA_HOST = 254;
    }

    /// Address Family (ADRFAM).
    pub struct AddressFamily(u8) {
        /// IPv4.
        IPV4 = 1;
        /// IPv6.
        IPV6 = 2;
        /// InfiniBand.
        INFINIBAND = 3;
        /// Fibre Channel.
        FIBRE_CHANNEL = 4;
        /// Intra-host (loopback).
        INTRA_HOST = 254;
    }

    /// Subsystem Type (SUBTYPE).
    pub struct SubsystemType(u8) {
        /// A referral to another discovery service.
        REFERRAL = 1;
        /// An NVM subsystem.
        NVM = 2;
        /// The discovery subsystem that returns the log.
        CURRENT_DISCOVERY = 3;
    }

    /// Secure Channel, of [`TransportRequirements`].
    pub struct SecureChannel(u8) {
        /// Not specified.
        NOT_SPECIFIED = 0b00;
        /// Required.
        REQUIRED = 0b01;
        /// Not required.
        NOT_REQUIRED = 0b10;
    }

    /// RDMA QP Service Type (RDMA_QPTYPE; NVMe-oF 1.1 §7.3, Transport Specific Address Subtype).
    pub struct QpType(u8) {
        /// Reliable Connected.
        RELIABLE_CONNECTED = 1;
        /// Reliable Datagram.
        RELIABLE_DATAGRAM = 2;
    }

    /// RDMA Provider Type (RDMA_PRTYPE).
    pub struct RdmaProvider(u8) {
        /// Not specified.
        NONE = 1;
        /// InfiniBand.
        INFINIBAND = 2;
        /// RoCE.
        ROCE = 3;
        /// RoCEv2.
        ROCE_V2 = 4;
        /// iWARP.
        IWARP = 5;
    }

    /// RDMA Connection Management Service (RDMA_CMS).
    pub struct ConnectionService(u8) {
        /// RDMA_CM: addresses of sockets.
        RDMA_CM = 1;
    }

    /// Security Type (SECTYPE; NVMe-oF 1.1 §7.4, Transport Specific Address Subtype).
    pub struct TcpSecurity(u8) {
        /// None.
        NONE = 0;
        /// TLS.
        TLS = 1;
    }
}

wire! {
    /// Transport Requirements (TREQ).
    pub struct TransportRequirements(u8) {
        /// Secure Channel
        secure_channel / with_secure_channel: SecureChannel = 1:0;
        /// SQ flow control can be disabled
        flow_control_optional / with_flow_control_optional: bool = 2:2;
        /// Reserved
        reserved = 7:3;
    }
}

structure! {
    /// Header of the log.
    pub struct DiscoveryHeader(1024) {
        /// Generation Counter (GENCTR): changes with the log
        generation / set_generation: u64 = 0;
        /// Number of Records (NUMREC)
        records / set_records: u64 = 8;
        /// Record Format (RECFMT): 0
        format / set_format: u16 = 16;
    }

    /// An entry: a port of a subsystem, or another discovery service.
    pub struct DiscoveryEntry(1024) {
        /// Transport Type (TRTYPE)
        transport / set_transport: TransportType = 0;
        /// Address Family (ADRFAM)
        family / set_family: AddressFamily = 1;
        /// Subsystem Type (SUBTYPE)
        subsystem_type / set_subsystem_type: SubsystemType = 2;
        /// Transport Requirements (TREQ)
        requirements / set_requirements: TransportRequirements = 3;
        /// Port ID (PORTID)
        port / set_port: u16 = 4;
        /// Controller ID (CNTLID); FFFFh for the dynamic model, FFFEh for the static one
        controller / set_controller: u16 = 6;
        /// Admin Max SQ Size (ASQSZ) \[entries\]
        admin_entries / set_admin_entries: u16 = 8;
        /// Transport Service Identifier (TRSVCID), ASCII: the number of a port of TCP or UDP
        service / set_service: [u8; 32] = 32;
        /// NVM Subsystem NVMe Qualified Name (SUBNQN), UTF-8
        subsystem / set_subsystem: [u8; 256] = 256;
        /// Transport Address (TRADDR), ASCII
        address / set_address: [u8; 256] = 512;
        /// Transport Specific Address Subtype (TSAS): [`RdmaAddress`] or [`TcpAddress`]
        specific / set_specific: [u8; 256] = 768;
    }

    /// Transport Specific Address Subtype of RDMA.
    pub struct RdmaAddress(256) {
        /// RDMA QP Service Type
        qp_type / set_qp_type: QpType = 0;
        /// RDMA Provider Type
        provider / set_provider: RdmaProvider = 1;
        /// RDMA Connection Management Service
        connections / set_connections: ConnectionService = 2;
        /// RDMA Partition Key, of InfiniBand
        partition / set_partition: u16 = 8;
    }

    /// Transport Specific Address Subtype of TCP.
    pub struct TcpAddress(256) {
        /// Security Type
        security / set_security: TcpSecurity = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn the_word_tiles() {
        assert_fields_tile::<TransportRequirements>();
    }

    /// By hand: an NVM subsystem at port 4420 of TCP.
    #[test]
    fn an_entry_by_hand() {
        let mut bytes = [0; 1024];
        bytes[..10].copy_from_slice(&[3, 1, 2, 0x06, 1, 0, 0xff, 0xff, 32, 0]);
        bytes[32..36].copy_from_slice(b"4420");
        bytes[512..520].copy_from_slice(b"10.0.2.2");
        let entry = DiscoveryEntry::from_bytes(bytes);
        assert_eq!((entry.transport(), entry.family()), (TransportType::TCP, AddressFamily::IPV4));
        assert_eq!((entry.subsystem_type(), entry.port()), (SubsystemType::NVM, 1));
        assert_eq!((entry.controller(), entry.admin_entries()), (DYNAMIC_CONTROLLER, 32));
        assert_eq!(entry.requirements().secure_channel(), SecureChannel::NOT_REQUIRED);
        assert!(entry.requirements().flow_control_optional());
        assert_eq!(&entry.service()[..4], b"4420");
    }
}
