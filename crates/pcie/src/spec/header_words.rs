//! The dwords of TLP headers, most significant byte first on the wire (PCIe Base, Transaction Layer, non-flit mode).

use lanetwin_wire::{open_enum, wire};

open_enum! {
    /// Fmt: how long the header is, and whether data follow.
    pub struct Fmt(u8) {
        /// Three dwords, no data.
        THREE_DW = 0b000;
        /// Four dwords, no data.
        FOUR_DW = 0b001;
        /// Three dwords, with data.
        THREE_DW_DATA = 0b010;
        /// Four dwords, with data.
        FOUR_DW_DATA = 0b011;
        /// Not a header: a TLP prefix.
        PREFIX = 0b100;
    }

    /// Completion Status: how a request ended.
    pub struct CompletionStatus(u8) {
        /// Successful Completion (SC).
        SUCCESSFUL = 0b000;
        /// Unsupported Request (UR).
        UNSUPPORTED_REQUEST = 0b001;
        /// Request Retry Status (RRS, formerly CRS).
        REQUEST_RETRY = 0b010;
        /// Completer Abort (CA).
        COMPLETER_ABORT = 0b100;
    }

    /// Where a message goes: the three lower bits of its Type.
    pub struct MessageRouting(u8) {
        /// To the root complex.
        TO_ROOT_COMPLEX = 0;
        /// By the address in its last two dwords.
        BY_ADDRESS = 1;
        /// By the identifier in its third dword.
        BY_ID = 2;
        /// From the root complex to all.
        BROADCAST = 3;
        /// To the other end of the link.
        LOCAL = 4;
        /// Gathered on the way to the root complex.
        GATHERED = 5;
    }

    /// Message Code.
    pub struct MessageCode(u8) {
        /// Unlock.
        UNLOCK = 0x00;
        /// Latency Tolerance Reporting.
        LTR = 0x10;
        /// Optimized Buffer Flush/Fill.
        OBFF = 0x12;
        /// PM_Active_State_Nak.
        PM_ACTIVE_STATE_NAK = 0x14;
        /// PM_PME.
        PM_PME = 0x18;
        /// PME_Turn_Off.
        PME_TURN_OFF = 0x19;
        /// PME_TO_Ack.
        PME_TO_ACK = 0x1b;
        /// Assert_INTA.
        ASSERT_INTA = 0x20;
        /// Deassert_INTA.
        DEASSERT_INTA = 0x24;
        /// ERR_COR.
        ERR_COR = 0x30;
        /// ERR_NONFATAL.
        ERR_NONFATAL = 0x31;
        /// ERR_FATAL.
        ERR_FATAL = 0x33;
        /// Set_Slot_Power_Limit.
        SET_SLOT_POWER_LIMIT = 0x50;
        /// Vendor-defined, type 0.
        VENDOR_DEFINED_0 = 0x7e;
        /// Vendor-defined, type 1.
        VENDOR_DEFINED_1 = 0x7f;
    }
}

wire! {
    /// The first dword of every header.
    pub struct HeaderDw0(u32) {
        /// Format
        fmt / with_fmt: Fmt = 31:29;
        /// Type
        type_code / with_type_code: u8 = 28:24;
        /// Tag, bit 9
        tag_9 / with_tag_9: bool = 23:23;
        /// Traffic Class
        tc / with_tc: u8 = 22:20;
        /// Tag, bit 8
        tag_8 / with_tag_8: bool = 19:19;
        /// Attributes: ID-Based Ordering
        ido / with_ido: bool = 18:18;
        /// Lightweight Notification
        ln / with_ln: bool = 17:17;
        /// TLP Processing Hints present
        th / with_th: bool = 16:16;
        /// TLP Digest: an ECRC follows
        td / with_td: bool = 15:15;
        /// Poisoned
        ep / with_ep: bool = 14:14;
        /// Attributes: Relaxed Ordering
        ro / with_ro: bool = 13:13;
        /// Attributes: No Snoop
        ns / with_ns: bool = 12:12;
        /// Address Type
        at / with_at: u8 = 11:10;
        /// Length of the payload, or of what is asked for \[DW\]; 0 is 1024
        length / with_length: u16 = 9:0;
    }

    /// The second dword of a memory request.
    pub struct RequestDw1(u32) {
        /// Requester ID
        requester / with_requester: u16 = 31:16;
        /// Tag, lower eight bits
        tag / with_tag: u8 = 15:8;
        /// Last DW byte enables
        last_be / with_last_be: u8 = 7:4;
        /// First DW byte enables
        first_be / with_first_be: u8 = 3:0;
    }

    /// The last dword of a memory request's header; a 64-bit address has its upper half in the dword before.
    pub struct AddressDw(u32) {
        /// Address, bits 31 to 2
        dword / with_dword: u32 = 31:2;
        /// Processing Hint
        ph / with_ph: u8 = 1:0;
    }

    /// The second dword of a completion.
    pub struct CompletionDw1(u32) {
        /// Completer ID
        completer / with_completer: u16 = 31:16;
        /// Completion Status
        status / with_status: CompletionStatus = 15:13;
        /// Byte Count Modified (PCI-X bridges only)
        bcm / with_bcm: bool = 12:12;
        /// Byte Count: what is still to come, this completion included \[B\]; 0 is 4096
        byte_count / with_byte_count: u16 = 11:0;
    }

    /// The third dword of a completion.
    pub struct CompletionDw2(u32) {
        /// Requester ID
        requester / with_requester: u16 = 31:16;
        /// Tag, lower eight bits
        tag / with_tag: u8 = 15:8;
        /// Reserved
        reserved = 7:7;
        /// Lower Address: of the first byte enabled
        lower_address / with_lower_address: u8 = 6:0;
    }

    /// The second dword of a message.
    pub struct MessageDw1(u32) {
        /// Requester ID
        requester / with_requester: u16 = 31:16;
        /// Tag
        tag / with_tag: u8 = 15:8;
        /// Message Code
        code / with_code: MessageCode = 7:0;
    }

    /// Where a function sits: bus, device, function (BDF). Requester and Completer ID are of this form.
    pub struct Bdf(u16) {
        /// Bus number
        bus / with_bus: u8 = 15:8;
        /// Device number
        device / with_device: u8 = 7:3;
        /// Function number
        function / with_function: u8 = 2:0;
    }
}

impl core::fmt::Display for Bdf {
    /// As `lspci` prints it: `bus:device.function`, in hexadecimal.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        write!(f, "{:02x}:{:02x}.{:x}", self.bus(), self.device(), self.function())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lanetwin_wire::assert_fields_tile;

    #[test]
    fn every_word_tiles() {
        assert_fields_tile::<HeaderDw0>();
        assert_fields_tile::<RequestDw1>();
        assert_fields_tile::<AddressDw>();
        assert_fields_tile::<CompletionDw1>();
        assert_fields_tile::<CompletionDw2>();
        assert_fields_tile::<MessageDw1>();
        assert_fields_tile::<Bdf>();
    }

    #[test]
    fn a_bdf_prints_as_lspci_does() {
        assert_eq!(Bdf::from_raw(0xb31a).to_string(), "b3:03.2");
    }
}
