//! Fabrics commands and their responses (NVMe-oF 1.1 §3, Base 2.0 §6).

use lanetwin_nvme::spec::Command;
use lanetwin_wire::{open_enum, structure, wire};

/// The opcode of all Fabrics commands (NVMe-oF 1.1 §2.1).
pub const FABRICS_OPCODE: u8 = 0x7f;
/// CNTLID that requests any controller, in the dynamic controller model (NVMe-oF 1.1 §3.3).
pub const ANY_CONTROLLER: u16 = 0xffff;
/// SQHD of the response to a Connect when its request to disable SQ flow control is granted (NVMe-oF 1.1 §3.3).
pub const FLOW_CONTROL_IS_OFF: u16 = 0xffff;
/// The size of [`ConnectData`] \[B\].
pub const CONNECT_DATA_BYTES: u32 = 1024;
/// Maximum length of an NQN \[B\], without the terminating zero (Base 2.0 §4.5).
pub const LONGEST_NQN: usize = 223;

open_enum! {
    /// Fabrics Command Type (FCTYPE, NVMe-oF 1.1 §3).
    pub struct FabricsType(u8) {
        /// Property Set.
        PROPERTY_SET = 0x00;
        /// Connect.
        CONNECT = 0x01;
        /// Property Get.
        PROPERTY_GET = 0x04;
        /// Authentication Send.
        AUTHENTICATION_SEND = 0x05;
        /// Authentication Receive.
        AUTHENTICATION_RECEIVE = 0x06;
        /// Disconnect.
        DISCONNECT = 0x08;
    }

    /// Size of a property (ATTRIB, NVMe-oF 1.1 §3.5).
    pub struct PropertyBytes(u8) {
        /// 4 B.
        FOUR = 0b000;
        /// 8 B.
        EIGHT = 0b001;
    }
}

wire! {
    /// Connect Attributes (CATTR, NVMe-oF 1.1 §3.3).
    pub struct ConnectAttributes(u8) {
        /// Priority Class: 0 urgent, 1 high, 2 medium, 3 low
        priority / with_priority: u8 = 1:0;
        /// Disable SQ Flow Control
        no_flow_control / with_no_flow_control: bool = 2:2;
        /// Individual I/O Queue Deletion Support
        queue_deletion / with_queue_deletion: bool = 3:3;
        /// Reserved
        reserved = 7:4;
    }

    /// Dword 0 of the response to a Connect that succeeded (NVMe-oF 1.1 §3.3).
    pub struct ConnectResult(u32) {
        /// Controller ID (CNTLID)
        controller / with_controller: u16 = 15:0;
        /// Authentication and Security Requirements (AUTHREQ); 0 for none
        authentication / with_authentication: u16 = 31:16;
    }

    /// Dword 0 of the response to a Connect that ended with Connect Invalid Parameters (NVMe-oF 1.1 §3.3).
    pub struct InvalidParameter(u32) {
        /// Invalid Parameter Offset (IPO) \[B\]
        offset / with_offset: u16 = 15:0;
        /// Invalid Attributes (IATTR): the offset is one of the data, else of the submission queue entry
        in_data / with_in_data: bool = 16:16;
        /// Reserved
        reserved = 31:17;
    }

    /// Attributes of Property Get and Property Set (NVMe-oF 1.1 §3.5, §3.6).
    pub struct PropertyAttributes(u8) {
        /// Size of the property
        size / with_size: PropertyBytes = 2:0;
        /// Reserved
        reserved = 7:3;
    }
}

structure! {
    /// Fields common to all Fabrics commands (NVMe-oF 1.1 §2.1).
    pub struct FabricsCommand(64) {
        /// Opcode (OPC): 7Fh
        opcode / set_opcode: u8 = 0;
        /// PRP or SGL for Data Transfer, in bits 7:6
        flags / set_flags: u8 = 1;
        /// Command Identifier (CID)
        cid_number / set_cid_number: u16 = 2;
        /// Fabrics Command Type (FCTYPE)
        kind / set_kind: FabricsType = 4;
        /// SGL Descriptor 1 (SGL1)
        sgl / set_sgl: u128 = 24;
    }

    /// Connect (NVMe-oF 1.1 §3.3).
    pub struct Connect(64) {
        /// Opcode (OPC): 7Fh
        opcode / set_opcode: u8 = 0;
        /// PRP or SGL for Data Transfer, in bits 7:6
        flags / set_flags: u8 = 1;
        /// Command Identifier (CID)
        cid_number / set_cid_number: u16 = 2;
        /// Fabrics Command Type (FCTYPE)
        kind / set_kind: FabricsType = 4;
        /// SGL Descriptor 1 (SGL1): where [`ConnectData`] are
        sgl / set_sgl: u128 = 24;
        /// Record Format (RECFMT): 0
        format / set_format: u16 = 40;
        /// Queue ID (QID); 0 for the admin queue
        queue / set_queue: u16 = 42;
        /// Submission Queue Size (SQSIZE), counted from 0
        entries_less_1 / set_entries_less_1: u16 = 44;
        /// Connect Attributes (CATTR)
        attributes / set_attributes: ConnectAttributes = 46;
        /// Keep Alive Timeout (KATO) \[ms\]; 0 for none, reserved for I/O queues
        keep_alive_ms / set_keep_alive_ms: u32 = 48;
    }

    /// The data of a Connect (NVMe-oF 1.1 §3.3).
    pub struct ConnectData(1024) {
        /// Host Identifier (HOSTID)
        host_id / set_host_id: [u8; 16] = 0;
        /// Controller ID (CNTLID); FFFFh for any
        controller / set_controller: u16 = 16;
        /// NVM Subsystem NVMe Qualified Name (SUBNQN), UTF-8, ended by a zero
        subsystem / set_subsystem: [u8; 256] = 256;
        /// Host NVMe Qualified Name (HOSTNQN), UTF-8, ended by a zero
        host / set_host: [u8; 256] = 512;
    }

    /// Property Get (NVMe-oF 1.1 §3.5) and Property Set (§3.6).
    pub struct Property(64) {
        /// Opcode (OPC): 7Fh
        opcode / set_opcode: u8 = 0;
        /// Reserved
        flags / set_flags: u8 = 1;
        /// Command Identifier (CID)
        cid_number / set_cid_number: u16 = 2;
        /// Fabrics Command Type (FCTYPE)
        kind / set_kind: FabricsType = 4;
        /// Attributes (ATTRIB)
        attributes / set_attributes: PropertyAttributes = 40;
        /// Offset (OFST)
        offset / set_offset: u32 = 44;
        /// Value (VALUE), of Property Set
        value / set_value: u64 = 48;
    }

    /// Disconnect: deletes the I/O queue on which it arrives (NVMe-oF 1.1 §3.4).
    pub struct Disconnect(64) {
        /// Opcode (OPC): 7Fh
        opcode / set_opcode: u8 = 0;
        /// Reserved
        flags / set_flags: u8 = 1;
        /// Command Identifier (CID)
        cid_number / set_cid_number: u16 = 2;
        /// Fabrics Command Type (FCTYPE)
        kind / set_kind: FabricsType = 4;
        /// Record Format (RECFMT): 0
        format / set_format: u16 = 40;
    }
}

impl FabricsType {
    /// Whether the command carries authentication messages.
    #[must_use]
    pub const fn is_authentication(self) -> bool {
        matches!(self, Self::AUTHENTICATION_SEND | Self::AUTHENTICATION_RECEIVE)
    }
}

impl FabricsCommand {
    /// The Fabrics command in a submission queue entry; `None` if the entry holds another command.
    #[must_use]
    pub fn of(command: &Command) -> Option<Self> {
        let fabrics = Self::from_bytes(*command.as_bytes());
        (fabrics.opcode() == FABRICS_OPCODE).then_some(fabrics)
    }
}

/// Encodes a name as a field of 256 B, as used in [`ConnectData`] and the discovery log.
///
/// # Panics
/// If it is longer than 255 B.
#[must_use]
pub fn name_field(name: &str) -> [u8; 256] {
    assert!(name.len() < 256, "a name has at most 255 B");
    let mut field = [0; 256];
    field[..name.len()].copy_from_slice(name.as_bytes());
    field
}

/// Decodes the name in a field; `None` if it is not terminated, longer than [`LONGEST_NQN`], or not UTF-8.
#[must_use]
pub fn name_of(field: &[u8; 256]) -> Option<&str> {
    let end = field.iter().position(|&byte| byte == 0).filter(|&end| end <= LONGEST_NQN)?;
    core::str::from_utf8(&field[..end]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<ConnectAttributes>();
        assert_fields_tile::<ConnectResult>();
        assert_fields_tile::<InvalidParameter>();
        assert_fields_tile::<PropertyAttributes>();
    }

    /// By hand: I/O queue 3 of 128 entries without flow control.
    #[test]
    fn a_connect_by_hand() {
        let mut bytes = [0; 64];
        bytes[..5].copy_from_slice(&[0x7f, 0x40, 0x34, 0x12, 0x01]);
        bytes[42..47].copy_from_slice(&[3, 0, 127, 0, 0x04]);
        bytes[48..52].copy_from_slice(&[0x88, 0x13, 0, 0]);
        let connect = Connect::from_bytes(bytes);
        assert_eq!((connect.kind(), connect.cid_number()), (FabricsType::CONNECT, 0x1234));
        assert_eq!((connect.queue(), connect.entries_less_1(), connect.keep_alive_ms()), (3, 127, 5000));
        assert!(connect.attributes().no_flow_control());
        assert!(FabricsCommand::of(&Command::from_bytes(bytes)).is_some());
        bytes[0] = 2;
        assert!(FabricsCommand::of(&Command::from_bytes(bytes)).is_none());
    }

    #[test]
    fn a_property_by_hand() {
        let mut bytes = [0; 64];
        bytes[4] = 4;
        bytes[40] = 1;
        bytes[44] = 0x14;
        bytes[48..56].copy_from_slice(&[1, 0, 0x46, 0, 0, 0, 0, 0]);
        let property = Property::from_bytes(bytes);
        assert_eq!(property.kind(), FabricsType::PROPERTY_GET);
        assert_eq!((property.attributes().size(), property.offset()), (PropertyBytes::EIGHT, 0x14));
        assert_eq!(property.value(), 0x46_0001);
    }

    #[test]
    fn names_end_with_a_zero() {
        let nqn = "nqn.2014-08.org.nvmexpress.discovery";
        assert_eq!(name_of(&name_field(nqn)), Some(nqn));
        assert_eq!(name_of(&[b'x'; 256]), None);
        assert_eq!(name_of(&name_field(&"x".repeat(224))), None);
        let mut broken = name_field("nqn");
        broken[0] = 0xff;
        assert_eq!(name_of(&broken), None);
    }
}
