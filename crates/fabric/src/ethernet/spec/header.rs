//! The words of the headers of Ethernet, VLAN, IPv4 and UDP, most significant byte first on the wire.

use lanetwin_wire::{open_enum, wire};

/// An IPv4 header without options \[B\] (RFC 791 §3.1).
pub const IPV4_BYTES: u32 = 20;
/// An IPv6 header \[B\] (RFC 8200 §3), the size of a Global Route Header of InfiniBand too.
pub const IPV6_BYTES: u32 = 40;
/// A UDP header \[B\] (RFC 768).
pub const UDP_BYTES: u32 = 8;

open_enum! {
    /// What the payload of a frame is (EtherType).
    pub struct EtherType(u16) {
        /// IPv4.
        IPV4 = 0x0800;
        /// A VLAN tag (802.1Q).
        VLAN = 0x8100;
        /// IPv6.
        IPV6 = 0x86dd;
        /// MAC control: pause frames (802.3 annex 31B, 802.1Qbb).
        MAC_CONTROL = 0x8808;
    }

    /// What the payload of an IP packet is.
    pub struct IpProtocol(u8) {
        /// TCP.
        TCP = 6;
        /// UDP.
        UDP = 17;
    }

    /// Explicit Congestion Notification (RFC 3168 §5).
    pub struct EcnBits(u8) {
        /// Not ECN-capable.
        NOT_CAPABLE = 0;
        /// ECN-capable, ECT(1).
        CAPABLE_1 = 1;
        /// ECN-capable, ECT(0).
        CAPABLE_0 = 2;
        /// Congestion experienced (CE).
        CONGESTION = 3;
    }
}

wire! {
    /// A VLAN tag (802.1Q §9.6), with its type before it.
    pub struct VlanTag(u32) {
        /// Type: 0x8100
        tag_type / with_tag_type: EtherType = 31:16;
        /// Priority Code Point (PCP)
        priority / with_priority: u8 = 15:13;
        /// Drop Eligible Indicator (DEI)
        drop_eligible / with_drop_eligible: bool = 12:12;
        /// VLAN Identifier (VID)
        vlan / with_vlan: u16 = 11:0;
    }

    /// Word 0 of an IPv4 header (RFC 791 §3.1; RFC 2474 and RFC 3168 for the second byte).
    pub struct Ipv4Word0(u32) {
        /// Version: 4
        version / with_version: u8 = 31:28;
        /// Internet Header Length \[words\]: 5 without options
        header_words / with_header_words: u8 = 27:24;
        /// Differentiated Services Code Point (DSCP)
        dscp / with_dscp: u8 = 23:18;
        /// Explicit Congestion Notification
        ecn / with_ecn: EcnBits = 17:16;
        /// Total Length \[B\], header included
        total_length / with_total_length: u16 = 15:0;
    }

    /// Word 2 of an IPv4 header.
    pub struct Ipv4Word2(u32) {
        /// Time To Live
        time_to_live / with_time_to_live: u8 = 31:24;
        /// Protocol of the payload
        protocol / with_protocol: IpProtocol = 23:16;
        /// Header Checksum
        checksum / with_checksum: u16 = 15:0;
    }

    /// Word 0 of a UDP header (RFC 768).
    pub struct UdpPorts(u32) {
        /// Source Port
        source / with_source: u16 = 31:16;
        /// Destination Port
        destination / with_destination: u16 = 15:0;
    }

    /// Word 1 of a UDP header.
    pub struct UdpLength(u32) {
        /// Length \[B\], header included
        length / with_length: u16 = 31:16;
        /// Checksum; 0 if there is none
        checksum / with_checksum: u16 = 15:0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::{DoesNotFit, assert_fields_tile};

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<VlanTag>();
        assert_fields_tile::<Ipv4Word0>();
        assert_fields_tile::<Ipv4Word2>();
        assert_fields_tile::<UdpPorts>();
        assert_fields_tile::<UdpLength>();
    }

    /// The first word of a packet of RoCEv2 with 1024 B: version 4, 5 words, DSCP 26, ECT(0), 1068 B.
    #[test]
    fn a_packet_by_hand() -> Result<(), DoesNotFit> {
        let word = Ipv4Word0::ZERO
            .with_version(4)?
            .with_header_words(5)?
            .with_dscp(26)?
            .with_ecn(EcnBits::CAPABLE_0)?
            .with_total_length(1068)?;
        assert_eq!(word.raw(), 0x456a_042c);
        let ports = UdpPorts::ZERO.with_source(0xc000)?.with_destination(4791)?;
        assert_eq!(ports.raw(), 0xc000_12b7);
        Ok(())
    }
}
